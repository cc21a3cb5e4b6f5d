/* Waits by yields, or by sleeps: a task that cannot go on looks again later, and is never suspended
 * on a future. So something can always run, and nothing is ever at rest. Faulty siblings: an
 * acquire that had to wait never sees a release, and a release is lost while a task waits. A slow
 * one gives back what was released by a timer of its own. */
#include <string.h>

#include "scenarios/tests/designs/designs.h"

#define SLOTS_MAX 64u

#define NAP_NS UINT64_C(1000000)
#define NAPS 300u
#define TICK_NS (2000 * NAP_NS) /* longer than the judge goes on after the step limit */

/* The last three are none. */
enum fault { NO_FAULT, IS_BLIND, LOSES, IS_DEAF, COUNTS_ALL, LOOKS_SELDOM, GETS_SELDOM, TICKS };

struct spinner {
    struct bz_loop *loop;
    enum fault fault;
    uint64_t nap_ns; /* 0: it yields */
    uint32_t count;  /* free permits; items; tasks at the barrier; 1: the event is set */
    uint32_t most;   /* permits; items; parties */
    uint32_t waiting;
    uint64_t items[SLOTS_MAX];
    struct bz_list waiters; /* at the condition, at the barrier */
    struct bz_timer tick;
    uint32_t returned; /* permits that it gives back */
    uint32_t ticks;
};

static void give_back(struct bz_timer *timer) {
    struct spinner *self = bz_container_of(timer, struct spinner, tick);
    if (self->fault == TICKS && ++self->ticks % (TICK_NS / NAP_NS) != 0 &&
        bz_timer_arm(timer, bz_time_after(bz_loop_now_ns(self->loop), NAP_NS))) {
        return;
    }
    self->count += self->returned;
    self->returned = 0;
}

static enum bz_status begin(void *instance, struct bz_loop *loop, uint32_t count, uint32_t most,
                            enum fault fault, uint64_t nap_ns) {
    struct spinner *self = instance;
    *self = (struct spinner){
        .loop = loop, .fault = fault, .nap_ns = nap_ns, .count = count, .most = most};
    bz_list_init(&self->waiters);
    bz_timer_init(&self->tick, loop, give_back);
    return BZ_OK;
}

static enum bz_status wait_a_bit(const struct spinner *self) {
    enum bz_status status = BZ_OK;
    uint64_t naps = self->fault == LOOKS_SELDOM ? NAPS * NAP_NS / self->nap_ns : 1;
    for (uint64_t nap = 0; status == BZ_OK && nap < naps; nap++) {
        status = self->nap_ns > 0 ? bz_sleep(self->loop, self->nap_ns) : bz_yield(self->loop);
    }
    return status;
}

static bool has_some(const struct spinner *self) {
    return self->count > 0;
}

/* Until `may_go`, or until the task is cancelled. */
static enum bz_status spin(struct spinner *self, bool (*may_go)(const struct spinner *)) {
    enum bz_status status = BZ_OK;
    bool sees = true;
    bool is_lazy = self->fault == GETS_SELDOM && may_go == has_some;
    self->waiting++;
    while (status == BZ_OK && !(sees && may_go(self))) {
        sees = self->fault != IS_BLIND;
        status = is_lazy ? bz_sleep(self->loop, TICK_NS) : wait_a_bit(self);
        status = self->fault == IS_DEAF ? BZ_OK : status;
    }
    self->waiting--;
    return status;
}

static bool has_room(const struct spinner *self) {
    return self->count < self->most;
}

/* --- permits ---------------------------------------------------------------------------------- */

static enum bz_status spin_acquire(void *instance) {
    struct spinner *self = instance;
    enum bz_status status = spin(self, has_some);
    self->count -= status == BZ_OK;
    return status;
}

static enum bz_status spin_release_any(void *instance) {
    struct spinner *self = instance;
    self->count += self->fault != LOSES || self->waiting == 0;
    return BZ_OK;
}

static enum bz_status spin_release(void *instance) {
    const struct spinner *self = instance;
    return self->count == self->most ? BZ_NOT_HELD : spin_release_any(instance);
}

static bool spin_locked(void *instance) {
    return ((const struct spinner *)instance)->count == 0;
}

static void spin_view(void *instance, struct bz_permit_view *view) {
    view->level = ((const struct spinner *)instance)->count;
}

/* --- event ------------------------------------------------------------------------------------ */

static void spin_set(void *instance) {
    struct spinner *self = instance;
    self->count = self->fault != LOSES || self->waiting == 0;
}

static void spin_clear(void *instance) {
    ((struct spinner *)instance)->count = 0;
}

static bool spin_is_set(void *instance) {
    return !spin_locked(instance);
}

static enum bz_status spin_wait(void *instance) {
    return spin(instance, has_some);
}

