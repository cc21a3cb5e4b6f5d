/* The trace of a run as plain data. README.md describes the file format.
 *
 * A trace names the program (scenario, variant, settings) and holds its choices, events, verdict
 * and digest. It uses names, not numbers, so it stays valid when numbers change. Tasks and objects
 * are listed in order of creation.
 *
 * A trace owns its strings and arrays: bz_trace_string() copies into it, bz_trace_fini() frees
 * everything. Without memory, all functions call bz_lack_stop() (lack.h). Not thread-safe. */
#ifndef BZ_TRACES_TRACE_H
#define BZ_TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_TRACE_VERSION 2u /* of what is recorded; 1 is read and written back, too */

/* Limits of a trace, for writer and reader; a larger file is refused with a message. */
#define BZ_TRACE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define BZ_TRACE_EVENTS_MAX 1000000u
#define BZ_TRACE_CHOICES_MAX 1000000u
#define BZ_TRACE_TASKS_MAX 100000u
#define BZ_TRACE_OBJECTS_MAX 100000u
#define BZ_TRACE_PARAMS_MAX 64u
#define BZ_TRACE_NAME_BYTES_MAX 128u
#define BZ_TRACE_TEXT_BYTES_MAX 4096u
#define BZ_TRACE_NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* exact in a JSON number */

#define BZ_TRACE_ABSENT UINT64_MAX /* of a number */

/* A setting of the program; numbers are text, too. */
struct bz_trace_param {
    const char *name;
    const char *value;
};

/* An object under test. */
struct bz_trace_object {
    const char *name;
    const char *kind;    /* bz_kind_name(); NULL: unknown, in a trace of version 1 */
    const char *partner; /* items: its slots, slots: its items, condition: its lock; or NULL */
    const char *order;   /* items: bz_queue_order_name(); or NULL */
    uint64_t size;       /* permits at the start, parties, most items (0: no bound); or absent */
};

/* One entry of the tape, see sim/choice/choice.h. Absent strings are NULL, absent numbers
 * BZ_TRACE_ABSENT. */
struct bz_trace_choice {
    const char *kind;   /* "next", "cancel", "delay", "data" */
    const char *task;   /* the owner of the handle, the victim, or who draws; NULL: the loop */
    const char *role;   /* next: "timer", "callback"; NULL means a step */
    const char *window; /* cancel */
    const char *label;  /* draws */
    uint64_t step;
    uint64_t n;     /* handle, step or draw number */
    uint64_t bound; /* draws */
    uint64_t value; /* draws, clock jumps */
};

/* One event. README.md says which fields an event has. */
struct bz_trace_event {
    uint64_t step;
    uint64_t time_ns;
    const char *task;
    const char *event;
    const char *object;
    const char *op;
    const char *status;
    const char *window;
    const char *wait;
    const char *role;
    const char *by;
    uint64_t n;
    uint64_t held; /* permits of the object, or of a condition's lock, that are out after it */
    /* For people: the line of the program at which a task is suspended, "pool.py:12". NULL:
     * unknown. No part of what a run is: comparisons and the digest leave it out. */
    const char *where;
    const char *text; /* likewise: the name of a draw, and what the program made of it */
};

struct bz_trace_verdict {
    const char *result; /* "pass", "violation"; "cut": by the step limit, or by that of a check,
                           which `message` then has, so it has no verdict */
    const char *oracle; /* NULL without a violation, as are the other strings */
    const char *task;
    const char *object;
    const char *message;
    uint64_t step; /* the last step, without a violation */
};

struct bz_trace {
    unsigned version;   /* of the format */
    const char *engine; /* "buzzer 0.1.0": the writer; a replay that diverges names it */
    const char *scenario;
    const char *variant;
    const char *strategy;
    const char *order;
    const char *cancel;            /* "any", "none", or windows separated by commas */
    struct bz_trace_param *params; /* every other setting of the program */
    size_t param_count;
    size_t param_capacity;
    uint64_t seed;
    const char **tasks; /* names by number, starting with 1; all different */
    size_t task_count;
    size_t task_capacity;
    struct bz_trace_object *objects; /* by number, starting with 1; names are all different */
    size_t object_count;
    size_t object_capacity;
    struct bz_trace_choice *choices;
    size_t choice_count;
    size_t choice_capacity;
    struct bz_trace_event *events;
    size_t event_count;
    size_t event_capacity;
    struct bz_trace_verdict verdict;
    uint64_t digest;
    uint64_t checksum; /* as read; a trace in memory that was not read has none */
    bool has_checksum;
    struct bz_trace_chunk *chunks; /* the storage of strings */
    struct bz_trace_name *names;   /* a hash table of strings */
    size_t name_count;
    size_t name_capacity;
};

