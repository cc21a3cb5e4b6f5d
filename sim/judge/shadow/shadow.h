/* The shadow state: what events alone say about the tasks and objects of a run.
 *
 * It is kept by number, never by pointer, and updated in O(1) per event while grants come in order
 * of arrival. Oracles and the injection of cancels read it. It never inspects a primitive.
 *
 * W, R and C are the tasks inside acquire of an object that wait on a pending future, that were
 * woken and have not resumed, and that were cancelled and have not resumed. A task is live from the
 * call of acquire until it is granted or cancelled.
 *
 * Each object has a line: its tasks in order of arrival. A task that leaves the line leaves a gap;
 * gaps are closed when the line is full.
 *
 * The rules for acquire apply to every operation that may wait: get, put, and the wait of an
 * event, a condition or a barrier. A grant is the wake-up with a result or, for a task that never
 * suspends, the return. Without BZ_CLAIM_WAKE_IS_GRANT every grant is the return.
 *
 * A helper is a task of the code under test. It is in no operation and stands in no line.
 *
 * Hand-offs: when an operation that may wait returns BZ_OK, the object goes to its task from the
 * task that had it last. That is the task that last got it, released it (even in vain), set,
 * notified or cleared it. For the items of a queue it may also be the last putter, for its slots
 * the last getter; 0 is none. The hand-off order of a run is the set of these pairs, object by
 * object, and bz_shadow_handoffs() is its fingerprint, as in the resource-ordering coverage of Fest
 * (NSDI 2026). Sequences would distinguish too many runs for an estimate: of 100,000 random runs of
 * `contended` 22 % have a unique sequence, and 1.3 % a unique set; of `restaurant` 47 % and 20 %.
 *
 * Private to sim/judge and to the sources of events in this repository (sim/native).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* The state of the wait of a suspended task. */
enum bz_await {
    BZ_AWAIT_PENDING = 0,
    BZ_AWAIT_WOKEN = 1,
    BZ_AWAIT_CANCELLED = 2,
};

/* The group of its object in which a suspended task counts. */
enum bz_inside {
    BZ_INSIDE_POLLING = 0,
    BZ_INSIDE_WAITING = 1,
    BZ_INSIDE_WOKEN = 2,
    BZ_INSIDE_CANCELLED = 3,
};
#define BZ_INSIDE_COUNT 4

/* Two states are compared byte by byte, so no byte may be padding: what it holds may be left over
 * from anywhere. */
#if UINTPTR_MAX > UINT32_MAX
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
#endif

struct bz_shadow_task {
#define TASK(type, name, bits, writer, life, reference) type name bits;
#include "sim/judge/shadow/fields.h"
};
_Static_assert(sizeof(void *) != 8 || sizeof(struct bz_shadow_task) == 64,
               "a power of two, so that indexing is a shift");

#define BZ_NO_TASK UINT32_MAX

/* The thing that tasks wait for at an object. */
enum bz_object_kind {
    BZ_OBJECT_PERMITS = 0, /* of a semaphore, a lock, one key of a pool */
    BZ_OBJECT_ITEMS = 1,   /* of a queue; permits: items put, holders: items got */
    BZ_OBJECT_SLOTS = 2,   /* of a queue; permits: its bound, holders: items in it */
    BZ_OBJECT_EVENT = 3,   /* permits: 1 while it is set */
    BZ_OBJECT_CONDITION = 4,
    BZ_OBJECT_BARRIER = 5,
};

#define BZ_SIZE_MODELLED UINT64_MAX /* a model judges it, which alone knows its size */

/* In a run with fewer tasks than this, the loop included, each pair of tasks has one bit for its
 * hand-offs. Beyond, every hand-off is added up, as often as it happens. */
#define BZ_HANDOFF_TASKS 11u /* its square fits two words */

/* The tasks that are suspended inside acquire. */
#define BZ_TASKS_INSIDE                                                                            \
    union {                                                                                        \
        uint32_t inside[BZ_INSIDE_COUNT];                                                          \
        struct {                                                                                   \
            uint32_t polling;   /* on no wake-up: time, a yield */                                 \
            uint32_t waiting;   /* W */                                                            \
            uint32_t woken;     /* R */                                                            \
            uint32_t cancelled; /* C */                                                            \
        };                                                                                         \
    }

struct bz_shadow_object {
#define OBJECT(type, name, bits, writer, life, reference) type name bits;
#include "sim/judge/shadow/fields.h"
};

