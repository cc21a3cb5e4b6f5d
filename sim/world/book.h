/* The book: what an onlooker knows of the tasks and objects of a run, from events alone.
 *
 * It is kept by identity (task and object numbers), not by pointer, and updated in O(1) per event
 * as long as grants come in order of arrival. Oracles and cancel injection read it; it never looks
 * into a primitive. With W, R, C the tasks inside acquire of an object that wait on a pending
 * future, were woken and have not resumed, were cancelled and have not resumed:
 *
 *     live: not cancelled, not granted, from the call of acquire on
 *     woken: R
 *
 * Each object has a line: its tasks in order of arrival. Who leaves the line leaves a gap, which
 * costs nothing; gaps are closed when the line is full.
 *
 * What is said of acquire holds for every operation that may wait: a get, a put, the wait of an
 * event, a condition, a barrier (enum bz_object_kind).
 *
 * A grant is the wake-up with a result (the result is set), or, for who never suspends, the return.
 *
 * Hand-offs: whenever an operation that may wait returns BZ_OK, the object goes from the task that
 * had it last to the one that returns. Who had it last is who last got it so, or released it (even
 * in vain), or set, notified, cleared, ... it; for the items of a queue also who put last, for its
 * slots who got last; 0 is nobody. The set of these transitions, object by object, is the hand-off
 * order of a run, and bz_book_handoffs() its fingerprint, in the manner of the resource-ordering
 * coverage of Fest (NSDI 2026). The set, and not the sequence: of 100,000 random runs of
 * `contended` 22 % have a sequence that no other run has, and 1.3 % a set; of `restaurant` 47 and
 * 20 %; of `handoff`, which has 7 of either, none. Classes that never fill up say nothing about
 * what is left.
 *
 * What happens in every step (a task resumes, a task is suspended) is inline below. Before a task
 * runs, no branch may depend on which task it is: a random schedule makes each such branch a
 * misprediction. So object 0 stands for "no object", and takes what concerns none; and what has a
 * bit and what has none (bz_book_touch()) is the same for all tasks of nearly every program.
 */
#ifndef BZ_SIM_WORLD_BOOK_H
#define BZ_SIM_WORLD_BOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/task.h"
#include "sim/choice/pcg.h"
#include "sim/spec/guards.h"
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

/* As what a suspended task counts with its object. */
enum bz_inside {
    BZ_INSIDE_POLLING = 0,
    BZ_INSIDE_WAITING = 1,
    BZ_INSIDE_WOKEN = 2,
    BZ_INSIDE_CANCELLED = 3,
};
#define BZ_INSIDE_COUNT 4

struct bz_book_task {
    const char *name_base; /* the task's name; it outlives the task */
    uint32_t name_index;
    uint32_t object;               /* concerned by the operation it is in; 0: none */
    uint32_t arrival;              /* its place in the object's line */
    uint32_t holdings;             /* permits it owns, over all objects */
    uint32_t overtaken;            /* later arrivals granted during the acquire it is in */
    uint32_t over_released_before; /* what its last release found in over_released_by */
    uint32_t cancels;              /* requests accepted in its life */
    uint32_t owes_wake;   /* it was notified, then cancelled: the object's wakes must get there */
    uint8_t phase;        /* enum bz_phase */
    uint8_t op;           /* enum bz_op it is inside, BZ_OP_NONE outside */
    uint8_t wait;         /* enum bz_wait, while suspended */
    uint8_t answer;       /* enum bz_answer, while suspended */
    uint8_t inside;       /* enum bz_inside, while suspended */
    bool is_live;         /* it stands in its object's line */
    bool cancel_pending;  /* a request was accepted and has not been delivered */
    bool cancelled_in_op; /* an await inside the current operation returned BZ_CANCELLED */
    bool was_granted;     /* woken for what it waits for, inside the current operation */
    bool took_back;       /* its last release lowered the holders */
    bool gave_up;         /* and its own holdings */
    bool is_freed;        /* its memory was given back */
    uint32_t next_step;   /* number of its next step; 1 is the first */
    uint8_t spare[8];     /* up to a power of two: an entry's address is a shift away */
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct bz_book_task) == 64, "see spare");

#define BZ_NO_TASK UINT32_MAX

/* While a run has fewer tasks than this, the loop included, whether one has handed over to another
 * is one bit. Then every hand-off is added up, as often as it happens: with so many tasks no class
 * fills up, and one that seemed to would be a lie. */
