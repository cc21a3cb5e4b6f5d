/* The pool of locks by key: what an entry's life is bound to, and the windows in which it might go
 * too early or stay too long. */
#include "primitives/sync/lock_pool.h"
#include "primitives/tests/actor.h"

#define GUESTS 8u
#define KEYS 100000u
#define CHAIN_MAX 16u /* a random function of as many keys as buckets stays below */

struct stage {
    struct bz_loop *loop;
    struct bz_lock_pool pool;
    struct tst_log log;
    uint64_t key; /* that the words mean */
    struct tst_actor actors[GUESTS];
    struct bz_task *tasks[GUESTS];
    uint32_t inside;
};

/* "acquire" and "release" mean key 1, "acquire-2" key 2, and so on. */
static enum bz_status stage_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct stage *stage = actor->object;
    const char *dash = strchr(word, '-');
    uint64_t key = dash == NULL ? 1 : (uint64_t)(dash[1] - '0');
    size_t length = dash == NULL ? strlen(word) : (size_t)(dash - word);
    if (strncmp(word, "acquire", length) == 0) {
        enum bz_status status = bz_lock_pool_acquire(&stage->pool, key);
        if (status == BZ_OK && key == 1) {
            stage->inside++;
            cr_assert(eq(u32, stage->inside, 1), "two inside");
        }
        return status;
    }
    if (strncmp(word, "release", length) == 0) {
        enum bz_status status = bz_lock_pool_release(&stage->pool, key);
        *is_quiet = status == BZ_OK;
        stage->inside -= status == BZ_OK && key == 1;
        return status;
    }
    return BZ_INVALID_ARGUMENT;
}

static void stage_begin(struct stage *stage) {
    *stage = (struct stage){.loop = tst_begin()};
    bz_lock_pool_init(&stage->pool, stage->loop, 0);
}

static void stage_guest(struct stage *stage, char name, const char *script) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    unsigned index = (unsigned)(name - 'a');
    stage->actors[index] = (struct tst_actor){.name = names[index],
                                              .script = script,
                                              .loop = stage->loop,
                                              .log = &stage->log,
                                              .extra = stage_word,
                                              .object = stage};
    stage->tasks[index] = tst_actor_spawn(&stage->actors[index]);
}

/* From outside: key 1 is taken, and given back, by the test. */
static void stage_take(struct stage *stage) {
    tst_status(bz_lock_pool_acquire(&stage->pool, 1), BZ_OK);
    stage->inside++;
}

static void stage_give_back(struct stage *stage) {
    tst_status(bz_lock_pool_release(&stage->pool, 1), BZ_OK);
    stage->inside--;
}

static void stage_cancel(struct stage *stage, char name) {
    cr_assert(bz_task_cancel(stage->tasks[name - 'a']));
}

static void expect_pool(struct stage *stage, uint32_t entries, bool is_locked) {
    cr_assert(eq(u32, bz_lock_pool_entries(&stage->pool), entries));
    cr_assert(eq(int, bz_lock_pool_locked(&stage->pool, 1), is_locked));
}

static void stage_end(struct stage *stage, const char *story) {
    tst_run(stage->loop);
    tst_expect(&stage->log, story);
    for (unsigned index = 0; index < GUESTS; index++) {
        if (stage->tasks[index] != NULL) {
            cr_assert(bz_task_is_done(stage->tasks[index]));
            bz_task_free(stage->tasks[index]);
        }
    }
    expect_pool(stage, 0, false);
    bz_lock_pool_fini(&stage->pool);
    tst_end(stage->loop);
}

Test(lock_pool, has_an_entry_while_somebody_holds) {
    struct stage stage;
    stage_begin(&stage);
    expect_pool(&stage, 0, false);
    stage_take(&stage);
    expect_pool(&stage, 1, true);
    stage_give_back(&stage);
    expect_pool(&stage, 0, false);
    stage_end(&stage, "");
}

Test(lock_pool, keys_do_not_disturb_each_other) {
    struct stage stage;
    stage_begin(&stage);
    stage_guest(&stage, 'a', "acquire-1 yield yield release-1");
    stage_guest(&stage, 'b', "acquire-2 yield release-2");
    stage_guest(&stage, 'c', "acquire-1 release-1");
    stage_guest(&stage, 'd', "acquire-0 release-0");
    tst_turn(stage.loop);
    expect_pool(&stage, 2, true);
    cr_assert(bz_lock_pool_locked(&stage.pool, 2));
    cr_assert(not(bz_lock_pool_locked(&stage.pool, 0)));
    stage_end(&stage, "a.acquire-1:ok b.acquire-2:ok d.acquire-0:ok a.yield:ok b.yield:ok "
                      "a.yield:ok c.acquire-1:ok");
}

Test(lock_pool, serves_each_key_in_order_of_arrival) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'a', "acquire yield release");
    stage_guest(&stage, 'b', "acquire yield release");
    stage_guest(&stage, 'c', "acquire yield release");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok");
}

