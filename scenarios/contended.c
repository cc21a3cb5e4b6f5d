/* contended: more workers than permits, and a canceller.
 *
 * Each worker goes `rounds` times through acquire, `hold` yields while it owns the permit, release.
 * The canceller yields a random 0..patience-1 times and then cancels one random worker that is
 * suspended in acquire, if there is one; `cancels` times over. It is the scenario that peers were
 * measured with, so that figures can be compared. */
#include "primitives/runtime/task.h"
#include "scenarios/canceller.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { PERMITS, WORKERS, ROUNDS, HOLD, PATIENCE, CANCELS };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"workers", "tasks that compete", 4, 1, 1000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a permit is held", 1, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct contended {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_task *workers[];
};

/* The permit goes back whatever became of the work. */
static enum bz_status hold_and_release(struct contended *state) {
    enum bz_status status = BZ_OK;
    for (int64_t yields = 0; status == BZ_OK && yields < state->args->values[HOLD]; yields++) {
        status = bz_yield(state->world->loop);
    }
    enum bz_status released = bz_sut_release(&state->sut);
    bz_world_assert(state->world, released == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(released));
    return status;
}

static enum bz_status worker(void *arg) {
    struct contended *state = arg;
    int64_t rounds = state->args->values[ROUNDS];
    for (int64_t round = 0; round < rounds; round++) {
        enum bz_status status = bz_sut_acquire(&state->sut);
        if (status == BZ_OK) {
            status = hold_and_release(state);
        }
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status canceller(void *arg) {
    struct contended *state = arg;
    uint64_t patience = (uint64_t)state->args->values[PATIENCE];
    for (int64_t strike = 0; strike < state->args->values[CANCELS]; strike++) {
        for (uint64_t left = bz_world_draw(state->world, "patience", patience); left > 0; left--) {
            enum bz_status status = bz_yield(state->world->loop);
            if (status != BZ_OK) {
                return status;
            }
        }
        bz_cancel_one_inside(state->world, state->workers, (uint32_t)state->args->values[WORKERS],
                             BZ_OP_ACQUIRE);
    }
    return BZ_OK;
}

static void spawn(struct contended *state, const char *name, uint32_t index, bz_task_fn *fn,
                  struct bz_task **task) {
    *task = bz_task_spawn(state->world->loop, name, index, fn, state);
    bz_world_assert(state->world, *task != NULL, "no memory for task %s-%u", name, index);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[WORKERS];
    struct contended *state =
        bz_world_alloc(world, sizeof *state + count * sizeof state->workers[0]);
    state->world = world;
    state->args = args;
    enum bz_status status = bz_sut_permits_init(&state->sut, world, args->primitive, "permits",
                                                (uint32_t)args->values[PERMITS]);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up");
    for (uint32_t index = 0; index < count && status == BZ_OK; index++) {
        spawn(state, "worker", index + 1, worker, &state->workers[index]);
    }
    struct bz_task *task;
    if (status == BZ_OK) {
        spawn(state, "canceller", 0, canceller, &task);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct contended *state = arg;
    (void)world;
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_contended = {
    .name = "contended",
    .summary = "more workers than permits, and a canceller that strikes in the queue",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .is_isolated = true,
    .setup = setup,
    .finish = finish,
};
