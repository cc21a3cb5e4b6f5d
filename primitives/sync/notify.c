#include "primitives/sync/notify.h"

/* The waker of a waiter. */
enum { WAKE_ONE = 1, WAKE_ALL = 2 };

void bz_notify_init(struct bz_notify *notify, struct bz_loop *loop) {
    bz_waitq_init(&notify->queue, loop);
    notify->has_permit = false;
}

void bz_notify_one(struct bz_notify *notify) {
    if (!bz_waitq_wake_oldest(&notify->queue, WAKE_ONE)) {
        notify->has_permit = true;
    }
}

void bz_notify_waiters(struct bz_notify *notify) {
    bz_waitq_wake_all(&notify->queue, WAKE_ALL);
}

enum bz_status bz_notify_wait(struct bz_notify *notify) {
    if (notify->has_permit) {
        notify->has_permit = false;
        return BZ_OK;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&notify->queue);
    if (outcome.status != BZ_OK && outcome.was_woken && outcome.value == WAKE_ONE) {
        bz_notify_one(notify);
    }
    return outcome.status;
}
