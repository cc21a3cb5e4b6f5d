#include "tools/lab/mutation.h"

#include <stdio.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/program/settings.h"
#include "sim/session/campaign.h"
#include "tools/cli/cli.h"

/* A run takes milliseconds. A step of this much processor time does not end. */
#define STEP_NS UINT64_C(2000000000)

#define SETTINGS_BYTES 256u

/* A campaign up to its first finding; a crash or a hang is one. */
static void judge_program(const struct bz_mutation_config *config, const struct bz_program *program,
                          struct bz_mutation *result) {
    static struct bz_campaign_result campaign;
    const struct bz_campaign_config run = {.program = program,
                                           .runs = config->runs,
                                           .jobs = config->jobs,
                                           .stop = &bz_interrupt_requested};
    bool is_done = bz_campaign_run(&run, &campaign);
    result->is_judged = is_done && !campaign.is_interrupted;
    result->schedules += campaign.runs;
    if (campaign.finding_count > 0) {
        const struct bz_violation *violation = &campaign.findings[0].violation;
        result->oracle = violation->oracle;
        result->scenario = program->scenario->name;
        result->primitive = bz_primitive_name(program->args.primitive);
        result->order = program->order;
        result->seed = campaign.findings[0].seed;
        memcpy(result->message, violation->message, sizeof result->message);
    }
}

/* Runs a scenario with each primitive that the mutant also has, in both loop orders. `settings` may
 * be NULL. False: enough is known. */
static bool judge_scenario(const struct bz_mutation_config *config,
                           const struct bz_scenario *scenario, const char *settings,
                           struct bz_mutation *result) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if ((result->mutant->primitives >> scenario->primitives[index] & 1u) == 0) {
            continue;
        }
        for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
            struct bz_program program;
            char error[BZ_ERROR_BYTES];
            bz_program_init(&program, scenario, result->mutant->variant, config->strategy);
            program.contain = (struct bz_contain){
                .is_on = true, .step_ns = STEP_NS, .stop = &bz_interrupt_requested};
            program.args.primitive = scenario->primitives[index];
            program.order = (enum bz_order)order;
            bool is_set =
                settings == NULL || bz_program_set_list(&program, settings, error, sizeof error);
            BZ_CHECK(is_set); /* a mistake in the catalogue would look like a survivor */
            judge_program(config, &program, result);
            if (result->oracle != NULL || !result->is_judged) {
                return false;
            }
        }
    }
    return true;
}

/* Removes the first item of a list "SCENARIO settings;SCENARIO settings": returns the scenario and
 * copies its settings. NULL at the end of the list. */
static const struct bz_scenario *next_wider(const char **list, char *settings,
                                            size_t settings_bytes) {
    char scenario[64];
    if (*list == NULL || **list == '\0') {
        return NULL;
    }
    size_t name_length = strcspn(*list, " ");
    size_t length = strcspn(*list, ";");
    snprintf(scenario, sizeof scenario, "%.*s", (int)name_length, *list);
    snprintf(settings, settings_bytes, "%.*s", (int)(length - name_length - 1),
             *list + name_length + 1);
    *list += length + ((*list)[length] == ';');
    const struct bz_scenario *found = bz_catalog_scenario(&bz_cli_catalog, scenario);
    BZ_CHECK(found != NULL);
    return found;
}

/* All scenarios with their defaults, then the mutant's own list. */
bool bz_mutation_judge(const struct bz_mutation_config *config, struct bz_mutation *result) {
    const char *list = result->mutant->settings;
    const struct bz_scenario *wider;
    char settings[SETTINGS_BYTES];
    bool goes_on = true;
    result->is_judged = true;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; goes_on && *next != NULL;
         next++) {
        goes_on = judge_scenario(config, *next, NULL, result);
    }
    while (goes_on && (wider = next_wider(&list, settings, sizeof settings)) != NULL) {
        goes_on = judge_scenario(config, wider, settings, result);
    }
    return result->is_judged || bz_interrupt_requested != 0;
}
