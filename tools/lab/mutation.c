#include "tools/lab/mutation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "primitives/runtime/check.h"
#include "sim/program/settings.h"
#include "sim/session/campaign.h"
#include "tools/cli/cli.h"
#include "traces/lack.h"

/* A run takes milliseconds. After this much processor time, it does not end. */
#define RUN_NS UINT64_C(2000000000)

#define SETTINGS_BYTES 256u

struct bz_mutation *bz_mutation_new(uint32_t count) {
    return bz_shared_alloc(count * sizeof(struct bz_mutation));
}

void bz_mutation_destroy(struct bz_mutation *results, uint32_t count) {
    bz_shared_free(results, count * sizeof *results);
}

/* A child that judges a mutant. */
struct worker {
    const struct bz_mutation_config *config;
    struct bz_mutation *result; /* NULL: it has nothing to do */
    struct bz_child child;
};

/* --- in the child ----------------------------------------------------------------------------- */

/* Runs seeds until the first violation. */
static void judge_program(const struct bz_program *program, uint64_t runs,
                          struct bz_mutation *result) {
    struct bz_world *world = bz_lack_check(bz_program_new_world(program), "a simulation");
    result->scenario = program->scenario->name;
    result->primitive = bz_primitive_name(program->args.primitive);
    result->order = program->order;
    for (uint64_t seed = 0; seed < runs && result->oracle == NULL; seed++) {
        result->seed = seed;
        result->schedules++;
        enum bz_run_end end = bz_program_run(program, world, seed);
        if (end == BZ_RUN_NO_RESOURCE) {
            bz_lack_stop(NULL, "a run");
        }
        if (end == BZ_RUN_VIOLATED) {
            result->oracle = bz_judge_violation(world->judge)->oracle;
            memcpy(result->message, bz_judge_violation(world->judge)->message,
                   sizeof result->message);
        }
    }
    bz_world_destroy(world);
}

/* Runs a scenario with each primitive that the mutant also has, in both loop orders. `settings` may
 * be NULL. */
static void judge_scenario(const struct bz_mutation_config *config,
                           const struct bz_scenario *scenario, const char *settings,
                           struct bz_mutation *result) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if ((result->mutant->primitives >> scenario->primitives[index] & 1u) == 0) {
            continue;
        }
        for (unsigned order = 0; order < BZ_ORDER_COUNT && result->oracle == NULL; order++) {
            struct bz_program program;
            char error[BZ_ERROR_BYTES];
            bz_program_init(&program, scenario, result->mutant->variant, config->strategy);
            program.args.primitive = scenario->primitives[index];
            program.order = (enum bz_order)order;
            if (settings != NULL) {
                bz_program_set_list(&program, settings, error, sizeof error); /* checked before */
            }
            judge_program(&program, config->runs, result);
        }
    }
}

/* Removes the first item of a list "SCENARIO settings;SCENARIO settings": returns the scenario and
 * copies its settings. NULL at the end of the list, or for an unknown scenario. */
static const struct bz_scenario *next_wider(const char **list, char *settings,
                                            size_t settings_bytes) {
    char scenario[64];
    if (*list == NULL || **list == '\0') {
        return NULL;
    }
    size_t name_length = strcspn(*list, " ");
    size_t length = strcspn(*list, ";");
    snprintf(scenario, sizeof scenario, "%.*s", (int)name_length, *list);
    snprintf(settings, settings_bytes, "%.*s", (int)(length - name_length - 1),
             *list + name_length + 1);
    *list += length + ((*list)[length] == ';');
    return bz_catalog_scenario(&bz_cli_catalog, scenario);
}

/* All scenarios with their defaults, then the mutant's own list. */
static void judge_mutant(const struct bz_mutation_config *config, struct bz_mutation *result) {
    const char *list = result->mutant->settings;
    const struct bz_scenario *wider;
    char settings[SETTINGS_BYTES];
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios;
         *next != NULL && result->oracle == NULL; next++) {
        judge_scenario(config, *next, NULL, result);
    }
    while (result->oracle == NULL &&
           (wider = next_wider(&list, settings, sizeof settings)) != NULL) {
        judge_scenario(config, wider, settings, result);
    }
}

