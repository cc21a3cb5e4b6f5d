/* pct: strict priorities, changed at a few steps (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
 * Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
 *
 * Every task has a random priority; the handles of no task share one. The oldest ready handle of
 * the highest priority runs. At d - 1 steps, drawn among the k of the profile, the owner of the
 * next handle falls below all others. The depth d is drawn per seed from 1 to DEPTH_MAX.
 *
 * In half of the seeds, a step that a task has queued by yielding comes after those of all tasks
 * that have not yielded; among such steps, the oldest goes first. Without this a task that yields a
 * few times before it acts does so at once, unless a higher one happens to be ready. Shuttle lowers
 * the priority of a task that yields for good, in every run (awslabs/shuttle, pct.rs, next_task());
 * on the zoo that takes up to 2.5 times the schedules.
 *
 * Guarantee: of the other half of the runs with depth d, a fault of depth d in a program of n tasks
 * and k steps is found with probability at least 1 / (n k^(d-1)).
 *
 * Strict priorities are not fair: a task that spins keeps lower ones from running. After FAIR_AFTER
 * times the expected length, and at most 1 / BUDGET_SHARE of the step limit, the rest of the run is
 * a random walk. Shuttle and Coyote do the same.
 */
#include "sim/choice/ready_set.h"
#include "sim/choice/rng.h"

#define DEPTH_MAX 4u
#define FAIR_AFTER 4u
#define FAIR_SLACK 64u
#define BUDGET_SHARE 4u                    /* so that a run ends before the limit */
#define PRIORITY_BASE (UINT64_C(1) << 63u) /* of every task, until it falls */
#define PRIORITY_YIELDED DEPTH_MAX         /* above those that fell at a change */

struct change {
    uint32_t step;
    uint32_t owner; /* which fell, if is_made */
    bool is_made;
};

struct pct_state {
    struct bz_rng rng;
    bool (*has_yielded)(const void *judge, uint32_t task); /* NULL: yields lower nothing */
    const void *judge;
    uint64_t seed;
    uint64_t unfair_until;
    uint32_t pending; /* changes to come */
    uint32_t change_count;
    struct change changes[DEPTH_MAX - 1];
};

/* The last step of strict priorities. */
static uint64_t unfair_until(const struct bz_profile *profile) {
    uint64_t until = (uint64_t)FAIR_AFTER * profile->steps + FAIR_SLACK;
    uint64_t most = profile->steps_max / BUDGET_SHARE;
    return profile->steps_max != 0 && until > most ? most : until;
}

static void pct_begin(void *state, const struct bz_strategy_start *start) {
    struct pct_state *pct = state;
    bz_rng_begin(&pct->rng, start);
    struct bz_pcg32 *plan = &pct->rng.streams[BZ_RNG_PLAN];
    pct->seed = bz_seed_mix(start->seed);
    pct->unfair_until = unfair_until(start->profile);
    pct->change_count = bz_pcg32_below(plan, DEPTH_MAX);
    pct->pending = pct->change_count;
    for (uint32_t index = 0; index < pct->change_count; index++) {
        pct->changes[index] =
            (struct change){.step = 1 + bz_pcg32_below(plan, start->profile->steps)};
    }
    pct->has_yielded = bz_pcg32_below(plan, 2) == 0 ? start->has_yielded : NULL;
    pct->judge = start->judge;
}

/* The latest change of an owner counts. The fallen are ordered by the number of their change, which
 * is independent of its step, as in the paper. */
static uint64_t priority(const struct pct_state *pct, const struct bz_ready *handle) {
    uint32_t owner = handle->owner;
    bool is_low = pct->has_yielded != NULL && handle->role == BZ_ROLE_STEP &&
                  pct->has_yielded(pct->judge, owner);
    uint64_t value =
        is_low ? PRIORITY_YIELDED
               : PRIORITY_BASE | bz_seed_mix(pct->seed ^ bz_seed_mix(owner ^ bz_seed_mix(0)));
    uint32_t latest = 0;
    for (uint32_t index = 0; index < pct->change_count; index++) {
        const struct change *change = &pct->changes[index];
        if (change->is_made && change->owner == owner && change->step >= latest) {
            latest = change->step;
            value = index;
        }
    }
    return value;
}

static uint32_t highest(const struct pct_state *pct, const struct bz_ready *ready, uint32_t count) {
    uint32_t best = 0;
    uint64_t best_priority = priority(pct, &ready[0]);
    for (uint32_t index = 1; index < count; index++) {
        uint64_t candidate = priority(pct, &ready[index]);
        if (candidate > best_priority) {
            best = index;
            best_priority = candidate;
        }
    }
    return best;
}

/* The next change of priority that is due, which is made now; NULL: there is none. */
static struct change *next_change(struct pct_state *pct, uint32_t step) {
    for (uint32_t index = 0; pct->pending > 0 && index < pct->change_count; index++) {
        struct change *change = &pct->changes[index];
        if (!change->is_made && change->step <= step) {
            change->is_made = true;
            pct->pending--;
            return change;
        }
    }
    return NULL;
}

static uint32_t pct_next(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step) {
    struct pct_state *pct = state;
    if (step > pct->unfair_until) {
        return bz_rng_next(state, ready, count, step);
    }
    uint32_t best = highest(pct, ready, count);
    struct change *change;
    while ((change = next_change(pct, step)) != NULL) {
        change->owner = ready[best].owner;
        best = highest(pct, ready, count);
    }
    return best;
}

/* --- among many ------------------------------------------------------------------------------- */

/* The priority, but not 0: those of the fallen and of the yielded are small numbers. */
static uint64_t pct_weight(const void *state, const struct bz_ready *handle) {
    uint64_t value = priority(state, handle);
    return value < PRIORITY_BASE ? value + 1 : value;
}

static struct bz_ready_place pct_next_of_many(void *state, struct bz_ready_set *set,
                                              uint32_t step) {
    struct pct_state *pct = state;
    if (step > pct->unfair_until) {
        return bz_ready_set_at_index(set, bz_rng_next(state, NULL, set->count, step));
    }
    struct change *change;
    while ((change = next_change(pct, step)) != NULL) {
        change->owner = bz_ready_set_name(set, bz_ready_set_greatest(set).slot)->owner;
        bz_ready_set_weigh_again(set, change->owner);
    }
    return bz_ready_set_greatest(set);
}

const struct bz_strategy bz_strategy_pct = {
    .name = "pct",
    .summary = "strict random priorities, changed at up to 3 steps of a run",
    .reads_ready = true,
    .state_bytes = sizeof(struct pct_state),
    .begin = pct_begin,
    .next = pct_next,
    .next_of_many = pct_next_of_many,
    .weight = pct_weight,
    BZ_RNG_PLANNED,
};
