/* A crowd at each of event, condition, barrier and queue. Nothing here is quadratic, or deep. */
#include "primitives/runtime/coro/san.h"
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/queue.h"
#include "primitives/tests/support.h"

#if BZ_SAN_ADDRESS
#define CROWD 20000u
#else
#define CROWD 100000u
#endif

struct crowd {
    struct bz_loop *loop;
    struct bz_sync_event event;
    struct bz_lock lock;
    struct bz_condition condition;
    struct bz_barrier barrier;
    struct bz_queue queue;
    struct bz_task **tasks;
    uint32_t served;
    uint32_t cancelled;
    uint32_t broken;
    uint32_t closed;
    uint32_t out_of_order;
    uint32_t last_id;
};

static enum bz_status note(struct crowd *crowd, enum bz_status status) {
    crowd->cancelled += status == BZ_CANCELLED;
    crowd->broken += status == BZ_BROKEN;
    crowd->closed += status == BZ_CLOSED;
    if (status == BZ_OK) {
        uint32_t id = bz_task_id(bz_loop_current(crowd->loop));
        crowd->served++;
        crowd->out_of_order += id < crowd->last_id;
        crowd->last_id = id;
    }
    return status;
}

static enum bz_status visit_event(void *arg) {
    struct crowd *crowd = arg;
    return note(crowd, bz_sync_event_wait(&crowd->event));
}

static enum bz_status visit_condition(void *arg) {
    struct crowd *crowd = arg;
    enum bz_status status = bz_lock_acquire(&crowd->lock);
    tst_status(status, BZ_OK);
    status = note(crowd, bz_condition_wait(&crowd->condition));
    tst_status(bz_lock_release(&crowd->lock), BZ_OK);
    return status;
}

static enum bz_status visit_barrier(void *arg) {
    struct crowd *crowd = arg;
    uint32_t index = 0;
    enum bz_status status = note(crowd, bz_barrier_wait(&crowd->barrier, &index));
    if (status == BZ_OK) { /* served in order, so that the n-th has the index n - 1 */
        cr_assert(eq(u32, index, crowd->served - 1));
    }
    return status;
}

static enum bz_status visit_get(void *arg) {
    struct crowd *crowd = arg;
    uint64_t value = 0;
    enum bz_status status = note(crowd, bz_queue_get(&crowd->queue, &value));
    if (status == BZ_OK) {
        cr_assert(eq(u64, value, crowd->served - 1));
    }
    return status;
}

static enum bz_status visit_put(void *arg) {
    struct crowd *crowd = arg;
    uint64_t id = bz_task_id(bz_loop_current(crowd->loop));
    return note(crowd, bz_queue_put(&crowd->queue, id));
}

/* Everybody comes and waits. */
static void crowd_begin(struct crowd *crowd, bz_task_fn *visit, uint32_t maxsize) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    *crowd = (struct crowd){.loop = tst_begin_with(&config)};
    bz_sync_event_init(&crowd->event, crowd->loop);
    bz_lock_init(&crowd->lock, crowd->loop);
    bz_condition_init(&crowd->condition, &crowd->lock);
    tst_status(bz_barrier_init(&crowd->barrier, crowd->loop, CROWD + 1), BZ_OK);
    tst_status(bz_queue_init(&crowd->queue, crowd->loop, BZ_QUEUE_FIFO, maxsize), BZ_OK);
    if (maxsize > 0) {
        tst_status(bz_queue_put(&crowd->queue, 0), BZ_OK);
    }
    crowd->tasks = calloc(CROWD, sizeof crowd->tasks[0]);
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd->tasks[index] = tst_spawn(crowd->loop, visit, crowd);
    }
    tst_turn(crowd->loop);
}

static void crowd_cancel(struct crowd *crowd, uint32_t index) {
    cr_assert(bz_task_cancel(crowd->tasks[index]));
}

static void crowd_end(struct crowd *crowd, uint32_t served, uint32_t cancelled) {
    tst_run(crowd->loop);
    cr_assert(eq(u32, crowd->served, served));
    cr_assert(eq(u32, crowd->cancelled, cancelled));
    cr_assert(eq(u32, crowd->broken + crowd->closed, CROWD - served - cancelled));
    cr_assert(eq(u32, crowd->out_of_order, 0));
    for (uint32_t index = 0; index < CROWD; index++) {
        cr_assert(bz_task_is_done(crowd->tasks[index]));
        bz_task_free(crowd->tasks[index]);
    }
    free(crowd->tasks);
    bz_queue_fini(&crowd->queue);
    tst_end(crowd->loop);
}

/* --- event ------------------------------------------------------------------------------------ */

Test(crowd_hall, event_wakes_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_event, 0);
    cr_assert(eq(u32, crowd.event.queue.waiting_count, CROWD));
    bz_sync_event_set(&crowd.event);
    cr_assert(eq(u32, crowd.event.queue.woken_count, CROWD));
    crowd_end(&crowd, CROWD, 0);
}

