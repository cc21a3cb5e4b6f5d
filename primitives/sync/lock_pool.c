#include "primitives/sync/lock_pool.h"

#include "primitives/runtime/loop.h"

#define BUCKETS_FIRST 16u

void bz_lock_pool_init(struct bz_lock_pool *pool, struct bz_loop *loop, uint64_t seed) {
    *pool = (struct bz_lock_pool){.loop = loop, .seed = seed};
}

void bz_lock_pool_fini(struct bz_lock_pool *pool) {
    BZ_CHECK(pool->entry_count == 0);
    bz_mem_free(bz_loop_mem(pool->loop), pool->buckets,
                pool->bucket_count * sizeof pool->buckets[0]);
    pool->buckets = NULL;
    pool->bucket_count = 0;
}

/* The finalizer of splitmix64: one-to-one, and every input bit affects every output bit. */
static uint64_t mix(uint64_t bits) {
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return bits ^ bits >> 31;
}

/* Mixes twice, with the seed in between, so that keys that collide reveal nothing without it. */
static struct bz_lock_pool_entry **bucket_of(const struct bz_lock_pool *pool, uint64_t key) {
    uint64_t bits = mix(mix(key + pool->seed) ^ pool->seed);
    return &pool->buckets[bits & (pool->bucket_count - 1)];
}

/* The link that points at the entry of that key, or at the NULL that ends its chain. */
static struct bz_lock_pool_entry **link_of(const struct bz_lock_pool *pool, uint64_t key) {
    struct bz_lock_pool_entry **link = bucket_of(pool, key);
    while (*link != NULL && (*link)->key != key) {
        link = &(*link)->next;
    }
    return link;
}

static struct bz_lock_pool_entry *find(const struct bz_lock_pool *pool, uint64_t key) {
    return pool->bucket_count == 0 ? NULL : *link_of(pool, key);
}

/* Doubles the table. False without memory; the table, if there is one, then stays as it is. */
static bool grow(struct bz_lock_pool *pool) {
    struct bz_mem *mem = bz_loop_mem(pool->loop);
    struct bz_lock_pool old = *pool;
    if (old.bucket_count > UINT32_MAX / 2) {
        return false;
    }
    uint32_t count = old.bucket_count == 0 ? BUCKETS_FIRST : old.bucket_count * 2;
    struct bz_lock_pool_entry **buckets = bz_mem_alloc(mem, count * sizeof buckets[0]);
    if (buckets == NULL) {
        return false;
    }
    pool->buckets = buckets;
    pool->bucket_count = count;
    for (uint32_t index = 0; index < old.bucket_count; index++) {
        struct bz_lock_pool_entry *next;
        for (struct bz_lock_pool_entry *entry = old.buckets[index]; entry != NULL; entry = next) {
            struct bz_lock_pool_entry **bucket = bucket_of(pool, entry->key);
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    }
    bz_mem_free(mem, old.buckets, old.bucket_count * sizeof old.buckets[0]);
    return true;
}

/* A new entry without users, or NULL. */
static struct bz_lock_pool_entry *add(struct bz_lock_pool *pool, uint64_t key) {
    if (pool->entry_count >= pool->bucket_count && !grow(pool) && pool->bucket_count == 0) {
        return NULL;
    }
    struct bz_lock_pool_entry *entry = bz_mem_alloc(bz_loop_mem(pool->loop), sizeof *entry);
    if (entry == NULL) {
        return NULL;
    }
    struct bz_lock_pool_entry **bucket = bucket_of(pool, key);
    entry->key = key;
    entry->next = *bucket;
    *bucket = entry;
    bz_lock_init(&entry->lock, pool->loop);
    pool->entry_count++;
    return entry;
}

/* One user less. */
static void leave(struct bz_lock_pool *pool, struct bz_lock_pool_entry *entry) {
    if (--entry->users > 0) {
        return;
    }
    BZ_CHECK(!bz_lock_locked(&entry->lock));
    struct bz_lock_pool_entry **link = link_of(pool, entry->key);
    BZ_CHECK(*link == entry); /* never two for one key */
    *link = entry->next;
    pool->entry_count--;
    bz_mem_free(bz_loop_mem(pool->loop), entry, sizeof *entry);
}

enum bz_status bz_lock_pool_acquire(struct bz_lock_pool *pool, uint64_t key) {
    struct bz_lock_pool_entry *entry = find(pool, key);
    if (entry == NULL) {
        entry = add(pool, key);
        if (entry == NULL) {
            return BZ_NO_MEMORY;
        }
    }
    entry->users++; /* before the wait, so that the entry stays */
    enum bz_status status = bz_lock_acquire(&entry->lock);
    if (status != BZ_OK) {
        leave(pool, entry);
    }
    return status;
}

enum bz_status bz_lock_pool_release(struct bz_lock_pool *pool, uint64_t key) {
    struct bz_lock_pool_entry *entry = find(pool, key);
    if (entry == NULL) {
        return BZ_NOT_HELD;
    }
    enum bz_status status = bz_lock_release(&entry->lock);
    if (status == BZ_OK) {
        leave(pool, entry);
    }
    return status;
}

bool bz_lock_pool_locked(const struct bz_lock_pool *pool, uint64_t key) {
    const struct bz_lock_pool_entry *entry = find(pool, key);
    return entry != NULL && bz_lock_locked(&entry->lock);
}
