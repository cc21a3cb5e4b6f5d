/* pos: partial order sampling (Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV
 * 2018).
 *
 * Every handle has a random priority of its own, and the highest of the ready ones runs. So what
 * has been pending for long tends to be low: an event that was passed over stays passed over, and
 * orders that differ only in what does not matter are drawn less often than by a random walk. The
 * paper draws anew, after each step, the priorities of those that race with it. What touches what
 * is not known to a strategy. Instead all are drawn anew at REDRAWS steps of an expected run,
 * which makes this a mixture of the paper's two variants, with redraws and without, and makes it
 * fair: a handle that was unlucky is not so for ever.
 *
 * Priorities are a hash of the seed and the handle's identity: nothing has to be kept.
 *
 * Cancels compete: each candidate (a task, its next step, the window) has a priority of its own,
 * most have none; one that has strikes when it is higher than every ready handle. The share that
 * has one is such that a run gets CANCELS_PER_RUN of them, in the mean and at most.
 *
 * Guarantee, without cancels and redraws: every order of n handles has a probability of at least
 * 1/n!, that of their priorities being in this order. Fair: every redraw gives every ready handle
 * the same chance to be the highest.
 */
#include "primitives/runtime/driver.h"
#include "sim/choice/chance.h"

#define REDRAWS 4u
#define CANCELS_PER_RUN 3u
#define CANDIDATE_MARK (UINT64_C(1) << 63u)

struct pos_state {
    struct bz_chance chance;
    uint64_t seed;
    uint32_t period;        /* steps between two redraws */
    uint32_t cancel_chance; /* of a candidate, of 2^32 */
};

static void pos_begin(void *state, const struct bz_strategy_start *start) {
    struct pos_state *pos = state;
    bz_chance_begin(&pos->chance, start);
    pos->seed = bz_seed_mix(start->seed);
    pos->period = 1 + start->profile->steps / REDRAWS;
    pos->cancel_chance = UINT32_MAX / (1 + start->profile->points / CANCELS_PER_RUN);
}

static uint32_t priority(const struct pos_state *pos, const struct bz_handle *handle,
                         uint32_t step) {
    uint64_t identity = (uint64_t)handle->owner << 32u | handle->nth;
    return (uint32_t)bz_chance_hash(pos->seed, identity,
                                    (uint64_t)handle->role << 32u | step / pos->period);
}

static uint32_t highest(const struct pos_state *pos, const struct bz_loop *loop, uint32_t count,
                        uint32_t step, uint32_t *best_priority) {
    uint32_t best = 0;
    *best_priority = 0;
    for (uint32_t index = 0; index < count; index++) {
        uint32_t candidate = priority(pos, bz_driver_ready_at(loop, index), step);
        if (candidate > *best_priority) {
            best = index;
            *best_priority = candidate;
        }
    }
    return best;
}

static uint32_t pos_next(void *state, const struct bz_loop *loop, uint32_t count, uint32_t step) {
    uint32_t unused;
    return highest(state, loop, count, step, &unused);
}

static uint32_t pos_gap(void *state) {
    (void)state;
    return 0;
}

static uint32_t pos_cancel(void *state, const struct bz_loop *loop,
                           const struct bz_cancel_candidate *candidates, uint32_t count,
                           uint32_t step, uint32_t point) {
    const struct pos_state *pos = state;
    uint32_t best;
    uint32_t victim = 0;
    (void)point;
    (void)highest(pos, loop, bz_driver_ready_count(loop), step, &best);
    for (uint32_t index = 0; index < count; index++) {
        const struct bz_cancel_candidate *candidate = &candidates[index];
        uint64_t identity = (uint64_t)candidate->task << 32u | candidate->nth;
        uint64_t hash = bz_chance_hash(pos->seed, identity, CANDIDATE_MARK | candidate->window);
        if ((uint32_t)(hash >> 32u) < pos->cancel_chance && (uint32_t)hash >= best) {
            best = (uint32_t)hash;
            victim = index + 1;
        }
    }
    return victim;
}

const struct bz_strategy bz_strategy_pos = {
    .name = "pos",
    .summary = "a random priority for every handle and every cancel: partial order sampling",
    .is_fair = true,
    .needs_profile = true,
    .state_bytes = sizeof(struct pos_state),
    .begin = pos_begin,
    .next = pos_next,
    .cancel_gap = pos_gap,
    .cancel = pos_cancel,
    .jump_gap = bz_chance_jump_gap,
    .jump = bz_chance_jump,
    .draw = bz_chance_draw,
};
