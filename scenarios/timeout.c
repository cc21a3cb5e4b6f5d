/* timeout: a deadline at the instant of the release.
 *
 * Holders take every permit and sleep until `hold-ns`. Waiters acquire inside a timeout whose
 * deadline is the same instant, plus or minus `slack-ns`. So the deadline comes before the wake-up,
 * in the window after it, or when the waiter already has the permit. An acquire must return BZ_OK
 * or BZ_TIMED_OUT, and the answer must be true: at the end a checker takes every permit. With
 * `moved` a waiter may move its deadline, and tries to after it has passed. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { PERMITS, WAITERS, ROUNDS, HOLD_NS, SLACK_NS, MOVED };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one), each with a holder", 1, 1, 1000},
    {"waiters", "tasks that acquire with a deadline", 3, 1, 1000},
    {"rounds", "attempts of each waiter", 2, 1, 1000},
    {"hold-ns", "how long a permit is held", 100, 1, 1000000000},
    {"slack-ns", "a deadline is off by 0..slack-ns, either way", 1, 0, 1000000000},
    {"moved", "1: a waiter may move its deadline", 0, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0},
    {"waiters", 1, 6, 12},
    {"rounds", 1, 4, 8},
    {"slack-ns", 0, 3, 0},
    {"moved", 0, 1, 0},
    {"permits", 4, 65, BZ_TAIL_TASKS},
    {"waiters", 7, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {NULL, 0, 0, 0},
};

struct timeout {
    struct bz_scene scene;
    struct bz_checker checker;
    struct bz_task *tasks[]; /* holders, then waiters */
};

static enum bz_status hold_and_release(struct bz_scene *scene) {
    enum bz_status status = bz_nap(scene->world, (uint64_t)scene->values[HOLD_NS]);
    bz_check_released(scene->world, bz_sut_release(&scene->sut));
    return status;
}

static enum bz_status holder(void *arg) {
    struct bz_scene *scene = arg;
    enum bz_status status = bz_sut_acquire(&scene->sut);
    return status == BZ_OK ? hold_and_release(scene) : status;
}

/* Around the instant at which a task that takes the permit now gives it back. */
static uint64_t draw_deadline_ns(struct bz_scene *scene) {
    uint64_t hold_ns = (uint64_t)scene->values[HOLD_NS];
    uint64_t slack_ns = (uint64_t)scene->values[SLACK_NS];
    bool is_early = slack_ns > 0 && bz_world_draw(scene->world, "early", 2) == 1;
    uint64_t off_ns = bz_world_draw_delay_ns(scene->world, "off-ns", 0, slack_ns);
    if (is_early) {
        return off_ns < hold_ns ? hold_ns - off_ns : 0;
    }
    return hold_ns + off_ns;
}

/* The delay of the deadline, which was perhaps moved. */
static uint64_t move(struct bz_scene *scene, struct bz_timeout *scope, uint64_t deadline_ns) {
    if (scene->values[MOVED] == 0 || bz_world_draw(scene->world, "moved", 2) == 0) {
        return deadline_ns;
    }
    deadline_ns = draw_deadline_ns(scene);
    enum bz_status status = bz_timeout_reschedule(scope, deadline_ns);
    bz_world_assert(scene->world, status == BZ_OK, "a deadline could not be moved: %s",
                    bz_status_word(status));
    uint64_t when_ns = deadline_ns == 0 ? BZ_TIME_NEVER : /* armed for the next turn */
                           bz_loop_now_ns(scene->world->loop) + deadline_ns;
    bz_world_assert(scene->world, scope->timer.when_ns == when_ns,
                    "a deadline was moved, and stayed where it was");
    return deadline_ns;
}

