#include "tools/mutation.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "primitives/runtime/check.h"
#include "sim/run/campaign.h"
#include "sim/run/settings.h"
#include "tools/cli.h"
#include "traces/lack.h"

/* A batch of runs takes milliseconds. After this much processor time, one of them does not end. */
#define BATCH_RUNS 64u
#define BATCH_SECONDS 2

#define SETTINGS_BYTES 256u

struct bz_mutation *bz_mutation_new(uint32_t count) {
    void *memory = mmap(NULL, count * sizeof(struct bz_mutation), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void bz_mutation_destroy(struct bz_mutation *results, uint32_t count) {
    if (results != NULL) {
        munmap(results, count * sizeof *results);
    }
}

/* --- in the child ----------------------------------------------------------------------------- */

/* Ends the process with is_judged false. */
static void leave(const char *sentence) {
    (void)sentence;
    _exit(0);
}

/* Runs seeds until the first violation. Without memory, the process leaves. */
static void judge_program(const struct bz_program *program, uint64_t runs,
                          struct bz_mutation *result) {
    struct bz_world *world = bz_program_new_world(program);
    if (world == NULL) {
        leave(NULL);
    }
    const struct itimerval batch = {.it_value = {.tv_sec = BATCH_SECONDS}};
    result->scenario = program->scenario->name;
    result->primitive = bz_primitive_name(program->args.primitive);
    result->order = program->order;
    for (uint64_t seed = 0; seed < runs && result->oracle == NULL; seed++) {
        if (seed % BATCH_RUNS == 0) {
            setitimer(ITIMER_PROF, &batch, NULL); /* SIGPROF ends the process */
        }
        result->seed = seed;
        result->schedules++;
        enum bz_run_end end = bz_program_run(program, world, seed);
        if (end == BZ_RUN_NO_RESOURCE) {
            leave(NULL);
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

static _Noreturn void judge(const struct bz_mutation_config *config, struct bz_mutation *result) {
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPROF, SIG_DFL);
    bz_lack_handler = leave;
    /* Discards what a crashing process prints, and its core. */
    const struct rlimit none = {0};
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    setrlimit(RLIMIT_CORE, &none);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    judge_mutant(config, result);
    if (result->oracle == NULL) {
        result->scenario = NULL;
        result->primitive = NULL;
    }
    result->is_judged = true;
    _exit(0);
}

/* --- in the parent ---------------------------------------------------------------------------- */

struct mutation {
    const struct bz_mutation_config *config;
    struct bz_mutation *results;
    pid_t children[BZ_JOBS_MAX];     /* 0: none */
    uint32_t judged_by[BZ_JOBS_MAX]; /* the index of the child's result */
    uint32_t running;
    uint64_t judged;
    uint64_t killed;
};

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

static bool start(struct mutation *mutation, uint32_t index) {
    uint32_t slot = 0;
    check_settings(mutation->config, mutation->results[index].mutant);
    while (mutation->children[slot] != 0) {
        slot++;
    }
    pid_t child = fork();
    if (child < 0) {
        return false;
    }
    if (child == 0) {
        judge(mutation->config, &mutation->results[index]);
    }
    mutation->children[slot] = child;
    mutation->judged_by[slot] = index;
    mutation->running++;
    return true;
}

/* A crash or a hang counts as found. */
static void note_end(struct bz_mutation *result, int status) {
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGINT || number == SIGTERM || number == SIGKILL) {
        return; /* ended from outside */
    }
    if (number == SIGPROF) {
        result->oracle = "hang";
        snprintf(result->message, sizeof result->message, "a step never ended");
    } else if (number != 0) {
        result->oracle = "crash";
        snprintf(result->message, sizeof result->message, "the process died of signal %d", number);
    } else if (WEXITSTATUS(status) != 0) {
        result->oracle = "crash";
        snprintf(result->message, sizeof result->message, "the process ended with status %d",
                 WEXITSTATUS(status));
    }
    result->is_judged |= result->oracle != NULL;
}

/* Waits for one child. False if it had no memory. */
static bool reap(struct mutation *mutation) {
    int status = 0;
    uint32_t slot = 0;
    pid_t child = waitpid(-1, &status, 0);
    while (slot < BZ_JOBS_MAX && (child <= 0 || mutation->children[slot] != child)) {
        slot++;
    }
    if (slot == BZ_JOBS_MAX) {
        return false;
    }
    struct bz_mutation *result = &mutation->results[mutation->judged_by[slot]];
    mutation->children[slot] = 0;
    mutation->running--;
    note_end(result, status);
    mutation->judged += result->is_judged;
    mutation->killed += result->is_judged && result->oracle != NULL;
    bz_progress_show(mutation->config->progress, mutation->judged, mutation->killed);
    return result->is_judged || WIFSIGNALED(status);
}

bool bz_mutation_run(const struct bz_mutation_config *config, struct bz_mutation *results,
                     uint32_t count) {
    struct mutation mutation = {.config = config, .results = results};
    uint32_t next = 0;
    bool is_fine = true;
    for (;;) {
        bool is_more = next < count && is_fine && bz_interrupt_requested == 0;
        if (mutation.running == 0 && !is_more) {
            return is_fine;
        }
        if (is_more && mutation.running < config->jobs) {
            is_fine = start(&mutation, next++);
        } else {
            is_fine = reap(&mutation) && is_fine;
        }
    }
}
