#include "pool.h"

/* --- the code under test: a semaphore of your own --------------------------------------------- */

struct waiter {
    struct bz_future future;
    struct bz_list link;
};

struct mysem {
    struct bz_loop *loop;
    struct bz_list queue; /* the oldest first */
    uint32_t value;
};

static enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct mysem *sem = instance;
    sem->loop = loop;
    sem->value = permits;
    bz_list_init(&sem->queue);
    return BZ_OK;
}

static enum bz_status acquire(void *instance) {
    struct mysem *sem = instance;
    while (sem->value == 0) {
        struct waiter waiter;
        bz_future_init(&waiter.future, sem->loop);
        bz_list_push_back(&sem->queue, &waiter.link);
        enum bz_status status = bz_future_await(&waiter.future);
        bz_list_remove(&waiter.link);
        if (status != BZ_OK) {
            return status;
        }
    }
    sem->value--;
    return BZ_OK;
}

/* Wakes everybody; those who find no permit wait again. */
static enum bz_status release(void *instance) {
    struct mysem *sem = instance;
    sem->value++;
    for (struct bz_list *link = sem->queue.next; link != &sem->queue; link = link->next) {
        (void)bz_future_set_result(&bz_container_of(link, struct waiter, link)->future, 0);
    }
    return BZ_OK;
}

static enum bz_status forgetful_release(void *instance) {
    ((struct mysem *)instance)->value++;
    return BZ_OK;
}

static bool locked(void *instance) {
    return ((struct mysem *)instance)->value == 0;
}

static const struct bz_permit_ops ops = {
    .instance_bytes = sizeof(struct mysem),
    .init = init,
    .acquire = acquire,
    .release = release,
    .locked = locked,
};

static const struct bz_permit_ops forgetful_ops = {
    .instance_bytes = sizeof(struct mysem),
    .init = init,
    .acquire = acquire,
    .release = forgetful_release,
    .locked = locked,
};

static const struct bz_variant mysem = {
    .version = BZ_VARIANT_VERSION,
    .name = "mysem",
    .summary = "a semaphore whose release wakes everybody",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &ops},
};

static const struct bz_variant forgetful = {
    .version = BZ_VARIANT_VERSION,
    .name = "forgetful",
    .summary = "a semaphore whose release wakes nobody",
    .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &forgetful_ops},
};

/* --- the program that uses it ----------------------------------------------------------------- */

enum { REQUESTS };

static const struct bz_param params[] = {
    {"requests", "tasks that need a connection", 4, 1, 100},
    {NULL, NULL, 0, 0, 0},
};

struct pool {
    struct bz_world *world;
    struct bz_sut_permits connections;
    int open;
};

static enum bz_status request(void *arg) {
    struct pool *pool = arg;
    enum bz_status status = bz_sut_acquire(&pool->connections);
    if (status != BZ_OK) {
        return status;
    }
    pool->open++;
    bz_world_assert(pool->world, pool->open <= 2, "%d connections are open", pool->open);
    status = bz_yield(pool->world->loop);
    pool->open--;
    enum bz_status released = bz_sut_release(&pool->connections);
    bz_world_assert(pool->world, released == BZ_OK, "the release is refused");
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct pool *pool = bz_world_alloc(world, sizeof *pool);
    pool->world = world;
    enum bz_status status =
        bz_sut_permits_init(&pool->connections, world, args->primitive, "connections", 2);
    bz_world_assert(world, status == BZ_OK, "no semaphore");
    for (int64_t number = 1; number <= args->values[REQUESTS]; number++) {
        (void)bz_task_spawn(world->loop, "request", (uint32_t)number, request, pool);
    }
    return pool;
}

static const struct bz_scenario connections = {
    .name = "connections",
    .summary = "requests share two connections",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE},
    .primitive_count = 1,
    .setup = setup,
};

const struct bz_check pool_keeps_its_limit = {.scenario = &connections, .variant = &mysem};
const struct bz_check pool_that_forgets = {
    .scenario = &connections, .variant = &forgetful, .options = "--set requests=3"};
