/* Checks of what a plug-in has, before any of its functions is called. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "sim/model/history.h"
#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "traces/text.h"

#define NAME_LENGTH_MAX 64u

/* Names are used in tokens, traces, file names and shells. */
static bool is_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._/-";
    size_t length = strlen(name);
    return length > 0 && length <= NAME_LENGTH_MAX && strspn(name, allowed) == length &&
           name[0] != '-' && name[0] != '.' && name[0] != '/';
}

/* A setting that a scenario cannot have as a parameter: it is everybody's. */
static bool is_reserved(const char *name) {
    const struct bz_setting *setting = bz_settings;
    while (setting->name != NULL && strcmp(setting->name, name) != 0) {
        setting++;
    }
    return setting->name != NULL || strcmp(name, "strategy") == 0 || strcmp(name, "seed") == 0;
}

/* Names of parameters are used in tokens, between ',' and '='. */
static bool is_param_name(const char *name) {
    size_t length = strlen(name);
    return length > 0 && length <= NAME_LENGTH_MAX && islower((unsigned char)name[0]) != 0 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static bool check_param(const struct bz_param *params, uint32_t index, char *error,
                        size_t error_bytes) {
    const struct bz_param *param = &params[index];
    if (!is_param_name(param->name)) {
        return bz_fail(error, error_bytes,
                       "has a parameter '%.64s'; a name has 1 to 64 lower-case letters, digits and "
                       "'-', and starts with a letter",
                       param->name);
    }
    if (is_reserved(param->name)) {
        return bz_fail(error, error_bytes,
                       "has a parameter '%s', which is the name of a setting of every scenario",
                       param->name);
    }
    for (uint32_t other = 0; other < index; other++) {
        if (strcmp(params[other].name, param->name) == 0) {
            return bz_fail(error, error_bytes, "has two parameters '%s'", param->name);
        }
    }
    if (param->summary == NULL || param->summary[0] == '\0') {
        return bz_fail(error, error_bytes, "has a parameter '%s' that needs a summary",
                       param->name);
    }
    return (param->least <= param->value && param->value <= param->most) ||
           bz_fail(error, error_bytes,
                   "has a parameter '%s' whose default, %" PRId64 ", is not from %" PRId64
                   " to %" PRId64,
                   param->name, param->value, param->least, param->most);
}

static bool check_params(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    if (scenario->params == NULL) {
        return bz_fail(error, error_bytes, "has params NULL; an empty list is one {NULL}");
    }
    for (uint32_t index = 0; scenario->params[index].name != NULL; index++) {
        if (index == BZ_PARAMS_MAX) {
            return bz_fail(error, error_bytes,
                           "has more than %u parameters, or the list lacks its end, {NULL}",
                           BZ_PARAMS_MAX);
        }
        if (!check_param(scenario->params, index, error, error_bytes)) {
            return false;
        }
    }
    return true;
}

static bool check_primitives(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    if (scenario->primitive_count == 0 || scenario->primitive_count > BZ_PRIMITIVE_COUNT) {
        return bz_fail(error, error_bytes, "has primitive_count %u; it is 1 to %u",
                       scenario->primitive_count, BZ_PRIMITIVE_COUNT);
    }
    uint32_t seen = 0;
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        unsigned primitive = (unsigned)scenario->primitives[index];
        if (primitive >= BZ_PRIMITIVE_COUNT) {
            return bz_fail(error, error_bytes, "has an unknown primitive (number %u)", primitive);
        }
        if ((seen >> primitive & 1u) != 0) {
            return bz_fail(error, error_bytes, "has the primitive %s twice",
                           bz_primitive_name((enum bz_primitive)primitive));
        }
        seen |= 1u << primitive;
    }
    return true;
}

