/* scope: nested timeouts must tell their own cancellations from those of others.
 *
 * Workers sleep inside two nested timeout scopes. Deadlines and sleeps are drawn from the same few
 * instants, so the inner deadline comes first, or the outer, or both at once, or neither. Meanwhile
 * the canceller strikes. In some rounds a worker cancels itself right before it enters a scope
 * whose deadline has passed. A cancelled worker cleans up inside another scope, which it enters
 * with a cancel request already counted. With `failing`, a body may end by an error of its own,
 * also when its scope has cancelled it. With `alarms`, a task also plays with timers of its own. */
#include "primitives/runtime/timer.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { WORKERS, ROUNDS, SLEEP_NS, CANCELS, FAILING, REFUSALS, ALARMS };

static const struct bz_param params[] = {
    {"workers", "tasks that sleep inside scopes", 3, 1, 1000},
    {"rounds", "rounds of each worker", 2, 1, 1000},
    {"sleep-ns", "sleeps and deadlines are of 0..sleep-ns", 4, 0, 1000000000},
    {"cancels", "how often the canceller strikes", 2, 0, 1000},
    {"failing", "1: the body of a scope may fail", 0, 0, 1},
    BZ_REFUSALS_PARAM,
    {"alarms", "timers of the runtime that a task arms, moves and disarms", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"workers", 1, 5, 8},  {"rounds", 1, 4, 8},
    {"sleep-ns", 1, 8, 0}, {"cancels", 0, 4, 0},
    {"failing", 0, 1, 0},  BZ_REFUSALS_SIZE,
    {"alarms", 0, 4, 0},   {"workers", 6, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0}, {"cancels", 5, 33, 0},
    {NULL, 0, 0, 0},
};

#define FAILS_OF 4u /* one of so many bodies */

struct alarm {
    struct bz_timer timer;
    struct bz_world *world;
    uint64_t when_ns;
    bool is_armed;
};

struct scope {
    struct bz_scene scene;
    struct alarm *alarms;
    struct bz_task *workers[];
};

static uint64_t draw_ns(struct scope *state, const char *name) {
    uint64_t most_ns = (uint64_t)state->scene.values[SLEEP_NS];
    return bz_world_draw_delay_ns(state->scene.world, name, 0, most_ns);
}

static enum bz_status nap(struct scope *state) {
    return bz_nap(state->scene.world, draw_ns(state, "sleep-ns"));
}

/* The result of a body, or its own error. */
static enum bz_status end_body(struct scope *state, enum bz_status status) {
    bool fails = state->scene.values[FAILING] == 1 &&
                 bz_world_draw(state->scene.world, "fails", FAILS_OF) == 1;
    return fails ? BZ_FAILED : status;
}

/* Not inline, so that a scope is in no frame when it has ended, and no part of later states. */
static __attribute__((noinline)) enum bz_status
sleep_in_new_scope(struct scope *state, struct bz_sut_scope *outer, uint64_t delay_ns) {
    struct bz_sut_scope scope;
    enum bz_status status = bz_sut_scope_enter(&scope, state->scene.world, outer, delay_ns);
    return status == BZ_OK ? bz_sut_scope_exit(&scope, end_body(state, nap(state))) : status;
}

/* A sleep with a deadline. The frame with the scope comes to lie on cleared memory. */
static enum bz_status sleep_in_scope(struct scope *state, struct bz_sut_scope *outer,
                                     uint64_t delay_ns) {
    bz_sut_may_wait(state->scene.world);
    return sleep_in_new_scope(state, outer, delay_ns);
}

/* The body of the outer scope continues if the inner one ended at its deadline. Its clean-up has a
 * deadline of its own. */
static enum bz_status nested_body(struct scope *state, struct bz_sut_scope *outer) {
    enum bz_status status = sleep_in_scope(state, outer, draw_ns(state, "inner-ns"));
    if (status == BZ_OK || status == BZ_TIMED_OUT) {
        status = nap(state);
    }
    if (status == BZ_CANCELLED) {
        enum bz_status cleanup = sleep_in_scope(state, outer, draw_ns(state, "cleanup-ns"));
        (void)cleanup; /* the first cancellation continues in any case */
    }
    return end_body(state, status);
}

static __attribute__((noinline)) enum bz_status sleep_nested(struct scope *state) { /* as above */
    struct bz_sut_scope outer;
    enum bz_status status =
        bz_sut_scope_enter(&outer, state->scene.world, NULL, draw_ns(state, "outer-ns"));
    return status == BZ_OK ? bz_sut_scope_exit(&outer, nested_body(state, &outer)) : status;
}

/* With a pending request and a deadline that has passed: the next await delivers the request. */
static enum bz_status sleep_cancelled(struct scope *state) {
    bz_task_cancel(bz_loop_current(state->scene.world->loop));
    return sleep_in_scope(state, NULL, 0);
}

/* Outside of all scopes each has taken its own request back, and no other. */
static void check_requests(const struct scope *state) {
    const struct bz_world *world = state->scene.world;
    const struct bz_task *task = bz_loop_current(world->loop);
    uint32_t count = bz_task_cancelling(task);
    uint32_t asked = bz_world_asked(world, task);
    bz_world_assert(world, count == asked || asked == BZ_ASKED_MAX,
                    "the scopes left %u cancel requests, and %u were not theirs", count, asked);
}

