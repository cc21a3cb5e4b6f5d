#include "scenarios/variants/deque.h"

static struct bz_waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct bz_waiter, link);
}

void bz_deque_init(struct bz_deque *deque, struct bz_loop *loop) {
    deque->loop = loop;
    bz_list_init(&deque->entries);
}

enum bz_status bz_deque_wait_and_stay(struct bz_deque *deque, struct bz_waiter *waiter) {
    bz_future_init(&waiter->future, deque->loop);
    bz_list_push_back(&deque->entries, &waiter->link);
    return bz_future_await(&waiter->future);
}

enum bz_status bz_deque_wait(struct bz_deque *deque, struct bz_waiter *waiter) {
    enum bz_status status = bz_deque_wait_and_stay(deque, waiter);
    bz_deque_remove(waiter);
    return status;
}

void bz_deque_remove(struct bz_waiter *waiter) {
    if (bz_list_is_linked(&waiter->link)) {
        bz_list_remove(&waiter->link);
    }
}

struct bz_waiter *bz_deque_next(const struct bz_deque *deque, const struct bz_waiter *waiter) {
    struct bz_list *next = waiter != NULL ? waiter->link.next : deque->entries.next;
    return next != &deque->entries ? waiter_of(next) : NULL;
}

struct bz_waiter *bz_deque_oldest_asleep(const struct bz_deque *deque) {
    struct bz_waiter *waiter = bz_deque_next(deque, NULL);
    while (waiter != NULL && bz_future_is_done(&waiter->future)) {
        waiter = bz_deque_next(deque, waiter);
    }
    return waiter;
}

bool bz_deque_wake_oldest(struct bz_deque *deque) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(deque);
    return oldest != NULL && bz_future_set_result(&oldest->future, 0) == BZ_OK;
}

struct bz_waiter *bz_deque_pop(struct bz_deque *deque) {
    struct bz_list *link = bz_list_pop_front(&deque->entries);
    return link == NULL ? NULL : waiter_of(link);
}

bool bz_deque_pop_and_wake(struct bz_deque *deque) {
    struct bz_waiter *waiter = bz_deque_pop(deque);
    while (waiter != NULL && bz_future_set_result(&waiter->future, 0) != BZ_OK) {
        waiter = bz_deque_pop(deque);
    }
    return waiter != NULL;
}

uint32_t bz_deque_count(const struct bz_deque *deque, enum bz_future_state state) {
    uint32_t count = 0;
    struct bz_waiter *waiter = NULL;
    while ((waiter = bz_deque_next(deque, waiter)) != NULL) {
        count += waiter->future.state == state;
    }
    return count;
}

uint32_t bz_deque_length(const struct bz_deque *deque) {
    uint32_t count = 0;
    struct bz_waiter *waiter = NULL;
    while ((waiter = bz_deque_next(deque, waiter)) != NULL) {
        count++;
    }
    return count;
}

bool bz_deque_has_live(const struct bz_deque *deque) {
    return bz_deque_length(deque) > bz_deque_count(deque, BZ_FUTURE_CANCELLED);
}

void bz_deque_view(const struct bz_deque *deque, struct bz_permit_view *view) {
    view->queued = bz_deque_length(deque);
    view->waiting = bz_deque_count(deque, BZ_FUTURE_PENDING);
    view->woken = bz_deque_count(deque, BZ_FUTURE_RESULT);
    view->cancelled = bz_deque_count(deque, BZ_FUTURE_CANCELLED);
}

/* --- event ------------------------------------------------------------------------------------ */

enum bz_status bz_flag_init(void *instance, struct bz_loop *loop) {
    bz_deque_init(&((struct bz_flag *)instance)->waiters, loop);
    return BZ_OK;
}

void bz_flag_set(void *instance) {
    struct bz_flag *flag = instance;
    flag->is_set = true; /* if it was set before, no task waits */
    while (bz_deque_wake_oldest(&flag->waiters)) {
    }
}

void bz_flag_clear(void *instance) {
    struct bz_flag *flag = instance;
    flag->is_set = false;
}

bool bz_flag_is_set(void *instance) {
    return ((const struct bz_flag *)instance)->is_set;
}

/* A woken task does not check the flag again. */
enum bz_status bz_flag_wait(void *instance) {
    struct bz_flag *flag = instance;
    struct bz_waiter waiter;
    return flag->is_set ? BZ_OK : bz_deque_wait(&flag->waiters, &waiter);
}

uint32_t bz_flag_queued(void *instance) {
    return bz_deque_length(&((const struct bz_flag *)instance)->waiters);
}
