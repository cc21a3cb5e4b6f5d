/* The queue of waiters that the deferred primitives are built on, and their run().
 *
 * A waiter is a deferred that is linked, in order of arrival, exactly while it has not fired. The
 * deferred itself unlinks it when it fires, whoever fires it: the primitive that grants, a cancel,
 * or somebody who has no business to. So cancelling is O(1), and a waiter that was abandoned and
 * given an error by hand cannot stand in the way of those behind it. (Twisted's release pops it,
 * finds that it has fired, and raises with the lock locked and its successors stranded.) A waiter
 * that is given BZ_OK by hand was granted nothing.
 *
 * There is no window: a waiter that fired is granted what it waited for, and a cancel comes too
 * late. It owns that from the moment on in which the release has popped it, even if its callbacks
 * run a little later, as the order of deferred.h has it.
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

/* Storage of the caller's, until its deferred is through (see deferred.h). It needs no
 * initialization: the call that starts to wait with it does that. */
struct bz_deferred_waiter {
    struct bz_deferred deferred;
    struct bz_list link; /* linked while it waits */
    struct bz_deferred_waitq *queue;
};

void bz_deferred_waitq_init(struct bz_deferred_waitq *queue, struct bz_trampoline *trampoline);

/* Prepares a waiter that does not wait yet. */
void bz_deferred_waiter_init(struct bz_deferred_waiter *waiter, struct bz_deferred_waitq *queue);

/* Joins the queue at the end. */
void bz_deferred_waitq_push(struct bz_deferred_waiter *waiter);

/* Fires the oldest waiter with BZ_OK and the value; false if nobody waits. O(1). Its callbacks may
 * run inside this call, so the primitive must be in order before it. */
bool bz_deferred_waitq_fire_oldest(struct bz_deferred_waitq *queue, uint64_t value);

/* --- run -------------------------------------------------------------------------------------- */

/* What runs while something is held: answers as a callback does, with bz_deferred_wait_for() if it
 * takes longer. */
typedef struct bz_deferred_result bz_deferred_run_fn(void *arg);

/* Acquire, run a function, release: one deferred, waiter.deferred, whose result is the function's.
 * What was acquired is released when that result is there, error or not. A cancel while it waits
 * for the acquire: the function is never called. A cancel while the function's own deferred is
 * pending: that one is cancelled, and then the release comes. */
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

/* Puts the two pairs behind a waiter that was started. If the function has released by itself, the
 * release that is refused shows as the result, unless that is an error already. */
void bz_deferred_run_start(struct bz_deferred_run *run, bz_deferred_run_fn *fn, void *arg,
                           enum bz_status (*give_back)(void *primitive), void *primitive);

BZ_END_DECLS

#endif
