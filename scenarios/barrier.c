/* barrier: more tasks than a round takes meet round after round.
 *
 * Each worker comes `rounds` times, after a drawn number of yields. So some fill a round while
 * others leave the one before, and any task may complete it. The canceller strikes a task that
 * waits: one that was filling leaves a place to be filled again, one whose round is complete does
 * not. The breaker, if there is one, aborts the barrier and later resets it, or only resets it.
 *
 * In the end fewer are left than a round takes. When nothing else is ready, or only what polls at
 * the barrier, a host sends as many extras as are missing. The host is a timer, so that no task can
 * cancel it. It gives up after some visits in a row that moved no task; then the oracle deadlock
 * objects. */
#include "primitives/runtime/driver.h"
#include "primitives/runtime/timer.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

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

static const struct bz_size sizes[] = {
    {"parties", 1, 4, 0},
    {"workers", 1, 8, 12},
    {"rounds", 1, 4, 8},
    {"pace", 0, 3, 0},
    {"cancels", 0, 3, 0},
    {"aborts", 0, 2, 0},
    {"resets", 0, 2, 0},
    {"parties", 5, 64, BZ_TAIL_TASKS},
    {"workers", 9, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

#define HOST_INTERVAL_NS UINT64_C(1000000)
#define VISITS_IN_VAIN 3u

struct barrier {
    struct bz_scene scene;
    struct bz_sut_barrier sut;
    struct bz_timer host;
    uint32_t visits_in_vain; /* in a row */
    uint32_t left;           /* unfinished guests when the host left them */
    uint64_t returns;        /* of waits */
    uint64_t returns_seen;   /* by the host */
    uint64_t breaks;         /* aborts and resets that the barrier took */
    uint32_t extras;
    uint32_t guest_count;
    uint32_t guest_capacity;
    struct bz_task **guests; /* workers, then extras, which take the places of the finished */
};

/* A guest that was thrown out comes back in the next round. */
static enum bz_status meet(struct barrier *state) {
    struct bz_world *world = state->scene.world;
    uint32_t index = UINT32_MAX;
    enum bz_status status = bz_sut_barrier_wait(&state->sut, &index);
    state->returns++;
    bool is_fine = status == BZ_OK || (status == BZ_BROKEN && state->breaks > 0) ||
                   bz_is_cut_off(world, status);
    bz_world_assert(world, is_fine, "a wait ended with %s", bz_status_word(status));
    return status == BZ_BROKEN ? BZ_OK : status;
}

static enum bz_status worker(void *arg) {
    struct barrier *state = arg;
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(state->scene.world, "pace", values[PACE] + 1);
        status = status == BZ_OK ? meet(state) : status;
    }
    return status;
}

static enum bz_status extra(void *arg) {
    return meet(arg);
}

static void reset(struct barrier *state) {
    state->breaks += bz_sut_barrier_reset(&state->sut);
}

/* An aborted barrier is reset even if the breaker is cancelled meanwhile. */
static enum bz_status breaker(void *arg) {
    struct barrier *state = arg;
    struct bz_world *world = state->scene.world;
    const int64_t *values = state->scene.values;
    enum bz_status status = BZ_OK;
    for (int64_t left = values[ABORTS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(world, "before-abort", values[PATIENCE]);
        if (status == BZ_OK && bz_sut_barrier_abort(&state->sut)) {
            state->breaks++;
            status = bz_yield_below(world, "before-reset", values[PATIENCE]);
            reset(state);
        }
    }
    for (int64_t left = values[RESETS]; status == BZ_OK && left > 0; left--) {
        status = bz_yield_below(world, "before-reset", values[PATIENCE]);
        if (status == BZ_OK) {
            reset(state);
        }
    }
    return status;
}

/* --- the host --------------------------------------------------------------------------------- */

/* A place for one more guest; NULL: too many wait in vain. */
static struct bz_task **free_place(struct barrier *state) {
    for (uint32_t index = 0; index < state->guest_count; index++) {
        if (bz_task_is_done(state->guests[index])) {
            return &state->guests[index];
        }
    }
    return state->guest_count < state->guest_capacity ? &state->guests[state->guest_count++] : NULL;
}

/* Sends the missing extras. False if no task is left, or no task has moved for some visits. */
static bool serve(struct barrier *state) {
    struct bz_world *world = state->scene.world;
    uint32_t parties = (uint32_t)state->scene.values[PARTIES];
    struct bz_task **place;
    uint32_t left = 0;
    uint32_t waiting = 0;
    for (uint32_t index = 0; index < state->guest_count; index++) {
        left += !bz_task_is_done(state->guests[index]);
        waiting += bz_world_is_suspended_in(world, state->guests[index], BZ_OP_WAIT);
    }
    bool has_moved = left < state->left || state->returns != state->returns_seen;
    bool polls = bz_driver_ready_count(world->loop) > 0; /* they may go on when they run */
    state->visits_in_vain = has_moved || polls ? 0 : state->visits_in_vain + 1;
    if (left == 0 || state->visits_in_vain == VISITS_IN_VAIN) {
        return false;
    }
    state->returns_seen = state->returns;
    state->left = left;
    for (uint32_t missing = (parties - waiting % parties) % parties;
         missing > 0 && (place = free_place(state)) != NULL; missing--) {
        *place = bz_scene_spawn(world, "extra", ++state->extras, extra, state);
        if (*place == NULL) {
            return false;
        }
        state->left++;
    }
    return true;
}

static void host_visits(struct bz_timer *timer) {
    struct barrier *state = bz_container_of(timer, struct barrier, host);
    struct bz_loop *loop = state->scene.world->loop;
    bool is_busy = bz_driver_ready_count(loop) > 0 && !bz_world_only_polls(state->scene.world);
    if (is_busy || serve(state)) {
        bz_timer_arm(timer, bz_loop_now_ns(loop) + HOST_INTERVAL_NS);
    }
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct barrier *state = bz_scene_new(world, args, sizeof *state);
    const int64_t *values = args->values;
    uint32_t parties = (uint32_t)values[PARTIES];
    state->left = UINT32_MAX;
    state->guest_count = (uint32_t)values[WORKERS];
    state->guest_capacity = (uint32_t)values[WORKERS] + (VISITS_IN_VAIN + 1) * parties;
    state->guests = bz_world_alloc(world, state->guest_capacity * sizeof(struct bz_task *));
    if (!bz_scene_is_set_up(world, bz_sut_barrier_init(&state->sut, world, "barrier", parties))) {
        return state;
    }
    bz_scene_spawn_all(world, state->guests, values[WORKERS], "worker", worker, state);
    bz_canceller_spawn(world, state->guests, values[WORKERS], 1u << BZ_OP_WAIT, values[PATIENCE],
                       values[CANCELS]);
    if (values[ABORTS] + values[RESETS] > 0) {
        bz_scene_spawn(world, "breaker", 0, breaker, state);
    }
    bz_timer_init(&state->host, world->loop, host_visits);
    bz_world_own_timer(world, host_visits);
    bz_timer_arm(&state->host, HOST_INTERVAL_NS);
    return state;
}

const struct bz_scenario bz_scenario_barrier = {
    .name = "barrier",
    .summary = "more tasks than a round takes meet at a barrier, round after round",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_BARRIER),
    .setup = setup,
    .runs_uncancelled = true,
    .sizes = sizes,
    .size = "parties",
};
