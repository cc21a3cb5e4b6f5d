/* Mutation testing: which oracle finds which mutant (scenarios/mutants).
 *
 * Each runs every scenario that uses one of the mutant's primitives, in both loop orders, until the
 * first finding, as code of a plug-in does: in processes of its own, because a fault may crash or
 * never end. The result depends on the mutant, the strategy and the number of runs alone. */
#ifndef BZ_TOOLS_LAB_MUTATION_H
#define BZ_TOOLS_LAB_MUTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/mutants/mutants.h"
#include "sim/program/program.h"

/* The result of one mutant. */
struct bz_mutation {
    const struct bz_mutant *mutant;
    bool is_judged; /* false: stopped before, or out of memory */
    const char
        *oracle; /* the first violated one ("crash" or "hang" among them); NULL: it survived */
    const char *scenario;  /* NULL: it survived, or died before any run */
    const char *primitive; /* likewise */
    enum bz_order order;   /* likewise */
    uint64_t seed;         /* likewise */
    uint64_t schedules;    /* in all scenarios together */
    char message[BZ_MESSAGE_BYTES];
};

struct bz_mutation_config {
    const struct bz_strategy *strategy;
    uint64_t runs; /* of each scenario, primitive and loop order */
    uint32_t jobs; /* processes at a time */
};

/* Runs result->mutant, until an interrupt. False without memory or processes. */
bool bz_mutation_judge(const struct bz_mutation_config *config, struct bz_mutation *result);

#endif
