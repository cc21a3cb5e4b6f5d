#include "scenarios/zoo/scopes.h"

#include "primitives/runtime/list.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/task.h"

static void on_deadline(struct bz_timer *timer) {
    struct bz_zoo_scope *scope = bz_container_of(timer, struct bz_zoo_scope, timer);
    scope->has_expired = true;
    bz_task_cancel(scope->task);
}

enum bz_status bz_zoo_scope_enter(void *memory, struct bz_loop *loop, uint64_t delay_ns) {
    struct bz_zoo_scope *scope = memory;
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

bool bz_zoo_scope_close(struct bz_zoo_scope *scope, uint32_t *left) {
    bz_timer_disarm(&scope->timer);
    *left = scope->has_expired ? bz_task_uncancel(scope->task) : 0;
    return scope->has_expired;
}
