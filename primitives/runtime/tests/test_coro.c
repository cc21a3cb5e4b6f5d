/* The context switch: what a suspended coroutine keeps, on every backend. */
#include "primitives/tests/support.h"

#include "primitives/runtime/coro/coro.h"

/* Keeps a value out of the optimizer's sight. */
static uint64_t opaque(uint64_t value) {
    __asm__ volatile("" : "+r"(value));
    return value;
}

/* --- values that live across switches --------------------------------------------------------- */

#define SWITCHES 200u

struct worker {
    struct bz_loop *loop;
    uint64_t seed;
    uint64_t sum;
    bool is_misaligned;
};

/* More live values than there are registers, so that both registers and spills are put to the
 * test; the floating-point ones sit in other registers again. */
static enum bz_status keep_values(void *arg) {
    struct worker *worker = arg;
    uint64_t v[20];
    for (unsigned index = 0; index < 20; index++) {
        v[index] = opaque(worker->seed * 100 + index);
    }
    long double wide = (long double)opaque(worker->seed) / 3;
    uint64_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
    for (unsigned round = 0; round < SWITCHES; round++) {
        a += opaque(1);
        b += a;
        c ^= b;
        d += c;
        e ^= d;
        f += e;
        g ^= f;
        h += g;
        enum bz_status status = bz_yield(worker->loop);
        if (status != BZ_OK) {
            return status;
        }
        if (wide != (long double)worker->seed / 3) {
            return BZ_FAILED;
        }
        for (unsigned index = 0; index < 20; index++) {
            if (v[index] != worker->seed * 100 + index) {
                return BZ_FAILED;
            }
        }
    }
    worker->sum = a + b + c + d + e + f + g + h;
    return BZ_OK;
}

static uint64_t expected_sum(uint64_t seed) {
    uint64_t v[8];
    for (unsigned index = 0; index < 8; index++) {
        v[index] = seed * 100 + index;
    }
    for (unsigned round = 0; round < SWITCHES; round++) {
        v[0] += 1;
        v[1] += v[0];
        v[2] ^= v[1];
        v[3] += v[2];
        v[4] ^= v[3];
        v[5] += v[4];
        v[6] ^= v[5];
        v[7] += v[6];
    }
    return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7];
}

#define WORKERS 50u

Test(coro, keeps_values_across_switches) {
    struct bz_loop *loop = tst_begin();
    struct worker workers[WORKERS];
    struct bz_task *tasks[WORKERS];
    for (uint32_t index = 0; index < WORKERS; index++) {
        workers[index] = (struct worker){.loop = loop, .seed = index + 1};
        tasks[index] = tst_spawn(loop, keep_values, &workers[index]);
    }
    tst_run(loop);
    for (uint32_t index = 0; index < WORKERS; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
        cr_assert_eq(workers[index].sum, expected_sum(index + 1));
    }
    tst_end(loop);
}

/* --- alignment -------------------------------------------------------------------------------- */

/* A local that asks for the alignment of the ABI gets it, in the first frame and after a switch;
 * printf with a floating-point argument faults on a stack that is 8 off. */
static enum bz_status check_alignment(void *arg) {
    struct worker *worker = arg;
    char text[32];
    for (int round = 0; round < 3; round++) {
        _Alignas(16) volatile char local[16];
        local[0] = 0;
        worker->is_misaligned |= opaque((uintptr_t)local) % 16 != 0;
        snprintf(text, sizeof text, "%.2Lf", (long double)opaque(round) + 0.25L);
        worker->is_misaligned |= text[1] != '.';
        enum bz_status status = bz_yield(worker->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

Test(coro, aligns_every_stack) {
    struct bz_loop *loop = tst_begin();
    struct worker workers[40];
    for (uint32_t index = 0; index < 40; index++) {
        workers[index] = (struct worker){.loop = loop};
        tst_start(loop, check_alignment, &workers[index]);
    }
    tst_run(loop);
    for (uint32_t index = 0; index < 40; index++) {
        cr_assert_not(workers[index].is_misaligned, "stack %u", index);
    }
    tst_end(loop);
}

/* --- the bare switch -------------------------------------------------------------------------- */

struct bare {
    struct bz_coro coro;
    struct bz_coro *back;
    unsigned visits;
};

static void bare_entry(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    struct bare *bare = bz_container_of(self, struct bare, coro);
    cr_assert_eq(from, bare->back);
    for (;;) {
        bare->visits++;
        if (bare->visits == 3) {
            bz_coro_exit(self, bare->back);
        }
        bz_coro_switch(self, bare->back);
    }
}

/* A stack serves one coroutine after the other, at once after the last switch of the one before. */
Test(coro, switches_back_and_forth) {
    struct bz_stack_pool *pool = bz_stack_pool_new(0);
    struct bz_stack *stack = bz_stack_take(pool);
    struct bz_coro here = {0};
    for (int round = 0; round < 100; round++) {
        struct bare bare = {.back = &here};
        bz_coro_init(&bare.coro, stack, bare_entry);
        for (unsigned visit = 1; visit <= 3; visit++) {
            bz_coro_switch(&here, &bare.coro);
            cr_assert_eq(bare.visits, visit);
        }
    }
    bz_stack_return(pool, stack);
    bz_stack_pool_destroy(pool);
}
