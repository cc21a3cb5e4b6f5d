/* Pools of resources, such as connections. An entry has one fault.
 *
 * Two algorithms: in a pool that hands over, a release gives the resource to the oldest client that
 * waits, or the room for one that the client makes itself. In a pool with a condition a release
 * notifies, and the notified client looks whether it finds something. */
#include "primitives/runtime/group.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"
#include "scenarios/zoo/parts.h"

enum fault {
    FAULTLESS,
    AIOMYSQL_WAKEUP,
    ASYNCMY_154,
    ASYNCMY_156,
    HTTPCORE_830,
    HTTPCORE_1093,
    NEO4J_1216,
    NODE_POOL_161,
    PHP_ASYNC_141,
    PHP_ASYNC_235,
    PSYCOPG_1345,
    PSYCOPG_509,
    REDIS_2624,
};

struct idle {
    uint64_t resource;
    uint64_t since_ns;
};

struct pool {
    struct bz_deque clients;
    struct bz_deque closers;
    const struct bz_resource_setup *setup;
    struct idle *idle; /* the one that came back last is the last */
    uint32_t idle_count;
    uint32_t size; /* resources, those being made, and room that was given to a client */
    bool is_closed;
    enum fault fault;
    uint32_t wake_ups; /* tasks so far that wake clients; they are numbered */
};

/* A client that waits in a pool that hands over. */
struct client {
    struct bz_waiter waiter;
    uint64_t resource; /* 0: room for one, or the pool was closed */
    bool has_room;
};

static enum bz_status init(void *instance, struct bz_loop *loop,
                           const struct bz_resource_setup *setup, enum fault fault) {
    struct pool *pool = instance;
    pool->setup = setup;
    pool->fault = fault;
    bz_deque_init(&pool->clients, loop);
    bz_deque_init(&pool->closers, loop);
    pool->idle = bz_mem_alloc(bz_loop_mem(loop), setup->limit * sizeof pool->idle[0]);
    return pool->idle == NULL ? BZ_NO_MEMORY : BZ_OK;
}

static void destroy(struct pool *pool, uint64_t resource) {
    pool->setup->destroy(pool->setup->context, resource);
}

static void lay_aside(struct pool *pool, uint64_t resource) {
    pool->idle[pool->idle_count++] =
        (struct idle){.resource = resource, .since_ns = bz_loop_now_ns(pool->clients.loop)};
}

/* The idle one that came back last, if it is not too old; else 0. Then those are destroyed. */
static uint64_t take_idle(struct pool *pool) {
    uint64_t now_ns = bz_loop_now_ns(pool->clients.loop);
    while (pool->idle_count > 0) {
        struct idle last = pool->idle[--pool->idle_count];
        if (pool->setup->idle_ns == 0 || now_ns - last.since_ns <= pool->setup->idle_ns) {
            return last.resource;
        }
        pool->size--;
        destroy(pool, last.resource);
    }
    return 0;
}

/* --- a pool that hands over ------------------------------------------------------------------- */

static struct client *pop_client(struct pool *pool) {
    struct bz_waiter *waiter = bz_deque_oldest_asleep(&pool->clients);
    if (waiter == NULL) {
        return NULL;
    }
    bz_deque_remove(waiter);
    return bz_container_of(waiter, struct client, waiter);
}

static void wake(struct client *client) {
    enum bz_status status = bz_future_set_result(&client->waiter.future, 0);
    BZ_CHECK(status == BZ_OK);
}

/* There is one resource less. The second gives its room to a client. */
static void leave_room(struct pool *pool) {
    pool->size--;
    while (pool->size == 0 && bz_deque_wake_oldest(&pool->closers)) {
    }
}

static void give_room(struct pool *pool) {
    struct client *client = pool->is_closed ? NULL : pop_client(pool);
    if (client != NULL) {
        client->has_room = true;
        wake(client);
    } else {
        leave_room(pool);
    }
}

static void give(struct pool *pool, uint64_t resource) {
    struct client *client = pool->is_closed ? NULL : pop_client(pool);
    if (client != NULL) {
        client->resource = resource;
        wake(client);
    } else if (pool->is_closed) {
        destroy(pool, resource);
        give_room(pool);
    } else {
        lay_aside(pool, resource);
    }
}

