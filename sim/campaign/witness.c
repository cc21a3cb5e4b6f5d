#include "sim/campaign/witness.h"

#include <stdlib.h>
#include <string.h>

static bool has_steps_left(void *context, const struct bz_campaign_result *so_far) {
    const uint64_t *steps_max = context;
    return so_far->stats.steps < *steps_max;
}

bool bz_witness_search(const struct bz_program *program, const struct bz_failure *wanted,
                       const struct bz_budget *budget, struct bz_witness *witness) {
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
    (void)bz_program_measure(&witness->program); /* also for its recording; a lack shows below */
    uint64_t steps_max = bz_budget_steps(budget, program);
    struct bz_campaign_result *result = calloc(1, sizeof *result);
    struct bz_campaign_config config = {.program = &witness->program,
                                        .runs = BZ_WITNESS_RUNS,
                                        .wanted = wanted,
                                        .deaths_max = BZ_WITNESS_DEATHS,
                                        .poll = has_steps_left,
                                        .context = &steps_max,
                                        .stop = budget->stop};
    if (result == NULL) {
        bz_lack_text(witness->lack, sizeof witness->lack, NULL, "the search of a FIFO witness");
        return false;
    }
    bool is_ok = bz_campaign_run(&config, result);
    witness->runs = result->runs;
    witness->steps = result->stats.steps;
    witness->is_found = is_ok && result->finding_count > 0;
    witness->is_cut = !witness->is_found && witness->steps >= steps_max;
    witness->finding = result->findings[0];
    memcpy(witness->lack, result->lack, sizeof witness->lack);
    free(result);
    return is_ok;
}
