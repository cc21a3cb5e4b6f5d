/* intruder: a task releases permits that it does not hold while others compete for them. Each
 * worker also compares locked() with the acquire that follows it.
 *
 * With one permit and several workers, no task holds the permit during a hand-over, and it is not
 * free either: it was promised to a worker that has not resumed. A lock or bounded semaphore that
 * claims to refuse a release too many must refuse it there with BZ_NOT_HELD, without effect. A
 * plain semaphore must accept it as one more permit.
 *
 * If a variant claims an exact locked(), an acquire must wait exactly when locked() was true right
 * before it. After a locked() that was false it may still yield or sleep, but not wait on a future.
 */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { PERMITS, WORKERS, ROUNDS, HOLD, VISITS, PATIENCE };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 1, 1, 1000},
    {"workers", "tasks that compete", 3, 1, 1000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a permit is held", 1, 0, 1000},
    {"visits", "how often the intruder comes", 3, 0, 1000},
    {"patience", "the intruder yields 0..patience-1 times before each visit", 6, 1, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0},
    {"workers", 1, 6, 10},
    {"rounds", 1, 3, 10},
    {"hold", 0, 2, 0},
    {"visits", 1, 4, 0},
    {"permits", 4, 65, BZ_TAIL_TASKS},
    {"workers", 7, 129, BZ_TAIL_TASKS},
    {"rounds", 4, 257, 0},
    {"visits", 5, 257, 0},
    {NULL, 0, 0, 0},
};

struct intruder {
    struct bz_scene scene;
    /* The first error. It is reported at the end of the run, so that an oracle can object first:
     * its message says more. */
    bool was_locked_wrong;
    bool was_locked;          /* what it was */
    enum bz_status refusal;   /* another one than BZ_NOT_HELD; BZ_OK: none */
    enum bz_status rejection; /* of one more permit for a plain semaphore; BZ_OK: none */
    struct bz_task *workers[];
};

/* Acquires, and compares whether it waits with what locked() said. */
static enum bz_status acquire(struct intruder *state) {
    struct bz_world *world = state->scene.world;
    struct bz_sut_permits *sut = &state->scene.sut;
    bool can_ask =
        sut->ops->locked != NULL && bz_scene_claims(world, sut->primitive, BZ_CLAIM_LOCKED_EXACT);
    bool is_locked = can_ask && sut->ops->locked(sut->instance);
    bz_world_mark_step(world);
    enum bz_status status = bz_sut_acquire(sut);
    bool is_wrong = is_locked ? bz_world_is_marked_step(world) : bz_world_has_waited(world);
    if (can_ask && !state->was_locked_wrong && is_wrong) {
        state->was_locked_wrong = true;
        state->was_locked = is_locked;
    }
    return status;
}

static enum bz_status worker(void *arg) {
    struct intruder *state = arg;
    struct bz_scene *scene = &state->scene;
    enum bz_status status = BZ_OK;
    for (int64_t round = 0; status == BZ_OK && round < scene->values[ROUNDS]; round++) {
        status = acquire(state);
        if (status == BZ_OK) {
            status = bz_yield_times(scene->world, (uint64_t)scene->values[HOLD]);
            bz_check_released(scene->world, bz_sut_release(&scene->sut));
        }
    }
    return status;
}

/* Releases, if no task holds a permit and the right answer is known. */
static void intrude(struct intruder *state) {
    struct bz_sut_permits *sut = &state->scene.sut;
    struct bz_world *world = state->scene.world;
    bool is_plain = sut->primitive == BZ_PRIMITIVE_SEMAPHORE;
    if (bz_judge_holders(world->judge, sut->object) > 0 ||
        (!is_plain && !bz_scene_claims(world, sut->primitive, BZ_CLAIM_REFUSES_MISUSE))) {
        return;
    }
    enum bz_status status = bz_sut_release(sut);
    if (is_plain && state->rejection == BZ_OK) {
        state->rejection = status;
    }
    if (!is_plain && status != BZ_OK && status != BZ_NOT_HELD) { /* BZ_OK: the oracle misuse */
        state->refusal = status;
    }
}

static enum bz_status intruder(void *arg) {
    struct intruder *state = arg;
    const int64_t *values = state->scene.values;
    for (int64_t visit = 0; visit < values[VISITS]; visit++) {
        enum bz_status status = bz_yield_below(state->scene.world, "patience", values[PATIENCE]);
        if (status != BZ_OK) {
            return status;
        }
        intrude(state);
    }
    return BZ_OK;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[WORKERS];
    struct intruder *state =
        bz_scene_new(world, args, sizeof *state + (size_t)count * sizeof state->workers[0]);
    if (bz_scene_init_permits(&state->scene, args, "permits", args->values[PERMITS])) {
        bz_scene_spawn_alike(world, state->workers, count, "worker", worker, state);
        bz_scene_spawn(world, "intruder", 0, intruder, state);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct intruder *state = arg;
    bz_world_assert(world, !state->was_locked_wrong,
                    state->was_locked
                        ? "locked() was true, but the acquire right after it did not wait"
                        : "locked() was false, but the acquire right after it waited");
    bz_world_assert(world, state->refusal == BZ_OK,
                    "a release of what nobody holds returned %s instead of %s",
                    bz_status_word(state->refusal), bz_status_word(BZ_NOT_HELD));
    bz_world_assert(world, state->rejection == BZ_OK,
                    "a plain semaphore refused an additional permit: %s",
                    bz_status_word(state->rejection));
    bz_scene_finish_permits(world, state);
}

const struct bz_scenario bz_scenario_intruder = {
    .name = "intruder",
    .summary = "a task releases permits that nobody holds, in the middle of hand-overs",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = finish,
    .sizes = sizes,
    .size = "permits",
};
