/* A campaign makes no allocation and no system call after its largest run.
 * The C library's allocator is wrapped by the linker; system calls are forbidden by seccomp, in a
 * child that the kernel kills at the first one. */
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/tests/crowd.h"

static atomic_ulong allocations;

void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t count, size_t size_bytes);
void *__real_realloc(void *block, size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_realloc(void *block, size_t size_bytes);

void *__wrap_malloc(size_t size_bytes) {
    atomic_fetch_add(&allocations, 1);
    return __real_malloc(size_bytes);
}

void *__wrap_calloc(size_t count, size_t size_bytes) {
    atomic_fetch_add(&allocations, 1);
    return __real_calloc(count, size_bytes);
}

void *__wrap_realloc(void *block, size_t size_bytes) {
    atomic_fetch_add(&allocations, 1);
    return __real_realloc(block, size_bytes);
}

#define SEEDS 2000u

static struct bz_world *warm_world(struct bz_program *program, enum bz_order order,
                                   const struct bz_strategy *strategy) {
    crowd_program(program, &crowd_sound, order);
    program->strategy = strategy;
    struct bz_world *world = bz_program_new_world(program);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bz_program_run(program, world, seed);
    }
    return world;
}

static void run_again(const struct bz_program *program, struct bz_world *world) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bz_program_run(program, world, seed);
    }
}

static void expect_no_allocation(enum bz_order order, const struct bz_strategy *strategy) {
    struct bz_program program;
    unsigned long before = atomic_load(&allocations);
    struct bz_world *world = warm_world(&program, order, strategy);
    unsigned long after = atomic_load(&allocations);
    cr_assert_lt(before, after, "the wrapped allocator counts nothing");
    run_again(&program, world);
    cr_assert_eq(atomic_load(&allocations), after, "%s", strategy->name);
    bz_world_destroy(world);
}

Test(quiet, warm_runs_allocate_nothing) {
    for (size_t which = 0; bz_strategies[which] != NULL; which++) {
        expect_no_allocation(BZ_ORDER_ANY, bz_strategies[which]);
        expect_no_allocation(BZ_ORDER_FIFO, bz_strategies[which]);
    }
}

/* Exits by the raw system call, for seccomp does not allow exit_group. */
static int sealed_child(const struct bz_program *program, struct bz_world *world, bool misbehaves) {
    uint64_t runs = world->judge->stats.runs; /* the child's, too: a judge is shared */
    pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
            _exit(77);
        }
        run_again(program, world);
        if (misbehaves) {
            (void)syscall(SYS_getppid);
        }
        syscall(SYS_exit, world->judge->stats.runs == runs + SEEDS ? 0 : 1);
    }
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(quiet, warm_runs_make_no_system_call) {
    static const enum bz_order orders[] = {BZ_ORDER_ANY, BZ_ORDER_FIFO};
    for (int index = 0; index < 2; index++) {
        struct bz_program program;
        struct bz_world *world = warm_world(&program, orders[index], &bz_strategy_portfolio);
        int status = sealed_child(&program, world, true);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            cr_skip("the kernel offers no seccomp");
        }
        bool was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        cr_assert(was_killed, "the seal does not hold");
        status = sealed_child(&program, world, false);
        bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        cr_assert(is_well, "killed by a system call");
        bz_world_destroy(world);
    }
}
