/* Timeout scopes: an exit has to tell whose cancellation it was. */
#include "primitives/runtime/driver.h"
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "scenarios/zoo/parts.h"

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

/* The first half of an exit disarms the deadline. True if it had come: then the scope takes its
 * request back, and *left is the number of requests without it. */
static bool scope_close(struct scope *scope, uint32_t *left) {
    bz_timer_disarm(&scope->timer);
    *left = scope->has_expired ? bz_task_uncancel(scope->task) : 0;
    return scope->has_expired;
}

/* The second half turns a cancellation of the scope's own into a time-out. */
static enum bz_status scope_answer(bool is_mine, enum bz_status status) {
    return is_mine && status == BZ_CANCELLED ? BZ_TIMED_OUT : status;
}

/* All but exit. */
#define SCOPE .scope_bytes = sizeof(struct scope), .enter = scope_enter

/* to-any-cancel: an expired timeout scope takes every cancellation for its own.
 *
 * The code is older than the count of requests. A flag says that the deadline came, and nothing
 * also says that another task cancelled this one.
 *
 *     the deadline of A's scope comes; B cancels A before A resumes; the exit says timed-out, and A
 *     continues as if B had not cancelled it
 *
 * The cure: take the scope's request back, and see whether more are left than at entry. */
static enum bz_status to_any_cancel_exit(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = scope_close(memory, &left);
    return scope_answer(has_expired, status); /* the fault: another task may have asked, too */
}

BZ_ZOO_ENTRY(scope, to_any_cancel, SCOPE, .exit = to_any_cancel_exit);

/* to-baseline: a timeout scope that is entered in a task with an earlier request never says
 * timed-out.
 *
 * The scope takes its own request back, and takes the cancellation for its own if no request is
 * left at all. In a task that was cancelled and cleans up, there is always one left.
 *
 *     A is cancelled, count 1; A cleans up inside a scope; the deadline comes, count 2; the exit
 *     takes it back, count 1, and passes on a cancellation that was never requested
 *
 * The cure: compare with the count at entry. */
static enum bz_status to_baseline_exit(void *memory, enum bz_status status) {
    uint32_t left = 0;
    bool has_expired = scope_close(memory, &left);
    /* the fault: ignores the requests at entry */
    return scope_answer(has_expired && left == 0, status);
}

BZ_ZOO_ENTRY(scope, to_baseline, SCOPE, .exit = to_baseline_exit);

/* to-zero-swallow: a request that was not delivered yet when a timeout scope was entered is lost.
 *
 * The scope compares the count with that at entry, which includes the request. The first await
 * inside delivers the request. If the deadline comes meanwhile, the scope takes that for its own.
 *
 *     A cancels itself, count 1; A enters a scope of 0 seconds, whose deadline comes while the
 *     cancellation is on its way, count 2; the exit takes one back, finds 1 as at entry, and says
 *     that it timed out: the cancellation of A is lost
 *
 * The cure: leave a request that is still to be delivered at entry out of the count at entry. */
static enum bz_status to_zero_swallow_exit(void *memory, enum bz_status status) {
    struct scope *scope = memory;
    uint32_t left = 0;
    bool has_expired = scope_close(scope, &left);
    /* the fault: at_entry includes a request that was not delivered yet */
    return scope_answer(has_expired && left <= scope->at_entry, status);
}

BZ_ZOO_ENTRY(scope, to_zero_swallow, SCOPE, .exit = to_zero_swallow_exit);
