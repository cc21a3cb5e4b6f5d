#include "sim/campaign/profile.h"

#include "sim/choice/strategy_measure.h"

#define PROFILE_RUNS 8u
#define PROFILE_SEED UINT64_C(0x70726f66696c65) /* the first; nobody starts a campaign there */
#define STEPS_OF_ALL 20000u                     /* no further run is begun after so many */

/* What the runs come to so far. */
struct sums {
    struct bz_event_sink sink; /* first: the world knows the sums by it */
    uint64_t runs;
    uint64_t steps;
    uint64_t tasks;
    uint64_t points;
    uint64_t task_steps[BZ_PROFILE_TASKS_MAX];
};

static void count_step(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    struct sums *sums = (struct sums *)(void *)sink;
    uint32_t task = event->event.task;
    if (event->event.kind == BZ_EVENT_RESUME && task < BZ_PROFILE_TASKS_MAX) {
        sums->task_steps[task]++;
    }
}

static void add_run(struct sums *sums, const struct bz_program *program, struct bz_world *world) {
    bz_program_run(program, world, PROFILE_SEED + sums->runs, NULL, &sums->sink);
    const struct bz_measure_state *state = world->strategy_state;
    sums->runs++;
    sums->steps += world->step;
    sums->tasks += world->book.task_count;
    sums->points += state->points;
}

static uint32_t mean(uint64_t sum, uint64_t runs) {
    return (uint32_t)((sum + runs / 2) / runs);
}

bool bz_profile_measure(struct bz_profile *profile, const struct bz_program *program) {
    struct sums sums = {.sink = {.event = count_step}};
    struct bz_program measured = *program;
    measured.strategy = &bz_strategy_measure;
    measured.cancels_max = UINT32_MAX; /* or it would no longer be asked once there was one */
    if (measured.steps_max > STEPS_OF_ALL) {
        measured.steps_max = STEPS_OF_ALL;
    }
    struct bz_world *world = bz_program_new_world(&measured, NULL);
    if (world == NULL) {
        return false;
    }
    while (sums.runs < PROFILE_RUNS && sums.steps < STEPS_OF_ALL) {
        add_run(&sums, &measured, world);
    }
    bz_world_destroy(world);
    *profile = (struct bz_profile){.steps = mean(sums.steps, sums.runs),
                                   .tasks = mean(sums.tasks, sums.runs),
                                   .points = mean(sums.points, sums.runs),
                                   .steps_max = program->steps_max};
    profile->steps += profile->steps == 0;
    for (uint32_t task = 0; task < BZ_PROFILE_TASKS_MAX; task++) {
        profile->task_steps[task] = mean(sums.task_steps[task], sums.runs);
    }
    return true;
}
