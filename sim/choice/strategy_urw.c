/* urw: uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency
 * Testing", ASPLOS 2025; SURW there is this walk over a selected part of the events).
 *
 * If every ready task is equally likely, interleavings are not: a short task nearly always ends
 * before a long one has got anywhere. Here a task's weight is the number of steps that it has left,
 * by the profile. Tasks beyond the profile are taken to be of mean length; a handle of no task has
 * weight 1.
 *
 * Woken tasks are held back, or those that cancel others go first, as rng.h says: interleavings of
 * tasks that wait for each other are not even in any case.
 *
 * Guarantee: if all tasks are always ready and as long as the profile says, and none cancels
 * another one, every interleaving is equally likely. Fair with probability 1, since no weight is 0.
 */
#include "sim/choice/ready_set.h"
#include "sim/choice/rng.h"

struct urw_state {
    struct bz_rng rng;
    const struct bz_profile *profile;
    uint32_t mean_steps; /* of a task */
};

static void urw_begin(void *state, const struct bz_strategy_start *start) {
    struct urw_state *urw = state;
    bz_rng_begin(&urw->rng, start);
    urw->profile = start->profile;
    urw->mean_steps = start->profile->steps / (start->profile->tasks + 1) + 1;
}

/* How many steps the owner of the handle has left, this one included. */
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
    for (; drawn >= weight(urw, &ready[index]); index++) {
        drawn -= weight(urw, &ready[index]);
    }
    return index;
}

static uint64_t urw_weight(const void *state, const struct bz_ready *handle) {
    return weight(state, handle);
}

static struct bz_ready_place urw_next_of_many(void *state, struct bz_ready_set *set,
                                              uint32_t step) {
    struct urw_state *urw = state;
    (void)step;
    return bz_ready_set_at_sum(
        set, bz_pcg32_below64(&urw->rng.streams[BZ_CHOICE_NEXT], bz_ready_set_sum(set)));
}

const struct bz_strategy bz_strategy_urw = {
    .name = "urw",
    .summary = "tasks weighted by the steps they still have: interleavings about equally likely",
    .reads_ready = true,
    .state_bytes = sizeof(struct urw_state),
    .begin = urw_begin,
    .next = urw_next,
    .next_of_many = urw_next_of_many,
    .weight = urw_weight,
    .adds_weights = true,
    .instead = bz_rng_instead,
    BZ_RNG_PLANNED,
};
