/* Stackful coroutines: one switch, asymmetric (the loop resumes a coroutine, the coroutine returns
 * to the loop), no system call.
 *
 * Three backends behind one call, bz_coro_switch():
 *   switch_x86_64.h, switch_aarch64.h   inline assembly, the default on these machines
 *   switch_ucontext.c                   swapcontext, elsewhere and with -DBUZZER_SWITCH=ucontext
 * All of them give byte-identical traces.
 *
 * The assembly is inline on purpose. A switch that is a function leaves one call too many on the
 * processor's return stack, so that the next return of the other side is mispredicted: measured
 * 10 to 17 ns a switch against 3 to 4 ns inlined (x86-64, gcc 12).
 *
 * Not saved: floating-point control words (MXCSR, x87, FPCR) and the signal mask. No file of
 * Buzzer changes them; a program that does must restore them before it awaits. Hardware shadow
 * stacks (CET) must be off.
 */
#ifndef BZ_RUNTIME_CORO_CORO_H
#define BZ_RUNTIME_CORO_CORO_H

#include <stddef.h>

#include "primitives/runtime/coro/san.h"
#include "primitives/runtime/coro/stack.h"

#if !defined(BZ_SWITCH_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define BZ_SWITCH_UCONTEXT 1
#endif

/* The registers of a suspended side, and what the sanitizers know of its stack. */
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

/* Runs on the new stack at the first switch to it, and must never return. */
typedef void bz_coro_entry_fn(struct bz_coro *from, struct bz_coro *self);

#ifdef BZ_SWITCH_UCONTEXT
void bz_coro_switch_raw(struct bz_coro *from, struct bz_coro *to);
void bz_coro_init_raw(struct bz_coro *coro, struct bz_stack *stack, bz_coro_entry_fn *entry);
#elif defined(__x86_64__)
#include "primitives/runtime/coro/switch_x86_64.h"
#else
#include "primitives/runtime/coro/switch_aarch64.h"
#endif

static inline void bz_coro_init(struct bz_coro *coro, struct bz_stack *stack,
                                bz_coro_entry_fn *entry) {
    coro->stack_bottom = stack->base;
    coro->stack_bytes = stack->size_bytes;
    coro->fake_stack = NULL;
#if BZ_SAN_THREAD
    bz_san_new_fiber(&stack->fiber);
    coro->fiber = stack->fiber;
#endif
    bz_coro_init_raw(coro, stack, entry);
}

/* Tells ThreadSanitizer, right before a switch. */
static inline __attribute__((always_inline)) void bz_coro_switch_fiber(struct bz_coro *from,
                                                                       struct bz_coro *to) {
#if BZ_SAN_THREAD
    bz_san_switch_fiber(&from->fiber, to->fiber);
#else
    (void)from;
    (void)to;
#endif
}

/* Suspends `from` (the running side) and continues `to`; returns when somebody switches back. */
static inline __attribute__((always_inline)) void bz_coro_switch(struct bz_coro *from,
                                                                 struct bz_coro *to) {
    bz_san_start_switch(&from->fake_stack, to->stack_bottom, to->stack_bytes);
    bz_coro_switch_fiber(from, to);
    bz_coro_switch_raw(from, to);
    /* Whoever continues this side was on the other side's stack; the loop's side may have moved to
     * another stack since (a loop that is run by a task of another loop). */
    bz_san_finish_switch(from->fake_stack, &to->stack_bottom, &to->stack_bytes);
}

/* The last switch of a coroutine: its stack may be given to another one at once. */
static inline __attribute__((always_inline)) void bz_coro_exit(struct bz_coro *from,
                                                               struct bz_coro *to) {
    bz_san_start_switch(NULL, to->stack_bottom, to->stack_bytes);
    bz_coro_switch_fiber(from, to);
    bz_coro_switch_raw(from, to);
    __builtin_unreachable();
}

/* The first thing an entry function does; tells the sanitizers where it came from. */
static inline __attribute__((always_inline)) void bz_coro_arrive(struct bz_coro *from) {
    bz_san_finish_switch(NULL, &from->stack_bottom, &from->stack_bytes);
}

#endif
