#include "scenarios/zoo/wrapped.h"

#include "primitives/runtime/group.h"

static enum bz_status second_task(void *arg) {
    struct bz_zoo_call *call = arg;
    struct bz_zoo_handoff *lock = &call->lock->lock;
    if (!lock->is_owned) {
        lock->is_owned = true;
        lock->is_promised = true;
        call->has_lock = true;
        return BZ_OK;
    }
    struct bz_zoo_waiter waiter;
    enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
    bz_zoo_leave(&waiter);
    if (!bz_zoo_was_woken(&waiter)) {
        return status;
    }
    if (status != BZ_OK && !call->keeps_lock) {
        bz_zoo_wrapped_give_back(call->lock);
        return status;
    }
    call->has_lock = true;
    call->in_spite = status != BZ_OK;
    return BZ_OK;
}

enum bz_status bz_zoo_wrapped_wait(struct bz_zoo_call *call) {
    struct bz_zoo_wrapped *lock = call->lock;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !call->has_lock) { /* a stranger may have cancelled the second task */
        struct bz_group group;
        status = bz_group_enter(lock->lock.queue.loop, &group);
        if (status == BZ_OK) {
            status = bz_group_spawn(&group, "second", ++lock->calls, second_task, call, NULL);
            status = bz_group_exit(&group, status);
        }
    }
    return status;
}

void bz_zoo_wrapped_keep(struct bz_zoo_wrapped *lock) {
    lock->lock.is_promised = false;
}

void bz_zoo_wrapped_give_back(struct bz_zoo_wrapped *lock) {
    lock->lock.is_owned = bz_zoo_wake_oldest(&lock->lock.queue);
    lock->lock.is_promised = lock->lock.is_owned;
}

enum bz_status bz_zoo_wrapped_release(void *instance) {
    struct bz_zoo_wrapped *lock = instance;
    if (!lock->lock.is_owned || lock->lock.is_promised) {
        return BZ_NOT_HELD;
    }
    bz_zoo_wrapped_give_back(lock);
    return BZ_OK;
}

void bz_zoo_wrapped_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_wrapped *lock = instance;
    bool is_held = lock->lock.is_owned && !lock->lock.is_promised;
    *view = (struct bz_permit_view){.level = is_held ? 0 : 1};
}
