/* A run that lacks memory or mappings gives no verdict, and the next run is as good as ever. */
#include <sys/mman.h>
#include <unistd.h>

#include "sim/tests/crowd.h"

#define SEEDS 50u

/* A variant that asks for more than a loop has, once in a run, and drops the permit then. */
static bool is_greedy;

static enum bz_status greedy_acquire(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (is_greedy && bz_mem_alloc(bz_loop_mem(toy->queue.loop), SIZE_MAX / 2) == NULL) {
        return BZ_NO_MEMORY;
    }
    return toy_acquire(instance);
}

TOY(greedy, TOY_CLAIMS_ALL, .acquire = greedy_acquire);

static void expect_lack(const struct bz_judge *judge, const char *what) {
    cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_NO_RESOURCE);
    cr_assert(bz_judge_violation(judge)->oracle == NULL);
    cr_assert(strstr(bz_judge_error(judge), what) != NULL, "%s", bz_judge_error(judge));
}

Test(lack, of_the_loop_is_no_verdict_on_the_variant) {
    struct bz_program program;
    crowd_program(&program, &greedy, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        is_greedy = true;
        bz_program_run(&program, world, seed);
        expect_lack(world->judge, "out of the " BZ_MEM_LIMIT_TEXT " of a loop for ");
        is_greedy = false;
        cr_assert_eq(bz_program_run(&program, world, seed), BZ_RUN_PASSED);
        cr_assert(bz_judge_error(world->judge) == NULL);
    }
    bz_world_destroy(world);
}

/* --- mappings --------------------------------------------------------------------------------- */

#define MAPPINGS_MAX 200000u /* more would take too long */
#define HEADROOM 64u

static char *pages[MAPPINGS_MAX];

/* Uses up the mappings of this process, all but `left`. False: there are too many. */
static bool use_up_mappings(uint32_t left) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t count = 0;
    /* neighbours with different rights are mappings of their own */
    for (; count < MAPPINGS_MAX; count++) {
        pages[count] = mmap(NULL, page_bytes, count % 2 == 0 ? PROT_NONE : PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages[count] == MAP_FAILED) {
            break;
        }
    }
    if (count == MAPPINGS_MAX) {
        return false;
    }
    for (; left > 0; left--) {
        munmap(pages[--count], page_bytes);
    }
    return true;
}

Test(lack, of_mappings_is_named_or_does_without_guard_pages, .timeout = 120) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    program.args.values[CROWD_GUESTS] = 1000;
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_not_null(world);
    if (!BZ_SAN_ADDRESS && !BZ_SAN_THREAD && use_up_mappings(HEADROOM)) {
        enum bz_run_end end = bz_program_run(&program, world, 1);
        cr_assert_eq(end, BZ_RUN_PASSED, "%s", bz_judge_error(world->judge));
        struct bz_world *more[HEADROOM];
        uint32_t count = 0;
        while (count < HEADROOM && (more[count] = bz_program_new_world(&program)) != NULL) {
            if (bz_program_run(&program, more[count++], 1) != BZ_RUN_PASSED) {
                expect_lack(more[count - 1]->judge, "out of mappings for ");
            }
        }
        cr_assert_lt(count, HEADROOM, "mappings were left");
        while (count > 0) {
            bz_world_destroy(more[--count]);
        }
    }
    bz_world_destroy(world);
}
