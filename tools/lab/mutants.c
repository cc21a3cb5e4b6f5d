/* buzzer-lab mutants: puts one fault at a time into the shipped primitives and reports which oracle
 * finds it. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/judge/judge.h"
#include "sim/session/campaign.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/lab/lab.h"
#include "tools/lab/mutation.h"
#include "traces/lack.h"

#define RUNS_DEFAULT 1000u
#define JOBS_DEFAULT 2u

enum verdict {
    VERDICT_KILLED,     /* expected */
    VERDICT_EQUIVALENT, /* not found, as declared */
    VERDICT_SURVIVED,   /* not found: a gap in the oracles */
    VERDICT_TELLING,    /* declared equivalent, but found */
    VERDICT_NONE,       /* interrupted */
};
#define VERDICT_COUNT 5

struct mutants {
    const char *name;
    const char *strategy;
    const char *only;
    uint64_t runs;
    uint32_t jobs;
    bool is_quiet;
    struct bz_progress progress;
    struct bz_mutation *results; /* space for every mutant */
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

/* --- the verdicts ----------------------------------------------------------------------------- */

static enum verdict verdict_of(const struct bz_mutation *result) {
    bool is_declared = result->mutant->equivalent != NULL;
    if (!result->is_judged) {
        return VERDICT_NONE;
    }
    if (result->oracle != NULL) {
        return is_declared ? VERDICT_TELLING : VERDICT_KILLED;
    }
    return is_declared ? VERDICT_EQUIVALENT : VERDICT_SURVIVED;
}

static int exit_code_of(const uint32_t counts[VERDICT_COUNT]) {
    if (counts[VERDICT_NONE] > 0) {
        return BZ_EXIT_INTERRUPTED;
    }
    return counts[VERDICT_SURVIVED] + counts[VERDICT_TELLING] > 0 ? BZ_EXIT_UNPROVED : BZ_EXIT_OK;
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

static void print_result(const struct bz_mutation *result, bool is_quiet) {
    const struct bz_mutant *mutant = result->mutant;
    enum verdict verdict = verdict_of(result);
    if (is_quiet && (verdict == VERDICT_KILLED || verdict == VERDICT_EQUIVALENT)) {
        return;
    }
    printf("%-36s %-17s ", mutant->name, mutant->kind);
    switch (verdict) {
    case VERDICT_KILLED:
    case VERDICT_TELLING:
        printf("%s%s", verdict == VERDICT_KILLED ? "" : "NOT EQUIVALENT, although declared so: ",
               result->oracle);
        if (result->scenario != NULL) {
            printf(" in %s %s %s, %" PRIu64 "%s", result->scenario, result->primitive,
                   bz_order_name(result->order), result->schedules,
                   result->schedules == 1 ? " schedule" : " schedules");
        }
        break;
    case VERDICT_EQUIVALENT:
        printf("equivalent: %s", mutant->equivalent);
        break;
    case VERDICT_SURVIVED:
        printf("SURVIVED %" PRIu64 " schedules", result->schedules);
        break;
    default:
        printf("not judged");
        break;
    }
    printf("\n");
    if (verdict == VERDICT_SURVIVED || verdict == VERDICT_TELLING) {
        printf("%s:%" PRIu32 "\n%s", mutant->source, mutant->line, mutant->change);
    }
}

static void print_text(const struct mutants *mutants) {
    const char *separator = "killed by:";
    const uint32_t *counts = mutants->counts;
    for (uint32_t index = 0; index < mutants->count; index++) {
        print_result(&mutants->results[index], mutants->is_quiet);
    }
    printf("%s%" PRIu32 " mutants: %" PRIu32 " killed, %" PRIu32 " equivalent, %" PRIu32
           " survived",
           mutants->is_quiet ? "" : "\n", mutants->count, counts[VERDICT_KILLED],
           counts[VERDICT_EQUIVALENT], counts[VERDICT_SURVIVED]);
    if (counts[VERDICT_TELLING] > 0) {
        printf(", %" PRIu32 " wrongly declared equivalent", counts[VERDICT_TELLING]);
    }
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
               "except those that are declared equivalent, 4 one survives, 5 interrupted."};
    (void)bz_options_parse(&syntax, argc, argv);
    const struct bz_strategy *strategy = bz_strategy_find(mutants.strategy);
    if (strategy == NULL) {
        return bz_cli_fail(argv[0], BZ_EXIT_USAGE,
                           "no strategy '%s' ('buzzer list strategies' lists them)",
                           mutants.strategy);
    }
    char lack[BZ_LACK_BYTES];
    int code = select_mutants(&mutants);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    const struct bz_mutation_config config = {
        .strategy = strategy, .runs = mutants.runs, .jobs = mutants.jobs};
    bz_interrupt_catch();
    bz_progress_begin(&mutants.progress, mutants.is_quiet, mutants.count, 0);
    mutants.progress.unit = "mutants";
    bool is_done = true;
    for (uint32_t index = 0; index < mutants.count; index++) {
        if (is_done && bz_interrupt_requested == 0) {
            is_done = bz_mutation_judge(&config, &mutants.results[index]);
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
