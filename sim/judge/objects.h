/* The objects under test, and what a program does with them: calls for a source of events.
 *
 * Every operation is announced right before it is called, and again when it has returned. The judge
 * knows which task runs. Operations that may wait are acquire, wait, put and get; a task is inside
 * at most one. The loop may also call one, if it returns at once.
 *
 * An object that can be inspected provides functions for it (struct bz_introspection). They change
 * nothing, and are called between two steps or right after a return.
 */
#ifndef BZ_SIM_JUDGE_OBJECTS_H
#define BZ_SIM_JUDGE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/status.h"
#include "sim/variant/claims.h"
#include "traces/words.h"

BZ_BEGIN_DECLS

struct bz_judge;

/* Each may be NULL: not shown. */
struct bz_introspection {
    void *instance; /* argument of the functions */
    void (*view)(void *instance, struct bz_permit_view *view);
    bool (*locked)(void *instance);
    uint32_t (*queued)(void *instance); /* entries of its queues; not needed with `view` */
    /* At the end of a step after which tasks wait, and nothing is under way to wake one. Calls
     * bz_judge_violate() if one should not wait. For an object that a model judges. */
    void (*at_rest)(void *instance);
    /* Nothing can run until then: see bz_judge_idle(). Calls bz_judge_violate() if a waiter should
     * be woken earlier. Likewise. With UINT64_MAX, nothing will happen any more but that tasks ask
     * again: it objects if one of them could go on, unless time alone decides that. */
    void (*idle)(void *instance, uint64_t until_ns);
    /* True if none that waits or polls could go on. Likewise. */
    bool (*must_wait)(void *instance);
};

/* --- permits: lock, semaphore, bounded semaphore, one key of a pool --------------------------- */

/* Adds an object; returns its number, 1 for the first of a run. `name` must outlive the run.
 * `claims`: BZ_CLAIM_... of sim/variant/claims.h. Before the first step, or by the running task,
 * before any operation on it. */
uint32_t bz_judge_add_permits(struct bz_judge *judge, const char *name, enum bz_primitive primitive,
                              uint32_t claims, uint64_t permits,
                              const struct bz_introspection *look);

/* Before and after an acquire of the running task. */
void bz_judge_acquire_begin(struct bz_judge *judge, uint32_t object);
void bz_judge_acquire_end(struct bz_judge *judge, uint32_t object, enum bz_status status);
/* Before and after a release by the running task, or by no task. After a release that returned
 * BZ_OK the second call does nothing, and may be left out. */
void bz_judge_release_begin(struct bz_judge *judge, uint32_t object);
void bz_judge_release_end(struct bz_judge *judge, uint32_t object, enum bz_status status);

/* Locks that tasks nest have an order, which the oracle `lock-order` judges, whether there is a
 * deadlock or not. A task may acquire a lock only while all others that it holds, and that have a
 * rank, have lower ranks. With BZ_RANK_OF_RUN the order is that of the run: no two tasks may
 * acquire such locks in a circle. Correct programs do, where another lock or a join keeps these
 * tasks apart: give ranks then. Right after the object was added, which must have one permit; 0: no
 * rank. */
#define BZ_RANK_OF_RUN UINT32_MAX
void bz_judge_rank(struct bz_judge *judge, uint32_t object, uint32_t rank);

/* Before an acquire that the order does not concern, because it does not wait: true. After it:
 * false. */
void bz_judge_tries(struct bz_judge *judge, bool tries);

/* Permits that tasks own now. */
uint64_t bz_judge_holders(const struct bz_judge *judge, uint32_t object);

/* At the end of a run: no key of a pool is in use, and it still keeps this many locks. */
void bz_judge_pool_keep(struct bz_judge *judge, uint32_t object, uint64_t locks);

/* Kept by the caller of a wait that has no line, between the two calls. */
struct bz_judged_join {
    uint32_t cancels; /* requests to the task before it */
    bool was_pending; /* one was undelivered */
};

/* --- pool of resources ------------------------------------------------------------------------ */

struct bz_judged_resource;

