/* taskgroup: the children of a task group compete for permits, and one fails.
 *
 * A drawn child fails at a drawn moment: before an acquire, while it holds a permit, or after the
 * release. The group then cancels the siblings wherever they are: in the queue, in the window, or
 * at work. Each gives back what it holds. When the group has ended, a checker takes every permit.
 */
#include "primitives/runtime/group.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { PERMITS, CHILDREN, ROUNDS, HOLD };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 2, 1, 1000},
    {"children", "tasks of the group", 5, 1, 1000},
    {"rounds", "acquire-release rounds of each child", 2, 1, 1000},
    {"hold", "yields while a permit is held", 2, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0}, {"children", 1, 8, 14}, {"rounds", 1, 4, 8},
    {"hold", 0, 3, 0},    {NULL, 0, 0, 0},
};

/* Where in a round the failing child fails. */
enum moment { BEFORE_ACQUIRE, WHILE_HOLDING, AFTER_RELEASE, MOMENTS };

struct child {
    struct taskgroup *state;
    uint64_t fails_at; /* round * MOMENTS + moment; UINT64_MAX: it does not fail */
};

struct taskgroup {
    struct bz_scene scene;
    struct bz_group group;
    struct bz_task *parent;
    struct bz_checker checker;
    struct child children[];
};

static enum bz_status play_round(const struct child *child, uint64_t round) {
    struct bz_scene *scene = &child->state->scene;
    if (child->fails_at == round * MOMENTS + BEFORE_ACQUIRE) {
        return BZ_FAILED;
    }
    enum bz_status status = bz_sut_acquire(&scene->sut);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_yield_times(scene->world, (uint64_t)scene->values[HOLD]);
    if (status == BZ_OK && child->fails_at == round * MOMENTS + WHILE_HOLDING) {
        status = BZ_FAILED;
    }
    bz_check_released(scene->world, bz_sut_release(&scene->sut));
    if (status == BZ_OK && child->fails_at == round * MOMENTS + AFTER_RELEASE) {
        status = BZ_FAILED;
    }
    return status;
}

static enum bz_status child_main(void *arg) {
    const struct child *child = arg;
    enum bz_status status = BZ_OK;
    uint64_t rounds = (uint64_t)child->state->scene.values[ROUNDS];
    for (uint64_t round = 0; status == BZ_OK && round < rounds; round++) {
        status = play_round(child, round);
    }
    return status;
}

static enum bz_status parent(void *arg) {
    struct taskgroup *state = arg;
    struct bz_world *world = state->scene.world;
    enum bz_status status = bz_group_enter(world->loop, &state->group);
    if (status != BZ_OK) {
        return status;
    }
    uint32_t count = (uint32_t)state->scene.values[CHILDREN];
    for (uint32_t index = 0; status == BZ_OK && index < count; index++) {
        status = bz_scene_spawn_child(world, &state->group, index + 1, child_main,
                                      &state->children[index]);
    }
    status = bz_group_exit(&state->group, status);
    bool is_fine = status == BZ_OK || status == BZ_FAILED || bz_is_cancelled(world, status);
    bz_world_assert(world, is_fine, "the group ended with %s", bz_status_word(status));
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t count = (uint32_t)args->values[CHILDREN];
    struct taskgroup *state =
        bz_scene_new(world, args, sizeof *state + count * sizeof state->children[0]);
    for (uint32_t index = 0; index < count; index++) {
        state->children[index] = (struct child){.state = state, .fails_at = UINT64_MAX};
    }
    uint64_t moments = (uint64_t)args->values[ROUNDS] * MOMENTS;
    uint64_t failing = bz_world_draw(world, "failing", count);
    state->children[failing].fails_at = bz_world_draw(world, "moment", moments);
    if (bz_scene_init_permits(&state->scene, args, "permits", args->values[PERMITS])) {
        state->parent = bz_scene_spawn(world, "parent", 0, parent, state);
        bz_checker_spawn(&state->checker, &state->scene, &state->parent, 1);
    }
    return state;
}

const struct bz_scenario bz_scenario_taskgroup = {
    .name = "taskgroup",
    .summary = "one child of a task group fails, and its siblings are cancelled at the permits",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .setup = setup,
    .finish = bz_scene_finish_permits,
    .sizes = sizes,
};
