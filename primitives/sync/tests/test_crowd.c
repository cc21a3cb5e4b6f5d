/* A crowd at each primitive. Nothing here is quadratic, or deep. */
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/semaphore.h"
#include "primitives/tests/long.h"
#include "primitives/tests/support.h"

/* Each has a stack, whose pages are most of the time. */
#define CROWD TST_LONG(4000u, BZ_SAN_ADDRESS ? 20000u : 100000u)

struct crowd;

/* A row of the table below. Those who are not cancelled get `otherwise`. */
struct play {
    const char *name;
    bz_task_fn *visit;
    void (*act)(struct crowd *crowd);
    void (*give)(struct crowd *crowd); /* what one visitor, or all, wait for */
    size_t queue;                      /* the offset of that in which they wait */
    enum bz_status otherwise;
};

struct crowd {
    struct bz_loop *loop;
    const struct play *play;
    struct bz_semaphore semaphore;
    struct bz_lock lock;
    struct bz_sync_event event;
    struct bz_condition condition;
    struct bz_barrier barrier;
    struct bz_queue queue;
    struct bz_task **tasks;
    uint32_t statuses[BZ_STATUS_COUNT]; /* how often each was returned */
    uint32_t cancelled;
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

/* --- what they wait for ----------------------------------------------------------------------- */

static void give_permit(struct crowd *crowd) {
    tst_status(bz_semaphore_release(&crowd->semaphore), BZ_OK);
}

static void give_lock(struct crowd *crowd) {
    tst_status(bz_lock_release(&crowd->lock), BZ_OK);
}

static void give_event(struct crowd *crowd) {
    bz_sync_event_set(&crowd->event);
}

static void notify(struct crowd *crowd, uint32_t count) {
    tst_status(bz_lock_acquire(&crowd->lock), BZ_OK);
    tst_status(bz_condition_notify(&crowd->condition, count), BZ_OK);
}

static void give_notification(struct crowd *crowd) {
    notify(crowd, 1);
    give_lock(crowd);
}

static void give_round(struct crowd *crowd) {
    uint32_t index = 0;
    tst_status(bz_barrier_wait(&crowd->barrier, &index), BZ_OK);
    cr_assert_eq(index, CROWD);
}

static void give_item(struct crowd *crowd) {
    tst_status(bz_queue_put(&crowd->queue, bz_queue_size(&crowd->queue)), BZ_OK);
}

static struct bz_waitq *queue_of(struct crowd *crowd) {
    return (struct bz_waitq *)(void *)((char *)crowd + crowd->play->queue);
}

/* --- acts ------------------------------------------------------------------------------------- */

static void give_once(struct crowd *crowd) {
    crowd->play->give(crowd);
}

/* All are woken in one turn: a long ready queue. */
static void give_to_each(struct crowd *crowd) {
    for (uint32_t count = 0; count < CROWD; count++) {
        crowd->play->give(crowd);
    }
    cr_assert_eq(queue_of(crowd)->woken_count, CROWD);
}

static void cancel(struct crowd *crowd, uint32_t index) {
    cr_assert(bz_task_cancel(crowd->tasks[index]));
    crowd->cancelled++;
}

/* A queue that is searched from its head would feel this. The oldest stays. */
static void cancel_newest_first(struct crowd *crowd) {
    for (uint32_t index = CROWD; index-- > 1;) {
        cancel(crowd, index);
    }
    give_once(crowd);
}

/* The last one stays, and is found at once. */
static void cancel_oldest_first(struct crowd *crowd) {
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        cancel(crowd, index);
    }
    give_once(crowd);
    cr_assert_eq(queue_of(crowd)->woken_count, 1);
}

/* Every woken one is cancelled in its window, one after the other: what it was woken for runs
 * through the whole queue, a turn each, on no deeper stack. */
static void cancel_in_the_window(struct crowd *crowd) {
    struct bz_waitq *queue = queue_of(crowd);
    give_once(crowd);
    for (uint32_t index = 0; index + 1 < CROWD; index++) {
        cr_assert_eq(queue->woken_count, 1);
        cancel(crowd, index);
        tst_turn(crowd->loop);
        cr_assert_eq(queue->waiting_count, CROWD - index - 2);
    }
}

/* All are notified, and queue for the lock, which the test holds. The last `count` are cancelled
 * there. */
static void notify_and_cancel(struct crowd *crowd, uint32_t count) {
    notify(crowd, UINT32_MAX);
    tst_turn(crowd->loop);
    for (uint32_t index = CROWD; index-- > CROWD - count;) {
        cancel(crowd, index);
    }
    tst_turn(crowd->loop);
    cr_assert_eq(crowd->lock.queue.waiting_count, CROWD);
    give_lock(crowd);
}

static void notify_all(struct crowd *crowd) {
    notify_and_cancel(crowd, 0);
}

static void cancel_on_the_way_to_the_lock(struct crowd *crowd) {
    notify_and_cancel(crowd, CROWD);
}

static void break_barrier(struct crowd *crowd) {
    cancel(crowd, 7);
    bz_barrier_abort(&crowd->barrier);
}

