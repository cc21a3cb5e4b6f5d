/* to-any-cancel: an expired timeout scope calls every cancellation its own.
 *
 * From the time before requests were counted: a flag says that the deadline came, and nothing says
 * that somebody else cancelled the task, too.
 *
 *     the deadline of A's scope comes; B cancels A before A resumes; the exit says timed-out, and A
 *     goes on as if B had never asked
 *
 * The cure: take the scope's request back, and see whether more are left than at entry. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/scopes.h"

static enum bz_status leave(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = bz_zoo_scope_close(memory, &left);
    /* the fault: somebody else may have asked, too */
    bool is_mine = has_expired;
    return is_mine && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
}

static const struct bz_scope_ops scope_ops = {
    .scope_bytes = sizeof(struct bz_zoo_scope),
    .enter = bz_zoo_scope_enter,
    .exit = leave,
};

static const struct bz_fault fault = {
    .family = "cancel counting",
    .project = "async-timeout, aiohttp",
    .issue = "aiohttp 5979, async-timeout 229",
    .versions = "async-timeout up to 3",
    .summary = "an expired scope turns everybody's cancellation into its own",
    .property = "a cancel request surfaces exactly once",
    .oracle = "cancel-count",
    .scenario = "scope",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_to_any_cancel = {
    .version = BZ_VARIANT_VERSION,
    .name = "zoo/to-any-cancel",
    .summary = "timeout scope that does not ask whose cancellation it was",
    .scope = &scope_ops,
    .fault = &fault,
};
