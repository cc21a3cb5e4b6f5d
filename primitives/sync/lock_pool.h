/* A pool of locks by key: one lock for each key that somebody is interested in, and none for the
 * others.
 *
 *     bz_lock_pool_acquire(&pool, account)   ...   bz_lock_pool_release(&pool, account)
 *
 * Each key behaves as a bz_lock of its own: first come, first served, handed over by the release,
 * passed on by a waiter that is cancelled in the window. Keys do not disturb each other.
 *
 * An entry exists exactly as long as somebody holds its lock, waits for it, was woken for it, or
 * was cancelled and has not resumed. Its users are counted, and a task counts from before it waits
 * until after it has given the lock up or has failed to get it. So no entry goes while a task has a
 * pointer into it, there are never two locks for one key, and nothing is left of a key when the
 * last task is through with it, a cancelled one included. (The common way, to delete the entry when
 * the lock is not locked after a release, lets two in: the lock is not locked, the woken waiter has
 * not resumed, and the next one to come makes a new lock.)
 *
 * Keys are integers: they need no copy, no owner and no length, and one compare tells them apart.
 * Whoever has strings interns them. A hash of a string would not do as a key: strings with the same
 * hash would share a lock, and a task that needs both of them would wait for itself.
 *
 * The table is chained, with the entries in the loop's arena. Keys are mixed with a seed, so that
 * no pattern of keys (multiples of a power of two, keys that differ in a few bits) makes chains
 * long, and nothing depends on addresses. All operations are O(1), doubling of the table included
 * on average. Only an acquire that makes an entry allocates.
 */
#ifndef BZ_SYNC_LOCK_POOL_H
#define BZ_SYNC_LOCK_POOL_H

#include "primitives/sync/lock.h"

BZ_BEGIN_DECLS

struct bz_lock_pool_entry {
    struct bz_lock_pool_entry *next; /* in its bucket */
    uint64_t key;
    uint32_t users; /* tasks that hold, wait, or have yet to resume */
    struct bz_lock lock;
};

struct bz_lock_pool {
    struct bz_loop *loop;
    uint64_t seed;
    struct bz_lock_pool_entry **buckets; /* NULL before the first acquire */
    uint32_t bucket_count;               /* a power of two, or 0 */
    uint32_t entry_count;
};

/* Storage of the caller's. Any seed is a good one, 0 too; if strangers choose the keys, it should
 * be one that they do not know. */
void bz_lock_pool_init(struct bz_lock_pool *pool, struct bz_loop *loop, uint64_t seed);

/* Gives the table back. There must be no entry left. Not needed before bz_loop_reset() or
 * bz_loop_destroy(), which take all memory back at once. */
void bz_lock_pool_fini(struct bz_lock_pool *pool);

/* BZ_OK: the running task holds the lock of that key. BZ_CANCELLED: it does not. BZ_NO_MEMORY: the
 * loop has none for an entry. Suspends only if the key is locked. Not reentrant. */
enum bz_status bz_lock_pool_acquire(struct bz_lock_pool *pool, uint64_t key) BZ_MUST_USE;

/* BZ_OK; BZ_NOT_HELD if nobody holds that key (also when it was handed to a waiter that has not
 * resumed yet), and nothing is changed. Never suspends. */
enum bz_status bz_lock_pool_release(struct bz_lock_pool *pool, uint64_t key) BZ_MUST_USE;

/* True exactly when an acquire of that key now would suspend. */
bool bz_lock_pool_locked(const struct bz_lock_pool *pool, uint64_t key);

/* Keys that somebody is interested in. */
static inline uint32_t bz_lock_pool_entries(const struct bz_lock_pool *pool) {
    return pool->entry_count;
}

BZ_END_DECLS

#endif
