/* What the zoo's pools of locks have in common: a table of entries by key, each with a lock in the
 * manner of asyncio's, and who holds what.
 *
 * A lock that left the table lives on while a task has it in a variable, as with a collected heap:
 * a task counts as a user of an entry from before it waits until it has released or given up, and
 * releases the very entry that it acquired. When an entry leaves the table is each pool's own
 * decision, and its fault. */
#ifndef BZ_SCENARIOS_ZOO_KEYED_H
#define BZ_SCENARIOS_ZOO_KEYED_H

#include "scenarios/zoo/waiters.h"

struct bz_task;

struct bz_zoo_entry {
    struct bz_list link; /* linked while it is in the table */
    uint64_t key;
    uint32_t users;
    struct bz_zoo_lock lock;
};

struct bz_zoo_keyed {
    struct bz_loop *loop;
    struct bz_list entries;  /* the table, in the order of their last use */
    struct bz_list holdings; /* which task holds which entry */
    uint32_t entry_count;
};

enum bz_status bz_zoo_keyed_init(void *instance, struct bz_loop *loop);
uint64_t bz_zoo_keyed_entries(void *instance);

/* The table's entry of this key, NULL if it has none. */
struct bz_zoo_entry *bz_zoo_keyed_find(struct bz_zoo_keyed *pool, uint64_t key);

/* The same, made if there is none; the caller becomes a user of it. NULL without memory. */
struct bz_zoo_entry *bz_zoo_keyed_use(struct bz_zoo_keyed *pool, uint64_t key);

/* Takes an entry out of the table. */
void bz_zoo_keyed_prune(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry);

/* The caller is no user of it any more. */
void bz_zoo_keyed_drop(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry);

/* Acquires the lock of an entry that the running task uses: on BZ_OK it holds it, otherwise it has
 * dropped it. */
enum bz_status bz_zoo_keyed_lock(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry);

/* Releases what the running task holds under this key; it remains a user of the entry, which is
 * returned. NULL if it holds nothing. */
struct bz_zoo_entry *bz_zoo_keyed_unlock(struct bz_zoo_keyed *pool, uint64_t key);

#endif