/* The items are the numbers of the tasks, from 1 on, behind that of the test. */
static void get_all(struct crowd *crowd) {
    for (uint64_t expected = 0; expected <= CROWD; expected++) {
        uint64_t value = UINT64_MAX;
        tst_status(bz_queue_try_get(&crowd->queue, &value), BZ_OK);
        cr_assert_eq(value, expected);
        tst_turn(crowd->loop);
    }
}

static void close_queue(struct crowd *crowd) {
    for (uint32_t index = CROWD; index-- > CROWD / 2;) {
        cancel(crowd, index);
    }
    bz_queue_shutdown(&crowd->queue, false);
}

#define AT(member) offsetof(struct crowd, member)
static const struct play plays[] = {
    {"one_permit", visit_semaphore, give_once, give_permit, AT(semaphore.queue)},
    {"permits_for_all", visit_semaphore, give_to_each, give_permit, AT(semaphore.queue)},
    {"newest_first", visit_semaphore, cancel_newest_first, give_permit, AT(semaphore.queue)},
    {"oldest_first", visit_semaphore, cancel_oldest_first, give_permit, AT(semaphore.queue)},
    {"permit_in_window", visit_semaphore, cancel_in_the_window, give_permit, AT(semaphore.queue)},
    {"lock", visit_lock, give_once, give_lock, AT(lock.queue)},
    {"lock_in_window", visit_lock, cancel_in_the_window, give_lock, AT(lock.queue)},
    {"event", visit_event, give_once, give_event, AT(event.queue)},
    {"notify_all", visit_condition, notify_all, NULL, AT(condition.queue)},
    {"notification_in_window", visit_condition, cancel_in_the_window, give_notification,
     AT(condition.queue)},
    {"on_the_way_to_the_lock", visit_condition, cancel_on_the_way_to_the_lock, NULL,
     AT(condition.queue)},
    {"barrier", visit_barrier, give_once, give_round, AT(barrier.queue)},
    {"broken_barrier", visit_barrier, break_barrier, NULL, AT(barrier.queue), BZ_BROKEN},
    {"getters", visit_get, give_to_each, give_item, AT(queue.getters)},
    {"item_in_window", visit_get, cancel_in_the_window, give_item, AT(queue.getters)},
    {"putters", visit_put, get_all, NULL, AT(queue.putters)},
    {"closed_queue", visit_put, close_queue, NULL, AT(queue.putters), BZ_CLOSED},
};

/* Everybody comes and waits: semaphore and event are empty, the barrier lacks one, the queue is
 * empty, or full of one item, and the test holds the lock, unless it is that of a condition. */
static void crowd_begin(struct crowd *crowd, const struct play *play) {
    struct bz_loop_config config = {.stack_bytes = BZ_STACK_BYTES_MIN};
    *crowd = (struct crowd){.loop = tst_begin_with(&config), .play = play};
    bool is_full = play->visit == visit_put;
    bz_semaphore_init(&crowd->semaphore, crowd->loop, 0);
    bz_lock_init(&crowd->lock, crowd->loop);
    bz_sync_event_init(&crowd->event, crowd->loop);
    bz_condition_init(&crowd->condition, &crowd->lock);
    tst_status(bz_barrier_init(&crowd->barrier, crowd->loop, CROWD + 1), BZ_OK);
    tst_status(bz_queue_init(&crowd->queue, crowd->loop, BZ_QUEUE_FIFO, is_full), BZ_OK);
    tst_status(is_full ? bz_queue_put(&crowd->queue, 0) : BZ_OK, BZ_OK);
    tst_status(play->visit == visit_lock ? bz_lock_acquire(&crowd->lock) : BZ_OK, BZ_OK);
    crowd->tasks = calloc(CROWD, sizeof crowd->tasks[0]);
    for (uint32_t index = 0; index < CROWD; index++) {
        crowd->tasks[index] = tst_spawn(crowd->loop, play->visit, crowd);
    }
    tst_turn(crowd->loop);
    cr_assert_eq(queue_of(crowd)->waiting_count, CROWD, "%s", play->name);
}

static void crowd_end(struct crowd *crowd) {
    const struct play *play = crowd->play;
    tst_run(crowd->loop);
    cr_assert_eq(crowd->statuses[play->otherwise], CROWD - crowd->cancelled, "%s", play->name);
    cr_assert_eq(crowd->statuses[BZ_CANCELLED], crowd->cancelled, "%s", play->name);
    cr_assert_eq(crowd->out_of_order, 0, "%s", play->name);
    for (uint32_t index = 0; index < CROWD; index++) {
        cr_assert(bz_task_is_done(crowd->tasks[index]));
        bz_task_free(crowd->tasks[index]);
    }
    free(crowd->tasks);
    bz_queue_fini(&crowd->queue);
    tst_end(crowd->loop);
}

Test(crowd, plays) {
    for (size_t index = 0; index < sizeof plays / sizeof plays[0]; index++) {
        struct crowd crowd;
        crowd_begin(&crowd, &plays[index]);
        plays[index].act(&crowd);
        crowd_end(&crowd);
    }
}
