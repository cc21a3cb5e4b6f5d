/* taskgroup: the children of a task group compete for permits, and one of them fails.
 *
 * The child drawn to fail does so at a drawn moment of its life: before an acquire, while it holds
 * a permit, or after the release. The group then cancels its siblings, wherever they are: in the
 * queue, in the window, at work. Everybody gives back what it holds on the way out; when the group
 * is closed a checker finds every permit free. */
#include "primitives/runtime/group.h"
#include "primitives/runtime/task.h"
#include "scenarios/checker.h"
#include "scenarios/scenarios.h"
#include "sim/native/world.h"

enum { PERMITS, CHILDREN, ROUNDS, HOLD };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"children", "tasks of the group", 5, 1, 1000},
    {"rounds", "acquire-release rounds of each child", 2, 1, 1000},
    {"hold", "yields while a permit is held", 2, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

/* Where a round of the failing child can break off. */
enum moment { BEFORE_ACQUIRE, WHILE_HOLDING, AFTER_RELEASE, MOMENTS };

struct child {
    struct taskgroup *state;
    uint64_t fails_at; /* round * MOMENTS + moment; never reached by those that do not fail */
};

struct taskgroup {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_group group;
    struct bz_task *parent;
    struct bz_checker checker;
    struct child children[];
};

static enum bz_status work(struct taskgroup *state) {
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[HOLD]; status == BZ_OK && left > 0; left--) {
        status = bz_yield(state->world->loop);
    }
    return status;
}

static enum bz_status play_round(const struct child *child, uint64_t round) {
    struct taskgroup *state = child->state;
    if (child->fails_at == round * MOMENTS + BEFORE_ACQUIRE) {
        return BZ_FAILED;
    }
    enum bz_status status = bz_sut_acquire(&state->sut);
    if (status != BZ_OK) {
        return status;
    }
    status = work(state);
    if (status == BZ_OK && child->fails_at == round * MOMENTS + WHILE_HOLDING) {
        status = BZ_FAILED;
    }
    enum bz_status released = bz_sut_release(&state->sut);
    bz_world_assert(state->world, released == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(released));
    if (status == BZ_OK && child->fails_at == round * MOMENTS + AFTER_RELEASE) {
        status = BZ_FAILED;
    }
    return status;
}

static enum bz_status child_main(void *arg) {
    const struct child *child = arg;
    enum bz_status status = BZ_OK;
    uint64_t rounds = (uint64_t)child->state->args->values[ROUNDS];
    for (uint64_t round = 0; status == BZ_OK && round < rounds; round++) {
        status = play_round(child, round);
    }
    return status;
}

static enum bz_status parent(void *arg) {
    struct taskgroup *state = arg;
    enum bz_status status = bz_group_enter(state->world->loop, &state->group);
    if (status != BZ_OK) {
        return status;
    }
    uint32_t count = (uint32_t)state->args->values[CHILDREN];
    for (uint32_t index = 0; status == BZ_OK && index < count; index++) {
        status = bz_group_spawn(&state->group, "child", index + 1, child_main,
                                &state->children[index], NULL);
    }
    status = bz_group_exit(&state->group, status);
    bool is_fine = status == BZ_OK || status == BZ_FAILED ||
                   (status == BZ_CANCELLED && bz_task_cancelling(state->parent) > 0);
    bz_world_assert(state->world, is_fine, "the group ended with %s", bz_status_name(status));
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[CHILDREN];
    struct taskgroup *state =
        bz_world_alloc(world, sizeof *state + count * sizeof state->children[0]);
    state->world = world;
    state->args = args;
    for (uint32_t index = 0; index < count; index++) {
        state->children[index] = (struct child){.state = state, .fails_at = UINT64_MAX};
    }
    uint64_t moments = (uint64_t)args->values[ROUNDS] * MOMENTS;
    uint64_t failing = bz_world_draw(world, "failing", count);
    state->children[failing].fails_at = bz_world_draw(world, "moment", moments);
    enum bz_status status = bz_sut_permits_init(&state->sut, world, args->primitive, "permits",
                                                (uint32_t)args->values[PERMITS]);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status != BZ_OK) {
        return state;
    }
    state->parent = bz_task_spawn(world->loop, "parent", 0, parent, state);
    bz_world_assert(world, state->parent != NULL, "no memory for task parent");
    if (state->parent != NULL) {
        bool is_lock = args->primitive == BZ_PRIMITIVE_LOCK;
        state->checker =
            (struct bz_checker){.world = world,
                                .sut = &state->sut,
                                .tasks = &state->parent,
                                .task_count = 1,
                                .permits = is_lock ? 1 : (uint32_t)args->values[PERMITS]};
        bz_checker_spawn(&state->checker);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct taskgroup *state = arg;
    (void)world;
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_taskgroup = {
    .name = "taskgroup",
    .summary = "one child of a task group fails, and its siblings are cancelled at the permits",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
