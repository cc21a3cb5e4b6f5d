#include "tools/commands/baseline.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "primitives/runtime/coro/coro.h"
#include "primitives/runtime/coro/stack.h"
#include "sim/choice/pcg.h"
#include "sim/session/stop.h"

#define ROUND_TRIPS 40000u
#define CROWD 16u
#define ORDER_LENGTH 65536u

struct bz_baseline {
    struct bz_stack_pool *pool;
    void *main_sp; /* of the textbook's pair */
    void *other_sp;
    struct bz_coro main;
    struct bz_coro single;
    struct bz_coro crowd[CROWD];
    uint32_t turn; /* in the order, where the next measurement begins */
    uint8_t order[ORDER_LENGTH];
};

/* --- the runtime's own ------------------------------------------------------------------------ */

static void own_entry(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    for (;;) {
        bz_coro_switch(self, from);
        __asm__ volatile("" ::: "memory"); /* keeps the two switches apart */
        bz_coro_switch(self, from);
    }
}

double bz_baseline_own_ns(struct bz_baseline *baseline) {
    uint64_t began_ns = bz_thread_cpu_ns();
    for (unsigned trip = 0; trip < ROUND_TRIPS; trip++) {
        uint8_t next = baseline->order[baseline->turn++ % ORDER_LENGTH];
        bz_coro_switch(&baseline->main, &baseline->crowd[next]);
    }
    return (double)(bz_thread_cpu_ns() - began_ns) / (2.0 * ROUND_TRIPS);
}

/* --- the textbook's --------------------------------------------------------------------------- */

#if defined(__x86_64__)
void bz_baseline_switch(void **from_sp, void *to_sp);
void bz_baseline_start(void);

static void textbook_entry(struct bz_baseline *baseline) {
    for (;;) {
        bz_baseline_switch(&baseline->other_sp, baseline->main_sp);
    }
}

static void single_init(struct bz_baseline *baseline, struct bz_stack *stack) {
    /* The words that the first switch pops: r15, r14, r13, r12, rbx, rbp, the return address. Then
     * the stack is 16-byte aligned, as before a call. */
    uintptr_t *frame = (uintptr_t *)((uintptr_t)bz_stack_top(stack) & ~(uintptr_t)15) - 8;
    frame[0] = frame[1] = frame[2] = frame[5] = 0;
    frame[3] = (uintptr_t)textbook_entry;
    frame[4] = (uintptr_t)baseline;
    frame[6] = (uintptr_t)bz_baseline_start;
    frame[7] = 0;
    baseline->other_sp = frame;
}

static void switch_once(struct bz_baseline *baseline) {
    bz_baseline_switch(&baseline->main_sp, baseline->other_sp);
}
#else
static void single_init(struct bz_baseline *baseline, struct bz_stack *stack) {
    bz_coro_init(&baseline->single, stack, own_entry);
}

static void switch_once(struct bz_baseline *baseline) {
    bz_coro_switch(&baseline->main, &baseline->single);
}
#endif

double bz_baseline_textbook_ns(struct bz_baseline *baseline) {
    uint64_t began_ns = bz_thread_cpu_ns();
    for (unsigned trip = 0; trip < ROUND_TRIPS; trip++) {
        switch_once(baseline);
    }
    return (double)(bz_thread_cpu_ns() - began_ns) / (2.0 * ROUND_TRIPS);
}

/* --- life ------------------------------------------------------------------------------------- */

static bool crowd_init(struct bz_baseline *baseline) {
    for (unsigned index = 0; index < CROWD; index++) {
        struct bz_stack *stack = bz_stack_take(baseline->pool);
        if (stack == NULL) {
            return false;
        }
        bz_coro_init(&baseline->crowd[index], stack, own_entry);
    }
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 0, 0);
    for (unsigned index = 0; index < ORDER_LENGTH; index++) {
        baseline->order[index] = (uint8_t)bz_pcg32_below(&pcg, CROWD);
    }
    return true;
}

struct bz_baseline *bz_baseline_new(void) {
    struct bz_baseline *baseline = calloc(1, sizeof *baseline);
    if (baseline == NULL) {
        return NULL;
    }
    baseline->pool = bz_stack_pool_new(0);
    struct bz_stack *stack = baseline->pool == NULL ? NULL : bz_stack_take(baseline->pool);
    if (stack == NULL || !crowd_init(baseline)) {
        bz_baseline_destroy(baseline);
        return NULL;
    }
    single_init(baseline, stack);
    /* Touches every stack once. */
    (void)bz_baseline_textbook_ns(baseline);
    (void)bz_baseline_own_ns(baseline);
    return baseline;
}

void bz_baseline_destroy(struct bz_baseline *baseline) {
    if (baseline != NULL) {
        bz_stack_pool_destroy(baseline->pool); /* the coroutines are abandoned */
        free(baseline);
    }
}

void bz_baseline_pin(void) {
    cpu_set_t cores;
    int core = sched_getcpu();
    if (core < 0 || core >= CPU_SETSIZE) {
        return;
    }
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    (void)sched_setaffinity(0, sizeof cores, &cores);
}
