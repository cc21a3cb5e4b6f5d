/* Locks without a queue: nobody picks a waiter. */
#include "scenarios/tests/designs/designs.h"

/* --- chain, linked_chain ---------------------------------------------------------------------- */

/* Each task brings a node, which becomes the tail, and waits for the node before it: for the
 * release of its task, or for that task to leave. A node has up to three uses: as the tail, by its
 * successor, by its own task. */
struct node {
    struct bz_future over; /* released, or gone */
    struct node *before;
    uint32_t uses;
    bool is_released;
    bool is_gone;
    bool has_cancelled; /* what its successor waits for */
};

struct chain {
    struct bz_loop *loop;
    struct node *tail;
    struct node *owner;
    bool cancels; /* a task that leaves says so by a cancel of its node, and not by a result */
};

static void node_drop(struct chain *chain, struct node *node) {
    while (node != NULL && --node->uses == 0) {
        struct node *before = node->before;
        bz_mem_free(bz_loop_mem(chain->loop), node, sizeof *node);
        node = before;
    }
}

/* Steps over those that have left. True: the lock is free for the task of this node. */
static bool node_is_first(struct chain *chain, struct node *node) {
    while (node->before != NULL && (node->before->is_gone || node->before->is_released)) {
        struct node *left = node->before;
        node->before = left->is_released ? NULL : left->before;
        if (node->before != NULL) {
            node->before->uses++;
        }
        node_drop(chain, left);
    }
    return node->before == NULL;
}

static enum bz_status chain_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct chain *chain = instance;
    (void)permits;
    chain->loop = loop;
    return BZ_OK;
}

static enum bz_status linked_chain_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct chain *)instance)->cancels = true;
    return chain_init(instance, loop, permits);
}

/* A request cancels the future that it meets: that of the node before, which gets a new one. */
static enum bz_status node_wait(struct chain *chain, struct node *node) {
    struct node *before = node->before;
    const struct bz_task *self = bz_loop_current(chain->loop);
    uint32_t requests = bz_task_cancelling(self);
    enum bz_status status = bz_future_await(&before->over);
    if (status == BZ_CANCELLED && before->has_cancelled) {
        return bz_task_cancelling(self) == requests ? BZ_OK : status; /* it has left */
    }
    if (status == BZ_CANCELLED && before->over.state == BZ_FUTURE_CANCELLED) {
        bz_future_init(&before->over, chain->loop);
    }
    return status;
}

static void node_leave(struct chain *chain, struct node *node) {
    node->is_gone = true;
    if (chain->tail == node) {
        chain->tail = node->before; /* with its use */
        node->before = NULL;
        node_drop(chain, node);
    } else if (chain->cancels) {
        node->has_cancelled = bz_future_cancel(&node->over);
    } else {
        bz_future_set_result(&node->over, 0); /* refused if the successor was cancelled */
    }
    node_drop(chain, node);
}

static enum bz_status chain_acquire(void *instance) {
    struct chain *chain = instance;
    struct node *node = bz_mem_alloc(bz_loop_mem(chain->loop), sizeof *node);
    if (node == NULL) {
        return BZ_NO_MEMORY;
    }
    *node = (struct node){.before = chain->tail, .uses = 2};
    bz_future_init(&node->over, chain->loop);
    chain->tail = node;
    while (!node_is_first(chain, node)) {
        enum bz_status status = node_wait(chain, node);
        if (status != BZ_OK) {
            node_leave(chain, node);
            return status;
        }
    }
    chain->owner = node;
    return BZ_OK;
}

static enum bz_status chain_release(void *instance) {
    struct chain *chain = instance;
    struct node *node = chain->owner;
    if (node == NULL) {
        return BZ_NOT_HELD;
    }
    chain->owner = NULL;
    node->is_released = true;
    bz_future_set_result(&node->over, 0); /* refused if the successor was cancelled */
    node_drop(chain, node);
    return BZ_OK;
}

