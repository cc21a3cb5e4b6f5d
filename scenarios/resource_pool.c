/* resource-pool: workers share a few resources, such as connections, that must be made first.
 *
 * Each worker does `rounds` rounds: acquire, `hold` yields, release. A creation takes `creation`
 * yields in the task that makes it. Drawn, it fails, or a resource comes back broken. With
 * `pause-ns` workers sleep between rounds, so idle resources become older than `idle-ns`. The
 * canceller strikes workers inside acquire, which may be in a creation.
 *
 * `closers` close the pool in the middle: waiters and newcomers get BZ_CLOSED, and the close waits
 * until all is back and destroyed. When all have ended, the warden takes as many resources as may
 * exist, gives them back, and closes the pool, too.
 *
 * With `visits`, an intruder releases a resource that is idle, or on its way to a worker. A pool
 * that claims BZ_CLAIM_REFUSES_MISUSE must refuse that, without effect. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum {
    LIMIT,
    WORKERS,
    ROUNDS,
    HOLD,
    CREATION,
    FAILING,
    BREAKAGE,
    IDLE_NS,
    PAUSE_NS,
    ARRIVAL,
    PATIENCE,
    CANCELS,
    MANNER,
    CLOSERS,
    VISITS
};

static const struct bz_param params[] = {
    {"limit", "resources that may exist at the same time", 2, 1, 1000},
    {"workers", "tasks that compete", 4, 1, 1000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a resource is held", 1, 0, 1000},
    {"creation", "yields while a resource is made", 1, 0, 1000},
    {"failing", "one creation of failing+1 fails; 0: none", 3, 0, 1000},
    {"breakage", "one resource of breakage+1 comes back broken; 0: none", 3, 0, 1000},
    {"idle-ns", "a resource that was idle for longer is not lent again; 0: it may be", 0, 0,
     1000000},
    {"pause-ns", "a worker sleeps 0..pause-ns before a round; 0: it yields", 0, 0, 1000000},
    {"arrival", "without a pause a worker yields 0..arrival times before a round", 2, 0, 1000},
    {"patience", "canceller, closers and intruder yield 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"manner", BZ_MANNER_SUMMARY, BZ_MANNER_ONE, BZ_MANNER_ONE, BZ_MANNER_GO_ON},
    {"closers", "tasks that close the pool in the middle", 0, 0, 1000},
    {"visits", "how often the intruder releases a resource that no task has", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"limit", 1, 3, 0},
    {"workers", 2, 6, 10},
    {"rounds", 1, 3, 6},
    {"hold", 0, 2, 0},
    {"creation", 0, 2, 0},
    {"failing", 0, 3, 0},
    {"breakage", 0, 3, 0},
    {"idle-ns", 0, 3, 0},
    {"pause-ns", 0, 5, 0},
    {"cancels", 0, 3, 0},
    {"manner", BZ_MANNER_ONE, BZ_MANNER_GO_ON, 0},
    {"closers", 0, 2, 0},
    {"visits", 0, 3, 0},
    {"limit", 4, 65, BZ_TAIL_TASKS},
    {"workers", 7, 129, BZ_TAIL_TASKS},
    {"rounds", 4, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct pool {
    struct bz_scene scene;
    struct bz_sut_resource_pool sut;
    struct bz_future all_ended; /* workers and closers */
    uint32_t tasks_left;
    bool is_at_the_end; /* creations succeed */
    struct bz_task *workers[];
};

static enum bz_status make(void *arg) {
    struct pool *pool = arg;
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    enum bz_status status = bz_yield_times(world, (uint64_t)values[CREATION]);
    bool fails = status == BZ_OK && values[FAILING] > 0 && !pool->is_at_the_end &&
                 bz_world_draw(world, "fails", (uint64_t)values[FAILING] + 1) == 1;
    return fails ? BZ_FAILED : status;
}

/* A release may be cancelled while it waits. */
static enum bz_status give_back(struct pool *pool, uint64_t resource, bool is_broken) {
    enum bz_status status = bz_sut_resource_pool_release(&pool->sut, resource, is_broken);
    bz_check_released(pool->scene.world, status == BZ_CANCELLED ? BZ_OK : status);
    return status;
}

/* BZ_OK also without a resource, if it is not the task's fault. */
static enum bz_status use(struct pool *pool) {
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    uint64_t resource = 0;
    enum bz_status status = bz_sut_resource_pool_acquire(&pool->sut, &resource);
    if (status != BZ_OK) {
        bool is_excused = status == BZ_FAILED || bz_world_is_refused(world, status);
        return is_excused ? BZ_OK : status;
    }
    status = bz_yield_times(world, (uint64_t)values[HOLD]);
    bool is_broken =
        values[BREAKAGE] > 0 && bz_world_draw(world, "broken", (uint64_t)values[BREAKAGE] + 1) == 1;
    enum bz_status given = give_back(pool, resource, is_broken);
    return status == BZ_OK ? given : status;
}

