/* The shadow state: what can be known of the tasks and objects of a run from events alone.
 *
 * It is kept by number, never by pointer, and updated in O(1) per event as long as grants come in
 * order of arrival. Oracles and the injection of cancels read it. It never looks into a primitive.
 * With W, R, C the tasks inside acquire of an object that wait on a pending future, that were woken
 * and have not resumed, that were cancelled and have not resumed:
 *
 *     live: not cancelled, not granted, from the call of acquire on
 *     woken: R
 *
 * Each object has a line: its tasks in order of arrival. A task that leaves the line leaves a gap,
 * which costs nothing; gaps are closed when the line is full.
 *
 * What is said of acquire holds for every operation that may wait: a get, a put, the wait of an
 * event, a condition, a barrier. A grant is the wake-up with a result (the result is set) or, for a
 * task that never suspends, the return.
 *
 * Hand-offs: whenever an operation that may wait returns BZ_OK, the object goes from the task that
 * had it last to the one that returns. The task that had it last is the one that last got it so, or
 * released it (even in vain), or set, notified, cleared it; for the items of a queue also the one
 * that put last, for its slots the one that got last; 0 is nobody. The set of these transitions,
 * object by object, is the hand-off order of a run, and bz_shadow_handoffs() its fingerprint, as in
 * the resource-ordering coverage of Fest (NSDI 2026). It is the set and not the sequence, because
 * classes that never fill up say nothing of what is left: of 100,000 random runs of `contended`
 * 22 % have a sequence that no other run has, and 1.3 % a set; of `restaurant` 47 % and 20 %.
 *
 * Private to sim/judge and to the sources of events in this repository (sim/native).
 */
#ifndef BZ_SIM_JUDGE_SHADOW_H
#define BZ_SIM_JUDGE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/choice/pcg.h"
#include "sim/judge/event.h"
#include "sim/judge/objects.h"
#include "sim/spec/guards.h"

struct bz_mem;

enum bz_phase {
    BZ_PHASE_UNSTARTED = 0,
    BZ_PHASE_RUNNING = 1,
    BZ_PHASE_SUSPENDED = 2,
    BZ_PHASE_DONE = 3,
};

/* What has become of the wait of a suspended task. */
enum bz_await {
    BZ_AWAIT_PENDING = 0,
    BZ_AWAIT_WOKEN = 1,
    BZ_AWAIT_CANCELLED = 2,
};

/* As what a suspended task counts with its object. */
enum bz_inside {
    BZ_INSIDE_POLLING = 0,
    BZ_INSIDE_WAITING = 1,
    BZ_INSIDE_WOKEN = 2,
    BZ_INSIDE_CANCELLED = 3,
};
#define BZ_INSIDE_COUNT 4

struct bz_shadow_task {
    const char *name_base; /* the task's name; it outlives the task */
    uint32_t name_index;
    uint32_t object;               /* concerned by the operation it is in; 0: none */
    uint32_t arrival;              /* its place in the object's line */
    uint32_t holdings;             /* permits it owns, over all objects */
    uint32_t overtaken;            /* later arrivals granted during the acquire it is in */
    uint32_t over_released_before; /* what its last release found in over_released_by */
    uint32_t cancels;              /* requests accepted in its life */
    uint32_t owes_wake;   /* it was notified, then cancelled: the object's wakes must get there */
    uint32_t next_step;   /* number of its next step; 1 is the first */
    uint8_t phase;        /* enum bz_phase */
    uint8_t op;           /* enum bz_op it is inside, BZ_OP_NONE outside */
    uint8_t wait;         /* enum bz_wait, while suspended */
    uint8_t await;        /* enum bz_await, while suspended */
    uint8_t inside;       /* enum bz_inside, while suspended */
    bool is_live;         /* it stands in its object's line */
    bool is_freed;        /* it is done, and can be named no more */
    bool cancel_pending;  /* a request was accepted and has not been delivered */
    bool cancelled_in_op; /* an await inside the current operation returned BZ_CANCELLED */
    bool was_granted;     /* woken for what it waits for, inside the current operation */
    bool took_back;       /* its last release lowered the holders */
    bool gave_up;         /* and its own holdings */
    uint8_t spare[8];     /* up to a power of two: an entry's address is a shift away */
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct bz_shadow_task) == 64, "see spare");

#define BZ_NO_TASK UINT32_MAX

/* What tasks wait for at an object. */
enum bz_object_kind {
    BZ_OBJECT_PERMITS = 0, /* of a semaphore, a lock, one key of a pool */
    BZ_OBJECT_ITEMS = 1,   /* of a queue; permits: items put, holders: items got */
    BZ_OBJECT_SLOTS = 2,   /* of a queue; permits: its bound, holders: items in it */
    BZ_OBJECT_EVENT = 3,   /* permits: 1 while it is set */
    BZ_OBJECT_CONDITION = 4,
    BZ_OBJECT_BARRIER = 5,
};