/* An object with one permit for each resource that may be lent. While a resource is being made, and
 * from the return of a broken one until it is destroyed, there is a permit less. */
struct bz_judged_resource_pool {
    struct bz_judge *judge;
    uint32_t object;
    uint32_t limit;
    uint64_t idle_ns;                  /* 0: none */
    struct bz_judged_resource *ledger; /* by number; 0 is not used */
    uint32_t count;
    uint32_t capacity;
    uint32_t existing; /* and those being made */
    bool has_failed;   /* a creation has */
    bool is_closed;
};

/* The caller owns `pool`, which outlives the run. */
void bz_judge_add_resource_pool(struct bz_judge *judge, struct bz_judged_resource_pool *pool,
                                const char *name, uint32_t limit, uint64_t idle_ns, uint32_t claims,
                                const struct bz_introspection *look);

/* Before and after a creation, which passes the returned number; right before a destruction. */
uint32_t bz_judge_resource_create_begin(struct bz_judged_resource_pool *pool);
void bz_judge_resource_create_end(struct bz_judged_resource_pool *pool, uint32_t number,
                                  enum bz_status status);
void bz_judge_resource_destroy(struct bz_judged_resource_pool *pool, uint64_t number);

/* Before and after an acquire. The caller keeps what the first one returns. */
bool bz_judge_borrow_begin(struct bz_judged_resource_pool *pool);
void bz_judge_borrow_end(struct bz_judged_resource_pool *pool, bool was_closed, uint64_t number,
                         enum bz_status status);

/* Before and after a release. One of a resource that is not lent must be refused. */
bool bz_judge_give_back_begin(struct bz_judged_resource_pool *pool, uint64_t number,
                              bool is_broken);
void bz_judge_give_back_end(struct bz_judged_resource_pool *pool, bool was_lent, uint64_t number,
                            enum bz_status status);

/* The number of one that exists and is not lent, the `nth` from the last; 0: there is none. */
uint32_t bz_judge_unlent(const struct bz_judged_resource_pool *pool, uint32_t nth);

/* Before and after a close. The caller keeps what the first one returns. */
struct bz_judged_join bz_judge_close_begin(struct bz_judged_resource_pool *pool);
void bz_judge_close_end(struct bz_judged_resource_pool *pool, struct bz_judged_join join,
                        enum bz_status status);

/* At the end, when no task has a resource: in a closed pool every one must have been destroyed. */
void bz_judge_resource_pool_end(struct bz_judged_resource_pool *pool);

/* --- event: a flag that tasks wait for -------------------------------------------------------- */

/* As bz_judge_add_permits(). */
uint32_t bz_judge_add_event(struct bz_judge *judge, const char *name, uint32_t claims,
                            const struct bz_introspection *look);

/* Before and after a wait of the running task. */
void bz_judge_wait_begin(struct bz_judge *judge, uint32_t object);
void bz_judge_wait_end(struct bz_judge *judge, uint32_t object, enum bz_status status);

/* The state of a set or a notification, kept by its caller between the two calls. */
struct bz_judged_wakes {
    uint32_t so_far; /* tasks that the object has woken before */
    uint32_t due;    /* tasks that it must wake now */
    bool is_free;    /* condition: no task holds its lock */
    /* Steps may run inside the call. Private. */
    uint32_t step;
    uint32_t line_end;
    uint32_t line_moves;
};

/* Before and after a set, which must wake every waiter. Right before a clear. */
struct bz_judged_wakes bz_judge_set_begin(struct bz_judge *judge, uint32_t object);
void bz_judge_set_end(struct bz_judge *judge, uint32_t object, struct bz_judged_wakes wakes);
void bz_judge_clear(struct bz_judge *judge, uint32_t object);

/* --- condition, with its lock ----------------------------------------------------------------- */

struct bz_judged_condition {
    struct bz_judge *judge;
    uint32_t object;
    uint32_t lock; /* acquired and released as permits are */
};

#define BZ_NOTIFY_ALL UINT32_MAX

/* A condition on a lock that is an object already, and may have other conditions. As tasks that
 * return from a wait take the lock without joining its line, the lock is judged by less from now
 * on: as that of bz_judge_add_condition(). No task may be inside an operation on it. */