static enum bz_status worker(void *arg) {
    struct pool *pool = arg;
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    enum bz_manner manner = (enum bz_manner)values[MANNER];
    enum bz_status status = BZ_OK;
    for (int64_t round = 0; status == BZ_OK && round < values[ROUNDS]; round++) {
        status = values[PAUSE_NS] > 0 ? bz_sleep_drawn(world, "pause", 0, values[PAUSE_NS])
                                      : bz_yield_below(world, "arrival", values[ARRIVAL] + 1);
        if (status == BZ_OK) {
            bz_cancel_self(world, manner);
            status = use(pool);
        }
        status = bz_end_of_round(world, manner, status);
    }
    return status == BZ_CLOSED ? BZ_OK : status;
}

static enum bz_status closer(void *arg) {
    struct pool *pool = arg;
    enum bz_status status =
        bz_yield_below(pool->scene.world, "closing", pool->scene.values[PATIENCE]);
    return status == BZ_OK ? bz_sut_resource_pool_close(&pool->sut) : status;
}

/* Releases a resource that no task has, if there is one. The oracle `misuse` judges that. */
static enum bz_status intruder(void *arg) {
    struct pool *pool = arg;
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[VISITS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(world, "patience", values[PATIENCE]);
        uint32_t nth = (uint32_t)bz_world_draw(world, "intruder-nth", (uint64_t)values[LIMIT]);
        uint32_t resource = bz_judge_unlent(&pool->sut.judged, nth);
        if (status == BZ_OK && resource != 0) {
            enum bz_status refused = bz_sut_resource_pool_release(&pool->sut, resource, false);
            (void)refused;
        }
    }
    return status;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* All that may exist, and gives them back: no room may have been lost. */
static enum bz_status take_all(struct pool *pool) {
    struct bz_world *world = pool->scene.world;
    uint32_t limit = (uint32_t)pool->scene.values[LIMIT];
    uint64_t *taken = bz_world_alloc(world, limit * sizeof *taken);
    enum bz_status status = BZ_OK;
    pool->is_at_the_end = true;
    for (uint32_t index = 0; status == BZ_OK && index < limit; index++) {
        status = bz_sut_resource_pool_acquire(&pool->sut, &taken[index]);
    }
    for (uint32_t index = 0; index < limit; index++) {
        enum bz_status given = taken[index] == 0 ? BZ_OK : give_back(pool, taken[index], false);
        status = status == BZ_OK ? given : status;
    }
    return status == BZ_CLOSED ? BZ_OK : status;
}

static enum bz_status warden(void *arg) {
    struct pool *pool = arg;
    enum bz_status status = bz_future_await(&pool->all_ended);
    status = status == BZ_OK ? take_all(pool) : status;
    if (status == BZ_OK && pool->sut.ops->close != NULL) {
        status = bz_sut_resource_pool_close(&pool->sut);
    }
    return status;
}

static void on_end(void *arg) {
    struct pool *pool = arg;
    if (--pool->tasks_left == 0) {
        bz_future_set_result(&pool->all_ended, 0); /* refused if the warden was cancelled */
    }
}

static void spawn_all(struct pool *pool) {
    struct bz_world *world = pool->scene.world;
    const int64_t *values = pool->scene.values;
    int64_t workers = values[WORKERS];
    int64_t closers = pool->sut.ops->close != NULL ? values[CLOSERS] : 0;
    struct bz_member *members =
        bz_world_alloc(world, (size_t)(workers + closers) * sizeof *members);
    pool->tasks_left = (uint32_t)(workers + closers);
    bz_future_init(&pool->all_ended, world->loop);
    bz_scene_spawn_members(world, members, workers, "worker", worker, pool, on_end);
    bz_scene_spawn_members(world, members + workers, closers, "closer", closer, pool, on_end);
    for (int64_t index = 0; index < workers; index++) {
        pool->workers[index] = members[index].task;
    }
    struct bz_canceller *canceller = bz_canceller_spawn(
        world, pool->workers, workers, 1u << BZ_OP_ACQUIRE, values[PATIENCE], values[CANCELS]);
    canceller->manner = (enum bz_manner)values[MANNER];
    if (values[VISITS] > 0 &&
        bz_scene_claims(world, BZ_PRIMITIVE_RESOURCE_POOL, BZ_CLAIM_REFUSES_MISUSE)) {
        bz_scene_spawn(world, "intruder", 0, intruder, pool);
    }
    bz_scene_spawn(world, "warden", 0, warden, pool);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    const int64_t *values = args->values;
    struct pool *pool =
        bz_scene_new(world, args, sizeof *pool + (size_t)values[WORKERS] * sizeof pool->workers[0]);
    pool->sut.make = make;
    pool->sut.context = pool;
    enum bz_status status = bz_sut_resource_pool_init(
        &pool->sut, world, "pool", (uint32_t)values[LIMIT], (uint64_t)values[IDLE_NS]);
    if (bz_scene_is_set_up(world, status)) {
        spawn_all(pool);
    }
    return pool;
}

static void finish(struct bz_world *world, void *arg) {
    (void)world;
    bz_sut_resource_pool_finish(&((struct pool *)arg)->sut);
}

const struct bz_scenario bz_scenario_resource_pool = {
    .name = "resource-pool",
    .summary = "workers share a limited number of resources, such as connections",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_RESOURCE_POOL),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
    .size = "limit",
};
