/* The queue that the primitives are built on: order, counts, values, and the outcome of a wait. */
#include "primitives/sync/waitq.h"
#include "primitives/tests/support.h"

#define WAITERS 5u

struct stage {
    struct bz_loop *loop;
    struct bz_waitq queue;
    struct bz_task *tasks[WAITERS];
    struct bz_wait_outcome outcomes[WAITERS];
    struct tst_log log;
    uint32_t next;
};

static enum bz_status wait_once(void *arg) {
    struct stage *stage = arg;
    uint32_t index = stage->next++;
    stage->outcomes[index] = bz_waitq_wait(&stage->queue);
    tst_say(&stage->log, "%c", 'a' + (int)index);
    return stage->outcomes[index].status;
}

static void stage_begin(struct stage *stage) {
    *stage = (struct stage){.loop = tst_begin()};
    bz_waitq_init(&stage->queue, stage->loop);
    for (uint32_t index = 0; index < WAITERS; index++) {
        stage->tasks[index] = tst_spawn(stage->loop, wait_once, stage);
    }
    tst_turn(stage->loop);
}

static void expect_counts(const struct stage *stage, uint32_t waiting, uint32_t woken,
                          uint32_t cancelled) {
    cr_assert(eq(u32, stage->queue.waiting_count, waiting), "W");
    cr_assert(eq(u32, stage->queue.woken_count, woken), "R");
    cr_assert(eq(u32, stage->queue.cancelled_count, cancelled), "C");
    cr_assert(eq(int, bz_waitq_has_waiting(&stage->queue), waiting > 0));
    cr_assert(eq(int, bz_list_is_empty(&stage->queue.waiting), waiting == 0));
}

static void stage_end(struct stage *stage, const char *story) {
    tst_run(stage->loop);
    tst_expect(&stage->log, story);
    expect_counts(stage, 0, 0, 0);
    for (uint32_t index = 0; index < WAITERS; index++) {
        cr_assert(bz_task_is_done(stage->tasks[index]));
        bz_task_free(stage->tasks[index]);
    }
    tst_end(stage->loop);
}

Test(waitq, wakes_the_oldest_with_a_value) {
    struct stage stage;
    stage_begin(&stage);
    expect_counts(&stage, 5, 0, 0);
    for (uint32_t index = 0; index < WAITERS; index++) {
        cr_assert(bz_waitq_wake_oldest(&stage.queue, 100 + index));
        expect_counts(&stage, WAITERS - index - 1, index + 1, 0);
    }
    cr_assert(not(bz_waitq_wake_oldest(&stage.queue, 0)));
    tst_expect(&stage.log, "");
    stage_end(&stage, "a b c d e");
    for (uint32_t index = 0; index < WAITERS; index++) {
        tst_status(stage.outcomes[index].status, BZ_OK);
        cr_assert(stage.outcomes[index].was_woken);
        cr_assert(eq(u64, stage.outcomes[index].value, 100 + index));
    }
}

/* The four states of a waiter, side by side: a was woken, b woken and cancelled, c cancelled, d
 * cancelled twice, e waits. */
Test(waitq, tells_the_four_states_apart) {
    struct stage stage;
    stage_begin(&stage);
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 1));
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 2));
    cr_assert(bz_task_cancel(stage.tasks[1]));
    cr_assert(bz_task_cancel(stage.tasks[2]));
    cr_assert(bz_task_cancel(stage.tasks[3]));
    cr_assert(bz_task_cancel(stage.tasks[3]));
    expect_counts(&stage, 1, 2, 2);
    tst_turn(stage.loop);
    expect_counts(&stage, 1, 0, 0);
    tst_expect(&stage.log, "a b c d");
    tst_status(stage.outcomes[0].status, BZ_OK);
    cr_assert(stage.outcomes[0].was_woken);
    tst_status(stage.outcomes[1].status, BZ_CANCELLED);
    cr_assert(stage.outcomes[1].was_woken, "what it was given must be handed on");
    cr_assert(eq(u64, stage.outcomes[1].value, 2));
    tst_status(stage.outcomes[2].status, BZ_CANCELLED);
    cr_assert(not(stage.outcomes[2].was_woken));
    tst_status(stage.outcomes[3].status, BZ_CANCELLED);
    cr_assert(not(stage.outcomes[3].was_woken));
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 5));
    stage_end(&stage, "a b c d e");
    cr_assert(eq(u64, stage.outcomes[4].value, 5));
}

/* A wake-up goes to the oldest that lives, without a look at the dead. */
Test(waitq, passes_over_the_cancelled) {
    struct stage stage;
    stage_begin(&stage);
    cr_assert(bz_task_cancel(stage.tasks[0]));
    cr_assert(bz_task_cancel(stage.tasks[1]));
    cr_assert(bz_task_cancel(stage.tasks[3]));
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 7));
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 8));
    cr_assert(not(bz_waitq_wake_oldest(&stage.queue, 9)));
    expect_counts(&stage, 0, 2, 3);
    stage_end(&stage, "a b d c e");
    cr_assert(eq(u64, stage.outcomes[2].value, 7));
    cr_assert(eq(u64, stage.outcomes[4].value, 8));
}

/* All that wait now, and no others: not who was woken before, nor the dead. */
Test(waitq, wakes_all_in_order) {
    struct stage stage;
    stage_begin(&stage);
    cr_assert(bz_waitq_wake_oldest(&stage.queue, 1));
    cr_assert(bz_task_cancel(stage.tasks[2]));
    cr_assert(eq(u32, bz_waitq_wake_all(&stage.queue, 3), 3));
    expect_counts(&stage, 0, 4, 1);
    cr_assert(eq(u32, bz_waitq_wake_all(&stage.queue, 4), 0));
    stage_end(&stage, "a c b d e");
    cr_assert(eq(u64, stage.outcomes[0].value, 1));
    cr_assert(eq(u64, stage.outcomes[1].value, 3));
    tst_status(stage.outcomes[2].status, BZ_CANCELLED);
    cr_assert(eq(u64, stage.outcomes[4].value, 3));
}
