/* The pool of stacks: guard pages, canaries, order of reuse, high-water mark. */
#include "primitives/tests/support.h"

#include "primitives/runtime/coro/stack.h"

/* AddressSanitizer takes the signal and ends the process with its own code. */
#if BZ_SAN_ADDRESS
#define EXPECT_FAULT .exit_code = 1
#else
#define EXPECT_FAULT .signal = SIGSEGV
#endif

/* The lowest byte is the stack's own, the one below it is nobody's. */
Test(stack, lowest_byte_can_be_used) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *stack = bz_stack_take(pool);
    cr_assert(stack->guarded);
    ((volatile char *)stack->base)[0] = 1;
    bz_stack_return(pool, stack);
    bz_stack_pool_destroy(pool);
}

Test(stack, byte_below_it_faults, EXPECT_FAULT) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *stack = bz_stack_take(pool);
    ((volatile char *)stack->base)[-1] = 1;
}

/* A task that recurses without end meets the guard page. */
static unsigned recurse(unsigned depth, volatile char *above) {
    volatile char frame[256];
    frame[0] = above[0];
    return depth == 0 ? 0 : recurse(depth - 1, frame) + (unsigned)frame[0];
}

static enum bz_status recurse_for_ever(void *arg) {
    volatile char first = 0;
    (void)arg;
    return recurse(1000000000u, &first) == 1 ? BZ_FAILED : BZ_OK;
}

Test(stack, overflow_of_a_task_faults, EXPECT_FAULT) {
    struct bz_loop *loop = tst_begin();
    tst_start(loop, recurse_for_ever, NULL);
    tst_turn(loop);
}

/* --- stacks without a guard page -------------------------------------------------------------- */

static struct bz_stack *take_unguarded(struct bz_stack_pool *pool) {
    for (uint32_t number = 0; number < BZ_STACK_GUARDED_MAX; number++) {
        cr_assert_not_null(bz_stack_take(pool));
    }
    struct bz_stack *stack = bz_stack_take(pool);
    cr_assert_not(stack->guarded);
    return stack;
}

Test(stack, without_guard_is_returned_when_intact) {
    struct bz_stack_pool *pool = bz_stack_pool_new(BZ_STACK_BYTES_MIN);
    struct bz_stack *stack = take_unguarded(pool);
    memset(stack->base + 64, 0xff, stack->size_bytes - 64);
    bz_stack_return(pool, stack);
    cr_assert_eq(bz_stack_take(pool), stack);
    bz_stack_pool_destroy(pool);
}

Test(stack, without_guard_is_not_returned_when_overrun, .signal = SIGABRT) {
    struct bz_stack_pool *pool = bz_stack_pool_new(BZ_STACK_BYTES_MIN);
    struct bz_stack *stack = take_unguarded(pool);
    stack->base[63] = 1;
    bz_stack_return(pool, stack);
}

static uint32_t count_guarded(struct bz_stack_pool *pool, uint32_t stacks) {
    uint32_t guarded = 0;
    for (uint32_t number = 0; number < stacks; number++) {
        guarded += bz_stack_take(pool)->guarded;
    }
    return guarded;
}

/* So that a process with many loops stays below the kernel's limit of mappings. */
Test(stack, guard_pages_are_counted_for_the_process) {
    struct bz_stack_pool *pools[8];
    uint32_t guarded = 0;
    for (int index = 0; index < 8; index++) {
        pools[index] = bz_stack_pool_new(BZ_STACK_BYTES_MIN);
        guarded += count_guarded(pools[index], BZ_STACK_GUARDED_MAX / 4);
    }
    /* stacks that were mapped and not taken have some of them */
    cr_assert_leq(guarded, BZ_STACK_GUARDED_MAX);
    cr_assert_geq(guarded, BZ_STACK_GUARDED_MAX / 2);
    for (int index = 0; index < 8; index++) {
        bz_stack_pool_destroy(pools[index]);
    }
    pools[0] = bz_stack_pool_new(BZ_STACK_BYTES_MIN);
    cr_assert_eq(count_guarded(pools[0], 1000), 1000, "a destroyed pool gives them back");
    bz_stack_pool_destroy(pools[0]);
}

/* --- the pool --------------------------------------------------------------------------------- */

#define STACKS 200u

