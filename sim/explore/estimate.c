/* Knuth's estimate of the size of a tree (Mathematics of Computation, 1975): a random descent past
 * choice points with b1, b2, b3, ... alternatives stands for b1 * b2 * b3 * ... leaves. The mean
 * over many descents estimates the number of leaves. */
#include <string.h>

#include "sim/choice/pcg.h"
#include "sim/explore/fingerprint/multiply_128.h"
#include "sim/explore/search.h"

#define STREAM_DESCENT 77u
#define DESCENT_STEPS_MAX 10000u
#define DEATHS_MAX 8u                     /* of processes; and one hang, which takes long */
#define STEPS_OF_ALL (UINT64_C(1) << 22u) /* then no further descent begins */

/* mantissa * 2^log2, where the mantissa is 2^63 or more. */
struct product {
    uint64_t mantissa;
    uint32_t log2;
};

struct descent {
    struct bz_chooser *self; /* first: see bz_chooser_strategy */
    struct bz_chooser chooser;
    struct bz_pcg32 stream;
    struct product leaves;
};

static struct product normalized(uint64_t high, uint64_t low, uint32_t log2) {
    for (; high != 0; log2++) {
        low = high << 63u | low >> 1u;
        high >>= 1u;
    }
    return (struct product){low, log2};
}

static uint64_t choose(struct bz_chooser *chooser, enum bz_choice_kind kind, uint64_t bound,
                       const char *label) {
    struct descent *descent = bz_container_of(chooser, struct descent, chooser);
    struct product leaves = descent->leaves;
    struct bz_product product = bz_multiply(leaves.mantissa, bound);
    (void)kind;
    (void)label;
    descent->leaves = normalized(product.high, product.low, leaves.log2);
    return bz_pcg32_below64(&descent->stream, bound);
}

static void descent_begin(void *state, const struct bz_strategy_start *start) {
    struct descent *descent = state;
    descent->self = &descent->chooser;
    descent->chooser.choose = choose;
    bz_pcg32_seed(&descent->stream, bz_seed_mix(start->seed), STREAM_DESCENT);
    descent->leaves = (struct product){.mantissa = UINT64_C(1) << 63u};
}

static struct product add(struct product a, struct product b) {
    struct product greater = a.log2 >= b.log2 ? a : b;
    struct product smaller = a.log2 >= b.log2 ? b : a;
    uint32_t shift = greater.log2 - smaller.log2;
    uint64_t more = shift < 64 ? smaller.mantissa >> shift : 0;
    uint64_t low = greater.mantissa + more;
    return normalized(low < more, low, greater.log2);
}

/* Descents go on in another process where code that is contained ended theirs. */
struct estimate {
    struct bz_program program;
    struct bz_strategy strategy; /* every choice is equally likely */
    struct bz_world *world;
    uint32_t descents_max;
    const volatile sig_atomic_t *stop;
    struct sums { /* shared with them: numbers alone, for code may write over them */
        struct product sum;
        uint32_t descents; /* so far */
        uint64_t steps;    /* of all descents */
        bool is_ok;
    } * sums;
};

/* The judge has no such state if it was given back (bz_judge_give_back()). */
static void add_descent(const struct estimate *estimate) {
    const struct bz_judge *judge = estimate->world->judge;
    if (judge->strategy_bytes >= sizeof(struct descent)) {
        const struct descent *descent = judge->strategy_state;
        estimate->sums->sum = add(estimate->sums->sum, descent->leaves);
    }
    estimate->sums->descents++;
}

static void descend(void *context) {
    const struct estimate *estimate = context;
    struct sums *sums = estimate->sums;
    bz_judge_watch_stop(estimate->world->judge, estimate->stop);
    while (sums->is_ok && sums->descents < estimate->descents_max && sums->steps < STEPS_OF_ALL &&
           (estimate->stop == NULL || *estimate->stop == 0)) {
        sums->is_ok = bz_program_run(&estimate->program, estimate->world, sums->descents) !=
                      BZ_RUN_NO_RESOURCE;
        if (sums->is_ok) {
            sums->steps += bz_judge_steps(estimate->world->judge);
            add_descent(estimate);
        }
    }
}

static void descend_contained(struct estimate *estimate, const struct bz_contain *contain) {
    struct bz_death death = {.oracle = ""};
    for (uint32_t deaths = 0; deaths < DEATHS_MAX && strcmp(death.oracle, "hang") != 0; deaths++) {
        switch (bz_contain_call(contain, estimate->world, descend, estimate, &death)) {
        case BZ_CHILD_DONE:
            return;
        case BZ_CHILD_DIED: /* as far as it came */
            add_descent(estimate);
            break;
        case BZ_CHILD_RUNS: /* stopped */
            return;
        default:
            estimate->sums->is_ok = false;
            return;
        }
    }
}

uint32_t bz_explore_estimate_log2(const struct bz_program *program, uint32_t probes,
                                  const volatile sig_atomic_t *stop) {
    struct estimate estimate = {.program = *program,
                                .strategy = bz_chooser_strategy,
                                .descents_max = probes,
                                .stop = stop,
                                .sums = NULL};
    uint32_t result = BZ_EXPLORE_NO_ESTIMATE;
    estimate.sums = bz_shared_alloc(sizeof *estimate.sums);
    if (estimate.sums == NULL) {
        return result;
    }
    struct bz_program *brief = &estimate.program;
    brief->steps_max = brief->steps_max < DESCENT_STEPS_MAX ? brief->steps_max : DESCENT_STEPS_MAX;
    estimate.strategy.begin = descent_begin;
    estimate.strategy.state_bytes = sizeof(struct descent);
    brief->strategy = &estimate.strategy;
    brief->profile.steps = 0;
    brief->contain.is_on = false; /* in the child */
    estimate.sums->is_ok = true;
    estimate.world = bz_program_new_world(brief);
    if (estimate.world != NULL && program->contain.is_on) {
        descend_contained(&estimate, &program->contain);
    } else if (estimate.world != NULL) {
        descend(&estimate);
    }
    if (estimate.world != NULL && estimate.sums->is_ok) {
        struct product sum = estimate.sums->sum;
        uint32_t log2 = sum.log2 + 63u - (uint32_t)__builtin_clzll(sum.mantissa | 1u);
        uint32_t shared = 63u + (31u - (uint32_t)__builtin_clz(estimate.sums->descents | 1u));
        result = log2 > shared ? log2 - shared : 0;
    }
    bz_world_destroy(estimate.world);
    bz_shared_free(estimate.sums, sizeof *estimate.sums);
    return result;
}
