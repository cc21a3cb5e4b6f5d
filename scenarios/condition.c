/* condition: consumers wait for tokens that producers add.
 *
 * A producer takes the lock, adds a drawn number of tokens, notifies as many waiters, or sometimes
 * all, or twice, and keeps the lock for some yields. So a notified consumer finds the lock taken,
 * and can be cancelled between the notification and the lock. A consumer waits while there is no
 * token, then takes one; sometimes inside a timeout whose deadline falls among the producers'
 * sleeps. Adding and taking read before a yield and write after it, so a second task inside would
 * do harm.
 *
 * When the last producer has ended, a callback starts a closer, which notifies all: consumers take
 * what is left and leave. If the closer is cancelled, another one is started. An intruder waits and
 * notifies without the lock; variants that claim to refuse misuse must refuse that.
 *
 * At the end every token was taken, or is left because every consumer was cancelled. */
#include "primitives/runtime/timeout.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { CONSUMERS, PRODUCERS, ROUNDS, BATCH, HOLD, PACE_NS, PATIENCE, CANCELS, INTRUSIONS, TWICE };

static const struct bz_param params[] = {
    {"consumers", "tasks that wait for tokens", 3, 1, 1000},
    {"producers", "tasks that add tokens and notify", 2, 1, 1000},
    {"rounds", "rounds of each producer", 2, 1, 1000},
    {"batch", "a round adds 1..batch tokens", 2, 1, 1000},
    {"hold", "a producer keeps the lock for 0..hold yields after it notified", 2, 0, 1000},
    {"pace-ns", "producers sleep 0..pace-ns; deadlines are drawn from the same range", 4, 0,
     1000000000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"intrusions", "how often a task without the lock waits or notifies", 1, 0, 1000},
    {"twice", "1: some producers notify twice in one step", 0, 0, 1},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"consumers", 1, 5, 8},  {"producers", 1, 3, 0}, {"rounds", 1, 3, 8},
    {"batch", 1, 3, 0},      {"hold", 0, 3, 0},      {"cancels", 0, 3, 0},
    {"intrusions", 0, 2, 0}, {"twice", 0, 1, 0},     {"consumers", 6, 129, BZ_TAIL_TASKS},
    {"rounds", 4, 257, 0},   {"cancels", 4, 33, 0},  {NULL, 0, 0, 0},
};

struct condition {
    struct bz_scene scene;
    struct bz_sut_condition sut;
    uint64_t tokens;
    uint64_t made;
    uint64_t taken;
    int64_t producers_left;
    int64_t consumers_satisfied; /* that left because no more tokens would come */
    uint32_t closers;
    bool is_closed;
    struct bz_task *consumers[];
};

static void release(struct condition *state) {
    bz_check_released(state->scene.world, bz_sut_condition_release(&state->sut));
}

static void notify(struct condition *state, uint32_t count) {
    enum bz_status status = bz_sut_condition_notify(&state->sut, count);
    bz_world_assert(state->scene.world, status == BZ_OK,
                    "the holder's notification was refused: %s", bz_status_word(status));
}

/* --- producers, and the closer ---------------------------------------------------------------- */

static void notify_some_or_all(struct condition *state, uint64_t some) {
    bool is_for_all = bz_world_draw(state->scene.world, "for-all", 4) == 3;
    notify(state, is_for_all ? BZ_NOTIFY_ALL : (uint32_t)some);
}

static enum bz_status produce(struct condition *state) {
    struct bz_world *world = state->scene.world;
    uint64_t batch = 1 + bz_world_draw(world, "batch", (uint64_t)state->scene.values[BATCH]);
    uint64_t before = state->tokens;
    enum bz_status status = bz_yield_below(world, "before-adding", 2);
    if (status != BZ_OK) {
        return status;
    }
    state->tokens = before + batch;
    state->made += batch;
    notify_some_or_all(state, batch);
    if (state->scene.values[TWICE] != 0 && bz_world_draw(world, "twice", 2) == 1) {
        notify_some_or_all(state, 1);
    }
    return bz_yield_below(world, "hold", state->scene.values[HOLD] + 1);
}

static enum bz_status producer(void *arg) {
    struct condition *state = arg;
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = bz_sleep_drawn(state->scene.world, "pace-ns", 0, values[PACE_NS]);
        if (status == BZ_OK) {
            status = bz_sut_condition_acquire(&state->sut);
            if (status == BZ_OK) {
                status = produce(state);
                release(state);
            }
        }
    }
    return status;
}

static enum bz_status closer(void *arg) {
    struct condition *state = arg;
    enum bz_status status = bz_sut_condition_acquire(&state->sut);
    if (status == BZ_OK) {
        state->is_closed = true;
        notify(state, BZ_NOTIFY_ALL);
        release(state);
    }
    return status;
}

/* Starts a closer, and another one if it ends before it has closed. */
static void ensure_closed(void *arg) {
    struct condition *state = arg;
    struct bz_world *world = state->scene.world;
    if (!state->is_closed) {
        bz_scene_spawn_member(world, bz_world_alloc(world, sizeof(struct bz_member)), "closer",
                              ++state->closers, closer, state, ensure_closed);
    }
}

static void on_producer_ended(void *arg) {
    struct condition *state = arg;
    if (--state->producers_left == 0) {
        ensure_closed(state);
    }
}

/* --- consumers -------------------------------------------------------------------------------- */

/* Functions that are not inline have their variables in frames that end with them, and each wait is
 * in one place of the code. So neither tells states apart that are the same, whatever the compiler.
 */

/* With the lock held, which is held again on return, whatever the status. */
static __attribute__((noinline)) enum bz_status wait_for_token(struct condition *state) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && state->tokens == 0 && !state->is_closed) {
        status = bz_sut_condition_wait(&state->sut);
    }
    return status;
}

