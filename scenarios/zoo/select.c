/* Selects over ports, as in primitives/sync/select.h. An entry has one fault. */
#include "primitives/sync/select.h"

#include "primitives/runtime/future.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "scenarios/variants/modelled.h"
#include "scenarios/zoo/zoo.h"

enum fault { FAULTLESS, EIO_356, SWOW_291, ASIO_1041 };

/* The operations, by their numbers in the model. */
enum { SELECT, SELECT_WITHIN, PUT, CLOSE };

#define PORTS BZ_MODEL_PORTS

struct desk {
    struct bz_port ports[PORTS];
    enum fault fault;
};

struct wait;
struct arm {
    struct bz_list link;
    struct wait *wait;
    bool has_promise;
};

struct wait {
    struct bz_future future; /* done: decided, or the deadline has passed */
    struct bz_timer timer;
    struct desk *desk;
    struct arm arms[PORTS];
    int64_t decided_by; /* a port; PORTS: none */
    bool has_expired;
};

static struct bz_port *port_of(const struct arm *arm) {
    return &arm->wait->desk->ports[arm - arm->wait->arms];
}

static bool has_value(const struct bz_port *port) {
    return port->values.count > port->promised;
}

static bool is_over(const struct bz_port *port) {
    return port->is_closed && port->values.count == 0;
}

static void leave(struct arm *arm) {
    if (bz_list_is_linked(&arm->link)) {
        bz_list_remove(&arm->link);
        port_of(arm)->queued--;
    }
}

/* eio-356: two arms of one select each take a value, and one of the two is dropped.
 *
 * A put hands its value to the oldest receiver that waits. In a select the receiver is one arm of
 * several. The first value decides the select, which resumes in a later step, and then takes its
 * other arms back. Until then they wait: a second value goes to another arm. The select returns one
 * value, and drops the other. kanal 50 and embassy 5484 are the same.
 *
 *     A selects from both ports; a value is put into each; A resumes with the first: the second is
 *     in neither port, and no task has it
 *
 * The cure: the arm that is decided takes out all others, in the same step.
 *
 * swow-291: the other arms of a select stay in their queues when it has ended.
 *
 * Each arm has an entry in the queue of its port. A select that ended by one arm, above all by a
 * close, left the others there. The next value of another port goes to such an entry. In swow its
 * memory was gone by then, and the process crashed. Where the memory is left, the value is lost.
 *
 *     A selects from both ports; port 1 gets a value, which A takes; port 2 gets one, and B waits
 *     there behind A's entry: the value is promised to A, and B waits forever
 *
 * The cure: as above. */
static void leave_others(struct wait *wait, bool has_resumed) {
    enum fault fault = wait->desk->fault;
    /* the faults: eio-356 does so when it resumes, swow-291 never */
    if (fault == SWOW_291 || (fault == EIO_356 && !has_resumed)) {
        return;
    }
    for (int64_t index = 0; index < PORTS; index++) {
        leave(&wait->arms[index]);
    }
}

static void serve(struct bz_port *port) {
    while (!bz_list_is_empty(&port->arms) && (has_value(port) || is_over(port))) {
        struct arm *arm = bz_container_of(port->arms.next, struct arm, link);
        struct wait *wait = arm->wait;
        arm->has_promise = has_value(port);
        port->promised += arm->has_promise;
        wait->decided_by = wait->decided_by == PORTS ? arm - wait->arms : wait->decided_by;
        leave(arm);
        leave_others(wait, false);
        (void)bz_future_set_result(&wait->future, 0);
    }
}

static int64_t take(struct bz_port *port) {
    int64_t value = (int64_t)bz_items_pop(&port->values);
    serve(port);
    return value;
}

/* asio-1041: a value that comes beside the deadline is dropped.
 *
 * A receive and a timer are started together, and the first to end cancels the other. The value is
 * taken out of the channel when the receive is decided. If the timer has fired before the select
 * resumes, the timer has won: the select says that it timed out, and drops what was received.
 *
 *     A waits for a port, at most for a while; the deadline passes; a value is put; A resumes: it
 *     has timed out, and the value is gone
 *
 * The cure: a select that was given a value returns it, even behind its deadline. */
