#include "tools/lab/lockstep/reference.h"

#include <stdio.h>
#include <string.h>

#include "scenarios/variants/variants.h"

static bool is_before(const struct bz_python *python, unsigned minor, unsigned micro) {
    const unsigned *version = python->version;
    return version[1] < minor || (version[1] == minor && version[2] < micro);
}

static const struct bz_variant *find(const struct bz_python *python, const char *wanted) {
    static const struct bz_variant *const variants[] = {
        &bz_variant_asyncio_311, &bz_variant_asyncio_313, &bz_variant_twisted};
    if (wanted == NULL) {
        return variants[!is_before(python, 13, 0)];
    }
    for (size_t index = 0; index < sizeof variants / sizeof variants[0]; index++) {
        if (strcmp(variants[index]->name, wanted) == 0) {
            return variants[index];
        }
    }
    return NULL;
}

/* Twisted runs on the runtime that is there. A reference for another version has its own rules. */
static struct bz_rules rules_of(const struct bz_variant *variant, const struct bz_python *python) {
    const struct bz_variant *own = find(python, NULL);
    const struct bz_variant *runtime = variant == &bz_variant_twisted ? own : variant;
    struct bz_rules rules = *runtime->rules;
    if (runtime != own) {
        return rules;
    }
    if (is_before(python, 11, 3)) {
        rules.timeout = BZ_TIMEOUT_FROM_ZERO;
    }
    if (!is_before(python, 12, 0)) {
        rules.wait_for = BZ_WAIT_FOR_IN_PLACE;
    }
    return rules;
}

bool bz_reference_choose(struct bz_reference *reference, const struct bz_python *python,
                         const char *wanted, char *error) {
    if (strcmp(python->implementation, "cpython") != 0 || is_before(python, 11, 0)) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES,
                 "no reference for %s %u.%u: there are asyncio-3.11 (CPython 3.11, 3.12) and "
                 "asyncio-3.13 (3.13 and later)",
                 python->implementation, python->version[0], python->version[1]);
        return false;
    }
    const struct bz_variant *variant = find(python, wanted);
    if (variant == NULL) {
        snprintf(error, BZ_PARTNER_ERROR_BYTES,
                 "'%s' is not a reference: there are asyncio-3.11, asyncio-3.13 and twisted",
                 wanted);
        return false;
    }
    reference->rules = rules_of(variant, python);
    reference->variant = *variant;
    reference->variant.rules = &reference->rules;
    return true;
}

bool bz_reference_is_twisted(const struct bz_reference *reference) {
    return strcmp(reference->variant.name, bz_variant_twisted.name) == 0;
}
