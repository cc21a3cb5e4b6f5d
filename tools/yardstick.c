#include "tools/yardstick.h"

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/coro/stack.h"
#include "tools/progress.h"

#define ROUND_TRIPS 500000u
#define WARM_UP_TRIPS 1000u

/* --- the runtime's own ------------------------------------------------------------------------ */

struct own_pair {
    struct bz_coro main;
    struct bz_coro other;
};

static void own_entry(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    for (;;) {
        bz_coro_switch(self, from);
    }
}

static double measure_own(struct bz_stack *stack) {
    struct own_pair pair = {.main = {.pc = NULL}};
    bz_coro_init(&pair.other, stack, own_entry);
    for (unsigned trip = 0; trip < WARM_UP_TRIPS; trip++) {
        bz_coro_switch(&pair.main, &pair.other);
    }
    uint64_t began_ns = bz_thread_cpu_ns();
    for (unsigned trip = 0; trip < ROUND_TRIPS; trip++) {
        bz_coro_switch(&pair.main, &pair.other);
    }
    return (double)(bz_thread_cpu_ns() - began_ns) / (2.0 * ROUND_TRIPS);
}

/* --- the textbook's --------------------------------------------------------------------------- */

#if defined(__x86_64__)
void bz_yardstick_switch(void **from_sp, void *to_sp);
void bz_yardstick_start(void);

struct textbook_pair {
    void *main_sp;
    void *other_sp;
};

static void textbook_entry(struct textbook_pair *pair) {
    for (;;) {
        bz_yardstick_switch(&pair->other_sp, pair->main_sp);
    }
}

static double measure_textbook(struct bz_stack *stack) {
    struct textbook_pair pair;
    /* The frame that the first switch pops: r15, r14, r13, r12, rbx, rbp, the return address. After
     * it the stack is a multiple of 16, as before a call. */
    uintptr_t *frame = (uintptr_t *)((uintptr_t)bz_stack_top(stack) & ~(uintptr_t)15) - 8;
    frame[0] = frame[1] = frame[2] = frame[5] = 0;
    frame[3] = (uintptr_t)textbook_entry;
    frame[4] = (uintptr_t)&pair;
    frame[6] = (uintptr_t)bz_yardstick_start;
    frame[7] = 0;
    pair.other_sp = frame;
    for (unsigned trip = 0; trip < WARM_UP_TRIPS; trip++) {
        bz_yardstick_switch(&pair.main_sp, pair.other_sp);
    }
    uint64_t began_ns = bz_thread_cpu_ns();
    for (unsigned trip = 0; trip < ROUND_TRIPS; trip++) {
        bz_yardstick_switch(&pair.main_sp, pair.other_sp);
    }
    return (double)(bz_thread_cpu_ns() - began_ns) / (2.0 * ROUND_TRIPS);
}
#else
static double measure_textbook(struct bz_stack *stack) {
    return measure_own(stack);
}
#endif

bool bz_yardstick_measure(double *switch_ns, double *own_switch_ns) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    if (pool == NULL) {
        return false;
    }
    struct bz_stack *first = bz_stack_take(pool);
    struct bz_stack *second = bz_stack_take(pool);
    bool is_ready = first != NULL && second != NULL;
    if (is_ready) {
        *switch_ns = measure_textbook(first);
        *own_switch_ns = measure_own(second);
    }
    bz_stack_pool_destroy(pool); /* the other sides are abandoned where they stand */
    return is_ready;
}
