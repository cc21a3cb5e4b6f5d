/* tk-6450: a task has two acquires in the queue, and polls the second.
 *
 * In a select, a branch that did not win may be kept and be left alone while another branch asks
 * for the same mutex. The first acquire has its place in the queue all the same, before the second.
 * When its turn comes, the mutex is assigned to it, and it is for its owner to find out; but the
 * owner waits for the other one.
 *
 * A caller who has waited for some time asks again here, and keeps the first acquire. It is woken
 * by a timer in between, so that a wake-up is no grant; nothing is claimed of the order of service.
 * What is seen from outside is enough: there is no view, for one caller may have two entries.
 *
 *     A holds; B asks; B's patience ends and B asks again; A releases: the first acquire has it
 *
 * The cure, which is the caller's: poll both, or drop the first. */
#include "primitives/runtime/timer.h"
#include "scenarios/scenarios.h"
#include "scenarios/zoo/waiters.h"

/* How long a caller is content with one acquire. */
#define PATIENCE_NS 5u

/* One acquire: a place in the queue, and whom to wake. */
struct ask {
    struct bz_list link;
    struct bz_future *poller; /* NULL: nobody polls it */
    bool is_granted;
};

struct caller {
    struct bz_timer patience;
    struct bz_future woken;
    struct ask asks[2];
};

static void hand_over(struct bz_zoo_handoff *lock) {
    struct bz_list *link = bz_list_pop_front(&lock->queue.entries);
    lock->is_owned = link != NULL;
    lock->is_promised = link != NULL;
    if (link != NULL) {
        struct ask *oldest = bz_container_of(link, struct ask, link);
        oldest->is_granted = true;
        if (oldest->poller != NULL) {
            bz_future_set_result(oldest->poller, 0); /* refused if it was woken already */
        }
    }
}

static void on_patience(struct bz_timer *timer) {
    struct caller *caller = bz_container_of(timer, struct caller, patience);
    bz_future_set_result(&caller->woken, 0); /* refused if it was woken already */
}

/* Queues an acquire, and waits until the caller is woken, by whatever. */
static enum bz_status poll(struct bz_zoo_handoff *lock, struct caller *caller, struct ask *ask) {
    bz_future_init(&caller->woken, lock->queue.loop);
    ask->poller = &caller->woken;
    bz_list_push_back(&lock->queue.entries, &ask->link);
    return bz_future_await(&caller->woken);
}

static void drop(struct ask *ask) {
    if (bz_list_is_linked(&ask->link)) {
        bz_list_remove(&ask->link);
    }
}

static enum bz_status acquire(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned) {
        lock->is_owned = true;
        return BZ_OK;
    }
    struct bz_loop *loop = lock->queue.loop;
    struct caller caller = {.asks = {{.is_granted = false}}};
    bz_timer_init(&caller.patience, loop, on_patience);
    if (!bz_timer_arm(&caller.patience, bz_loop_now_ns(loop) + PATIENCE_NS)) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = poll(lock, &caller, &caller.asks[0]);
    bz_timer_disarm(&caller.patience);
    if (status == BZ_OK && !caller.asks[0].is_granted) {
        caller.asks[0].poller = NULL; /* the fault: it is still queued */
        status = poll(lock, &caller, &caller.asks[1]);
    }
    drop(&caller.asks[0]);
    drop(&caller.asks[1]);
    if (status == BZ_OK) {
        lock->is_promised = false;
    } else if (caller.asks[0].is_granted || caller.asks[1].is_granted) {
        hand_over(lock);
    }
    return status;
}

static enum bz_status release(void *instance) {
    struct bz_zoo_handoff *lock = instance;
    if (!lock->is_owned || lock->is_promised) {
        return BZ_NOT_HELD;
    }
    hand_over(lock);
    return BZ_OK;
}

static const struct bz_permit_ops lock_ops = {
    .instance_bytes = sizeof(struct bz_zoo_handoff),
    .init = bz_zoo_handoff_init,
    .acquire = acquire,
    .release = release,
    .locked = bz_zoo_handoff_locked,
};

static const struct bz_fault fault = {
    .family = "queue hygiene",
    .project = "tokio",
    .issue = "tokio 6450",
    .versions = "all: it is how fair mutexes are",
    .summary = "the lock is assigned to an acquire that its task has stopped polling",
    .property = "no lost wake-up",
    .oracle = "lost-wakeup",
    .scenario = "restaurant",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_tk_6450 = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/tk-6450",
    .summary = "lock whose callers ask twice",
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .fault = &fault,
};
