/* The pool of locks against a model that counts, for each key, who is inside and who is between the
 * call of acquire and the end of release. */
#include "primitives/sync/lock_pool.h"
#include "primitives/sync/tests/soak/stage_soak.h"

#define TASKS 8u
#define KEYS 4u
#define SEEDS TST_SEEDS(6000u)

struct pool_soak {
    struct soak soak;
    struct bz_lock_pool pool;
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

static enum bz_status guest(void *arg) {
    struct soak *soak = arg;
    struct pool_soak *model = bz_container_of(soak, struct pool_soak, soak);
    for (uint32_t round = 0; round < SOAK_ROUNDS; round++) {
        uint32_t index = tst_draw(&soak->draw, KEYS);
        model->created += model->users[index] == 0;
        model->users[index]++;
        enum bz_status status = bz_lock_pool_acquire(&model->pool, key_of(index));
        if (status == BZ_OK) {
            model->entered++;
            model->inside[index]++;
            soak_assert(soak, model->inside[index] == 1);
            soak_pause(soak);
            model->inside[index]--;
            tst_status(bz_lock_pool_release(&model->pool, key_of(index)), BZ_OK);
        } else {
            tst_status(status, BZ_CANCELLED);
            model->cancelled++;
        }
        model->users[index]--;
        model->kept_for_others += model->users[index] > 0;
    }
    return BZ_OK;
}

static void model_check(struct pool_soak *model) {
    uint32_t entries = 0;
    for (uint32_t index = 0; index < KEYS; index++) {
        bool is_locked = bz_lock_pool_locked(&model->pool, key_of(index));
        entries += model->users[index] > 0;
        soak_assert(&model->soak, model->inside[index] <= is_locked);
        soak_assert(&model->soak, is_locked <= model->users[index]);
    }
    soak_assert(&model->soak, bz_lock_pool_entries(&model->pool) == entries);
}

static void run(struct pool_soak *model) {
    struct soak *soak = &model->soak;
    soak_begin(soak);
    bz_lock_pool_init(&model->pool, soak->loop, soak->seed);
    soak_spawn(soak, TASKS, guest);
    while (soak_is_ready(soak)) {
        soak_cancel(soak, 5);
        soak_step(soak);
        model_check(model);
    }
    soak_end(soak);
    soak_assert(soak, bz_lock_pool_entries(&model->pool) == 0);
    bz_lock_pool_fini(&model->pool);
    soak_assert(soak, bz_mem_live_blocks(bz_loop_mem(soak->loop)) == TST_LOOP_BLOCKS);
}

static void soak_all(bool is_fifo) {
    struct pool_soak model = {.soak = {.loop = tst_begin(), .is_fifo = is_fifo}};
    struct soak *soak = &model.soak;
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        run(&model);
    }
    cr_assert_lt(SEEDS, model.entered);
    cr_assert_lt(SEEDS / 2, model.cancelled);
    cr_assert_lt(SEEDS, model.created);
    cr_assert_lt(SEEDS, model.kept_for_others);
    tst_end(soak->loop);
}

Test(lock_pool_soak, in_any_order) {
    soak_all(false);
}

Test(lock_pool_soak, in_fifo_order) {
    soak_all(true);
}
