/* pool-lru-held: a cache of locks evicts one that is held.
 *
 * Locks by key are kept in a cache of fixed size that throws out the least recently used entry when
 * it is full. (1) A takes the lock of key 1. (2) Others use other keys; the cache is full, and key
 * 1 was used longest ago: its entry goes, though A holds its lock. (3) B comes for key 1, finds no
 * entry, makes a new lock and takes it: two are inside.
 *
 * The cure: an entry that somebody uses cannot be evicted. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/keyed.h"

#define CACHE_SIZE 2u

/* The fault: it does not ask whether somebody uses that entry. */
static void evict_oldest(struct bz_zoo_keyed *pool) {
    bz_zoo_keyed_prune(pool, bz_container_of(pool->entries.next, struct bz_zoo_entry, link));
}

static enum bz_status acquire(void *instance, uint64_t key) {
    struct bz_zoo_keyed *pool = instance;
    if (bz_zoo_keyed_find(pool, key) == NULL && pool->entry_count == CACHE_SIZE) {
        evict_oldest(pool);
    }
    struct bz_zoo_entry *entry = bz_zoo_keyed_use(pool, key);
    return entry != NULL ? bz_zoo_keyed_lock(pool, entry) : BZ_NO_MEMORY;
}

static enum bz_status release(void *instance, uint64_t key) {
    struct bz_zoo_keyed *pool = instance;
    struct bz_zoo_entry *entry = bz_zoo_keyed_unlock(pool, key);
    if (entry == NULL) {
        return BZ_NOT_HELD;
    }
    bz_zoo_keyed_drop(pool, entry);
    return BZ_OK;
}

static const struct bz_pool_ops pool_ops = {
    .instance_bytes = sizeof(struct bz_zoo_keyed),
    .init = bz_zoo_keyed_init,
    .acquire = acquire,
    .release = release,
};

static const struct bz_fault fault = {
    .family = "keyed table",
    .project = "agencyenterprise/draft-detective",
    .issue = "draft-detective 654",
    .versions = "before it was fixed",
    .summary = "a cache of locks evicts one that is held",
    .property = "mutual exclusion",
    .oracle = "mutual-exclusion",
    .scenario = "pool",
    .settings = "keys=3",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_pool_lru_held = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/pool-lru-held",
    .summary = "pool of locks that evicts one that is held",
    .pool = &pool_ops,
    .fault = &fault,
};
