#include "sim/run/witness.h"

#include <stdlib.h>
#include <string.h>

static bool has_steps_left(void *context, const struct bz_campaign_result *so_far) {
    (void)context;
    return so_far->stats.steps < BZ_WITNESS_STEPS;
}

/* Searches, to the end or up to the first violation of any kind. False as bz_campaign_run(). */
static bool search(struct bz_campaign_config *config, bool keep_going, const char *oracle,
                   struct bz_campaign_result *result, struct bz_witness *witness) {
    config->keep_going = keep_going;
    bool is_ok = bz_campaign_run(config, result);
    memcpy(witness->lack, result->lack, sizeof witness->lack);
    for (uint32_t index = 0; is_ok && !witness->is_found && index < result->finding_count;
         index++) {
        if (strcmp(result->findings[index].violation.oracle, oracle) == 0) {
            witness->is_found = true;
            witness->finding = result->findings[index];
        }
    }
    return is_ok;
}

bool bz_witness_search(const struct bz_program *program, const char *oracle,
                       const volatile sig_atomic_t *stop, struct bz_witness *witness) {
    *witness = (struct bz_witness){.program = *program};
    if (program->order == BZ_ORDER_FIFO) {
        return true;
    }
    witness->is_searched = true;
    witness->program.order = BZ_ORDER_FIFO;
    witness->program.profile.steps = 0;
    if (program->strategy == &bz_strategy_answers) { /* answers are valid under one order only */
        witness->program.strategy = &bz_strategy_portfolio;
    }
    struct bz_campaign_result *result = calloc(1, sizeof *result);
    struct bz_campaign_config config = {.program = &witness->program,
                                        .runs = BZ_WITNESS_RUNS,
                                        .deaths_max = BZ_WITNESS_DEATHS,
                                        .poll = has_steps_left,
                                        .stop = stop};
    bool is_ok = result != NULL && search(&config, false, oracle, result, witness);
    if (result == NULL) {
        bz_lack_text(witness->lack, sizeof witness->lack, NULL, "the search of a FIFO witness");
    }
    /* Another oracle was violated first. But each run that ends its process costs one, and a hang
     * its time. */
    if (is_ok && !witness->is_found && result->finding_count > 0 &&
        !bz_oracle_ends_process(oracle)) {
        memset(result, 0, sizeof *result);
        is_ok = search(&config, true, oracle, result, witness);
    }
    free(result);
    return is_ok;
}