/* Stacks lie apart, have the size asked for, and staggered, aligned tops. */
Test(stack, ranges_are_apart) {
    struct bz_stack_pool *pool = bz_stack_pool_new(20000);
    struct bz_stack *stacks[STACKS];
    bool is_staggered = false;
    for (uint32_t index = 0; index < STACKS; index++) {
        stacks[index] = bz_stack_take(pool);
        cr_assert_eq(stacks[index]->size_bytes, 20480, "rounded up to pages");
        cr_assert_eq((uintptr_t)bz_stack_top(stacks[index]) % 16, 0);
        cr_assert_lt(stacks[index]->colour_bytes, 4096);
        is_staggered |= stacks[index]->colour_bytes != stacks[0]->colour_bytes;
        for (uint32_t other = 0; other < index; other++) {
            char *low = stacks[index]->base < stacks[other]->base ? stacks[index]->base
                                                                  : stacks[other]->base;
            char *high = low == stacks[index]->base ? stacks[other]->base : stacks[index]->base;
            cr_assert_geq((size_t)(high - low), 20480 + 4096);
        }
    }
    cr_assert(is_staggered);
    bz_stack_pool_destroy(pool);
}

Test(stack, last_returned_is_first_taken) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *first = bz_stack_take(pool);
    struct bz_stack *second = bz_stack_take(pool);
    bz_stack_return(pool, first);
    bz_stack_return(pool, second);
    cr_assert_eq(bz_stack_take(pool), second);
    cr_assert_eq(bz_stack_take(pool), first);
    bz_stack_pool_destroy(pool);
}

/* Determinism: whatever was returned in whatever order, a reset pool hands out as a new one. */
Test(stack, reset_pool_hands_out_in_the_first_order) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *first[STACKS];
    struct bz_stack *taken[STACKS];
    for (uint32_t index = 0; index < STACKS; index++) {
        first[index] = bz_stack_take(pool);
    }
    struct tst_draw draw = tst_draw_seeded(3);
    for (int round = 0; round < 50; round++) {
        bz_stack_pool_reset(pool);
        uint32_t count = tst_draw(&draw, STACKS) + 1;
        for (uint32_t index = 0; index < count; index++) {
            taken[index] = bz_stack_take(pool);
            cr_assert_eq(taken[index], first[index]);
        }
        for (uint32_t index = 0; index < count; index++) {
            if (tst_draw(&draw, 2) == 0) {
                bz_stack_return(pool, taken[index]);
            }
        }
    }
    bz_stack_pool_destroy(pool);
}

Test(stack, dropped_pool_begins_anew_with_zeroed_stacks) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *first = bz_stack_take(pool);
    memset(first->base, 1, first->size_bytes);
    (void)bz_stack_take(pool);
    bz_stack_pool_drop(pool);
    cr_assert_eq(bz_stack_take(pool), first);
    for (size_t index = 0; index < first->size_bytes; index++) {
        cr_assert_eq(first->base[index], 0);
    }
    bz_stack_pool_destroy(pool);
}

Test(stack, sizes_are_bounded) {
    struct bz_stack_pool *pool = bz_stack_pool_new(1);
    cr_assert_eq(bz_stack_take(pool)->size_bytes, BZ_STACK_BYTES_MIN);
    bz_stack_pool_destroy(pool);
    cr_assert_null(bz_stack_pool_new(BZ_STACK_BYTES_MAX + 1));
    cr_assert_null(bz_stack_pool_new(SIZE_MAX));
    bz_stack_pool_destroy(NULL);
}

/* An abandoned frame leaves marks of AddressSanitizer on its stack. The next user of the stack does
 * not meet them. (Without AddressSanitizer this test proves nothing.) */
Test(stack, marks_of_abandoned_frames_are_removed) {
    struct bz_stack_pool *pool = bz_stack_pool_new(BZ_STACK_BYTES_MIN);
    struct bz_stack *stack = bz_stack_take(pool);
    bz_san_poison(stack->base + stack->size_bytes - 2048, 2048);
    bz_stack_pool_reset(pool);
    cr_assert_eq(bz_stack_take(pool), stack);
    memset(stack->base, 0xff, stack->size_bytes);
    bz_stack_return(pool, stack);
    bz_stack_pool_destroy(pool);
}
