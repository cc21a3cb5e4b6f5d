#include "scenarios/zoo/keyed.h"

#include "primitives/runtime/mem.h"

struct holding {
    struct bz_list link;
    const struct bz_task *task;
    struct bz_zoo_entry *entry;
};

enum bz_status bz_zoo_keyed_init(void *instance, struct bz_loop *loop) {
    struct bz_zoo_keyed *pool = instance;
    pool->loop = loop;
    bz_list_init(&pool->entries);
    bz_list_init(&pool->holdings);
    return BZ_OK;
}

uint64_t bz_zoo_keyed_entries(void *instance) {
    const struct bz_zoo_keyed *pool = instance;
    return pool->entry_count;
}

/* --- the table -------------------------------------------------------------------------------- */

struct bz_zoo_entry *bz_zoo_keyed_find(struct bz_zoo_keyed *pool, uint64_t key) {
    struct bz_list *entries = &pool->entries;
    for (struct bz_list *link = entries->next; link != entries; link = link->next) {
        struct bz_zoo_entry *entry = bz_container_of(link, struct bz_zoo_entry, link);
        if (entry->key == key) {
            return entry;
        }
    }
    return NULL;
}

struct bz_zoo_entry *bz_zoo_keyed_use(struct bz_zoo_keyed *pool, uint64_t key) {
    struct bz_zoo_entry *entry = bz_zoo_keyed_find(pool, key);
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

static void free_unused(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry) {
    if (entry->users == 0 && !bz_list_is_linked(&entry->link)) {
        bz_mem_free(bz_loop_mem(pool->loop), entry, sizeof *entry);
    }
}

void bz_zoo_keyed_prune(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry) {
    bz_list_remove(&entry->link);
    pool->entry_count--;
    free_unused(pool, entry);
}

void bz_zoo_keyed_drop(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry) {
    entry->users--;
    free_unused(pool, entry);
}

/* --- the lock of an entry --------------------------------------------------------------------- */

static enum bz_status acquire(struct bz_zoo_lock *lock) {
    if (lock->is_held || bz_zoo_has_live(&lock->queue)) {
        struct bz_zoo_waiter waiter;
        enum bz_status status = bz_zoo_wait(&lock->queue, &waiter);
        bz_zoo_leave(&waiter);
        if (status != BZ_OK) {
            if (bz_zoo_was_woken(&waiter) && !lock->is_held) {
                bz_zoo_wake_oldest(&lock->queue);
            }
            return status;
        }
    }
    lock->is_held = true;
    return BZ_OK;
}

enum bz_status bz_zoo_keyed_lock(struct bz_zoo_keyed *pool, struct bz_zoo_entry *entry) {
    struct holding *holding = bz_mem_alloc(bz_loop_mem(pool->loop), sizeof *holding);
    enum bz_status status = holding != NULL ? acquire(&entry->lock) : BZ_NO_MEMORY;
    if (status == BZ_OK) {
        holding->task = bz_loop_current(pool->loop);
        holding->entry = entry;
        bz_list_push_back(&pool->holdings, &holding->link);
        return BZ_OK;
    }
    if (holding != NULL) {
        bz_mem_free(bz_loop_mem(pool->loop), holding, sizeof *holding);
    }
    bz_zoo_keyed_drop(pool, entry);
    return status;
}

struct bz_zoo_entry *bz_zoo_keyed_unlock(struct bz_zoo_keyed *pool, uint64_t key) {
    struct bz_list *holdings = &pool->holdings;
    for (struct bz_list *link = holdings->next; link != holdings; link = link->next) {
        struct holding *holding = bz_container_of(link, struct holding, link);
        struct bz_zoo_entry *entry = holding->entry;
        if (entry->key == key && holding->task == bz_loop_current(pool->loop)) {
            bz_list_remove(link);
            bz_mem_free(bz_loop_mem(pool->loop), holding, sizeof *holding);
            return bz_zoo_lock_release(&entry->lock) == BZ_OK ? entry : NULL;
        }
    }
    return NULL;
}
