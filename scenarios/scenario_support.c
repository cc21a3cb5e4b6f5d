#include "scenarios/scenario_support.h"

#include "primitives/runtime/driver.h"
#include "primitives/runtime/group.h"

/* Bodies return none of these, unless they say so. */
#define NO_ENDS (1u << BZ_FAILED | 1u << BZ_INVALID_STATE | 1u << BZ_INVALID_ARGUMENT)

void *bz_scene_new(struct bz_world *world, const struct bz_scenario_args *args,
                   size_t state_bytes) {
    struct bz_scene *scene = bz_world_alloc(world, state_bytes);
    scene->world = world;
    scene->values = args->values;
    bz_judge_refuse_ends(world->judge, NO_ENDS);
    return scene;
}

void bz_scene_may_fail(struct bz_world *world) {
    bz_judge_refuse_ends(world->judge, NO_ENDS & ~(1u << BZ_FAILED));
}

bool bz_scene_is_set_up(struct bz_world *world, enum bz_status status) {
    if (status == BZ_INVALID_ARGUMENT) {
        bz_judge_cut(world->judge, "the variant does not offer this size; --set another");
        return false;
    }
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_word(status));
    return status == BZ_OK;
}

bool bz_scene_init_permits(struct bz_scene *scene, const struct bz_scenario_args *args,
                           const char *name, int64_t permits) {
    scene->permits = args->primitive == BZ_PRIMITIVE_LOCK ? 1 : (uint32_t)permits;
    return bz_scene_is_set_up(
        scene->world,
        bz_sut_permits_init(&scene->sut, scene->world, args->primitive, name, scene->permits));
}

void bz_scene_finish_permits(struct bz_world *world, void *scene) {
    (void)world;
    bz_sut_probe_misuse(&((struct bz_scene *)scene)->sut);
}

/* --- tasks ------------------------------------------------------------------------------------ */

struct bz_task *bz_scene_spawn(struct bz_world *world, const char *name, uint32_t index,
                               bz_task_fn *fn, void *state) {
    struct bz_task *task = bz_task_spawn(world->loop, name, index, fn, state);
    bz_world_assert(world, task != NULL, "no memory for task %s-%u", name, index);
    if (task != NULL) {
        bz_world_adopt(world, task);
    }
    return task;
}

void bz_scene_spawn_all(struct bz_world *world, struct bz_task **tasks, int64_t count,
                        const char *name, bz_task_fn *fn, void *state) {
    for (uint32_t index = 0; index < (uint32_t)count; index++) {
        struct bz_task *task = bz_scene_spawn(world, name, index + 1, fn, state);
        if (tasks != NULL) {
            tasks[index] = task;
        }
    }
}

void bz_scene_spawn_alike(struct bz_world *world, struct bz_task **tasks, int64_t count,
                          const char *name, bz_task_fn *fn, void *state) {
    bz_scene_spawn_all(world, tasks, count, name, fn, state);
    bz_world_interchange(world, tasks, (uint32_t)count);
}

enum bz_status bz_scene_spawn_child(struct bz_world *world, struct bz_group *group, uint32_t index,
                                    bz_task_fn *fn, void *arg) {
    struct bz_task *child = NULL;
    bool is_returned = index % 2 == 1; /* else the group need not say which task it is */
    bz_world_may_refuse(world, true);
    enum bz_status status =
        bz_group_spawn(group, "child", index, fn, arg, is_returned ? &child : NULL);
    bz_world_may_refuse(world, false);
    if (status == BZ_OK) {
        bz_world_adopt(world, is_returned ? child : bz_driver_newest_task(world->loop));
    }
    return status;
}

static void member_ended(struct bz_callback *callback, struct bz_future *future) {
    const struct bz_member *member = bz_container_of(callback, struct bz_member, ends);
    (void)future;
    member->on_end(member->state);
}

