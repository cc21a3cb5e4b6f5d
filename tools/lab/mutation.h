/* Mutation testing: which oracle finds which mutant (scenarios/mutants).
 *
 * Each mutant runs in its own process, because a fault may crash or never end. It runs every
 * scenario that uses one of the mutant's primitives, in both loop orders, until the first
 * violation. The result depends on the mutant, the strategy and the number of runs alone. */
#ifndef BZ_TOOLS_LAB_MUTATION_H
#define BZ_TOOLS_LAB_MUTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/mutants/mutants.h"
#include "sim/program/program.h"
#include "tools/cli/progress.h"

/* The result of one mutant. */
struct bz_mutation {
    const struct bz_mutant *mutant;
    bool is_judged;        /* false: stopped before, or out of memory */
    const char *oracle;    /* the first violated one, "crash" or "hang"; NULL: it survived */
    const char *scenario;  /* NULL: it survived, or died before any run */
    const char *primitive; /* likewise */
    enum bz_order order;   /* likewise */
    uint64_t seed;         /* likewise */
    uint64_t schedules;    /* in all scenarios together */
    char message[BZ_MESSAGE_BYTES];
};

struct bz_mutation_config {
    const struct bz_strategy *strategy;
    uint64_t runs;                /* of each scenario, primitive and loop order */
    uint32_t jobs;                /* processes at a time */
    struct bz_progress *progress; /* shown after each mutant */
};

/* `count` results, zeroed, in memory shared with child processes; NULL without memory. */
struct bz_mutation *bz_mutation_new(uint32_t count);
void bz_mutation_destroy(struct bz_mutation *results, uint32_t count);

/* Runs each results[...].mutant, until an interrupt. False without memory or processes. */
bool bz_mutation_run(const struct bz_mutation_config *config, struct bz_mutation *results,
                     uint32_t count);

#endif