struct bz_judged_condition bz_judge_add_condition_on(struct bz_judge *judge, const char *name,
                                                     uint32_t lock, uint32_t claims,
                                                     const struct bz_introspection *look);

struct bz_judged_condition bz_judge_add_condition(struct bz_judge *judge, const char *name,
                                                  const char *lock_name, uint32_t claims,
                                                  const struct bz_introspection *look);

/* Before and after a wait. `is_locked`: whether the lock is held right after it. */
void bz_judge_condition_wait_begin(struct bz_judged_condition *condition);
void bz_judge_condition_wait_end(struct bz_judged_condition *condition, bool is_locked,
                                 enum bz_status status);

/* Before and after a wait without the lock, while no task holds it. */
void bz_judge_condition_misuse_begin(struct bz_judged_condition *condition);
void bz_judge_condition_misuse_end(struct bz_judged_condition *condition, enum bz_status status);

/* Before and after a notification for `count` waiters. */
struct bz_judged_wakes bz_judge_notify_begin(struct bz_judged_condition *condition, uint32_t count);
void bz_judge_notify_end(struct bz_judged_condition *condition, struct bz_judged_wakes wakes,
                         enum bz_status status);

/* --- barrier ---------------------------------------------------------------------------------- */

#define BZ_BARRIER_PARTIES_MAX 64u

struct bz_judged_barrier {
    struct bz_judge *judge;
    uint32_t object;
    uint32_t parties;
    uint32_t breaks;  /* aborts and resets so far */
    uint64_t arrived; /* since the last break, and those inside at it that it did not fail; less
                         those of no round */
    uint64_t passed;  /* arrivals since then that returned BZ_OK */
    uint64_t given[BZ_BARRIER_PARTIES_MAX]; /* how often they got each index */
    bool is_aborted;                        /* and not reset since */
};

/* The state of one wait, kept by its caller. */
struct bz_judged_pass {
    uint32_t steps;
    uint32_t breaks;
    uint64_t rounds; /* from which a task had passed when it came */
};

/* 1 to BZ_BARRIER_PARTIES_MAX parties. The caller owns `barrier`, which outlives the run. */
void bz_judge_add_barrier(struct bz_judge *judge, struct bz_judged_barrier *barrier,
                          const char *name, uint32_t parties, uint32_t claims,
                          const struct bz_introspection *look);

struct bz_judged_pass bz_judge_barrier_wait_begin(struct bz_judged_barrier *barrier);
void bz_judge_barrier_wait_end(struct bz_judged_barrier *barrier, struct bz_judged_pass pass,
                               uint32_t index, enum bz_status status);

/* Right before an abort or a reset, and right after it: `op` is BZ_OP_ABORT or BZ_OP_RESET. A
 * source that cannot report the first before the effect leaves out the second. */
struct bz_judged_wakes bz_judge_barrier_break(struct bz_judged_barrier *barrier, enum bz_op op);
void bz_judge_barrier_broken(struct bz_judged_barrier *barrier, struct bz_judged_wakes wakes);

/* --- queue ------------------------------------------------------------------------------------ */

struct bz_judged_item;

/* Two objects: its items, for which getters wait, and its free slots, for which putters wait. */
struct bz_judged_queue {
    struct bz_judge *judge;
    uint32_t items;
    uint32_t slots;
    enum bz_queue_order order;
    struct bz_judged_item *ledger; /* by value; 0 is not used */
    uint32_t item_count;
    uint32_t item_capacity;
    uint32_t entered_count; /* puts that have returned with BZ_OK */
    uint32_t putting;       /* puts that have not returned */
    bool is_closed;
    bool is_rendezvous;
    uint64_t unfinished; /* items put, less accepted task_done calls */
    void *instance;
    uint64_t (*size)(void *instance); /* items in it, with promised ones; NULL: it says nothing */
};

/* `maxsize` 0: no bound; or BZ_QUEUE_RENDEZVOUS. The caller owns `queue`, which outlives the run.
 */
