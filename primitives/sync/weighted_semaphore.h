/* A semaphore whose acquire takes one or several permits at once, first come, first served.
 *
 * No request passes an older one. A large request at the head of the queue blocks the smaller ones
 * behind it, even if there are permits for them: otherwise a stream of small requests could starve
 * it. So work golang.org/x/sync/semaphore (Weighted) and tokio::sync::Semaphore (acquire_many).
 *
 * A release hands the permits to the oldest waiters that fit, before it returns. A woken waiter
 * that is cancelled before it resumes gives its permits back in the step in which it runs. A waiter
 * that is cancelled in the queue no longer blocks others: its step wakes those behind it that fit.
 * (Go's forgot that until 2020, golang/go#37852.)
 *
 *     value + permits reserved for woken waiters + permits held == bound
 *     no task waits, or the oldest wants more than value, or a cancelled waiter has not resumed
 *
 * Acquire and release are O(1), except waking k waiters, which is O(k). Nothing allocates. */
#ifndef BZ_SYNC_WEIGHTED_SEMAPHORE_H
#define BZ_SYNC_WEIGHTED_SEMAPHORE_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_weighted_semaphore {
    struct bz_waitq queue;
    uint32_t value;    /* permits neither held nor reserved */
    uint32_t reserved; /* for woken waiters that have not resumed */
    uint32_t bound;
};

/* The caller provides the storage, which must outlive all waits. There are never more permits than
 * these. */
void bz_weighted_semaphore_init(struct bz_weighted_semaphore *semaphore, struct bz_loop *loop,
                                uint32_t permits);

/* BZ_OK: the running task has that many permits. BZ_CANCELLED: it has none.
 * BZ_INVALID_ARGUMENT for 0 and for more than the bound, which could never be had. Suspends if
 * there are too few permits, or if others wait. */
enum bz_status bz_weighted_semaphore_acquire(struct bz_weighted_semaphore *semaphore,
                                             uint32_t permits) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where an acquire would suspend. */
enum bz_status bz_weighted_semaphore_try_acquire(struct bz_weighted_semaphore *semaphore,
                                                 uint32_t permits) BZ_MUST_USE;

/* Gives permits back; not necessarily as many as one acquire took. BZ_OK. BZ_NOT_HELD, and nothing
 * is changed, if fewer are held. Never suspends. */
enum bz_status bz_weighted_semaphore_release(struct bz_weighted_semaphore *semaphore,
                                             uint32_t permits) BZ_MUST_USE;

BZ_END_DECLS

#endif
