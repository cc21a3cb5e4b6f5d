/* barrier: tasks meet round after round, more of them than a round takes.
 *
 * Each worker comes `rounds` times, after a drawn number of yields; so some fill while others
 * drain, and a round is completed by whoever happens to be there. The canceller strikes somebody
 * who waits: one who fills leaves a place that must be filled again, one whose round has passed
 * does not. The breaker, if there is to be one, aborts the barrier and resets it a while later, or
 * resets it.
 *
 * In the end fewer are left than a round takes. A host, who is a timer, so that nobody can cancel
 * it, looks round when everything else has come to rest, and sends as many extras as are missing.
 * It gives up after a number of visits that no correct barrier needs: what waits then, waits for
 * ever, and the oracle deadlock says so. */
#include "primitives/runtime/task.h"
#include "primitives/runtime/timer.h"
#include "scenarios/canceller.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { PARTIES, WORKERS, ROUNDS, PACE, PATIENCE, CANCELS, ABORTS, RESETS };

static const struct bz_param params[] = {
    {"parties", "tasks that a round takes", 3, 1, BZ_BARRIER_PARTIES_MAX},
    {"workers", "tasks that come", 5, 1, 1000},
    {"rounds", "how often each worker comes", 2, 1, 1000},
    {"pace", "a worker yields 0..pace times before it comes", 2, 0, 1000},
    {"patience", "the canceller and the breaker yield 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"aborts", "how often the breaker aborts, and resets after a while", 0, 0, 1000},
    {"resets", "how often the breaker resets", 0, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

#define HOST_INTERVAL_NS UINT64_C(1000000)

struct barrier {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_barrier sut;
    struct bz_timer host;
    int64_t visits_left;
    uint64_t breaks; /* aborts and resets that the barrier took */
    uint32_t extras;
    uint32_t guest_count;
    uint32_t guest_capacity;
    struct bz_task **guests; /* workers, then extras */
};

static enum bz_status yield_below(struct barrier *state, const char *label, int64_t bound) {
    for (uint64_t left = bz_world_draw(state->world, label, (uint64_t)bound); left > 0; left--) {
        enum bz_status status = bz_yield(state->world->loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

/* Being thrown out is no reason to stay away the next time. */
static enum bz_status meet(struct barrier *state) {
    uint32_t index = UINT32_MAX;
    enum bz_status status = bz_sut_barrier_wait(&state->sut, &index);
    struct bz_task *self = bz_loop_current(state->world->loop);
    bool is_fine = status == BZ_OK || (status == BZ_BROKEN && state->breaks > 0) ||
                   (status == BZ_CANCELLED && bz_task_cancelling(self) > 0);
    bz_world_assert(state->world, is_fine, "a wait ended with %s", bz_status_name(status));
    return status == BZ_BROKEN ? BZ_OK : status;
}

static enum bz_status worker(void *arg) {
    struct barrier *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = yield_below(state, "pace", state->args->values[PACE] + 1);
        status = status == BZ_OK ? meet(state) : status;
    }
    return status;
}

static enum bz_status extra(void *arg) {
    return meet(arg);
}

static enum bz_status canceller(void *arg) {
    struct barrier *state = arg;
    for (int64_t strike = 0; strike < state->args->values[CANCELS]; strike++) {
        enum bz_status status = yield_below(state, "patience", state->args->values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        bz_cancel_one_inside(state->world, state->guests, state->guest_count, BZ_OP_WAIT);
    }
    return BZ_OK;
}

static void reset(struct barrier *state) {
    state->breaks += bz_sut_barrier_reset(&state->sut);
}

/* An aborted barrier is reset even if the breaker is cancelled meanwhile. */
static enum bz_status breaker(void *arg) {
    struct barrier *state = arg;
    int64_t patience = state->args->values[PATIENCE];
    enum bz_status status = BZ_OK;
    for (int64_t left = state->args->values[ABORTS]; status == BZ_OK && left > 0; left--) {
        status = yield_below(state, "before-abort", patience);
        if (status == BZ_OK && bz_sut_barrier_abort(&state->sut)) {
            state->breaks++;
            status = yield_below(state, "before-reset", patience);
            reset(state);
        }
    }
    for (int64_t left = state->args->values[RESETS]; status == BZ_OK && left > 0; left--) {
        status = yield_below(state, "before-reset", patience);
        if (status == BZ_OK) {
            reset(state);
        }
    }
    return status;
}

/* --- the host --------------------------------------------------------------------------------- */

static struct bz_task *spawn(struct barrier *state, const char *name, uint32_t index,
                             bz_task_fn *fn) {
    struct bz_task *task = bz_task_spawn(state->world->loop, name, index, fn, state);
    bz_world_assert(state->world, task != NULL, "no memory for task %s-%u", name, index);
    return task;
}

static void spawn_guest(struct barrier *state, const char *name, uint32_t index, bz_task_fn *fn) {
    bz_world_assert(state->world, state->guest_count < state->guest_capacity, "too many guests");
    struct bz_task *task = spawn(state, name, index, fn);
    if (task != NULL && state->guest_count < state->guest_capacity) {
        state->guests[state->guest_count++] = task;
    }
}

static void host_visits(struct bz_timer *timer) {
    struct barrier *state = bz_container_of(timer, struct barrier, host);
    uint32_t parties = (uint32_t)state->args->values[PARTIES];
    uint32_t left = 0;
    uint32_t waiting = 0;
    for (uint32_t index = 0; index < state->guest_count; index++) {
        left += !bz_task_is_done(state->guests[index]);
        waiting += bz_world_is_suspended_in(state->world, state->guests[index], BZ_OP_WAIT);
    }
    if (left == 0 || state->visits_left-- == 0) {
        return;
    }
    for (uint32_t missing = (parties - waiting % parties) % parties; missing > 0; missing--) {
        spawn_guest(state, "extra", ++state->extras, extra);
    }
    bz_timer_arm(timer, bz_loop_now_ns(state->world->loop) + HOST_INTERVAL_NS);
}

/* A visit serves everybody who waits, or those whom a cancel leaves behind. A jump of the clock may
 * bring the host too early, and then the extras are too many. */
static int64_t visits_needed(const struct bz_scenario_args *args) {
    return 2 * args->values[ROUNDS] + 32;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct barrier *state = bz_world_alloc(world, sizeof *state);
    uint32_t parties = (uint32_t)args->values[PARTIES];
    state->world = world;
    state->args = args;
    state->visits_left = visits_needed(args);
    state->guest_capacity =
        (uint32_t)args->values[WORKERS] + (uint32_t)state->visits_left * (parties - 1);
    state->guests = bz_world_alloc(world, state->guest_capacity * sizeof(struct bz_task *));
    enum bz_status status = bz_sut_barrier_init(&state->sut, world, "barrier", parties);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status != BZ_OK) {
        return state;
    }
    for (uint32_t index = 1; index <= (uint32_t)args->values[WORKERS]; index++) {
        spawn_guest(state, "worker", index, worker);
    }
    spawn(state, "canceller", 0, canceller);
    if (args->values[ABORTS] + args->values[RESETS] > 0) {
        spawn(state, "breaker", 0, breaker);
    }
    bz_timer_init(&state->host, world->loop, host_visits);
    bz_timer_arm(&state->host, HOST_INTERVAL_NS);
    return state;
}

const struct bz_scenario bz_scenario_barrier = {
    .name = "barrier",
    .summary = "more tasks than a round takes meet at a barrier, round after round",
    .params = params,
    .primitives = {BZ_PRIMITIVE_BARRIER},
    .primitive_count = 1,
    .setup = setup,
};
