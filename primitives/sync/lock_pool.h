/* A pool of locks by key: one lock for each key that a task uses or waits for, and none for others.
 *
 *     bz_lock_pool_acquire(&pool, account)   ...   bz_lock_pool_release(&pool, account)
 *
 * Each key behaves as a bz_lock of its own. An entry exists exactly while it has users. A task
 * counts as a user from before its wait until it has released the lock or failed to get it. So
 * there are never two locks for one key, no task holds a pointer to a removed entry, and the last
 * user removes the entry, even if it was cancelled.
 *
 * Keys are integers. Intern strings to get keys; do not hash them: strings with the same hash would
 * share a lock, and a task that needs both would wait for itself.
 *
 * The table is chained, with its entries in the loop's arena. Keys are mixed with a seed, so that
 * no pattern of keys makes chains long. All operations are O(1), with the doubling of the table on
 * average. Only an acquire that makes an entry allocates.
 */
#ifndef BZ_SYNC_LOCK_POOL_H
#define BZ_SYNC_LOCK_POOL_H

#include "primitives/sync/lock.h"

BZ_BEGIN_DECLS

struct bz_lock_pool_entry {
    struct bz_lock_pool_entry *next; /* in its bucket */
    uint64_t key;
    uint32_t users; /* tasks that hold, wait, or have not resumed */
    struct bz_lock lock;
};

struct bz_lock_pool {
    struct bz_loop *loop;
    uint64_t seed;
    struct bz_lock_pool_entry **buckets; /* NULL before the first acquire */
    uint32_t bucket_count;               /* a power of two, or 0 */
    uint32_t entry_count;
};

/* The caller provides the storage. Any seed will do, 0 included; if strangers choose the keys, take
 * one that they do not know. */
void bz_lock_pool_init(struct bz_lock_pool *pool, struct bz_loop *loop, uint64_t seed);

/* Frees the table. No entry may be left. Not needed before bz_loop_reset() or bz_loop_destroy(),
 * which free all memory at once. */
void bz_lock_pool_fini(struct bz_lock_pool *pool);

/* BZ_OK: the running task holds the lock of that key. BZ_CANCELLED: it does not. BZ_NO_MEMORY: no
 * memory for an entry. Suspends only if the key is locked. Not reentrant. */
enum bz_status bz_lock_pool_acquire(struct bz_lock_pool *pool, uint64_t key) BZ_MUST_USE;

/* BZ_OK; BZ_NOT_HELD, and nothing is changed, if no task holds that key, or if it was handed to a
 * waiter that has not resumed. Never suspends. */
enum bz_status bz_lock_pool_release(struct bz_lock_pool *pool, uint64_t key) BZ_MUST_USE;

/* True exactly if an acquire of that key now would suspend. */
bool bz_lock_pool_locked(const struct bz_lock_pool *pool, uint64_t key);

/* The number of keys in use. */
static inline uint32_t bz_lock_pool_entries(const struct bz_lock_pool *pool) {
    return pool->entry_count;
}

BZ_END_DECLS

#endif
