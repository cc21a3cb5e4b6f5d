#include "scenarios/zoo/zoo.h"

/* The claims, as the rows write them. */
enum {
    FIFO = BZ_CLAIM_FIFO,
    LOCKED_EXACT = BZ_CLAIM_LOCKED_EXACT,
    REFUSES_MISUSE = BZ_CLAIM_REFUSES_MISUSE,
    WAKE_IS_GRANT = BZ_CLAIM_WAKE_IS_GRANT,
    WORK_CONSERVING = BZ_CLAIM_WORK_CONSERVING,
    TAKES_AT_RETURN = BZ_CLAIM_TAKES_AT_RETURN,
    UNFAIR = BZ_CLAIM_UNFAIR,
};

/* The tables of a row, as members of struct bz_variant. */
#define SEMAPHORE(ops) .permits = {[BZ_PRIMITIVE_SEMAPHORE] = ops}
#define BOUNDED(ops) .permits = {[BZ_PRIMITIVE_BOUNDED] = ops}
#define LIMITED(ops) SEMAPHORE(ops), .waiters_max = BZ_ZOO_PLACES
#define LOCK(ops) .permits = {[BZ_PRIMITIVE_LOCK] = ops}
#define SEMAPHORE_AND_LOCK(ops)                                                                    \
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = ops, [BZ_PRIMITIVE_LOCK] = ops}
#define EVENT(ops) .event = ops
#define CONDITION(ops) .condition = ops
#define BARRIER(ops) .barrier = ops
#define QUEUE(ops) .queue = ops
#define SIZED(ops, bounds_)                                                                        \
    QUEUE(ops), .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = (bounds_),                            \
                                                   .orders = 1u << BZ_QUEUE_ORDER_FIFO}}
#define UNBOUNDED(ops) SIZED(ops, BZ_OFFERS_NO_BOUND)
#define RENDEZVOUS(ops) SIZED(ops, BZ_OFFERS_RENDEZVOUS)
#define POOL(ops) .pool = ops
#define DEFERRED(ops) .deferred = ops
#define SCOPE(ops) .scope = ops
#define MODELLED(ops) .modelled = ops
#define RESOURCE_POOL(ops) .resource_pool = ops

#define ZOO(entry, name_, offers, claims_, summary_, family_, oracle_, scenario_, project_,        \
            issue_, versions_, wrong, ...)                                                         \
    static const struct bz_fault fault_##entry = {.project = project_,                             \
                                                  .issue = issue_,                                 \
                                                  .versions = versions_,                           \
                                                  .summary = wrong,                                \
                                                  .family = family_,                               \
                                                  .oracle = oracle_,                               \
                                                  .scenario = scenario_,                           \
                                                  .fifo_reachable = true,                          \
                                                  __VA_ARGS__};                                    \
    const struct bz_variant bz_variant_zoo_##entry = {                                             \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = claims_,                                                                         \
        .name = "zoo/" name_,                                                                      \
        .summary = summary_,                                                                       \
        .fault = &fault_##entry,                                                                   \
        offers(&bz_zoo_ops_##entry),                                                               \
    };
#include "scenarios/zoo/zoo.def"