bool bz_plugin_check_scenario(const struct bz_scenario *scenario, char *error, size_t error_bytes) {
    if (scenario->name == NULL || !is_name(scenario->name)) {
        return bz_fail(error, error_bytes,
                       "needs a name of 1 to 64 letters, digits, '.', '_', '-' or '/'");
    }
    if (scenario->summary == NULL || scenario->summary[0] == '\0') {
        return bz_fail(error, error_bytes, "needs a summary");
    }
    const struct bz_runtime *runtime = scenario->runtime;
    if (runtime == NULL ? scenario->setup == NULL
                        : runtime->run == NULL || runtime->variant == NULL) {
        return bz_fail(error, error_bytes, "lacks %s",
                       runtime == NULL ? "setup()" : "the name or the run() of its runtime");
    }
    if (scenario->file != NULL &&
        (scenario->file->summary == NULL || scenario->file->read == NULL)) {
        return bz_fail(error, error_bytes, "takes a file, but lacks its summary or read()");
    }
    return check_params(scenario, error, error_bytes) &&
           bz_sizes_check(scenario, error, error_bytes) &&
           (runtime != NULL || check_primitives(scenario, error, error_bytes));
}

static bool check_tables(const struct bz_variant *variant, char *error, size_t error_bytes) {
    bool offers_something = false;
    for (int index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
        enum bz_primitive primitive = (enum bz_primitive)index;
        if (!bz_variant_offers(variant, primitive)) {
            continue;
        }
        offers_something = true;
        if (!bz_variant_is_complete(variant, primitive)) {
            return bz_fail(error, error_bytes, "lacks a required function in its table of the %s",
                           bz_primitive_name(primitive));
        }
        if (primitive == BZ_PRIMITIVE_MODELLED) {
            const char *fault = bz_model_fault(variant->modelled->model);
            if (fault != NULL) {
                return bz_fail(error, error_bytes, "has a model with a fault: %s", fault);
            }
        }
        if (*(const size_t *)bz_variant_table(variant, primitive) == 0) {
            return bz_fail(error, error_bytes, "has instance_bytes 0 in its table of the %s",
                           bz_primitive_name(primitive));
        }
    }
    return offers_something || bz_fail(error, error_bytes, "offers no primitive");
}

/* A claim of a later version would not be judged. */
static bool check_claims(const struct bz_variant *variant, char *error, size_t error_bytes) {
    uint32_t unknown = variant->claims & ~BZ_CLAIMS_ALL;
    return unknown == 0 || bz_fail(error, error_bytes, "has unknown claim bits 0x%x", unknown);
}

static bool check_fault(const struct bz_variant *variant, char *error, size_t error_bytes) {
    const struct bz_fault *fault = variant->fault;
    if (fault == NULL) {
        return true;
    }
    struct bz_program program;
    char why[BZ_ERROR_BYTES];
    if (fault->family == NULL || fault->project == NULL || fault->issue == NULL ||
        fault->versions == NULL || fault->summary == NULL || fault->oracle == NULL ||
        fault->scenario == NULL) {
        return bz_fail(
            error, error_bytes,
            "declares a fault without all of: family, project, issue, versions, summary, "
            "oracle, scenario");
    }
    if (bz_oracle_index(fault->oracle) == bz_oracle_count) {
        return bz_fail(error, error_bytes,
                       "declares a fault for an oracle that does not exist: %.64s", fault->oracle);
    }
    /* the variant is not yet in the catalog */
    const struct bz_catalog alone = {.scenarios = bz_cli_catalog.scenarios,
                                     .variants = (const struct bz_variant *const[]){variant, NULL}};
    bool is_found =
        bz_program_find(&program, &alone, fault->scenario, variant->name, NULL, why, sizeof why);
    if (!is_found || (fault->settings != NULL &&
                      !bz_program_set_list(&program, fault->settings, why, sizeof why))) {
        return bz_fail(error, error_bytes, "declares a fault that cannot be set up: %.256s", why);
    }
    return true;
}

bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes) {
    if (variant->version != BZ_VARIANT_VERSION) {
        return bz_fail(error, error_bytes, "is of version %u, and this program has %u",
                       variant->version, BZ_VARIANT_VERSION);
    }
    if (variant->name == NULL || !is_name(variant->name)) {
        return bz_fail(error, error_bytes,
                       "needs a name of 1 to 64 letters, digits, '.', '_', '-' or '/'");
    }
    if (variant->summary == NULL || variant->summary[0] == '\0') {
        return bz_fail(error, error_bytes, "needs a summary");
    }
    return check_claims(variant, error, error_bytes) && check_tables(variant, error, error_bytes) &&
           check_fault(variant, error, error_bytes);
}