#define BZ_HANDOFF_TASKS 11u /* its square fits two words */

/* What tasks wait for at an object. */
enum bz_object_kind {
    BZ_OBJECT_PERMITS = 0, /* of a semaphore, a lock, one key of a pool */
    BZ_OBJECT_ITEMS = 1,   /* of a queue; permits: items put, holders: items got */
    BZ_OBJECT_SLOTS = 2,   /* of a queue; permits: its bound, holders: items in it */
    BZ_OBJECT_EVENT = 3,   /* permits: 1 while it is set */
    BZ_OBJECT_CONDITION = 4,
    BZ_OBJECT_BARRIER = 5,
};

/* An action that the executable specification does not allow (sim/spec/guards.h). */
struct bz_refusal {
    struct bz_spec_counts counts; /* its state, as before the action */
    uint32_t task;
    uint32_t object;
    uint8_t action; /* enum bz_spec_action */
    uint8_t guards; /* those that do not hold; 0: nothing was refused */
};

/* What must be claimed by whoever is held against the specification. */
#define BZ_CLAIMS_OF_SPEC (BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT)

struct bz_object {
    const char *name;
    const struct bz_permit_ops *ops; /* NULL: other than permits of the variant's own */
    void *instance;
    enum bz_object_kind kind : 8;
    enum bz_primitive primitive : 8;
    bool counts_wakes;     /* condition: wakes and wakes_due are the same after every step */
    uint8_t return_status; /* of the last acquire that returned, see below */
    uint32_t claims;
    uint64_t permits; /* to begin with, plus net releases of a plain semaphore */
    uint64_t holders;
    uint32_t quorum;    /* barrier: so many live tasks do not wait any longer; else 0 */
    bool is_counted;    /* a wait that ends well raises the holders */
    bool is_strict;     /* newcomers pass nobody, not even who was woken */
    bool is_owned;      /* and the task's holdings */
    bool never_stuck;   /* others than tasks of the book take part: a condition's lock */
    uint32_t wakes;     /* grants by wake-up so far */
    uint32_t wakes_due; /* condition: and so many there should have been */
    uint32_t had_last;  /* task that the next hand-off is from; 0: nobody had it */
    uint32_t live;      /* tasks in the line that are live */
    uint32_t (*queued)(void *instance); /* entries of its queue; NULL: not shown */
    union {                             /* tasks that are suspended inside acquire */
        uint32_t inside[BZ_INSIDE_COUNT];
        struct {
            uint32_t polling;   /* on something that is no wake-up: time, a yield */
            uint32_t waiting;   /* W */
            uint32_t woken;     /* R */
            uint32_t cancelled; /* C */
        };
    };
    uint32_t *line;
    uint32_t line_end;
    uint32_t line_capacity;
    uint32_t first_live;  /* no live task stands before it */
    uint32_t handed_on;   /* in this step a woken waiter took what it was woken for; who stands
                             before this place came before that */
    uint32_t first_woken; /* no woken task stands before it */
    uint32_t return_task; /* the last acquire that returned: whose, in which step, with what */
    uint32_t return_step;
    uint32_t over_released_by; /* a release without a holder in this step; BZ_NO_TASK: none */
    bool is_far;               /* it is in the book's list of far objects */
    bool has_view;
    bool refines;               /* it is held against the executable specification */
    bool checks_locked;         /* locked() is offered, and claimed to be exact */
    bool shows_permits;         /* it has a view, checks_locked, and nothing beyond permits */
    struct bz_permit_view view; /* as after the current step, if touched */
    uint64_t handed[2]; /* bit BZ_HANDOFF_TASKS * from + to: it went from this task to that one */
};

/* What the last grant skipped; for the oracles of order. */
struct bz_grant {
    uint32_t task;
    uint32_t object;
    uint32_t overtook;      /* earlier live arrivals that were passed over */
    uint32_t overtook_task; /* the oldest of them */
    bool is_steal;          /* they had been woken, and there is no permit left for them */
    bool is_pass;           /* they had been woken, and have not resumed */
};

