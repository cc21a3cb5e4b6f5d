/* Rate limiter: a number of tokens in each period, on the loop's clock. It is aiolimiter's
 * AsyncLimiter: a leaky bucket used as a meter, which admits the same as a token bucket.
 *
 *     acquire(n) pours n in       bucket: `tokens` go in            drains `tokens` a period
 *
 * An acquire waits until its tokens fit into the bucket. An empty bucket takes a burst of `tokens`
 * at once; afterwards one token fits every period / tokens. So no span of time t admits more than
 * tokens * (1 + t / period).
 *
 * The arithmetic is exact: the level is counted in units of 1 / period_ns token; `tokens`
 * drain each nanosecond. A waiter is woken in the first nanosecond in which it fits.
 *
 * Tasks are served in order of arrival. A large request at the head blocks smaller ones behind it,
 * and newcomers stand behind those that wait. One timer serves the oldest waiter. Tokens are poured
 * in when the waiter is woken, and that is the time that counts, should it resume later. If it is
 * cancelled before it resumes, it takes out what cannot have drained since, in the step in which it
 * runs: the rate is never exceeded. A waiter that is cancelled in the queue no longer blocks others
 * from that step on.
 *
 * Everything is O(1) and arming a timer, which is O(log n) in the timers of the loop. No wait
 * allocates, except that a first waiter's timer may need a slot in the loop. */
#ifndef BZ_SYNC_RATE_LIMITER_H
#define BZ_SYNC_RATE_LIMITER_H

#include "primitives/runtime/timer.h"
#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

struct bz_rate_limiter {
    struct bz_waitq queue;
    struct bz_timer timer; /* of the oldest waiter */
    uint64_t period_ns;
    uint64_t level;    /* of the bucket at since_ns, in 1 / period_ns token */
    uint64_t since_ns; /* on the loop's clock */
    uint32_t tokens;
};

/* With an empty bucket. BZ_OK; BZ_INVALID_ARGUMENT if a number is 0, or if the product exceeds
 * UINT64_MAX. The caller provides the storage, which must outlive all waits. */
enum bz_status bz_rate_limiter_init(struct bz_rate_limiter *limiter, struct bz_loop *loop,
                                    uint32_t tokens, uint64_t period_ns) BZ_MUST_USE;

/* BZ_OK: the tokens were used. BZ_CANCELLED, or BZ_NO_MEMORY for a timer: they were not.
 * BZ_INVALID_ARGUMENT for 0 tokens, and for more than the bucket takes. */
enum bz_status bz_rate_limiter_acquire(struct bz_rate_limiter *limiter,
                                       uint32_t tokens) BZ_MUST_USE;

/* The same without suspending: BZ_EMPTY where an acquire would suspend. */
enum bz_status bz_rate_limiter_try_acquire(struct bz_rate_limiter *limiter,
                                           uint32_t tokens) BZ_MUST_USE;

BZ_END_DECLS

#endif
