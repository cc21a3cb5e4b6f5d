/* A bounded channel with prompt cancellation, as Kotlin's: the get that makes room takes in the
 * item of the first put that waits, and a put that is cancelled after that says so although its
 * item is delivered. A right one, and faulty siblings. */
#include <string.h>

#include "scenarios/tests/designs/designs.h"

#define SLOTS_MAX 256u

enum fault {
    NO_FAULT,
    DOUBLES, /* the item of a put that was cancelled too late */
    LOSES,   /* the item of a get that was cancelled too late */
    LEAKS,   /* the slot of a put that was cancelled too late */
};

struct channel {
    struct bz_deque puts;
    struct bz_deque gets;
    enum fault fault;
    uint32_t slots;
    uint32_t count;
    uint32_t promised; /* items, to gets that were woken */
    uint64_t items[SLOTS_MAX];
};

struct sender {
    struct bz_waiter waiter;
    uint64_t value;
};

static void wake_get(struct channel *channel) {
    channel->promised +=
        channel->count > channel->promised && bz_deque_pop_and_wake(&channel->gets);
}

static void add(struct channel *channel, uint64_t value) {
    channel->items[channel->count++] = value;
    wake_get(channel);
}

static uint64_t take(struct channel *channel) {
    uint64_t value = channel->items[0];
    struct bz_waiter *put = bz_deque_oldest_asleep(&channel->puts);
    memmove(channel->items, channel->items + 1, --channel->count * sizeof value);
    channel->items[channel->count] = 0;
    if (put != NULL && channel->count < channel->slots) {
        bz_deque_remove(put);
        add(channel, bz_container_of(put, struct sender, waiter)->value);
        (void)bz_future_set_result(&put->future, 0);
    }
    return value;
}

static enum bz_status prompt_try_put(void *instance, uint64_t value, int64_t priority) {
    struct channel *channel = instance;
    (void)priority;
    if (channel->count >= channel->slots) {
        return BZ_FULL;
    }
    add(channel, value);
    return BZ_OK;
}

static enum bz_status prompt_put(void *instance, uint64_t value, int64_t priority) {
    struct channel *channel = instance;
    struct sender sender = {.value = value};
    if (prompt_try_put(channel, value, priority) == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&channel->puts, &sender.waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&sender.waiter)) {
        channel->slots -= channel->fault == LEAKS;
        if (channel->fault == DOUBLES) {
            (void)prompt_try_put(channel, value, priority);
        }
    }
    return status;
}

static enum bz_status prompt_try_get(void *instance, uint64_t *value) {
    struct channel *channel = instance;
    if (channel->count <= channel->promised) {
        return BZ_EMPTY;
    }
    *value = take(channel);
    return BZ_OK;
}

static enum bz_status prompt_get(void *instance, uint64_t *value) {
    struct channel *channel = instance;
    struct bz_waiter waiter;
    if (prompt_try_get(channel, value) == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&channel->gets, &waiter);
    if (bz_waiter_was_woken(&waiter)) {
        channel->promised--;
        if (status == BZ_OK || channel->fault == LOSES) {
            *value = take(channel);
        }
        wake_get(channel);
    }
    return status;
}

static uint64_t prompt_size(void *instance) {
    return ((const struct channel *)instance)->count;
}

#define PROMPT(name, fault_, summary)                                                              \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop,                        \
                                      enum bz_queue_order order, uint32_t maxsize) {               \
        struct channel *channel = instance;                                                        \
        (void)order;                                                                               \
        *channel = (struct channel){.slots = maxsize, .fault = fault_};                            \
        bz_deque_init(&channel->puts, loop);                                                       \
        bz_deque_init(&channel->gets, loop);                                                       \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static const struct bz_queue_ops name##_ops = {.instance_bytes = sizeof(struct channel),       \
                                                   .init = name##_init,                            \
                                                   .put = prompt_put,                              \
                                                   .get = prompt_get,                              \
                                                   .try_put = prompt_try_put,                      \
                                                   .try_get = prompt_try_get,                      \
                                                   .size = prompt_size};                           \
    DESIGN(name, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNAIDED | BZ_CLAIM_MAY_DELIVER, \
           summary, .queue = &name##_ops,                                                          \
           .offers = {[BZ_PRIMITIVE_QUEUE] = {.least = 1,                                          \
                                              .most = SLOTS_MAX,                                   \
                                              .orders = 1u << BZ_QUEUE_ORDER_FIFO,                 \
                                              .bounds = BZ_OFFERS_BOUND}})

PROMPT(prompt, NO_FAULT, "a cancelled put may have delivered its item");
PROMPT(prompt_doubling, DOUBLES, "the same, and puts it once more");
PROMPT(prompt_losing, LOSES, "the same, and a cancelled get takes an item along");
PROMPT(prompt_leaking, LEAKS, "the same, and keeps its slot");
