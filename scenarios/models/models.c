#include "scenarios/models/models.h"

static enum bz_status own_init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    const struct bz_modelled_ops *ops = sut->ops;
    return ops->init(sut->instance, sut->world->loop, parameters);
}

static enum bz_status own_call(const struct bz_sut_opaque *sut, uint32_t op,
                               const int64_t *arguments, int64_t *answer) {
    const struct bz_modelled_ops *ops = sut->ops;
    return ops->call(sut->instance, op, arguments, answer);
}

struct bz_modelled bz_modelled_of(const struct bz_variant *variant, enum bz_primitive primitive) {
    uint32_t claims = bz_variant_claims(variant, primitive);
    bool is_in_line = (claims & BZ_CLAIM_FIFO) != 0;
    switch (primitive) {
    case BZ_PRIMITIVE_MODELLED:
        return (struct bz_modelled){variant->modelled->model, own_init, own_call};
    case BZ_PRIMITIVE_EVENT:
        return bz_modelled_event;
    case BZ_PRIMITIVE_CONDITION:
        return (claims & BZ_CLAIM_EXACT_NOTIFY) != 0 ? bz_modelled_condition
                                                     : bz_modelled_condition_loose;
    case BZ_PRIMITIVE_BARRIER:
        return is_in_line ? bz_modelled_barrier_in_line : bz_modelled_barrier;
    case BZ_PRIMITIVE_QUEUE:
        return (claims & BZ_CLAIM_UNORDERED_ITEMS) != 0 ? bz_modelled_slots
               : is_in_line                             ? bz_modelled_queue_in_line
                                                        : bz_modelled_queue;
    default:
        return is_in_line ? bz_modelled_permits_in_line : bz_modelled_permits;
    }
}