static bool chain_locked(void *instance) {
    const struct node *last = ((const struct chain *)instance)->tail;
    while (last != NULL && last->is_gone) {
        last = last->before;
    }
    return last != NULL && !last->is_released;
}

#define CHAIN(name, summary)                                                                       \
    static const struct bz_permit_ops name##_ops = {.instance_bytes = sizeof(struct chain),        \
                                                    .init = name##_init,                           \
                                                    .acquire = chain_acquire,                      \
                                                    .release = chain_release,                      \
                                                    .locked = chain_locked};                       \
    DESIGN(name,                                                                                   \
           BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_LOCKED_EXACT,  \
           summary, LOCK(&name##_ops))

CHAIN(chain, "a lock whose waiters wait for each other");
CHAIN(linked_chain, "the same; who leaves cancels what the next one waits for");

/* --- ticket ----------------------------------------------------------------------------------- */

/* Tickets below `limit` are served. Every change wakes everybody, and each looks at its own. A task
 * that leaves makes all later tickets one less. */
struct ticket {
    struct bz_waiter waiter;
    uint32_t number;
};

struct counter {
    struct bz_deque queue;
    uint32_t next;
    uint32_t limit;
    uint32_t held;
    bool is_bounded;
};

static enum bz_status counter_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct counter *counter = instance;
    counter->limit = permits;
    bz_deque_init(&counter->queue, loop);
    return BZ_OK;
}

static enum bz_status bounded_counter_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct counter *)instance)->is_bounded = true;
    return counter_init(instance, loop, permits);
}

static void counter_call_all(struct counter *counter) {
    while (bz_deque_wake_oldest(&counter->queue)) {
    }
}

static void counter_give_up(struct counter *counter, uint32_t number) {
    struct bz_waiter *waiter = NULL;
    while ((waiter = bz_deque_next(&counter->queue, waiter)) != NULL) {
        struct ticket *other = bz_container_of(waiter, struct ticket, waiter);
        other->number -= other->number > number;
    }
    counter->next--;
    counter_call_all(counter);
}

static enum bz_status counter_acquire(void *instance) {
    struct counter *counter = instance;
    struct ticket ticket = {.number = counter->next++};
    bz_future_init(&ticket.waiter.future, counter->queue.loop);
    bz_list_push_back(&counter->queue.entries, &ticket.waiter.link);
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && ticket.number >= counter->limit) {
        bz_future_init(&ticket.waiter.future, counter->queue.loop);
        status = bz_future_await(&ticket.waiter.future);
    }
    bz_deque_remove(&ticket.waiter);
    if (status == BZ_OK) {
        counter->held++;
    } else {
        counter_give_up(counter, ticket.number);
    }
    return status;
}

static enum bz_status counter_release(void *instance) {
    struct counter *counter = instance;
    if (counter->held == 0 && counter->is_bounded) {
        return BZ_NOT_HELD;
    }
    counter->held -= counter->held > 0;
    counter->limit++;
    counter_call_all(counter);
    return BZ_OK;
}

static bool counter_locked(void *instance) {
    const struct counter *counter = instance;
    return counter->next >= counter->limit;
}

/* Its tickets that are served and have not returned are in the queue. */
static void counter_view(void *instance, struct bz_permit_view *view) {
    const struct counter *counter = instance;
    bz_deque_view(&counter->queue, view);
    view->level = counter->limit - (counter->next - view->queued);
}

#define COUNTER_OPS(init_)                                                                         \
    &(const struct bz_permit_ops) {                                                                \
        .instance_bytes = sizeof(struct counter), .init = init_, .acquire = counter_acquire,       \
        .release = counter_release, .locked = counter_locked, .view = counter_view                 \
    }
DESIGN(ticket, BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE,
       "tickets, and a call that wakes everybody",
       ALL_PERMITS(COUNTER_OPS(counter_init), COUNTER_OPS(bounded_counter_init)));