Test(crowd_hall, event_is_given_up_newest_first) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_event, 0);
    for (uint32_t index = CROWD; index-- > 1;) {
        crowd_cancel(&crowd, index);
    }
    bz_sync_event_set(&crowd.event);
    crowd_end(&crowd, 1, CROWD - 1);
}

/* --- condition -------------------------------------------------------------------------------- */

Test(crowd_hall, condition_notifies_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition, 0);
    cr_assert(eq(u32, crowd.condition.queue.waiting_count, CROWD));
    tst_status(bz_lock_acquire(&crowd.lock), BZ_OK);
    tst_status(bz_condition_notify_all(&crowd.condition), BZ_OK);
    tst_turn(crowd.loop);
    cr_assert(eq(u32, crowd.lock.queue.waiting_count, CROWD));
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, CROWD, 0);
}

/* One notification runs through the whole crowd: each that has it is cancelled. */
Test(crowd_hall, condition_hands_a_notification_through) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition, 0);
    tst_status(bz_lock_acquire(&crowd.lock), BZ_OK);
    tst_status(bz_condition_notify(&crowd.condition, 1), BZ_OK);
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        crowd_cancel(&crowd, index);
        tst_turn(crowd.loop);
        cr_assert(eq(u32, crowd.condition.queue.waiting_count, CROWD - index - 2));
    }
    crowd_end(&crowd, 1, CROWD - 1);
}

/* All are notified, and cancelled in the queue of the lock. */
Test(crowd_hall, condition_is_given_up_on_the_way_to_the_lock) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_condition, 0);
    tst_status(bz_lock_acquire(&crowd.lock), BZ_OK);
    tst_status(bz_condition_notify_all(&crowd.condition), BZ_OK);
    tst_turn(crowd.loop);
    for (uint32_t index = CROWD; index-- > 0;) {
        crowd_cancel(&crowd, index);
    }
    tst_turn(crowd.loop);
    cr_assert(eq(u32, crowd.lock.queue.waiting_count, CROWD));
    tst_status(bz_lock_release(&crowd.lock), BZ_OK);
    crowd_end(&crowd, 0, CROWD);
}

/* --- barrier ---------------------------------------------------------------------------------- */

Test(crowd_hall, barrier_passes_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_barrier, 0);
    uint32_t index = 0;
    tst_status(bz_barrier_wait(&crowd.barrier, &index), BZ_OK);
    cr_assert(eq(u32, index, CROWD));
    crowd_end(&crowd, CROWD, 0);
}

Test(crowd_hall, barrier_breaks_for_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_barrier, 0);
    crowd_cancel(&crowd, 7);
    bz_barrier_abort(&crowd.barrier);
    crowd_end(&crowd, 0, 1);
    cr_assert(eq(u32, crowd.broken, CROWD - 1));
}

/* --- queue ------------------------------------------------------------------------------------ */

Test(crowd_hall, getters_are_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_get, 0);
    for (uint64_t value = 0; value < CROWD; value++) {
        tst_status(bz_queue_put(&crowd.queue, value), BZ_OK);
    }
    cr_assert(eq(u32, crowd.queue.getters.woken_count, CROWD));
    crowd_end(&crowd, CROWD, 0);
}

/* The item runs through all of them. */
Test(crowd_hall, getters_are_cancelled_in_the_window_one_by_one) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_get, 0);
    tst_status(bz_queue_put(&crowd.queue, 0), BZ_OK);
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        crowd_cancel(&crowd, index);
        tst_turn(crowd.loop);
        cr_assert(eq(u32, crowd.queue.getters.waiting_count, CROWD - index - 2));
    }
    crowd_end(&crowd, 1, CROWD - 1);
}

Test(crowd_hall, putters_are_served_in_order) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_put, 1);
    cr_assert(eq(u32, crowd.queue.putters.waiting_count, CROWD));
    for (uint64_t expected = 0; expected <= CROWD; expected++) {
        uint64_t value = UINT64_MAX;
        tst_status(bz_queue_try_get(&crowd.queue, &value), BZ_OK);
        cr_assert(eq(u64, value, expected)); /* the numbers of the tasks, from 1 on */
        tst_turn(crowd.loop);
    }
    crowd_end(&crowd, CROWD, 0);
}

Test(crowd_hall, queue_is_closed_for_all) {
    struct crowd crowd;
    crowd_begin(&crowd, visit_put, 1);
    for (uint32_t index = CROWD; index-- > CROWD / 2;) {
        crowd_cancel(&crowd, index);
    }
    bz_queue_shutdown(&crowd.queue, false);
    crowd_end(&crowd, 0, CROWD - CROWD / 2);
    cr_assert(eq(u32, crowd.closed, CROWD / 2));
}