static void judge(void *context) {
    const struct worker *worker = context;
    struct bz_mutation *result = worker->result;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) { /* for what failed checks print */
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    judge_mutant(worker->config, result);
    if (result->oracle == NULL) {
        result->scenario = NULL;
        result->primitive = NULL;
    }
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* A mistake in the catalogue would look like a survivor. */
static void check_settings(const struct bz_mutation_config *config,
                           const struct bz_mutant *mutant) {
    const char *list = mutant->settings;
    while (list != NULL && *list != '\0') {
        char settings[SETTINGS_BYTES];
        char error[BZ_ERROR_BYTES];
        struct bz_program program;
        const struct bz_scenario *scenario = next_wider(&list, settings, sizeof settings);
        BZ_CHECK(scenario != NULL);
        bz_program_init(&program, scenario, mutant->variant, config->strategy);
        bool is_known = bz_program_set_list(&program, settings, error, sizeof error);
        BZ_CHECK(is_known);
    }
}

static bool start(struct worker *worker, const struct bz_mutation_config *config,
                  struct bz_mutation *result) {
    static const struct bz_contain contain = {.is_on = true, .step_ns = RUN_NS};
    check_settings(config, result->mutant);
    worker->config = config;
    worker->result = result;
    if (!bz_child_start(&worker->child, &contain, NULL, judge, worker)) {
        worker->result = NULL;
        return false;
    }
    worker->child.counter = &result->schedules;
    return true;
}

/* Takes the result of a worker that has ended. A crash or a hang counts as found. False if the
 * worker lacked memory, or was killed. */
static bool finish(struct worker *worker, enum bz_child_state state, const struct bz_death *death) {
    struct bz_mutation *result = worker->result;
    worker->result = NULL;
    if (state == BZ_CHILD_DIED) {
        result->oracle = death->oracle;
        snprintf(result->message, sizeof result->message, "%s", death->how);
    }
    result->is_judged = state == BZ_CHILD_DONE || (state == BZ_CHILD_DIED && !death->is_killed);
    return result->is_judged;
}

bool bz_mutation_run(const struct bz_mutation_config *config, struct bz_mutation *results,
                     uint32_t count) {
    struct worker workers[BZ_JOBS_MAX] = {{.config = NULL}};
    uint32_t next = 0;
    uint64_t judged = 0;
    uint64_t killed = 0;
    bool is_fine = true;
    for (;;) {
        struct bz_child *children[BZ_JOBS_MAX];
        uint32_t running = 0;
        for (uint32_t index = 0; index < config->jobs; index++) {
            struct worker *worker = &workers[index];
            bool is_stopped = !is_fine || bz_interrupt_requested != 0;
            if (worker->result != NULL && bz_interrupt_requested != 0) {
                bz_child_kill(&worker->child);
                worker->result = NULL;
            }
            if (worker->result == NULL && next < count && !is_stopped) {
                is_fine = start(worker, config, &results[next++]);
            }
            if (worker->result != NULL) {
                children[running++] = &worker->child;
            }
        }
        if (running == 0) {
            return is_fine;
        }
        bz_child_wait(children, running);
        for (uint32_t index = 0; index < config->jobs; index++) {
            struct worker *worker = &workers[index];
            const struct bz_mutation *result = worker->result;
            struct bz_death death;
            enum bz_child_state state =
                result == NULL ? BZ_CHILD_RUNS : bz_child_look(&worker->child, &death);
            if (state != BZ_CHILD_RUNS) {
                is_fine = finish(worker, state, &death) && is_fine;
                judged += result->is_judged;
                killed += result->is_judged && result->oracle != NULL;
                bz_progress_show(config->progress, judged, killed);
            }
        }
    }
}
