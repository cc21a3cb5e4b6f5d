/* condition: consumers wait for tokens, producers add them.
 *
 * A producer adds a drawn number of tokens with the lock held, notifies as many waiters, or now and
 * then all, and keeps the lock for some yields: whoever was notified wakes up to a lock that is
 * taken, and can be cancelled between the notification and the lock. A consumer waits while there
 * is no token and takes one; some do so inside a timeout whose deadline falls among the producers'
 * sleeps. Taking and adding read and write on both sides of a yield, so that a second task inside
 * the section would do harm.
 *
 * When the last producer has gone a closer says so and notifies all; then consumers take what is
 * left and leave. If the closer is cancelled, the next one comes: it is called from a callback.
 * An intruder who does not hold the lock waits and notifies; variants that claim to, refuse it.
 *
 * At the end every token was taken, or is left because every consumer was cancelled. */
#include "primitives/runtime/task.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/canceller.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { CONSUMERS, PRODUCERS, ROUNDS, BATCH, HOLD, PACE_NS, PATIENCE, CANCELS, INTRUSIONS };

static const struct bz_param params[] = {
    {"consumers", "tasks that wait for tokens", 3, 1, 1000},
    {"producers", "tasks that add tokens and notify", 2, 1, 1000},
    {"rounds", "rounds of each producer", 2, 1, 1000},
    {"batch", "a round adds 1..batch tokens", 2, 1, 1000},
    {"hold", "a producer keeps the lock for 0..hold yields after it notified", 2, 0, 1000},
    {"pace-ns", "producers sleep 0..pace-ns, and so long are deadlines", 4, 0, 1000000000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"intrusions", "how often somebody without the lock waits or notifies", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct starter {
    struct condition *state;
    struct bz_callback is_done;
};

struct condition {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_condition sut;
    uint64_t tokens;
    uint64_t made;
    uint64_t taken;
    int64_t producers_left;
    int64_t consumers_satisfied; /* that left because there was nothing more to come */
    uint32_t closers;
    bool is_closed;
    struct starter *producers;
    struct bz_task *consumers[];
};

static enum bz_status yield_up_to(struct condition *state, const char *label, int64_t most) {
    for (uint64_t left = bz_world_draw(state->world, label, (uint64_t)most + 1); left > 0; left--) {
        enum bz_status status = bz_yield(state->world->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static void release(struct condition *state) {
    enum bz_status released = bz_sut_condition_release(&state->sut);
    bz_world_assert(state->world, released == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(released));
}

static void notify(struct condition *state, uint32_t count) {
    enum bz_status told = bz_sut_condition_notify(&state->sut, count);
    bz_world_assert(state->world, told == BZ_OK, "the holder's notification was refused: %s",
                    bz_status_name(told));
}

/* --- producers, and the closer ---------------------------------------------------------------- */

static enum bz_status produce(struct condition *state) {
    uint64_t batch = 1 + bz_world_draw(state->world, "batch", (uint64_t)state->args->values[BATCH]);
    uint64_t before = state->tokens;
    enum bz_status status = yield_up_to(state, "before-adding", 1);
    if (status != BZ_OK) {
        return status;
    }
    state->tokens = before + batch;
    state->made += batch;
    bool is_for_all = bz_world_draw(state->world, "for-all", 4) == 3;
    notify(state, is_for_all ? BZ_NOTIFY_ALL : (uint32_t)batch);
    return yield_up_to(state, "hold", state->args->values[HOLD]);
}

static enum bz_status producer(void *arg) {
    struct condition *state = ((struct starter *)arg)->state;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        uint64_t pace_ns = (uint64_t)state->args->values[PACE_NS];
        status = bz_sleep(state->world->loop,
                          bz_world_draw_delay_ns(state->world, "pace-ns", 0, pace_ns));
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
    struct condition *state = ((struct starter *)arg)->state;
    enum bz_status status = bz_sut_condition_acquire(&state->sut);
    if (status == BZ_OK) {
        state->is_closed = true;
        notify(state, BZ_NOTIFY_ALL);
        release(state);
    }
    return status;
}

static void watch(struct condition *state, struct starter *starter, struct bz_task *task,
                  void (*is_done)(struct bz_callback *, struct bz_future *)) {
    bool is_watched =
        task != NULL && bz_future_add_callback(bz_task_future(task), &starter->is_done, is_done);
    bz_world_assert(state->world, is_watched, "no memory for a task");
}

static void close_is_due(struct bz_callback *callback, struct bz_future *future);

static void send_closer(struct condition *state) {
    struct starter *starter = bz_world_alloc(state->world, sizeof *starter);
    starter->state = state;
    struct bz_task *task =
        bz_task_spawn(state->world->loop, "closer", ++state->closers, closer, starter);
    watch(state, starter, task, close_is_due);
}

/* A closer has ended: by its deed, or before it. */
static void close_is_due(struct bz_callback *callback, struct bz_future *future) {
    struct condition *state = bz_container_of(callback, struct starter, is_done)->state;
    (void)future;
    if (!state->is_closed) {
        send_closer(state);
    }
}

static void producer_is_done(struct bz_callback *callback, struct bz_future *future) {
    struct condition *state = bz_container_of(callback, struct starter, is_done)->state;
    (void)future;
    if (--state->producers_left == 0) {
        send_closer(state);
    }
}

/* --- consumers -------------------------------------------------------------------------------- */

/* With the lock held, and held again whatever it says. */
static enum bz_status wait_for_token(struct condition *state) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && state->tokens == 0 && !state->is_closed) {
        status = bz_sut_condition_wait(&state->sut);
    }
    return status;
}

static enum bz_status wait_in_time(struct condition *state) {
    struct bz_timeout scope;
    uint64_t deadline_ns = bz_world_draw_delay_ns(state->world, "deadline-ns", 0,
                                                  (uint64_t)state->args->values[PACE_NS]);
    enum bz_status status = bz_timeout_enter(state->world->loop, &scope, deadline_ns);
    if (status == BZ_OK) {
        status = bz_timeout_exit(&scope, wait_for_token(state));
    }
    return status;
}

static void check_outcome(struct condition *state, enum bz_status status, bool is_hurried) {
    struct bz_task *self = bz_loop_current(state->world->loop);
    bool is_fine = status == BZ_OK || (status == BZ_TIMED_OUT && is_hurried) ||
                   (status == BZ_CANCELLED && bz_task_cancelling(self) > 0);
    bz_world_assert(state->world, is_fine, "a wait ended with %s", bz_status_name(status));
}

/* Takes a token, if there is one, and says whether there may be more to come. */
static enum bz_status take_token(struct condition *state, bool *is_over) {
    uint64_t before = state->tokens;
    *is_over = before == 0;
    if (before == 0) {
        return BZ_OK;
    }
    enum bz_status status = yield_up_to(state, "before-taking", 1);
    if (status == BZ_OK) {
        state->tokens = before - 1;
        state->taken++;
    } else if (state->tokens > 0) {
        notify(state, 1); /* it was our turn, and the token is still there */
    }
    return status;
}

static enum bz_status consume(struct condition *state, bool is_hurried, bool *is_over) {
    enum bz_status status = bz_sut_condition_acquire(&state->sut);
    if (status != BZ_OK) {
        return status;
    }
    status = is_hurried ? wait_in_time(state) : wait_for_token(state);
    check_outcome(state, status, is_hurried);
    if (status == BZ_OK) {
        status = take_token(state, is_over);
    }
    release(state);
    return status;
}

/* Who was too late once, is patient the next time: runs end. */
static enum bz_status consumer(void *arg) {
    struct condition *state = arg;
    enum bz_status status = BZ_OK;
    bool is_over = false;
    bool was_late = false;
    while (status == BZ_OK && !is_over) {
        bool is_hurried = !was_late && bz_world_draw(state->world, "hurried", 3) == 2;
        status = consume(state, is_hurried, &is_over);
        was_late = status == BZ_TIMED_OUT;
        status = was_late ? BZ_OK : status;
    }
    state->consumers_satisfied += status == BZ_OK;
    return status;
}

/* Notifies without the lock, at a drawn moment, and waits without it when nobody holds it: both are
 * to be refused where nobody holds the lock, also while it is on its way to somebody. */
static enum bz_status intruder(void *arg) {
    struct condition *state = arg;
    for (int64_t left = state->args->values[INTRUSIONS]; left > 0; left--) {
        enum bz_status status = yield_up_to(state, "intrusion", state->args->values[PATIENCE] - 1);
        if (status != BZ_OK) {
            return status;
        }
        bool is_free = bz_judge_holders(state->world->judge, state->sut.judged.lock) == 0;
        if (is_free && bz_world_draw(state->world, "waits", 2) == 1) {
            status = bz_sut_condition_misuse(&state->sut);
        } else if (is_free) {
            status = bz_sut_condition_notify(&state->sut, 1);
        }
    }
    return BZ_OK;
}

static enum bz_status canceller(void *arg) {
    struct condition *state = arg;
    for (int64_t strike = 0; strike < state->args->values[CANCELS]; strike++) {
        enum bz_status status = yield_up_to(state, "patience", state->args->values[PATIENCE] - 1);
        if (status != BZ_OK) {
            return status;
        }
        bz_cancel_one_inside(state->world, state->consumers,
                             (uint32_t)state->args->values[CONSUMERS], BZ_OP_WAIT);
    }
    return BZ_OK;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool spawn_all(struct condition *state) {
    struct bz_loop *loop = state->world->loop;
    bool is_complete = true;
    for (uint32_t index = 0; index < (uint32_t)state->args->values[CONSUMERS]; index++) {
        state->consumers[index] = bz_task_spawn(loop, "consumer", index + 1, consumer, state);
        is_complete = is_complete && state->consumers[index] != NULL;
    }
    for (uint32_t index = 0; index < (uint32_t)state->args->values[PRODUCERS]; index++) {
        struct starter *starter = &state->producers[index];
        starter->state = state;
        watch(state, starter, bz_task_spawn(loop, "producer", index + 1, producer, starter),
              producer_is_done);
    }
    /* A variant that does not refuse misuse would let the intruder in. */
    bool refuses = (bz_variant_claims(state->world->variant, BZ_PRIMITIVE_CONDITION) &
                    BZ_CLAIM_REFUSES_MISUSE) != 0;
    if (refuses && state->args->values[INTRUSIONS] > 0) {
        is_complete = bz_task_spawn(loop, "intruder", 0, intruder, state) != NULL && is_complete;
    }
    return bz_task_spawn(loop, "canceller", 0, canceller, state) != NULL && is_complete;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    size_t consumers = (size_t)args->values[CONSUMERS];
    struct condition *state =
        bz_world_alloc(world, sizeof *state + consumers * sizeof state->consumers[0]);
    state->world = world;
    state->args = args;
    state->producers_left = args->values[PRODUCERS];
    state->producers =
        bz_world_alloc(world, (size_t)args->values[PRODUCERS] * sizeof state->producers[0]);
    enum bz_status status = bz_sut_condition_init(&state->sut, world, "tokens", "lock");
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status == BZ_OK) {
        bool is_complete = spawn_all(state);
        bz_world_assert(world, is_complete, "no memory for all tasks");
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    const struct condition *state = arg;
    bz_world_assert(world, state->made == state->taken + state->tokens,
                    "%llu token(s) were made, %llu taken, and %llu are left",
                    (unsigned long long)state->made, (unsigned long long)state->taken,
                    (unsigned long long)state->tokens);
    bz_world_assert(world, state->tokens == 0 || state->consumers_satisfied == 0,
                    "%llu token(s) are left, and %lld consumer(s) found none",
                    (unsigned long long)state->tokens, (long long)state->consumers_satisfied);
}

const struct bz_scenario bz_scenario_condition = {
    .name = "condition",
    .summary = "consumers wait with a lock for tokens that producers add",
    .params = params,
    .primitives = {BZ_PRIMITIVE_CONDITION},
    .primitive_count = 1,
    .setup = setup,
    .finish = finish,
};
