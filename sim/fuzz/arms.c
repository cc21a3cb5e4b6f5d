/* The arms of each target: the ways to run it. */
#include <stdlib.h>

#include "sim/fuzz/fuzz.h"

#define MANY_CANCELS 8u

/* The changes of an arm to its target's program. */
struct kind {
    const char *name;
    const struct bz_strategy *strategy; /* NULL: as it is */
    bool is_fifo;
    bool has_no_cancels;
    bool has_many_cancels;
    bool has_default_sizes;
};

static const struct kind kinds[] = {
    {.name = "base"},
    {.name = "delay", .strategy = &bz_strategy_delay},
    {.name = "urw", .strategy = &bz_strategy_urw},
    {.name = "random", .strategy = &bz_strategy_random},
    {.name = "starve", .strategy = &bz_strategy_starve},
    {.name = "pct", .strategy = &bz_strategy_pct},
    {.name = "swarm", .strategy = &bz_strategy_swarm},
    {.name = "order fifo", .is_fifo = true},
    {.name = "8 cancels", .has_many_cancels = true},
    {.name = "no cancels", .has_no_cancels = true},
    {.name = "default sizes", .has_default_sizes = true},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

_Static_assert(KIND_COUNT *BZ_FUZZ_TARGETS_MAX <= BZ_FUZZ_ARMS_MAX, "every arm has a place");

/* True if this kind changes something, and nothing that is fixed. */
static bool applies(const struct kind *kind, const struct bz_program *program,
                    const struct bz_fuzz_fixed *fixed) {
    bool is_changed = false;
    is_changed |= kind->strategy != NULL && fixed->strategy;
    is_changed |= kind->is_fifo && (fixed->order || program->order == BZ_ORDER_FIFO);
    is_changed |= (kind->has_no_cancels || kind->has_many_cancels) && fixed->cancels;
    is_changed |= kind->has_default_sizes && (fixed->sizes || program->scenario->sizes == NULL);
    return !is_changed;
}

static void make_arm(struct bz_fuzz *fuzz, uint32_t target, const struct kind *kind,
                     const struct bz_fuzz_fixed *fixed) {
    const struct bz_program *program = &fuzz->targets[target]->program;
    struct bz_fuzz_arm *arm = &fuzz->arms[fuzz->arm_count++];
    bool is_default = kind->has_default_sizes || (fixed->sizes && fixed->has_default_sizes);
    *arm = (struct bz_fuzz_arm){.name = kind == kinds ? program->strategy->name : kind->name,
                                .target = target,
                                .program = *program,
                                .draws_sizes = !is_default && program->scenario->sizes != NULL};
    arm->program.strategy = kind->strategy != NULL ? kind->strategy : program->strategy;
    arm->program.order = kind->is_fifo ? BZ_ORDER_FIFO : program->order;
    arm->program.cancel_windows = kind->has_no_cancels ? 0 : program->cancel_windows;
    arm->program.cancels_max = kind->has_many_cancels ? MANY_CANCELS : program->cancels_max;
}

void bz_fuzz_make_arms(struct bz_fuzz *fuzz, const struct bz_fuzz_fixed *fixed) {
    for (size_t index = 0; index < KIND_COUNT; index++) {
        for (uint32_t target = 0; target < fuzz->target_count; target++) {
            if (applies(&kinds[index], &fuzz->targets[target]->program, fixed)) {
                make_arm(fuzz, target, &kinds[index], fixed);
            }
        }
    }
}

bool bz_fuzz_add_target(struct bz_fuzz *fuzz, const struct bz_program *program) {
    struct bz_fuzz_target *target =
        fuzz->target_count == BZ_FUZZ_TARGETS_MAX ? NULL : calloc(1, sizeof *target);
    if (target != NULL) {
        target->program = *program;
        bz_distinct_init(&target->handoffs, BZ_FUZZ_HANDOFFS_KEPT);
        fuzz->targets[fuzz->target_count++] = target;
    }
    return target != NULL;
}

bool bz_fuzz_init(struct bz_fuzz *fuzz) {
    *fuzz =
        (struct bz_fuzz){.slice_steps = BZ_FUZZ_SLICE_STEPS, .sample_every_ms = BZ_FUZZ_SAMPLE_MS};
    fuzz->arms = calloc(BZ_FUZZ_ARMS_MAX, sizeof *fuzz->arms);
    fuzz->findings = calloc(BZ_FUZZ_FINDINGS_MAX, sizeof *fuzz->findings);
    return fuzz->arms != NULL && fuzz->findings != NULL;
}

void bz_fuzz_fini(struct bz_fuzz *fuzz) {
    for (uint32_t target = 0; target < fuzz->target_count; target++) {
        free(fuzz->targets[target]);
    }
    for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
        free(fuzz->arms[arm].draws);
    }
    free(fuzz->arms);
    free(fuzz->findings);
}

void bz_fuzz_program(const struct bz_fuzz *fuzz, uint32_t arm, uint64_t seed,
                     struct bz_program *program) {
    *program = fuzz->arms[arm].program;
    if (fuzz->arms[arm].draws_sizes) {
        bz_sizes_draw(&fuzz->arms[arm].program, seed, program);
    }
}
