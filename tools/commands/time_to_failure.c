#include "tools/commands/time_to_failure.h"

#include <string.h>

#include "sim/program/settings.h"
#include "tools/cli/cli.h"

bool bz_ttf_init(struct bz_ttf *ttf, const struct bz_variant *entry, const char *strategy,
                 enum bz_order order, char *error, size_t error_bytes) {
    const struct bz_fault *fault = entry->fault;
    struct bz_program *program = &ttf->program;
    if (!bz_program_find(program, &bz_cli_catalog, fault->scenario, entry->name, strategy, error,
                         error_bytes) ||
        (fault->settings != NULL &&
         !bz_program_set_list(program, fault->settings, error, error_bytes))) {
        return false;
    }
    program->order = order;
    ttf->twin = bz_catalog_twin(&bz_cli_catalog, entry, program->args.primitive);
    return true;
}

static bool poll_campaign(void *context, const struct bz_campaign_result *so_far) {
    const struct bz_ttf_config *config = context;
    (void)so_far;
    if (config->poll != NULL) {
        config->poll(config->context);
    }
    return *config->stop == 0;
}

static bool run(struct bz_ttf *ttf, const struct bz_ttf_config *config,
                const struct bz_program *program, uint64_t seed_first, uint64_t runs,
                struct bz_campaign_result *result) {
    struct bz_campaign_config campaign = {.program = program,
                                          .seed_first = seed_first,
                                          .runs = runs,
                                          .jobs = config->jobs,
                                          .draws_sizes = !config->has_default_sizes,
                                          .stop = config->stop,
                                          .poll = poll_campaign,
                                          .context = (void *)(uintptr_t)config};
    bool is_ok = bz_campaign_run(&campaign, result);
    memcpy(ttf->lack, result->lack, sizeof ttf->lack);
    return is_ok;
}

static bool run_twin(struct bz_ttf *ttf, const struct bz_ttf_config *config, uint64_t seed_first,
                     uint64_t runs) {
    static struct bz_campaign_result result;
    struct bz_program program = ttf->program;
    program.variant = ttf->twin;
    if (!run(ttf, config, &program, seed_first, runs, &result)) {
        return false;
    }
    ttf->twin_runs += result.runs;
    ttf->is_interrupted |= result.is_interrupted;
    if (result.violations > 0 && ttf->twin_other.violation.oracle == NULL) {
        ttf->twin_other = result.findings[0];
    }
    return true;
}

bool bz_ttf_run_range(struct bz_ttf *ttf, const struct bz_ttf_config *config) {
    static struct bz_campaign_result result;
    ttf->draws_sizes = !config->has_default_sizes;
    uint64_t seed_first = config->seed_first + ttf->ranges_done * config->runs;
    if (!run(ttf, config, &ttf->program, seed_first, config->runs, &result)) {
        return false;
    }
    if (result.is_interrupted) {
        ttf->is_interrupted = true;
        return true;
    }
    uint32_t range = ttf->ranges_done++;
    if (result.violations > 0 &&
        strcmp(result.findings[0].violation.oracle, ttf->program.variant->fault->oracle) == 0) {
        ttf->finding = ttf->ranges_found == 0 ? result.findings[0] : ttf->finding;
        ttf->ranges_found++;
        ttf->schedules[range] = result.runs;
    } else if (result.violations > 0 && ttf->other.violation.oracle == NULL) {
        ttf->other = result.findings[0];
    }
    return ttf->twin == NULL || run_twin(ttf, config, seed_first, result.runs);
}

bool bz_ttf_is_found(const struct bz_ttf *ttf, const struct bz_ttf_config *config) {
    return ttf->ranges_found == config->ranges;
}

uint64_t bz_ttf_mean_tenths(const struct bz_ttf *ttf) {
    uint64_t count = ttf->ranges_found;
    uint64_t sum = 0;
    for (uint32_t range = 0; range < ttf->ranges_done; range++) {
        sum += ttf->schedules[range];
    }
    return count == 0 ? 0 : (sum * 10 + count / 2) / count;
}
