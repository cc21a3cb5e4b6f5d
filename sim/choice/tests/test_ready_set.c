/* A strategy makes the same choices among the handles of a set as among those of a list. The queue
 * here grows, shrinks and grows again; some tasks have several handles in it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/choice/ready_set.h"

#define READY_MAX 3000u
#define OWNERS 700u
#define STEPS 12000u
#define SEEDS 16u

struct queue {
    struct bz_pcg32 rng;
    struct bz_ready ready[READY_MAX]; /* the oldest first */
    uint32_t count;
    uint32_t made[OWNERS];
    bool adds_few; /* several handles of a few owners, or of many */
};

static struct bz_ready make(struct queue *queue) {
    uint32_t owner = bz_pcg32_below(&queue->rng, queue->adds_few ? 5 : OWNERS);
    struct bz_ready name = {.owner = owner, .nth = ++queue->made[owner], .role = BZ_ROLE_STEP};
    if (owner == 0 || bz_pcg32_below(&queue->rng, 8) == 0) {
        name.role = BZ_ROLE_TIMER;
    }
    queue->ready[queue->count++] = name;
    return name;
}

static void drop(struct queue *queue, uint32_t index) {
    queue->count--;
    memmove(&queue->ready[index], &queue->ready[index + 1],
            (queue->count - index) * sizeof queue->ready[0]);
}

/* How many handles follow a step: the queue grows for 3000 steps, then shrinks, and so on. */
static uint32_t draw_followers(struct queue *queue, uint32_t step) {
    uint32_t most = step / 3000 % 2 == 0 ? 4 : 2;
    uint32_t followers = bz_pcg32_below(&queue->rng, most);
    uint32_t least = queue->count < 2 ? 2 - queue->count : 0;
    followers = followers < least ? least : followers;
    return queue->count + followers > READY_MAX ? 0 : followers;
}

static bool has_yielded(const void *judge, uint32_t task) {
    (void)judge;
    return task % 3 == 0;
}

struct side {
    const struct bz_strategy *strategy;
    void *state;
};

static struct side begin(const struct bz_strategy *strategy,
                         const struct bz_strategy_start *start) {
    struct side side = {.strategy = strategy, .state = calloc(1, strategy->state_bytes)};
    strategy->begin(side.state, start);
    return side;
}

static void check_lookups(struct queue *queue, const struct bz_ready_set *set) {
    uint32_t index = bz_pcg32_below(&queue->rng, queue->count);
    uint32_t slot = bz_ready_set_at_index(set, index).slot;
    cr_assert_eq(set->count, queue->count);
    cr_assert_eq(bz_ready_set_at_slot(set, slot).index, index);
    const struct bz_ready *name = bz_ready_set_name(set, slot);
    cr_assert_eq(name->owner, queue->ready[index].owner);
    cr_assert_eq(name->nth, queue->ready[index].nth);
}

/* The chain of an owner has its handles, the oldest first. */
static void check_chain(const struct queue *queue, const struct bz_ready_set *set, uint32_t owner) {
    struct bz_ready_chain chain = bz_ready_set_chain(set, owner);
    uint32_t slot = chain.first;
    for (uint32_t index = 0; index < queue->count; index++) {
        if (queue->ready[index].owner == owner) {
            cr_assert_eq(bz_ready_set_at_slot(set, slot).index, index);
            slot = set->links[slot].after;
            chain.count--;
        }
    }
    cr_assert_eq(slot, BZ_NO_SLOT);
    cr_assert_eq(chain.count, 0);
}

static void fill(struct bz_ready_set *set, const struct queue *queue, const struct side *side) {
    cr_assert(bz_ready_set_fill(set, side->strategy, side->state, queue->ready, queue->count));
}

/* A run in which the strategy reads no names needs neither a list nor a set. */
static bool reads_names(const struct bz_strategy *strategy, const struct bz_strategy_start *start) {
    struct side side = begin(strategy, start);
    bool reads = bz_strategy_reads(strategy, side.state);
    for (uint32_t step = 1; !reads && step < STEPS; step++) {
        cr_assert_lt(strategy->next(side.state, NULL, 1 + step % 9, step), 1 + step % 9);
    }
    free(side.state);
    return reads;
}

/* False: there is nothing to compare with this seed. */
static bool compare(const struct bz_strategy *strategy, struct bz_ready_set *set, uint64_t seed) {
    struct queue *queue = calloc(1, sizeof *queue);
    struct bz_profile profile = {.steps = STEPS / 2, .tasks = 40, .points = 100};
    struct bz_strategy_start start = {
        .seed = seed, .profile = &profile, .has_yielded = has_yielded, .judge = queue};
    for (uint32_t task = 0; task < BZ_PROFILE_TASKS_MAX; task++) {
        profile.task_steps[task] = task * 7 % 90;
    }
    if (!reads_names(strategy, &start)) {
        free(queue);
        return false;
    }
    bz_pcg32_seed(&queue->rng, seed, 1);
    queue->adds_few = seed % 4 == 3;
    while (queue->count < 20) {
        (void)make(queue);
    }
    struct side list = begin(strategy, &start);
    struct side many = begin(strategy, &start);
    fill(set, queue, &many);
    for (uint32_t step = 1; step <= STEPS; step++) {
        uint32_t index = strategy->next(list.state, queue->ready, queue->count, step);
        struct bz_ready_place place = strategy->next_of_many(many.state, set, step);
        cr_assert_eq(place.index, index, "%s, seed %u, step %u", strategy->name, (unsigned)seed,
                     step);
        if (step % 500 == 0 && strategy->finds_owners) {
            check_chain(queue, set, queue->ready[index].owner);
        }
        drop(queue, index);
        bz_ready_set_remove(set, place.slot);
        for (uint32_t more = draw_followers(queue, step); more > 0; more--) {
            cr_assert(bz_ready_set_add(set, make(queue)));
        }
        if (step % 5000 == 0) { /* as a source does that has lost the thread */
            fill(set, queue, &many);
        }
        check_lookups(queue, set);
    }
    free(list.state);
    free(many.state);
    free(queue);
    return true;
}

Test(ready_set, the_choices_are_those_among_a_list) {
    uint32_t compared = 0;
    struct bz_ready_set set = {.count = 0};
    for (size_t index = 0; bz_strategies[index] != NULL; index++) {
        if (bz_strategies[index]->next_of_many != NULL) {
            uint32_t seeds = 0;
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                seeds += compare(bz_strategies[index], &set, seed);
            }
            compared += seeds > 1; /* swarm reads names in a quarter of its runs */
        }
    }
    bz_ready_set_fini(&set);
    cr_assert_eq(compared, 4); /* pct, urw, starve, swarm */
}

Test(ready_set, no_strategy_that_a_user_names_needs_a_list_of_all_handles) {
    for (size_t index = 0; bz_strategies[index] != NULL; index++) {
        const struct bz_strategy *strategy = bz_strategies[index];
        bool needs_list = strategy->reads_ready && strategy->next_of_many == NULL;
        cr_assert_not(needs_list, "%s", strategy->name);
    }
}
