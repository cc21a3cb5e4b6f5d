/* A crowd: a hundred thousand guests at one semaphore. Nothing here is quadratic, or deep. */
#include "primitives/sync/lock.h"
#include "primitives/sync/semaphore.h"
#include "primitives/tests/support.h"

#define CROWD 100000u

struct crowd {
    struct bz_loop *loop;
    struct bz_semaphore semaphore;
    struct bz_lock lock;
    struct bz_task **tasks;
    uint32_t served;
    uint32_t cancelled;
    uint32_t out_of_order;
    uint32_t last_id;
};

static void note_order(struct crowd *crowd) {
    uint32_t id = bz_task_id(bz_loop_current(crowd->loop));
    crowd->out_of_order += id < crowd->last_id;
    crowd->last_id = id;
}

static enum bz_status visit_semaphore(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = bz_semaphore_acquire(&crowd->semaphore);
    if (status != BZ_OK) {
        crowd->cancelled++;
        return status;
    }
    crowd->served++;
    note_order(crowd);
    return bz_semaphore_release(&crowd->semaphore);
}

static enum bz_status visit_lock(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = bz_lock_acquire(&crowd->lock);
    if (status != BZ_OK) {
        crowd->cancelled++;
        return status;
    }
    crowd->served++;
    note_order(crowd);
    return bz_lock_release(&crowd->lock);
}

/* Everybody queues: the primitive has been taken by the test. */
static void crowd_begin(struct crowd *crowd, bz_task_fn *visit) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    *crowd = (struct crowd){.loop = tst_begin_with(&config)};
    bz_semaphore_init(&crowd->semaphore, crowd->loop, 0);
    bz_lock_init(&crowd->lock, crowd->loop);
    tst_status(bz_lock_acquire(&crowd->lock), BZ_OK);
    crowd->tasks = calloc(CROWD, sizeof crowd->tasks[0]);
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd->tasks[index] = tst_spawn(crowd->loop, visit, crowd);
    }
    tst_turn(crowd->loop);
}

static void crowd_end(struct crowd *crowd, uint32_t served, uint32_t cancelled) {
    tst_run(crowd->loop);
    cr_assert(eq(u32, crowd->served, served));
    cr_assert(eq(u32, crowd->cancelled, cancelled));
    cr_assert(eq(u32, crowd->out_of_order, 0));
    for (uint32_t index = 0; index < CROWD; index++) {
        cr_assert(bz_task_is_done(crowd->tasks[index]));
        bz_task_free(crowd->tasks[index]);
    }
    free(crowd->tasks);
    tst_end(crowd->loop);
}

/* One permit goes round, from the first to the last. */
Test(crowd, is_served_by_one_permit) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    cr_assert(eq(u32, crowd.semaphore.queue.waiting_count, CROWD));
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    crowd_end(&crowd, CROWD, 0);
    cr_assert(eq(u32, crowd.semaphore.value, 1));
}

/* All are woken in one turn: a ready queue of a hundred thousand. */
Test(crowd, is_woken_in_one_turn) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    for (uint32_t count = 0; count < CROWD; count++) {
        tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    }
    cr_assert(eq(u32, crowd.semaphore.queue.woken_count, CROWD));
    cr_assert(eq(u32, crowd.semaphore.value, 0));
    crowd_end(&crowd, CROWD, 0);
    cr_assert(eq(u32, crowd.semaphore.value, CROWD));
}

/* All are cancelled, newest first, which a queue that is searched from its head would feel. */
Test(crowd, is_cancelled_newest_first) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    for (uint32_t index = CROWD; index-- > 0;) {
        cr_assert(bz_task_cancel(crowd.tasks[index]));
    }
    cr_assert(eq(u32, crowd.semaphore.queue.waiting_count, 0));
    cr_assert(eq(u32, crowd.semaphore.queue.cancelled_count, CROWD));
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    cr_assert(not(bz_semaphore_locked(&crowd.semaphore)));
    crowd_end(&crowd, 0, CROWD);
    cr_assert(eq(u32, crowd.semaphore.value, 1));
}

/* All but the last are cancelled; one release finds it at once. */
Test(crowd, of_the_dead_does_not_hide_the_living) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        cr_assert(bz_task_cancel(crowd.tasks[index]));
    }
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    cr_assert(eq(u32, crowd.semaphore.queue.woken_count, 1));
    crowd_end(&crowd, 1, CROWD - 1);
}

/* Every woken one is cancelled in its window, one after the other: the permit runs through the
 * whole queue, a turn each, on no deeper stack. */
static void cancel_in_the_window(struct crowd *crowd, struct bz_waitq *queue) {
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        cr_assert(eq(u32, queue->woken_count, 1));
        cr_assert(bz_task_cancel(crowd->tasks[index]));
        tst_turn(crowd->loop);
        cr_assert(eq(u32, queue->waiting_count, CROWD - index - 2));
    }
}

Test(crowd, is_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    cancel_in_the_window(&crowd, &crowd.semaphore.queue);
    crowd_end(&crowd, 1, CROWD - 1);
    cr_assert(eq(u32, crowd.semaphore.value, 1));
}

Test(crowd, at_a_lock_is_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_lock);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    cancel_in_the_window(&crowd, &crowd.lock.queue);
    crowd_end(&crowd, 1, CROWD - 1);
    cr_assert(not(bz_lock_locked(&crowd.lock)));
}

Test(crowd, at_a_lock_is_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_lock);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, CROWD, 0);
    cr_assert(not(bz_lock_locked(&crowd.lock)));
}
