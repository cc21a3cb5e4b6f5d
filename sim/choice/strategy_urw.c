/* urw: uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
 * Testing", ASPLOS 2025; SURW there is this walk over a selected part of the events).
 *
 * A random walk that picks every ready task alike is far from drawing every interleaving alike: of
 * a long and a short task, the short one is nearly always through before the long one got
 * anywhere. Here a task is drawn with a weight: the number of steps that it still has before it,
 * by the profile. Tasks are known by their number; those that the profile does not know, and
 * handles that belong to no task, count as one step.
 *
 * Guarantee: of a program whose tasks are always ready and are as long as the profile says, every
 * interleaving is equally likely. Fair with probability 1, since no weight is 0.
 */
#include "sim/choice/rng.h"

struct urw_state {
    struct bz_rng rng;
    const struct bz_profile *profile;
    uint32_t mean_steps; /* of a task, for those that the profile does not know */
};

static void urw_begin(void *state, const struct bz_strategy_start *start) {
    struct urw_state *urw = state;
    bz_rng_begin(&urw->rng, start);
    urw->profile = start->profile;
    urw->mean_steps = start->profile->steps / (start->profile->tasks + 1) + 1;
}

/* How many steps the owner of the handle still has before it, this one included. */
static uint32_t weight(const struct urw_state *urw, const struct bz_ready *handle) {
    if (handle->role != BZ_ROLE_STEP) {
        return 1;
    }
    uint32_t steps = handle->owner < BZ_PROFILE_TASKS_MAX ? urw->profile->task_steps[handle->owner]
                                                          : urw->mean_steps;
    return steps > handle->nth ? steps - handle->nth + 1 : 1;
}

static uint32_t urw_next(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step) {
    struct urw_state *urw = state;
    uint64_t total = 0;
    uint32_t index = 0;
    (void)step;
    for (uint32_t each = 0; each < count; each++) {
        total += weight(urw, &ready[each]);
    }
    uint64_t drawn = bz_pcg32_below64(&urw->rng.streams[BZ_CHOICE_NEXT], total);
    for (;;) {
        uint32_t share = weight(urw, &ready[index]);
        if (drawn < share) {
            return index;
        }
        drawn -= share;
        index++;
    }
}

const struct bz_strategy bz_strategy_urw = {
    .name = "urw",
    .summary = "tasks weighted by the steps they still have: interleavings about equally likely",
    .needs_profile = true,
    .reads_ready = true,
    .state_bytes = sizeof(struct urw_state),
    .begin = urw_begin,
    .next = urw_next,
    .cancel_gap = bz_rng_spread_gap,
    .cancel = bz_rng_cancel,
    .jump_gap = bz_rng_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
