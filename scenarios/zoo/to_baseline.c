/* to-baseline: a timeout scope that is entered with a request to its task's account.
 *
 * The scope takes its own request back, and calls the cancellation its own if no request is left at
 * all. In a task that was cancelled and cleans up, there is always one left.
 *
 *     A is cancelled, count 1; A cleans up inside a scope; the deadline comes, count 2; the exit
 *     takes it back, count 1, and hands a cancellation on that nobody asked for
 *
 * The cure: compare with the count at entry. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/scopes.h"

static enum bz_status leave(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = bz_zoo_scope_close(memory, &left);
    /* the fault: requests that were there at entry do not matter */
    bool is_mine = has_expired && left == 0;
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
    .issue = "gh-102780 (PR 102815)",
    .versions = "3.11.0 to 3.11.2",
    .summary = "a scope inside the cleanup of a cancelled task never says that it timed out",
    .property = "an expired scope that nobody interferes with says timed-out",
    .oracle = "cancel-count",
    .scenario = "scope",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_to_baseline = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/to-baseline",
    .summary = "timeout scope that wants the count to be zero",
    .scope = &scope_ops,
    .fault = &fault,
};