/* A worker continues after these. */
static bool is_usual(const struct scope *state, enum bz_status status) {
    return status == BZ_OK || status == BZ_TIMED_OUT || status == BZ_FAILED ||
           bz_world_is_refused(state->scene.world, status);
}

static enum bz_status worker(void *arg) {
    struct scope *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->scene.values[ROUNDS]; left > 0; left--) {
        bool cancels_itself = bz_world_draw(state->scene.world, "self", 4) == 1;
        bz_sut_may_wait(state->scene.world);
        status = cancels_itself ? sleep_cancelled(state) : sleep_nested(state);
        check_requests(state);
        if (!is_usual(state, status)) {
            break;
        }
    }
    uint32_t requests = bz_task_cancelling(bz_loop_current(state->scene.world->loop));
    bz_world_assert(state->scene.world, status != BZ_CANCELLED || requests > 0,
                    "a worker was cancelled without a request");
    if (status == BZ_CANCELLED) {
        enum bz_status cleanup = sleep_in_scope(state, NULL, draw_ns(state, "cleanup-ns"));
        (void)cleanup; /* as above */
    }
    return is_usual(state, status) ? BZ_OK : status;
}

static enum bz_status canceller(void *arg) {
    struct scope *state = arg;
    const int64_t *values = state->scene.values;
    for (int64_t left = values[CANCELS]; left > 0; left--) {
        enum bz_status status = nap(state);
        if (status != BZ_OK) {
            return status;
        }
        uint64_t victim = bz_world_draw(state->scene.world, "victim", (uint64_t)values[WORKERS]);
        bz_task_cancel(state->workers[victim]); /* false: it is done */
    }
    return BZ_OK;
}

/* --- alarms ----------------------------------------------------------------------------------- */

static void ring(struct bz_timer *timer) {
    struct alarm *alarm = bz_container_of(timer, struct alarm, timer);
    uint64_t now_ns = bz_loop_now_ns(alarm->world->loop);
    bz_world_assert(alarm->world, alarm->is_armed && now_ns >= alarm->when_ns,
                    "a timer fired that was not armed, or was armed for later");
    alarm->is_armed = false;
}

static void arm(struct scope *state, struct alarm *alarm) {
    uint64_t now_ns = bz_loop_now_ns(alarm->world->loop);
    bool has_end = bz_world_draw(alarm->world, "alarm-ends", 4) != 1;
    alarm->when_ns = has_end ? now_ns + draw_ns(state, "alarm-ns") : BZ_TIME_NEVER;
    alarm->is_armed = alarm->when_ns == now_ns ? bz_timer_arm_now(&alarm->timer)
                                               : bz_timer_arm(&alarm->timer, alarm->when_ns);
    bz_world_assert(alarm->world, alarm->is_armed, "a timer could not be armed");
}

/* A timer that is not armed may be disarmed as well. */
static enum bz_status play_alarms(void *arg) {
    struct scope *state = arg;
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = 2 * values[ROUNDS] * values[ALARMS]; status == BZ_OK && left > 0; left--) {
        struct alarm *alarm =
            &state->alarms[bz_world_draw(world, "alarm", (uint64_t)values[ALARMS])];
        bz_timer_disarm(&alarm->timer);
        alarm->is_armed = false;
        if (bz_world_draw(world, "alarm-arms", 4) != 1) {
            arm(state, alarm);
        }
        status = bz_world_draw(world, "alarm-naps", 2) == 1 ? nap(state) : BZ_OK;
    }
    return status;
}

static void set_alarms(struct scope *state) {
    struct bz_world *world = state->scene.world;
    uint64_t count = (uint64_t)state->scene.values[ALARMS];
    if (count == 0) {
        return;
    }
    state->alarms = bz_world_alloc(world, count * sizeof state->alarms[0]);
    for (uint64_t index = 0; index < count; index++) {
        state->alarms[index].world = world;
        bz_timer_init(&state->alarms[index].timer, world->loop, ring);
    }
    bz_world_own_timer(world, ring);
    bz_scene_spawn(world, "alarms", 0, play_alarms, state);
}

static void finish(struct bz_world *world, void *arg) {
    const struct scope *state = arg;
    for (int64_t index = 0; index < state->scene.values[ALARMS]; index++) {
        const struct alarm *alarm = &state->alarms[index];
        bz_world_assert(world, !alarm->is_armed || alarm->when_ns == BZ_TIME_NEVER,
                        "a timer was armed and did not fire");
    }
}

/* --- setting up ------------------------------------------------------------------------------- */

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[WORKERS];
    struct scope *state =
        bz_scene_new(world, args, sizeof *state + (size_t)count * sizeof state->workers[0]);
    bz_world_refuse_memory(world, (uint32_t)args->values[REFUSALS]);
    bz_scene_spawn_alike(world, state->workers, count, "worker", worker, state);
    bz_scene_spawn(world, "canceller", 0, canceller, state);
    set_alarms(state);
    return state;
}

const struct bz_scenario bz_scenario_scope = {
    .name = "scope",
    .summary = "sleeps in nested timeout scopes, and cancels at the same instants",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SCOPE),
    .setup = setup,
    .finish = finish,
    .sizes = sizes,
};