struct bz_book {
    struct bz_loop *loop;
    struct bz_book_task *tasks; /* by number; 0 stands for the loop */
    uint32_t task_count;        /* highest number in use */
    uint32_t task_capacity;
    struct bz_object *objects; /* by number, 1 is the first */
    uint32_t object_count;
    uint32_t object_capacity;
    /* Objects that the current step concerned, as bits; BZ_TOUCHED_FAR: those in `far`, too. */
    uint64_t touched;
    uint32_t *far; /* those of them whose numbers have no bit of their own */
    uint32_t far_count;
    uint32_t unfinished;       /* tasks that have not ended */
    uint64_t handoff_sum;      /* over the hand-offs that have no bit of their object */
    struct bz_grant grant;     /* of the last event with BZ_FACT_OVERTAKEN */
    uint64_t detail[2];        /* of the last fact that a subject told */
    uint32_t facts;            /* BZ_FACT_... of the last event; whoever reads them clears them */
    struct bz_refusal refused; /* the first one in this step that stands, or the last */
};

/* An empty book of this loop, in whose memory everything in it lies. */
void bz_book_begin(struct bz_book *book, struct bz_loop *loop);

/* Adds an object, of which `object` says who and what it is; returns its number. */
uint32_t bz_book_add_object(struct bz_book *book, struct bz_object object);

/* The oldest live task in the line, 0 for none; the newest woken one. Amortized O(1); O(line). */
uint32_t bz_book_oldest_live(struct bz_book *book, struct bz_object *object);
uint32_t bz_book_newest_woken(const struct bz_book *book, const struct bz_object *object);

/* Moves the tasks of a line together; whoever has left it leaves no gap any more. O(line). */
void bz_book_close_gaps(struct bz_book *book, struct bz_object *object);

/* Take note of one event; O(1), but for grants out of order. `step` is the current step. */
void bz_book_on_spawn(struct bz_book *book, const struct bz_event *event);
void bz_book_on_wake(struct bz_book *book, const struct bz_event *event);
void bz_book_on_cancel(struct bz_book *book, const struct bz_event *event);
void bz_book_on_uncancel(struct bz_book *book, const struct bz_event *event);
void bz_book_on_callback(struct bz_book *book);
void bz_book_on_exit(struct bz_book *book, const struct bz_event *event);
void bz_book_on_wait(struct bz_book *book, const struct bz_event *event);
void bz_book_on_return(struct bz_book *book, uint32_t id, uint32_t number, enum bz_op op,
                       enum bz_status status, uint32_t step);
/* Whether what an acquire that returned at once got was its to get. */
void bz_book_judge_at_once(struct bz_book *book, struct bz_event event);

/* The rare parts of resume and suspend. */
void bz_book_on_cancelled_resume(struct bz_book *book, struct bz_book_task *task,
                                 enum bz_status status);
void bz_book_wait_again(struct bz_book *book, uint32_t id);

/* The specification's state of the object. */
static inline struct bz_spec_counts bz_object_counts(const struct bz_object *object) {
    return (struct bz_spec_counts){.level = (int64_t)(object->permits - object->holders),
                                   .waiting = object->waiting,
                                   .woken = object->woken};
}

/* Whether what was refused stays so at the end of the step: an acquire that was called and did not
 * return at once is Enqueue only if it waits now. */
bool bz_book_is_refused(const struct bz_book *book);

/* Objects 1 to 62 have a bit each; bit 0 is that of no object, which nobody looks at, and the last
 * one stands for all the others. */
#define BZ_TOUCHED_NEAR 63u
#define BZ_TOUCHED_FAR (UINT64_C(1) << BZ_TOUCHED_NEAR)

/* Takes down that the current step concerned an object whose number has no bit. */
void bz_book_touch_far(struct bz_book *book, uint32_t number);

/* The current step concerned this object. */
static inline struct bz_object *bz_book_touch(struct bz_book *book, uint32_t number) {
    if (__builtin_expect(number < BZ_TOUCHED_NEAR, 1)) {
        book->touched |= UINT64_C(1) << number;
    } else {
        bz_book_touch_far(book, number);
    }
    return &book->objects[number];
}

/* It concerned an object at all. */
static inline bool bz_book_has_touched(const struct bz_book *book) {
    return book->touched > 1;
}

static inline __attribute__((always_inline)) void
bz_book_on_resume(struct bz_book *book, uint32_t id, enum bz_status status) {
    struct bz_book_task *task = &book->tasks[id];
    task->phase = BZ_PHASE_RUNNING;
    if (__builtin_expect(status == BZ_CANCELLED || task->cancel_pending, 0)) {
        bz_book_on_cancelled_resume(book, task, status);
    }
    bz_book_touch(book, task->object)->inside[task->inside]--;
}

