#include "primitives/sync/waitq.h"

#include "primitives/runtime/check.h"

struct waiter {
    struct bz_future future;
    struct bz_list link;
    struct bz_waitq *queue;
    uint64_t amount;
};

void bz_waitq_init(struct bz_waitq *queue, struct bz_loop *loop) {
    *queue = (struct bz_waitq){.loop = loop};
    bz_list_init(&queue->waiting);
}

static void waiter_cancelled(struct bz_future *future) {
    struct waiter *waiter = bz_container_of(future, struct waiter, future);
    bz_list_remove(&waiter->link);
    waiter->queue->waiting_count--;
    waiter->queue->cancelled_count++;
}

static inline __attribute__((always_inline)) struct bz_wait_outcome wait(struct bz_waitq *queue,
                                                                         uint64_t amount) {
    struct waiter waiter = {.queue = queue, .amount = amount};
    bz_future_init(&waiter.future, queue->loop);
    waiter.future.on_cancel = waiter_cancelled;
    bz_list_push_back(&queue->waiting, &waiter.link);
    queue->waiting_count++;

    enum bz_status status = bz_future_await(&waiter.future);
    if (waiter.future.state == BZ_FUTURE_CANCELLED) {
        queue->cancelled_count--;
        return (struct bz_wait_outcome){.status = BZ_CANCELLED, .was_woken = false};
    }
    BZ_CHECK(waiter.future.state == BZ_FUTURE_RESULT); /* no other task can complete it */
    queue->woken_count--;
    return (struct bz_wait_outcome){
        .status = status, .was_woken = true, .value = waiter.future.value};
}

__attribute__((hot)) struct bz_wait_outcome bz_waitq_wait(struct bz_waitq *queue) {
    return wait(queue, 0);
}

struct bz_wait_outcome bz_waitq_wait_for(struct bz_waitq *queue, uint64_t amount) {
    return wait(queue, amount);
}

uint64_t bz_waitq_oldest_amount(const struct bz_waitq *queue) {
    BZ_CHECK(bz_waitq_has_waiting(queue));
    return bz_container_of(queue->waiting.next, struct waiter, link)->amount;
}

bool bz_waitq_wake_oldest(struct bz_waitq *queue, uint64_t value) {
    struct bz_list *link = bz_list_pop_front(&queue->waiting);
    if (link == NULL) {
        return false;
    }
    struct waiter *waiter = bz_container_of(link, struct waiter, link);
    queue->waiting_count--;
    queue->woken_count++;
    enum bz_status status = bz_future_set_result(&waiter->future, value);
    BZ_CHECK(status == BZ_OK); /* a linked waiter is pending */
    return true;
}

uint32_t bz_waitq_wake_all(struct bz_waitq *queue, uint64_t value) {
    uint32_t count = 0; /* nothing runs meanwhile, so no task joins */
    while (bz_waitq_wake_oldest(queue, value)) {
        count++;
    }
    return count;
}
