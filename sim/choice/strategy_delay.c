/* delay: first in, first out, but for a few delays (Emmi, Qadeer, Rakamaric, "Delay-Bounded
 * Scheduling", POPL 2011).
 *
 * What a stock loop does, disturbed in a few places: at each of d steps, drawn among the k of the
 * profile, the oldest ready handles are passed over, one or more of them, and are the next to run.
 * d is drawn per seed from 0, 1, 2, 4 and 8. Where nothing can be passed over, because one handle
 * is ready, a delay waits for the next step at which it can.
 *
 * Guarantee: a schedule with d delays is hit with probability at least 1 / (k n)^d, n the ready
 * handles, in the share of runs that have d. Fair: after its delays it is a queue.
 */
#include "sim/choice/rng.h"

#define DELAYS_LOG2_MAX 3u
#define DELAYS_MAX (1u << DELAYS_LOG2_MAX)

struct delay_state {
    struct bz_rng rng;
    uint32_t left;
    uint32_t steps[DELAYS_MAX]; /* of the delays to come, in no order */
};

static void delay_begin(void *state, const struct bz_strategy_start *start) {
    struct delay_state *delay = state;
    bz_rng_begin(&delay->rng, start);
    struct bz_pcg32 *plan = &delay->rng.streams[BZ_RNG_PLAN];
    delay->left = (1u << bz_pcg32_below(plan, DELAYS_LOG2_MAX + 2)) / 2; /* 0, 1, 2, 4, 8 */
    for (uint32_t index = 0; index < delay->left; index++) {
        delay->steps[index] = 1 + bz_pcg32_below(plan, start->profile->steps);
    }
}

static uint32_t delay_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    struct delay_state *delay = state;
    (void)ready;
    for (uint32_t index = 0; index < delay->left; index++) {
        if (delay->steps[index] <= step) { /* later if there was no choice at that step */
            delay->steps[index] = delay->steps[--delay->left];
            return 1 + bz_pcg32_below(&delay->rng.streams[BZ_CHOICE_NEXT], count - 1);
        }
    }
    return 0;
}

const struct bz_strategy bz_strategy_delay = {
    .name = "delay",
    .summary = "the oldest handle first, but for up to 8 delays",
    .needs_profile = true,
    .state_bytes = sizeof(struct delay_state),
    .begin = delay_begin,
    .next = delay_next,
    .cancel_gap = bz_rng_spread_gap,
    .cancel = bz_rng_cancel,
    .jump_gap = bz_rng_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
