/* contended: more workers than permits, and a canceller.
 *
 * Each worker does `rounds` rounds: acquire, `hold` yields, release. The canceller yields
 * 0..patience-1 times, then cancels one random worker that is suspended in acquire; it does so
 * `cancels` times. `manner` has other ways to cancel. Other harnesses were measured with this
 * scenario, so figures compare. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { PERMITS, WORKERS, ROUNDS, HOLD, PATIENCE, CANCELS, MANNER, ENDLESS };

static const struct bz_param params[] = {
    {"permits", "permits of the semaphore (a lock has one)", 2, 1, 1000000},
    {"workers", "tasks that compete", 4, 1, 1000000},
    {"rounds", "acquire-release rounds of each worker", 2, 1, 1000},
    {"hold", "yields while a permit is held", 1, 0, 1000},
    {"patience", "the canceller yields 0..patience-1 times", 8, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"manner", BZ_MANNER_SUMMARY, BZ_MANNER_ONE, BZ_MANNER_ONE, BZ_MANNER_GO_ON},
    {"endless", "1: workers repeat rounds forever, for `explore`; 0: as many as `rounds` says", 0,
     0, 1},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"permits", 1, 3, 0},
    {"workers", 2, 8, 12},
    {"rounds", 1, 4, 8},
    {"hold", 0, 2, 0},
    {"cancels", 0, 3, 0},
    {"manner", BZ_MANNER_ONE, BZ_MANNER_GO_ON, 0},
    {"permits", 4, 65, BZ_TAIL_TASKS},
    {"workers", 9, 129, BZ_TAIL_TASKS},
    {"rounds", 5, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct contended {
    struct bz_scene scene;
    struct bz_task *workers[];
};

static enum bz_status worker(void *arg) {
    struct bz_scene *scene = arg;
    enum bz_manner manner = (enum bz_manner)scene->values[MANNER];
    enum bz_status status = BZ_OK;
    /* An endless worker that never yields would not let its step end. */
    int64_t hold = scene->values[HOLD] | (scene->values[HOLD] == 0 && scene->values[ENDLESS] != 0);
    int64_t rounds_a_round = 1 - scene->values[ENDLESS]; /* no counter grows in an endless worker */
    for (int64_t left = scene->values[ROUNDS]; status == BZ_OK && left > 0;
         left -= rounds_a_round) {
        bz_cancel_self(scene->world, manner);
        status = bz_sut_acquire(&scene->sut);
        if (status == BZ_OK) {
            status = bz_yield_times(scene->world, (uint64_t)hold);
            bz_check_released(scene->world, bz_sut_release(&scene->sut));
        }
        status = bz_end_of_round(scene->world, manner, status);
    }
    return status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[WORKERS];
    struct contended *state =
        bz_scene_new(world, args, sizeof *state + (size_t)count * sizeof state->workers[0]);
    if (bz_scene_init_permits(&state->scene, args, "permits", args->values[PERMITS])) {
        bz_scene_spawn_alike(world, state->workers, count, "worker", worker, state);
        struct bz_canceller *canceller =
            bz_canceller_spawn(world, state->workers, count, 1u << BZ_OP_ACQUIRE,
                               args->values[PATIENCE], args->values[CANCELS]);
        canceller->manner = (enum bz_manner)args->values[MANNER];
    }
    return state;
}

const struct bz_scenario bz_scenario_contended = {
    .name = "contended",
    .summary = "more workers than permits, and a canceller that strikes in the queue",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK),
    .setup = setup,
    .runs_uncancelled = true,
    .finish = bz_scene_finish_permits,
    .sizes = sizes,
    .size = "permits",
};
