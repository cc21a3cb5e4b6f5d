/* The recorder: turns the events of a simulated run into a trace. */
#ifndef BZ_TRACES_RECORD_H
#define BZ_TRACES_RECORD_H

#include "sim/world/world.h"
#include "traces/trace.h"

struct bz_recorder {
    struct bz_event_sink sink; /* first; give it to bz_world_begin() */
    struct bz_world *world;
    struct bz_trace *trace;
    /* Called with each event instead of storing it, if not NULL: a replay compares here. */
    void (*on_event)(struct bz_recorder *recorder, const struct bz_trace_event *event);
    void *context;
    bool is_full; /* a limit of traces was hit; what came after it was dropped */
};

/* Prepares a recorder that fills `trace` (empty; tasks, events) from `world`. Names and messages
 * are made fit for a trace: cut to its limits, and no control characters. */
void bz_recorder_init(struct bz_recorder *recorder, struct bz_world *world, struct bz_trace *trace);

/* The name of a task in the trace: its own, or "name#number" if another one has it already. NULL
 * for the loop (0) and for what no trace can list. */
const char *bz_recorder_task(const struct bz_recorder *recorder, uint32_t task);

/* After the run: copies the tape, the verdict, the seed and the digest of the world. */
void bz_recorder_finish(struct bz_recorder *recorder);

/* The other way: the choices of a trace as a tape, which is emptied first. Tasks that the trace
 * does not list get numbers that no run has, at most BZ_TRACE_STRANGERS_MAX of them. False with a
 * message if a choice makes no sense. `tape` keeps pointers to the labels, so the trace must
 * outlive it. */
#define BZ_TRACE_STRANGERS_MAX 256u
bool bz_trace_to_tape(const struct bz_trace *trace, struct bz_tape *tape, char *error,
                      size_t error_bytes);

#endif
