/* pool-prune-window: the entry of a key is deleted because its lock is not locked.
 *
 * Written again and again: get or make the lock of a key, hold it, and after the release delete the
 * entry if the lock is not locked. (1) A holds the lock of a key, B waits for it. (2) A releases: B
 * is woken, but the lock is not locked until B has resumed, and A deletes the entry. (3) C comes,
 * finds no entry, makes a new lock and takes it. (4) B resumes with the old one: two are inside.
 *
 * The cure: count who holds and who waits, before the wait, and delete the entry with the last. A
 * lock that is handed over inside the release has no such window. */
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
    struct bz_zoo_entry *listed = bz_zoo_keyed_find(pool, key);
    if (!entry->lock.is_held && listed != NULL) {
        bz_zoo_keyed_prune(pool, listed); /* the fault: somebody may be on its way to that lock */
    }
    bz_zoo_keyed_drop(pool, entry);
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
    .project = "HKUDS/nanobot; bytedance/deer-flow",
    .issue = "nanobot 1255; deer-flow 5171 (PR 5176)",
    .versions = "before PR 5176 of deer-flow",
    .summary = "the entry of a key is deleted while a woken waiter is on its way to its lock",
    .property = "mutual exclusion",
    .oracle = "mutual-exclusion",
    .scenario = "pool",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_pool_prune_window = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_REFUSES_MISUSE,
    .name = "zoo/pool-prune-window",
    .summary = "pool of locks that deletes an entry in the window",
    .pool = &pool_ops,
    .fault = &fault,
};