/* The waiters that the last grant passed over; see bz_order_of_grant(). */
struct bz_overtaking {
    uint32_t count; /* earlier arrivals that were passed over */
    uint32_t first; /* the oldest one */
    enum {
        BZ_OVERTAKES_WAITING = 0, /* they still wait */
        BZ_OVERTAKES_ROBBED = 1,  /* they were woken, and no permit is left for them */
        BZ_OVERTAKES_WOKEN = 2,   /* they were woken, and have not resumed */
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
    uint64_t dirty_mask;    /* the bits that may stand for objects */
    uint64_t dirty;         /* objects of the current step: see bz_shadow_mark_dirty() */
    uint32_t running;       /* the task that runs; 0: none */
    uint32_t unfinished;    /* tasks of the program that have not ended */
    uint32_t helpers;       /* tasks that are none of the program's */
    uint32_t clocks;        /* objects with look.idle */
    uint32_t line_moves;    /* how often gaps of a line were closed; in a step alone */
    uint32_t inside;        /* steps that the present one runs inside of */
    uint64_t refused_ends;  /* statuses with which no task of the program ends, as bits */
    uint64_t handoff_sum;   /* over the hand-offs without a bit */
    uint64_t poll_until_ns; /* the present round is not over before */
    uint64_t poll_rounds;   /* 1 + those since anything else happened; 0: no poll */
};

#if UINTPTR_MAX > UINT32_MAX
#pragma GCC diagnostic pop
#endif

/* The lives of fields, as bits. */
#define BZ_LIFE_WAIT 1u
#define BZ_LIFE_OP 2u
#define BZ_LIFE_NEVER 4u
#define BZ_IN_LIFE_ALWAYS(lives, clear)
#define BZ_IN_LIFE_COUNT(lives, clear)
#define BZ_IN_LIFE_WAIT(lives, clear) ((lives)&BZ_LIFE_WAIT) != 0 ? (void)(clear) : (void)0;
#define BZ_IN_LIFE_OP(lives, clear) ((lives)&BZ_LIFE_OP) != 0 ? (void)(clear) : (void)0;
#define BZ_IN_LIFE_NEVER(lives, clear) ((lives)&BZ_LIFE_NEVER) != 0 ? (void)(clear) : (void)0;

/* Clears the fields of these lives. */
static inline void bz_shadow_clear_task(struct bz_shadow_task *task, unsigned lives) {
#define TASK(type, field, bits, writer, life, reference) BZ_IN_LIFE_##life(lives, task->field = 0)
#include "sim/judge/shadow/fields.h"
}

static inline void bz_shadow_clear_object(struct bz_shadow_object *object, unsigned lives) {
#define OBJECT(type, field, bits, writer, life, reference)                                         \
    BZ_IN_LIFE_##life(lives, memset(&object->field, 0, sizeof object->field))
#include "sim/judge/shadow/fields.h"
}

/* Begins an empty shadow state. The caller resets `mem`, which holds nothing else. */
void bz_shadow_begin(struct bz_shadow *shadow, struct bz_mem *mem);

/* An array of zeros, as a search compares the bytes; one of twice the capacity in the place of an
 * array, which is freed. Without memory they stop. */
void *bz_shadow_new(struct bz_shadow *shadow, uint32_t count, size_t item_bytes);
void *bz_shadow_double(struct bz_shadow *shadow, void *array, uint32_t *capacity,
                       size_t item_bytes);

/* A notification is over: those who still wait were passed over. O(line). */
void bz_shadow_pass_over(struct bz_shadow *shadow, const struct bz_shadow_object *object);

/* How many of those who wait were passed over by a notification. O(line). */
uint32_t bz_shadow_passed_over(const struct bz_shadow *shadow,
                               const struct bz_shadow_object *object);

/* Adds an object that is described by `object`; returns its number. */
uint32_t bz_shadow_add_object(struct bz_shadow *shadow, struct bz_shadow_object object);

/* Adds the next task. The name must outlive the run. */
void bz_shadow_add_task(struct bz_shadow *shadow, const char *name_base, uint32_t name_index);

/* A task belongs to the code under test, or to the program after all. */
void bz_shadow_set_helper(struct bz_shadow *shadow, uint32_t id, bool is_helper);

/* The oldest live task in the line, amortized O(1); the newest woken one, O(line). 0: none. */
uint32_t bz_shadow_oldest_live(const struct bz_shadow *shadow, struct bz_shadow_object *object);
uint32_t bz_shadow_newest_woken(const struct bz_shadow *shadow,
                                const struct bz_shadow_object *object);

/* True if the task is the oldest live one, without a search in a line without gaps. */
static inline bool bz_shadow_is_oldest(const struct bz_shadow *shadow,
                                       struct bz_shadow_object *object, uint32_t id) {
    return shadow->tasks[id].arrival == object->first_live ||
           bz_shadow_oldest_live(shadow, object) == id;
}

/* True if a live task, or a woken one, is at this place of the line. */
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

/* True if the task waits on although its cancel was requested: see bz_judge_waits_on(). */
static inline bool bz_shadow_waits_on(const struct bz_shadow_task *task) {
    return task->waits_on && task->phase == BZ_PHASE_SUSPENDED && task->await == BZ_AWAIT_PENDING;
}

/* How many tasks do. O(tasks). */
uint32_t bz_shadow_count_waiting_on(const struct bz_shadow *shadow);

/* A task that has left the line waits again, or on, at its place by arrival. */
void bz_shadow_wait_again(struct bz_shadow *shadow, uint32_t id);

/* Closes the gaps of a line. O(line). */
void bz_shadow_close_gaps(struct bz_shadow *shadow, struct bz_shadow_object *object);

/* --- order of service (order.c) --------------------------------------------------------------- */

/* How a task was granted something. */
enum bz_grant {
    BZ_GRANT_WAKE = 0,    /* it was woken for it */
    BZ_GRANT_RETURN = 1,  /* its operation returned BZ_OK, after other things had happened */
    BZ_GRANT_AT_ONCE = 2, /* its operation returned BZ_OK at once */
};

/* The waiters that this grant passed over; also adds to their `overtaken`. Nearly always none.
 * While tasks that were woken have not resumed, only the first grant adds: how many more come
 * before they resume is up to the schedule, not to the primitive. For a return, the permit already
 * counts among the holders. A task that may own something already, unseen, is passed over only if
 * nothing is left. O(1) if no waiter was passed over, else O(line). */
struct bz_overtaking bz_order_of_grant(struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                       enum bz_grant grant);

/* True if this grant may have passed over a waiter: nearly always false. */
static inline bool bz_order_may_pass(const struct bz_shadow *shadow, uint32_t number, uint32_t id,
                                     enum bz_grant grant) {
    const struct bz_shadow_object *object = &shadow->objects[number];
    bool is_later = shadow->tasks[id].arrival > object->first_live;
    bool passes_waiting = grant == BZ_GRANT_AT_ONCE ? object->live > 0
                          : grant == BZ_GRANT_WAKE  ? is_later /* it is live itself */
                                                    : is_later & (object->live > 0);
    return passes_waiting | ((grant != BZ_GRANT_WAKE) & (object->woken > 0));
}

/* --- dirty objects ---------------------------------------------------------------------------- */

/* Object n has bit n modulo 64; objects that share a bit are judged together. Bit 0 stands for no
 * object. */
#define BZ_DIRTY_BITS 64u
#define BZ_DIRTY_ALONE (~UINT64_C(1)) /* the mask, while no two objects share a bit */

/* The current step named this object. */
static inline struct bz_shadow_object *bz_shadow_mark_dirty(struct bz_shadow *shadow,
                                                            uint32_t number) {
    struct bz_shadow_object *object = &shadow->objects[number];
    shadow->dirty |= UINT64_C(1) << number % BZ_DIRTY_BITS;
    return object;
}

/* --- hand-offs -------------------------------------------------------------------------------- */

void bz_shadow_add_handoff(struct bz_shadow *shadow, uint32_t number, uint32_t task);

/* The task has acquired a lock that has a rank. */
void bz_shadow_take_in_order(struct bz_shadow *shadow, uint32_t number, uint32_t task);

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
    if (__builtin_expect(object->rank != 0, 0)) {
        bz_shadow_take_in_order(shadow, number, task);
    }
}

