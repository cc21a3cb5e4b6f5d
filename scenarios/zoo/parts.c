#include "scenarios/zoo/parts.h"

#include "primitives/runtime/mem.h"

/* --- lock ------------------------------------------------------------------------------------- */

enum bz_status bz_zoo_lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_lock *lock = instance;
    (void)permits;
    bz_deque_init(&lock->queue, loop);
    return BZ_OK;
}

bool bz_zoo_lock_try(struct bz_zoo_lock *lock) {
    bool is_free = !lock->is_held && !bz_deque_has_live(&lock->queue);
    lock->is_held |= is_free;
    return is_free;
}

static void wake_oldest(struct bz_zoo_lock *lock) {
    bz_deque_wake_oldest(&lock->queue);
}

static enum bz_status wait_for_lock(struct bz_zoo_lock *lock,
                                    void (*wake)(struct bz_zoo_lock *lock)) {
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status == BZ_OK) {
        lock->is_held = true;
    } else if (bz_waiter_was_woken(&waiter)) {
        wake(lock);
    }
    return status;
}

enum bz_status bz_zoo_lock_wait(struct bz_zoo_lock *lock) {
    return wait_for_lock(lock, wake_oldest);
}

enum bz_status bz_zoo_lock_acquire_by(struct bz_zoo_lock *lock,
                                      void (*wake)(struct bz_zoo_lock *lock)) {
    return bz_zoo_lock_try(lock) ? BZ_OK : wait_for_lock(lock, wake);
}

enum bz_status bz_zoo_lock_acquire(void *instance) {
    return bz_zoo_lock_acquire_by(instance, wake_oldest);
}

enum bz_status bz_zoo_lock_release_by(struct bz_zoo_lock *lock,
                                      void (*wake)(struct bz_zoo_lock *lock)) {
    if (!lock->is_held) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    wake(lock);
    return BZ_OK;
}

enum bz_status bz_zoo_lock_release(void *instance) {
    return bz_zoo_lock_release_by(instance, wake_oldest);
}

bool bz_zoo_lock_locked(void *instance) {
    const struct bz_zoo_lock *lock = instance;
    return lock->is_held;
}

void bz_zoo_lock_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_lock *lock = instance;
    view->level = lock->is_held ? 0 : 1;
    bz_deque_view(&lock->queue, view);
}

/* --- lock that is handed over ----------------------------------------------------------------- */

enum bz_status bz_zoo_handoff_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_handoff *lock = instance;
    (void)permits;
    bz_deque_init(&lock->queue, loop);
    return BZ_OK;
}

bool bz_zoo_handoff_try(struct bz_zoo_handoff *lock) {
    bool is_free = !lock->is_owned;
    lock->is_owned = true;
    return is_free;
}

enum bz_status bz_zoo_handoff_wait(struct bz_zoo_handoff *lock) {
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&lock->queue, &waiter);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (bz_waiter_was_woken(&waiter)) {
        bz_zoo_handoff_pass(lock);
    }
    return status;
}

void bz_zoo_handoff_pass(struct bz_zoo_handoff *lock) {
    lock->is_owned = bz_deque_wake_oldest(&lock->queue);
    lock->is_promised = lock->is_owned;
}

enum bz_status bz_zoo_handoff_release_by(struct bz_zoo_handoff *lock,
                                         void (*hand_over)(struct bz_zoo_handoff *lock)) {
    if (!lock->is_owned || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    hand_over(lock);
    return BZ_OK;
}

enum bz_status bz_zoo_handoff_release(void *instance) {
    return bz_zoo_handoff_release_by(instance, bz_zoo_handoff_pass);
}

bool bz_zoo_handoff_locked(void *instance) {
    const struct bz_zoo_handoff *lock = instance;
    return lock->is_owned;
}

void bz_zoo_handoff_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_handoff *lock = instance;
    view->level = lock->is_owned && !lock->is_promised ? 0 : 1;
    bz_deque_view(&lock->queue, view);
}

/* --- semaphore -------------------------------------------------------------------------------- */

enum bz_status bz_zoo_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_semaphore *semaphore = instance;
    bz_deque_init(&semaphore->queue, loop);
    semaphore->value = permits;
    semaphore->permits = permits;
    return BZ_OK;
}

bool bz_zoo_semaphore_try(struct bz_zoo_semaphore *semaphore) {
    bool is_free = semaphore->value > 0 && !bz_deque_has_live(&semaphore->queue);
    semaphore->value -= is_free;
    return is_free;
}

enum bz_status bz_zoo_semaphore_wait_by(struct bz_zoo_semaphore *semaphore,
                                        void (*wake)(struct bz_zoo_semaphore *semaphore)) {
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    if (status == BZ_OK) {
        semaphore->value--;
    } else if (bz_waiter_was_woken(&waiter)) {
        wake(semaphore);
    }
    return status;
}

bool bz_zoo_semaphore_wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    uint32_t promised = bz_deque_count(&semaphore->queue, BZ_FUTURE_RESULT);
    bool has_woken = false;
    while (promised < semaphore->value && bz_deque_wake_oldest(&semaphore->queue)) {
        promised++;
        has_woken = true;
    }
    return has_woken;
}

enum bz_status bz_zoo_semaphore_acquire(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    if (bz_zoo_semaphore_try(semaphore)) {
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&semaphore->queue, &waiter);
    semaphore->value -= status == BZ_OK;
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return status;
}

enum bz_status bz_zoo_semaphore_release(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    semaphore->value++;
    bz_zoo_semaphore_wake_all_that_fit(semaphore);
    return BZ_OK;
}

enum bz_status bz_zoo_semaphore_release_by(struct bz_zoo_semaphore *semaphore,
                                           void (*wake)(struct bz_zoo_semaphore *semaphore)) {
    semaphore->value++;
    wake(semaphore);
    return BZ_OK;
}

bool bz_zoo_semaphore_locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0;
}

void bz_zoo_semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_semaphore *semaphore = instance;
    view->level = semaphore->value;
    bz_deque_view(&semaphore->queue, view);
}

void bz_zoo_semaphore_reserve(struct bz_zoo_semaphore *semaphore) {
    while (semaphore->value > 0 && bz_deque_wake_oldest(&semaphore->queue)) {
        semaphore->value--;
    }
}

enum bz_status bz_zoo_semaphore_release_reserving(void *instance) {
    return bz_zoo_semaphore_release_by(instance, bz_zoo_semaphore_reserve);
}

void bz_zoo_semaphore_view_reserving(void *instance, struct bz_permit_view *view) {
    bz_zoo_semaphore_view(instance, view);
    view->level += view->woken;
}

/* --- request ---------------------------------------------------------------------------------- */

struct bz_zoo_request *bz_zoo_request_new(struct bz_loop *loop) {
    struct bz_zoo_request *request = bz_mem_alloc(bz_loop_mem(loop), sizeof *request);
    if (request != NULL) {
        request->uses = 2;
    }
    return request;
}

void bz_zoo_request_drop(struct bz_loop *loop, struct bz_waiter *waiter) {
    struct bz_zoo_request *request = bz_container_of(waiter, struct bz_zoo_request, waiter);
    if (--request->uses == 0) {
        bz_mem_free(bz_loop_mem(loop), request, sizeof *request);
    }
}

void bz_zoo_semaphore_drop_requests(void *instance) {
    struct bz_zoo_semaphore *semaphore = instance;
    struct bz_waiter *left;
    while ((left = bz_deque_pop(&semaphore->queue)) != NULL) {
        bz_zoo_request_drop(semaphore->queue.loop, left);
    }
}
