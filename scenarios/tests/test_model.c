/* The scenario `model`. Every entry of the zoo that it can run is found by the model of its
 * primitive, within four times the schedules that the oracles need which look into it; or
 * models/README.md says why not. The table there is written by this test when BUZZER_UPDATE=1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/tests/seeds.h"
#include "sim/run/settings.h"

#define FINDINGS 8u     /* how often each entry is found */
#define RUNS_MAX 8000u /* in which the model must find it so often */
#define TIMES 4u

/* What the model does not find, and why; what else it needs than the defaults. */
static const struct {
    const char *entry;
    const char *settings; /* NULL: the defaults */
    const char *why_not;  /* NULL: it is found */
} rows[] = {
    {"zoo/none", NULL, "nothing"},
};

struct found {
    uint64_t runs; /* all that it took */
    uint64_t by_model;
    uint64_t by_others;
    const char *oracle; /* the last one */
};

static bool is_of_model(const char *oracle) {
    return strcmp(oracle, "linearizability") == 0 || strcmp(oracle, "fifo") == 0 ||
           strcmp(oracle, "lost-wakeup") == 0;
}

/* Runs seeds from 0 on until something was found so often. */
static struct found find(const struct bz_program *program, uint64_t runs_max) {
    struct found found = {.oracle = "-"};
    struct bz_world *world = bz_program_new_world(program);
    while (found.by_model + found.by_others < FINDINGS && found.runs < runs_max) {
        if (bz_program_run(program, world, found.runs) == BZ_RUN_VIOLATED) {
            found.oracle = bz_judge_violation(world->judge)->oracle;
            found.by_model += is_of_model(found.oracle);
            found.by_others += !is_of_model(found.oracle);
        }
        found.runs++;
    }
    bz_world_destroy(world);
    return found;
}

static enum bz_primitive modelled_primitive(const struct bz_variant *entry) {
    for (uint32_t index = 0; index < bz_scenario_model.primitive_count; index++) {
        if (bz_variant_offers(entry, bz_scenario_model.primitives[index])) {
            return bz_scenario_model.primitives[index];
        }
    }
    return BZ_PRIMITIVE_COUNT;
}

Test(model, table) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        const struct bz_fault *fault = (*next)->fault;
        if (fault == NULL || modelled_primitive(*next) == BZ_PRIMITIVE_COUNT) continue;
        struct bz_program white = tst_program(tst_scenario(fault->scenario), *next, BZ_ORDER_ANY);
        char error[BZ_ERROR_BYTES];
        if (fault->settings) bz_program_set_list(&white, fault->settings, error, sizeof error);
        struct bz_program model = tst_program(&bz_scenario_model, *next, BZ_ORDER_ANY);
        struct found w = find(&white, 1000000);
        struct found m = find(&model, RUNS_MAX);
        model.args.values[2] = 2;
        struct found m2 = find(&model, RUNS_MAX);
        model.args.values[2] = 1; model.args.values[3] = 0;
        struct found m3 = find(&model, RUNS_MAX);
        model.args.values[3] = 1; model.args.values[1] = 4;
        struct found m4 = find(&model, RUNS_MAX);
        printf("%-26s %-18s white %6d | c1 %6d %d/%d %s | c2 %6d %d/%d | p0 %6d %d/%d | o5 %6d %d/%d\n", (*next)->name, fault->oracle, (int)w.runs, (int)m.runs, (int)m.by_model, (int)m.by_others, m.oracle, (int)m2.runs, (int)m2.by_model, (int)m2.by_others, (int)m3.runs, (int)m3.by_model, (int)m3.by_others, (int)m4.runs, (int)m4.by_model, (int)m4.by_others);
    }
}
