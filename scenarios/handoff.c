/* handoff: three tasks, and which one gets a lock that was just released.
 *
 * A holds the lock, B is queued. A releases: B is woken and has not resumed. C is ready for another
 * reason and calls acquire in between. If the variant claims strict order, C must not get the lock
 * before B, unless B was cancelled: the oracle `fifo`.
 *
 *     A  acquire, start B, wait until B has come; open the gate for C; `turns` yields; release
 *     B  say "I come", acquire, `hold` yields, release
 *     C  wait at the gate, acquire, `hold` yields, release
 *
 * With turns=0 the gate opens in the step of the release, before it: C is ready ahead of B, and
 * under the order fifo C always runs in the window. With more turns C may also come before the
 * release and queue behind B. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { TURNS, HOLD };

static const struct bz_param params[] = {
    {"turns", "yields of A between the opening of C's gate and the release", 0, 0, 1000},
    {"hold", "yields of B and of C while they hold the lock", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct handoff {
    struct bz_scene scene;
    struct bz_member a; /* its end opens the gate: A may be cancelled before its first step */
    struct bz_member b; /* its end counts as coming: B may be cancelled before it comes */
    struct bz_future b_comes;
    struct bz_future gate;
};

static enum bz_status hold_and_release(struct bz_scene *scene, int64_t yields) {
    enum bz_status status = bz_yield_times(scene->world, (uint64_t)yields);
    bz_check_released(scene->world, bz_sut_release(&scene->sut));
    return status;
}

static enum bz_status task_b(void *arg) {
    struct handoff *state = arg;
    bz_future_set_result(&state->b_comes, 0); /* refused if A was cancelled and waits no more */
    enum bz_status status = bz_sut_acquire(&state->scene.sut);
    return status == BZ_OK ? hold_and_release(&state->scene, state->scene.values[HOLD]) : status;
}

static enum bz_status task_c(void *arg) {
    struct handoff *state = arg;
    enum bz_status status = bz_future_await(&state->gate);
    if (status == BZ_OK) {
        status = bz_sut_acquire(&state->scene.sut);
    }
    return status == BZ_OK ? hold_and_release(&state->scene, state->scene.values[HOLD]) : status;
}

static void on_b_ended(void *arg) {
    struct handoff *state = arg;
    bz_future_set_result(&state->b_comes, 0); /* refused if B came before it ended */
}

static enum bz_status wait_for_b(struct handoff *state) {
    bz_scene_spawn_member(state->scene.world, &state->b, "B", 0, task_b, state, on_b_ended);
    if (state->b.task == NULL) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_future_await(&state->b_comes);
    bz_future_remove_callback(&state->b.ends);
    return status;
}

static void on_a_ended(void *arg) {
    struct handoff *state = arg;
    bz_future_set_result(&state->gate, 0);
}

static enum bz_status task_a(void *arg) {
    struct handoff *state = arg;
    bz_future_remove_callback(&state->a.ends); /* from here on A opens the gate itself */
    enum bz_status status = bz_sut_acquire(&state->scene.sut);
    bool is_holder = status == BZ_OK;
    if (is_holder) {
        status = wait_for_b(state);
    }
    bz_future_set_result(&state->gate, 0); /* refused if C was cancelled at the gate */
    int64_t turns = status == BZ_OK ? state->scene.values[TURNS] : 0;
    enum bz_status yielded = is_holder ? hold_and_release(&state->scene, turns) : BZ_OK;
    return status == BZ_OK ? yielded : status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct handoff *state = bz_scene_new(world, args, sizeof *state);
    bz_future_init(&state->b_comes, world->loop);
    bz_future_init(&state->gate, world->loop);
    if (bz_scene_init_permits(&state->scene, args, "lock", 1)) {
        bz_scene_spawn_member(world, &state->a, "A", 0, task_a, state, on_a_ended);
        bz_scene_spawn(world, "C", 0, task_c, state);
    }
    return state;
}

const struct bz_scenario bz_scenario_handoff = {
    .name = "handoff",
    .summary = "A releases with B queued, and C, ready from elsewhere, calls acquire first",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = bz_scene_finish_permits,
};