void bz_judge_add_queue(struct bz_judge *judge, struct bz_judged_queue *queue,
                        const char *items_name, const char *slots_name, enum bz_queue_order order,
                        uint32_t maxsize, uint32_t claims, const struct bz_introspection *look,
                        uint64_t (*size)(void *instance));

/* Before and after a put, which passes the returned value; before and after a get. Right before
 * those, of one that must not wait: it may return BZ_FULL or BZ_EMPTY. */
void bz_judge_try(struct bz_judged_queue *queue);
uint32_t bz_judge_put_begin(struct bz_judged_queue *queue, int64_t priority);
void bz_judge_put_end(struct bz_judged_queue *queue, uint32_t value, enum bz_status status);
void bz_judge_get_begin(struct bz_judged_queue *queue);
void bz_judge_get_end(struct bz_judged_queue *queue, uint64_t value, enum bz_status status);

/* Before and after a shutdown; before and after a task_done. */
void bz_judge_shutdown_begin(struct bz_judged_queue *queue, bool is_immediate);
void bz_judge_shutdown_end(struct bz_judged_queue *queue, bool is_immediate);
void bz_judge_task_done_begin(struct bz_judged_queue *queue);
void bz_judge_task_done_end(struct bz_judged_queue *queue, enum bz_status status);

/* Before and after a join: a wait until every item is done. The caller keeps what the first one
 * returns. */
struct bz_judged_join bz_judge_join_begin(struct bz_judged_queue *queue);
void bz_judge_join_end(struct bz_judged_queue *queue, struct bz_judged_join join,
                       enum bz_status status);

/* At the end, when the rest was taken out: every item that was put must have been got. */
void bz_judge_queue_end(struct bz_judged_queue *queue);

/* --- an object that a model judges ------------------------------------------------------------ */

/* The keeper of its history (sim/model/history.h) calls bz_judge_violate(). `look`: at_rest and
 * idle alone. */
uint32_t bz_judge_add_opaque(struct bz_judge *judge, const char *name, enum bz_primitive primitive,
                             uint32_t claims, const struct bz_introspection *look);

/* Before and after an operation: BZ_OP_ACQUIRE, _WAIT, _PUT or _GET for one that may wait. Others
 * report no return. `arg` is for the trace. The model judges a status in `excused`, bits 1 <<
 * status. */
void bz_judge_opaque_begin(struct bz_judge *judge, uint32_t object, enum bz_op op, uint32_t arg);
void bz_judge_opaque_end(struct bz_judge *judge, uint32_t object, enum bz_op op,
                         enum bz_status status, uint32_t excused);

/* --- timeout scope ---------------------------------------------------------------------------- */

/* One use of a scope by the running task, from enter to exit. */
struct bz_judged_scope {
    struct bz_judge *judge;
    struct bz_judged_scope *outer;
    uint64_t due_ns;
    uint64_t armed_ns;   /* due_ns at entry; BZ_TIME_MAX_NS if that was past */
    uint32_t cancelling; /* the count at entry */
    uint32_t cancels;    /* accepted requests in the task's life, at entry */
    uint32_t taken_back; /* by scopes inside this one */
    bool was_pending;    /* a request was undelivered at entry */
};

/* `outer`: the scope that the task is already in; NULL: none. `cancelling`: the task's count of
 * requests, at entry and after the exit. `body` and `status`: what the body and the exit returned.
 * The second one is called right after the enter, with what it returned. */
void bz_judge_scope_enter_begin(struct bz_judge *judge, struct bz_judged_scope *scope,
                                struct bz_judged_scope *outer, uint64_t due_ns,
                                uint32_t cancelling);
void bz_judge_scope_enter_end(const struct bz_judged_scope *scope, enum bz_status status);
/* Right before the exit, where others than judged scopes may have taken requests back inside:
 * `cancelling` is the task's count then. The caller may have changed `due_ns` meanwhile. */
void bz_judge_scope_exit_begin(struct bz_judged_scope *scope, uint32_t cancelling);
void bz_judge_scope_exit_end(struct bz_judged_scope *scope, enum bz_status body,
                             enum bz_status status, uint32_t cancelling);

BZ_END_DECLS

#endif
