/* Pools of locks by key: a table of entries, each with a lock, and a list of holders.
 *
 * An entry that left the table lives on while a task has it in a variable, as with a collected
 * heap: a task counts as a user of an entry from before it waits until it has released or given up,
 * and releases the very entry that it acquired. When an entry leaves the table is each pool's own
 * decision, and its fault. */
#include "primitives/runtime/mem.h"
#include "primitives/runtime/task.h"
#include "scenarios/zoo/parts.h"

struct entry {
    struct bz_list link; /* linked while it is in the table */
    uint64_t key;
    uint32_t users;
    struct bz_zoo_lock lock;
};

struct holding {
    struct bz_list link;
    const struct bz_task *task;
    uint64_t key;
    struct entry *entry;
};

struct pool {
    struct bz_loop *loop;
    struct bz_list entries;  /* the table, in the order of their last use */
    struct bz_list holdings; /* which task holds which entry */
    uint32_t entry_count;
};

static enum bz_status pool_init(void *instance, struct bz_loop *loop) {
    struct pool *pool = instance;
    pool->loop = loop;
    bz_list_init(&pool->entries);
    bz_list_init(&pool->holdings);
    return BZ_OK;
}

static uint64_t pool_entries(void *instance) {
    const struct pool *pool = instance;
    return pool->entry_count;
}

/* The table's entry of this key, NULL if it has none. */
static struct entry *find(struct pool *pool, uint64_t key) {
    struct bz_list *link = pool->entries.next;
    for (; link != &pool->entries; link = link->next) {
        struct entry *entry = bz_container_of(link, struct entry, link);
        if (entry->key == key) {
            return entry;
        }
    }
    return NULL;
}

/* The same, but makes the entry if there is none. The caller becomes its user. NULL: no memory.
 */
static struct entry *use(struct pool *pool, uint64_t key) {
    struct entry *entry = find(pool, key);
    if (entry != NULL) {
        bz_list_remove(&entry->link);
    } else {
        entry = bz_mem_alloc(bz_loop_mem(pool->loop), sizeof *entry);
        if (entry == NULL || bz_zoo_lock_init(&entry->lock, pool->loop, 1) != BZ_OK) {
            return NULL;
        }
        entry->key = key;
        pool->entry_count++;
    }
    bz_list_push_back(&pool->entries, &entry->link);
    entry->users++;
    return entry;
}

static void free_unused(struct pool *pool, struct entry *entry) {
    if (entry->users == 0 && !bz_list_is_linked(&entry->link)) {
        bz_mem_free(bz_loop_mem(pool->loop), entry, sizeof *entry);
    }
}

/* Takes an entry out of the table. */
static void prune(struct pool *pool, struct entry *entry) {
    bz_list_remove(&entry->link);
    pool->entry_count--;
    free_unused(pool, entry);
}

/* The caller no longer uses it. */
static void drop(struct pool *pool, struct entry *entry) {
    entry->users--;
    free_unused(pool, entry);
}

/* --- who holds what --------------------------------------------------------------------------- */

/* The hold of this task under this key, NULL if none. `task` NULL: any task. */
static struct holding *find_holding(struct pool *pool, uint64_t key, const struct bz_task *task) {
    struct bz_list *link = pool->holdings.next;
    for (; link != &pool->holdings; link = link->next) {
        struct holding *holding = bz_container_of(link, struct holding, link);
        if (holding->key == key && (task == NULL || holding->task == task)) {
            return holding;
        }
    }
    return NULL;
}

static enum bz_status hold(struct pool *pool, uint64_t key, struct entry *entry) {
    struct holding *holding = bz_mem_alloc(bz_loop_mem(pool->loop), sizeof *holding);
    if (holding == NULL) {
        return BZ_NO_MEMORY;
    }
    holding->task = bz_loop_current(pool->loop);
    holding->key = key;
    holding->entry = entry;
    bz_list_push_back(&pool->holdings, &holding->link);
    return BZ_OK;
}

