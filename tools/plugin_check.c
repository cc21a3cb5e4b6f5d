/* What a variant from outside must be before anything of it is called. */
#include <stdio.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "sim/run/settings.h"
#include "tools/cli.h"
#include "tools/plugins.h"

#define NAME_LENGTH_MAX 64u

static bool fail(char *error, size_t error_bytes, const char *what, const char *which) {
    snprintf(error, error_bytes, "%s%.64s", what, which);
    return false;
}

/* A name stands in tokens, traces and names of files, and is typed in shells. */
static bool is_name(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._/-";
    size_t length = strlen(name);
    return length > 0 && length <= NAME_LENGTH_MAX && strspn(name, allowed) == length &&
           name[0] != '-' && name[0] != '.' && name[0] != '/';
}

/* True if all functions that a table must have are there: `count` of them. */
#define HAS_ALL(...)                                                                               \
    has_all((const bool[]){__VA_ARGS__}, sizeof((const bool[]){__VA_ARGS__}) / sizeof(bool))

static bool has_all(const bool *are_there, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (!are_there[index]) {
            return false;
        }
    }
    return true;
}

static bool has_functions(const struct bz_variant *variant, enum bz_primitive primitive) {
    switch (primitive) {
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
    case BZ_PRIMITIVE_LOCK: {
        const struct bz_permit_ops *ops = variant->permits[primitive];
        return HAS_ALL(ops->init != NULL, ops->acquire != NULL, ops->release != NULL);
    }
    case BZ_PRIMITIVE_EVENT: {
        const struct bz_event_ops *ops = variant->event;
        return HAS_ALL(ops->init != NULL, ops->set != NULL, ops->clear != NULL, ops->is_set != NULL,
                       ops->wait != NULL);
    }
    case BZ_PRIMITIVE_CONDITION: {
        const struct bz_condition_ops *ops = variant->condition;
        return HAS_ALL(ops->init != NULL, ops->acquire != NULL, ops->release != NULL,
                       ops->locked != NULL, ops->wait != NULL, ops->notify != NULL);
    }
    case BZ_PRIMITIVE_BARRIER:
        return HAS_ALL(variant->barrier->init != NULL, variant->barrier->wait != NULL);
    case BZ_PRIMITIVE_QUEUE: {
        const struct bz_queue_ops *ops = variant->queue;
        return HAS_ALL(ops->init != NULL, ops->put != NULL, ops->get != NULL, ops->try_put != NULL,
                       ops->try_get != NULL, ops->size != NULL,
                       (ops->task_done == NULL) == (ops->join == NULL));
    }
    case BZ_PRIMITIVE_POOL: {
        const struct bz_pool_ops *ops = variant->pool;
        return HAS_ALL(ops->init != NULL, ops->acquire != NULL, ops->release != NULL);
    }
    case BZ_PRIMITIVE_DEFERRED: {
        const struct bz_deferred_ops *ops = variant->deferred;
        return HAS_ALL(ops->init != NULL, ops->acquire != NULL, ops->cancel != NULL,
                       ops->release != NULL);
    }
    case BZ_PRIMITIVE_SCOPE:
        return HAS_ALL(variant->scope->enter != NULL, variant->scope->exit != NULL);
    }
    return false;
}

static size_t instance_bytes(const struct bz_variant *variant, enum bz_primitive primitive) {
    switch (primitive) {
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
    case BZ_PRIMITIVE_LOCK:
        return variant->permits[primitive]->instance_bytes;
    case BZ_PRIMITIVE_EVENT:
        return variant->event->instance_bytes;
    case BZ_PRIMITIVE_CONDITION:
        return variant->condition->instance_bytes;
    case BZ_PRIMITIVE_BARRIER:
        return variant->barrier->instance_bytes;
    case BZ_PRIMITIVE_QUEUE:
        return variant->queue->instance_bytes;
    case BZ_PRIMITIVE_POOL:
        return variant->pool->instance_bytes;
    case BZ_PRIMITIVE_DEFERRED:
        return variant->deferred->instance_bytes;
    case BZ_PRIMITIVE_SCOPE:
        return variant->scope->scope_bytes;
    }
    return 0;
}

static bool check_tables(const struct bz_variant *variant, char *error, size_t error_bytes) {
    bool offers_something = false;
    for (int index = 0; index < BZ_PRIMITIVE_COUNT; index++) {
        enum bz_primitive primitive = (enum bz_primitive)index;
        if (!bz_variant_offers(variant, primitive)) {
            continue;
        }
        offers_something = true;
        if (!has_functions(variant, primitive)) {
            return fail(error, error_bytes,
                        "lacks a function that must be there, in its table of the ",
                        bz_primitive_name(primitive));
        }
        if (instance_bytes(variant, primitive) == 0) {
            return fail(error, error_bytes, "has instance_bytes 0 in its table of the ",
                        bz_primitive_name(primitive));
        }
    }
    return offers_something || fail(error, error_bytes, "offers no primitive", "");
}

/* A declared fault is shown, looked for by `zoo`, and set up by its own settings. */
static bool check_fault(const struct bz_variant *variant, char *error, size_t error_bytes) {
    const struct bz_fault *fault = variant->fault;
    if (fault == NULL) {
        return true;
    }
    struct bz_program program;
    char why[BZ_ERROR_BYTES];
    if (!HAS_ALL(fault->family != NULL, fault->project != NULL, fault->issue != NULL,
                 fault->versions != NULL, fault->summary != NULL, fault->property != NULL,
                 fault->oracle != NULL, fault->scenario != NULL)) {
        return fail(error, error_bytes, "declares a fault, and leaves out a part of what it is",
                    "");
    }
    if (bz_oracle_index(fault->oracle) == bz_oracle_count) {
        return fail(error, error_bytes,
                    "declares a fault for an oracle that does not exist: ", fault->oracle);
    }
    /* As if it were in the catalog, which it comes into when nothing is wrong with it. */
    const struct bz_catalog alone = {.scenarios = bz_cli_catalog.scenarios,
                                     .variants = (const struct bz_variant *const[]){variant, NULL}};
    bool is_found =
        bz_program_find(&program, &alone, fault->scenario, variant->name, NULL, why, sizeof why);
    if (!is_found || (fault->settings != NULL &&
                      !bz_program_set_list(&program, fault->settings, why, sizeof why))) {
        snprintf(error, error_bytes, "declares a fault that cannot be set up: %.256s", why);
        return false;
    }
    return true;
}

bool bz_plugin_check_variant(const struct bz_variant *variant, char *error, size_t error_bytes) {
    if (variant->version != BZ_VARIANT_VERSION) {
        snprintf(error, error_bytes, "is of version %u, and this program has %u", variant->version,
                 BZ_VARIANT_VERSION);
        return false;
    }
    if (variant->name == NULL || !is_name(variant->name)) {
        return fail(error, error_bytes,
                    "needs a name of 1 to 64 letters, digits, '.', '_', '-' or '/'", "");
    }
    if (variant->summary == NULL || variant->summary[0] == '\0') {
        return fail(error, error_bytes, "needs a summary", "");
    }
    return check_tables(variant, error, error_bytes) && check_fault(variant, error, error_bytes);
}