Test(lock_pool, release_of_what_is_not_held_is_refused) {
    struct stage stage;
    stage_begin(&stage);
    tst_status(bz_lock_pool_release(&stage.pool, 1), BZ_NOT_HELD);
    stage_take(&stage);
    tst_status(bz_lock_pool_release(&stage.pool, 2), BZ_NOT_HELD);
    stage_guest(&stage, 'a', "acquire release");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    /* Handed to a, who has not resumed: not held by anybody who could release it. */
    tst_status(bz_lock_pool_release(&stage.pool, 1), BZ_NOT_HELD);
    expect_pool(&stage, 1, true);
    stage_end(&stage, "a.acquire:ok");
}

/* --- windows ---------------------------------------------------------------------------------- */

/* The waiter was woken and has not resumed; whoever comes now must not be given a second lock. */
Test(lock_pool, entry_outlives_the_release_while_a_woken_waiter_has_not_resumed) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire yield yield release");
    tst_turn(stage.loop);
    stage_guest(&stage, 'c', "acquire yield release");
    /* c's first step is queued before b's wake-up. */
    stage_give_back(&stage);
    expect_pool(&stage, 1, true);
    tst_turn(stage.loop);
    tst_expect(&stage.log, "b.acquire:ok");
    expect_pool(&stage, 1, true);
    stage_end(&stage, "b.acquire:ok b.yield:ok b.yield:ok c.acquire:ok c.yield:ok");
}

Test(lock_pool, cancelled_waiter_leaves_no_trace) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release");
    tst_turn(stage.loop);
    stage_cancel(&stage, 'b');
    expect_pool(&stage, 1, true);
    tst_turn(stage.loop);
    tst_expect(&stage.log, "b.acquire:cancelled");
    expect_pool(&stage, 1, true);
    stage_give_back(&stage);
    expect_pool(&stage, 0, false);
    stage_end(&stage, "b.acquire:cancelled");
}

/* Cancelled, then released: nobody owns the key, and the entry waits for b alone. */
Test(lock_pool, cancel_then_release) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release");
    tst_turn(stage.loop);
    stage_cancel(&stage, 'b');
    stage_give_back(&stage);
    expect_pool(&stage, 1, false);
    tst_turn(stage.loop);
    expect_pool(&stage, 0, false);
    stage_end(&stage, "b.acquire:cancelled");
}

/* As before, and somebody takes the key before b has resumed: it is the same entry, which b's
 * leaving must not take away. */
Test(lock_pool, cancel_then_release_then_a_newcomer) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release");
    tst_turn(stage.loop);
    stage_cancel(&stage, 'b');
    stage_give_back(&stage);
    stage_take(&stage);
    expect_pool(&stage, 1, true);
    tst_turn(stage.loop);
    expect_pool(&stage, 1, true);
    stage_give_back(&stage);
    stage_end(&stage, "b.acquire:cancelled");
}

/* Woken, then cancelled: b hands on what it was given, and the entry goes with the last of them. */
Test(lock_pool, release_then_cancel) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release");
    stage_guest(&stage, 'c', "acquire yield release");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    stage_cancel(&stage, 'b');
    expect_pool(&stage, 1, true);
    tst_turn(stage.loop);
    expect_pool(&stage, 1, true);
    stage_end(&stage, "b.acquire:cancelled c.acquire:ok c.yield:ok");
}

Test(lock_pool, release_then_cancel_of_the_only_waiter) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    stage_cancel(&stage, 'b');
    expect_pool(&stage, 1, true);
    tst_turn(stage.loop);
    expect_pool(&stage, 0, false);
    stage_end(&stage, "b.acquire:cancelled");
}

/* A task that is cancelled and comes to a locked key: its wait is cancelled as it begins. */
Test(lock_pool, cancelled_before_it_waits) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "cancel-self acquire release");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    stage_end(&stage, "b.acquire:cancelled");
}

/* Two are woken and gone, one after the other, and a third comes in between: the entry is deleted
 * by the last one, once, and not by whoever finds its queue empty. */
Test(lock_pool, entry_goes_with_the_last_user_and_no_earlier) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    stage_guest(&stage, 'b', "acquire release yield");
    stage_guest(&stage, 'c', "acquire release yield");
    tst_turn(stage.loop);
    stage_give_back(&stage);
    tst_turn(stage.loop);
    tst_expect(&stage.log, "b.acquire:ok");
    expect_pool(&stage, 1, true);
    stage_guest(&stage, 'd', "acquire yield release");
    tst_turn(stage.loop);
    stage_end(&stage, "b.acquire:ok c.acquire:ok b.yield:ok d.acquire:ok c.yield:ok d.yield:ok");
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
            cr_assert(eq(u32, bz_lock_pool_entries(&pool), KEYS));
            cr_assert(le(u32, pool.entry_count, pool.bucket_count));
            cr_assert(le(u32, longest_chain(&pool), CHAIN_MAX), "pattern %d", pattern);
            for (uint64_t number = 0; number < KEYS; number++) {
                cr_assert(bz_lock_pool_locked(&pool, key_of(pattern, number)));
                tst_status(bz_lock_pool_release(&pool, key_of(pattern, number)), BZ_OK);
            }
            bz_lock_pool_fini(&pool);
        }
    }
    tst_end(loop);
}

