/* Resource pool: a limited number of resources that are costly to make, such as connections, each
 * lent to one task at a time.
 *
 *     struct connection { struct bz_resource resource; int socket; };
 *
 *     struct bz_resource *resource;
 *     enum bz_status status = bz_resource_pool_acquire(&pool, &resource);
 *     ...
 *     bz_resource_pool_release(&pool, resource, is_broken);
 *
 * An acquire takes the resource that was given back last. If none is idle, the calling task makes
 * one, as long as fewer than `limit` exist or are being made. Otherwise it waits in line, behind
 * those that came before. A resource that comes back, and the room of one that was destroyed or
 * could not be made, go to the oldest waiter at once: it owns that when it is woken. If it is
 * cancelled before it resumes, it passes that on in the step in which it runs. So:
 *
 *     no task waits, or no resource is idle and `limit` are lent or being made
 *
 * A task that was given room makes its resource itself. If that fails, or is cancelled, the room
 * goes to the next waiter, and the acquire returns what `create` returned.
 *
 * An idle resource that was not used for longer than `idle_ns` is never lent again. The pool looks
 * for such resources in every acquire; it has no timer. A program that wants them gone while
 * nothing else happens calls bz_resource_pool_expire().
 *
 * bz_resource_pool_close() ends the pool: waiters and newcomers get BZ_CLOSED, idle resources are
 * destroyed, and no more are made. A task that has a resource, was given one, or is making one,
 * keeps it until it releases it. Then it is destroyed, and the call returns when there are none
 * left.
 *
 * Everything is O(1), except for closing and expiring k resources, which is O(k). Nothing
 * allocates. */
#ifndef BZ_SYNC_RESOURCE_POOL_H
#define BZ_SYNC_RESOURCE_POOL_H

#include "primitives/sync/waitq.h"

BZ_BEGIN_DECLS

/* Part of each resource, in storage of `create`. The fields are the pool's. */
struct bz_resource {
    struct bz_list link; /* while it is idle */
    uint64_t idle_since_ns;
    struct bz_resource_pool *lent_by; /* NULL: it is idle, or on its way to a task */
};

struct bz_resource_pool_config {
    uint32_t limit;   /* resources that may exist at the same time, at least 1 */
    uint64_t idle_ns; /* 0: an idle resource may be lent however old it is */
    /* Makes a resource. It may wait, and be cancelled there. With BZ_OK it has set `*resource`,
     * otherwise there is nothing to destroy. */
    enum bz_status (*create)(void *context, struct bz_resource **resource);
    /* Called once for each resource that was made. It must not wait, nor call the pool. */
    void (*destroy)(void *context, struct bz_resource *resource);
    void *context;
};

struct bz_resource_pool {
    struct bz_resource_pool_config config;
    struct bz_waitq queue;   /* tasks that acquire */
    struct bz_waitq closers; /* tasks that wait for the end of a closed pool */
    struct bz_list idle;     /* the one given back last is the last */
    uint32_t idle_count;
    uint32_t in_use; /* lent, on their way to a task, being made, or room given to a waiter */
    bool is_closed;
};

/* The caller provides the storage, which must outlive all waits. Copies `config`. */
void bz_resource_pool_init(struct bz_resource_pool *pool, struct bz_loop *loop,
                           const struct bz_resource_pool_config *config);

/* BZ_OK: the running task has `*resource`. BZ_CLOSED: the pool is closed, or was while the task
 * waited. Otherwise BZ_CANCELLED, or what `create` returned. */
enum bz_status bz_resource_pool_acquire(struct bz_resource_pool *pool,
                                        struct bz_resource **resource) BZ_MUST_USE;

/* By any task. A broken resource is destroyed. BZ_OK. BZ_NOT_HELD, and nothing is changed: this
 * pool has not lent this resource. Never suspends. */
enum bz_status bz_resource_pool_release(struct bz_resource_pool *pool, struct bz_resource *resource,
                                        bool is_broken) BZ_MUST_USE;

/* Destroys the idle resources that were not used for longer than `idle_ns`. */
void bz_resource_pool_expire(struct bz_resource_pool *pool);

/* BZ_OK: every resource was destroyed. BZ_CANCELLED: the pool is closed all the same, and a further
 * call waits for the rest. A task that holds a resource must not call it: it would wait for itself.
 */
enum bz_status bz_resource_pool_close(struct bz_resource_pool *pool) BZ_MUST_USE;

/* Resources that exist or are being made. */
static inline uint32_t bz_resource_pool_size(const struct bz_resource_pool *pool) {
    return pool->in_use + pool->idle_count;
}

BZ_END_DECLS

#endif
