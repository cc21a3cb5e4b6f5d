/* buzzer-lab mutants: puts one fault at a time into the shipped primitives, and reports which
 * oracle finds it.
 *
 * Each mutant runs every scenario that uses one of its primitives, in both loop orders, until the
 * first finding, as code of a plug-in does: in processes of its own, because a fault may crash or
 * never end. The result depends on the mutant, the strategy and the number of runs alone. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "scenarios/mutants/mutants.h"
#include "sim/campaign/campaign.h"
#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "sim/program/settings.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/lab/lab.h"
#include "traces/lack.h"

#define MUTANTS_MAX 512u
#define RUNS_DEFAULT 1000u
#define JOBS_DEFAULT 2u

/* A run takes milliseconds. A step of this much processor time does not end. */
#define STEP_NS UINT64_C(2000000000)

#define SETTINGS_BYTES 256u

struct mutants {
    const char *strategy;
    const char *only;
    uint64_t runs;
    uint32_t jobs;
    bool is_quiet;
    /* of the mutant that runs */
    uint64_t schedules; /* in all scenarios together */
    bool is_killed;
};

static const struct bz_option options[] = {
    {"runs", "N",
     "Maximum number of schedules for each scenario, primitive and order (default 1000)",
     BZ_OPTION_NUMBER, offsetof(struct mutants, runs), .least = 1, .most = UINT32_MAX},
    {"strategy", "S", "Strategy that makes the choices (default portfolio)", BZ_OPTION_TEXT,
     offsetof(struct mutants, strategy)},
    {"only", "MUTANT", "Only this mutant, or those that match a pattern with * and ?",
     BZ_OPTION_TEXT, offsetof(struct mutants, only)},
    {"jobs", "N", "Number of processes at a time; it does not change the results (default 2)",
     BZ_OPTION_NUMBER32, offsetof(struct mutants, jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"quiet", NULL, "Print survivors and the total only", BZ_OPTION_FLAG,
     offsetof(struct mutants, is_quiet)},
    {NULL},
};

/* --- runs ------------------------------------------------------------------------------------ */

static bool is_interrupted(void) {
    return bz_interrupt_requested != 0;
}

/* A campaign up to its first finding; a crash or a hang is one. False without memory. */
static bool judge_program(struct mutants *mutants, const struct bz_mutant *mutant,
                          const struct bz_program *program) {
    static struct bz_campaign_result campaign;
    const struct bz_campaign_config run = {.program = program,
                                           .runs = mutants->runs,
                                           .jobs = mutants->jobs,
                                           .stop = &bz_interrupt_requested};
    if (!bz_campaign_run(&run, &campaign)) {
        return false;
    }
    mutants->schedules += campaign.runs;
    mutants->is_killed = campaign.finding_count > 0;
    if (mutants->is_killed && !mutants->is_quiet) {
        printf("%-36s %s in %s %s %s, %" PRIu64 "%s\n", mutant->name,
               campaign.findings[0].violation.oracle, program->scenario->name,
               bz_primitive_name(program->args.primitive), bz_order_name(program->order),
               mutants->schedules, mutants->schedules == 1 ? " schedule" : " schedules");
        (void)fflush(stdout);
    }
    return true;
}

/* Runs a scenario with each primitive that the mutant also has, in both loop orders, until it is
 * killed. `settings` may be NULL. False without memory. */
static bool judge_scenario(struct mutants *mutants, const struct bz_mutant *mutant,
                           const struct bz_scenario *scenario, const char *settings) {
    bool is_ok = true;
    for (uint32_t index = 0; index < scenario->primitive_count * BZ_ORDER_COUNT; index++) {
        enum bz_primitive primitive = scenario->primitives[index / BZ_ORDER_COUNT];
        struct bz_program program;
        char error[BZ_ERROR_BYTES];
        if (!is_ok || mutants->is_killed || is_interrupted() ||
            (mutant->primitives >> primitive & 1u) == 0) {
            continue;
        }
        bz_program_init(&program, scenario, mutant->variant, bz_strategy_find(mutants->strategy));
        program.contain =
            (struct bz_contain){.is_on = true, .step_ns = STEP_NS, .stop = &bz_interrupt_requested};
        program.args.primitive = primitive;
        program.order = (enum bz_order)(index % BZ_ORDER_COUNT);
        bool is_set =
            settings == NULL || bz_program_set_list(&program, settings, error, sizeof error);
        BZ_CHECK(is_set); /* a mistake in the catalogue would look like a survivor */
        is_ok = judge_program(mutants, mutant, &program);
    }
    return is_ok;
}

/* Removes the first item of a list "SCENARIO settings;SCENARIO settings": returns the scenario and
 * copies its settings. NULL at the end of the list. */
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
    const struct bz_scenario *found = bz_catalog_scenario(&bz_cli_catalog, scenario);
    BZ_CHECK(found != NULL);
    return found;
}

