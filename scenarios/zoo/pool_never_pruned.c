/* pool-never-pruned: a pool of locks keeps a lock for every key that was ever used.
 *
 * The pool that is safe from pool-prune-window because it deletes nothing: with keys from outside,
 * such as users or documents, it grows until the memory is full.
 *
 * The cure: the last one who holds or waits deletes the entry. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/keyed.h"

static enum bz_status acquire(void *instance, uint64_t key) {
    struct bz_zoo_keyed *pool = instance;
    struct bz_zoo_entry *entry = bz_zoo_keyed_use(pool, key);
    return entry != NULL ? bz_zoo_keyed_lock(pool, entry) : BZ_NO_MEMORY;
}

static enum bz_status release(void *instance, uint64_t key) {
    struct bz_zoo_keyed *pool = instance;
    struct bz_zoo_entry *entry = bz_zoo_keyed_unlock(pool, key);
    if (entry == NULL) {
        return BZ_NOT_HELD;
    }
    bz_zoo_keyed_drop(pool, entry); /* the fault: the last user has to prune it */
    return BZ_OK;
}

static const struct bz_pool_ops pool_ops = {
    .instance_bytes = sizeof(struct bz_zoo_keyed),
    .init = bz_zoo_keyed_init,
    .acquire = acquire,
    .release = release,
    .entries = bz_zoo_keyed_entries,
};

static const struct bz_fault fault = {
    .family = "keyed table",
    .project = "pools of locks in applications",
    .issue = "our analysis",
    .versions = "every one that deletes nothing",
    .summary = "a lock is kept for every key that was ever used",
    .property = "nothing is left of a key that nobody uses",
    .oracle = "pool-entry",
    .scenario = "pool",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_pool_never_pruned = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/pool-never-pruned",
    .summary = "pool of locks that grows with every key",
    .pool = &pool_ops,
    .fault = &fault,
};
