/* Queues that keep no item: a put waits for its get. Two right ones, and faulty siblings. */
#include "scenarios/tests/designs/designs.h"

struct meeting {
    struct bz_deque getters;
    struct bz_deque putters;
};

/* A putter, with its item. A getter has its item, if it is given one, as the result it awaits. */
struct offer {
    struct bz_waiter waiter;
    uint64_t value;
};

static enum bz_status meeting_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                   uint32_t maxsize) {
    struct meeting *self = instance;
    BZ_CHECK(maxsize == BZ_QUEUE_RENDEZVOUS && order == BZ_QUEUE_ORDER_FIFO);
    bz_deque_init(&self->getters, loop);
    bz_deque_init(&self->putters, loop);
    return BZ_OK;
}

static uint64_t meeting_size(void *instance) {
    (void)instance;
    return 0;
}

/* The fault: a rendezvous keeps no item. */
static uint64_t counting_size(void *instance) {
    return bz_deque_count(&((const struct meeting *)instance)->putters, BZ_FUTURE_PENDING);
}

static uint32_t meeting_queued(void *instance) {
    const struct meeting *self = instance;
    return bz_deque_length(&self->getters) + bz_deque_length(&self->putters);
}

/* --- a get takes the item when it returns: for a wait that may be cancelled when it is over ------
 */

/* Takes the item of the first putter that still waits. */
static bool take(struct meeting *self, uint64_t *value) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&self->putters);
    if (oldest == NULL) {
        return false;
    }
    *value = bz_container_of(oldest, struct offer, waiter)->value;
    return bz_deque_pop_and_wake(&self->putters);
}

static enum bz_status meeting_put(void *instance, uint64_t value, int64_t priority) {
    struct meeting *self = instance;
    struct offer offer = {.value = value};
    (void)priority;
    (void)bz_deque_pop_and_wake(&self->getters); /* it resumes when this task waits */
    return bz_deque_wait(&self->putters, &offer.waiter);
}