/* Until somebody else has taken it out of the line. */
static enum bz_status spin_in_line(struct spinner *self, const struct bz_list *own) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && (bz_list_is_linked(own) || self->fault == IS_BLIND)) {
        status = wait_a_bit(self);
    }
    return status;
}

/* --- condition -------------------------------------------------------------------------------- */

static enum bz_status spin_notify(void *instance, uint32_t count) {
    struct spinner *self = instance;
    if (self->count > 0) {
        return BZ_NOT_HELD;
    }
    for (; count > 0 && !bz_list_is_empty(&self->waiters) && self->fault != LOSES; count--) {
        bz_list_remove(self->waiters.next);
    }
    return BZ_OK;
}

/* One that was notified and cancelled notifies another one. */
static enum bz_status spin_wait_notified(void *instance) {
    struct spinner *self = instance;
    struct bz_list own;
    if (self->count > 0) {
        return BZ_NOT_HELD;
    }
    bz_list_push_back(&self->waiters, &own);
    self->count = 1;
    enum bz_status status = spin_in_line(self, &own);
    while (self->count == 0) {
        enum bz_status again = wait_a_bit(self);
        status = again == BZ_OK ? status : again;
    }
    self->count = 0;
    if (bz_list_is_linked(&own)) {
        bz_list_remove(&own);
    } else if (status != BZ_OK) {
        (void)spin_notify(instance, 1);
    }
    return status;
}

/* --- barrier ---------------------------------------------------------------------------------- */

struct arrival {
    struct bz_list link;
    uint32_t index;
};

/* The last one to come numbers all of its round, and lets them go. */
static enum bz_status spin_arrive(void *instance, uint32_t *index) {
    struct spinner *self = instance;
    struct arrival own = {.index = 0};
    bz_list_push_back(&self->waiters, &own.link);
    if (++self->count == self->most) {
        for (; !bz_list_is_empty(&self->waiters); self->count--) {
            struct bz_list *first = self->waiters.next;
            bz_container_of(first, struct arrival, link)->index = self->most - self->count;
            bz_list_remove(first);
        }
    }
    enum bz_status status = spin_in_line(self, &own.link);
    if (bz_list_is_linked(&own.link)) {
        bz_list_remove(&own.link);
        self->count -= self->fault != COUNTS_ALL;
    }
    *index = own.index;
    return status;
}

/* --- queue ------------------------------------------------------------------------------------ */

static enum bz_status spin_try_put(void *instance, uint64_t value, int64_t priority) {
    struct spinner *self = instance;
    (void)priority;
    if (!has_room(self)) {
        return BZ_FULL;
    }
    self->items[self->count++] = value;
    return BZ_OK;
}

static enum bz_status spin_try_get(void *instance, uint64_t *value) {
    struct spinner *self = instance;
    if (!has_some(self)) {
        return BZ_EMPTY;
    }
    *value = self->items[0];
    memmove(self->items, self->items + 1, --self->count * sizeof *value);
    self->items[self->count] = 0;
    return BZ_OK;
}

static enum bz_status spin_put(void *instance, uint64_t value, int64_t priority) {
    enum bz_status status = spin(instance, has_room);
    return status == BZ_OK ? spin_try_put(instance, value, priority) : status;
}

static enum bz_status spin_get(void *instance, uint64_t *value) {
    enum bz_status status = spin(instance, has_some);
    return status == BZ_OK ? spin_try_get(instance, value) : status;
}

static uint64_t spin_size(void *instance) {
    return ((const struct spinner *)instance)->count;
}

/* --- the designs ------------------------------------------------------------------------------ */

