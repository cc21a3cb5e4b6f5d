#include "sim/run/witness.h"

#include <stdlib.h>
#include <string.h>

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
                                        /* Other oracles may be violated first. But each run that
                                         * ends its process costs one, and a hang its time. */
                                        .keep_going = !bz_oracle_ends_process(oracle),
                                        .stop = stop};
    bool is_ok = result != NULL && bz_campaign_run(&config, result);
    if (result == NULL) {
        bz_lack_text(witness->lack, sizeof witness->lack, NULL, "the search of a FIFO witness");
    } else {
        memcpy(witness->lack, result->lack, sizeof witness->lack);
    }
    for (uint32_t index = 0; is_ok && !witness->is_found && index < result->finding_count;
         index++) {
        if (strcmp(result->findings[index].violation.oracle, oracle) == 0) {
            witness->is_found = true;
            witness->finding = result->findings[index];
        }
    }
    free(result);
    return is_ok;
}