void bz_scene_spawn_member(struct bz_world *world, struct bz_member *member, const char *name,
                           uint32_t index, bz_task_fn *fn, void *state,
                           void (*on_end)(void *state)) {
    member->state = state;
    member->on_end = on_end;
    member->task = bz_scene_spawn(world, name, index, fn, state);
    bool is_watched = member->task != NULL && bz_future_add_callback(bz_task_future(member->task),
                                                                     &member->ends, member_ended);
    bz_world_own_callback(world, member_ended);
    bz_world_assert(world, is_watched, "no memory for the end of task %s-%u", name, index);
}

void bz_scene_spawn_members(struct bz_world *world, struct bz_member *members, int64_t count,
                            const char *name, bz_task_fn *fn, void *state,
                            void (*on_end)(void *state)) {
    struct bz_task *tasks[BZ_ALIKE_MAX];
    for (uint32_t index = 0; index < (uint32_t)count; index++) {
        bz_scene_spawn_member(world, &members[index], name, index + 1, fn, state, on_end);
        if (index < BZ_ALIKE_MAX) {
            tasks[index] = members[index].task;
        }
    }
    bz_world_interchange_with(world, tasks, (uint32_t)count, members, sizeof members[0]);
}

/* --- the canceller ---------------------------------------------------------------------------- */

static uint32_t some_of(uint32_t first, uint32_t count) {
    return count - first < 64 ? count - first : 64;
}

/* Of the tasks from `first` on, at most 64, those inside one of `ops`, as bits. */
static uint64_t inside(struct bz_world *world, struct bz_task *const *tasks, uint32_t first,
                       uint32_t count, uint32_t ops) {
    uint32_t some = some_of(first, count);
    uint64_t set = 0;
    for (; ops != 0; ops &= ops - 1) {
        enum bz_op op = (enum bz_op)__builtin_ctz(ops);
        set |= bz_world_suspended_in(world, tasks + first, some, op);
    }
    return set;
}

struct bz_task *bz_cancel_one_inside(struct bz_world *world, struct bz_task *const *tasks,
                                     uint32_t count, uint32_t ops) {
    uint32_t candidates = 0;
    uint64_t favoured = 0; /* those that were woken, by their place among the candidates */
    for (uint32_t first = 0; first < count; first += 64) {
        uint64_t woken = bz_world_woken(world, tasks + first, some_of(first, count));
        for (uint64_t set = inside(world, tasks, first, count, ops); set != 0; set &= set - 1) {
            bool is_woken = (woken >> __builtin_ctzll(set) & 1u) != 0;
            favoured |= candidates < 64 ? (uint64_t)is_woken << candidates : 0;
            candidates++;
        }
    }
    if (candidates == 0) {
        return NULL;
    }
    uint64_t skip = bz_world_draw_favoured(world, "victim", candidates, favoured);
    for (uint32_t first = 0; first < count; first += 64) {
        for (uint64_t set = inside(world, tasks, first, count, ops); set != 0; set &= set - 1) {
            if (skip-- == 0) {
                struct bz_task *victim = tasks[first + (uint32_t)__builtin_ctzll(set)];
                bz_task_cancel(victim);
                return victim;
            }
        }
    }
    return NULL;
}

#define SEVERAL_LEAST 2u
#define SEVERAL_MOST 4u

static void strike_once(const struct bz_canceller *canceller) {
    struct bz_world *world = canceller->world;
    uint64_t cancels = 1;
    if (canceller->manner == BZ_MANNER_SEVERAL) {
        cancels = SEVERAL_LEAST + bz_world_draw(world, "several", SEVERAL_MOST - SEVERAL_LEAST + 1);
    }
    for (; cancels > 0; cancels--) {
        struct bz_task *victim =
            bz_cancel_one_inside(world, canceller->tasks, canceller->count, canceller->ops);
        if (victim != NULL && canceller->manner == BZ_MANNER_TWICE) {
            bz_task_cancel(victim);
        }
    }
}