/* The fingerprint of the hand-off order so far. It is not part of the digest. O(objects). */
uint64_t bz_shadow_handoffs(const struct bz_shadow *shadow);

/* --- tasks ------------------------------------------------------------------------------------ */

/* Where a cancel of this task would strike now, and in which operation. */
enum bz_window bz_shadow_window(const struct bz_shadow_task *task);
enum bz_op bz_shadow_op(const struct bz_shadow_task *task);

/* Without a branch for operations of primitives: the result is unpredictable. */
static inline bool bz_shadow_is_suspended_in(const struct bz_shadow_task *task, enum bz_op op) {
    bool is_op = op >= BZ_OP_ACQUIRE ? task->op == op : bz_shadow_op(task) == op;
    return (task->phase == BZ_PHASE_SUSPENDED) & is_op;
}

/* True if a step of the task is ready, as far as its events tell. */
static inline bool bz_shadow_is_ready(const struct bz_shadow_task *task) {
    return task->phase == BZ_PHASE_UNSTARTED ||
           (task->phase == BZ_PHASE_SUSPENDED &&
            (task->wait == BZ_WAIT_YIELD || task->await != BZ_AWAIT_PENDING));
}

/* The executable specification's state of the object. */
static inline struct bz_spec_counts bz_shadow_counts(const struct bz_shadow_object *object) {
    return (struct bz_spec_counts){.level = (int64_t)(object->permits - object->holders),
                                   .waiting = object->waiting,
                                   .woken = object->woken};
}
