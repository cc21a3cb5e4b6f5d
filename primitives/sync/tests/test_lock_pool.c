/* The pool of locks by key: what an entry's life is bound to, and the windows in which it might go
 * too early or stay too long. */
#include "primitives/sync/lock_pool.h"
#include "primitives/tests/stage.h"

#define KEYS 100000u
#define CHAIN_MAX 16u /* a random function of as many keys as buckets stays below */

/* Words: "acquire" and "release" are of key 1, "acquire-2" and "release-2" of key 2, and so on.
 * "locked-2" reports of key 2, "pool" the number of entries and the state of key 1. */
struct pool {
    struct tst_stage stage;
    struct bz_lock_pool pool;
    uint32_t inside; /* key 1 */
};

static struct pool *pool_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct pool, stage);
}

static uint64_t key_named(const struct tst_call *call) {
    return call->rest[0] == '\0' ? 1 : tst_number(call->rest);
}

static enum bz_status word_acquire(struct tst_call *call) {
    struct pool *pool = pool_of(call);
    enum bz_status status = bz_lock_pool_acquire(&pool->pool, key_named(call));
    pool->inside += status == BZ_OK && key_named(call) == 1;
    cr_assert_leq(pool->inside, 1, "two inside");
    return status;
}

static enum bz_status word_release(struct tst_call *call) {
    struct pool *pool = pool_of(call);
    enum bz_status status = bz_lock_pool_release(&pool->pool, key_named(call));
    pool->inside -= status == BZ_OK && key_named(call) == 1;
    return status;
}

TST_DEED(word_locked,
         tst_flag(call, call->word, bz_lock_pool_locked(&pool_of(call)->pool, key_named(call))))

static enum bz_status word_pool(struct tst_call *call) {
    struct bz_lock_pool *pool = &pool_of(call)->pool;
    tst_report(call, "%u/%s", bz_lock_pool_entries(pool),
               bz_lock_pool_locked(pool, 1) ? "locked" : "free");
    return BZ_OK;
}

static const struct tst_word pool_words[] = {
    {"acquire", word_acquire},
    {"acquire-", word_acquire},
    {"release", word_release, .is_quiet = true},
    {"release-", word_release, .is_quiet = true},
    {"locked-", word_locked},
    {"pool", word_pool},
    {NULL, NULL},
};

static void pool_begin(struct pool *pool) {
    *pool = (struct pool){.inside = 0};
    tst_stage_begin(&pool->stage, (struct tst_cast){.words = pool_words});
    bz_lock_pool_init(&pool->pool, pool->stage.loop, 0);
}

static void pool_end(struct pool *pool) {
    tst_play(&pool->stage, "run pool=0/free");
    bz_lock_pool_fini(&pool->pool);
    tst_stage_end(&pool->stage);
}

static void play(const char *timeline) {
    struct pool pool;
    pool_begin(&pool);
    tst_play(&pool.stage, timeline);
    pool_end(&pool);
}