/* httpcore-1093: a request is cancelled while its connection is established, and a slot is lost.
 *
 * The pool puts a new connection into its list before the connection is established, and takes out
 * those that are closed or idle. (1) A request is assigned a new connection. (2) It is cancelled
 * before the connection is established. (3) That connection is neither closed nor idle, and belongs
 * to no request: it stays in the list for ever. When it has happened as often as there are slots,
 * every request waits until its time limit.
 *
 * The cure: take the connection out, however the request ends.
 *
 * node-pool-161: a creation fails, and those who wait are not served.
 *
 * (1) All room is taken, and B waits. (2) The creation that A has begun fails. A learns of that,
 * the pool counts one resource less, and does not look at its queue. (3) Nothing is lent, so
 * nothing comes back, and B waits for ever.
 *
 * The cure: after a failed creation the next client is served, or told.
 *
 * neo4j-1216: more connections than the limit, because they are counted when they are there.
 *
 * (1) A finds less than the limit and begins to connect, which waits. (2) B finds the same number
 * and begins to connect. (3) Both are counted then, and there are more than the limit.
 *
 * The cure: count before the wait, and take it back if that fails. */
static enum bz_status make(struct pool *pool, uint64_t *resource) {
    pool->size -= pool->fault == NEO4J_1216;
    enum bz_status status = pool->setup->create(pool->setup->context, resource);
    pool->size += pool->fault == NEO4J_1216; /* the fault: it counts only now */
    if (status == BZ_OK || (status == BZ_CANCELLED && pool->fault == HTTPCORE_1093)) {
        return status; /* the fault: a cancelled one is still counted */
    }
    if (status == BZ_FAILED && pool->fault == NODE_POOL_161) {
        leave_room(pool); /* the fault: a client may wait for it */
        return status;
    }
    give_room(pool);
    return status;
}

/* psycopg-509: a connection is handed to a client that is cancelled, and is lost.
 *
 * (1) A waits for a connection. (2) B gives one back: the pool takes A out of its queue, leaves the
 * connection with A and wakes it. (3) A is cancelled before it resumes, and leaves with the
 * cancellation. The connection is A's, who is gone; the pool still counts it.
 *
 * The cure: a client that leaves with a connection in its hand gives it back.
 *
 * psycopg-1345: a client that is cancelled in the same instant gets its connection, and the
 * cancellation is lost.
 *
 * As before, but A looks first whether it has a connection. It has, so A takes it and returns, and
 * no one has seen the cancellation: the task goes on, although it was asked to stop.
 *
 * The cure: give the connection back, and raise the cancellation. */
static enum bz_status take(struct pool *pool, const struct client *client, enum bz_status status,
                           uint64_t *resource) {
    bool is_lent = client->resource != 0;
    if (is_lent && (status == BZ_OK || pool->fault == PSYCOPG_1345)) { /* the fault of 1345 */
        *resource = client->resource;
        return BZ_OK;
    }
    if (!is_lent && status == BZ_OK) {
        if (client->has_room && !pool->is_closed) {
            return make(pool, resource);
        }
        status = BZ_CLOSED;
    }
    if (is_lent && pool->fault != PSYCOPG_509) { /* the fault of 509: it does nothing */
        give(pool, client->resource);
    } else if (client->has_room) {
        give_room(pool);
    }
    return status;
}

/* httpcore-830: a request that is cancelled right after it has queued stays in the queue.
 *
 * A request appends itself to the list of the pool, and then waits for the pool's lock, to look for
 * a connection. (1) A appends itself, and is cancelled while it waits for the lock: it leaves, and
 * its entry stays. (2) B gives a connection back, which the pool assigns to the oldest entry: to A.
 * It comes back never, and those behind A wait for ever.
 *
 * The cure: the entry is removed, however the request ends. */
static enum bz_status httpcore_830_wait(struct pool *pool, uint64_t *resource) {
    struct client *client = bz_mem_alloc(bz_loop_mem(pool->clients.loop), sizeof *client);
    if (client == NULL) {
        return BZ_NO_MEMORY;
    }
    bz_future_init(&client->waiter.future, pool->clients.loop);
    bz_list_push_back(&pool->clients.entries, &client->waiter.link);
    enum bz_status status = bz_yield(pool->clients.loop); /* for the lock */
    if (status != BZ_OK) {
        return status; /* the fault: its entry stays */
    }
    status = bz_future_await(&client->waiter.future);
    bz_deque_remove(&client->waiter);
    return bz_waiter_was_woken(&client->waiter) ? take(pool, client, status, resource) : status;
}

static enum bz_status acquire(void *instance, uint64_t *resource) {
    struct pool *pool = instance;
    if (pool->is_closed) {
        return BZ_CLOSED;
    }
    *resource = take_idle(pool);
    if (*resource != 0) {
        return BZ_OK;
    }
    if (pool->size < pool->setup->limit) {
        pool->size++;
        return make(pool, resource);
    }
    if (pool->fault == HTTPCORE_830) {
        return httpcore_830_wait(pool, resource);
    }
    struct client client = {.resource = 0};
    enum bz_status status = bz_deque_wait(&pool->clients, &client.waiter);
    return bz_waiter_was_woken(&client.waiter) ? take(pool, &client, status, resource) : status;
}

