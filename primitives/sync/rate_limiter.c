#include "primitives/sync/rate_limiter.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/loop.h"

/* The amount that drains from `level` in that time. */
static uint64_t drained(const struct bz_rate_limiter *limiter, uint64_t level,
                        uint64_t elapsed_ns) {
    if (elapsed_ns >= limiter->period_ns) {
        return level; /* a full bucket drains in a period; and the product might overflow */
    }
    uint64_t amount = elapsed_ns * limiter->tokens;
    return amount < level ? amount : level;
}

/* Brings the level up to date. */
static void drain(struct bz_rate_limiter *limiter) {
    uint64_t now_ns = bz_loop_now_ns(limiter->queue.loop);
    limiter->level -= drained(limiter, limiter->level, now_ns - limiter->since_ns);
    limiter->since_ns = now_ns;
}

/* The level up to which so many tokens fit. */
static uint64_t highest_level(const struct bz_rate_limiter *limiter, uint64_t tokens) {
    return (limiter->tokens - tokens) * limiter->period_ns;
}

/* Sets the timer for the time at which so many tokens fit, which they do not now. */
static bool arm(struct bz_rate_limiter *limiter, uint64_t tokens) {
    uint64_t excess = limiter->level - highest_level(limiter, tokens);
    uint64_t wait_ns = (excess - 1) / limiter->tokens + 1;
    bz_timer_disarm(&limiter->timer);
    return bz_timer_arm(&limiter->timer, bz_time_after(limiter->since_ns, wait_ns));
}

/* Pours in what fits, for the oldest waiters. */
static void serve(struct bz_rate_limiter *limiter) {
    drain(limiter);
    while (bz_waitq_has_waiting(&limiter->queue)) {
        uint64_t tokens = bz_waitq_oldest_amount(&limiter->queue);
        if (limiter->level > highest_level(limiter, tokens)) {
            bool is_armed = arm(limiter, tokens);
            BZ_CHECK(is_armed); /* the slot of the timer before it is free */
            return;
        }
        limiter->level += tokens * limiter->period_ns;
        bz_waitq_wake_oldest(&limiter->queue, limiter->since_ns);
    }
    bz_timer_disarm(&limiter->timer);
}

static void on_time(struct bz_timer *timer) {
    serve(bz_container_of(timer, struct bz_rate_limiter, timer));
}

enum bz_status bz_rate_limiter_init(struct bz_rate_limiter *limiter, struct bz_loop *loop,
                                    uint32_t tokens, uint64_t period_ns) {
    if (tokens == 0 || period_ns == 0 || period_ns > UINT64_MAX / tokens) {
        return BZ_INVALID_ARGUMENT;
    }
    *limiter = (struct bz_rate_limiter){.period_ns = period_ns, .tokens = tokens};
    limiter->since_ns = bz_loop_now_ns(loop);
    bz_waitq_init(&limiter->queue, loop);
    bz_timer_init(&limiter->timer, loop, on_time);
    return BZ_OK;
}

enum bz_status bz_rate_limiter_try_acquire(struct bz_rate_limiter *limiter, uint32_t tokens) {
    if (tokens == 0 || tokens > limiter->tokens) {
        return BZ_INVALID_ARGUMENT;
    }
    drain(limiter);
    if (limiter->level > highest_level(limiter, tokens) || bz_waitq_has_waiting(&limiter->queue)) {
        return BZ_EMPTY;
    }
    limiter->level += tokens * limiter->period_ns;
    return BZ_OK;
}

/* Takes out what was poured in at `poured_ns`, as far as it cannot have drained since. */
static void take_out(struct bz_rate_limiter *limiter, uint32_t tokens, uint64_t poured_ns) {
    drain(limiter);
    uint64_t amount = tokens * limiter->period_ns;
    amount -= drained(limiter, amount, limiter->since_ns - poured_ns);
    limiter->level -= amount < limiter->level ? amount : limiter->level;
}

enum bz_status bz_rate_limiter_acquire(struct bz_rate_limiter *limiter, uint32_t tokens) {
    enum bz_status status = bz_rate_limiter_try_acquire(limiter, tokens);
    if (status != BZ_EMPTY) {
        return status;
    }
    if (!bz_waitq_has_waiting(&limiter->queue) && !arm(limiter, tokens)) {
        return BZ_NO_MEMORY;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait_for(&limiter->queue, tokens);
    if (outcome.status != BZ_OK) {
        if (outcome.was_woken) {
            take_out(limiter, tokens, outcome.value);
        }
        serve(limiter); /* it may have blocked smaller requests */
    }
    return outcome.status;
}
