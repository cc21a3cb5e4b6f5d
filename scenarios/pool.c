/* pool: tasks over a few keys, each with a lock of its own that exists only while it is used.
 *
 * Each worker goes `rounds` times through acquire, `hold` yields, release, with a drawn key, after
 * 0..arrival yields; or, drawn, at once and with the key that it has just released, while the one
 * that was woken for it has not resumed. The canceller strikes workers inside acquire. At the end
 * nobody uses any key, and the pool must have none. */
#include "primitives/runtime/task.h"
#include "scenarios/canceller.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { KEYS, WORKERS, ROUNDS, HOLD, ARRIVAL, PATIENCE, CANCELS };

static const struct bz_param params[] = {
    {"keys", "keys that the workers share", 2, 1, 1000},
    {"workers", "tasks that compete", 5, 1, 1000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a key is held", 1, 0, 1000},
    {"arrival", "a worker that does not come back at once yields 0..arrival times", 2, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct pool {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_pool sut;
    struct bz_task *workers[];
};

static enum bz_status yield_times(struct pool *pool, uint64_t times) {
    enum bz_status status = BZ_OK;
    for (; status == BZ_OK && times > 0; times--) {
        status = bz_yield(pool->world->loop);
    }
    return status;
}

/* The key goes back whatever became of the work. */
static enum bz_status use(struct pool *pool, uint32_t key) {
    enum bz_status status = bz_sut_pool_acquire(&pool->sut, key);
    if (status != BZ_OK) {
        return status;
    }
    status = yield_times(pool, (uint64_t)pool->args->values[HOLD]);
    enum bz_status released = bz_sut_pool_release(&pool->sut, key);
    bz_world_assert(pool->world, released == BZ_OK,
                    "the release of key %u by its holder was refused: %s", key,
                    bz_status_name(released));
    return status;
}

static enum bz_status worker(void *arg) {
    struct pool *pool = arg;
    uint64_t keys = (uint64_t)pool->args->values[KEYS];
    uint64_t arrival = (uint64_t)pool->args->values[ARRIVAL];
    enum bz_status status = BZ_OK;
    uint32_t key = 0;
    for (int64_t round = 0; status == BZ_OK && round < pool->args->values[ROUNDS]; round++) {
        bool is_again = round > 0 && bz_world_draw(pool->world, "again", 2) == 1;
        if (!is_again) {
            key = (uint32_t)bz_world_draw(pool->world, "key", keys);
            status = yield_times(pool, bz_world_draw(pool->world, "arrival", arrival + 1));
        }
        if (status == BZ_OK) {
            status = use(pool, key);
        }
    }
    return status;
}

static enum bz_status canceller(void *arg) {
    struct pool *pool = arg;
    uint64_t patience = (uint64_t)pool->args->values[PATIENCE];
    for (int64_t strike = 0; strike < pool->args->values[CANCELS]; strike++) {
        enum bz_status status = yield_times(pool, bz_world_draw(pool->world, "patience", patience));
        if (status != BZ_OK) {
            return status;
        }
        bz_cancel_one_inside(pool->world, pool->workers, (uint32_t)pool->args->values[WORKERS],
                             BZ_OP_ACQUIRE);
    }
    return BZ_OK;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[WORKERS];
    struct pool *pool = bz_world_alloc(world, sizeof *pool + count * sizeof pool->workers[0]);
    pool->world = world;
    pool->args = args;
    enum bz_status status =
        bz_sut_pool_init(&pool->sut, world, "key", (uint32_t)args->values[KEYS]);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    for (uint32_t index = 0; index < count && status == BZ_OK; index++) {
        pool->workers[index] = bz_task_spawn(world->loop, "worker", index + 1, worker, pool);
        bz_world_assert(world, pool->workers[index] != NULL, "no memory for task worker-%u",
                        index + 1);
    }
    if (status == BZ_OK) {
        const struct bz_task *task = bz_task_spawn(world->loop, "canceller", 0, canceller, pool);
        bz_world_assert(world, task != NULL, "no memory for task canceller");
    }
    return pool;
}

static void finish(struct bz_world *world, void *arg) {
    struct pool *pool = arg;
    (void)world;
    bz_sut_pool_finish(&pool->sut);
}

const struct bz_scenario bz_scenario_pool = {
    .name = "pool",
    .summary = "tasks over a few keys, each with a lock that exists only while it is used",
    .params = params,
    .primitives = {BZ_PRIMITIVE_POOL},
    .primitive_count = 1,
    .setup = setup,
    .finish = finish,
};