/* Ends the holding of the running task. BZ_NOT_HELD: it has none. */
static enum bz_status unhold(struct pool *pool, uint64_t key, struct entry **entry) {
    struct holding *holding = find_holding(pool, key, bz_loop_current(pool->loop));
    if (holding == NULL) {
        return BZ_NOT_HELD;
    }
    *entry = holding->entry;
    bz_list_remove(&holding->link);
    bz_mem_free(bz_loop_mem(pool->loop), holding, sizeof *holding);
    return BZ_OK;
}

static enum bz_status pool_acquire(void *instance, uint64_t key) {
    struct pool *pool = instance;
    struct entry *entry = use(pool, key);
    if (entry == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_zoo_lock_acquire(&entry->lock);
    if (status == BZ_OK && hold(pool, key, entry) != BZ_OK) {
        bz_zoo_lock_release(&entry->lock);
        status = BZ_NO_MEMORY;
    }
    if (status != BZ_OK) {
        drop(pool, entry);
    }
    return status;
}

/* Leaves the entry in the table. */
static enum bz_status release_and_keep(void *instance, uint64_t key) {
    struct pool *pool = instance;
    struct entry *entry = NULL;
    enum bz_status status = unhold(pool, key, &entry);
    if (status == BZ_OK) {
        bz_zoo_lock_release(&entry->lock);
        drop(pool, entry);
    }
    return status;
}

#define POOL                                                                                       \
    .instance_bytes = sizeof(struct pool), .init = pool_init, .acquire = pool_acquire,             \
    .release = release_and_keep, .entries = pool_entries

/* --- entries of the zoo ----------------------------------------------------------------------- */

/* pool-never-pruned: a pool of locks keeps a lock for every key that was ever used.
 *
 * This pool deletes nothing, and so is safe from pool-prune-window. With keys from outside, such as
 * users or documents, it grows until the memory is full. The fault is what is missing: the last
 * user has to prune the entry, and release_and_keep does not.
 *
 * The cure: the last task that holds or waits deletes the entry. */
BZ_ZOO_ENTRY(pool, pool_never_pruned, POOL);

/* pool-prune-window: the entry of a key is deleted because its lock is not locked.
 *
 * Applications write this again and again: get or make the lock of a key, hold it, and after the
 * release delete the entry if the lock is not locked. (1) A holds the lock of a key, B waits for
 * it. (2) A releases: B is woken, but the lock is not locked until B has resumed, and A deletes the
 * entry. (3) C comes, finds no entry, makes a new lock and takes it. (4) B resumes with the old
 * one: two tasks are inside.
 *
 * The cure: count the holders and the waiters, before the wait, and delete the entry with the last.
 * A lock that is handed over inside the release has no such window. */
static enum bz_status pool_prune_window_release(void *instance, uint64_t key) {
    struct pool *pool = instance;
    struct entry *entry = NULL;
    enum bz_status status = unhold(pool, key, &entry);
    if (status != BZ_OK) {
        return status;
    }
    bz_zoo_lock_release(&entry->lock);
    struct entry *listed = find(pool, key);
    if (!entry->lock.is_held && listed != NULL) {
        prune(pool, listed); /* the fault: a woken waiter may be on its way to that lock */
    }
    drop(pool, entry);
    return BZ_OK;
}

BZ_ZOO_ENTRY(pool, pool_prune_window, POOL, .release = pool_prune_window_release);

/* pool-lru-held: a cache of locks evicts one that is held.
 *
 * Locks by key are kept in a cache of fixed size. When it is full, it evicts the least recently
 * used entry. (1) A takes the lock of key 1. (2) Others use other keys; the cache is full, and key
 * 1 was used longest ago: its entry is evicted, although A holds its lock. (3) B comes for key 1,
 * finds no entry, makes a new lock and takes it: two tasks are inside.
 *
 * The cure: an entry that is in use cannot be evicted. */
#define POOL_LRU_HELD_SIZE 2u

static enum bz_status pool_lru_held_acquire(void *instance, uint64_t key) {
    struct pool *pool = instance;
    if (find(pool, key) == NULL && pool->entry_count == POOL_LRU_HELD_SIZE) {
        /* The fault: it does not ask whether a task uses that entry. */
        prune(pool, bz_container_of(pool->entries.next, struct entry, link));
    }
    return pool_acquire(pool, key);
}

BZ_ZOO_ENTRY(pool, pool_lru_held, POOL, .acquire = pool_lru_held_acquire, .entries = NULL);

/* ah-4562: a task deletes the key under which another task waits.
 *
 * A connector keeps a deque of waiters for each key, and a waiter that leaves its deque empty
 * deletes the key. (1) W1 and W2 of a key have both been taken out of deque D1 and woken. (2) W1
 * resumes, finds D1 empty and deletes the key. (3) W4 comes and waits in a new deque D2 under that
 * key. (4) W2 resumes, finds its own D1 empty and deletes the key again: now D2, with W4 inside.
 * (5) The next release finds no deque, and nothing ever wakes W4.
 *
 * Here the deque of an entry is the queue of its lock, which is not used otherwise.
 *
 * The cure: delete the key only if it leads to the deque that is empty. */
static void ah_4562_wake_next(struct pool *pool, uint64_t key) {
    struct entry *entry = find(pool, key);
    if (entry != NULL) {
        bz_deque_pop_and_wake(&entry->lock.queue);
    }
}

static enum bz_status ah_4562_wait(struct pool *pool, uint64_t key) {
    struct entry *entry = use(pool, key);
    if (entry == NULL) {
        return BZ_NO_MEMORY;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&entry->lock.queue, &waiter);
    struct entry *listed = find(pool, key);
    if (bz_deque_length(&entry->lock.queue) == 0 && listed != NULL) {
        prune(pool, listed); /* the fault: it may be another one */
    }
    drop(pool, entry);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter) && find_holding(pool, key, NULL) == NULL) {
        ah_4562_wake_next(pool, key);
    }
    return status;
}

