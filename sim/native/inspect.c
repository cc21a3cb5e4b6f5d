#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* REG_RIP */
#endif

#include "sim/native/inspect.h"

#ifdef BZ_SWITCH_UCONTEXT
#include <ucontext.h>
#endif

#include "sim/native/internal.h"

uint32_t bz_look_ready(const struct bz_world *world, struct bz_ready *ready, uint32_t max) {
    const struct bz_loop *loop = world->loop;
    for (uint32_t index = 0; index < loop->ready_count && index < max; index++) {
        const struct bz_handle *handle = loop->ready[index];
        ready[index] =
            (struct bz_ready){.owner = handle->owner, .nth = handle->nth, .role = handle->role};
    }
    return loop->ready_count;
}

uint64_t bz_look_deadline_ns(const struct bz_world *world) {
    return bz_driver_next_deadline_ns(world->loop);
}

#ifdef BZ_SWITCH_UCONTEXT
static bool read_registers(const struct bz_coro *coro, struct bz_saved_stack *stack) {
    const ucontext_t *context = coro->ucontext;
    if (context == NULL) {
        return false;
    }
#if defined(__x86_64__)
    *stack = (struct bz_saved_stack){(uintptr_t)context->uc_mcontext.gregs[REG_RIP],
                                     (uintptr_t)context->uc_mcontext.gregs[REG_RSP],
                                     (uintptr_t)context->uc_mcontext.gregs[REG_RBP]};
    return true;
#elif defined(__aarch64__)
    *stack = (struct bz_saved_stack){(uintptr_t)context->uc_mcontext.pc,
                                     (uintptr_t)context->uc_mcontext.sp,
                                     (uintptr_t)context->uc_mcontext.regs[29]};
    return true;
#else
    (void)stack;
    return false;
#endif
}
#else
static bool read_registers(const struct bz_coro *coro, struct bz_saved_stack *stack) {
    *stack = (struct bz_saved_stack){(uintptr_t)coro->pc, (uintptr_t)coro->sp, (uintptr_t)coro->fp};
    return true;
}
#endif

bool bz_look_stack(const struct bz_world *world, uint32_t task, struct bz_saved_stack *stack) {
    const struct bz_task *entry = bz_world_find_task(world, task);
    bool is_suspended = entry != NULL && entry->is_started && entry != world->loop->current &&
                        !bz_future_is_done(&entry->done);
    return is_suspended && read_registers(&entry->coro, stack);
}
