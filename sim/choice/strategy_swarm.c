/* swarm: a random walk whose parameters are drawn per seed (Groce, Zhang, Eide, Chen, Regehr,
 * "Swarm Testing", ISSTA 2012; TigerBeetle's simulator draws its fault rates so).
 *
 * A feature that suppresses a fault is present in every run of one fixed configuration. So each
 * seed leaves out some features and exaggerates others:
 * - windows of cancels: each with probability 1/2, or all
 * - gaps between cancels: up to 2 to 64 points
 * - draws: uniform, small, large, or always the same share
 * - next handle: uniform, rather old, rather new, or the same task again
 * The first cancel, holds of woken tasks and clock jumps are planned as rng.h says.
 *
 * Guarantee: that of a random walk, in the share of runs with its parameters. Fair with probability
 * 1: every ready handle always has a chance.
 */
#include "sim/choice/ready_set.h"
#include "sim/choice/rng.h"

#define SOON_LOG2_MOST 6u
#define STICKY_OF_4 3u

enum pick { PICK_UNIFORM, PICK_OLD, PICK_NEW, PICK_STICKY, PICK_COUNT };

struct swarm_state {
    struct bz_rng rng;
    bool reads; /* names: if it is sticky */
    enum pick pick;
    uint32_t windows;
    uint32_t soon_log2;
    uint32_t last_owner;
};

static void swarm_begin(void *state, const struct bz_strategy_start *start) {
    struct swarm_state *swarm = state;
    bz_rng_begin(&swarm->rng, start);
    struct bz_pcg32 *plan = &swarm->rng.streams[BZ_RNG_PLAN];
    swarm->pick = (enum pick)bz_pcg32_below(plan, PICK_COUNT);
    swarm->reads = swarm->pick == PICK_STICKY;
    swarm->rng.bias = (enum bz_bias)bz_pcg32_below(plan, BZ_BIAS_COUNT);
    swarm->windows = bz_pcg32_next(plan) & BZ_WINDOWS_ALL;
    swarm->windows = bz_pcg32_below(plan, 4) == 0 ? BZ_WINDOWS_ALL : swarm->windows;
    swarm->soon_log2 = 1 + bz_pcg32_below(plan, SOON_LOG2_MOST);
    swarm->last_owner = 0;
}

/* The last task again, in three of four steps; else what was drawn. */
static uint32_t sticky(struct swarm_state *swarm, const struct bz_ready *ready, uint32_t count,
                       uint32_t drawn) {
    if (bz_pcg32_below(&swarm->rng.streams[BZ_CHOICE_NEXT], 4) < STICKY_OF_4) {
        for (uint32_t index = 0; index < count; index++) {
            if (ready[index].owner == swarm->last_owner) {
                drawn = index;
                break;
            }
        }
    }
    swarm->last_owner = ready[drawn].owner;
    return drawn;
}

/* Unless it is sticky: the index of the next handle. */
static uint32_t draw_next(struct swarm_state *swarm, uint32_t count) {
    struct bz_pcg32 *stream = &swarm->rng.streams[BZ_CHOICE_NEXT];
    uint32_t drawn = bz_pcg32_below(stream, count);
    return swarm->pick == PICK_UNIFORM || swarm->pick == PICK_STICKY
               ? drawn
               : (uint32_t)bz_rng_of_two(stream, count, drawn, swarm->pick == PICK_OLD);
}

static uint32_t swarm_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    struct swarm_state *swarm = state;
    uint32_t drawn = draw_next(swarm, count);
    (void)step;
    return swarm->pick == PICK_STICKY ? sticky(swarm, ready, count, drawn) : drawn;
}

static struct bz_ready_place swarm_next_of_many(void *state, struct bz_ready_set *set,
                                                uint32_t step) {
    struct swarm_state *swarm = state;
    uint32_t drawn = draw_next(swarm, set->count);
    struct bz_ready_chain last = bz_ready_set_chain(set, swarm->last_owner);
    bool is_again =
        bz_pcg32_below(&swarm->rng.streams[BZ_CHOICE_NEXT], 4) < STICKY_OF_4 && last.count > 0;
    struct bz_ready_place place =
        is_again ? bz_ready_set_at_slot(set, last.first) : bz_ready_set_at_index(set, drawn);
    (void)step;
    swarm->last_owner = bz_ready_set_name(set, place.slot)->owner;
    return place;
}

static uint32_t swarm_cancel_gap(void *state) {
    struct swarm_state *swarm = state;
    return swarm->rng.has_struck
               ? bz_rng_log_gap(&swarm->rng.streams[BZ_CHOICE_CANCEL], 1, swarm->soon_log2)
               : bz_rng_spread_gap(state);
}

static uint32_t swarm_cancel(void *state, const struct bz_cancel_candidate *candidates,
                             uint32_t count, uint32_t step, uint32_t point) {
    struct swarm_state *swarm = state;
    (void)step;
    (void)point;
    return bz_rng_victim(&swarm->rng.streams[BZ_CHOICE_CANCEL], candidates, count, swarm->windows);
}

const struct bz_strategy bz_strategy_swarm = {
    .name = "swarm",
    .summary = "a random walk whose windows, rates and biases are drawn per seed",
    .needs_profile = true,
    .reads_ready = true,
    .reads_at = offsetof(struct swarm_state, reads),
    .state_bytes = sizeof(struct swarm_state),
    .begin = swarm_begin,
    .next = swarm_next,
    .next_of_many = swarm_next_of_many,
    .finds_owners = true,
    .instead = bz_rng_instead,
    .cancel_gap = swarm_cancel_gap,
    .cancel = swarm_cancel,
    .jump_gap = bz_rng_jump_gap,
    .jump = bz_rng_jump,
    .draw = bz_rng_draw,
};