static inline __attribute__((always_inline)) void bz_book_on_suspend(struct bz_book *book,
                                                                     uint32_t id, uint32_t wait) {
    struct bz_book_task *task = &book->tasks[id];
    task->phase = BZ_PHASE_SUSPENDED;
    task->next_step++;
    task->wait = (uint8_t)wait;
    task->answer = BZ_ANSWER_PENDING;
    task->inside = wait == BZ_WAIT_FUTURE ? BZ_INSIDE_WAITING : BZ_INSIDE_POLLING;
    if (task->object != 0) { /* what a task has just done, a processor can know */
        bz_book_touch(book, task->object)->inside[task->inside]++;
        if (__builtin_expect(!task->is_live, 0) && !task->cancelled_in_op) {
            bz_book_wait_again(book, id);
        }
    } else {
        book->objects[0].inside[task->inside]++;
    }
}

/* A hand-off in a run of few tasks. */
static inline __attribute__((always_inline)) void bz_book_hand_over_bit(struct bz_object *object,
                                                                        uint32_t task) {
    uint32_t bit = object->had_last * BZ_HANDOFF_TASKS + task;
    object->handed[bit / 64] |= UINT64_C(1) << bit % 64;
    object->had_last = task;
}

/* An operation that may wait has returned BZ_OK to this task. */
static inline void bz_book_hand_over(struct bz_book *book, uint32_t number, uint32_t task) {
    struct bz_object *object = &book->objects[number];
    if (__builtin_expect(book->task_count < BZ_HANDOFF_TASKS, 1)) {
        bz_book_hand_over_bit(object, task);
        return;
    }
    uint64_t from = object->had_last;
    book->handoff_sum += bz_seed_mix(bz_seed_mix(number) ^ (from << 32u | task));
    object->had_last = task;
}

/* An acquire that returned before anything else happened: call and return in one. It arrived behind
 * everybody who is live, and never stood in the line. False, nearly always: that was all. True:
 * bz_book_hand_over() is yet to come, and bz_book_judge_at_once() has to look. There is no call in
 * it, so that who was served at once needs no registers saved. */
static inline bool bz_book_on_return_at_once(struct bz_book *book, struct bz_event event,
                                             uint32_t step) {
    struct bz_book_task *task = &book->tasks[event.task];
    struct bz_object *object = bz_book_touch(book, event.object);
    bool is_ok = event.status == BZ_OK;
    task->cancelled_in_op = false;
    task->overtaken = 0;
    task->arrival = object->line_end;
    task->holdings += is_ok & object->is_owned;
    object->holders += is_ok & object->is_counted;
    object->return_task = event.task;
    object->return_step = step;
    object->return_status = event.status;
    bool is_odd = !is_ok | (object->live > 0) | (book->task_count >= BZ_HANDOFF_TASKS) |
                  (object->is_counted & (object->holders + object->woken > object->permits)) |
                  (object->is_strict & (object->woken > 0)) | (book->facts != 0);
    if (__builtin_expect(!is_odd, 1)) {
        bz_book_hand_over_bit(object, event.task);
    }
    return is_odd;
}

/* Taken for accepted at the call, because grants happen inside it; a refusal takes it back. */
static inline void bz_book_on_release(struct bz_book *book, struct bz_event event) {
    struct bz_book_task *task = &book->tasks[event.task];
    struct bz_object *object = bz_book_touch(book, event.object);
    task->cancelled_in_op = false;
    object->had_last = event.task;
    task->took_back = object->holders > 0;
    task->gave_up = task->holdings > 0;
    object->holders -= task->took_back;
    task->holdings -= task->gave_up;
    if (__builtin_expect(!task->took_back, 0)) {
        task->over_released_before = object->over_released_by;
        object->over_released_by = event.task;
        object->permits++; /* a plain semaphore may be released by who never acquired */
    }
}

/* The fingerprint of the hand-off order until now. It is no part of the digest. O(objects). */
uint64_t bz_book_handoffs(const struct bz_book *book);

/* Where a cancel of this task would strike now, and in which operation. */
enum bz_window bz_book_window(const struct bz_book_task *task);
enum bz_op bz_book_op(const struct bz_book_task *task);

/* Without a branch for operations of primitives: who asks, asks about tasks at random. */
static inline bool bz_book_is_suspended_in(const struct bz_book_task *task, enum bz_op op) {
    bool is_op = op >= BZ_OP_ACQUIRE ? task->op == op : bz_book_op(task) == op;
    return (task->phase == BZ_PHASE_SUSPENDED) & is_op;
}

#endif
