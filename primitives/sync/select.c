#include "primitives/sync/select.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/future.h"
#include "primitives/runtime/loop.h"

struct wait;

struct arm {
    struct bz_list link;
    struct wait *wait;
    struct bz_port *port;
};

enum decision { NONE = 0, PROMISED = 1, CLOSED = 2 };

/* It has arms as long as it is not decided. */
struct wait {
    struct bz_future future; /* done: decided, or the deadline has passed */
    struct bz_timer timer;
    uint32_t decision;
    uint32_t index; /* of the port that decided it */
    uint32_t count;
    struct arm arms[BZ_SELECT_PORTS_MAX];
};

enum bz_status bz_port_init(struct bz_port *port, struct bz_loop *loop, uint32_t capacity) {
    *port = (struct bz_port){.loop = loop};
    bz_list_init(&port->arms);
    if (capacity == 0) {
        return BZ_INVALID_ARGUMENT;
    }
    return bz_items_init(&port->values, bz_loop_mem(loop), BZ_QUEUE_FIFO, capacity) ? BZ_OK
                                                                                    : BZ_NO_MEMORY;
}

void bz_port_fini(struct bz_port *port) {
    bz_items_fini(&port->values);
}

/* --- who waits -------------------------------------------------------------------------------- */

static void leave_all(struct wait *wait) {
    for (uint32_t index = 0; index < wait->count; index++) {
        bz_list_remove(&wait->arms[index].link);
        wait->arms[index].port->queued--;
    }
    bz_timer_disarm(&wait->timer);
}

static void on_cancel(struct bz_future *future) {
    leave_all(bz_container_of(future, struct wait, future));
}

static void decide(struct arm *arm, enum decision decision) {
    struct wait *wait = arm->wait;
    leave_all(wait);
    wait->decision = decision;
    wait->index = (uint32_t)(arm - wait->arms);
    (void)bz_future_set_result(&wait->future, 0); /* refused after the deadline */
}

/* Until the select resumes, a value may still decide it. */
static void on_deadline(struct bz_timer *timer) {
    (void)bz_future_set_result(&bz_container_of(timer, struct wait, timer)->future, 0);
}

static bool has_value(const struct bz_port *port) {
    return port->values.count > port->promised;
}

/* In a closed port no promise may come back any more. */
static bool is_over(const struct bz_port *port) {
    return port->is_closed && port->values.count == 0;
}

static void serve(struct bz_port *port) {
    while (!bz_list_is_empty(&port->arms) && (has_value(port) || is_over(port))) {
        struct arm *arm = bz_container_of(port->arms.next, struct arm, link);
        bool is_promised = has_value(port);
        port->promised += is_promised;
        decide(arm, is_promised ? PROMISED : CLOSED);
    }
}

/* --- operations ------------------------------------------------------------------------------- */

enum bz_status bz_port_put(struct bz_port *port, uint64_t value) {
    if (port->is_closed || port->values.count == port->values.capacity) {
        return port->is_closed ? BZ_CLOSED : BZ_FULL;
    }
    bz_items_push(&port->values, value, 0);
    serve(port);
    return BZ_OK;
}

void bz_port_close(struct bz_port *port) {
    port->is_closed = true;
    serve(port);
}

static enum bz_status take(struct bz_port *port, struct bz_selected *selected) {
    selected->value = bz_items_pop(&port->values);
    serve(port); /* it may be over now */
    return BZ_OK;
}

/* The end of a select whose future is done. */
static enum bz_status resume(struct wait *wait, enum bz_status status,
                             struct bz_selected *selected) {
    struct bz_port *port = wait->arms[wait->index].port;
    selected->index = wait->index;
    port->promised -= wait->decision == PROMISED;
    if (wait->decision == NONE) {
        leave_all(wait);
        return status == BZ_OK ? BZ_TIMED_OUT : status;
    }
    if (status == BZ_OK) {
        return wait->decision == PROMISED ? take(port, selected) : BZ_CLOSED;
    }
    serve(port);
    return status;
}

static enum bz_status wait_for_first(struct bz_port *const *ports, uint32_t count,
                                     uint64_t delay_ns, struct bz_selected *selected) {
    struct bz_loop *loop = ports[0]->loop;
    struct wait wait = {.count = 0};
    bz_future_init(&wait.future, loop);
    wait.future.on_cancel = on_cancel;
    bz_timer_init(&wait.timer, loop, on_deadline);
    if (delay_ns != BZ_TIME_NEVER &&
        !bz_timer_arm(&wait.timer, bz_time_after(bz_loop_now_ns(loop), delay_ns))) {
        return BZ_NO_MEMORY;
    }
    for (; wait.count < count; wait.count++) {
        struct arm *arm = &wait.arms[wait.count];
        arm->wait = &wait;
        arm->port = ports[wait.count];
        arm->port->queued++;
        bz_list_push_back(&arm->port->arms, &arm->link);
    }
    enum bz_status status = bz_future_await(&wait.future);
    return wait.future.state == BZ_FUTURE_CANCELLED ? BZ_CANCELLED
                                                    : resume(&wait, status, selected);
}

enum bz_status bz_select(struct bz_port *const *ports, uint32_t count, uint64_t delay_ns,
                         struct bz_selected *selected) {
    BZ_CHECK(count > 0 && count <= BZ_SELECT_PORTS_MAX);
    for (uint32_t index = 0; index < count; index++) {
        selected->index = index;
        if (has_value(ports[index])) {
            return take(ports[index], selected);
        }
        if (is_over(ports[index])) {
            return BZ_CLOSED;
        }
    }
    return wait_for_first(ports, count, delay_ns, selected);
}
