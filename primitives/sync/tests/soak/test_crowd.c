/* A crowd at each primitive. Nothing here is quadratic, or deep. */
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/semaphore.h"
#include "primitives/tests/long.h"
#include "primitives/tests/support.h"

/* Each has a stack, whose pages are most of the time. */
#define CROWD TST_LONG(20000u, BZ_SAN_ADDRESS ? 20000u : 100000u)

struct crowd {
    struct bz_loop *loop;
    struct bz_semaphore semaphore;
    struct bz_lock lock;
    struct bz_sync_event event;
    struct bz_condition condition;
    struct bz_barrier barrier;
    struct bz_queue queue;
    struct bz_task **tasks;
    uint32_t statuses[BZ_STATUS_COUNT]; /* how often each was told */
    uint32_t out_of_order;
    uint32_t last_id;
};

/* --- visits ----------------------------------------------------------------------------------- */

static enum bz_status note(struct crowd *crowd, enum bz_status status) {
    crowd->statuses[status]++;
    if (status == BZ_OK) {
        uint32_t id = bz_task_id(bz_loop_current(crowd->loop));
        crowd->out_of_order += id < crowd->last_id;
        crowd->last_id = id;
    }
    return status;
}

static enum bz_status visit_semaphore(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = note(crowd, bz_semaphore_acquire(&crowd->semaphore));
    return status == BZ_OK ? bz_semaphore_release(&crowd->semaphore) : status;
}

static enum bz_status visit_lock(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = note(crowd, bz_lock_acquire(&crowd->lock));
    return status == BZ_OK ? bz_lock_release(&crowd->lock) : status;
}

static enum bz_status visit_event(void *arg) {
    struct crowd *crowd = arg;
    return note(crowd, bz_sync_event_wait(&crowd->event));
}

static enum bz_status visit_condition(void *arg) {
    struct crowd *crowd = arg;
    tst_status(bz_lock_acquire(&crowd->lock), BZ_OK);
    enum bz_status status = note(crowd, bz_condition_wait(&crowd->condition));
    tst_status(bz_lock_release(&crowd->lock), BZ_OK);
    return status;
}

/* Served in order, so that the n-th has the index n - 1. */
static enum bz_status visit_barrier(void *arg) {
    struct crowd *crowd = arg;
    uint32_t index = 0;
    enum bz_status status = note(crowd, bz_barrier_wait(&crowd->barrier, &index));
    cr_assert(status != BZ_OK || index == crowd->statuses[BZ_OK] - 1);
    return status;
}

static enum bz_status visit_get(void *arg) {
    struct crowd *crowd = arg;
    uint64_t value = 0;
    enum bz_status status = note(crowd, bz_queue_get(&crowd->queue, &value));
    cr_assert(status != BZ_OK || value == crowd->statuses[BZ_OK] - 1);
    return status;
}

static enum bz_status visit_put(void *arg) {
    struct crowd *crowd = arg;
    uint64_t id = bz_task_id(bz_loop_current(crowd->loop));
    return note(crowd, bz_queue_put(&crowd->queue, id));
}

/* --- the crowd -------------------------------------------------------------------------------- */

/* Everybody comes and waits, but for the lock of a condition: semaphore and event are empty, the
 * barrier lacks one, the queue is empty, or full of one item. */
static void crowd_begin(struct crowd *crowd, bz_task_fn *visit) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    *crowd = (struct crowd){.loop = tst_begin_with(&config)};
    uint32_t maxsize = visit == visit_put ? 1 : 0;
    bz_semaphore_init(&crowd->semaphore, crowd->loop, 0);
    bz_lock_init(&crowd->lock, crowd->loop);
    bz_sync_event_init(&crowd->event, crowd->loop);
    bz_condition_init(&crowd->condition, &crowd->lock);
    tst_status(bz_barrier_init(&crowd->barrier, crowd->loop, CROWD + 1), BZ_OK);
    tst_status(bz_queue_init(&crowd->queue, crowd->loop, BZ_QUEUE_FIFO, maxsize), BZ_OK);
    tst_status(visit == visit_put ? bz_queue_put(&crowd->queue, 0) : BZ_OK, BZ_OK);
    tst_status(visit == visit_lock ? bz_lock_acquire(&crowd->lock) : BZ_OK, BZ_OK);
    crowd->tasks = calloc(CROWD, sizeof crowd->tasks[0]);
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd->tasks[index] = tst_spawn(crowd->loop, visit, crowd);
    }
    tst_turn(crowd->loop);
}