Test(lock_pool, timelines) {
    static const struct tst_row rows[] = {
        {"has_an_entry_while_somebody_holds",
         "pool=0/free acquire pool=1/locked release pool=0/free"},
        {"keys_do_not_disturb_each_other",
         "a: acquire-1 yield yield release-1; b: acquire-2 yield release-2;"
         "c: acquire-1 release-1; d: acquire-0 release-0;"
         "turn pool=2/locked locked-2=yes locked-0=no"
         " => a.acquire-1:ok b.acquire-2:ok d.acquire-0:ok a.yield:ok b.yield:ok"
         " a.yield:ok c.acquire-1:ok"},
        {"serves_each_key_in_order_of_arrival",
         "acquire; a-c: acquire yield release; turn release"
         " => a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok"},
        /* Handed to a, who has not resumed: not held by anybody who could release it. */
        {"release_of_what_is_not_held_is_refused",
         "release:not-held acquire release-2:not-held; a: acquire release; turn;"
         "release release:not-held pool=1/locked => a.acquire:ok"},

        /* --- windows --- */
        /* The waiter was woken and has not resumed; whoever comes now must not be given a second
         * lock. c's first step is queued before b's wake-up. */
        {"entry_outlives_the_release_while_a_woken_waiter_has_not_resumed",
         "acquire; b: acquire yield yield release; turn; c: acquire yield release;"
         "release pool=1/locked turn pool=1/locked -> b.acquire:ok;"
         "run -> b.yield:ok b.yield:ok c.acquire:ok c.yield:ok"},
        {"cancelled_waiter_leaves_no_trace",
         "acquire; b: acquire release; turn cancel-b pool=1/locked;"
         "turn pool=1/locked -> b.acquire:cancelled; release pool=0/free"},
        /* Cancelled, then released: nobody owns the key, and the entry waits for b alone. */
        {"cancel_then_release", "acquire; b: acquire release; turn cancel-b release pool=1/free;"
                                "turn pool=0/free -> b.acquire:cancelled"},
        /* As before, and somebody takes the key before b has resumed: it is the same entry,
         * which b's leaving must not take away. */
        {"cancel_then_release_then_a_newcomer",
         "acquire; b: acquire release; turn cancel-b release acquire pool=1/locked;"
         "turn pool=1/locked release -> b.acquire:cancelled"},
        /* Woken, then cancelled: b hands on what it was given, and the entry goes with the last
         * of them. */
        {"release_then_cancel",
         "acquire; b: acquire release; c: acquire yield release; turn;"
         "release cancel-b pool=1/locked turn pool=1/locked -> b.acquire:cancelled;"
         "run -> c.acquire:ok c.yield:ok"},
        {"release_then_cancel_of_the_only_waiter",
         "acquire; b: acquire release; turn release cancel-b pool=1/locked;"
         "turn pool=0/free -> b.acquire:cancelled"},
        /* A task that is cancelled and comes to a locked key: its wait is cancelled as it
         * begins. */
        {"cancelled_before_it_waits",
         "acquire; b: cancel-self acquire release; turn release => b.acquire:cancelled"},
        /* Two are woken and gone, one after the other, and a third comes in between: the entry
         * is deleted by the last one, once, and not by whoever finds its queue empty. */
        {"entry_goes_with_the_last_user_and_no_earlier",
         "acquire; b-c: acquire release yield; turn release;"
         "turn pool=1/locked -> b.acquire:ok; d: acquire yield release; turn;"
         "run -> c.acquire:ok b.yield:ok d.acquire:ok c.yield:ok d.yield:ok"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t longest_chain(const struct bz_lock_pool *pool) {
    uint32_t longest = 0;
    for (uint32_t index = 0; index < pool->bucket_count; index++) {
        uint32_t length = 0;
        for (struct bz_lock_pool_entry *entry = pool->buckets[index]; entry != NULL;
             entry = entry->next) {
            length++;
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

static uint64_t key_of(int pattern, uint64_t number) {
    switch (pattern) {
    case 0:
        return number;
    case 1:
        return number << 40; /* equal in all low bits */
    case 2:
        return ~number;
    case 3:
        return number * 0x100000001u; /* the halves are equal: folding would cancel them out */
    case 4:
        return number * UINT64_C(0x9e3779b97f4a7c15); /* the favourite factor of hash functions */
    default:
        return number * 4096 + 0x7f0000000000; /* addresses of pages */
    }
}

/* Whatever the pattern of the keys, and with any seed, chains stay short. */
Test(lock_pool, spreads_patterns_of_keys) {
    static const uint64_t seeds[] = {0, 1, UINT64_MAX};
    struct bz_loop *loop = tst_begin();
    for (int pattern = 0; pattern < 6; pattern++) {
        for (int index = 0; index < 3; index++) {
            struct bz_lock_pool pool;
            bz_lock_pool_init(&pool, loop, seeds[index]);
            for (uint64_t number = 0; number < KEYS; number++) {
                tst_status(bz_lock_pool_acquire(&pool, key_of(pattern, number)), BZ_OK);
            }
            cr_assert_eq(bz_lock_pool_entries(&pool), KEYS);
            cr_assert_leq(pool.entry_count, pool.bucket_count);
            cr_assert_leq(longest_chain(&pool), CHAIN_MAX, "pattern %d", pattern);
            for (uint64_t number = 0; number < KEYS; number++) {
                cr_assert(bz_lock_pool_locked(&pool, key_of(pattern, number)));
                tst_status(bz_lock_pool_release(&pool, key_of(pattern, number)), BZ_OK);
            }
            bz_lock_pool_fini(&pool);
        }
    }
    tst_end(loop);
}

/* A million keys, a few at a time: memory is used again. */
Test(lock_pool, memory_of_entries_is_used_again) {
    struct bz_loop_config config = {.mem_limit_bytes = 16 * 1024};
    struct bz_loop *loop = tst_begin_with(&config);
    struct bz_lock_pool pool;
    bz_lock_pool_init(&pool, loop, 0);
    for (uint64_t key = 0; key < 1000000 + 10; key++) {
        tst_status(key < 1000000 ? bz_lock_pool_acquire(&pool, key) : BZ_OK, BZ_OK);
        tst_status(key >= 10 ? bz_lock_pool_release(&pool, key - 10) : BZ_OK, BZ_OK);
    }
    bz_lock_pool_fini(&pool);
    tst_end(loop);
}

/* Out of memory, at whatever point: the answer says so, nothing is left of the attempt, and all
 * that is there goes on working. */
Test(lock_pool, survives_the_end_of_memory) {
    uint32_t most = 0;
    for (size_t limit_bytes = 4096; limit_bytes < 20000; limit_bytes += 16) {
        struct bz_loop_config config = {.mem_limit_bytes = limit_bytes};
        struct bz_loop *loop = tst_begin_with(&config);
        struct bz_lock_pool pool;
        bz_lock_pool_init(&pool, loop, 0);
        uint64_t keys = 0;
        enum bz_status status;
        while ((status = bz_lock_pool_acquire(&pool, keys)) == BZ_OK) {
            keys++;
        }
        tst_status(status, BZ_NO_MEMORY);
        if (keys > 0) { /* no room for a larger table is no reason: chains may grow */
            size_t entry_bytes = sizeof(struct bz_lock_pool_entry);
            cr_assert_null(bz_mem_alloc(bz_loop_mem(loop), entry_bytes));
        }
        cr_assert_eq(bz_lock_pool_entries(&pool), (uint32_t)keys);
        cr_assert_not(bz_lock_pool_locked(&pool, keys));
        tst_status(bz_lock_pool_release(&pool, keys), BZ_NOT_HELD);
        if (keys > 0) {
            tst_status(bz_lock_pool_release(&pool, 0), BZ_OK);
            tst_status(bz_lock_pool_acquire(&pool, keys), BZ_OK);
        }
        for (uint64_t key = 1; key <= keys; key++) {
            tst_status(bz_lock_pool_release(&pool, key), BZ_OK);
        }
        most = keys > most ? (uint32_t)keys : most;
        bz_lock_pool_fini(&pool);
        tst_end(loop);
    }
    cr_assert_lt(64, most, "the table never had to grow");
}

Test(lock_pool, end_while_somebody_holds_stops_the_process, .signal = SIGABRT) {
    struct pool pool;
    pool_begin(&pool);
    tst_act(&pool.stage, "acquire");
    bz_lock_pool_fini(&pool.pool);
}
