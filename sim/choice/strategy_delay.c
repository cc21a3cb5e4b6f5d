/* delay: first in, first out, except for a few delays (Emmi, Qadeer, Rakamaric, "Delay-Bounded
 * Scheduling", POPL 2011).
 *
 * At each of d steps, drawn among the k of the profile, one or more of the oldest ready handles are
 * passed over; they run next. d is drawn per seed from 0, 1, 2, 4 and 8. If only one handle is
 * ready at such a step, the delay waits for the next step with two or more.
 *
 * Woken tasks are held back, or those that cancel others go first, as rng.h says.
 *
 * Guarantee: of the other runs with d delays, a given schedule with d delays has probability at
 * least 1 / (k n)^d, for n ready handles. Fair: after its delays it is a queue.
 */
#include "sim/choice/rng.h"

#define DELAYS_LOG2_MAX 3u
#define DELAYS_MAX (1u << DELAYS_LOG2_MAX)
#define RUSH_OF_4 3u /* with 4, cancels would nearly always come right after the wake-up */

struct delay_state {
    struct bz_rng rng;
    uint32_t left;
    uint32_t steps[DELAYS_MAX]; /* of the delays to come, in no order */
};

static void delay_begin(void *state, const struct bz_strategy_start *start) {
    struct delay_state *delay = state;
    bz_rng_begin(&delay->rng, start);
    delay->rng.rush_of_4 = RUSH_OF_4;
    delay->rng.has_put_off = true; /* what is late here, is late by a delay */
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
        if (delay->steps[index] <= step) {
            delay->steps[index] = delay->steps[--delay->left];
            return 1 + bz_pcg32_below(&delay->rng.streams[BZ_CHOICE_NEXT], count - 1);
        }
    }
    return 0;
}

const struct bz_strategy bz_strategy_delay = {
    .name = "delay",
    .summary = "the oldest handle first, but for up to 8 delays",
    .state_bytes = sizeof(struct delay_state),
    .begin = delay_begin,
    .next = delay_next,
    .instead = bz_rng_instead,
    BZ_RNG_PLANNED,
};
