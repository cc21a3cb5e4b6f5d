/* Events. */
#include "scenarios/zoo/parts.h"

/* embassy-4598: a reset of the signal forgets those that wait for it.
 *
 * The signal is one cell: empty, a value, or the waker of a task. A reset empties the cell, also if
 * a waker is in it.
 *
 *     B waits; A resets the signal; A sets it: B sleeps on
 *
 * The cure: a reset drops a value, and leaves a waker. */
static void embassy_4598_clear(void *instance) {
    struct bz_flag *event = instance;
    event->is_set = false;
    while (bz_deque_pop(&event->waiters) != NULL) { /* the fault */
    }
}

BZ_ZOO_ENTRY(event, embassy_4598, BZ_FLAG, .clear = embassy_4598_clear);

/* embassy-1922: two tasks that wait for one signal wake each other forever.
 *
 * The signal has room for the waker of one task. A second one that waits wakes the first, whose
 * place it takes; that one finds no value, waits again, and wakes the second.
 *
 *     B waits; C waits: B looks, C looks, B looks ...
 *
 * The cure: a list of wakers, or an error for the second. */
static enum bz_status embassy_1922_wait(void *instance) {
    struct bz_flag *event = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !event->is_set) {
        struct bz_waiter waiter;
        (void)bz_deque_wake_oldest(&event->waiters); /* the fault */
        status = bz_deque_wait(&event->waiters, &waiter);
    }
    return status;
}

BZ_ZOO_ENTRY(event, embassy_1922, BZ_FLAG, .wait = embassy_1922_wait);

/* libunifex-610: the cancel of one wait is taken for the end of the event.
 *
 * An event that is also a stream has an end: after it, every wait returns at once. A stop of the
 * stream ends the event, and so did the stop of a single wait, as of one in a race with a timer.
 *
 *     B and C wait; B is cancelled: C returns, and no task has set the event
 *
 * The cure: a wait that is stopped leaves the queue, and nothing else. */
static enum bz_status libunifex_610_wait(void *instance) {
    struct bz_flag *event = instance;
    enum bz_status status = bz_flag_wait(event);
    while (status != BZ_OK && bz_deque_wake_oldest(&event->waiters)) { /* the fault */
    }
    return status;
}

BZ_ZOO_ENTRY(event, libunifex_610, BZ_FLAG, .wait = libunifex_610_wait);

/* aiodataloader-44: one load of a batch is cancelled, and those behind it never end.
 *
 * A batch answers its loads in order. The answer to one that was cancelled raises an exception,
 * which ends the loop.
 *
 *     B and C wait; B is cancelled; the answers come before B has resumed: C waits forever
 *
 * The cure: leave out those that are done. */
static void aiodataloader_44_set(void *instance) {
    struct bz_flag *event = instance;
    struct bz_waiter *waiter = NULL;
    event->is_set = true;
    while ((waiter = bz_deque_next(&event->waiters, waiter)) != NULL) {
        if (waiter->future.state == BZ_FUTURE_CANCELLED) {
            return; /* the fault */
        }
        (void)bz_future_set_result(&waiter->future, 0);
    }
}

BZ_ZOO_ENTRY(event, aiodataloader_44, BZ_FLAG, .set = aiodataloader_44_set);
