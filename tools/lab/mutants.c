/* buzzer-lab mutants: puts one fault at a time into the shipped primitives, and reports which
 * oracle finds it.
 *
 * Each mutant runs every scenario that uses one of its primitives, in both loop orders, until the
 * first finding, as code of a plug-in does: in processes of its own, because a fault may crash or
 * never end. The result depends on the mutant, the strategy and the number of runs alone. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "scenarios/mutants/mutants.h"
#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "sim/program/settings.h"
#include "sim/session/campaign.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/lab/lab.h"
#include "traces/lack.h"

#define RUNS_DEFAULT 1000u
#define JOBS_DEFAULT 2u

/* A run takes milliseconds. A step of this much processor time does not end. */
#define STEP_NS UINT64_C(2000000000)

#define SETTINGS_BYTES 256u

enum verdict {
    VERDICT_KILLED,   /* expected */
    VERDICT_SURVIVED, /* not found: a gap in the oracles */
    VERDICT_NONE,     /* interrupted */
};
#define VERDICT_COUNT 3

/* The result of one mutant. */
struct mutation {
    const struct bz_mutant *mutant;
    bool is_judged;        /* false: stopped before, or out of memory */
    const char *oracle;    /* the first violated one, or "crash", "hang"; NULL: it survived */
    const char *scenario;  /* NULL: it survived, or died before any run */
    const char *primitive; /* likewise */
    enum bz_order order;   /* likewise */
    uint64_t seed;         /* likewise */
    uint64_t schedules;    /* in all scenarios together */
    char message[BZ_MESSAGE_BYTES];
};

struct mutants {
    const char *name;
    const char *strategy;
    const char *only;
    uint64_t runs;
    uint32_t jobs;
    bool is_quiet;
    struct bz_progress progress;
    struct mutation *results; /* space for every mutant */
    uint32_t total;
    uint32_t count; /* of the selected ones */
    uint32_t counts[VERDICT_COUNT];
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
    {"quiet", NULL, "Print survivors and totals only", BZ_OPTION_FLAG,
     offsetof(struct mutants, is_quiet)},
    {NULL},
};

/* --- runs ------------------------------------------------------------------------------------ */

/* A campaign up to its first finding; a crash or a hang is one. */
static void judge_program(const struct mutants *mutants, const struct bz_program *program,
                          struct mutation *result) {
    static struct bz_campaign_result campaign;
    const struct bz_campaign_config run = {.program = program,
                                           .runs = mutants->runs,
                                           .jobs = mutants->jobs,
                                           .stop = &bz_interrupt_requested};
    bool is_done = bz_campaign_run(&run, &campaign);
    result->is_judged = is_done && !campaign.is_interrupted;
    result->schedules += campaign.runs;
    if (campaign.finding_count > 0) {
        const struct bz_violation *violation = &campaign.findings[0].violation;
        result->oracle = violation->oracle;
        result->scenario = program->scenario->name;
        result->primitive = bz_primitive_name(program->args.primitive);
        result->order = program->order;
        result->seed = campaign.findings[0].seed;
        memcpy(result->message, violation->message, sizeof result->message);
    }
}

/* Runs a scenario with each primitive that the mutant also has, in both loop orders. `settings` may
 * be NULL. False: enough is known. */
static bool judge_scenario(const struct mutants *mutants, const struct bz_scenario *scenario,
                           const char *settings, struct mutation *result) {
    for (uint32_t index = 0; index < scenario->primitive_count; index++) {
        if ((result->mutant->primitives >> scenario->primitives[index] & 1u) == 0) {
            continue;
        }
        for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
            struct bz_program program;
            char error[BZ_ERROR_BYTES];
            bz_program_init(&program, scenario, result->mutant->variant,
                            bz_strategy_find(mutants->strategy));
            program.contain = (struct bz_contain){
                .is_on = true, .step_ns = STEP_NS, .stop = &bz_interrupt_requested};
            program.args.primitive = scenario->primitives[index];
            program.order = (enum bz_order)order;
            bool is_set =
                settings == NULL || bz_program_set_list(&program, settings, error, sizeof error);
            BZ_CHECK(is_set); /* a mistake in the catalogue would look like a survivor */
            judge_program(mutants, &program, result);
            if (result->oracle != NULL || !result->is_judged) {
                return false;
            }
        }
    }
    return true;
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
static bool judge_mutant(const struct mutants *mutants, struct mutation *result) {
    const char *list = result->mutant->settings;
    const struct bz_scenario *wider;
    char settings[SETTINGS_BYTES];
    bool goes_on = true;
    result->is_judged = true;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; goes_on && *next != NULL;
         next++) {
        goes_on = judge_scenario(mutants, *next, NULL, result);
    }
    while (goes_on && (wider = next_wider(&list, settings, sizeof settings)) != NULL) {
        goes_on = judge_scenario(mutants, wider, settings, result);
    }
    return result->is_judged || bz_interrupt_requested != 0;
}

/* --- the verdicts ----------------------------------------------------------------------------- */

static enum verdict verdict_of(const struct mutation *result) {
    if (!result->is_judged) {
        return VERDICT_NONE;
    }
    return result->oracle != NULL ? VERDICT_KILLED : VERDICT_SURVIVED;
}

