#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/record.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/plugin/plugins.h"
#include "traces/text.h"

const char *bz_options_setting(const struct bz_options *options, const char *name) {
    for (unsigned index = 0; index < options->setting_count; index++) {
        if (strcmp(options->settings[index].name, name) == 0) {
            return options->settings[index].value;
        }
    }
    return NULL;
}

/* True if the variant offers a primitive of the scenario, or the one that is asked for. */
static bool fits(const struct bz_variant *variant, const struct bz_scenario *scenario,
                 const char *primitive) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        enum bz_primitive offered = scenario->primitives[index];
        if (bz_variant_offers(variant, offered) &&
            (primitive == NULL || strcmp(primitive, bz_primitive_name(offered)) == 0)) {
            return true;
        }
    }
    return false;
}

size_t bz_options_fitting(const struct bz_options *options, const char **names, size_t most) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const char *primitive = bz_options_setting(options, "primitive");
    size_t count = 0;
    for (size_t index = 0; bz_cli_catalog.variants[index] != NULL && count < most; index++) {
        const struct bz_variant *variant = bz_cli_catalog.variants[index];
        if (bz_plugins_file(variant) != NULL && scenario != NULL &&
            fits(variant, scenario, primitive)) {
            names[count++] = variant->name;
        }
    }
    return count;
}

bool bz_options_fits(const struct bz_options *options, const char *variant) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const struct bz_variant *named = bz_catalog_variant(&bz_cli_catalog, variant);
    return scenario == NULL || named == NULL ||
           fits(named, scenario, bz_options_setting(options, "primitive"));
}

bool bz_options_has_plugins(void) {
    const struct bz_variant *const *next = bz_cli_catalog.variants;
    while (*next != NULL && bz_plugins_file(*next) == NULL) {
        next++;
    }
    return *next != NULL;
}

/* The variant without --variant: with plug-ins, their only one that fits the scenario. NULL with a
 * message if there is none, or more than one. */
static const char *default_variant(const struct bz_options *options, char *error,
                                   size_t error_bytes) {
    const struct bz_scenario *scenario = bz_catalog_scenario(&bz_cli_catalog, options->scenario);
    const char *primitive = bz_options_setting(options, "primitive");
    const char *names[BZ_OPTION_VARIANTS_MAX];
    char list[BZ_ERROR_BYTES / 2] = "";
    if (scenario != NULL && scenario->runtime != NULL) {
        return scenario->runtime->variant;
    }
    if (scenario == NULL || !bz_options_has_plugins()) {
        return "buzzer";
    }
    size_t fitting = bz_options_fitting(options, names, BZ_OPTION_VARIANTS_MAX);
    for (size_t index = 0; index < fitting; index++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", index > 0 ? ", " : "", names[index]);
    }
    if (fitting == 0) {
        bz_fail(error, error_bytes,
                "no variant of the plug-in offers %s%s that scenario '%s' can use; to test a "
                "built-in variant, name it with --variant",
                primitive != NULL ? "the primitive " : "a primitive",
                primitive != NULL ? primitive : "", scenario->name);
    } else if (fitting > 1) {
        bz_fail(error, error_bytes,
                "the plug-ins have %zu variants for scenario '%s'; "
                "name one with --variant: %s",
                fitting, scenario->name, list);
    }
    return fitting == 1 ? names[0] : NULL;
}

int bz_options_program(const struct bz_options *options, struct bz_program *program) {
    char error[BZ_ERROR_BYTES];
    if (options->scenario == NULL) {
        return bz_cli_fail(BZ_EXIT_USAGE, "a scenario is missing ('%s list scenarios' lists them)",
                           bz_caller.program);
    }
    const char *variant =
        options->variant != NULL ? options->variant : default_variant(options, error, sizeof error);
    bool is_ok = variant != NULL &&
                 bz_program_find(program, &bz_cli_catalog, options->scenario, variant,
                                 bz_options_setting(options, "strategy"), error, sizeof error);
    for (unsigned index = 0; is_ok && index < options->setting_count; index++) {
        const char *setting = options->settings[index].name;
        is_ok =
            strcmp(setting, "strategy") == 0 ||
            bz_program_set(program, setting, options->settings[index].value, error, sizeof error);
    }
    is_ok = is_ok && bz_program_check(program, error, sizeof error);
    return is_ok ? BZ_EXIT_OK : bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
}
