/* to-zero-swallow: a request that was made but not delivered when a timeout scope was entered.
 *
 * The scope compares the count with that at entry, where the request is in already. The first await
 * inside delivers it; if the deadline comes meanwhile, the scope takes that for its own.
 *
 *     A cancels itself, count 1; A enters a scope of 0 seconds, whose deadline comes while the
 *     cancellation is on its way, count 2; the exit takes one back, finds 1 as at entry, and says
 *     that it timed out: the cancellation of A is gone
 *
 * The cure: a request that is still to be delivered at entry is not in the count to compare with.
 */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/scopes.h"

static enum bz_status leave(void *memory, enum bz_status status) {
    struct bz_zoo_scope *scope = memory;
    uint32_t left = 0;
    bool has_expired = bz_zoo_scope_close(scope, &left);
    /* the fault: one that is to be delivered yet is somebody else's */
    bool is_mine = has_expired && left <= scope->at_entry;
    return is_mine && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
}

static const struct bz_scope_ops scope_ops = {
    .scope_bytes = sizeof(struct bz_zoo_scope),
    .enter = bz_zoo_scope_enter,
    .exit = leave,
};

static const struct bz_fault fault = {
    .family = "cancel counting",
    .project = "CPython asyncio (timeout)",
    .issue = "gh-134471 (open)",
    .versions = "3.11.3 to 3.15.0rc1",
    .summary = "a cancellation that was on its way at entry is taken for the deadline's",
    .property = "a cancel request surfaces exactly once",
    .oracle = "cancel-count",
    .scenario = "scope",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_to_zero_swallow = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/to-zero-swallow",
    .summary = "timeout scope that counts what was not delivered",
    .scope = &scope_ops,
    .fault = &fault,
};
