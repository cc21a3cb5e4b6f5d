#include "scenarios/models/models.h"

#include <string.h>

#define PUT_OF_QUEUE 1u

static enum bz_status own_init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    const struct bz_modelled_ops *ops = sut->ops;
    return ops->init(sut->instance, sut->world->loop, parameters);
}

static enum bz_status own_call(const struct bz_sut_opaque *sut, uint32_t op,
                               const int64_t *arguments, int64_t *answer) {
    const struct bz_modelled_ops *ops = sut->ops;
    return ops->call(sut->instance, op, arguments, answer);
}

static const struct bz_modelled *strictest(enum bz_primitive primitive) {
    switch (primitive) {
    case BZ_PRIMITIVE_EVENT:
        return &bz_modelled_event;
    case BZ_PRIMITIVE_CONDITION:
        return &bz_modelled_condition;
    case BZ_PRIMITIVE_BARRIER:
        return &bz_modelled_barrier;
    case BZ_PRIMITIVE_QUEUE:
        return &bz_modelled_queue;
    default:
        return &bz_modelled_permits;
    }
}

/* The claim that makes a single task at a time call the operation. */
static uint32_t single_claim(enum bz_primitive primitive, uint32_t op) {
    bool is_queue = primitive == BZ_PRIMITIVE_QUEUE; /* get, put; wait */
    return op == 0 && (is_queue || primitive == BZ_PRIMITIVE_EVENT) ? BZ_CLAIM_SINGLE_CONSUMER
           : op == PUT_OF_QUEUE && is_queue                         ? BZ_CLAIM_SINGLE_PRODUCER
                                                                    : 0;
}

/* Copies with memcpy(): equal states have equal bytes, padding included. */
bool bz_modelled_init(struct bz_modelled *modelled, const struct bz_variant *variant,
                      enum bz_primitive primitive, bool is_rendezvous, struct bz_model_op *ops) {
    if (primitive == BZ_PRIMITIVE_MODELLED) {
        memcpy(&modelled->model, variant->modelled->model, sizeof modelled->model);
        modelled->init = own_init;
        modelled->call = own_call;
        return true;
    }
    uint32_t claims = bz_variant_claims(variant, primitive);
    bool has_slots = primitive == BZ_PRIMITIVE_QUEUE && (claims & BZ_CLAIM_UNORDERED_ITEMS) != 0;
    bool is_in_line = (claims & BZ_CLAIM_FIFO) != 0 && !has_slots;
    memcpy(modelled,
           is_rendezvous ? &bz_modelled_rendezvous
           : has_slots   ? &bz_modelled_slots
                         : strictest(primitive),
           sizeof *modelled);
    BZ_CHECK(modelled->model.op_count <= BZ_MODELLED_OPS_MAX);
    memcpy(ops, modelled->model.ops, modelled->model.op_count * sizeof ops[0]);
    if (primitive == BZ_PRIMITIVE_QUEUE && !is_rendezvous && (claims & BZ_CLAIM_MAY_DELIVER) != 0) {
        ops[PUT_OF_QUEUE].cancel = BZ_MODEL_CANCEL_MAY_DO_ALL;
    }
    for (uint32_t index = 0; index < modelled->model.op_count; index++) {
        ops[index].line = is_in_line ? ops[index].line : 0;
        ops[index].begins_in_order &= is_in_line;
        ops[index].single = (claims & single_claim(primitive, index)) != 0 ? 1 + index : 0;
        ops[index].or_else = (claims & BZ_CLAIM_EXACT_NOTIFY) != 0 ? 0 : ops[index].or_else;
    }
    modelled->model.ops = ops;
    return !is_rendezvous || !has_slots;
}
