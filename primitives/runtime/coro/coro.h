/* Stackful coroutines. Switches are asymmetric (the loop resumes a coroutine, the coroutine returns
 * to the loop) and make no system call.
 *
 * The backends of bz_coro_switch() give byte-identical traces:
 *   switch_x86_64.h, switch_aarch64.h   inline assembly, the default on these machines
 *   switch_ucontext.c                   swapcontext, elsewhere and with -DBUZZER_SWITCH=ucontext
 *
 * Not saved: floating-point control words (MXCSR, x87, FPCR) and the signal mask. A program that
 * changes them must restore them before it awaits. The C++ runtime's state of exceptions is not
 * saved here either (bz_loop_keep_exceptions()). Hardware shadow stacks (CET) must be off.
 */
#ifndef BZ_RUNTIME_CORO_CORO_H
#define BZ_RUNTIME_CORO_CORO_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/coro/san.h"
#include "primitives/runtime/coro/stack.h"

#if !defined(BZ_SWITCH_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define BZ_SWITCH_UCONTEXT 1
#endif

/* The registers of a suspended side, and what the sanitizers need of its stack. */
struct bz_coro {
    void *pc;
    void *sp;
    void *fp;
#ifdef BZ_SWITCH_UCONTEXT
    void *ucontext; /* on the suspended stack; NULL before the first switch */
#endif
    const void *stack_bottom; /* lowest address */
    size_t stack_bytes;
    void *fake_stack;
#if BZ_SAN_THREAD
    void *fiber;
#endif
};

/* Runs on the new stack at the first switch to it; must never return. */
typedef void bz_coro_entry_fn(struct bz_coro *from, struct bz_coro *self);

#ifdef BZ_SWITCH_UCONTEXT
void bz_coro_switch_raw(struct bz_coro *from, struct bz_coro *to);
#else
_Static_assert(offsetof(struct bz_coro, pc) == 0 && offsetof(struct bz_coro, sp) == 8 &&
                   offsetof(struct bz_coro, fp) == 16,
               "the assembly uses these offsets");
#ifdef __x86_64__
#include "primitives/runtime/coro/switch_x86_64.h"
#else
#include "primitives/runtime/coro/switch_aarch64.h"
#endif
#endif

static inline void bz_coro_init(struct bz_coro *coro, struct bz_stack *stack,
                                bz_coro_entry_fn *entry) {
    coro->stack_bottom = stack->base;
    coro->stack_bytes = stack->size_bytes;
    coro->fake_stack = NULL;
#if BZ_SAN_THREAD
    bz_san_free_fiber(stack->fiber);
    stack->fiber = __tsan_create_fiber(0);
    coro->fiber = stack->fiber;
#endif
    coro->pc = (void *)(uintptr_t)entry;
#ifdef BZ_SWITCH_UCONTEXT
    coro->ucontext = NULL;
#else
    uintptr_t *top = (uintptr_t *)((uintptr_t)bz_stack_top(stack) & ~(uintptr_t)15);
#ifdef __x86_64__
    *--top = 0; /* as after a call; debuggers stop at a return address of zero */
#endif
    coro->sp = top;
    coro->fp = NULL;
#endif
}

/* Suspends `from` (the running side) and continues `to`; returns when the other side switches back.
 */
static inline __attribute__((always_inline)) void bz_coro_switch(struct bz_coro *from,
                                                                 struct bz_coro *to) {
    bz_san_start_switch(&from->fake_stack, to->stack_bottom, to->stack_bytes);
    bz_san_switch_fiber(from, to);
    bz_coro_switch_raw(from, to);
    /* The loop's side may be on another stack now, if a task of another loop runs it. */
    bz_san_finish_switch(from->fake_stack, &to->stack_bottom, &to->stack_bytes);
}

/* The last switch of a coroutine. Afterwards its stack may be used again. */
static inline __attribute__((always_inline)) void bz_coro_exit(struct bz_coro *from,
                                                               struct bz_coro *to) {
    bz_san_start_switch(NULL, to->stack_bottom, to->stack_bytes);
    bz_san_switch_fiber(from, to);
    bz_coro_switch_raw(from, to);
    __builtin_unreachable();
}

/* An entry function calls this first. */
static inline __attribute__((always_inline)) void bz_coro_arrive(struct bz_coro *from) {
    bz_san_finish_switch(NULL, &from->stack_bottom, &from->stack_bytes);
}

#endif