/* php-async-141: a resource comes back broken, and no waiter is woken.
 *
 * (1) All room is taken, and B waits. (2) A gives its resource back, which turns out to be broken:
 * the pool destroys it and counts one less, but wakes waiters only for resources that it keeps.
 * (3) There is room, and nothing is lent any more. B waits for ever.
 *
 * The cure: wake a waiter, which makes a resource itself.
 *
 * redis-2624: a connection with an answer that nobody has read is lent again.
 *
 * (1) A sends a command, and is cancelled before it has read the answer. Its connection goes back
 * to the pool as it is. (2) B gets that connection, sends a command, and reads A's answer; the next
 * one reads B's. Here A says that its resource is broken, and the pool does not listen.
 *
 * The cure: such a connection is closed. */
static enum bz_status release(void *instance, uint64_t resource, bool is_broken) {
    struct pool *pool = instance;
    if (!is_broken || pool->fault == REDIS_2624) { /* the fault of redis-2624 */
        give(pool, resource);
        return BZ_OK;
    }
    destroy(pool, resource);
    if (pool->fault == PHP_ASYNC_141) {
        leave_room(pool); /* the fault: a client may wait for it */
    } else {
        give_room(pool);
    }
    return BZ_OK;
}

static enum bz_status wait_for_the_rest(struct pool *pool) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && pool->size > 0) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&pool->closers, &waiter);
    }
    return status;
}

static enum bz_status close_pool(void *instance) {
    struct pool *pool = instance;
    pool->is_closed = true;
    for (struct client *client = pop_client(pool); client != NULL; client = pop_client(pool)) {
        wake(client);
    }
    while (pool->idle_count > 0) {
        pool->size--;
        destroy(pool, pool->idle[--pool->idle_count].resource);
    }
    return wait_for_the_rest(pool);
}

/* --- a pool with a condition ------------------------------------------------------------------ */

/* There is something to find, for one client or for those who close the pool. */
static void notify(struct pool *pool) {
    bz_deque_wake_oldest(&pool->clients);
    while (pool->size == 0 && bz_deque_wake_oldest(&pool->closers)) {
    }
}

/* php-async-235: a waiter that was woken for a slot and is cancelled takes the wake-up along.
 *
 * A release of the pool lays the resource aside, takes a waiter out of its queue and wakes it.
 * Until that resumes the resource is anybody's: the one who has released it may take it back at
 * once. (1) B and C wait. A releases: B is woken. (2) B is cancelled before it resumes, and leaves.
 * (3) The resource lies there, C waits for a wake-up that has gone with B, and nothing is lent that
 * could come back.
 *
 * The cure: a woken waiter that leaves wakes the next one. */
static enum bz_status look_and_acquire(void *instance, uint64_t *resource) {
    struct pool *pool = instance;
    while (!pool->is_closed) {
        *resource = take_idle(pool);
        if (*resource != 0) {
            return BZ_OK;
        }
        if (pool->size < pool->setup->limit) {
            pool->size++;
            enum bz_status made = pool->setup->create(pool->setup->context, resource);
            pool->size -= made != BZ_OK;
            if (made != BZ_OK) {
                notify(pool);
            }
            return made;
        }
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&pool->clients, &waiter);
        if (status != BZ_OK) {
            if (bz_waiter_was_woken(&waiter) && pool->fault != PHP_ASYNC_235) {
                notify(pool); /* the fault: it does not */
            }
            return status;
        }
    }
    return BZ_CLOSED;
}

/* asyncmy-154: wait_closed() waits for a connection that has come back.
 *
 * wait_closed() waits at the condition until no connection is lent. A release notifies it, except
 * for a connection in a transaction, which is closed instead. (1) The last connection is lent, in a
 * transaction, and B calls wait_closed(). (2) The connection comes back and is closed; nobody is
 * notified. Nothing is lent, and B waits for ever.
 *
 * The cure: every release notifies. */
static enum bz_status release_and_notify(void *instance, uint64_t resource, bool is_broken) {
    struct pool *pool = instance;
    if (!is_broken && !pool->is_closed) {
        lay_aside(pool, resource);
        notify(pool);
        return BZ_OK;
    }
    destroy(pool, resource);
    pool->size--;
    if (!is_broken || pool->fault != ASYNCMY_154) {
        notify(pool); /* the fault: it does not */
    }
    return BZ_OK;
}

