#include "primitives/sync/condition.h"

void bz_condition_init(struct bz_condition *condition, struct bz_lock *lock) {
    bz_waitq_init(&condition->queue, lock->queue.loop);
    condition->lock = lock;
}

enum bz_status bz_condition_wait(struct bz_condition *condition) {
    enum bz_status released = bz_lock_release(condition->lock);
    if (released != BZ_OK) {
        return released;
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&condition->queue);
    bool has_notification = outcome.was_woken;
    enum bz_status status = outcome.status;
    /* Each iteration except the last delivers a request, so the loop ends. */
    for (;;) {
        if (status != BZ_OK && has_notification) {
            bz_waitq_wake_oldest(&condition->queue, 0); /* at once: others wait for it */
            has_notification = false;
        }
        enum bz_status acquired = bz_lock_acquire(condition->lock);
        if (acquired == BZ_OK) {
            return status;
        }
        status = acquired;
    }
}

enum bz_status bz_condition_wait_for(struct bz_condition *condition, bool (*holds)(void *arg),
                                     void *arg) {
    while (!holds(arg)) {
        enum bz_status status = bz_condition_wait(condition);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

enum bz_status bz_condition_notify(struct bz_condition *condition, uint32_t count) {
    if (!condition->lock->is_held) {
        return BZ_NOT_HELD;
    }
    while (count > 0 && bz_waitq_wake_oldest(&condition->queue, 0)) {
        count--;
    }
    return BZ_OK;
}

enum bz_status bz_condition_notify_all(struct bz_condition *condition) {
    return bz_condition_notify(condition, UINT32_MAX);
}
