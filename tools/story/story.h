/* The story of a run: a trace as lines for people, and which line led to which.
 *
 * Everything is read from the trace: no code runs, and a trace of any source of events will do. A
 * line is one thing that happened, in words; an arrow says what it follows from. From the line of
 * the violation backwards along the arrows lies all that the violation depends on (happened-before,
 * L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System", CACM 1978, with
 * the order of waiters at an object as further arrows). An effect of an operation on an object may
 * change what any later one on it finds, seen or not, so the lines about an object follow from each
 * other too, like those of a task. The items and slots of a queue, a condition and its lock, the
 * keys of a pool are one object here.
 *
 *     bz_story_init(&story, &trace)      O(events * log(events))
 *     ... story.lines ...
 *     bz_story_fini(&story)
 *
 * Strings belong to the trace, which must outlive the story. Without memory, functions call
 * bz_lack_stop() (traces/lack.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/text_output.h"
#include "traces/ledger.h"

#define BZ_STORY_NONE UINT32_MAX
#define BZ_STORY_TEXT_BYTES 160u

/* Why one line follows from another. */
enum bz_arrow_kind {
    BZ_ARROW_SPAWN = 0,  /* the task was created */
    BZ_ARROW_WAKE = 1,   /* what it waited for was done: from the waker to the woken */
    BZ_ARROW_CANCEL = 2, /* from who asked for the cancel to the task that it strikes */
    BZ_ARROW_TAKES = 3,  /* an operation finds what an earlier operation on the object left: from a
                            release, a set, a put to the acquire, the wait, the get that it let by */
    BZ_ARROW_QUEUE = 4,  /* waits at the same object, behind an earlier waiter */
    BZ_ARROW_BLOCKS = 5, /* from the operation that took what is missing to who waits for it: the
                            acquire of a holder, a clear, a get, a put */
};
#define BZ_ARROW_KIND_COUNT 6u

struct bz_arrow {
    uint32_t from; /* a line; always an earlier one */
    uint32_t to;
    enum bz_arrow_kind kind;
};

struct bz_story_line {
    uint64_t step;
    uint64_t time_ns;
    uint32_t task;   /* number in the trace, 1 is the first; 0: the loop */
    uint32_t event;  /* index of the event that the line is about; of the violation: the last */
    uint32_t before; /* the line before it of the same task; BZ_STORY_NONE, as all of the loop:
                        its callbacks have nothing to do with each other */
    uint32_t object_before; /* the line before it about the same object, or about one that shares
                               its state; BZ_STORY_NONE */
    const char *object;     /* that it is about; NULL: none */
    const char *op;         /* pending or returning; NULL: none */
    const char *window;     /* of a cancel; NULL: the line is none */
    bool is_injected;       /* a cancel that the schedule put in, not the program */
    bool is_own_cancel;     /* a cancel that the program asked for */
    bool is_timeout;        /* and it was a timer of the task that did: a timeout */
    bool is_lag;            /* the step before took so long that the clock is at the next timer */
    bool is_cause;     /* the violation depends on it; true for all lines of a run that passed */
    bool is_violation; /* the line of the violation, which is the last one: an own line */
    uint32_t distance; /* of a cause: how many lines back from the violation; 0: the violation and
                          the state that it is about */
    char text[BZ_STORY_TEXT_BYTES]; /* "acquires 'permits'"; does not repeat the task's name */
};

struct bz_story {
    const struct bz_trace *trace;
    struct bz_story_line *lines;
    size_t line_count;
    struct bz_arrow *arrows; /* sorted by `to`, then by `from` */
    size_t arrow_count;
    struct bz_ledger ledger; /* after the last event */
    uint32_t injected;       /* cancels of the schedule, those that came too late included */
    uint32_t own_cancels;    /* the same: that the program asked for, its timeouts among them */
    uint32_t deviations;     /* handles out of turn, and timers at another moment */
    uint32_t jumps;          /* of the clock to a timer, although work is ready: slow steps ... */
    uint64_t lag_ns;         /* ... and how long they take, in sum */
};

void bz_story_init(struct bz_story *story, const struct bz_trace *trace);
void bz_story_fini(struct bz_story *story);

/* The holders of the objects that tasks wait for at the end of a deadlock: "'lock' is held by job-1
 * (ended)". Adds nothing for another verdict. */
void bz_story_add_holders(const struct bz_story *story, struct bz_text *text);
