/* The entries of the zoo: a variant each, made of a row of zoo.def and a table of operations, which
 * is in the file that tells the entry's story. */
#pragma once

#include "sim/variant/variant.h"

/* The primitives that a row may offer, and the type of each table. */
#define BZ_ZOO_SEMAPHORE_OPS struct bz_permit_ops
#define BZ_ZOO_LIMITED_OPS struct bz_permit_ops
#define BZ_ZOO_BOUNDED_OPS struct bz_permit_ops
#define BZ_ZOO_LOCK_OPS struct bz_permit_ops
#define BZ_ZOO_SEMAPHORE_AND_LOCK_OPS struct bz_permit_ops
#define BZ_ZOO_EVENT_OPS struct bz_event_ops
#define BZ_ZOO_CONDITION_OPS struct bz_condition_ops
#define BZ_ZOO_BARRIER_OPS struct bz_barrier_ops
#define BZ_ZOO_QUEUE_OPS struct bz_queue_ops
#define BZ_ZOO_RENDEZVOUS_OPS struct bz_queue_ops
#define BZ_ZOO_UNBOUNDED_OPS struct bz_queue_ops
#define BZ_ZOO_POOL_OPS struct bz_pool_ops
#define BZ_ZOO_DEFERRED_OPS struct bz_deferred_ops
#define BZ_ZOO_SCOPE_OPS struct bz_scope_ops
#define BZ_ZOO_MODELLED_OPS struct bz_modelled_ops
#define BZ_ZOO_RESOURCE_POOL_OPS struct bz_resource_pool_ops

/* The tasks that may wait at a LIMITED semaphore. */
#define BZ_ZOO_PLACES 2u

/* tw-recurse has no table of its own: it shows a fault of the variant `twisted`. */
#define bz_zoo_ops_tw_recurse bz_twisted_deferred_ops

/* Without a fault, for tests: the select, the semaphore of deferreds, the pools of resources. */
extern const struct bz_modelled_ops bz_zoo_ops_faultless_select;
extern const struct bz_deferred_ops bz_zoo_ops_faultless_deferred;
extern const struct bz_resource_pool_ops bz_zoo_ops_faultless_hand_over;
extern const struct bz_resource_pool_ops bz_zoo_ops_faultless_condition;
extern const struct bz_resource_pool_ops bz_zoo_ops_faultless_waiting;

#define ZOO(entry, name, offers, ...)                                                              \
    extern const BZ_ZOO_##offers##_OPS bz_zoo_ops_##entry;                                         \
    extern const struct bz_variant bz_variant_zoo_##entry;
#include "scenarios/zoo/zoo.def"
#undef ZOO
