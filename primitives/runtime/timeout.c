#include "primitives/runtime/timeout.h"

#include "primitives/runtime/internal.h"

void bz_deadline_fire(struct bz_timer *timer) {
    struct bz_timeout *scope = bz_container_of(timer, struct bz_timeout, timer);
    scope->state = BZ_TIMEOUT_EXPIRING;
    bz_task_cancel(scope->task);
}

/* As in asyncio, a deadline that has passed is a call_soon, not a timer: the order differs. */
static enum bz_status arm(struct bz_loop *loop, struct bz_timeout *scope, uint64_t delay_ns) {
    bool is_armed = delay_ns == 0
                        ? bz_timer_arm_now(&scope->timer)
                        : bz_timer_arm(&scope->timer, bz_time_after(loop->now_ns, delay_ns));
    return is_armed ? BZ_OK : BZ_NO_MEMORY;
}

/* One that is still to be delivered is delivered inside the scope, and is not the scope's own. */
static uint32_t requests_of_others(const struct bz_task *task) {
    switch ((enum bz_rule_timeout)task->done.loop->rules->timeout) {
    case BZ_TIMEOUT_FROM_ZERO:
        return 0;
    case BZ_TIMEOUT_AT_ENTRY:
        return task->cancel_requests;
    default:
        return task->cancel_requests - (task->must_cancel && task->cancel_requests > 0);
    }
}

enum bz_status bz_timeout_enter(struct bz_loop *loop, struct bz_timeout *scope, uint64_t delay_ns) {
    struct bz_task *task = loop->current;
    if (task == NULL) {
        return BZ_INVALID_STATE;
    }
    bz_timer_init(&scope->timer, loop, bz_deadline_fire);
    scope->task = task;
    scope->baseline = requests_of_others(task);
    scope->state = BZ_TIMEOUT_ENTERED;
    return arm(loop, scope, delay_ns);
}

enum bz_status bz_timeout_reschedule(struct bz_timeout *scope, uint64_t delay_ns) {
    if (scope->state != BZ_TIMEOUT_ENTERED) {
        return BZ_INVALID_STATE;
    }
    bz_timer_disarm(&scope->timer);
    return arm(scope->timer.loop, scope, delay_ns);
}

enum bz_status bz_timeout_exit(struct bz_timeout *scope, enum bz_status status) {
    bz_timer_disarm(&scope->timer);
    if (scope->state != BZ_TIMEOUT_EXPIRING) {
        scope->state = BZ_TIMEOUT_EXITED;
        return status;
    }
    scope->state = BZ_TIMEOUT_EXPIRED;
    if (bz_task_uncancel(scope->task) <= scope->baseline && status == BZ_CANCELLED) {
        return BZ_TIMED_OUT;
    }
    return status;
}

bool bz_timeout_expired(const struct bz_timeout *scope) {
    return scope->state == BZ_TIMEOUT_EXPIRING || scope->state == BZ_TIMEOUT_EXPIRED;
}
