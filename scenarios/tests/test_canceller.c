/* The code of all cancellers, with more tasks than a word has bits; and what the view of `buzzer`
 * shows of queues of any length. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "primitives/runtime/driver.h"
#include "primitives/sync/semaphore.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"
#include "scenarios/tests/seeds.h"
#include "sim/native/internal.h"
#include "sim/native/sut.h"

#define TASKS_MAX 130u

/* Draws what a test wants to be drawn; else default. */
static uint64_t drawn;
static uint64_t drawn_below;
static uint64_t drawn_favoured; /* what the canceller favours, as bits */

static uint64_t fixed_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                           uint32_t step) {
    (void)state;
    (void)kind;
    (void)step;
    drawn_below = draw->bound;
    drawn_favoured = draw->favoured;
    return drawn;
}

struct crowd {
    struct bz_world *world;
    struct bz_sut_permits sut;
    struct bz_task *tasks[TASKS_MAX];
    uint32_t count;
    uint32_t every; /* of the tasks, counted from 1, only each every-th waits; the others yield */
};

static enum bz_status wait_for_ever(void *arg) {
    struct crowd *crowd = arg;
    uint32_t id = bz_judge_running(crowd->world->judge);
    return id % crowd->every == 0 ? bz_sut_acquire(&crowd->sut)
                                  : bz_sleep(crowd->world->loop, BZ_TIME_NEVER);
}

/* A crowd before a semaphore without permits, all of it suspended. */
static void gather(struct crowd *crowd, uint32_t count, uint32_t every) {
    static struct bz_strategy fixed;
    fixed = bz_strategy_fifo;
    fixed.draw = fixed_draw;
    struct bz_judge_config config = {
        .strategy = &fixed, .order = BZ_ORDER_ANY, .oracles_off = UINT64_MAX};
    *crowd = (struct crowd){.count = count, .every = every};
    crowd->world = bz_world_new(&config, &bz_variant_buzzer);
    bz_judge_begin(crowd->world->judge, &(struct bz_run_start){.seed = 0});
    bz_world_begin(crowd->world);
    cr_assert_eq(
        bz_sut_permits_init(&crowd->sut, crowd->world, BZ_PRIMITIVE_SEMAPHORE, "permits", 0),
        BZ_OK);
    for (uint32_t index = 0; index < count; index++) {
        crowd->tasks[index] =
            bz_task_spawn(crowd->world->loop, "guest", index + 1, wait_for_ever, crowd);
    }
    bz_world_run(crowd->world);
    cr_assert_eq(bz_loop_live_tasks(crowd->world->loop), count);
}

/* The one that is drawn is cancelled, and nobody else. */
static void expect_victim(uint32_t count, uint32_t every, uint64_t number) {
    struct crowd crowd;
    gather(&crowd, count, every);
    drawn = number;
    drawn_below = 0;
    bz_cancel_one_inside(crowd.world, crowd.tasks, count, 1u << BZ_OP_ACQUIRE);
    cr_assert_eq(drawn_below, count / every);
    cr_assert_eq(drawn_favoured, 0);
    for (uint32_t index = 0; index < count; index++) {
        bool is_victim = index + 1 == (number + 1) * every;
        cr_assert_eq(bz_task_cancelling(crowd.tasks[index]), is_victim, "%u of %u, task %u",
                     (unsigned)number, count, index + 1);
    }
    bz_world_destroy(crowd.world);
}

Test(canceller, strikes_the_one_that_is_drawn) {
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 128, 129, TASKS_MAX};
    for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
        for (uint64_t number = 0; number < counts[index]; number++) {
            expect_victim(counts[index], 1, number);
        }
        for (uint64_t number = 0; number < counts[index] / 3; number++) {
            expect_victim(counts[index], 3, number);
        }
    }
}

Test(canceller, draws_nothing_where_nobody_waits) {
    struct crowd crowd;
    gather(&crowd, TASKS_MAX, TASKS_MAX + 1);
    drawn_below = 0;
    bz_cancel_one_inside(crowd.world, crowd.tasks, crowd.count, 1u << BZ_OP_ACQUIRE);
    cr_assert_eq(drawn_below, 0);
    bz_world_destroy(crowd.world);
}

/* The first `count` of those that wait are woken, and have not resumed. */
Test(canceller, favours_those_that_were_woken) {
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 128};
    for (size_t index = 0; index < sizeof counts / sizeof counts[0]; index++) {
        struct crowd crowd;
        gather(&crowd, TASKS_MAX, 1);
        struct bz_semaphore *semaphore = crowd.sut.instance;
        for (uint32_t count = 0; count < counts[index]; count++) {
            cr_assert_eq(bz_semaphore_release(semaphore), BZ_OK);
        }
        bz_cancel_one_inside(crowd.world, crowd.tasks, crowd.count, 1u << BZ_OP_ACQUIRE);
        cr_assert_eq(drawn_below, TASKS_MAX);
        cr_assert_eq(drawn_favoured,
                     counts[index] < 64 ? (UINT64_C(1) << counts[index]) - 1 : UINT64_MAX);
        bz_world_destroy(crowd.world);
    }
}

Test(canceller, a_set_has_at_most_64_tasks, .signal = SIGABRT, .init = cr_redirect_stderr) {
    struct crowd crowd;
    gather(&crowd, 65, 1);
    (void)bz_world_suspended_in(crowd.world, crowd.tasks, 65, BZ_OP_ACQUIRE);
}

/* Entries are walked if the counter says that they are up to 32; one that it knows nothing of is
 * seen then, and one that is not there. */
static void expect_queued(struct bz_semaphore *semaphore, uint32_t counter, uint32_t queued) {
    struct bz_permit_view view = {0};
    semaphore->queue.waiting_count = counter;
    bz_variant_buzzer.permits[BZ_PRIMITIVE_SEMAPHORE]->view(semaphore, &view);
    cr_assert_eq(view.waiting, counter);
    cr_assert_eq(view.queued, queued);
}

Test(view, counts_the_entries_of_the_queue) {
    for (uint32_t count = 0; count <= 40; count++) {
        struct crowd crowd;
        gather(&crowd, count, 1);
        struct bz_semaphore *semaphore = crowd.sut.instance;
        expect_queued(semaphore, count, count);
        expect_queued(semaphore, count + 1, count + 1 <= 32 ? count : count + 1);
        if (count > 0) {
            expect_queued(semaphore, count - 1,
                          count - 1 > 32 ? count - 1
                          : count < 33   ? count
                                         : 33);
        }
        expect_queued(semaphore, 0x01010101, count <= 1 ? count : 0x01010101);
        bz_world_destroy(crowd.world);
    }
}
