/* Capacity limiter: a number of tokens, each lent to a borrower. It is trio's and anyio's
 * CapacityLimiter.
 *
 * A borrower is an identity, not a task: it holds at most one token, and only it can give that
 * token back. The task that acquires on behalf of a borrower need not be the one that releases.
 *
 * The total may change at any time. If it rises, waiting borrowers that fit are woken in that call.
 * If it falls below what is lent, nothing is taken back; no token is lent until enough have come
 * back.
 *
 * Borrowers are served in order of arrival, and newcomers stand behind those that wait. A token is
 * lent when its borrower is woken. If the waiting task is cancelled before it resumes, the token
 * goes to the next borrower in the step in which it runs.
 *
 *     no task waits, or borrowed >= total
 *
 * Everything is O(1), except waking k borrowers, which is O(k). Nothing allocates. */
#ifndef BZ_SYNC_CAPACITY_LIMITER_H
#define BZ_SYNC_CAPACITY_LIMITER_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_capacity_limiter {
    struct bz_waitq queue;
    uint32_t total;
    uint32_t borrowed; /* by those that were woken and have not resumed, too */
};

/* In the caller's storage, zeroed; not moved while it waits or holds. */
struct bz_borrower {
    struct bz_capacity_limiter *limiter; /* it waits for a token of this one, or holds one */
    bool has_token;                      /* and its task has resumed with it */
};

/* The caller provides the storage, which must outlive all waits. */
void bz_capacity_limiter_init(struct bz_capacity_limiter *limiter, struct bz_loop *loop,
                              uint32_t total);

/* BZ_OK: the borrower has a token. BZ_CANCELLED: it has none. BZ_INVALID_STATE: it has one already,
 * of this limiter or another one, or waits for one. */
enum bz_status bz_capacity_limiter_acquire(struct bz_capacity_limiter *limiter,
                                           struct bz_borrower *borrower) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where an acquire would suspend. */
enum bz_status bz_capacity_limiter_try_acquire(struct bz_capacity_limiter *limiter,
                                               struct bz_borrower *borrower) BZ_MUST_USE;

/* BZ_OK. BZ_NOT_HELD, and nothing is changed: the borrower has no token of this limiter. Never
 * suspends. */
enum bz_status bz_capacity_limiter_release(struct bz_capacity_limiter *limiter,
                                           struct bz_borrower *borrower) BZ_MUST_USE;

void bz_capacity_limiter_set_total(struct bz_capacity_limiter *limiter, uint32_t total);

/* Tokens that can be lent now. */
static inline uint32_t bz_capacity_limiter_available(const struct bz_capacity_limiter *limiter) {
    return limiter->borrowed < limiter->total ? limiter->total - limiter->borrowed : 0;
}

BZ_END_DECLS

#endif
