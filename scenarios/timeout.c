/* timeout: a deadline that falls on the very instant of the release.
 *
 * Holders take every permit and sleep; their sleep ends at `hold-ns`. Waiters acquire inside a
 * timeout whose deadline is that same instant, give or take `slack-ns`. So the deadline comes
 * before the wake-up, in the window after it, or when the permit is already in hand. A waiter must
 * be told that it has the permit or that it was too late, never anything else; and whichever it is
 * told must be true: at the end a checker finds every permit. */
#include "primitives/runtime/timeout.h"
#include "primitives/runtime/task.h"
#include "scenarios/checker.h"
#include "scenarios/scenarios.h"
#include "sim/native/world.h"

enum { PERMITS, WAITERS, ROUNDS, HOLD_NS, SLACK_NS };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one), each with a holder", 1, 1, 1000},
    {"waiters", "tasks that acquire with a deadline", 3, 1, 1000},
    {"rounds", "attempts of each waiter", 2, 1, 1000},
    {"hold-ns", "how long a permit is held", 100, 1, 1000000000},
    {"slack-ns", "a deadline is off by 0..slack-ns, either way", 1, 0, 1000000000},
    {NULL, NULL, 0, 0, 0},
};

struct timeout {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_checker checker;
    struct bz_task *tasks[]; /* holders, then waiters */
};

static enum bz_status hold_and_release(struct timeout *state) {
    enum bz_status status = bz_sleep(state->world->loop, (uint64_t)state->args->values[HOLD_NS]);
    enum bz_status released = bz_sut_release(&state->sut);
    bz_world_assert(state->world, released == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(released));
    return status;
}

static enum bz_status holder(void *arg) {
    struct timeout *state = arg;
    enum bz_status status = bz_sut_acquire(&state->sut);
    return status == BZ_OK ? hold_and_release(state) : status;
}

/* Around the instant at which somebody who takes the permit now gives it back. */
static uint64_t draw_deadline_ns(struct timeout *state) {
    uint64_t hold_ns = (uint64_t)state->args->values[HOLD_NS];
    uint64_t slack_ns = (uint64_t)state->args->values[SLACK_NS];
    bool is_early = slack_ns > 0 && bz_world_draw(state->world, "early", 2) == 1;
    uint64_t off_ns = bz_world_draw_delay_ns(state->world, "off-ns", 0, slack_ns);
    if (is_early) {
        return off_ns < hold_ns ? hold_ns - off_ns : 0;
    }
    return hold_ns + off_ns;
}

static enum bz_status acquire_in_time(struct timeout *state) {
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(state->world->loop, &scope, draw_deadline_ns(state));
    if (status == BZ_OK) {
        status = bz_timeout_exit(&scope, bz_sut_acquire(&state->sut));
    }
    bool is_cancelled =
        status == BZ_CANCELLED && bz_task_cancelling(bz_loop_current(state->world->loop)) > 0;
    bz_world_assert(state->world, status == BZ_OK || status == BZ_TIMED_OUT || is_cancelled,
                    "an acquire with a deadline ended with %s", bz_status_name(status));
    return status;
}

static enum bz_status waiter(void *arg) {
    struct timeout *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = acquire_in_time(state);
        if (status == BZ_OK) {
            status = hold_and_release(state);
        } else if (status == BZ_TIMED_OUT) {
            status = BZ_OK; /* the next round is another try */
        }
    }
    return status;
}

static bool spawn_all(struct timeout *state, uint32_t holders, uint32_t waiters) {
    struct bz_loop *loop = state->world->loop;
    for (uint32_t index = 0; index < holders + waiters; index++) {
        bool is_holder = index < holders;
        state->tasks[index] =
            is_holder ? bz_task_spawn(loop, "holder", index + 1, holder, state)
                      : bz_task_spawn(loop, "waiter", index - holders + 1, waiter, state);
        bz_world_assert(state->world, state->tasks[index] != NULL, "no memory for task %u", index);
        if (state->tasks[index] == NULL) {
            return false;
        }
    }
    return true;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    bool is_lock = args->primitive == BZ_PRIMITIVE_LOCK;
    uint32_t permits = is_lock ? 1 : (uint32_t)args->values[PERMITS];
    uint32_t waiters = (uint32_t)args->values[WAITERS];
    struct timeout *state =
        bz_world_alloc(world, sizeof *state + (permits + waiters) * sizeof state->tasks[0]);
    state->world = world;
    state->args = args;
    enum bz_status status =
        bz_sut_permits_init(&state->sut, world, args->primitive, "permits", permits);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status == BZ_OK && spawn_all(state, permits, waiters)) {
        state->checker = (struct bz_checker){.world = world,
                                             .sut = &state->sut,
                                             .tasks = state->tasks,
                                             .task_count = permits + waiters,
                                             .permits = permits};
        bz_checker_spawn(&state->checker);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct timeout *state = arg;
    (void)world;
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_timeout = {
    .name = "timeout",
    .summary = "acquires with a deadline that falls on the very instant of the release",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
