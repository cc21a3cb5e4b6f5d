/* The book: what an onlooker knows of the tasks and objects of a run, from events alone.
 *
 * It is kept by identity (task and object numbers), not by pointer, and updated in O(1) per event
 * as long as grants come in order of arrival. Oracles and cancel injection read it; it never looks
 * into a primitive. With W, R, C the tasks inside acquire of an object that wait on a pending
 * future, were woken and have not resumed, were cancelled and have not resumed:
 *
 *     live: not cancelled, not granted; in order of arrival, from the call on
 *     woken: R, in order of arrival
 *
 * A grant is the wake-up with a result (the result is set), or, for who never suspends, the return.
 */
#ifndef BZ_SIM_WORLD_BOOK_H
#define BZ_SIM_WORLD_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/task.h"
#include "sim/variant/variant.h"
#include "sim/world/event.h"

enum bz_phase {
    BZ_PHASE_UNSTARTED = 0,
    BZ_PHASE_RUNNING = 1,
    BZ_PHASE_SUSPENDED = 2,
    BZ_PHASE_DONE = 3,
};

/* What has become of that which a suspended task waits for. */
enum bz_answer {
    BZ_ANSWER_PENDING = 0,
    BZ_ANSWER_WOKEN = 1,
    BZ_ANSWER_CANCELLED = 2,
};

enum bz_queue_place {
    BZ_PLACE_NONE = 0,
    BZ_PLACE_LIVE = 1,
    BZ_PLACE_WOKEN = 2,
};

/* A list of tasks by number; 0 ends it. */
struct bz_book_list {
    uint32_t first;
    uint32_t last;
};

struct bz_book_task {
    const char *name_base; /* the task's name; it outlives the task */
    uint32_t name_index;
    uint32_t object;   /* concerned by the operation it is in; 0: none */
    uint32_t arrival;  /* number of its acquire among those of the object */
    uint32_t holdings; /* permits it owns, over all objects */
    uint32_t previous; /* neighbours in the object's list */
    uint32_t next;
    uint32_t overtaken;            /* later arrivals granted during the acquire it is in */
    uint32_t over_released_before; /* what its last release found in over_released_by */
    uint32_t cancels;              /* requests accepted in its life */
    uint8_t phase;                 /* enum bz_phase */
    uint8_t op;                    /* enum bz_op it is inside, BZ_OP_NONE outside */
    uint8_t wait;                  /* enum bz_wait, while suspended */
    uint8_t answer;                /* enum bz_answer, while suspended */
    uint8_t place;                 /* enum bz_queue_place */
    bool cancel_pending;           /* a request was accepted and has not been delivered */
    bool cancelled_in_op;          /* an await inside the current operation returned BZ_CANCELLED */
    bool took_back;                /* its last release lowered the holders */
    bool gave_up;                  /* and its own holdings */
};

#define BZ_NO_TASK UINT32_MAX

struct bz_object {
    const char *name;
    const struct bz_permit_ops *ops;
    void *instance;
    enum bz_primitive primitive;
    uint32_t claims;
    uint64_t permits; /* to begin with, plus net releases of a plain semaphore */
    uint64_t holders;
    uint32_t waiting;   /* W */
    uint32_t woken;     /* R */
    uint32_t cancelled; /* C */
    uint32_t polling; /* inside acquire, suspended on something that is no wake-up: time, a yield */
    uint32_t arrivals;
    uint32_t return_task; /* the last acquire that returned: whose, in which step, with what */
    uint32_t return_step;
    uint8_t return_status;
    uint32_t over_released_by; /* a release without a holder in this step; BZ_NO_TASK: none */
    struct bz_book_list live;
    struct bz_book_list woken_list;
    bool is_touched; /* by the current step */
    bool has_view;
    struct bz_permit_view view; /* as after the current step, if touched */
};

/* What the last grant skipped; for the oracles of order. */
struct bz_grant {
    uint32_t task;
    uint32_t object;
    uint32_t overtook;      /* earlier live arrivals that were passed over */
    uint32_t overtook_task; /* the oldest of them */
    bool is_steal;          /* they had been woken, and there is no permit left for them */
};

struct bz_book {
    struct bz_loop *loop;
    struct bz_book_task *tasks; /* by number; 0 stands for the loop */
    uint32_t task_count;        /* highest number in use */
    uint32_t task_capacity;
    struct bz_object *objects; /* by number, 1 is the first */
    uint32_t object_count;
    uint32_t object_capacity;
    uint32_t *touched; /* objects that the current step concerned */
    uint32_t touched_count;
    uint32_t unfinished;   /* tasks that have not ended */
    struct bz_grant grant; /* of the last event with BZ_FACT_OVERTAKEN */
    uint32_t facts;        /* BZ_FACT_... of the last event; whoever reads them clears them */
};

/* An empty book of this loop, in whose memory everything in it lies. */
void bz_book_begin(struct bz_book *book, struct bz_loop *loop);

/* Adds an object; returns its number. */
uint32_t bz_book_add_object(struct bz_book *book, const char *name, enum bz_primitive primitive,
                            const struct bz_permit_ops *ops, uint32_t claims, void *instance,
                            uint64_t permits);

/* Take note of one event; O(1), but for grants out of order. `step` is the current step. */
void bz_book_on_spawn(struct bz_book *book, const struct bz_event *event);
void bz_book_on_resume(struct bz_book *book, const struct bz_event *event);
void bz_book_on_suspend(struct bz_book *book, const struct bz_event *event);
void bz_book_on_wake(struct bz_book *book, const struct bz_event *event);
void bz_book_on_cancel(struct bz_book *book, const struct bz_event *event);
void bz_book_on_uncancel(struct bz_book *book, const struct bz_event *event);
void bz_book_on_callback(struct bz_book *book);
void bz_book_on_exit(struct bz_book *book, const struct bz_event *event);
void bz_book_on_call(struct bz_book *book, const struct bz_event *event);
void bz_book_on_return(struct bz_book *book, const struct bz_event *event, uint32_t step);

/* Where a cancel of this task would strike now, and in which operation. */
enum bz_window bz_book_window(const struct bz_book_task *task);
enum bz_op bz_book_op(const struct bz_book_task *task);

#endif
