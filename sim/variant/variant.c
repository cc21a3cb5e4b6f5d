#include "sim/variant/variant.h"

const char *bz_primitive_name(enum bz_primitive primitive) {
    static const char *const names[BZ_PRIMITIVE_COUNT] = {"semaphore", "bounded",   "lock",
                                                          "event",     "condition", "barrier",
                                                          "queue",     "pool",      "deferred"};
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
    default:
        return false;
    }
}
