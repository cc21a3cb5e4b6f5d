#include "primitives/sync/resource_pool.h"

#include "primitives/runtime/check.h"
#include "primitives/runtime/loop.h"

/* A waiter is woken with one of these, or the address of the resource that it is lent. */
#define NOTHING 0u /* the pool was closed */
#define ROOM 1u    /* for a resource that it makes itself */

void bz_resource_pool_init(struct bz_resource_pool *pool, struct bz_loop *loop,
                           const struct bz_resource_pool_config *config) {
    BZ_CHECK(config->limit > 0);
    *pool = (struct bz_resource_pool){.config = *config};
    bz_waitq_init(&pool->queue, loop);
    bz_waitq_init(&pool->closers, loop);
    bz_list_init(&pool->idle);
}

static void destroy(struct bz_resource_pool *pool, struct bz_resource *resource) {
    pool->config.destroy(pool->config.context, resource);
}

/* One resource less is in use, and does not exist any more. */
static void give_room(struct bz_resource_pool *pool) {
    if (bz_waitq_wake_oldest(&pool->queue, ROOM)) {
        return; /* it stays in use */
    }
    if (--pool->in_use == 0) {
        bz_waitq_wake_all(&pool->closers, 0);
    }
}

static void give(struct bz_resource_pool *pool, struct bz_resource *resource, bool is_broken) {
    if (is_broken || pool->is_closed) {
        destroy(pool, resource);
        give_room(pool);
    } else if (!bz_waitq_wake_oldest(&pool->queue, (uintptr_t)resource)) {
        pool->in_use--;
        pool->idle_count++;
        resource->idle_since_ns = bz_loop_now_ns(pool->queue.loop);
        bz_list_push_back(&pool->idle, &resource->link);
    }
}

static void lend(struct bz_resource_pool *pool, struct bz_resource *resource,
                 struct bz_resource **lent) {
    resource->lent_by = pool;
    *lent = resource;
}

/* In the room that the running task has. */
static enum bz_status make(struct bz_resource_pool *pool, struct bz_resource **lent) {
    struct bz_resource *resource = NULL;
    enum bz_status status = pool->config.create(pool->config.context, &resource);
    if (status == BZ_OK) {
        lend(pool, resource, lent);
    } else {
        give_room(pool);
    }
    return status;
}

/* A woken waiter takes what it was given, or passes it on. */
static enum bz_status take(struct bz_resource_pool *pool, struct bz_wait_outcome outcome,
                           struct bz_resource **lent) {
    enum bz_status status = outcome.status;
    struct bz_resource *resource = (struct bz_resource *)(uintptr_t)outcome.value;
    if (outcome.value == NOTHING) {
        return status == BZ_OK ? BZ_CLOSED : status;
    }
    if (outcome.value == ROOM) {
        if (status == BZ_OK && !pool->is_closed) {
            return make(pool, lent);
        }
        give_room(pool);
        return status == BZ_OK ? BZ_CLOSED : status;
    }
    if (status == BZ_OK) {
        lend(pool, resource, lent);
    } else {
        give(pool, resource, false);
    }
    return status;
}

enum bz_status bz_resource_pool_acquire(struct bz_resource_pool *pool,
                                        struct bz_resource **resource) {
    if (pool->is_closed) {
        return BZ_CLOSED;
    }
    bz_resource_pool_expire(pool);
    if (pool->idle_count > 0) {
        struct bz_list *newest = pool->idle.prev;
        bz_list_remove(newest);
        pool->idle_count--;
        pool->in_use++;
        lend(pool, bz_container_of(newest, struct bz_resource, link), resource);
        return BZ_OK;
    }
    if (pool->in_use < pool->config.limit) { /* so no task waits */
        pool->in_use++;
        return make(pool, resource);
    }
    struct bz_wait_outcome outcome = bz_waitq_wait(&pool->queue);
    return outcome.was_woken ? take(pool, outcome, resource) : outcome.status;
}

enum bz_status bz_resource_pool_release(struct bz_resource_pool *pool, struct bz_resource *resource,
                                        bool is_broken) {
    if (resource->lent_by != pool) {
        return BZ_NOT_HELD;
    }
    resource->lent_by = NULL;
    give(pool, resource, is_broken);
    return BZ_OK;
}

static struct bz_resource *oldest_idle(const struct bz_resource_pool *pool) {
    return bz_container_of(pool->idle.next, struct bz_resource, link);
}

static void destroy_oldest_idle(struct bz_resource_pool *pool) {
    struct bz_resource *oldest = oldest_idle(pool);
    bz_list_remove(&oldest->link);
    pool->idle_count--;
    destroy(pool, oldest);
}

void bz_resource_pool_expire(struct bz_resource_pool *pool) {
    uint64_t now_ns = bz_loop_now_ns(pool->queue.loop);
    uint64_t idle_ns = pool->config.idle_ns;
    while (idle_ns != 0 && pool->idle_count > 0 &&
           now_ns - oldest_idle(pool)->idle_since_ns > idle_ns) {
        destroy_oldest_idle(pool);
    }
}

enum bz_status bz_resource_pool_close(struct bz_resource_pool *pool) {
    pool->is_closed = true;
    bz_waitq_wake_all(&pool->queue, NOTHING);
    while (pool->idle_count > 0) {
        destroy_oldest_idle(pool);
    }
    return pool->in_use == 0 ? BZ_OK : bz_waitq_wait(&pool->closers).status;
}