void bz_trace_init(struct bz_trace *trace);
void bz_trace_fini(struct bz_trace *trace);

/* A copy of `text` with the trace's lifetime; equal strings share one. NULL stays NULL. */
const char *bz_trace_string(struct bz_trace *trace, const char *text);

/* Append one entry; strings must be literals or belong to the trace. */
void bz_trace_add_choice(struct bz_trace *trace, struct bz_trace_choice choice);
void bz_trace_add_event(struct bz_trace *trace, struct bz_trace_event event);
void bz_trace_add_param(struct bz_trace *trace, const char *name, const char *value);
void bz_trace_add_task(struct bz_trace *trace, const char *name); /* the name must be new */

void bz_trace_add_object(struct bz_trace *trace, struct bz_trace_object object); /* likewise */

/* The name of a task by number; `loop` for 0 and for a number that no task has. */
static inline const char *bz_trace_task_name(const struct bz_trace *trace, uint32_t task,
                                             const char *loop) {
    return task == 0 || task > trace->task_count ? loop : trace->tasks[task - 1];
}

/* The number of a task, of an object by name; 0: none. */
uint32_t bz_trace_find_task(const struct bz_trace *trace, const char *name);
uint32_t bz_trace_find_object(const struct bz_trace *trace, const char *name);

/* Adds the objects that events and verdict name and that are not listed, as those of a trace of
 * version 1. An object that is notified is a condition; of others, the kind is unknown. */
void bz_trace_list_objects(struct bz_trace *trace);

/* How far the clock has jumped, because the step before this one took so long; 0: it has not. And
 * the sum over the run. */
uint64_t bz_trace_lag_before_ns(const struct bz_trace *trace, uint64_t step);
uint64_t bz_trace_lag_ns(const struct bz_trace *trace);

/* All fields but `held`, `where` and `text`. */
bool bz_trace_event_equal(const struct bz_trace_event *a, const struct bz_trace_event *b);

/* Removes what the event would not say in a trace of this version. */
void bz_trace_event_restrict(struct bz_trace_event *event, unsigned version);

/* One line for people, "worker-2 resume ok n=3", cut to fit; returns `buffer`. Leaves out the step,
 * and the time except for the event `clock`. */
const char *bz_trace_event_text(const struct bz_trace_event *event, char *buffer,
                                size_t size_bytes);
const char *bz_trace_choice_text(const struct bz_trace_choice *choice, char *buffer,
                                 size_t size_bytes);

/* The same of an object, "object 2: slots room size=3 partner=jobs"; "no object 2" if there is
 * none. */
const char *bz_trace_object_text(const struct bz_trace *trace, size_t index, char *buffer,
                                 size_t size_bytes);

/* The result of the run: the oracle, "pass", "cut by the limit of 100000 steps", or "cut short by
 * the limit of a check". Older programs wrote "pass" of such a run, too. Returns `buffer`, cut to
 * fit. */
const char *bz_trace_verdict_text(const struct bz_trace_verdict *verdict, char *buffer,
                                  size_t size_bytes);

/* --- files --------------------------------------------------------------------------------------
 * Each returns true, or false with a message in `error` that names the place and the remedy. */

#define BZ_TRACE_ERROR_BYTES 1024u

/* Reads and validates into an empty trace, which stays empty on failure. A folder, a pipe or a
 * device is refused without being read. */
bool bz_trace_read(struct bz_trace *trace, const char *path, char *error, size_t error_bytes);
bool bz_trace_parse(struct bz_trace *trace, const char *text, size_t length, const char *origin,
                    char *error, size_t error_bytes);

/* Writes a temporary file beside `path` and renames it, so that `path` is complete or untouched.
 * Refuses what the reader would refuse. */
bool bz_trace_write(const struct bz_trace *trace, const char *path, char *error,
                    size_t error_bytes);

/* True if a trace is as the program wrote it. The file ends with a checksum of itself; formatting
 * and keys that other programs add do not matter. O(size of the file). */
enum bz_trace_seal {
    BZ_TRACE_UNSEALED = 0, /* no checksum: written before there were any, or by another program */
    BZ_TRACE_WHOLE = 1,
    BZ_TRACE_EDITED = 2,
};
enum bz_trace_seal bz_trace_seal(const struct bz_trace *trace);

/* The text of the file, the same bytes for equal traces; the caller frees it. */
char *bz_trace_print(const struct bz_trace *trace);

BZ_END_DECLS

#endif
