/* event: setters set and clear a flag that others wait for.
 *
 * In each round a setter yields, sets, yields, and clears. The yields may be none, so a set and a
 * clear, or two sets, can fall into one step. Waiters wait round after round. Latecomers wait once,
 * later: the flag is up, just down again, or up for the second time. The canceller strikes a task
 * that waits. When the last setter has ended, a callback sets the flag for good: a setter may be
 * cancelled before its first step.
 *
 * With BZ_CLAIM_SINGLE_CONSUMER one task waits at a time, and the others for their turn.
 *
 * A wait may return BZ_OK only if the flag was up at some moment during the wait. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { SETTERS, WAITERS, ROUNDS, LATECOMERS, PACE, DELAY, PATIENCE, CANCELS };

static const struct bz_param params[] = {
    {"setters", "tasks that set and clear", 2, 1, 1000},
    {"waiters", "tasks that wait, round after round", 3, 1, 1000},
    {"rounds", "rounds of each setter, and of each waiter", 2, 1, 1000},
    {"latecomers", "tasks that wait once, after a while", 1, 0, 1000},
    {"pace", "0..pace yields before a set, a clear, a wait", 2, 0, 1000},
    {"delay", "a latecomer comes after 0..delay yields", 6, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"setters", 1, 3, 0},
    {"waiters", 1, 6, 12},
    {"rounds", 1, 4, 8},
    {"latecomers", 0, 2, 0},
    {"pace", 0, 3, 0},
    {"cancels", 0, 3, 0},
    {"waiters", 7, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct event {
    struct bz_scene scene;
    struct bz_sut_event sut;
    struct bz_turn turn; /* to wait */
    int64_t setters_left;
    uint64_t sets; /* so far */
    bool is_set;
};

static void check_flag(struct event *state) {
    bool is_set = bz_sut_event_is_set(&state->sut);
    bz_world_assert(state->scene.world, is_set == state->is_set,
                    "is_set() was %s right after the event was %s", is_set ? "true" : "false",
                    state->is_set ? "set" : "cleared");
}

static void set(struct event *state) {
    state->sets++;
    state->is_set = true;
    bz_sut_event_set(&state->sut);
    check_flag(state);
}

static void clear(struct event *state) {
    state->is_set = false;
    bz_sut_event_clear(&state->sut);
    check_flag(state);
}

static enum bz_status setter(void *arg) {
    struct event *state = arg;
    struct bz_world *world = state->scene.world;
    int64_t pace = state->scene.values[PACE];
    enum bz_status status = BZ_OK;
    for (int64_t left = state->scene.values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(world, "before-set", pace + 1);
        if (status == BZ_OK) {
            set(state);
            status = bz_yield_below(world, "before-clear", pace + 1);
        }
        if (status == BZ_OK) {
            clear(state);
        }
    }
    return status;
}

static void on_setter_ended(void *arg) {
    struct event *state = arg;
    if (--state->setters_left == 0) {
        set(state);
    }
}

static enum bz_status wait_once(struct event *state) {
    enum bz_status status = bz_turn_take(&state->turn);
    if (status != BZ_OK) {
        return status;
    }
    bool was_set = state->is_set;
    uint64_t sets = state->sets;
    status = bz_sut_event_wait(&state->sut);
    bz_turn_pass(&state->turn);
    bz_world_assert(state->scene.world, status != BZ_OK || was_set || state->sets > sets,
                    "a wait returned ok, but the flag was never up during it");
    bz_world_assert(state->scene.world,
                    status == BZ_OK || status == BZ_CANCELLED ||
                        bz_world_is_refused(state->scene.world, status),
                    "a wait ended with %s", bz_status_word(status));
    return status;
}

static enum bz_status waiter(void *arg) {
    struct event *state = arg;
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(state->scene.world, "before-wait", values[PACE] + 1);
        status = status == BZ_OK ? wait_once(state) : status;
    }
    return status;
}

static enum bz_status latecomer(void *arg) {
    struct event *state = arg;
    enum bz_status status =
        bz_yield_below(state->scene.world, "delay", state->scene.values[DELAY] + 1);
    return status == BZ_OK ? wait_once(state) : status;
}

static void spawn_all(struct event *state) {
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    int64_t count = values[WAITERS] + values[LATECOMERS];
    struct bz_member *setters = bz_world_alloc(world, (size_t)values[SETTERS] * sizeof *setters);
    struct bz_task **waiters = bz_world_alloc(world, (size_t)count * sizeof *waiters);
    state->setters_left = values[SETTERS];
    bz_scene_spawn_members(world, setters, values[SETTERS], "setter", setter, state,
                           on_setter_ended);
    bz_scene_spawn_alike(world, waiters, values[WAITERS], "waiter", waiter, state);
    bz_scene_spawn_alike(world, waiters + values[WAITERS], values[LATECOMERS], "latecomer",
                         latecomer, state);
    bz_canceller_spawn(world, waiters, count, 1u << BZ_OP_WAIT, values[PATIENCE], values[CANCELS]);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct event *state = bz_scene_new(world, args, sizeof *state);
    if (bz_scene_is_set_up(world, bz_sut_event_init(&state->sut, world, "flag"))) {
        bz_turn_init(&state->turn, world, BZ_PRIMITIVE_EVENT, BZ_CLAIM_SINGLE_CONSUMER);
        spawn_all(state);
    }
    return state;
}

const struct bz_scenario bz_scenario_event = {
    .name = "event",
    .summary = "setters raise and lower a flag that others wait for",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_EVENT),
    .setup = setup,
    .runs_uncancelled = true,
    .sizes = sizes,
};
