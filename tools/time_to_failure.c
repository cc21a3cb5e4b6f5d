#include "tools/hunt.h"

#include <string.h>

#include "sim/run/settings.h"
#include "tools/cli.h"

bool bz_hunt_init(struct bz_hunt *hunt, const struct bz_variant *entry, const char *strategy,
                  enum bz_order order, char *error, size_t error_bytes) {
    const struct bz_variant *twin = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    const struct bz_fault *fault = entry->fault;
    struct bz_program *program = &hunt->program;
    if (!bz_program_find(program, &bz_cli_catalog, fault->scenario, entry->name, strategy, error,
                         error_bytes) ||
        (fault->settings != NULL &&
         !bz_program_set_list(program, fault->settings, error, error_bytes))) {
        return false;
    }
    program->order = order;
    hunt->has_twin = twin != NULL && bz_variant_offers(twin, program->args.primitive);
    return true;
}

struct poll {
    const struct bz_hunt_config *config;
};

static bool poll_campaign(void *context, const struct bz_campaign_result *so_far) {
    const struct bz_hunt_config *config = ((const struct poll *)context)->config;
    (void)so_far;
    if (config->poll != NULL) {
        config->poll(config->context);
    }
    return *config->stop == 0;
}

static bool run(const struct bz_hunt_config *config, const struct bz_program *program,
                uint64_t seed_first, uint64_t runs, struct bz_campaign_result *result) {
    struct poll poll = {.config = config};
    struct bz_campaign_config campaign = {.program = program,
                                          .seed_first = seed_first,
                                          .runs = runs,
                                          .jobs = config->jobs,
                                          .stop = config->stop,
                                          .poll = poll_campaign,
                                          .context = &poll};
    return bz_campaign_run(&campaign, result);
}

static bool run_twin(struct bz_hunt *hunt, const struct bz_hunt_config *config, uint64_t seed_first,
                     uint64_t runs) {
    static struct bz_campaign_result result;
    struct bz_program program = hunt->program;
    program.variant = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    if (!run(config, &program, seed_first, runs, &result)) {
        return false;
    }
    hunt->twin_runs += result.runs;
    hunt->is_interrupted |= result.is_interrupted;
    if (result.violations > 0 && hunt->twin_other.violation.oracle == NULL) {
        hunt->twin_other = result.findings[0];
    }
    return true;
}

bool bz_hunt_range(struct bz_hunt *hunt, const struct bz_hunt_config *config) {
    static struct bz_campaign_result result;
    uint64_t seed_first = config->seed_first + hunt->ranges_done * config->runs;
    if (!run(config, &hunt->program, seed_first, config->runs, &result)) {
        return false;
    }
    if (result.is_interrupted) {
        hunt->is_interrupted = true;
        return true;
    }
    uint32_t range = hunt->ranges_done++;
    if (result.violations > 0 &&
        strcmp(result.findings[0].violation.oracle, hunt->program.variant->fault->oracle) == 0) {
        hunt->finding = hunt->ranges_found == 0 ? result.findings[0] : hunt->finding;
        hunt->ranges_found++;
        hunt->schedules[range] = result.runs;
    } else if (result.violations > 0 && hunt->other.violation.oracle == NULL) {
        hunt->other = result.findings[0];
    }
    return !hunt->has_twin || run_twin(hunt, config, seed_first, result.runs);
}

bool bz_hunt_is_found(const struct bz_hunt *hunt, const struct bz_hunt_config *config) {
    return hunt->ranges_found == config->ranges;
}

uint64_t bz_hunt_mean_tenths(const struct bz_hunt *hunt) {
    uint64_t count = hunt->ranges_found;
    uint64_t sum = 0;
    for (uint32_t range = 0; range < hunt->ranges_done; range++) {
        sum += hunt->schedules[range];
    }
    return count == 0 ? 0 : (sum * 10 + count / 2) / count;
}
