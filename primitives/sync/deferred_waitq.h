/* The queue of waiters that the deferred primitives use, and their run().
 *
 * A waiter is a deferred that is linked, in order of arrival, exactly while it has not fired. It
 * unlinks itself when it fires, by the primitive, a cancel, or other code. So a
 * cancel is O(1), and a waiter that was given an error by hand does not block the ones behind it. A
 * waiter that is given BZ_OK by hand was granted nothing.
 *
 * There is no window: a waiter owns what it waits for from the moment of the grant, and a cancel
 * comes too late, even if its callbacks run later (see the order in deferred.h).
 */
#ifndef BZ_SYNC_DEFERRED_WAITQ_H
#define BZ_SYNC_DEFERRED_WAITQ_H

#include "primitives/runtime/deferred.h"

BZ_BEGIN_DECLS

struct bz_deferred_waitq {
    struct bz_trampoline *trampoline;
    struct bz_list waiting;
    uint32_t waiting_count;
};

/* In the caller's storage, until its deferred has settled (see deferred.h). The call that starts to
 * wait initializes it. */
struct bz_deferred_waiter {
    struct bz_deferred deferred;
    struct bz_list link; /* linked while it waits */
    struct bz_deferred_waitq *queue;
};

void bz_deferred_waitq_init(struct bz_deferred_waitq *queue, struct bz_trampoline *trampoline);

/* Prepares a waiter that does not wait yet. */
void bz_deferred_waiter_init(struct bz_deferred_waiter *waiter, struct bz_deferred_waitq *queue);

/* Joins the end of the queue. */
void bz_deferred_waitq_push(struct bz_deferred_waiter *waiter);

/* Fires the oldest waiter with BZ_OK and the value; false if no task waits. O(1). Its callbacks may
 * run inside this call, so the primitive's state must be consistent before it. */
bool bz_deferred_waitq_fire_oldest(struct bz_deferred_waitq *queue, uint64_t value);

/* --- run -------------------------------------------------------------------------------------- */

/* The function that runs while something is held. It returns what a callback returns;
 * bz_deferred_wait_for() if it takes longer. */
typedef struct bz_deferred_result bz_deferred_run_fn(void *arg);

/* Acquire, run a function, release. The result of waiter.deferred is the function's; the release
 * comes when that result is there, error or not. A cancel during the acquire: the function is never
 * called. A cancel while the function's own deferred is pending: that one is cancelled, and then
 * the release comes. */
struct bz_deferred_run {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair begin;
    struct bz_deferred_pair end;
    bz_deferred_run_fn *fn;
    void *arg;
    enum bz_status (*give_back)(void *primitive);
    void *primitive;
    bool has_begun;
};

/* Adds the two pairs to a waiter that was started. If the function has released by itself, the
 * refused release becomes the result, unless that is an error already. */
void bz_deferred_run_start(struct bz_deferred_run *run, bz_deferred_run_fn *fn, void *arg,
                           enum bz_status (*give_back)(void *primitive), void *primitive);

BZ_END_DECLS

#endif
