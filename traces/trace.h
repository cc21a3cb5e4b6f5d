/* The trace: what a run leaves behind, as plain data. See README.md for the file format.
 *
 * A trace names the program (scenario, variant, settings), holds the choices that lead to it, the
 * events that followed, the verdict and the digest. It speaks in names, so that it outlives a
 * change of numbers; tasks are listed in order of creation.
 *
 * All strings and arrays of a trace belong to it: bz_trace_string() copies into it, and
 * bz_trace_fini() releases everything at once. Whatever appends to a trace stops the process when
 * memory runs out. Not thread-safe.
 */
#ifndef BZ_TRACES_TRACE_H
#define BZ_TRACES_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_TRACE_FORMAT "buzzer-trace/1"

/* Limits of a trace, whether written or read; a file beyond them is refused with a message. */
#define BZ_TRACE_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define BZ_TRACE_EVENTS_MAX 1000000u
#define BZ_TRACE_CHOICES_MAX 1000000u
#define BZ_TRACE_TASKS_MAX 100000u
#define BZ_TRACE_PARAMS_MAX 64u
#define BZ_TRACE_NAME_BYTES_MAX 128u
#define BZ_TRACE_TEXT_BYTES_MAX 4096u
#define BZ_TRACE_NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* what a JSON number holds exactly */

#define BZ_TRACE_ABSENT UINT64_MAX /* of a number */

/* A setting of the program, by name; numbers and words alike are text here. */
struct bz_trace_param {
    const char *name;
    const char *value;
};

/* One entry of the tape, see sim/choice/choice.h. Strings that do not apply are NULL, numbers
 * BZ_TRACE_ABSENT. */
struct bz_trace_choice {
    const char *kind;   /* "next", "cancel", "delay", "data" */
    const char *task;   /* whose handle, the victim, who draws; NULL: the loop */
    const char *role;   /* next: "timer", "callback"; NULL means a step */
    const char *window; /* cancel */
    const char *label;  /* draws */
    uint64_t step;
    uint64_t n;     /* handle, step or draw number */
    uint64_t bound; /* draws */
    uint64_t value; /* draws, clock jumps */
};

/* One event. Which fields an event has depends on its name; README.md has the table. */
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
};

struct bz_trace_verdict {
    const char *result; /* "pass", "violation" */
    const char *oracle; /* NULL for a pass, as are the other strings */
    const char *task;
    const char *object;
    const char *message;
    uint64_t step; /* the last step of a pass */
};

struct bz_trace {
    const char *engine; /* "buzzer 0.1.0": who wrote it; never judged */
    const char *scenario;
    const char *variant;
    const char *strategy;
    const char *order;
    const char *cancel;            /* "any", "none", or windows separated by commas */
    struct bz_trace_param *params; /* every other setting of the program */
    size_t param_count;
    size_t param_capacity;
    uint64_t seed;
    const char **tasks; /* names by number, the first has number 1; all different */
    size_t task_count;
    size_t task_capacity;
    struct bz_trace_choice *choices;
    size_t choice_count;
    size_t choice_capacity;
    struct bz_trace_event *events;
    size_t event_count;
    size_t event_capacity;
    struct bz_trace_verdict verdict;
    uint64_t digest;
    struct bz_trace_chunk *chunks; /* where the strings lie */
    struct bz_trace_name *names;   /* and how they are found: a hash table */
    size_t name_count;
    size_t name_capacity;
};

void bz_trace_init(struct bz_trace *trace);
void bz_trace_fini(struct bz_trace *trace);

/* A copy of `text` that lives as long as the trace; equal strings share one. NULL stays NULL. */
const char *bz_trace_string(struct bz_trace *trace, const char *text);

/* Append one entry; strings must already belong to the trace or be literals. */
void bz_trace_add_choice(struct bz_trace *trace, struct bz_trace_choice choice);
void bz_trace_add_event(struct bz_trace *trace, struct bz_trace_event event);
void bz_trace_add_param(struct bz_trace *trace, const char *name, const char *value);
void bz_trace_add_task(struct bz_trace *trace, const char *name); /* no task has the name yet */

/* The number of the task of that name, 0 if there is none. */
uint32_t bz_trace_find_task(const struct bz_trace *trace, const char *name);

bool bz_trace_event_equal(const struct bz_trace_event *a, const struct bz_trace_event *b);

/* One line for people, "worker-2 resume ok n=3" and the like, cut to fit; returns `buffer`. The
 * step is left out, and so is the time, but for the event `clock`. */
const char *bz_trace_event_text(const struct bz_trace_event *event, char *buffer,
                                size_t size_bytes);
const char *bz_trace_choice_text(const struct bz_trace_choice *choice, char *buffer,
                                 size_t size_bytes);

/* --- files --------------------------------------------------------------------------------------
 * Each returns true, or false with a message in `error` that names the place and the remedy. */

#define BZ_TRACE_ERROR_BYTES 1024u

/* Reads and validates, into a trace that holds nothing; on failure it is empty. A path that is no
 * regular file (a folder, a pipe, a device) is refused without being read. */
bool bz_trace_read(struct bz_trace *trace, const char *path, char *error, size_t error_bytes);
bool bz_trace_parse(struct bz_trace *trace, const char *text, size_t length, const char *origin,
                    char *error, size_t error_bytes);

/* Writes to a temporary file beside `path` and renames it, so that `path` is whole or untouched.
 * What the reader would refuse is not written. */
bool bz_trace_write(const struct bz_trace *trace, const char *path, char *error,
                    size_t error_bytes);

/* The text of the file, the same bytes for equal traces; the caller frees it with free(). NULL
 * without memory. */
char *bz_trace_print(const struct bz_trace *trace);

BZ_END_DECLS

#endif
