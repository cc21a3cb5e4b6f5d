/* starve: a random walk that holds back one task at a time (the chaos mode of rr, R. O'Callahan,
 * 2016).
 *
 * Many faults need one task to be late for long, which is rare in a random walk. At a step drawn in
 * the first half of a run by the profile, the owner of a random ready handle becomes the victim: it
 * does not run while others are ready, for a number of steps that is a power of two up to a fifth
 * of a run. After a pause of a length drawn in the same way, the next victim is drawn. In half of
 * the seeds, the victims are the woken tasks of rng.h instead.
 *
 * Guarantee: in the pauses, that of a random walk. Fair with probability 1: no hold is longer than
 * HOLD_MAX steps.
 */
#include "sim/choice/ready_set.h"
#include "sim/choice/rng.h"

#define SHARE 5u /* a hold takes at most 1 / SHARE of a run */
#define HOLD_MIN 4u
#define HOLD_MAX 4096u
#define NOBODY UINT32_MAX

struct starve_state {
    struct bz_rng rng;
    bool reads; /* names; not if woken tasks are the only victims */
    uint32_t hold_log2_max;
    uint32_t victim;      /* an owner, or NOBODY */
    uint32_t last_victim; /* of the hold before this pause */
    uint32_t until;       /* the first step of the next hold or pause */
};

static void starve_begin(void *state, const struct bz_strategy_start *start) {
    struct starve_state *starve = state;
    bz_rng_begin(&starve->rng, start);
    starve->reads = !starve->rng.holds;
    uint32_t most = start->profile->steps / SHARE;
    most = most < HOLD_MIN ? HOLD_MIN : most > HOLD_MAX ? HOLD_MAX : most;
    starve->hold_log2_max = 31u - (uint32_t)__builtin_clz(most);
    starve->victim = NOBODY;
    starve->last_victim = NOBODY;
    starve->until =
        1 + bz_pcg32_below(&starve->rng.streams[BZ_RNG_PLAN], (start->profile->steps + 1) / 2);
}

/* A hold ends or begins; the index of the ready handle whose owner may be held now. */
static uint32_t draw_hold(struct starve_state *starve, uint32_t count, uint32_t step) {
    struct bz_pcg32 *plan = &starve->rng.streams[BZ_RNG_PLAN];
    uint32_t log2 = 1 + bz_pcg32_below(plan, starve->hold_log2_max);
    starve->until = step + (1u << log2);
    return bz_pcg32_below(plan, count);
}

/* The same owner is not held twice in a row: the pause continues instead. */
static void switch_over(struct starve_state *starve, uint32_t drawn) {
    bool is_hold = starve->victim == NOBODY && drawn != starve->last_victim;
    starve->last_victim = starve->victim;
    starve->victim = is_hold ? drawn : NOBODY;
}

static uint32_t starve_next(void *state, const struct bz_ready *ready, uint32_t count,
                            uint32_t step) {
    struct starve_state *starve = state;
    if (starve->rng.holds) {
        return bz_rng_next(state, ready, count, step);
    }
    if (step >= starve->until) {
        switch_over(starve, ready[draw_hold(starve, count, step)].owner);
    }
    uint32_t others = count;
    for (uint32_t index = 0; starve->victim != NOBODY && index < count; index++) {
        others -= ready[index].owner == starve->victim;
    }
    uint32_t drawn =
        bz_pcg32_below(&starve->rng.streams[BZ_CHOICE_NEXT], others == 0 ? count : others);
    if (others == count || others == 0) {
        return drawn;
    }
    uint32_t index = 0;
    while (ready[index].owner == starve->victim || drawn-- > 0) {
        index++;
    }
    return index;
}

/* The victim has few handles, the oldest first. */
static struct bz_ready_place starve_next_of_many(void *state, struct bz_ready_set *set,
                                                 uint32_t step) {
    struct starve_state *starve = state;
    if (step >= starve->until) {
        uint32_t slot = bz_ready_set_at_index(set, draw_hold(starve, set->count, step)).slot;
        switch_over(starve, bz_ready_set_name(set, slot)->owner);
    }
    struct bz_ready_chain held = bz_ready_set_chain(set, starve->victim);
    uint32_t others = set->count - held.count;
    uint32_t index =
        bz_pcg32_below(&starve->rng.streams[BZ_CHOICE_NEXT], others == 0 ? set->count : others);
    uint32_t slot = others == 0 ? BZ_NO_SLOT : held.first;
    while (slot != BZ_NO_SLOT && bz_ready_set_at_slot(set, slot).index <= index) {
        index++;
        slot = set->links[slot].after;
    }
    return bz_ready_set_at_index(set, index);
}

const struct bz_strategy bz_strategy_starve = {
    .name = "starve",
    .summary = "a random walk in which one task at a time is held back for a while",
    .reads_ready = true,
    .reads_at = offsetof(struct starve_state, reads),
    .state_bytes = sizeof(struct starve_state),
    .begin = starve_begin,
    .next = starve_next,
    .next_of_many = starve_next_of_many,
    .finds_owners = true,
    .instead = bz_rng_instead,
    BZ_RNG_PLANNED,
};