static bool is_too_late(const struct wait *wait) {
    return wait->has_expired &&
           (wait->decided_by == PORTS || wait->desk->fault == ASIO_1041); /* the fault */
}

static void on_deadline(struct bz_timer *timer) {
    struct wait *wait = bz_container_of(timer, struct wait, timer);
    wait->has_expired = true;
    (void)bz_future_set_result(&wait->future, 0);
}

static enum bz_status end(struct wait *wait, enum bz_status status, int64_t *answer) {
    *answer = BZ_MODEL_SELECTED(-(int64_t)BZ_TIMED_OUT, 0);
    leave_others(wait, true);
    bz_timer_disarm(&wait->timer);
    for (int64_t index = 0; index < PORTS; index++) {
        struct arm *arm = &wait->arms[index];
        struct bz_port *port = port_of(arm);
        int64_t value = -(int64_t)BZ_CLOSED;
        port->promised -= arm->has_promise;
        if (arm->has_promise && status == BZ_OK) {
            value = take(port);
        } else {
            serve(port);
        }
        if (wait->decided_by == index && !is_too_late(wait)) {
            *answer = BZ_MODEL_SELECTED(value, index);
        }
    }
    return status;
}

static enum bz_status select_from(struct desk *desk, const int64_t *arguments, bool has_deadline,
                                  int64_t *answer) {
    struct bz_loop *loop = desk->ports[0].loop;
    struct wait *wait = bz_mem_alloc(bz_loop_mem(loop), sizeof *wait);
    if (wait == NULL) {
        return BZ_NO_MEMORY;
    }
    int64_t set = has_deadline ? BZ_MODEL_ALL_PORTS : arguments[0];
    *wait = (struct wait){.desk = desk, .decided_by = PORTS};
    bz_future_init(&wait->future, loop);
    bz_timer_init(&wait->timer, loop, on_deadline);
    for (int64_t index = 0; index < PORTS; index++) {
        struct arm *arm = &wait->arms[index];
        arm->wait = wait;
        if ((set >> index & 1) != 0) {
            bz_list_push_back(&port_of(arm)->arms, &arm->link);
            port_of(arm)->queued++;
        }
    }
    for (int64_t index = 0; index < PORTS && wait->decided_by == PORTS; index++) {
        serve(&desk->ports[index]);
    }
    if (has_deadline && wait->decided_by == PORTS &&
        !bz_timer_arm(&wait->timer, bz_time_after(bz_loop_now_ns(loop), (uint64_t)arguments[0]))) {
        return BZ_NO_MEMORY;
    }
    return end(wait, bz_future_await(&wait->future), answer);
}

static enum bz_status put(struct bz_port *port, uint64_t value) {
    if (port->is_closed || port->values.count == port->values.capacity) {
        return port->is_closed ? BZ_CLOSED : BZ_FULL;
    }
    bz_items_push(&port->values, value, 0);
    serve(port);
    return BZ_OK;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct desk *desk = instance;
    switch (op) {
    case PUT:
        return bz_modelled_ended(put(&desk->ports[arguments[1]], (uint64_t)arguments[0]), answer);
    case CLOSE:
        desk->ports[arguments[0]].is_closed = true;
        serve(&desk->ports[arguments[0]]);
        return BZ_OK;
    default: /* SELECT, SELECT_WITHIN */
        return select_from(desk, arguments, op == SELECT_WITHIN, answer);
    }
}

#define ENTRY(entry, fault_)                                                                       \
    static enum bz_status entry##_init(void *instance, struct bz_loop *loop,                       \
                                       const int64_t *parameters) {                                \
        ((struct desk *)instance)->fault = fault_;                                                 \
        return bz_variant_select.modelled->init(instance, loop, parameters);                       \
    }                                                                                              \
    const struct bz_modelled_ops bz_zoo_ops_##entry = {.instance_bytes = sizeof(struct desk),      \
                                                       .model = &bz_model_select,                  \
                                                       .init = entry##_init,                       \
                                                       .call = call};

ENTRY(eio_356, EIO_356)
ENTRY(swow_291, SWOW_291)
ENTRY(asio_1041, ASIO_1041)
ENTRY(faultless_select, FAULTLESS) /* for the tests */