#define SPINNING(name, fault, nap_ns, summary)                                                     \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop, uint32_t permits) {    \
        return begin(instance, loop, permits, permits, fault, nap_ns);                             \
    }                                                                                              \
    static enum bz_status name##_condition_init(void *instance, struct bz_loop *loop) {            \
        return begin(instance, loop, 1, 1, fault, nap_ns);                                         \
    }                                                                                              \
    static enum bz_status name##_event_init(void *instance, struct bz_loop *loop) {                \
        return begin(instance, loop, 0, 1, fault, nap_ns);                                         \
    }                                                                                              \
    static enum bz_status name##_barrier_init(void *instance, struct bz_loop *loop,                \
                                              uint32_t parties) {                                  \
        return begin(instance, loop, 0, parties, fault, nap_ns);                                   \
    }                                                                                              \
    static enum bz_status name##_queue_init(void *instance, struct bz_loop *loop,                  \
                                            enum bz_queue_order order, uint32_t maxsize) {         \
        (void)order;                                                                               \
        return begin(instance, loop, 0, maxsize, fault, nap_ns);                                   \
    }                                                                                              \
    DESIGN(                                                                                        \
        name,                                                                                      \
        BZ_CLAIM_UNFAIR | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_LOCKED_EXACT |                        \
            BZ_CLAIM_WAIT_MORPHING,                                                                \
        summary,                                                                                   \
        ALL_PERMITS(SPIN_OPS(name##_init, spin_release_any), SPIN_OPS(name##_init, spin_release)), \
        .event = &(const struct bz_event_ops){.instance_bytes = sizeof(struct spinner),            \
                                              .init = name##_event_init,                           \
                                              .set = spin_set,                                     \
                                              .clear = spin_clear,                                 \
                                              .is_set = spin_is_set,                               \
                                              .wait = spin_wait},                                  \
        .condition = &(const struct bz_condition_ops){.instance_bytes = sizeof(struct spinner),    \
                                                      .init = name##_condition_init,               \
                                                      .acquire = spin_acquire,                     \
                                                      .release = spin_release,                     \
                                                      .locked = spin_locked,                       \
                                                      .wait = spin_wait_notified,                  \
                                                      .notify = spin_notify},                      \
        .barrier = &(const struct bz_barrier_ops){.instance_bytes = sizeof(struct spinner),        \
                                                  .init = name##_barrier_init,                     \
                                                  .wait = spin_arrive},                            \
        .queue = &(const struct bz_queue_ops){.instance_bytes = sizeof(struct spinner),            \
                                              .init = name##_queue_init,                           \
                                              .put = spin_put,                                     \
                                              .get = spin_get,                                     \
                                              .try_put = spin_try_put,                             \
                                              .try_get = spin_try_get,                             \
                                              .size = spin_size},                                  \
        .offers = {[BZ_PRIMITIVE_QUEUE] = {.least = 1,                                             \
                                           .most = SLOTS_MAX,                                      \
                                           .orders = 1u << BZ_QUEUE_ORDER_FIFO,                    \
                                           .bounds = BZ_OFFERS_BOUND}})
#define SPIN_OPS(init_, release_)                                                                  \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct spinner), .init = init_, .acquire = spin_acquire,          \
        .release = release_, .locked = spin_locked, .view = spin_view                              \
    }

SPINNING(spinning, NO_FAULT, 0, "a task that has to wait yields and looks again");
SPINNING(spinning_blind, IS_BLIND, 0, "the same, and a task that had to wait never goes on");
SPINNING(spinning_losing, LOSES, 0, "the same, and what is given back while one waits is lost");
SPINNING(sleeping, NO_FAULT, NAP_NS, "a task that has to wait sleeps and looks again");
SPINNING(sleeping_blind, IS_BLIND, NAP_NS, "the same, and a task that had to wait never goes on");
SPINNING(sleeping_sliced, LOOKS_SELDOM, NAP_NS, "the same, after many naps");
SPINNING(sleeping_briefly, LOOKS_SELDOM, NAP_NS / 10, "the same, after many short naps");
SPINNING(sleeping_lazy, GETS_SELDOM, NAP_NS, "the same, after a long nap where it takes something");
SPINNING(sleeping_counting, COUNTS_ALL, NAP_NS, "the same, and a cancelled arrival still counts");
SPINNING(sleeping_deaf, IS_DEAF, NAP_NS, "the same, and a cancel ends no wait");

/* --- permits that come back later ------------------------------------------------------------- */

static enum bz_status slow_release(void *instance) {
    struct spinner *self = instance;
    bool is_armed = self->returned > 0 ||
                    bz_timer_arm(&self->tick, bz_time_after(bz_loop_now_ns(self->loop), TICK_NS));
    self->returned += is_armed;
    return is_armed ? BZ_OK : BZ_NO_MEMORY;
}

/* In the order in which they came. */
static enum bz_status slow_acquire(void *instance) {
    struct spinner *self = instance;
    enum bz_status status = BZ_OK;
    struct bz_list own;
    bz_list_push_back(&self->waiters, &own);
    while (status == BZ_OK && !(has_some(self) && self->waiters.next == &own)) {
        status = wait_a_bit(self);
    }
    bz_list_remove(&own);
    self->count -= status == BZ_OK;
    return status;
}

#define SLOW(name, fault, nap_ns)                                                                  \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop, uint32_t permits) {    \
        return begin(instance, loop, permits, permits, fault, nap_ns);                             \
    }                                                                                              \
    DESIGN(name, BZ_CLAIM_UNFAIR, "a released permit comes back by a timer",                       \
           .permits = {[BZ_PRIMITIVE_SEMAPHORE] =                                                  \
                           &(const struct bz_permit_ops){.instance_bytes = sizeof(struct spinner), \
                                                         .init = name##_init,                      \
                                                         .acquire = slow_acquire,                  \
                                                         .release = slow_release}})

SLOW(spinning_slow, NO_FAULT, 0);
SLOW(sleeping_slow, NO_FAULT, NAP_NS);
SLOW(sleeping_ticking, TICKS, NAP_NS);
