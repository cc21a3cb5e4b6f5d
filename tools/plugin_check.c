/* Checks of a variant from a plug-in, before any of its functions is called. */
#include <string.h>

#include "sim/judge/judge.h"
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

/* For each primitive: where its table of functions is in a variant, and the functions that the
 * table must have. Each table starts with the size of an instance. */
#define TABLE(member) offsetof(struct bz_variant, member)
#define OP(ops, function) offsetof(struct bz_##ops##_ops, function)
static const struct {
    size_t offset;
    size_t functions[7]; /* offsets; 0 ends the list */
} tables[BZ_PRIMITIVE_COUNT] = {
    [BZ_PRIMITIVE_SEMAPHORE] = {TABLE(permits[BZ_PRIMITIVE_SEMAPHORE]),
                                {OP(permit, init), OP(permit, acquire), OP(permit, release)}},
    [BZ_PRIMITIVE_BOUNDED] = {TABLE(permits[BZ_PRIMITIVE_BOUNDED]),
                              {OP(permit, init), OP(permit, acquire), OP(permit, release)}},
    [BZ_PRIMITIVE_LOCK] = {TABLE(permits[BZ_PRIMITIVE_LOCK]),
                           {OP(permit, init), OP(permit, acquire), OP(permit, release)}},
    [BZ_PRIMITIVE_EVENT] = {TABLE(event),
                            {OP(event, init), OP(event, set), OP(event, clear), OP(event, is_set),
                             OP(event, wait)}},
    [BZ_PRIMITIVE_CONDITION] = {TABLE(condition),
                                {OP(condition, init), OP(condition, acquire),
                                 OP(condition, release), OP(condition, locked), OP(condition, wait),
                                 OP(condition, notify)}},
    [BZ_PRIMITIVE_BARRIER] = {TABLE(barrier), {OP(barrier, init), OP(barrier, wait)}},
    [BZ_PRIMITIVE_QUEUE] = {TABLE(queue),
                            {OP(queue, init), OP(queue, put), OP(queue, get), OP(queue, try_put),
                             OP(queue, try_get), OP(queue, size)}},
    [BZ_PRIMITIVE_POOL] = {TABLE(pool), {OP(pool, init), OP(pool, acquire), OP(pool, release)}},
    [BZ_PRIMITIVE_DEFERRED] = {TABLE(deferred),
                               {OP(deferred, init), OP(deferred, acquire), OP(deferred, cancel),
                                OP(deferred, release)}},
    [BZ_PRIMITIVE_SCOPE] = {TABLE(scope), {OP(scope, enter), OP(scope, exit)}},
};

static bool has_functions(const char *table, enum bz_primitive primitive) {
    for (const size_t *function = tables[primitive].functions; *function != 0; function++) {
        if (*(void (*const *)(void))(const void *)(table + *function) == NULL) {
            return false;
        }
    }
    const struct bz_queue_ops *queue = (const void *)table;
    return primitive != BZ_PRIMITIVE_QUEUE || (queue->task_done == NULL) == (queue->join == NULL);
}

static bool check_tables(const struct bz_variant *variant, char *error, size_t error_bytes) {
    bool offers_something = false;
    for (int index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
        enum bz_primitive primitive = (enum bz_primitive)index;
        if (!bz_variant_offers(variant, primitive)) {
            continue;
        }
        offers_something = true;
        const char *table =
            *(const char *const *)(const void *)((const char *)variant + tables[index].offset);
        if (!has_functions(table, primitive)) {
            return bz_fail(error, error_bytes,
                           "lacks a function that must be there, in its table of the %s",
                           bz_primitive_name(primitive));
        }
        if (*(const size_t *)(const void *)table == 0) {
            return bz_fail(error, error_bytes, "has instance_bytes 0 in its table of the %s",
                           bz_primitive_name(primitive));
        }
    }
    return offers_something || bz_fail(error, error_bytes, "offers no primitive");
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
    return check_tables(variant, error, error_bytes) && check_fault(variant, error, error_bytes);
}