/* Keys that meet with one seed part with another: the seed is more than an offset. */
Test(lock_pool, seed_changes_which_keys_meet) {
    struct bz_loop *loop = tst_begin();
    struct bz_lock_pool pools[2];
    for (uint64_t seed = 0; seed < 2; seed++) {
        bz_lock_pool_init(&pools[seed], loop, seed);
        for (uint64_t key = 0; key < 1000; key++) {
            tst_status(bz_lock_pool_acquire(&pools[seed], key), BZ_OK);
        }
    }
    uint32_t met = 0;
    uint32_t met_again = 0;
    for (uint32_t index = 0; index < pools[0].bucket_count; index++) {
        struct bz_lock_pool_entry *entry = pools[0].buckets[index];
        if (entry == NULL || entry->next == NULL) {
            continue;
        }
        met++;
        for (uint32_t other = 0; other < pools[1].bucket_count; other++) {
            bool has_first = false;
            bool has_second = false;
            for (struct bz_lock_pool_entry *there = pools[1].buckets[other]; there != NULL;
                 there = there->next) {
                has_first |= there->key == entry->key;
                has_second |= there->key == entry->next->key;
            }
            met_again += has_first && has_second;
        }
    }
    cr_assert(lt(u32, 100, met));
    cr_assert(lt(u32, met_again, met / 20));
    bz_loop_destroy(loop);
}

/* Two pools that live the same life look the same, wherever their memory lies. */
Test(lock_pool, is_the_same_in_every_run) {
    struct bz_loop *loops[2] = {tst_begin(), tst_begin()};
    struct bz_lock_pool pools[2];
    (void)!bz_mem_alloc(bz_loop_mem(loops[1]), 1000); /* so that addresses differ in any case */
    for (int index = 0; index < 2; index++) {
        bz_lock_pool_init(&pools[index], loops[index], 5);
        struct tst_draw draw = tst_draw_seeded(1);
        for (uint32_t count = 0; count < 3000; count++) {
            uint64_t key = tst_draw(&draw, 1000);
            if (bz_lock_pool_locked(&pools[index], key)) {
                tst_status(bz_lock_pool_release(&pools[index], key), BZ_OK);
            } else {
                tst_status(bz_lock_pool_acquire(&pools[index], key), BZ_OK);
            }
        }
    }
    cr_assert(eq(u32, pools[0].bucket_count, pools[1].bucket_count));
    for (uint32_t index = 0; index < pools[0].bucket_count; index++) {
        struct bz_lock_pool_entry *first = pools[0].buckets[index];
        struct bz_lock_pool_entry *second = pools[1].buckets[index];
        for (; first != NULL && second != NULL; first = first->next, second = second->next) {
            cr_assert(eq(u64, first->key, second->key));
        }
        cr_assert(eq(ptr, first, second));
    }
    bz_loop_destroy(loops[0]);
    bz_loop_destroy(loops[1]);
}

/* A million keys, a few at a time: memory is used again. */
Test(lock_pool, memory_of_entries_is_used_again) {
    struct stage stage;
    stage_begin(&stage);
    const struct bz_mem *mem = bz_loop_mem(stage.loop);
    size_t used_bytes = 0;
    for (uint64_t key = 0; key < 1000000; key++) {
        tst_status(bz_lock_pool_acquire(&stage.pool, key), BZ_OK);
        if (key >= 10) {
            tst_status(bz_lock_pool_release(&stage.pool, key - 10), BZ_OK);
        }
        if (key == 100) {
            used_bytes = mem->used_bytes;
        }
    }
    cr_assert(eq(sz, mem->used_bytes, used_bytes));
    for (uint64_t key = 1000000 - 10; key < 1000000; key++) {
        tst_status(bz_lock_pool_release(&stage.pool, key), BZ_OK);
    }
    stage_end(&stage, "");
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
            cr_assert(eq(ptr, bz_mem_alloc(bz_loop_mem(loop), entry_bytes), NULL));
        }
        cr_assert(eq(u32, bz_lock_pool_entries(&pool), (uint32_t)keys));
        cr_assert(not(bz_lock_pool_locked(&pool, keys)));
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
    cr_assert(lt(u32, 64, most), "the table never had to grow");
}

Test(lock_pool, end_while_somebody_holds_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    stage_begin(&stage);
    stage_take(&stage);
    bz_lock_pool_fini(&stage.pool);
}
