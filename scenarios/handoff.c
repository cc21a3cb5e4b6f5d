/* handoff: exactly three tasks, and the question who gets a lock that has just been released.
 *
 * A holds the lock, B is queued, A releases: B is woken and has not resumed. C, ready from
 * elsewhere, calls acquire in between. C must not get the lock before B, unless B was cancelled.
 *
 *     A  acquire, start B, wait until B has come; open the gate for C; `turns` yields; release
 *     B  say "I come", acquire, `hold` yields, release
 *     C  wait at the gate, acquire, `hold` yields, release
 *
 * With turns=0 the gate opens in the very step of the release, before it: C is ready ahead of B,
 * and under the order fifo runs in the window always. With more, C may also come before the
 * release, and is queued behind B. */
#include "primitives/runtime/future.h"
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

enum { TURNS, HOLD };

static const struct bz_param params[] = {
    {"turns", "yields of A between the opening of C's gate and the release", 0, 0, 1000},
    {"hold", "yields of B and of C while they hold the lock", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct handoff {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    struct bz_task *b;
    struct bz_future b_comes;
    struct bz_callback b_ends; /* B may be cancelled before it ever comes */
    struct bz_future gate;
    struct bz_callback a_ends; /* A may be cancelled before its first step */
    bool b_has_called;
    bool b_has_returned;
    bool c_overtook;
};

static enum bz_status yield_times(struct handoff *state, int64_t times) {
    enum bz_status status = BZ_OK;
    for (; status == BZ_OK && times > 0; times--) {
        status = bz_yield(state->world->loop);
    }
    return status;
}

static void release(struct handoff *state) {
    enum bz_status released = bz_sut_release(&state->sut);
    bz_world_assert(state->world, released == BZ_OK, "the release by its holder was refused: %s",
                    bz_status_name(released));
}

static enum bz_status task_b(void *arg) {
    struct handoff *state = arg;
    bz_future_set_result(&state->b_comes, 0); /* refused if A was cancelled and waits no more */
    state->b_has_called = true;
    enum bz_status status = bz_sut_acquire(&state->sut);
    state->b_has_returned = true;
    if (status == BZ_OK) {
        status = yield_times(state, state->args->values[HOLD]);
        release(state);
    }
    return status;
}

static enum bz_status task_c(void *arg) {
    struct handoff *state = arg;
    enum bz_status status = bz_future_await(&state->gate);
    if (status != BZ_OK) {
        return status;
    }
    bool is_second = state->b_has_called;
    status = bz_sut_acquire(&state->sut);
    if (status == BZ_OK) {
        /* Judged at the end of the run, so that the oracles, which know more, speak first. */
        state->c_overtook =
            is_second && !state->b_has_returned && bz_task_cancelling(state->b) == 0;
        status = yield_times(state, state->args->values[HOLD]);
        release(state);
    }
    return status;
}

static void on_b_ended(struct bz_callback *callback, struct bz_future *future) {
    struct handoff *state = bz_container_of(callback, struct handoff, b_ends);
    (void)future;
    bz_future_set_result(&state->b_comes, 0); /* refused if B came before it ended */
}

static enum bz_status wait_for_b(struct handoff *state) {
    state->b = bz_task_spawn(state->world->loop, "B", 0, task_b, state);
    bool is_there = state->b != NULL &&
                    bz_future_add_callback(bz_task_future(state->b), &state->b_ends, on_b_ended);
    bz_world_assert(state->world, is_there, "no memory for task B");
    if (!is_there) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_future_await(&state->b_comes);
    bz_future_remove_callback(&state->b_ends);
    return status;
}

static void on_a_ended(struct bz_callback *callback, struct bz_future *future) {
    struct handoff *state = bz_container_of(callback, struct handoff, a_ends);
    (void)future;
    bz_future_set_result(&state->gate, 0);
}

static enum bz_status task_a(void *arg) {
    struct handoff *state = arg;
    bz_future_remove_callback(&state->a_ends); /* from here on A opens the gate itself */
    enum bz_status status = bz_sut_acquire(&state->sut);
    bool is_holder = status == BZ_OK;
    if (is_holder) {
        status = wait_for_b(state);
    }
    bz_future_set_result(&state->gate, 0); /* refused if C was cancelled at the gate */
    if (status == BZ_OK) {
        status = yield_times(state, state->args->values[TURNS]);
    }
    if (is_holder) {
        release(state);
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct handoff *state = bz_world_alloc(world, sizeof *state);
    state->world = world;
    state->args = args;
    bz_future_init(&state->b_comes, world->loop);
    bz_future_init(&state->gate, world->loop);
    enum bz_status status = bz_sut_permits_init(&state->sut, world, args->primitive, "lock", 1);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status == BZ_OK) {
        struct bz_task *a = bz_task_spawn(world->loop, "A", 0, task_a, state);
        const struct bz_task *c = bz_task_spawn(world->loop, "C", 0, task_c, state);
        bool has_both = a != NULL && c != NULL &&
                        bz_future_add_callback(bz_task_future(a), &state->a_ends, on_a_ended);
        bz_world_assert(world, has_both, "no memory for the tasks A and C");
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct handoff *state = arg;
    bz_world_assert(world, !state->c_overtook,
                    "C was let in before B, who had come earlier and was not cancelled");
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_handoff = {
    .name = "handoff",
    .summary = "A releases with B queued, and C, ready from elsewhere, calls acquire first",
    .params = params,
    .primitives = {BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
