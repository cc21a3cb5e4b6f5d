/* Timeout scopes: an exit has to say whose cancellation it was. */
#include "primitives/runtime/driver.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "scenarios/zoo/zoo.h"

struct scope {
    struct bz_timer timer;
    struct bz_task *task;
    uint32_t at_entry; /* cancelling() */
    bool has_expired;  /* and cancelled its task */
};

static void on_deadline(struct bz_timer *timer) {
    struct scope *scope = bz_container_of(timer, struct scope, timer);
    scope->has_expired = true;
    bz_task_cancel(scope->task);
}

static enum bz_status scope_enter(void *memory, struct bz_loop *loop, uint64_t delay_ns) {
    struct scope *scope = memory;
    scope->task = bz_loop_current(loop);
    scope->at_entry = bz_task_cancelling(scope->task);
    bz_timer_init(&scope->timer, loop, on_deadline);
    uint64_t now_ns = bz_loop_now_ns(loop);
    bool is_never = delay_ns > UINT64_MAX - now_ns;
    /* As asyncio's call_soon: a deadline that has come keeps its place among what is ready. */
    bool is_armed = is_never || (delay_ns == 0 ? bz_timer_arm_now(&scope->timer)
                                               : bz_timer_arm(&scope->timer, now_ns + delay_ns));
    return is_armed ? BZ_OK : BZ_NO_MEMORY;
}

/* The first half of an exit: no deadline from here on. True if it had come; then there is a request
 * to be taken back, and *left is how many are there without it. */
static bool scope_close(struct scope *scope, uint32_t *left) {
    bz_timer_disarm(&scope->timer);
    *left = scope->has_expired ? bz_task_uncancel(scope->task) : 0;
    return scope->has_expired;
}

/* The second half: the cancellation is the scope's own, or goes on. */
static enum bz_status scope_answer(bool is_mine, enum bz_status status) {
    return is_mine && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
}

/* All but exit. */
#define SCOPE .scope_bytes = sizeof(struct scope), .enter = scope_enter

/* to-any-cancel: an expired timeout scope calls every cancellation its own.
 *
 * From the time before requests were counted: a flag says that the deadline came, and nothing says
 * that somebody else cancelled the task, too.
 *
 *     the deadline of A's scope comes; B cancels A before A resumes; the exit says timed-out, and A
 *     goes on as if B had never asked
 *
 * The cure: take the scope's request back, and see whether more are left than at entry. */
static enum bz_status to_any_cancel_exit(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = scope_close(memory, &left);
    return scope_answer(has_expired, status); /* the fault: somebody else may have asked, too */
}

const struct bz_scope_ops bz_zoo_ops_to_any_cancel = {SCOPE, .exit = to_any_cancel_exit};

/* to-baseline: a timeout scope that is entered with a request to its task's account.
 *
 * The scope takes its own request back, and calls the cancellation its own if no request is left at
 * all. In a task that was cancelled and cleans up, there is always one left.
 *
 *     A is cancelled, count 1; A cleans up inside a scope; the deadline comes, count 2; the exit
 *     takes it back, count 1, and hands a cancellation on that nobody asked for
 *
 * The cure: compare with the count at entry. */
static enum bz_status to_baseline_exit(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = scope_close(memory, &left);
    /* the fault: requests that were there at entry do not matter */
    return scope_answer(has_expired && left == 0, status);
}

const struct bz_scope_ops bz_zoo_ops_to_baseline = {SCOPE, .exit = to_baseline_exit};

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
static enum bz_status to_zero_swallow_exit(void *memory, enum bz_status status) {
    struct scope *scope = memory;
    uint32_t left = 0;
    bool has_expired = scope_close(scope, &left);
    /* the fault: one that is to be delivered yet is somebody else's */
    return scope_answer(has_expired && left <= scope->at_entry, status);
}

const struct bz_scope_ops bz_zoo_ops_to_zero_swallow = {SCOPE, .exit = to_zero_swallow_exit};