/* aiomysql-wakeup: a release that is cancelled wakes no client.
 *
 * A release lays the connection aside, and starts a task that notifies the condition, once it has
 * the condition's lock. The release of a context manager waits for that task. (1) B waits. (2) A
 * releases, and waits for its task. (3) A is cancelled, and the task with it, before it has
 * notified. (4) The connection lies there, and B waits forever.
 *
 * The cure: a release that is cancelled notifies itself. */
static enum bz_status wake_up(void *arg) {
    struct pool *pool = arg;
    enum bz_status status = bz_yield(pool->clients.loop); /* for the lock */
    if (status == BZ_OK) {
        notify(pool);
    }
    return status;
}

static enum bz_status release_and_wait(void *instance, uint64_t resource, bool is_broken) {
    struct pool *pool = instance;
    if (is_broken || pool->is_closed) {
        return release_and_notify(pool, resource, is_broken);
    }
    lay_aside(pool, resource);
    struct bz_group group;
    enum bz_status status = bz_group_enter(pool->clients.loop, &group);
    if (status == BZ_OK) {
        status = bz_group_spawn(&group, "wake-up", ++pool->wake_ups, wake_up, pool, NULL);
        status = bz_group_exit(&group, status);
    }
    if (status != BZ_OK && pool->fault != AIOMYSQL_WAKEUP) {
        notify(pool); /* the fault: the task may not have done so */
    }
    return status;
}

/* asyncmy-156: a wait_closed() that is cancelled leaves a connection open that no one knows.
 *
 * wait_closed() takes the idle connections out of the list, one after another, and waits until each
 * is closed. (1) B takes a connection out, and is cancelled before that is closed. (2) It is in no
 * list any more. A second wait_closed() finds nothing to do and returns, while the connection is
 * open for as long as the server likes.
 *
 * The cure: take it out when it is closed, or close it however the wait ends. */
static enum bz_status close_and_notify(void *instance) {
    struct pool *pool = instance;
    pool->is_closed = true;
    while (bz_deque_wake_oldest(&pool->clients)) {
    }
    while (pool->idle_count > 0) {
        uint64_t resource = pool->idle[--pool->idle_count].resource;
        pool->size--;
        /* The fault: it waits with the connection in its hand. */
        enum bz_status status = pool->fault == ASYNCMY_156 ? bz_yield(pool->clients.loop) : BZ_OK;
        if (status != BZ_OK) {
            return status;
        }
        destroy(pool, resource);
    }
    return wait_for_the_rest(pool);
}

/* --- the tables ------------------------------------------------------------------------------- */

#define HANDS_OVER .acquire = acquire, .release = release, .close = close_pool
#define NOTIFIES                                                                                   \
    .acquire = look_and_acquire, .release = release_and_notify, .close = close_and_notify

#define POOL(entry, fault_, ...)                                                                   \
    static enum bz_status entry##_init(void *instance, struct bz_loop *loop,                       \
                                       const struct bz_resource_setup *setup) {                    \
        return init(instance, loop, setup, fault_);                                                \
    }                                                                                              \
    const struct bz_resource_pool_ops bz_zoo_ops_##entry = {                                       \
        .instance_bytes = sizeof(struct pool), .init = entry##_init, __VA_ARGS__}

POOL(faultless_hand_over, FAULTLESS, HANDS_OVER);
POOL(faultless_condition, FAULTLESS, NOTIFIES);
POOL(faultless_waiting, FAULTLESS, NOTIFIES, .release = release_and_wait);
POOL(aiomysql_wakeup, AIOMYSQL_WAKEUP, NOTIFIES, .release = release_and_wait);
POOL(asyncmy_154, ASYNCMY_154, NOTIFIES);
POOL(asyncmy_156, ASYNCMY_156, NOTIFIES);
POOL(httpcore_830, HTTPCORE_830, HANDS_OVER);
POOL(httpcore_1093, HTTPCORE_1093, HANDS_OVER);
POOL(neo4j_1216, NEO4J_1216, HANDS_OVER);
POOL(node_pool_161, NODE_POOL_161, HANDS_OVER);
POOL(php_async_141, PHP_ASYNC_141, HANDS_OVER);
POOL(php_async_235, PHP_ASYNC_235, NOTIFIES);
POOL(psycopg_1345, PSYCOPG_1345, HANDS_OVER);
POOL(psycopg_509, PSYCOPG_509, HANDS_OVER);
POOL(redis_2624, REDIS_2624, HANDS_OVER);