static __attribute__((noinline)) enum bz_status wait_until(struct condition *state,
                                                           uint64_t deadline_ns) {
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(state->scene.world->loop, &scope, deadline_ns);
    return status == BZ_OK ? bz_timeout_exit(&scope, wait_for_token(state)) : status;
}

static enum bz_status wait_in_time(struct condition *state) {
    struct bz_world *world = state->scene.world;
    uint64_t most_ns = (uint64_t)state->scene.values[PACE_NS];
    uint64_t deadline_ns = bz_world_draw_delay_ns(world, "deadline-ns", 0, most_ns);
    bz_sut_may_wait(world);
    return wait_until(state, deadline_ns);
}

/* There is one. */
static __attribute__((noinline)) enum bz_status take_token(struct condition *state) {
    uint64_t before = state->tokens;
    enum bz_status status = bz_yield_below(state->scene.world, "before-taking", 2);
    if (status == BZ_OK) {
        state->tokens = before - 1;
        state->taken++;
    } else if (state->tokens > 0) {
        notify(state, 1); /* the token is still there: for another consumer */
    }
    return status;
}

struct meal {
    enum bz_status status;
    uint32_t is_last; /* no more tokens will come */
};

static __attribute__((noinline)) struct meal consume(struct condition *state, bool is_hurried) {
    struct bz_world *world = state->scene.world;
    enum bz_status status = bz_sut_condition_acquire(&state->sut);
    if (status != BZ_OK) {
        return (struct meal){status, false};
    }
    status = is_hurried && bz_world_may_cancel(state->scene.world) ? wait_in_time(state)
                                                                   : wait_for_token(state);
    bool is_fine =
        status == BZ_OK || (status == BZ_TIMED_OUT && is_hurried) || bz_is_cut_off(world, status);
    bz_world_assert(world, is_fine, "a wait ended with %s", bz_status_word(status));
    bool is_last = status == BZ_OK && state->tokens == 0;
    if (status == BZ_OK && !is_last) {
        status = take_token(state);
    }
    release(state);
    return (struct meal){status, is_last};
}

/* After a timeout it waits without one, so that runs end. */
static __attribute__((noinline)) bool is_in_a_hurry(struct condition *state, bool was_late) {
    return !was_late && bz_world_draw(state->scene.world, "hurried", 3) == 2;
}

static enum bz_status consumer(void *arg) {
    struct condition *state = arg;
    struct meal meal = {BZ_OK, false};
    bool was_late = false;
    while (meal.status == BZ_OK && !meal.is_last) {
        bool is_hurried = is_in_a_hurry(state, was_late);
        meal = consume(state, is_hurried);
        was_late = is_hurried && meal.status == BZ_TIMED_OUT;
        meal.status = was_late ? BZ_OK : meal.status;
    }
    state->consumers_satisfied += meal.status == BZ_OK;
    return meal.status;
}

/* If no task holds the lock, at a drawn moment: notifies or waits without it. Both must be refused,
 * also while the lock is promised to a task that has not resumed. */
static enum bz_status intruder(void *arg) {
    struct condition *state = arg;
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    for (int64_t left = values[INTRUSIONS]; left > 0; left--) {
        enum bz_status status = bz_yield_below(world, "intrusion", values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        bool is_free = bz_judge_holders(world->judge, state->sut.judged.lock) == 0;
        if (is_free && bz_world_draw(world, "waits", 2) == 1) {
            status = bz_sut_condition_misuse(&state->sut);
        } else if (is_free) {
            status = bz_sut_condition_notify(&state->sut, 1);
        }
    }
    return BZ_OK;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void spawn_all(struct condition *state, const int64_t *values) {
    struct bz_world *world = state->scene.world;
    struct bz_member *producers =
        bz_world_alloc(world, (size_t)values[PRODUCERS] * sizeof *producers);
    state->producers_left = values[PRODUCERS];
    bz_scene_spawn_alike(world, state->consumers, values[CONSUMERS], "consumer", consumer, state);
    bz_scene_spawn_members(world, producers, values[PRODUCERS], "producer", producer, state,
                           on_producer_ended);
    /* A variant that does not refuse misuse would let the intruder in. */
    if (bz_scene_claims(world, BZ_PRIMITIVE_CONDITION, BZ_CLAIM_REFUSES_MISUSE) &&
        values[INTRUSIONS] > 0) {
        bz_scene_spawn(world, "intruder", 0, intruder, state);
    }
    bz_canceller_spawn(world, state->consumers, values[CONSUMERS], 1u << BZ_OP_WAIT,
                       values[PATIENCE], values[CANCELS]);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    size_t consumers = (size_t)args->values[CONSUMERS];
    struct condition *state =
        bz_scene_new(world, args, sizeof *state + consumers * sizeof state->consumers[0]);
    if (bz_scene_is_set_up(world, bz_sut_condition_init(&state->sut, world, "tokens", "lock"))) {
        spawn_all(state, args->values);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    const struct condition *state = arg;
    bz_world_assert(world, state->made == state->taken + state->tokens,
                    "tokens made %llu, taken %llu, left %llu", (unsigned long long)state->made,
                    (unsigned long long)state->taken, (unsigned long long)state->tokens);
    bz_world_assert(world, state->tokens == 0 || state->consumers_satisfied == 0,
                    "%llu tokens are left, but %lld consumers found none",
                    (unsigned long long)state->tokens, (long long)state->consumers_satisfied);
}

const struct bz_scenario bz_scenario_condition = {
    .name = "condition",
    .summary = "consumers wait with a lock for tokens that producers add",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_CONDITION),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
};