static void crowd_cancel(struct crowd *crowd, uint32_t index) {
    cr_assert(bz_task_cancel(crowd->tasks[index]));
}

/* From the newest one on, which a queue that is searched from its head would feel. */
static void crowd_cancel_down_to(struct crowd *crowd, uint32_t first) {
    for (uint32_t index = CROWD; index-- > first;) {
        crowd_cancel(crowd, index);
    }
}

/* Every woken one is cancelled in its window, one after the other: what it was woken for runs
 * through the whole queue, a turn each, on no deeper stack. */
static void crowd_cancel_in_the_window(struct crowd *crowd, struct bz_waitq *queue) {
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        cr_assert_eq(queue->woken_count, 1);
        crowd_cancel(crowd, index);
        tst_turn(crowd->loop);
        cr_assert_eq(queue->waiting_count, CROWD - index - 2);
    }
}

/* Those who were neither served nor cancelled were told `otherwise`. */
static void crowd_end(struct crowd *crowd, uint32_t served, uint32_t cancelled,
                      enum bz_status otherwise) {
    tst_run(crowd->loop);
    cr_assert_eq(crowd->statuses[BZ_OK], served);
    cr_assert_eq(crowd->statuses[BZ_CANCELLED], cancelled);
    cr_assert(otherwise == BZ_OK || crowd->statuses[otherwise] == CROWD - served - cancelled);
    cr_assert_eq(crowd->out_of_order, 0);
    for (uint32_t index = 0; index < CROWD; index++) {
        cr_assert(bz_task_is_done(crowd->tasks[index]));
        bz_task_free(crowd->tasks[index]);
    }
    free(crowd->tasks);
    bz_queue_fini(&crowd->queue);
    tst_end(crowd->loop);
}

/* --- semaphore and lock ----------------------------------------------------------------------- */

/* One permit goes round, from the first to the last. */
Test(crowd, is_served_by_one_permit) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    cr_assert_eq(crowd.semaphore.queue.waiting_count, CROWD);
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
    cr_assert_eq(crowd.semaphore.value, 1);
}

/* All are woken in one turn: a long ready queue. */
Test(crowd, is_woken_in_one_turn) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    for (uint32_t count = 0; count < CROWD; count++) {
        tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    }
    cr_assert_eq(crowd.semaphore.queue.woken_count, CROWD);
    cr_assert_eq(crowd.semaphore.value, 0);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
    cr_assert_eq(crowd.semaphore.value, CROWD);
}

Test(crowd, is_cancelled_newest_first) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    crowd_cancel_down_to(&crowd, 0);
    cr_assert_eq(crowd.semaphore.queue.waiting_count, 0);
    cr_assert_eq(crowd.semaphore.queue.cancelled_count, CROWD);
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    cr_assert_not(bz_semaphore_locked(&crowd.semaphore));
    crowd_end(&crowd, 0, CROWD, BZ_OK);
    cr_assert_eq(crowd.semaphore.value, 1);
}

/* All but the last are cancelled; one release finds it at once. */
Test(crowd, of_the_dead_does_not_hide_the_living) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        crowd_cancel(&crowd, index);
    }
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    cr_assert_eq(crowd.semaphore.queue.woken_count, 1);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
}

Test(crowd, is_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_semaphore);
    tst_status(bz_semaphore_release(&crowd.semaphore), BZ_OK);
    crowd_cancel_in_the_window(&crowd, &crowd.semaphore.queue);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
    cr_assert_eq(crowd.semaphore.value, 1);
}

Test(crowd, at_a_lock_is_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_lock);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_cancel_in_the_window(&crowd, &crowd.lock.queue);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
    cr_assert_not(bz_lock_locked(&crowd.lock));
}