/* While a run has fewer tasks than this, the loop included, one bit says whether one task has
 * handed over to another. Beyond, every hand-off is added up, as often as it happens: with so many
 * tasks no class of runs fills up. */
#define BZ_HANDOFF_TASKS 11u /* its square fits two words */

struct bz_shadow_object {
    const char *name;
    struct bz_introspection look;
    enum bz_object_kind kind : 8;
    enum bz_primitive primitive : 8;
    bool counts_wakes;     /* condition: wakes and wakes_due are the same after every step */
    uint8_t return_status; /* of the last acquire that returned, see below */
    uint32_t claims;
    uint64_t permits; /* to begin with, plus net releases of a plain semaphore */
    uint64_t holders;
    uint32_t quorum;    /* barrier: so many live tasks do not wait any longer; else 0 */
    bool is_counted;    /* a wait that ends well raises the holders */
    bool is_strict;     /* newcomers pass nobody, not even a task that was woken */
    bool is_owned;      /* and the task's holdings */
    bool never_stuck;   /* others than tasks of the run take part: a condition's lock */
    uint32_t wakes;     /* grants by wake-up so far */
    uint32_t wakes_due; /* condition: and so many there should have been */
    uint32_t had_last;  /* task that the next hand-off is from; 0: nobody had it */
    uint32_t live;      /* tasks in the line that are live */
    union {             /* tasks that are suspended inside acquire */
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
    uint32_t handed_on;   /* in this step a woken waiter took what it was woken for; tasks before
                             this place of the line came before that */
    uint32_t first_woken; /* no woken task stands before it */
    uint32_t return_task; /* the last acquire that returned: whose, in which step, with what */
    uint32_t return_step;
    uint32_t over_released_by;  /* a release without a holder in this step; BZ_NO_TASK: none */
    bool refines;               /* it is judged by the executable specification */
    struct bz_permit_view view; /* as after the current step, if the step concerned it; so is */
    bool shows_locked;          /* what locked() says, if it is judged */
    uint64_t handed[2]; /* bit BZ_HANDOFF_TASKS * from + to: it went from this task to that one */
};

/* Whom the last grant passed over; see bz_order_of_grant(). */
struct bz_overtaking {
    uint32_t count; /* earlier arrivals that were passed over */
    uint32_t first; /* the oldest of them */
    enum {
        BZ_OVERTAKES_WAITING = 0, /* they still wait */
        BZ_OVERTAKES_ROBBED = 1,  /* they had been woken, and no permit is left for them */
        BZ_OVERTAKES_WOKEN = 2,   /* they had been woken, and have not resumed */
    } how;
};

struct bz_shadow {
    struct bz_mem *mem;           /* everything below lies in it */
    struct bz_shadow_task *tasks; /* by number; 0 stands for the loop */
    uint32_t task_count;          /* highest number in use */
    uint32_t task_capacity;
    struct bz_shadow_object *objects; /* by number; 0 stands for no object */
    uint32_t object_count;
    uint32_t object_capacity;
    uint64_t dirty_mask;  /* the bits that stand for objects */
    uint64_t dirty;       /* objects that the current step concerned: see bz_shadow_mark_dirty() */
    uint32_t running;     /* the task that runs; 0: none */
    uint32_t unfinished;  /* tasks that have not ended */
    uint64_t handoff_sum; /* over the hand-offs that have no bit of their object */
};

/* An empty shadow state, in memory that holds nothing else and that the caller resets. */
void bz_shadow_begin(struct bz_shadow *shadow, struct bz_mem *mem);

/* Makes a larger copy of an array and gives the old one back; NULL is empty. */
void *bz_shadow_grow(struct bz_shadow *shadow, void *old, size_t old_bytes, size_t new_bytes);

/* Adds an object, of which `object` says who and what it is; returns its number. */
uint32_t bz_shadow_add_object(struct bz_shadow *shadow, struct bz_shadow_object object);

/* Adds the next task. The name must outlive the run. */
void bz_shadow_add_task(struct bz_shadow *shadow, const char *name_base, uint32_t name_index);

/* The oldest live task in the line, 0 for none; the newest woken one. Amortized O(1); O(line). */
uint32_t bz_shadow_oldest_live(const struct bz_shadow *shadow, struct bz_shadow_object *object);
uint32_t bz_shadow_newest_woken(const struct bz_shadow *shadow,
                                const struct bz_shadow_object *object);

/* As the first of them says; in a line without gaps there is nothing to look for. */
static inline bool bz_shadow_is_oldest(const struct bz_shadow *shadow,
                                       struct bz_shadow_object *object, uint32_t id) {
    return shadow->tasks[id].arrival == object->first_live ||
           bz_shadow_oldest_live(shadow, object) == id;
}

/* Whether a live task, a woken one, stands at this place of the line. */
bool bz_shadow_stands_live(const struct bz_shadow *shadow, const struct bz_shadow_object *object,
                           uint32_t position);
bool bz_shadow_stands_woken(const struct bz_shadow *shadow, const struct bz_shadow_object *object,
                            uint32_t position);

/* Joins the line at its end; leaves it. */
void bz_shadow_join_line(struct bz_shadow *shadow, struct bz_shadow_object *object, uint32_t id);

static inline void bz_shadow_leave_line(struct bz_shadow_object *object,
                                        struct bz_shadow_task *task) {
    object->live -= task->is_live;
    object->first_live += task->is_live & (task->arrival == object->first_live);
    task->is_live = false;
}

/* A task that was woken waits again: back to its place by arrival. */
void bz_shadow_wait_again(struct bz_shadow *shadow, uint32_t id);

/* Moves the tasks of a line together, so that it has no gaps. O(line). */
void bz_shadow_close_gaps(struct bz_shadow *shadow, struct bz_shadow_object *object);

/* --- order of service (order.c) --------------------------------------------------------------- */

/* How a task was granted something. */
enum bz_grant {
    BZ_GRANT_WAKE = 0,    /* it was woken for it */
    BZ_GRANT_RETURN = 1,  /* its operation returned BZ_OK, after other things had happened */
    BZ_GRANT_AT_ONCE = 2, /* its operation returned BZ_OK at once */
};

/* Whom this grant passed over, counted also in their `overtaken`; `count` is 0, nearly always. The
 * permit of a return is counted among the holders already. O(1) if nobody was passed over, else
 * O(line). */
struct bz_overtaking bz_order_of_grant(struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                       enum bz_grant grant);

/* Whether it may have passed over somebody: false, nearly always. */
static inline bool bz_order_may_pass(const struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                     enum bz_grant grant) {
    const struct bz_shadow_object *object = &shadow->objects[number];
    const struct bz_shadow_task *task = &shadow->tasks[id];
    bool passes_waiting = grant == BZ_GRANT_AT_ONCE
                              ? object->live > 0
                              : task->is_live & (task->arrival != object->first_live);
    return passes_waiting | ((grant != BZ_GRANT_WAKE) & (object->woken > 0));
}

/* --- dirty objects ---------------------------------------------------------------------------- */

/* Each object has a bit, which it shares with the 64th after it, and so on: these are looked at
 * together. Object 0 takes what concerns none. */
#define BZ_DIRTY_BITS 64u
#define BZ_DIRTY_ALONE (~UINT64_C(1)) /* the mask, as long as each object has a bit to itself */

/* The current step concerned this object. */
static inline struct bz_shadow_object *bz_shadow_mark_dirty(struct bz_shadow *shadow,
                                                            uint32_t number) {
    struct bz_shadow_object *object = &shadow->objects[number];
    shadow->dirty |= UINT64_C(1) << number % BZ_DIRTY_BITS;
    return object;
}

/* --- hand-offs -------------------------------------------------------------------------------- */

void bz_shadow_add_handoff(struct bz_shadow *shadow, uint32_t number, uint32_t task);

/* An operation that may wait has returned BZ_OK to this task. */
static inline void bz_shadow_hand_over(struct bz_shadow *shadow, uint32_t number, uint32_t task) {
    struct bz_shadow_object *object = &shadow->objects[number];
    if (__builtin_expect(shadow->task_count < BZ_HANDOFF_TASKS, 1)) {
        uint32_t bit = object->had_last * BZ_HANDOFF_TASKS + task;
        object->handed[bit / 64] |= UINT64_C(1) << bit % 64;
    } else {
        bz_shadow_add_handoff(shadow, number, task);
    }
    object->had_last = task;
}

/* The fingerprint of the hand-off order until now. It is no part of the digest. O(objects). */
uint64_t bz_shadow_handoffs(const struct bz_shadow *shadow);

/* --- tasks ------------------------------------------------------------------------------------ */

/* Where a cancel of this task would strike now, and in which operation. */
enum bz_window bz_shadow_window(const struct bz_shadow_task *task);
enum bz_op bz_shadow_op(const struct bz_shadow_task *task);

/* Without a branch for operations of primitives: it is asked about tasks at random. */
static inline bool bz_shadow_is_suspended_in(const struct bz_shadow_task *task, enum bz_op op) {
    bool is_op = op >= BZ_OP_ACQUIRE ? task->op == op : bz_shadow_op(task) == op;
    return (task->phase == BZ_PHASE_SUSPENDED) & is_op;
}

/* The executable specification's state of the object. */
static inline struct bz_spec_counts bz_shadow_counts(const struct bz_shadow_object *object) {
    return (struct bz_spec_counts){.level = (int64_t)(object->permits - object->holders),
                                   .waiting = object->waiting,
                                   .woken = object->woken};
}

#endif