static enum bz_status ah_4562_acquire(void *instance, uint64_t key) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && find_holding(instance, key, NULL) != NULL) {
        status = ah_4562_wait(instance, key);
    }
    return status == BZ_OK ? hold(instance, key, NULL) : status;
}

static enum bz_status ah_4562_release(void *instance, uint64_t key) {
    struct entry *entry = NULL;
    enum bz_status status = unhold(instance, key, &entry);
    if (status == BZ_OK) {
        ah_4562_wake_next(instance, key);
    }
    return status;
}

BZ_ZOO_ENTRY(pool, ah_4562, POOL, .acquire = ah_4562_acquire, .release = ah_4562_release);

/* openaivec-184: the task that works for a key is cancelled, and the key stays in flight.
 *
 * The first task that wants a key marks it as in flight, and works; the others wait for its end.
 * (1) A marks a key and works. (2) B waits. (3) A is cancelled, and leaves the mark. B waits
 * forever, and so does every later task. A rate limiter whose request is cancelled in the sleep
 * after it has stopped all others does the same (disnake 1585).
 *
 * Here the mark is the lock, and the work is a part of the acquire.
 *
 * The cure: the mark is taken away, however the work ends. */
static enum bz_status openaivec_184_acquire(void *instance, uint64_t key) {
    struct pool *pool = instance;
    enum bz_status status = pool_acquire(pool, key);
    if (status == BZ_OK) {
        status = bz_yield(pool->loop); /* the fault: if it is cancelled, the mark stays */
    }
    return status;
}

BZ_ZOO_ENTRY(pool, openaivec_184, POOL, .acquire = openaivec_184_acquire, .entries = NULL);