Test(crowd, at_a_lock_is_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_lock);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
    cr_assert_not(bz_lock_locked(&crowd.lock));
}

/* --- event ------------------------------------------------------------------------------------ */

Test(crowd_hall, event_wakes_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_event);
    cr_assert_eq(crowd.event.queue.waiting_count, CROWD);
    bz_sync_event_set(&crowd.event);
    cr_assert_eq(crowd.event.queue.woken_count, CROWD);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
}

Test(crowd_hall, event_is_given_up_newest_first) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_event);
    crowd_cancel_down_to(&crowd, 1);
    bz_sync_event_set(&crowd.event);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
}

/* --- condition -------------------------------------------------------------------------------- */

/* All are notified, and queue for the lock, which the test holds. */
static void crowd_notify_all(struct crowd *crowd) {
    cr_assert_eq(crowd->condition.queue.waiting_count, CROWD);
    tst_status(bz_lock_acquire(&crowd->lock), BZ_OK);
    tst_status(bz_condition_notify_all(&crowd->condition), BZ_OK);
    tst_turn(crowd->loop);
    cr_assert_eq(crowd->lock.queue.waiting_count, CROWD);
}

Test(crowd_hall, condition_notifies_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition);
    crowd_notify_all(&crowd);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
}

/* One notification runs through the whole crowd: each that has it is cancelled. */
Test(crowd_hall, condition_hands_a_notification_through) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition);
    tst_status(bz_lock_acquire(&crowd.lock), BZ_OK);
    tst_status(bz_condition_notify(&crowd.condition, 1), BZ_OK);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_cancel_in_the_window(&crowd, &crowd.condition.queue);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
}

/* All are cancelled in the queue of the lock. */
Test(crowd_hall, condition_is_given_up_on_the_way_to_the_lock) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition);
    crowd_notify_all(&crowd);
    crowd_cancel_down_to(&crowd, 0);
    tst_turn(crowd.loop);
    cr_assert_eq(crowd.lock.queue.waiting_count, CROWD);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, 0, CROWD, BZ_OK);
}

/* --- barrier ---------------------------------------------------------------------------------- */

Test(crowd_hall, barrier_passes_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_barrier);
    uint32_t index = 0;
    tst_status(bz_barrier_wait(&crowd.barrier, &index), BZ_OK);
    cr_assert_eq(index, CROWD);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
}

Test(crowd_hall, barrier_breaks_for_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_barrier);
    crowd_cancel(&crowd, 7);
    bz_barrier_abort(&crowd.barrier);
    crowd_end(&crowd, 0, 1, BZ_BROKEN);
}

/* --- queue ------------------------------------------------------------------------------------ */

Test(crowd_hall, getters_are_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_get);
    for (uint64_t value = 0; value < CROWD; value++) {
        tst_status(bz_queue_put(&crowd.queue, value), BZ_OK);
    }
    cr_assert_eq(crowd.queue.getters.woken_count, CROWD);
    crowd_end(&crowd, CROWD, 0, BZ_OK);
}

Test(crowd_hall, getters_are_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_get);
    tst_status(bz_queue_put(&crowd.queue, 0), BZ_OK);
    crowd_cancel_in_the_window(&crowd, &crowd.queue.getters);
    crowd_end(&crowd, 1, CROWD - 1, BZ_OK);
}

/* The items are the numbers of the tasks, from 1 on. */
Test(crowd_hall, putters_are_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_put);
    cr_assert_eq(crowd.queue.putters.waiting_count, CROWD);
    for (uint64_t expected = 0; expected <= CROWD; expected++) {
        uint64_t value = UINT64_MAX;
        tst_status(bz_queue_try_get(&crowd.queue, &value), BZ_OK);
        cr_assert_eq(value, expected);
        tst_turn(crowd.loop);
    }
    crowd_end(&crowd, CROWD, 0, BZ_OK);
}

Test(crowd_hall, queue_is_closed_for_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_put);
    crowd_cancel_down_to(&crowd, CROWD / 2);
    bz_queue_shutdown(&crowd.queue, false);
    crowd_end(&crowd, 0, CROWD - CROWD / 2, BZ_CLOSED);
}
