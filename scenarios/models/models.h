/* Models of the primitives that ship (sim/model/model.h), and how to call a variant's operations by
 * their number in the model.
 *
 * A model says less than the oracles that look into a primitive. An answer of 0 is BZ_OK. What a
 * variant does not claim, its model does not ask for: without BZ_CLAIM_FIFO no operation keeps a
 * line. */
#ifndef BZ_SCENARIOS_MODELS_MODELS_H
#define BZ_SCENARIOS_MODELS_MODELS_H

#include "scenarios/variants/variants.h"
#include "sim/model/model.h"
#include "sim/native/sut.h"

/* A model, and the object under test seen through it. */
struct bz_modelled {
    const struct bz_model *model;
    enum bz_status (*init)(const struct bz_sut_opaque *sut, const int64_t *parameters);
    /* As `call` of struct bz_modelled_ops. */
    enum bz_status (*call)(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer);
};

/* That of the primitive, by what the variant claims of it. */
struct bz_modelled bz_modelled_of(const struct bz_variant *variant, enum bz_primitive primitive);

extern const struct bz_modelled bz_modelled_permits, bz_modelled_permits_in_line;
extern const struct bz_modelled bz_modelled_event;
extern const struct bz_modelled bz_modelled_queue, bz_modelled_queue_in_line, bz_modelled_slots;

/* Models of the primitives for which there is no table of operations: each ships as a variant of
 * its own, `buzzer/NAME`, beside its model. Where an operation may end with another status than
 * BZ_OK and BZ_CANCELLED, its answer is that status, negated. */
extern const struct bz_model bz_model_capacity_limiter, bz_model_channel, bz_model_notify;
extern const struct bz_model bz_model_oneshot, bz_model_rwlock, bz_model_weighted_semaphore;

/* A weighted semaphore has so many permits more than its parameter, so that a task can ask for as
 * many at once. */
#define BZ_MODEL_WEIGHT_MAX 3

/* A channel of the model begins with so many senders. */
#define BZ_MODEL_SENDERS 3u

/* More than the scenario has tasks. A task borrows for itself, in the place of its number. */
#define BZ_MODEL_BORROWERS 64u

/* What struct bz_modelled_ops.call returns for an operation that ended with this status. */
static inline enum bz_status bz_modelled_ended(enum bz_status status, int64_t *answer) {
    if (status != BZ_CANCELLED && status != BZ_OK) {
        *answer = -(int64_t)status;
        return BZ_OK;
    }
    return status;
}

#endif
