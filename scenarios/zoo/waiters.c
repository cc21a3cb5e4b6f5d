#include "scenarios/zoo/waiters.h"

#include "primitives/runtime/mem.h"

static struct bz_zoo_waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct bz_zoo_waiter, link);
}

void bz_zoo_queue_init(struct bz_zoo_queue *queue, struct bz_loop *loop) {
    queue->loop = loop;
    bz_list_init(&queue->entries);
}

enum bz_status bz_zoo_wait(struct bz_zoo_queue *queue, struct bz_zoo_waiter *waiter) {
    bz_future_init(&waiter->future, queue->loop);
    bz_list_push_back(&queue->entries, &waiter->link);
    return bz_future_await(&waiter->future);
}

void bz_zoo_leave(struct bz_zoo_waiter *waiter) {
    bz_list_remove(&waiter->link);
}

bool bz_zoo_wake_oldest(struct bz_zoo_queue *queue) {
    for (struct bz_list *link = queue->entries.next; link != &queue->entries; link = link->next) {
        if (bz_future_set_result(&waiter_of(link)->future, 0) == BZ_OK) {
            return true;
        }
    }
    return false;
}

bool bz_zoo_wake_newest(struct bz_zoo_queue *queue) {
    for (struct bz_list *link = queue->entries.prev; link != &queue->entries; link = link->prev) {
        if (bz_future_set_result(&waiter_of(link)->future, 0) == BZ_OK) {
            return true;
        }
    }
    return false;
}

struct bz_zoo_waiter *bz_zoo_pop(struct bz_zoo_queue *queue) {
    struct bz_list *link = bz_list_pop_front(&queue->entries);
    return link == NULL ? NULL : waiter_of(link);
}

uint32_t bz_zoo_count(const struct bz_zoo_queue *queue, enum bz_future_state state) {
    uint32_t count = 0;
    for (struct bz_list *link = queue->entries.next; link != &queue->entries; link = link->next) {
        count += waiter_of(link)->future.state == state;
    }
    return count;
}

bool bz_zoo_has_live(const struct bz_zoo_queue *queue) {
    return bz_zoo_count(queue, BZ_FUTURE_PENDING) > 0 || bz_zoo_count(queue, BZ_FUTURE_RESULT) > 0;
}

void bz_zoo_queue_view(const struct bz_zoo_queue *queue, struct bz_permit_view *view) {
    view->waiting = bz_zoo_count(queue, BZ_FUTURE_PENDING);
    view->woken = bz_zoo_count(queue, BZ_FUTURE_RESULT);
    view->cancelled = bz_zoo_count(queue, BZ_FUTURE_CANCELLED);
    view->queued =
        view->waiting + view->woken + view->cancelled + bz_zoo_count(queue, BZ_FUTURE_EXCEPTION);
}

/* --- lock ------------------------------------------------------------------------------------- */

enum bz_status bz_zoo_lock_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_lock *lock = instance;
    (void)permits;
    bz_zoo_queue_init(&lock->queue, loop);
    return BZ_OK;
}

enum bz_status bz_zoo_lock_release(void *instance) {
    struct bz_zoo_lock *lock = instance;
    if (!lock->is_held) {
        return BZ_NOT_HELD;
    }
    lock->is_held = false;
    bz_zoo_wake_oldest(&lock->queue);
    return BZ_OK;
}

bool bz_zoo_lock_locked(void *instance) {
    const struct bz_zoo_lock *lock = instance;
    return lock->is_held;
}

void bz_zoo_lock_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_lock *lock = instance;
    view->level = lock->is_held ? 0 : 1;
    bz_zoo_queue_view(&lock->queue, view);
}

/* --- hand-off --------------------------------------------------------------------------------- */

enum bz_status bz_zoo_handoff_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_handoff *lock = instance;
    (void)permits;
    bz_zoo_queue_init(&lock->queue, loop);
    return BZ_OK;
}

bool bz_zoo_handoff_locked(void *instance) {
    const struct bz_zoo_handoff *lock = instance;
    return lock->is_owned;
}

void bz_zoo_handoff_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_handoff *lock = instance;
    view->level = lock->is_owned && !lock->is_promised ? 0 : 1;
    bz_zoo_queue_view(&lock->queue, view);
}

/* --- request ---------------------------------------------------------------------------------- */

struct bz_zoo_request *bz_zoo_request_new(struct bz_loop *loop) {
    struct bz_zoo_request *request = bz_mem_alloc(bz_loop_mem(loop), sizeof *request);
    if (request != NULL) {
        request->uses = 2;
    }
    return request;
}

void bz_zoo_request_drop(struct bz_loop *loop, struct bz_zoo_request *request) {
    if (--request->uses == 0) {
        bz_mem_free(bz_loop_mem(loop), request, sizeof *request);
    }
}

/* --- semaphore -------------------------------------------------------------------------------- */

enum bz_status bz_zoo_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_semaphore *semaphore = instance;
    bz_zoo_queue_init(&semaphore->queue, loop);
    semaphore->value = permits;
    return BZ_OK;
}

bool bz_zoo_semaphore_locked(void *instance) {
    const struct bz_zoo_semaphore *semaphore = instance;
    return semaphore->value == 0;
}

void bz_zoo_semaphore_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_semaphore *semaphore = instance;
    view->level = semaphore->value;
    bz_zoo_queue_view(&semaphore->queue, view);
}

bool bz_zoo_semaphore_wake_all_that_fit(struct bz_zoo_semaphore *semaphore) {
    uint32_t promised = bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT);
    bool has_woken = false;
    while (promised < semaphore->value && bz_zoo_wake_oldest(&semaphore->queue)) {
        promised++;
        has_woken = true;
    }
    return has_woken;
}

bool bz_zoo_semaphore_has_room(const struct bz_zoo_semaphore *semaphore) {
    return bz_zoo_count(&semaphore->queue, BZ_FUTURE_PENDING) == 0 &&
           semaphore->value > bz_zoo_count(&semaphore->queue, BZ_FUTURE_RESULT);
}

/* --- reserving semaphore ---------------------------------------------------------------------- */

enum bz_status bz_zoo_reserving_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct bz_zoo_reserving *semaphore = instance;
    bz_zoo_queue_init(&semaphore->queue, loop);
    semaphore->value = permits;
    return BZ_OK;
}

bool bz_zoo_reserving_try(struct bz_zoo_reserving *semaphore) {
    if (semaphore->value == 0 || bz_zoo_count(&semaphore->queue, BZ_FUTURE_PENDING) > 0) {
        return false;
    }
    semaphore->value--;
    return true;
}

void bz_zoo_reserving_put(struct bz_zoo_reserving *semaphore) {
    semaphore->value++;
    while (semaphore->value > 0 && bz_zoo_wake_oldest(&semaphore->queue)) {
        semaphore->value--;
        semaphore->promised++;
    }
}

enum bz_status bz_zoo_reserving_release(void *instance) {
    bz_zoo_reserving_put(instance);
    return BZ_OK;
}

bool bz_zoo_reserving_locked(void *instance) {
    const struct bz_zoo_reserving *semaphore = instance;
    return semaphore->value == 0 || bz_zoo_count(&semaphore->queue, BZ_FUTURE_PENDING) > 0;
}

void bz_zoo_reserving_view(void *instance, struct bz_permit_view *view) {
    const struct bz_zoo_reserving *semaphore = instance;
    view->level = (uint64_t)semaphore->value + semaphore->promised;
    bz_zoo_queue_view(&semaphore->queue, view);
}
