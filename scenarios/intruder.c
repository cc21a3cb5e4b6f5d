/* intruder: somebody releases what nobody holds, while others compete for it; and everybody asks
 * locked() first and compares.
 *
 * With one permit and several workers, each hand-over is a moment in which nobody holds the permit
 * and it is not free either: it was promised to a worker that has not resumed. A lock or a bounded
 * semaphore that claims to refuse a release too many must refuse it there, too, with BZ_NOT_HELD,
 * and nothing may come of it. A plain semaphore must take it, as one permit more.
 *
 * A variant that claims an exact locked() must suspend an acquire exactly when locked() was true
 * right before it. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

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

struct intruder {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_permits sut;
    /* What was odd; said at the end, so that the oracles, which know more, speak first. */
    bool was_locked_wrong;
    bool has_suspended;       /* in the acquire for which locked() was wrong */
    enum bz_status refusal;   /* another one than BZ_NOT_HELD; BZ_OK: none */
    enum bz_status rejection; /* of a permit more for a plain semaphore; BZ_OK: none */
};

static bool claims(const struct intruder *state, uint32_t claim) {
    return (bz_variant_claims(state->world->variant, state->sut.primitive) & claim) != 0;
}

/* Acquires; whether that suspends is what locked() had said. */
static enum bz_status acquire(struct intruder *state) {
    struct bz_sut_permits *sut = &state->sut;
    bool can_ask = sut->ops->locked != NULL && claims(state, BZ_CLAIM_LOCKED_EXACT);
    bool is_locked = can_ask && sut->ops->locked(sut->instance);
    bz_world_mark_step(state->world);
    enum bz_status status = bz_sut_acquire(sut);
    bool has_suspended = !bz_world_is_marked_step(state->world);
    if (can_ask && !state->was_locked_wrong && has_suspended != is_locked) {
        state->was_locked_wrong = true;
        state->has_suspended = has_suspended;
    }
    return status;
}

static enum bz_status worker(void *arg) {
    struct intruder *state = arg;
    enum bz_status status = BZ_OK;
    for (int64_t round = 0; status == BZ_OK && round < state->args->values[ROUNDS]; round++) {
        status = acquire(state);
        if (status != BZ_OK) {
            return status;
        }
        for (int64_t left = state->args->values[HOLD]; status == BZ_OK && left > 0; left--) {
            status = bz_yield(state->world->loop);
        }
        enum bz_status released = bz_sut_release(&state->sut);
        bz_world_assert(state->world, released == BZ_OK,
                        "the release by its holder was refused: %s", bz_status_name(released));
    }
    return status;
}

/* Releases, if nobody holds a permit and it is clear what must come of it. */
static void intrude(struct intruder *state) {
    uint64_t holders = bz_judge_holders(state->world->judge, state->sut.object);
    bool is_plain = state->sut.primitive == BZ_PRIMITIVE_SEMAPHORE;
    if (holders > 0 || (!is_plain && !claims(state, BZ_CLAIM_REFUSES_MISUSE))) {
        return;
    }
    enum bz_status status = bz_sut_release(&state->sut);
    if (is_plain && state->rejection == BZ_OK) {
        state->rejection = status;
    }
    if (!is_plain && status != BZ_OK && status != BZ_NOT_HELD) { /* BZ_OK: the oracle misuse */
        state->refusal = status;
    }
}

static enum bz_status intruder(void *arg) {
    struct intruder *state = arg;
    uint64_t patience = (uint64_t)state->args->values[PATIENCE];
    for (int64_t visit = 0; visit < state->args->values[VISITS]; visit++) {
        for (uint64_t left = bz_world_draw(state->world, "patience", patience); left > 0; left--) {
            enum bz_status status = bz_yield(state->world->loop);
            if (status != BZ_OK) {
                return status;
            }
        }
        intrude(state);
    }
    return BZ_OK;
}

static void spawn(struct intruder *state, const char *name, uint32_t index, bz_task_fn *fn) {
    const struct bz_task *task = bz_task_spawn(state->world->loop, name, index, fn, state);
    bz_world_assert(state->world, task != NULL, "no memory for task %s-%u", name, index);
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct intruder *state = bz_world_alloc(world, sizeof *state);
    state->world = world;
    state->args = args;
    enum bz_status status = bz_sut_permits_init(&state->sut, world, args->primitive, "permits",
                                                (uint32_t)args->values[PERMITS]);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    for (int64_t index = 0; index < args->values[WORKERS] && status == BZ_OK; index++) {
        spawn(state, "worker", (uint32_t)index + 1, worker);
    }
    if (status == BZ_OK) {
        spawn(state, "intruder", 0, intruder);
    }
    return state;
}

static void finish(struct bz_world *world, void *arg) {
    struct intruder *state = arg;
    bz_world_assert(world, !state->was_locked_wrong,
                    state->has_suspended
                        ? "locked() said no, and the acquire right behind it waited"
                        : "locked() said yes, and the acquire right behind it did "
                          "not wait");
    bz_world_assert(world, state->refusal == BZ_OK,
                    "a release of what nobody holds was answered with %s and not with %s",
                    bz_status_name(state->refusal), bz_status_name(BZ_NOT_HELD));
    bz_world_assert(world, state->rejection == BZ_OK,
                    "a plain semaphore refused one permit more: %s",
                    bz_status_name(state->rejection));
    bz_sut_probe_misuse(&state->sut);
}

const struct bz_scenario bz_scenario_intruder = {
    .name = "intruder",
    .summary = "somebody releases what nobody holds, in the middle of hand-overs",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK},
    .primitive_count = 3,
    .setup = setup,
    .finish = finish,
};
