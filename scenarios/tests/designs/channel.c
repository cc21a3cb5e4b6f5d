/* Channels in the style of Asio: every completion is posted, also that of a put or a get that need
 * not wait, and nothing is taken back after the post, so a late cancel changes nothing. An item is
 * handed over when the completion of its get is posted. A right one, and faulty siblings. */
#include <string.h>

#include "scenarios/tests/designs/designs.h"
#include "sim/variant/callback.h"

#define SLOTS_MAX 256u

enum fault {
    NO_FAULT,
    BLOCKS,      /* puts, once a get that waited was cancelled, until the next get */
    SERVES_LAST, /* of the puts that wait, the last one first */
    SAYS_CLOSED, /* to a put that waited and whose item was received, after a shutdown */
};

struct channel {
    struct bz_loop *loop;
    enum fault fault;
    struct bz_list waiters; /* puts, or gets */
    bool are_gets;
    bool is_blocked;
    bool is_closed;
    uint32_t slots;
    uint32_t count;
    uint64_t items[SLOTS_MAX];
};

struct waiter {
    struct bz_request request;
    struct bz_list link;
    struct channel *channel;
    enum bz_status outcome;
    bool is_put;
    uint64_t value;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t maxsize,
                           enum fault fault) {
    struct channel *channel = instance;
    uint32_t slots = maxsize == BZ_QUEUE_RENDEZVOUS ? 0 : maxsize;
    channel->loop = loop;
    channel->fault = fault;
    channel->slots = slots;
    bz_list_init(&channel->waiters);
    return BZ_OK;
}

static void post(struct waiter *waiter, enum bz_status outcome) {
    waiter->outcome = outcome;
    bz_request_post(&waiter->request);
}

/* The next put or get that waits; NULL: none. */
static struct waiter *pop(struct channel *channel, bool is_get) {
    struct bz_list *waiters = &channel->waiters;
    if (bz_list_is_empty(waiters) || channel->are_gets != is_get) {
        return NULL;
    }
    struct bz_list *link = channel->fault == SERVES_LAST && !is_get ? waiters->prev : waiters->next;
    bz_list_remove(link);
    return bz_container_of(link, struct waiter, link);
}

static bool send(struct channel *channel, uint64_t value) {
    struct waiter *get = pop(channel, true);
    if (get != NULL) {
        get->value = value;
        post(get, BZ_OK);
        return true;
    }
    bool has_slot = channel->count < channel->slots && !channel->is_blocked;
    if (has_slot) {
        channel->items[channel->count++] = value;
    }
    return has_slot;
}

static bool receive(struct channel *channel, uint64_t *value) {
    struct waiter *put = pop(channel, false);
    channel->is_blocked = false;
    if (channel->count == 0) {
        if (put != NULL) {
            *value = put->value;
            post(put, BZ_OK);
        }
        return put != NULL;
    }
    *value = channel->items[0];
    memmove(channel->items, channel->items + 1, --channel->count * sizeof *value);
    channel->items[channel->count] = 0;
    if (put != NULL) {
        channel->items[channel->count++] = put->value;
        post(put, BZ_OK);
    }
    return true;
}

static void deliver(void *wanted) {
    struct waiter *waiter = wanted;
    const struct channel *channel = waiter->channel;
    bool is_wrong = channel->fault == SAYS_CLOSED && channel->is_closed && waiter->is_put;
    bz_request_done(&waiter->request, is_wrong ? BZ_CLOSED : waiter->outcome);
}

static bool cancel(void *wanted) {
    struct waiter *waiter = wanted;
    if (!bz_list_is_linked(&waiter->link)) {
        return false;
    }
    bz_list_remove(&waiter->link);
    waiter->channel->is_blocked = waiter->channel->fault == BLOCKS && waiter->channel->are_gets;
    post(waiter, BZ_CANCELLED);
    return true;
}

static enum bz_status wait(struct waiter *waiter, bool is_get, bool is_served) {
    struct channel *channel = waiter->channel;
    if (is_served) {
        post(waiter, BZ_OK);
    } else if (channel->is_closed) {
        post(waiter, BZ_CLOSED);
    } else {
        channel->are_gets = is_get;
        bz_list_push_back(&channel->waiters, &waiter->link);
    }
    return bz_request_wait(&waiter->request, channel->loop, waiter, deliver, cancel);
}

static enum bz_status channel_put(void *instance, uint64_t value, int64_t priority) {
    struct channel *channel = instance;
    struct waiter waiter = {.channel = channel, .is_put = true, .value = value};
    (void)priority;
    return wait(&waiter, false, !channel->is_closed && send(channel, value));
}

static enum bz_status channel_get(void *instance, uint64_t *value) {
    struct channel *channel = instance;
    struct waiter waiter = {.channel = channel};
    enum bz_status status = wait(&waiter, true, receive(channel, &waiter.value));
    *value = waiter.value;
    return status;
}

static enum bz_status channel_try_put(void *instance, uint64_t value, int64_t priority) {
    struct channel *channel = instance;
    (void)priority;
    return channel->is_closed ? BZ_CLOSED : send(channel, value) ? BZ_OK : BZ_FULL;
}

static enum bz_status channel_try_get(void *instance, uint64_t *value) {
    struct channel *channel = instance;
    return receive(channel, value) ? BZ_OK : channel->is_closed ? BZ_CLOSED : BZ_EMPTY;
}

static void channel_shutdown(void *instance, bool is_immediate) {
    struct channel *channel = instance;
    struct waiter *waiter;
    channel->is_closed = true;
    channel->count = is_immediate ? 0 : channel->count;
    while ((waiter = pop(channel, channel->are_gets)) != NULL) {
        post(waiter, BZ_CLOSED);
    }
}

static const struct bz_rules keeps = {.woken = BZ_WOKEN_KEEPS_RESULT};

#define CHANNEL(name, fault, summary)                                                              \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop,                        \
                                      enum bz_queue_order order, uint32_t maxsize) {               \
        (void)order;                                                                               \
        return init(instance, loop, maxsize, fault);                                               \
    }                                                                                              \
    static const struct bz_queue_ops name##_ops = {.instance_bytes = sizeof(struct channel),       \
                                                   .init = name##_init,                            \
                                                   .put = channel_put,                             \
                                                   .get = channel_get,                             \
                                                   .try_put = channel_try_put,                     \
                                                   .try_get = channel_try_get,                     \
                                                   .shutdown = channel_shutdown};                  \
    DESIGN(name, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNAIDED, summary,               \
           .queue = &name##_ops, .rules = &keeps,                                                  \
           .offers = {[BZ_PRIMITIVE_QUEUE] = {.most = SLOTS_MAX,                                   \
                                              .orders = 1u,                                        \
                                              .bounds = BZ_OFFERS_BOUND | BZ_OFFERS_RENDEZVOUS}})

CHANNEL(channel, NO_FAULT, "a channel that posts every completion");
CHANNEL(channel_blocks, BLOCKS, "such a channel that takes no item after a cancelled get");
CHANNEL(channel_says_closed, SAYS_CLOSED, "such a channel that says of an item received: closed");
CHANNEL(channel_serves_last, SERVES_LAST, "such a channel that serves the last put first");
