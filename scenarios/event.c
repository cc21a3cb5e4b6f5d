/* event: setters raise and lower a flag, and others wait for it.
 *
 * Each setter goes through rounds of: a while, set, a while, clear; a while may be none, so that
 * set and clear, or two sets, fall into one step. Waiters come back round after round. Latecomers
 * come once, after a longer while: to a flag that is up, just down again, or up for the second
 * time. The canceller strikes somebody who waits. When the last setter has gone the flag is raised
 * for good, from a callback, because setters may be cancelled before they have begun.
 *
 * A wait may end well only if the flag was up at some moment of it. */
#include "primitives/runtime/task.h"
#include "scenarios/canceller.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

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

struct setter {
    struct event *state;
    struct bz_callback is_done;
};

struct event {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_event sut;
    struct setter *setters;
    int64_t setters_left;
    uint64_t sets; /* so far */
    bool is_set;
    struct bz_task **waiters; /* and latecomers */
    uint32_t waiter_count;
};

/* Yields a drawn number of times, up to `most`. */
static enum bz_status wait_a_while(struct event *state, const char *label, int64_t most) {
    for (uint64_t left = bz_world_draw(state->world, label, (uint64_t)most + 1); left > 0; left--) {
        enum bz_status status = bz_yield(state->world->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static void check_flag(struct event *state) {
    bool is_set = bz_sut_event_is_set(&state->sut);
    bz_world_assert(state->world, is_set == state->is_set, "the flag is %s right after it was %s",
                    is_set ? "up" : "down", state->is_set ? "set" : "cleared");
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
    struct event *state = ((struct setter *)arg)->state;
    int64_t pace = state->args->values[PACE];
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = wait_a_while(state, "before-set", pace);
        if (status == BZ_OK) {
            set(state);
            status = wait_a_while(state, "before-clear", pace);
        }
        if (status == BZ_OK) {
            clear(state);
        }
    }
    return status;
}

static void setter_is_done(struct bz_callback *callback, struct bz_future *future) {
    struct event *state = bz_container_of(callback, struct setter, is_done)->state;
    (void)future;
    if (--state->setters_left == 0) {
        set(state);
    }
}

static enum bz_status wait_once(struct event *state) {
    bool was_set = state->is_set;
    uint64_t sets = state->sets;
    enum bz_status status = bz_sut_event_wait(&state->sut);
    bz_world_assert(state->world, status != BZ_OK || was_set || state->sets > sets,
                    "a wait ended well, and the flag has never been up since it began");
    bz_world_assert(state->world, status == BZ_OK || status == BZ_CANCELLED, "a wait ended with %s",
                    bz_status_name(status));
    return status;
}

static enum bz_status waiter(void *arg) {
    struct event *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = wait_a_while(state, "before-wait", state->args->values[PACE]);
        status = status == BZ_OK ? wait_once(state) : status;
    }
    return status;
}

static enum bz_status latecomer(void *arg) {
    struct event *state = arg;
    enum bz_status status = wait_a_while(state, "delay", state->args->values[DELAY]);
    return status == BZ_OK ? wait_once(state) : status;
}

static enum bz_status canceller(void *arg) {
    struct event *state = arg;
    for (int64_t strike = 0; strike < state->args->values[CANCELS]; strike++) {
        enum bz_status status = wait_a_while(state, "patience", state->args->values[PATIENCE] - 1);
        if (status != BZ_OK) {
            return status;
        }
        bz_cancel_one_inside(state->world, state->waiters, state->waiter_count, BZ_OP_WAIT);
    }
    return BZ_OK;
}

static struct bz_task *spawn(struct event *state, const char *name, uint32_t index, bz_task_fn *fn,
                             void *arg) {
    struct bz_task *task = bz_task_spawn(state->world->loop, name, index, fn, arg);
    bz_world_assert(state->world, task != NULL, "no memory for task %s-%u", name, index);
    return task;
}

static void spawn_all(struct event *state) {
    const int64_t *values = state->args->values;
    for (uint32_t index = 0; index < (uint32_t)values[SETTERS]; index++) {
        struct setter *entry = &state->setters[index];
        entry->state = state;
        struct bz_task *task = spawn(state, "setter", index + 1, setter, entry);
        bool is_watched = task != NULL && bz_future_add_callback(bz_task_future(task),
                                                                 &entry->is_done, setter_is_done);
        bz_world_assert(state->world, is_watched, "no memory for a task");
    }
    for (uint32_t index = 0; index < (uint32_t)values[WAITERS]; index++) {
        state->waiters[state->waiter_count++] = spawn(state, "waiter", index + 1, waiter, state);
    }
    for (uint32_t index = 0; index < (uint32_t)values[LATECOMERS]; index++) {
        state->waiters[state->waiter_count++] =
            spawn(state, "latecomer", index + 1, latecomer, state);
    }
    spawn(state, "canceller", 0, canceller, state);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct event *state = bz_world_alloc(world, sizeof *state);
    uint64_t waiters = (uint64_t)(args->values[WAITERS] + args->values[LATECOMERS]);
    state->world = world;
    state->args = args;
    state->setters_left = args->values[SETTERS];
    state->setters =
        bz_world_alloc(world, (size_t)args->values[SETTERS] * sizeof state->setters[0]);
    state->waiters = bz_world_alloc(world, waiters * sizeof state->waiters[0]);
    enum bz_status status = bz_sut_event_init(&state->sut, world, "flag");
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status == BZ_OK) {
        spawn_all(state);
    }
    return state;
}

const struct bz_scenario bz_scenario_event = {
    .name = "event",
    .summary = "setters raise and lower a flag that others wait for",
    .params = params,
    .primitives = {BZ_PRIMITIVE_EVENT},
    .primitive_count = 1,
    .setup = setup,
};
