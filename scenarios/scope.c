/* scope: whose cancellation was it?
 *
 * Workers sleep inside two timeout scopes, one in the other, whose deadlines are drawn from the
 * same few instants as the sleeps: the inner one comes first, or the outer, or both at once, or
 * neither. The canceller strikes workers meanwhile. In some rounds a worker cancels itself right
 * before it enters a scope whose deadline has passed. Who is cancelled cleans up, and does that
 * inside a scope, too: there the task has a request to its account before it enters. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { WORKERS, ROUNDS, SLEEP_NS, CANCELS };

static const struct bz_param params[] = {
    {"workers", "tasks that sleep inside scopes", 3, 1, 1000},
    {"rounds", "how often each of them does", 2, 1, 1000},
    {"sleep-ns", "sleeps and deadlines are of 0..sleep-ns", 4, 0, 1000000000},
    {"cancels", "how often the canceller strikes", 2, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct scope {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_task *workers[];
};

static uint64_t draw_ns(struct scope *state, const char *name) {
    return bz_world_draw_delay_ns(state->world, name, 0, (uint64_t)state->args->values[SLEEP_NS]);
}

static enum bz_status nap(struct scope *state) {
    return bz_sleep(state->world->loop, draw_ns(state, "sleep-ns"));
}

/* A sleep with a deadline. */
static enum bz_status sleep_in_scope(struct scope *state, struct bz_sut_scope *outer,
                                     uint64_t delay_ns) {
    struct bz_sut_scope scope;
    enum bz_status status = bz_sut_scope_enter(&scope, state->world, outer, delay_ns);
    return status == BZ_OK ? bz_sut_scope_exit(&scope, nap(state)) : status;
}

/* The outer scope's body gets over the end of the inner one, if that was its deadline. What it
 * tidies up afterwards has a deadline of its own. */
static enum bz_status nested_body(struct scope *state, struct bz_sut_scope *outer) {
    enum bz_status status = sleep_in_scope(state, outer, draw_ns(state, "inner-ns"));
    if (status == BZ_OK || status == BZ_TIMED_OUT) {
        status = nap(state);
    }
    if (status == BZ_CANCELLED) {
        enum bz_status cleanup = sleep_in_scope(state, outer, draw_ns(state, "cleanup-ns"));
        (void)cleanup; /* the cancellation that led here goes on, whatever became of this */
    }
    return status;
}

static enum bz_status sleep_nested(struct scope *state) {
    struct bz_sut_scope outer;
    enum bz_status status =
        bz_sut_scope_enter(&outer, state->world, NULL, draw_ns(state, "outer-ns"));
    return status == BZ_OK ? bz_sut_scope_exit(&outer, nested_body(state, &outer)) : status;
}

/* A request on its way, and a deadline that has passed: the next await delivers the request. */
static enum bz_status sleep_cancelled(struct scope *state) {
    bz_task_cancel(bz_loop_current(state->world->loop));
    return sleep_in_scope(state, NULL, 0);
}

static enum bz_status worker(void *arg) {
    struct scope *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; left > 0; left--) {
        bool cancels_itself = bz_world_draw(state->world, "self", 4) == 1;
        status = cancels_itself ? sleep_cancelled(state) : sleep_nested(state);
        if (status != BZ_OK && status != BZ_TIMED_OUT) {
            break;
        }
    }
    uint32_t requests = bz_task_cancelling(bz_loop_current(state->world->loop));
    bz_world_assert(state->world, status != BZ_CANCELLED || requests > 0,
                    "a worker was cancelled, and there is no request for that");
    if (status == BZ_CANCELLED) {
        enum bz_status cleanup = sleep_in_scope(state, NULL, draw_ns(state, "cleanup-ns"));
        (void)cleanup; /* as above */
    }
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

static enum bz_status canceller(void *arg) {
    struct scope *state = arg;
    for (int64_t left = state->args->values[CANCELS]; left > 0; left--) {
        enum bz_status status = nap(state);
        if (status != BZ_OK) {
            return status;
        }
        uint64_t victim =
            bz_world_draw(state->world, "victim", (uint64_t)state->args->values[WORKERS]);
        bz_task_cancel(state->workers[victim]); /* false: it is done */
    }
    return BZ_OK;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[WORKERS];
    struct scope *state = bz_world_alloc(world, sizeof *state + count * sizeof state->workers[0]);
    state->world = world;
    state->args = args;
    for (uint32_t index = 0; index < count; index++) {
        state->workers[index] = bz_task_spawn(world->loop, "worker", index + 1, worker, state);
        bz_world_assert(world, state->workers[index] != NULL, "no memory for task worker-%u",
                        index + 1);
        if (state->workers[index] == NULL) {
            return state;
        }
    }
    const struct bz_task *task = bz_task_spawn(world->loop, "canceller", 0, canceller, state);
    bz_world_assert(world, task != NULL, "no memory for task canceller");
    return state;
}

const struct bz_scenario bz_scenario_scope = {
    .name = "scope",
    .summary = "sleeps in nested timeout scopes, and cancels at the same instants",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SCOPE},
    .primitive_count = 1,
    .setup = setup,
};
