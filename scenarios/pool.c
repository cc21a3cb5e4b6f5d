/* pool: tasks share a few keys; each key has a lock that exists only while it is used.
 *
 * Each worker does `rounds` rounds: acquire, `hold` yields, release. It draws a key and arrives
 * after 0..arrival yields. Or, drawn, it comes back at once with the key that it has just released,
 * while the worker woken for that key has not resumed. The canceller strikes workers inside
 * acquire. With `distance`, keys differ in high bits alone, as in one bucket of a hash table. At
 * the end no task uses a key, and the pool must keep none.
 *
 * With `visits`, an intruder comes and releases a key that no task holds, which may be on its way
 * to a worker. A pool that claims BZ_CLAIM_REFUSES_MISUSE must refuse that, without effect. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum {
    KEYS,
    WORKERS,
    ROUNDS,
    HOLD,
    ARRIVAL,
    PATIENCE,
    CANCELS,
    MANNER,
    DISTANCE,
    REFUSALS,
    VISITS
};

static const struct bz_param params[] = {
    {"keys", "keys that the workers share", 2, 1, 1000},
    {"workers", "tasks that compete", 5, 1, 1000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a key is held", 1, 0, 1000},
    {"arrival", "a worker that does not come back at once yields 0..arrival times", 2, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"manner", BZ_MANNER_SUMMARY, BZ_MANNER_ONE, BZ_MANNER_ONE, BZ_MANNER_GO_ON},
    {"distance", "keys are multiples of 2^distance, as for one bucket of a table", 0, 0, 32},
    BZ_REFUSALS_PARAM,
    {"visits", "how often the intruder releases a key that no task holds", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"keys", 1, 4, 0},
    {"workers", 2, 8, 12},
    {"rounds", 1, 4, 8},
    {"hold", 0, 2, 0},
    {"cancels", 0, 3, 0},
    {"manner", BZ_MANNER_ONE, BZ_MANNER_GO_ON, 0},
    {"distance", 0, 8, 0},
    BZ_REFUSALS_SIZE,
    {"visits", 1, 3, 0},
    {"keys", 5, 65, 0},
    {"workers", 9, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct pool {
    struct bz_scene scene;
    struct bz_sut_pool sut;
    struct bz_task *workers[];
};

static enum bz_status use(struct pool *pool, uint32_t key) {
    struct bz_world *world = pool->scene.world;
    enum bz_status status = bz_sut_pool_acquire(&pool->sut, key);
    if (status != BZ_OK) {
        return bz_world_is_refused(pool->scene.world, status) ? BZ_OK : status;
    }
    status = bz_yield_times(world, (uint64_t)pool->scene.values[HOLD]);
    enum bz_status released = bz_sut_pool_release(&pool->sut, key);
    bz_world_assert(world, released == BZ_OK, "the release of key %u by its holder was refused: %s",
                    key, bz_status_word(released));
    return status;
}

static enum bz_status worker(void *arg) {
    struct pool *pool = arg;
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    enum bz_manner manner = (enum bz_manner)values[MANNER];
    enum bz_status status = BZ_OK;
    uint32_t key = 0;
    for (int64_t round = 0; status == BZ_OK && round < values[ROUNDS]; round++) {
        bool is_again = round > 0 && bz_world_draw(world, "again", 2) == 1;
        if (!is_again) {
            key = (uint32_t)bz_world_draw(world, "key", (uint64_t)values[KEYS]);
            status = bz_yield_below(world, "arrival", values[ARRIVAL] + 1);
        }
        if (status == BZ_OK) {
            bz_cancel_self(world, manner);
            status = use(pool, key);
        }
        status = bz_end_of_round(world, manner, status);
    }
    return status;
}

/* Releases a key that no task holds, if there is one. The oracle `misuse` judges that. */
static void intrude(struct pool *pool) {
    struct bz_world *world = pool->scene.world;
    uint32_t keys = (uint32_t)pool->scene.values[KEYS];
    uint32_t key = (uint32_t)bz_world_draw(world, "intruder-key", keys);
    if (bz_judge_holders(world->judge, pool->sut.first_object + key) == 0) {
        enum bz_status status = bz_sut_pool_release(&pool->sut, key);
        (void)status;
    }
}

static enum bz_status intruder(void *arg) {
    struct pool *pool = arg;
    const int64_t *values = pool->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[VISITS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(pool->scene.world, "patience", values[PATIENCE]);
        if (status == BZ_OK) {
            intrude(pool);
        }
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[WORKERS];
    struct pool *pool =
        bz_scene_new(world, args, sizeof *pool + (size_t)count * sizeof pool->workers[0]);
    bz_world_refuse_memory(world, (uint32_t)args->values[REFUSALS]);
    if (bz_scene_is_set_up(
            world, bz_sut_pool_init(&pool->sut, world, "key", (uint32_t)args->values[KEYS]))) {
        pool->sut.key_shift = (uint32_t)args->values[DISTANCE];
        bz_scene_spawn_alike(world, pool->workers, count, "worker", worker, pool);
        struct bz_canceller *canceller =
            bz_canceller_spawn(world, pool->workers, count, 1u << BZ_OP_ACQUIRE,
                               args->values[PATIENCE], args->values[CANCELS]);
        canceller->manner = (enum bz_manner)args->values[MANNER];
        if (args->values[VISITS] > 0 &&
            bz_scene_claims(world, BZ_PRIMITIVE_POOL, BZ_CLAIM_REFUSES_MISUSE)) {
            bz_scene_spawn(world, "intruder", 0, intruder, pool);
        }
    }
    return pool;
}

static void finish(struct bz_world *world, void *arg) {
    (void)world;
    bz_sut_pool_finish(&((struct pool *)arg)->sut);
}

const struct bz_scenario bz_scenario_pool = {
    .name = "pool",
    .summary = "tasks over a few keys, each with a lock that exists only while it is used",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_POOL),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
};