/* All scenarios with their defaults, then the mutant's own list. */
static bool judge_mutant(struct mutants *mutants, const struct bz_mutant *mutant) {
    const char *list = mutant->settings;
    const struct bz_scenario *wider;
    char settings[SETTINGS_BYTES];
    bool is_ok = true;
    mutants->schedules = 0;
    mutants->is_killed = false;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; is_ok && *next != NULL;
         next++) {
        is_ok = judge_scenario(mutants, mutant, *next, NULL);
    }
    while (is_ok && !mutants->is_killed &&
           (wider = next_wider(&list, settings, sizeof settings)) != NULL) {
        is_ok = judge_scenario(mutants, mutant, wider, settings);
    }
    return is_ok;
}

static bool is_selected(const struct mutants *mutants, const struct bz_mutant *mutant) {
    return mutants->only == NULL || fnmatch(mutants->only, mutant->name, 0) == 0;
}

/* No mutant is selected. */
static int refuse(const struct mutants *mutants, const char *command) {
    const char *names[MUTANTS_MAX];
    uint32_t count = 0;
    while (count < MUTANTS_MAX && bz_mutants[count].name != NULL) {
        names[count] = bz_mutants[count].name;
        count++;
    }
    return bz_cli_fail(command, BZ_EXIT_USAGE, "no mutant '%s'%s", mutants->only,
                       bz_cli_hint(mutants->only, names, count));
}

static int judge_all(struct mutants *mutants, const char *command) {
    char lack[BZ_LACK_BYTES];
    uint32_t count = 0;
    uint32_t killed = 0;
    for (const struct bz_mutant *mutant = bz_mutants; mutant->name != NULL; mutant++) {
        if (!is_selected(mutants, mutant) || is_interrupted()) {
            continue;
        }
        if (!judge_mutant(mutants, mutant)) {
            return bz_cli_fail(command, BZ_EXIT_INTERNAL, "%s",
                               bz_lack_text(lack, sizeof lack, "memory or processes", "mutants"));
        }
        if (!mutants->is_killed && !is_interrupted()) {
            printf("%-36s SURVIVED %" PRIu64 " schedules\n%s:%" PRIu32 "\n%s", mutant->name,
                   mutants->schedules, mutant->source, mutant->line, mutant->change);
        }
        count++;
        killed += mutants->is_killed;
    }
    if (count == 0 && !is_interrupted()) {
        return refuse(mutants, command);
    }
    printf("%" PRIu32 " mutants: %" PRIu32 " killed, %" PRIu32 "%s\n", count, killed,
           count - killed, is_interrupted() ? " not judged" : " survived");
    return is_interrupted() ? BZ_EXIT_INTERRUPTED : killed < count ? BZ_EXIT_UNPROVED : BZ_EXIT_OK;
}

/* --- the command ------------------------------------------------------------------------------ */

int bz_command_mutants(int argc, char **argv) {
    struct mutants mutants = {.strategy = "portfolio", .runs = RUNS_DEFAULT, .jobs = JOBS_DEFAULT};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &mutants,
        .doc = "Puts one fault at a time into the primitives that ship, runs every scenario with "
               "each, and reports which oracle finds it. Exit status: 0 every mutant is found, "
               "4 one survives, 5 interrupted."};
    (void)bz_options_parse(&syntax, argc, argv);
    if (bz_strategy_find(mutants.strategy) == NULL) {
        return bz_cli_fail(argv[0], BZ_EXIT_USAGE,
                           "no strategy '%s' ('buzzer list strategies' lists them)",
                           mutants.strategy);
    }
    bz_interrupt_catch();
    return judge_all(&mutants, argv[0]);
}
