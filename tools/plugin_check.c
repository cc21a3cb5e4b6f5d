/* Checks of a variant from a plug-in, before any of its functions is called. */
#include <string.h>

#include "sim/judge/judge.h"
#include "sim/model/history.h"
#include "sim/run/settings.h"
#include "tools/cli.h"
#include "tools/plugins.h"
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

static bool check_tables(const struct bz_variant *variant, char *error, size_t error_bytes) {
    bool offers_something = false;
    for (int index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
        enum bz_primitive primitive = (enum bz_primitive)index;
        if (!bz_variant_offers(variant, primitive)) {
            continue;
        }
        offers_something = true;
        if (!bz_variant_is_complete(variant, primitive)) {
            return bz_fail(error, error_bytes,
                           "lacks a function that must be there, in its table of the %s",
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
    return unknown == 0 ||
           bz_fail(error, error_bytes, "has the bit 0x%x in its claims, which stands for no claim",
                   unknown & -unknown);
}

static bool check_fault(const struct bz_variant *variant, char *error, size_t error_bytes) {
    const struct bz_fault *fault = variant->fault;
    if (fault == NULL) {
        return true;
    }
    struct bz_program program;
    char why[BZ_ERROR_BYTES];
    if (fault->family == NULL || fault->project == NULL || fault->issue == NULL ||
        fault->versions == NULL || fault->summary == NULL || fault->property == NULL ||
        fault->oracle == NULL || fault->scenario == NULL) {
        return bz_fail(error, error_bytes, "declares a fault, and leaves out a part of what it is");
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
