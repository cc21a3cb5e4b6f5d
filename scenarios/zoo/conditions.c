#include "scenarios/zoo/conditions.h"

enum bz_status bz_zoo_condition_init(void *instance, struct bz_loop *loop) {
    struct bz_zoo_condition *condition = instance;
    bz_zoo_queue_init(&condition->queue, loop);
    return bz_zoo_lock_init(&condition->lock, loop, 1);
}

enum bz_status bz_zoo_condition_acquire(void *instance) {
    struct bz_zoo_condition *condition = instance;
    struct bz_zoo_lock *lock = &condition->lock;
    if (!lock->is_held && !bz_zoo_has_live(&lock->queue)) {
        lock->is_held = true;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (bz_zoo_was_woken(&waiter)) {
        bz_zoo_wake_oldest(&lock->queue);
    }
    return status;
}

enum bz_status bz_zoo_condition_release(void *instance) {
    struct bz_zoo_condition *condition = instance;
    return bz_zoo_lock_release(&condition->lock);
}

bool bz_zoo_condition_locked(void *instance) {
    const struct bz_zoo_condition *condition = instance;
    return condition->lock.is_held;
}

enum bz_status bz_zoo_condition_notify(void *instance, uint32_t count) {
    struct bz_zoo_condition *condition = instance;
    if (!condition->lock.is_held) {
        return BZ_NOT_HELD;
    }
    while (count > 0 && bz_zoo_wake_oldest(&condition->queue)) {
        count--;
    }
    return BZ_OK;
}

static uint32_t entries(const struct bz_zoo_queue *queue) {
    struct bz_permit_view view = {0};
    bz_zoo_queue_view(queue, &view);
    return view.queued;
}

uint32_t bz_zoo_condition_queued(void *instance) {
    const struct bz_zoo_condition *condition = instance;
    return entries(&condition->lock.queue) + entries(&condition->queue);
}

enum bz_status bz_zoo_condition_relock(struct bz_zoo_condition *condition, enum bz_status status,
                                       bool has_notification) {
    for (;;) {
        if (status != BZ_OK && has_notification) {
            bz_zoo_wake_oldest(&condition->queue);
            has_notification = false;
        }
        enum bz_status acquired = bz_zoo_condition_acquire(condition);
        if (acquired == BZ_OK) {
            return status;
        }
        status = acquired;
    }
}
