/* Owners, waiters, and the state of each task, derived from the events of a trace.
 *
 * A task owns a permit from the return of its acquire to the call of its release, or on if the
 * release is refused. Inside the wait of a condition it does not own the lock. Where an event says
 * how many permits are out, the count follows it: a release by a task that owns none takes back the
 * oldest. W, R and C are the tasks inside an operation on an object that wait on a future, that
 * were woken and have not resumed, and that were cancelled and have not resumed.
 *
 *     bz_ledger_init(&ledger, &trace);
 *     for each event: bz_ledger_read(&ledger, event);
 *     bz_ledger_finish(&ledger);
 *     ... ledger.holds, ledger.spans, ledger.places ...
 *     bz_ledger_fini(&ledger);
 *
 * O(events). The trace must outlive the ledger. Without memory, all functions call bz_lack_stop()
 * (lack.h). */
#pragma once

#include "traces/trace.h"
#include "traces/words.h"

BZ_BEGIN_DECLS

/* A permit that a task owns. Numbers begin with 1. */
struct bz_hold {
    uint32_t task;
    uint32_t object;
    uint64_t step;  /* it begins with this step ... */
    uint64_t end;   /* ... and ends with this one, in which the permit is given back */
    uint32_t below; /* while it lasts: the task's next older one; 0: none, as for the others */
    uint32_t older; /* of the object */
    uint32_t newer;
};

/* The activity of a task. */
enum bz_span_kind {
    BZ_SPAN_UNSTARTED = 0,
    BZ_SPAN_READY = 1, /* a step of it is ready: started, or after a yield */
    BZ_SPAN_RUNNING = 2,
    BZ_SPAN_WAITING = 3,  /* for an object: W */
    BZ_SPAN_WOKEN = 4,    /* its result is set, and it has not resumed: R */
    BZ_SPAN_STRUCK = 5,   /* cancelled, and it has not resumed: C */
    BZ_SPAN_SLEEPING = 6, /* or waits for something that is no object */
    BZ_SPAN_DONE = 7,
};

/* For lanes: the step in which a task suspends itself belongs to the span before. */
struct bz_span {
    uint32_t task;
    uint32_t object; /* that it waits for; 0: none */
    uint64_t step;   /* it begins with this step ... */
    uint64_t end;    /* ... and ends before this one */
    enum bz_span_kind kind;
    bool is_holding; /* it owns a permit of some object meanwhile */
};

/* A task is in W, R or C of an object: after step `step`, and no longer after step `end`. */
struct bz_place {
    uint32_t task;
    uint32_t object;
    uint64_t step;
    uint64_t end;
    uint64_t since;         /* it has been in one of them since that step */
    enum bz_span_kind kind; /* waiting, woken, struck */
    bool was_woken;         /* struck: after its result was set */
};

struct bz_ledger_task {
    const char *op;    /* that it is inside, and that may wait; NULL: none */
    uint32_t object;   /* of the operation; 0: none */
    uint32_t hold;     /* the newest of its permits; 0: none */
    uint32_t released; /* the permit that its last release, or its wait, has given back; 0: none */
    uint32_t before;   /* the tasks before and after it in the queue of the object; 0: none */
    uint32_t after;
    bool is_queued; /* it has waited in the operation */
    bool has_started;
    bool has_ended;
    bool is_struck;
    bool was_woken;        /* since it suspended itself: the result of its wait was set */
    bool waits_for_future; /* or for another task */
    struct bz_span span;   /* the present one, whose end is open */
    struct bz_place place; /* likewise; kind 0: none */
};

struct bz_ledger_object {
    enum bz_kind kind;
    uint32_t partner; /* see struct bz_trace_object; 0: none */
    uint32_t newest;  /* of the permits that are out; 0: none */
    uint32_t oldest;
    uint32_t count; /* of them */
    uint32_t last;  /* the last task of its queue: the newest that is inside an operation and has
                       waited; 0: none */
};

struct bz_ledger {
    const struct bz_trace *trace;
    struct bz_ledger_task *tasks;     /* by number; 0 is the loop */
    struct bz_ledger_object *objects; /* by number, from 1 on */
    struct bz_hold *holds;            /* by number, in the order in which they begin */
    size_t hold_count;                /* the first number that is not in use */
    size_t hold_capacity;
    struct bz_span *spans; /* in the order in which they end, as places */
    size_t span_count;
    size_t span_capacity;
    struct bz_place *places;
    size_t place_count;
    size_t place_capacity;
    uint64_t step;    /* of the last event */
    uint32_t running; /* the task that runs in this step; 0: the loop */
    uint32_t begun;   /* the permit that the last event made somebody's; 0: none */
};

void bz_ledger_init(struct bz_ledger *ledger, const struct bz_trace *trace);
void bz_ledger_read(struct bz_ledger *ledger, const struct bz_trace_event *event);
void bz_ledger_finish(struct bz_ledger *ledger);
void bz_ledger_fini(struct bz_ledger *ledger);

/* True if the events from this one on come after the violation. */
bool bz_ledger_is_over(const struct bz_trace *trace, const struct bz_trace_event *event);

/* The newest permit of the object that the task owns; 0: none. */
uint32_t bz_ledger_owned(const struct bz_ledger *ledger, uint32_t task, uint32_t object);

/* True if the operation never waits: "release", ... */
bool bz_op_never_waits(const char *op);

BZ_END_DECLS