static enum bz_status get_by(struct meeting *self, uint64_t *value, bool passes_on) {
    struct bz_waiter waiter;
    for (bool is_first = true; !take(self, value); is_first = false) {
        bz_future_init(&waiter.future, self->getters.loop);
        if (is_first) {
            bz_list_push_back(&self->getters.entries, &waiter.link);
        } else { /* its putter has left: it keeps its place */
            bz_list_push_front(&self->getters.entries, &waiter.link);
        }
        enum bz_status status = bz_future_await(&waiter.future);
        bool was_woken = !bz_list_is_linked(&waiter.link);
        bz_deque_remove(&waiter);
        if (status != BZ_OK) {
            if (was_woken && passes_on && !bz_list_is_empty(&self->putters.entries)) {
                (void)bz_deque_pop_and_wake(&self->getters);
            }
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status meeting_get(void *instance, uint64_t *value) {
    return get_by(instance, value, true);
}

static enum bz_status meeting_try_put(void *instance, uint64_t value, int64_t priority) {
    (void)instance;
    (void)value;
    (void)priority;
    return BZ_FULL; /* no get can take it in this step */
}

static enum bz_status meeting_try_get(void *instance, uint64_t *value) {
    return take(instance, value) ? BZ_OK : BZ_EMPTY;
}

/* The fault: a getter that was woken and is cancelled wakes no other one. */
static enum bz_status dropping_get(void *instance, uint64_t *value) {
    return get_by(instance, value, false);
}

/* The fault: the item stays until its putter has resumed. */
static enum bz_status doubling_get(void *instance, uint64_t *value) {
    struct meeting *self = instance;
    struct bz_waiter *oldest = bz_deque_next(&self->putters, NULL);
    if (oldest != NULL) {
        (void)bz_future_set_result(&oldest->future, 0);
        *value = bz_container_of(oldest, struct offer, waiter)->value;
        return BZ_OK;
    }
    return get_by(instance, value, true);
}

/* No fault: the item of a put that is cancelled and has not resumed may be taken, as that of a
 * future that is to be dropped. */
static enum bz_status leaving_get(void *instance, uint64_t *value) {
    struct meeting *self = instance;
    struct bz_waiter *oldest = bz_deque_next(&self->putters, NULL);
    if (oldest == NULL) {
        return get_by(self, value, true);
    }
    *value = bz_container_of(oldest, struct offer, waiter)->value;
    bz_deque_remove(oldest);
    (void)bz_future_set_result(&oldest->future, 0);
    return BZ_OK;
}

/* --- who comes second completes both: for a runtime in which a result outlasts a cancel ----------
 */

static bool give(struct meeting *self, uint64_t value) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&self->getters);
    if (oldest == NULL) {
        return false;
    }
    bz_deque_remove(oldest);
    return bz_future_set_result(&oldest->future, value) == BZ_OK;
}

static enum bz_status kept_put(void *instance, uint64_t value, int64_t priority) {
    struct meeting *self = instance;
    struct offer offer = {.value = value};
    (void)priority;
    return give(self, value) ? BZ_OK : bz_deque_wait(&self->putters, &offer.waiter);
}

static enum bz_status kept_get(void *instance, uint64_t *value) {
    struct meeting *self = instance;
    struct bz_waiter waiter;
    if (take(self, value)) {
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&self->getters, &waiter);
    *value = waiter.future.value;
    return status;
}

static enum bz_status kept_try_put(void *instance, uint64_t value, int64_t priority) {
    (void)priority;
    return give(instance, value) ? BZ_OK : BZ_FULL;
}

/* --- tables -------------------------------------------------------------------------------------
 */

#define OPS(put_, get_, try_put_, size_)                                                           \
    {                                                                                              \
        .instance_bytes = sizeof(struct meeting), .init = meeting_init, .put = put_, .get = get_,  \
        .try_put = try_put_, .try_get = meeting_try_get, .size = size_, .queued = meeting_queued   \
    }
#define MEETS .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_RENDEZVOUS, .orders = 1u}}

static const struct bz_queue_ops meeting_ops =
    OPS(meeting_put, meeting_get, meeting_try_put, meeting_size);
static const struct bz_queue_ops counting_ops =
    OPS(meeting_put, meeting_get, meeting_try_put, counting_size);
static const struct bz_queue_ops dropping_ops =
    OPS(meeting_put, dropping_get, meeting_try_put, meeting_size);
static const struct bz_queue_ops doubling_ops =
    OPS(meeting_put, doubling_get, meeting_try_put, meeting_size);
static const struct bz_queue_ops leaving_ops =
    OPS(meeting_put, leaving_get, meeting_try_put, meeting_size);
static const struct bz_queue_ops kept_ops = OPS(kept_put, kept_get, kept_try_put, meeting_size);
static const struct bz_rules keeps = {.woken = BZ_WOKEN_KEEPS_RESULT};

DESIGN(meeting, BZ_CLAIM_UNAIDED | BZ_CLAIM_UNFAIR | BZ_CLAIM_TAKES_AT_RETURN,
       "a rendezvous whose get takes the item when it returns", .queue = &meeting_ops, MEETS);
DESIGN(meeting_leaving, BZ_CLAIM_UNAIDED | BZ_CLAIM_UNFAIR,
       "a rendezvous that takes the items of puts that leave", .queue = &leaving_ops, MEETS);
DESIGN(meeting_kept,
       BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_NO_PASSING | BZ_CLAIM_UNAIDED,
       "a rendezvous whose second party completes both", .queue = &kept_ops, .rules = &keeps,
       MEETS);
DESIGN(meeting_counting, BZ_CLAIM_UNAIDED | BZ_CLAIM_UNFAIR | BZ_CLAIM_TAKES_AT_RETURN,
       "a rendezvous that counts its offers as items", .queue = &counting_ops, MEETS);
DESIGN(meeting_dropping, BZ_CLAIM_UNAIDED, "a rendezvous that loses wake-ups",
       .queue = &dropping_ops, MEETS);
DESIGN(meeting_doubling, BZ_CLAIM_UNAIDED, "a rendezvous that gives an item out twice",
       .queue = &doubling_ops, MEETS);
DESIGN(meeting_losing, BZ_CLAIM_UNAIDED,
       "a rendezvous that loses what a cancelled getter was given", .queue = &kept_ops, MEETS);
