/* What a variant has under way besides its waiters: a callback or a timer that may still help them.
 */
#include "sim/native/internal.h"

/* True if a task has the timer on its stack, inside an operation: it wakes itself. */
static bool is_of_waiter(const struct bz_native *native, const struct bz_timer *timer) {
    const struct bz_task *task = NULL;
    while ((task = bz_driver_next_task(native->world.loop, task)) != NULL) {
        const struct bz_stack *stack = task->stack;
        if (stack != NULL &&
            (uintptr_t)timer - (uintptr_t)stack->base < (uintptr_t)stack->size_bytes) {
            return native->world.judge->shadow.tasks[task->actor.id].op != BZ_OP_NONE;
        }
    }
    return false;
}

static bool fires_for_variant(const struct bz_native *native, const struct bz_timer *timer) {
    return timer->fire != bz_sleeper_fire && timer->fire != bz_deadline_fire &&
           timer->fire != native->own_timer && !is_of_waiter(native, timer);
}

/* A ready handle that is no step of a task. */
static bool is_of_variant(const struct bz_native *native, const struct bz_handle *handle) {
    if (handle->role == BZ_ROLE_TIMER) {
        return fires_for_variant(native, bz_container_of(handle, const struct bz_timer, handle));
    }
    return handle->run != bz_callback_run ||
           bz_container_of(handle, const struct bz_callback, handle)->fn != native->own_callback;
}

bool bz_native_callback_is_ready(void *source) {
    const struct bz_loop *loop = ((const struct bz_world *)source)->loop;
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        if (loop->ready[index]->role == BZ_ROLE_CALLBACK) {
            return true;
        }
    }
    return false;
}

uint64_t bz_native_variant_until_ns(void *source) {
    const struct bz_native *native = source;
    const struct bz_loop *loop = native->world.loop;
    uint64_t until_ns = 0;
    for (uint32_t index = 0; index < loop->ready_count; index++) {
        if (loop->ready[index]->role != BZ_ROLE_STEP && is_of_variant(native, loop->ready[index])) {
            return UINT64_MAX;
        }
    }
    for (uint32_t index = 0; index < loop->heap_count; index++) {
        const struct bz_timer *timer = loop->heap[index].timer;
        if (timer != NULL && timer->when_ns >= until_ns && fires_for_variant(native, timer)) {
            until_ns = timer->when_ns + (timer->when_ns == 0);
        }
    }
    return until_ns;
}

bool bz_native_variant_is_busy(void *source) {
    return bz_native_variant_until_ns(source) != 0;
}