/* A deadline that has passed cannot be moved. */
static enum bz_status end_body(const struct bz_scene *scene, struct bz_timeout *scope,
                               uint64_t due_ns, enum bz_status status) {
    if (bz_timeout_expired(scope)) {
        enum bz_status moved = bz_timeout_reschedule(scope, 1);
        bz_world_assert(scene->world,
                        moved == BZ_INVALID_STATE && bz_loop_now_ns(scene->world->loop) >= due_ns,
                        "a deadline came early, or was moved when it had passed");
    }
    return status;
}

/* A scope that has ended says whether it had expired, as before, and takes no new deadline. */
static void check_ended(const struct bz_scene *scene, struct bz_timeout *scope, bool had_expired) {
    enum bz_timeout_state due = had_expired ? BZ_TIMEOUT_EXPIRED : BZ_TIMEOUT_EXITED;
    bz_world_assert(scene->world,
                    scope->state == due && bz_timeout_expired(scope) == had_expired &&
                        bz_timeout_reschedule(scope, 1) == BZ_INVALID_STATE,
                    "a timeout that %s ended in state %d", had_expired ? "expired" : "was left",
                    (int)scope->state);
}

/* Not inline, so that the scope is in no frame when it has ended, and no part of later states. */
static __attribute__((noinline)) enum bz_status acquire_until(struct bz_scene *scene,
                                                              uint64_t deadline_ns) {
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(scene->world->loop, &scope, deadline_ns);
    if (status != BZ_OK) {
        return status;
    }
    uint64_t due_ns = bz_loop_now_ns(scene->world->loop) + move(scene, &scope, deadline_ns);
    enum bz_status body = end_body(scene, &scope, due_ns, bz_sut_acquire(&scene->sut));
    bool has_expired = bz_timeout_expired(&scope);
    status = bz_timeout_exit(&scope, body);
    check_ended(scene, &scope, has_expired);
    bz_world_assert(scene->world, status != BZ_TIMED_OUT || has_expired || body == BZ_TIMED_OUT,
                    "a timeout that has not expired returned timed-out");
    return status;
}

static enum bz_status acquire_in_time(struct bz_scene *scene) {
    uint64_t deadline_ns = draw_deadline_ns(scene);
    bz_sut_may_wait(scene->world);
    enum bz_status status = acquire_until(scene, deadline_ns);
    bool is_fine = status == BZ_OK || status == BZ_TIMED_OUT || bz_is_cut_off(scene->world, status);
    bz_world_assert(scene->world, is_fine, "an acquire with a deadline ended with %s",
                    bz_status_word(status));
    return status;
}

static enum bz_status waiter(void *arg) {
    struct bz_scene *scene = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = scene->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = acquire_in_time(scene);
        if (status == BZ_OK) {
            status = hold_and_release(scene);
        } else if (status == BZ_TIMED_OUT) {
            status = BZ_OK; /* it tries again in the next round */
        }
    }
    return status;
}

static void check_outside(const struct bz_world *world) {
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(world->loop, &scope, 1);
    bz_world_assert(world, status == BZ_INVALID_STATE, "the loop could enter a timeout: %s",
                    bz_status_word(status));
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t permits = args->primitive == BZ_PRIMITIVE_LOCK ? 1 : args->values[PERMITS];
    int64_t waiters = args->values[WAITERS];
    uint32_t count = (uint32_t)(permits + waiters);
    struct timeout *state =
        bz_scene_new(world, args, sizeof *state + count * sizeof state->tasks[0]);
    check_outside(world);
    if (bz_scene_init_permits(&state->scene, args, "permits", permits)) {
        bz_scene_spawn_all(world, state->tasks, permits, "holder", holder, state);
        bz_scene_spawn_all(world, state->tasks + permits, waiters, "waiter", waiter, state);
        bz_checker_spawn(&state->checker, &state->scene, state->tasks, count);
    }
    return state;
}

const struct bz_scenario bz_scenario_timeout = {
    .name = "timeout",
    .summary = "acquires with a deadline that falls on the very instant of the release",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK),
    .setup = setup,
    .finish = bz_scene_finish_permits,
    .sizes = sizes,
    .size = "permits",
};
