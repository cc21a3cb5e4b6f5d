/* Random keys, random cancels, any order of steps, against a model that counts, for each key, who
 * is inside and who is between the call of acquire and the end of release. A seed is a whole run.
 */
#include "primitives/sync/lock_pool.h"
#include "primitives/tests/support.h"

#define TASKS 8u
#define KEYS 4u
#define ROUNDS 6u
#define SEEDS 6000u

struct soak {
    struct bz_loop *loop;
    struct bz_lock_pool pool;
    struct tst_draw draw;
    uint64_t seed;
    uint32_t users[KEYS];
    uint32_t inside[KEYS];
    /* How often the interesting things happened, over all seeds. */
    uint64_t entered;
    uint64_t cancelled;
    uint64_t created;
    uint64_t kept_for_others; /* a release that left an entry for somebody else */
};

static uint64_t key_of(uint32_t index) {
    return (uint64_t)index << 32;
}

static enum bz_status visit(void *arg) {
    struct soak *soak = arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t index = tst_draw(&soak->draw, KEYS);
        soak->created += soak->users[index] == 0;
        soak->users[index]++;
        enum bz_status status = bz_lock_pool_acquire(&soak->pool, key_of(index));
        if (status == BZ_OK) {
            soak->entered++;
            soak->inside[index]++;
            cr_assert(eq(u32, soak->inside[index], 1), "two inside, seed %u", (unsigned)soak->seed);
            for (uint32_t pause = tst_draw(&soak->draw, 3); pause > 0; pause--) {
                (void)!bz_yield(soak->loop); /* a guest that is cancelled here goes on */
            }
            soak->inside[index]--;
            tst_status(bz_lock_pool_release(&soak->pool, key_of(index)), BZ_OK);
        } else {
            tst_status(status, BZ_CANCELLED);
            soak->cancelled++;
        }
        soak->users[index]--;
        soak->kept_for_others += soak->users[index] > 0;
    }
    return BZ_OK;
}

static void soak_check(struct soak *soak) {
    uint32_t entries = 0;
    for (uint32_t index = 0; index < KEYS; index++) {
        bool is_locked = bz_lock_pool_locked(&soak->pool, key_of(index));
        entries += soak->users[index] > 0;
        cr_assert(le(u32, soak->inside[index], is_locked), "seed %u", (unsigned)soak->seed);
        cr_assert(le(u32, is_locked, soak->users[index]), "seed %u", (unsigned)soak->seed);
    }
    cr_assert(eq(u32, bz_lock_pool_entries(&soak->pool), entries), "seed %u", (unsigned)soak->seed);
}

static void soak_run(struct soak *soak, bool is_fifo) {
    bz_loop_reset(soak->loop);
    bz_lock_pool_init(&soak->pool, soak->loop, soak->seed);
    soak->draw = tst_draw_seeded(soak->seed);
    struct bz_task *tasks[TASKS];
    for (uint32_t index = 0; index < TASKS; index++) {
        tasks[index] = tst_spawn(soak->loop, visit, soak);
    }
    uint32_t ready;
    while ((ready = bz_driver_ready_count(soak->loop)) > 0) {
        if (tst_draw(&soak->draw, 5) == 0) {
            bz_task_cancel(tasks[tst_draw(&soak->draw, TASKS)]);
        }
        bz_driver_step(soak->loop,
                       bz_driver_take(soak->loop, is_fifo ? 0 : tst_draw(&soak->draw, ready)));
        soak_check(soak);
    }
    for (uint32_t index = 0; index < TASKS; index++) {
        cr_assert(bz_task_is_done(tasks[index]), "deadlock, seed %u", (unsigned)soak->seed);
        bz_task_free(tasks[index]);
    }
    cr_assert(eq(u32, bz_lock_pool_entries(&soak->pool), 0), "seed %u", (unsigned)soak->seed);
    bz_lock_pool_fini(&soak->pool);
    cr_assert(eq(u64, bz_mem_live_blocks(bz_loop_mem(soak->loop)), TST_LOOP_BLOCKS), "seed %u",
              (unsigned)soak->seed);
}

static void soak_all(bool is_fifo) {
    struct soak soak = {.loop = tst_begin()};
    for (soak.seed = 0; soak.seed < SEEDS; soak.seed++) {
        soak_run(&soak, is_fifo);
    }
    cr_assert(lt(u64, SEEDS, soak.entered));
    cr_assert(lt(u64, SEEDS / 2, soak.cancelled));
    cr_assert(lt(u64, SEEDS, soak.created));
    cr_assert(lt(u64, SEEDS, soak.kept_for_others));
    tst_end(soak.loop);
}

Test(lock_pool_soak, in_any_order) {
    soak_all(false);
}

Test(lock_pool_soak, in_fifo_order) {
    soak_all(true);
}
