/* tw-recurse: a release whose callbacks release in turn, each inside the one before it.
 *
 * A release takes the oldest waiter out of the queue and fires its Deferred, whose callback runs
 * before the release has returned. A callback that releases when it is done sets off the next one
 * on top of its own frame, and so on: the stack grows with the queue. When it is full, the callback
 * on top fails before it has released: the lock stays locked for ever, and those behind it wait for
 * ever.
 *
 *     A holds; B, C, D, ... wait; A releases; B's callback releases; C's callback releases; ...
 *
 * The cure: callbacks that a callback sets off run when that one has returned, as those of the
 * primitives that ship do (primitives/runtime/deferred.h). Twisted has the fault to this day. */
#include "scenarios/scenarios.h"
#include "scenarios/variants/twisted.h"

const struct bz_variant bz_variant_zoo_tw_recurse = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/tw-recurse",
    .summary = "semaphore whose callbacks run inside the release that sets them off",
    .deferred = &bz_twisted_deferred_ops,
    .fault = &bz_twisted_fault_recursion,
};