static int exit_code_of(const uint32_t counts[VERDICT_COUNT]) {
    if (counts[VERDICT_NONE] > 0) {
        return BZ_EXIT_INTERRUPTED;
    }
    return counts[VERDICT_SURVIVED] > 0 ? BZ_EXIT_UNPROVED : BZ_EXIT_OK;
}

static uint32_t kills_of(const struct mutants *mutants, const char *killer) {
    uint32_t kills = 0;
    for (uint32_t index = 0; index < mutants->count; index++) {
        const char *oracle = mutants->results[index].oracle;
        kills += oracle != NULL && strcmp(oracle, killer) == 0;
    }
    return kills;
}

/* --- the report --------------------------------------------------------------------------------
 */

static void print_result(const struct mutation *result, bool is_quiet) {
    const struct bz_mutant *mutant = result->mutant;
    enum verdict verdict = verdict_of(result);
    if (is_quiet && verdict == VERDICT_KILLED) {
        return;
    }
    printf("%-36s ", mutant->name);
    switch (verdict) {
    case VERDICT_KILLED:
        printf("%s", result->oracle);
        if (result->scenario != NULL) {
            printf(" in %s %s %s, %" PRIu64 "%s", result->scenario, result->primitive,
                   bz_order_name(result->order), result->schedules,
                   result->schedules == 1 ? " schedule" : " schedules");
        }
        break;
    case VERDICT_SURVIVED:
        printf("SURVIVED %" PRIu64 " schedules", result->schedules);
        break;
    default:
        printf("not judged");
        break;
    }
    printf("\n");
    if (verdict == VERDICT_SURVIVED) {
        printf("%s:%" PRIu32 "\n%s", mutant->source, mutant->line, mutant->change);
    }
}

static void print_text(const struct mutants *mutants) {
    const char *separator = "killed by:";
    const uint32_t *counts = mutants->counts;
    for (uint32_t index = 0; index < mutants->count; index++) {
        print_result(&mutants->results[index], mutants->is_quiet);
    }
    printf("%s%" PRIu32 " mutants: %" PRIu32 " killed, %" PRIu32 " survived",
           mutants->is_quiet ? "" : "\n", mutants->count, counts[VERDICT_KILLED],
           counts[VERDICT_SURVIVED]);
    if (counts[VERDICT_NONE] > 0) {
        printf(", %" PRIu32 " not judged", counts[VERDICT_NONE]);
    }
    printf("\n");
    for (uint32_t index = 0; index < bz_oracle_count; index++) {
        uint32_t kills = kills_of(mutants, bz_oracles[index].name);
        if (kills > 0) {
            printf("%s %s %" PRIu32, separator, bz_oracles[index].name, kills);
            separator = ",";
        }
    }
    if (separator[0] == ',') {
        printf("\n");
    }
}

/* --- the command ------------------------------------------------------------------------------ */

/* Fills the list of results with the selected mutants. Returns an exit code. */
static int select_mutants(struct mutants *mutants) {
    while (bz_mutants[mutants->total].name != NULL) {
        mutants->total++;
    }
    const char **names = bz_lack_check(calloc(mutants->total, sizeof *names), "the mutants");
    mutants->results =
        bz_lack_check(calloc(mutants->total, sizeof *mutants->results), "the mutants");
    for (uint32_t index = 0; index < mutants->total; index++) {
        names[index] = bz_mutants[index].name;
        if (mutants->only == NULL || fnmatch(mutants->only, names[index], 0) == 0) {
            mutants->results[mutants->count++].mutant = &bz_mutants[index];
        }
    }
    int code = mutants->count > 0
                   ? BZ_EXIT_OK
                   : bz_cli_fail(mutants->name, BZ_EXIT_USAGE, "no mutant '%s'%s", mutants->only,
                                 bz_cli_hint(mutants->only, names, mutants->total));
    free(names);
    return code;
}

int bz_command_mutants(int argc, char **argv) {
    struct mutants mutants = {
        .name = argv[0], .strategy = "portfolio", .runs = RUNS_DEFAULT, .jobs = JOBS_DEFAULT};
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
    char lack[BZ_LACK_BYTES];
    int code = select_mutants(&mutants);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_interrupt_catch();
    bz_progress_begin(&mutants.progress, mutants.is_quiet, mutants.count, 0);
    mutants.progress.unit = "mutants";
    bool is_done = true;
    for (uint32_t index = 0; index < mutants.count; index++) {
        if (is_done && bz_interrupt_requested == 0) {
            is_done = judge_mutant(&mutants, &mutants.results[index]);
        }
        mutants.counts[verdict_of(&mutants.results[index])]++;
        bz_progress_show(&mutants.progress, index + 1, mutants.counts[VERDICT_KILLED]);
    }
    bz_progress_end(&mutants.progress);
    code = is_done ? exit_code_of(mutants.counts)
                   : bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "%s",
                                 bz_lack_text(lack, sizeof lack, "memory or processes", "mutants"));
    if (is_done) {
        print_text(&mutants);
    }
    free(mutants.results);
    return code;
}
