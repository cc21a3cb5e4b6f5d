/* Queues that keep no item: a put waits for its get. Two right ones, and faulty siblings. */
#include "scenarios/tests/designs/designs.h"

struct meeting {
    struct bz_loop *loop;
    struct bz_list getters;
    struct bz_list putters;
};

/* A putter, with its item. A getter has its item, if it is given one, as the result it awaits. */
struct offer {
    struct place place;
    uint64_t value;
};

static enum bz_status meeting_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                   uint32_t maxsize) {
    struct meeting *self = instance;
    BZ_CHECK(maxsize == BZ_QUEUE_RENDEZVOUS && order == BZ_QUEUE_ORDER_FIFO);
    self->loop = loop;
    bz_list_init(&self->getters);
    bz_list_init(&self->putters);
    return BZ_OK;
}

static uint64_t meeting_size(void *instance) {
    (void)instance;
    return 0;
}

/* The fault: a rendezvous keeps no item. */
static uint64_t counting_size(void *instance) {
    struct bz_permit_view view = {0};
    place_view(&((const struct meeting *)instance)->putters, &view);
    return view.waiting;
}

static uint32_t meeting_queued(void *instance) {
    const struct meeting *self = instance;
    struct bz_permit_view view = {0};
    uint32_t queued = 0;
    place_view(&self->getters, &view);
    queued = view.queued;
    place_view(&self->putters, &view);
    return queued + view.queued;
}

/* --- a get takes the item when it returns: for a wait that may be cancelled when it is over ------
 */

/* Takes the item of the first putter that still waits. */
static bool take(struct meeting *self, uint64_t *value) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(&self->putters)) != NULL) {
        struct offer *offer = bz_container_of(place_of(link), struct offer, place);
        if (bz_future_set_result(&offer->place.future, 0) == BZ_OK) {
            *value = offer->value;
            return true;
        }
    }
    return false;
}

static enum bz_status meeting_put(void *instance, uint64_t value, int64_t priority) {
    struct meeting *self = instance;
    struct offer offer = {.value = value};
    (void)priority;
    place_join(&self->putters, &offer.place, self->loop);
    (void)place_wake_first(&self->getters);
    enum bz_status status = bz_future_await(&offer.place.future);
    place_leave(&offer.place);
    return status;
}

static enum bz_status get_by(struct meeting *self, uint64_t *value, bool passes_on) {
    struct place place;
    for (bool is_first = true; !take(self, value); is_first = false) {
        place_join(&self->getters, &place, self->loop);
        if (!is_first) { /* its putter has left: it keeps its place */
            bz_list_remove(&place.link);
            bz_list_push_front(&self->getters, &place.link);
        }
        enum bz_status status = bz_future_await(&place.future);
        bool was_woken = !bz_list_is_linked(&place.link);
        place_leave(&place);
        if (status != BZ_OK) {
            if (was_woken && passes_on && !bz_list_is_empty(&self->putters)) {
                (void)place_wake_first(&self->getters);
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
    if (!bz_list_is_empty(&self->putters)) {
        struct offer *offer = bz_container_of(place_of(self->putters.next), struct offer, place);
        (void)bz_future_set_result(&offer->place.future, 0);
        *value = offer->value;
        return BZ_OK;
    }
    return get_by(instance, value, true);
}

/* --- who comes second completes both: for a runtime in which a result outlasts a cancel ----------
 */

static bool give(struct meeting *self, uint64_t value) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(&self->getters)) != NULL) {
        if (bz_future_set_result(&place_of(link)->future, value) == BZ_OK) {
            return true;
        }
    }
    return false;
}

static enum bz_status kept_put(void *instance, uint64_t value, int64_t priority) {
    struct meeting *self = instance;
    struct offer offer = {.value = value};
    (void)priority;
    if (give(self, value)) {
        return BZ_OK;
    }
    place_join(&self->putters, &offer.place, self->loop);
    enum bz_status status = bz_future_await(&offer.place.future);
    place_leave(&offer.place);
    return status;
}

static enum bz_status kept_get(void *instance, uint64_t *value) {
    struct meeting *self = instance;
    struct place place;
    if (take(self, value)) {
        return BZ_OK;
    }
    place_join(&self->getters, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    *value = place.future.value;
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
static const struct bz_queue_ops kept_ops = OPS(kept_put, kept_get, kept_try_put, meeting_size);
static const struct bz_rules keeps = {.woken = BZ_WOKEN_KEEPS_RESULT};

DESIGN(meeting, BZ_CLAIM_UNAIDED | BZ_CLAIM_UNFAIR | BZ_CLAIM_TAKES_AT_RETURN,
       "a rendezvous whose get takes the item when it returns", .queue = &meeting_ops, MEETS);
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
