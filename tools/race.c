#include "tools/race.h"

#include <pthread.h>
#include <string.h>

#include "sim/run/campaign.h"

#define POLL_RUNS 256u

struct race {
    const struct bz_race_config *config;
    struct bz_race_cell *cells;
    size_t count;
    pthread_mutex_t mutex; /* over all that follows, and the counts of the cells */
    pthread_cond_t changed;
    size_t first_open; /* every cell before it is complete */
    uint32_t running;  /* ranges that are taken and not over */
    uint64_t done;     /* ranges; those of a cell that was given up count as done */
    uint64_t found;
    bool has_failed;
};

struct worker {
    struct race *race;
    bool is_caller; /* runs in the thread that called, which may poll */
    pthread_t thread;
    struct bz_race_cell *cell; /* whose world it is */
    struct bz_world *world;
};

/* A range that was taken, and what came of it. */
struct lap {
    struct bz_race_cell *cell;
    uint32_t range;
    uint64_t schedules;
    bool is_found;
    bool has_other;
};

static bool is_stopped(const struct race *race) {
    return race->config->stop != NULL && __atomic_load_n(race->config->stop, __ATOMIC_RELAXED) != 0;
}

/* --- which range is next; under the mutex ------------------------------------------------------
 */

/* How many ranges of the cell may be taken, by what is known by now. Those beyond the first few
 * wait until one of these has found the fault; so whether they run at all depends on the first few
 * alone. */
static uint32_t ranges_allowed(const struct race *race, const struct bz_race_cell *cell) {
    const struct bz_race_config *config = race->config;
    bool is_on_trial = cell->found == 0 && config->give_up != 0 && config->give_up < config->ranges;
    return is_on_trial ? config->give_up : config->ranges;
}

static bool take(struct race *race, struct lap *lap) {
    for (size_t index = race->first_open; index < race->count; index++) {
        struct bz_race_cell *cell = &race->cells[index];
        if (cell->taken < ranges_allowed(race, cell)) {
            *lap = (struct lap){.cell = cell, .range = cell->taken++};
            race->running++;
            return true;
        }
    }
    return false;
}

static void note(struct race *race, const struct lap *lap) {
    struct bz_race_cell *cell = lap->cell;
    cell->schedules[lap->range] = lap->schedules;
    cell->done++;
    cell->found += lap->is_found;
    cell->others += lap->has_other;
    race->done++;
    race->found += lap->is_found;
    cell->is_complete = cell->done == ranges_allowed(race, cell);
    if (cell->is_complete && cell->done < race->config->ranges) {
        cell->is_given_up = true;
        race->done += race->config->ranges - cell->done;
    }
    while (race->first_open < race->count && race->cells[race->first_open].is_complete) {
        race->first_open++;
    }
}

/* --- a worker -----------------------------------------------------------------------------------
 */

static void poll(struct worker *worker) {
    struct race *race = worker->race;
    if (worker->is_caller && race->config->poll != NULL) {
        pthread_mutex_lock(&race->mutex);
        uint64_t done = race->done;
        uint64_t found = race->found;
        pthread_mutex_unlock(&race->mutex);
        race->config->poll(race->config->context, done, found);
    }
}

static bool enter_world(struct worker *worker, struct bz_race_cell *cell) {
    if (worker->cell != cell) {
        if (worker->world != NULL) {
            bz_world_destroy(worker->world);
        }
        worker->world = bz_program_new_world(&cell->program);
        if (worker->world != NULL) {
            bz_judge_watch_stop(worker->world->judge, worker->race->config->stop);
        }
        worker->cell = cell;
    }
    return worker->world != NULL;
}

/* False if it was stopped on the way. */
static bool run_range(struct worker *worker, struct lap *lap) {
    const struct bz_race_config *config = worker->race->config;
    const struct bz_program *program = &lap->cell->program;
    uint64_t seed = config->seed_first + lap->range * config->runs;
    while (lap->schedules < config->runs && !lap->is_found) {
        if (is_stopped(worker->race)) {
            return false;
        }
        if (lap->schedules % POLL_RUNS == POLL_RUNS - 1) {
            poll(worker);
        }
        lap->schedules++;
        if (bz_program_run(program, worker->world, seed++) == BZ_RUN_VIOLATED) {
            const char *oracle = bz_judge_violation(worker->world->judge)->oracle;
            lap->is_found = strcmp(oracle, program->variant->fault->oracle) == 0;
            lap->has_other |= !lap->is_found;
        }
    }
    return true;
}

static void *work(void *arg) {
    struct worker *worker = arg;
    struct race *race = worker->race;
    struct lap lap;
    pthread_mutex_lock(&race->mutex);
    while (!is_stopped(race) && !race->has_failed) {
        if (take(race, &lap)) {
            pthread_mutex_unlock(&race->mutex);
            bool has_world = enter_world(worker, lap.cell);
            bool is_over = has_world && run_range(worker, &lap);
            poll(worker);
            pthread_mutex_lock(&race->mutex);
            race->running--;
            race->has_failed |= !has_world;
            if (is_over) {
                note(race, &lap);
            }
            pthread_cond_broadcast(&race->changed);
        } else if (race->running > 0) {
            /* What runs may find something, and more ranges are allowed then. */
            pthread_cond_wait(&race->changed, &race->mutex);
        } else {
            break;
        }
    }
    pthread_cond_broadcast(&race->changed);
    pthread_mutex_unlock(&race->mutex);
    if (worker->world != NULL) {
        bz_world_destroy(worker->world);
    }
    return NULL;
}

/* --- all of it ----------------------------------------------------------------------------------
 */

bool bz_race_run(const struct bz_race_config *config, struct bz_race_cell *cells, size_t count) {
    struct race race = {.config = config, .cells = cells, .count = count};
    struct worker workers[BZ_JOBS_MAX] = {{.race = &race, .is_caller = true}};
    uint32_t jobs = config->jobs < BZ_JOBS_MAX ? config->jobs : BZ_JOBS_MAX;
    uint32_t started = 1;
    pthread_mutex_init(&race.mutex, NULL);
    pthread_cond_init(&race.changed, NULL);
    for (; started < jobs; started++) {
        workers[started].race = &race;
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]) != 0) {
            pthread_mutex_lock(&race.mutex);
            race.has_failed = true;
            pthread_mutex_unlock(&race.mutex);
            break;
        }
    }
    work(&workers[0]);
    for (uint32_t index = 1; index < started; index++) {
        pthread_join(workers[index].thread, NULL);
    }
    pthread_cond_destroy(&race.changed);
    pthread_mutex_destroy(&race.mutex);
    return !race.has_failed;
}
