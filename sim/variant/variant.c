#include "sim/variant/variant.h"

#include <string.h>

const char *bz_primitive_name(enum bz_primitive primitive) {
    static const char *const names[BZ_PRIMITIVE_COUNT] = {"semaphore", "bounded", "lock",  "event",
                                                          "condition", "barrier", "queue", "pool",
                                                          "deferred",  "scope"};
    return (unsigned)primitive < BZ_PRIMITIVE_COUNT ? names[primitive] : NULL;
}

bool bz_variant_offers(const struct bz_variant *variant, enum bz_primitive primitive) {
    switch (primitive) {
    case BZ_PRIMITIVE_SEMAPHORE:
    case BZ_PRIMITIVE_BOUNDED:
    case BZ_PRIMITIVE_LOCK:
        return variant->permits[primitive] != NULL;
    case BZ_PRIMITIVE_EVENT:
        return variant->event != NULL;
    case BZ_PRIMITIVE_CONDITION:
        return variant->condition != NULL;
    case BZ_PRIMITIVE_BARRIER:
        return variant->barrier != NULL;
    case BZ_PRIMITIVE_QUEUE:
        return variant->queue != NULL;
    case BZ_PRIMITIVE_POOL:
        return variant->pool != NULL;
    case BZ_PRIMITIVE_DEFERRED:
        return variant->deferred != NULL;
    case BZ_PRIMITIVE_SCOPE:
        return variant->scope != NULL;
    default:
        return false;
    }
}

uint32_t bz_variant_claims(const struct bz_variant *variant, enum bz_primitive primitive) {
    return variant->claims & ~variant->waives[primitive];
}

static bool is_caught(const struct bz_fault *fault, enum bz_primitive primitive,
                      const char *oracle) {
    bool concerns = fault->primitives == 0 || (fault->primitives >> (unsigned)primitive & 1u) != 0;
    return concerns && strcmp(fault->oracle, oracle) == 0;
}

const struct bz_fault *bz_variant_declared(const struct bz_variant *variant,
                                           enum bz_primitive primitive, const char *oracle) {
    if (variant->fault != NULL && is_caught(variant->fault, primitive, oracle)) {
        return variant->fault;
    }
    for (const struct bz_fault *const *next = variant->declared; next != NULL && *next != NULL;
         next++) {
        if (is_caught(*next, primitive, oracle)) {
            return *next;
        }
    }
    return NULL;
}
