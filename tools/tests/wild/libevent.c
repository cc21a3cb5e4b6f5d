/* A pair of bufferevents of libevent as a queue without a bound: an item is eight bytes. Callbacks
 * are deferred; they run in a turn of the event base, which is a step of Buzzer's loop, and wake
 * all who wait. (With a high watermark the base calls back without a pause while the buffer is
 * full.) */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "tools/tests/wild/wild.h"

struct libevent {
    struct wild cage; /* first */
    struct event_base *base;
    struct bufferevent *pair[2]; /* written to; read from */
    struct bz_list waiters;
};

struct waiter {
    struct bz_request request;
    struct bz_list link;
};

static void wake(struct bz_list *waiters) {
    while (!bz_list_is_empty(waiters)) {
        struct bz_list *first = waiters->next;
        bz_list_remove(first);
        bz_request_done(&bz_container_of(first, struct waiter, link)->request, BZ_OK);
    }
}
static void on_read(struct bufferevent *side, void *in) {
    (void)side;
    wake(&((struct libevent *)in)->waiters);
}
static void turn(struct wild *cage) {
    struct libevent *in = (struct libevent *)cage;
    (void)event_base_loop(in->base, EVLOOP_NONBLOCK);
    if (event_base_get_num_events(in->base, EVENT_BASE_COUNT_ACTIVE) > 0) {
        wild_turn_soon(cage, turn);
    }
}

static bool cancel(void *arg) {
    struct waiter *own = arg;
    bz_list_remove(&own->link);
    bz_request_done(&own->request, BZ_CANCELLED);
    return true;
}
/* A wake-up grants nothing. */
static void keep(void *own) {
    (void)own;
}
static enum bz_status waits(struct libevent *in) {
    struct waiter own = {.request.undo = keep};
    bz_list_push_back(&in->waiters, &own.link);
    return bz_request_wait(&own.request, in->cage.loop, &own, NULL, cancel);
}

static uint64_t size(void *arg) {
    struct libevent *in = arg;
    wild_enter(&in->cage);
    size_t bytes = evbuffer_get_length(bufferevent_get_input(in->pair[1]));
    wild_leave(&in->cage);
    return bytes / sizeof(uint64_t);
}
static enum bz_status put(void *arg, uint64_t value, int64_t priority) {
    struct libevent *in = arg;
    (void)priority;
    wild_enter(&in->cage);
    int error = bufferevent_write(in->pair[0], &value, sizeof value);
    wild_leave(&in->cage);
    wild_turn_soon(&in->cage, turn);
    return error == 0 ? BZ_OK : BZ_NO_MEMORY;
}
static enum bz_status try_get(void *arg, uint64_t *value) {
    struct libevent *in = arg;
    if (size(in) == 0) {
        return BZ_EMPTY;
    }
    wild_enter(&in->cage);
    size_t bytes = bufferevent_read(in->pair[1], value, sizeof *value);
    wild_leave(&in->cage);
    wild_turn_soon(&in->cage, turn);
    return bytes == sizeof *value ? BZ_OK : BZ_FAILED;
}
static enum bz_status get(void *in, uint64_t *value) {
    enum bz_status status;
    while ((status = try_get(in, value)) == BZ_EMPTY) {
        if ((status = waits(in)) != BZ_OK) {
            break;
        }
    }
    return status;
}
static enum bz_status init(void *arg, struct bz_loop *loop, enum bz_queue_order order,
                           uint32_t maxsize) {
    struct libevent *in = arg;
    (void)order, (void)maxsize;
    if (!wild_begin(&in->cage, loop)) {
        return BZ_NO_MEMORY;
    }
    bz_list_init(&in->waiters);
    wild_enter(&in->cage);
    in->base = event_base_new();
    int error = bufferevent_pair_new(in->base, BEV_OPT_DEFER_CALLBACKS, in->pair);
    bufferevent_setcb(in->pair[1], on_read, NULL, NULL, in);
    error |= bufferevent_enable(in->pair[1], EV_READ);
    wild_leave(&in->cage);
    return error == 0 ? BZ_OK : BZ_NO_MEMORY;
}
static long nothing(void) {
    return 0;
}
static int fake_descriptor(void) {
    return 1000;
}
static int fake_pair(int ends[2]) {
    ends[0] = 1000;
    ends[1] = 1001;
    return 0;
}
static const struct wild_hook hooks[] = {{"epoll_create1", fake_descriptor},
                                         {"epoll_ctl", nothing},
                                         {"epoll_wait", nothing},
                                         {"pipe2", fake_pair},
                                         {"close", nothing},
                                         {NULL, NULL}};

__attribute__((constructor)) static void load(void) {
    wild_library("libevent_core-2.1.so", hooks);
}

static const struct bz_queue_ops queue_ops = {.instance_bytes = sizeof(struct libevent),
                                              .init = init,
                                              .put = put,
                                              .get = get,
                                              .try_put = put,
                                              .try_get = try_get,
                                              .size = size};
static const struct bz_variant variant = {
    .version = BZ_VARIANT_VERSION,
    .name = "libevent",
    .summary = "libevent: a pair of bufferevents as a queue",
    .claims = BZ_CLAIM_UNFAIR | BZ_CLAIM_TAKES_AT_RETURN,
    .queue = &queue_ops,
    .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_NO_BOUND, .orders = 1}}};
BZ_PLUGIN(&variant);
