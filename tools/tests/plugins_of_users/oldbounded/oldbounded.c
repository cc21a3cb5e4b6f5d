/* oldbounded: a bounded of one's own, for Buzzer to test.
 *
 *     cc -o oldbounded.so oldbounded.c $(pkg-config --cflags --libs buzzer-plugin)
 *     buzzer run contended --plugin ./oldbounded.so --variant oldbounded
 *
 * What is here works and is simple: a permit that is given back is reserved for the oldest waiter,
 * who is woken at that moment. Put your own algorithm in its place, function by function; the
 * contract is in sim/variant/variant.h.
 *
 * Compiled with -DFAULT=1 it forgets one thing, so that a test can show that it finds something.
 */
#include "sim/variant/plugin.h"

#ifndef FAULT
#define FAULT 0
#endif

/* One task in the queue. It lives on the stack of the task that waits, so that waiting allocates
 * nothing. */
struct oldbounded_waiter {
    struct bz_future future; /* pending: it waits; with a result: it was woken */
    struct bz_list link;
};

struct oldbounded {
    struct bz_loop *loop;
    struct bz_list queue; /* the oldest first; an entry leaves when its task has resumed */
    uint32_t value;       /* permits that are neither held nor reserved */
    uint32_t bound;       /* so many at most */
};

static struct oldbounded_waiter *waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct oldbounded_waiter, link);
}

static uint32_t count(const struct oldbounded *self, enum bz_future_state state) {
    uint32_t found = 0;
    for (struct bz_list *link = self->queue.next; link != &self->queue; link = link->next) {
        found += waiter_of(link)->future.state == state;
    }
    return found;
}

/* Reserves free permits for the oldest waiters. To set the result wakes the task: it resumes in
 * some later step, and others may run before that. */
static void wake_oldest(struct oldbounded *self) {
    struct bz_list *link = self->queue.next;
    while (self->value > 0 && link != &self->queue) {
        if (bz_future_set_result(&waiter_of(link)->future, 0) == BZ_OK) {
            self->value--;
        }
        link = link->next;
    }
}

/* --- the operations --------------------------------------------------------------------------- */

/* The memory is zeroed, and there is no more of it than instance_bytes below. */
static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct oldbounded *self = instance;
    self->loop = loop;
    self->value = permits;
    self->bound = permits;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct oldbounded *self = instance;
    struct oldbounded_waiter waiter;
    if (self->value > 0) { /* then nobody waits: see wake_oldest() */
        self->value--;
        return BZ_OK;
    }
    bz_future_init(&waiter.future, self->loop);
    bz_list_push_back(&self->queue, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    bz_list_remove(&waiter.link);
    /* The window. Between the wake-up and this line the task may have been cancelled: the future
     * holds a result, and the await says BZ_CANCELLED. A permit was reserved for us, and we leave
     * without it: somebody else must get it. */
    if (!FAULT && status != BZ_OK && waiter.future.state == BZ_FUTURE_RESULT) {
        self->value++;
        wake_oldest(self);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct oldbounded *self = instance;
    if (self->value + count(self, BZ_FUTURE_RESULT) >= self->bound) {
        return BZ_NOT_HELD;
    }
    self->value++;
    wake_oldest(self);
    return BZ_OK;
}

static bool locked(void *instance) {
    const struct oldbounded *self = instance;
    return self->value == 0;
}

/* What the oracles may see after every step. Leave it out of the table and they judge by what the
 * operations do alone; with it they say at which step the permit was lost. */
static void view(void *instance, struct bz_permit_view *view) {
    const struct oldbounded *self = instance;
    view->waiting = count(self, BZ_FUTURE_PENDING);
    view->woken = count(self, BZ_FUTURE_RESULT);
    view->cancelled = count(self, BZ_FUTURE_CANCELLED);
    view->queued = view->waiting + view->woken + view->cancelled;
    view->level = (uint64_t)self->value + view->woken; /* reserved, but not taken up */
}

/* --- what the program is told ----------------------------------------------------------------- */

static const struct bz_permit_ops ops = {
    .instance_bytes = sizeof(struct oldbounded),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
    .view = view,
};

/* Claim what holds: an oracle judges what was claimed. */
static const struct bz_variant variant = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_REFUSES_MISUSE,
    .name = "oldbounded",
    .summary = "a bounded that reserves a permit for the oldest waiter",
    .permits = {[BZ_PRIMITIVE_BOUNDED] = &ops},
};

BZ_PLUGIN(&variant);
