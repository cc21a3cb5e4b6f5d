#include "tools/lab/lockstep/reference.h"

#include <stdio.h>
#include <string.h>

#include "scenarios/variants/variants.h"

/* --- the variant ------------------------------------------------------------------------------ */

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

/* --- rules ------------------------------------------------------------------------------------ */

struct rule {
    const char *name;
    size_t offset;
    const char *values[4]; /* by number */
};

static const struct rule rules[] = {
    {"timers", offsetof(struct bz_rules, timers), {"by-arming", "by-heapq"}},
    {"uncancel", offsetof(struct bz_rules, uncancel), {"clears", "counts"}},
    {"group", offsetof(struct bz_rules, group), {"rearms", "loses"}},
    {"timeout", offsetof(struct bz_rules, timeout), {"less-undelivered", "at-entry", "from-zero"}},
    {"children", offsetof(struct bz_rules, children), {"by-age", "by-choice"}},
    {"wait-for", offsetof(struct bz_rules, wait_for), {"in-place", "by-task"}},
};
#define RULE_COUNT (sizeof rules / sizeof rules[0])

static bool set_rule(struct bz_rules *table, const char *text) {
    for (size_t index = 0; index < RULE_COUNT; index++) {
        const struct rule *rule = &rules[index];
        size_t length = strlen(rule->name);
        if (strncmp(text, rule->name, length) != 0 || text[length] != '=') {
            continue;
        }
        for (uint8_t value = 0; value < 4 && rule->values[value] != NULL; value++) {
            if (strcmp(text + length + 1, rule->values[value]) == 0) {
                *((uint8_t *)table + rule->offset) = value;
                return true;
            }
        }
    }
    return false;
}

bool bz_reference_set_rule(struct bz_reference *reference, const char *text, char *error) {
    if (set_rule(&reference->rules, text)) {
        return true;
    }
    size_t length = (size_t)snprintf(error, BZ_PARTNER_ERROR_BYTES,
                                     "'%.40s' is not a rule of a runtime: there are", text);
    for (size_t index = 0; index < RULE_COUNT; index++) {
        const struct rule *rule = &rules[index];
        length +=
            (size_t)snprintf(error + length, BZ_PARTNER_ERROR_BYTES - length, "%s %s=%s|%s",
                             index == 0 ? "" : ",", rule->name, rule->values[0], rule->values[1]);
        if (rule->values[2] != NULL) {
            length += (size_t)snprintf(error + length, BZ_PARTNER_ERROR_BYTES - length, "|%s",
                                       rule->values[2]);
        }
    }
    return false;
}