static enum bz_status cancel_some(void *arg) {
    const struct bz_canceller *canceller = arg;
    for (int64_t strike = 0; strike < canceller->strikes; strike++) {
        enum bz_status status = bz_yield_below(canceller->world, "patience", canceller->patience);
        if (status != BZ_OK) {
            return status;
        }
        strike_once(canceller);
    }
    return BZ_OK;
}

struct bz_canceller *bz_canceller_spawn(struct bz_world *world, struct bz_task *const *tasks,
                                        int64_t count, uint32_t ops, int64_t patience,
                                        int64_t strikes) {
    struct bz_canceller *canceller = bz_world_alloc(world, sizeof *canceller);
    *canceller = (struct bz_canceller){.world = world,
                                       .tasks = tasks,
                                       .count = (uint32_t)count,
                                       .ops = ops,
                                       .patience = patience,
                                       .strikes = bz_world_may_cancel(world) ? strikes : 0};
    bz_scene_spawn(world, "canceller", 0, cancel_some, canceller);
    return canceller;
}

#define SELF_OF 4u /* one of so many operations */

void bz_cancel_self(struct bz_world *world, enum bz_manner manner) {
    if (manner == BZ_MANNER_SELF && bz_world_may_cancel(world) &&
        bz_world_draw(world, "self", SELF_OF) == 1) {
        bz_task_cancel(bz_loop_current(world->loop));
    }
}

enum bz_status bz_end_of_round(struct bz_world *world, enum bz_manner manner,
                               enum bz_status status) {
    struct bz_task *task = bz_loop_current(world->loop);
    if (manner != BZ_MANNER_GO_ON || !bz_is_cancelled(world, status)) {
        return status;
    }
    while (bz_task_uncancel(task) > 0) {
    }
    return BZ_OK;
}

/* --- the checker ------------------------------------------------------------------------------ */

/* False if the checker is cancelled: a cancel of the checker may reach a task it waits for. */
static bool wait_for_all(struct bz_checker *checker) {
    for (uint32_t index = 0; index < checker->task_count; index++) {
        struct bz_task *task = checker->tasks[index];
        enum bz_status outcome = bz_task_join(task);
        if (bz_task_cancelling(checker->task) > 0) {
            return false;
        }
        bz_world_assert(checker->scene->world,
                        bz_task_is_done(task) && outcome == bz_task_future(task)->status,
                        "a join of task %u returned %s before that ended, or not its outcome",
                        index + 1, bz_status_word(outcome));
    }
    return true;
}

static enum bz_status check(void *arg) {
    struct bz_checker *checker = arg;
    struct bz_scene *scene = checker->scene;
    enum bz_status alone = bz_task_join(checker->task);
    bz_world_assert(scene->world, alone == BZ_INVALID_STATE, "a task that joins itself gets %s",
                    bz_status_word(alone));
    if (!wait_for_all(checker)) {
        return BZ_CANCELLED;
    }
    enum bz_status status = BZ_OK;
    uint32_t taken = 0;
    while (status == BZ_OK && taken < scene->permits) {
        status = bz_sut_acquire(&scene->sut);
        taken += status == BZ_OK;
    }
    bz_world_assert(
        scene->world, status == BZ_OK || bz_is_cancelled(scene->world, status),
        "all other tasks have ended, %u of %u permits were free, then acquire returned %s", taken,
        scene->permits, bz_status_word(status));
    for (; taken > 0; taken--) {
        bz_check_released(scene->world, bz_sut_release(&scene->sut));
    }
    return status;
}

void bz_checker_spawn(struct bz_checker *checker, struct bz_scene *scene,
                      struct bz_task *const *tasks, uint32_t task_count) {
    *checker = (struct bz_checker){.scene = scene, .tasks = tasks, .task_count = task_count};
    checker->task = bz_scene_spawn(scene->world, "checker", 0, check, checker);
}
