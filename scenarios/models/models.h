/* Models of the primitives that ship (sim/model/model.h), and how to call a variant's operations by
 * their number in the model.
 *
 * A model says less than the oracles that look into a primitive. An answer of 0 is BZ_OK. A model
 * asks for nothing that its variant does not claim: without BZ_CLAIM_FIFO no operation keeps a
 * line. */
#pragma once

#include "sim/model/model.h"
#include "sim/native/sut.h"

/* No model below has more operations. */
#define BZ_MODELLED_OPS_MAX 8u

/* A queue without a bound has room for so many items, in its model; a program keeps to it. */
#define BZ_MODELLED_ITEMS_MAX 8

/* A model, and the object under test seen through it. */
struct bz_modelled {
    struct bz_model model;
    enum bz_status (*init)(const struct bz_sut_opaque *sut, const int64_t *parameters);
    /* As `call` of struct bz_modelled_ops. */
    enum bz_status (*call)(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer);
};

/* Of a file that has `ops`, OP_COUNT and `init`. */
#define BZ_MODELLED(name_, state_bytes_, parameter_count_, start_, step_, call_)                   \
    {                                                                                              \
        {name_, state_bytes_, parameter_count_, ops, OP_COUNT, .start = start_, .step = step_},    \
            init, call_                                                                            \
    }

/* The model of the primitive, by the variant's claims. `ops` is memory for its operations, up to
 * BZ_MODELLED_OPS_MAX of them. False: a rendezvous whose items come in any order has none. */
bool bz_modelled_init(struct bz_modelled *modelled, const struct bz_variant *variant,
                      enum bz_primitive primitive, bool is_rendezvous, struct bz_model_op *ops);

/* Their tables: the models of a variant that claims all but BZ_CLAIM_EXACT_NOTIFY. */
extern const struct bz_modelled bz_modelled_permits, bz_modelled_event, bz_modelled_barrier;
extern const struct bz_modelled bz_modelled_condition, bz_modelled_queue;
extern const struct bz_modelled bz_modelled_slots; /* a queue of items in any order */
extern const struct bz_modelled bz_modelled_rendezvous;
