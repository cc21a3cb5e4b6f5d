/* buzzer zoo: how many schedules run until each declared fault is found, and whether the shipped
 * primitives pass on the same seeds.
 *
 * An entry has several adjacent ranges of seeds, all of the same length. In each, it runs until an
 * oracle is violated. The fault counts as found if that is the declared oracle. Then the twin, the
 * variant `buzzer`, runs the same seeds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/settings.h"
#include "sim/program/token.h"
#include "sim/session/job.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "tools/report/report.h"
#include "traces/lack.h"

#define RUNS_MAX UINT64_C(1000000000000)
#define ENTRIES_MAX 256u
#define RANGES_MAX 1000u
#define PROJECT_WIDTH_MAX 28 /* longer names are cut; 'list variants' prints them in full */

/* An entry under one order. */
struct entry {
    struct bz_job job; /* of the next range, with the declared settings */
    uint32_t ranges_done;
    uint32_t ranges_found;
    uint64_t schedules[RANGES_MAX]; /* to the finding, for each range; 0: not found */
    struct bz_finding finding;      /* the first; oracle NULL: none */
    struct bz_finding other;        /* the first of another oracle; likewise */
    const struct bz_variant *twin;  /* NULL: `buzzer` does not offer this primitive */
    uint64_t twin_runs;             /* seeds that the twin ran */
    struct bz_finding twin_other;   /* the twin's first violation; expected to be none */
    bool is_interrupted;
};

struct zoo {
    const char *strategy; /* NULL: the default */
    bool is_order_wanted[BZ_ORDER_COUNT];
    const char *wanted[ENTRIES_MAX + 1]; /* from the command line; NULL ends the list */
    bool is_json;
    struct bz_progress progress;
    uint64_t seed_first;
    uint64_t runs;   /* the length of a range */
    uint32_t ranges; /* of an entry */
    uint32_t jobs;
    uint32_t sizes;        /* BZ_OPTION_SIZES_...; 0: not given */
    struct entry *entries; /* one for each variant and order */
    size_t entry_count;
    uint64_t ranges_done;
    uint64_t ranges_found;
};

static void parse_order(void *target, const char *option, char *text) {
    struct zoo *zoo = target;
    for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
        zoo->is_order_wanted[order] = strcmp(text, bz_order_name(order)) == 0;
    }
    if (!zoo->is_order_wanted[BZ_ORDER_ANY] && !zoo->is_order_wanted[BZ_ORDER_FIFO]) {
        bz_cli_misuse("--%s is any or fifo, and not '%s'", option, text);
    }
}

static const struct bz_option options[] = {
    {"strategy", "S", "Strategy that makes the choices (default portfolio)", BZ_OPTION_TEXT,
     offsetof(struct zoo, strategy)},
    {"order", "any|fifo", "Only this order (default: both)", BZ_OPTION_PARSED,
     .parse = parse_order},
    {"runs", "N", "Maximum number of schedules in one range (default 10000)", BZ_OPTION_NUMBER,
     offsetof(struct zoo, runs), .least = 1, .most = RUNS_MAX},
    {"repetitions", "R", "Number of ranges of seeds for each mean (default 5)", BZ_OPTION_NUMBER32,
     offsetof(struct zoo, ranges), .least = 1, .most = RANGES_MAX},
    {"seed-first", "N", "First seed of the first range (default 0)", BZ_OPTION_NUMBER,
     offsetof(struct zoo, seed_first), .most = UINT64_MAX},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct zoo, jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"sizes", "drawn|default", BZ_OPTION_SIZES_HELP, BZ_OPTION_WORD, offsetof(struct zoo, sizes)},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct zoo, is_json)},
    {NULL},
};

/* --- which entries ---------------------------------------------------------------------------- */

/* Checks that every name on the command line is an entry. */
static int check_wanted(const struct zoo *zoo) {
    const char *names[ENTRIES_MAX];
    size_t count = 0;
    for (const struct bz_variant *const *next = bz_cli_catalog.variants;
         *next != NULL && count < ENTRIES_MAX; next++) {
        if ((*next)->fault != NULL) {
            names[count++] = (*next)->name;
        }
    }
    for (size_t index = 0; zoo->wanted[index] != NULL; index++) {
        const char *name = zoo->wanted[index];
        const struct bz_variant *variant = bz_catalog_variant(&bz_cli_catalog, name);
        if (variant == NULL) {
            return bz_cli_fail(BZ_EXIT_USAGE,
                               "no entry '%s'%s ('buzzer list variants' shows them all)", name,
                               bz_cli_hint(name, names, count));
        }
        if (variant->fault == NULL) {
            return bz_cli_fail(BZ_EXIT_USAGE,
                               "variant '%s' declares no fault: there is nothing to find", name);
        }
    }
    return BZ_EXIT_OK;
}

static bool is_wanted(const struct zoo *zoo, const struct bz_variant *variant, unsigned order) {
    bool is_named = zoo->wanted[0] == NULL;
    for (size_t index = 0; zoo->wanted[index] != NULL; index++) {
        is_named |= strcmp(zoo->wanted[index], variant->name) == 0;
    }
    return is_named && variant->fault != NULL && zoo->is_order_wanted[order] &&
           (order != BZ_ORDER_FIFO || variant->fault->fifo_reachable);
}

static bool plugins_declare_faults(void) {
    const struct bz_variant *const *next = bz_cli_catalog.variants;
    while (*next != NULL && ((*next)->fault == NULL || bz_plugins_file(*next) == NULL)) {
        next++;
    }
    return *next != NULL;
}

/* In its declared scenario and settings. False with a message. */
static bool set_up(const struct zoo *zoo, struct entry *entry, const struct bz_variant *variant,
                   enum bz_order order, char *error, size_t error_bytes) {
    const struct bz_fault *fault = variant->fault;
    struct bz_program *program = &entry->job.program;
    if (!bz_program_find(program, &bz_cli_catalog, fault->scenario, variant->name, zoo->strategy,
                         error, error_bytes) ||
        (fault->settings != NULL &&
         !bz_program_set_list(program, fault->settings, error, error_bytes))) {
        return false;
    }
    program->order = order;
    entry->job.seed_first = zoo->seed_first;
    entry->job.runs = zoo->runs;
    entry->job.draws_sizes = zoo->sizes != BZ_OPTION_SIZES_DEFAULT;
    entry->twin = bz_catalog_twin(&bz_cli_catalog, variant, program->args.primitive);
    return true;
}

static int collect_entries(struct zoo *zoo) {
    char error[BZ_ERROR_BYTES];
    size_t variants = 0;
    while (bz_cli_catalog.variants[variants] != NULL) {
        variants++;
    }
    if (zoo->wanted[0] == NULL && bz_options_has_plugins() && !plugins_declare_faults()) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "no variant of the plug-in declares a fault: there is nothing to find");
    }
    zoo->entries =
        bz_lack_check(calloc(variants * BZ_ORDER_COUNT + 1, sizeof *zoo->entries), "the entries");
    for (size_t index = 0; index < variants; index++) {
        const struct bz_variant *variant = bz_cli_catalog.variants[index];
        for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
            if (is_wanted(zoo, variant, order) &&
                !set_up(zoo, &zoo->entries[zoo->entry_count++], variant, (enum bz_order)order,
                        error, sizeof error)) {
                return bz_cli_fail(BZ_EXIT_USAGE, "%s: %s", variant->name, error);
            }
        }
    }
    return zoo->entry_count > 0
               ? BZ_EXIT_OK
               : bz_cli_fail(
                     BZ_EXIT_UNPROVED,
                     "nothing was checked: none of the selected faults is reachable in this order");
}

/* --- the ranges ------------------------------------------------------------------------------- */

static bool poll_range(void *context, const struct bz_campaign_result *so_far) {
    struct zoo *zoo = context;
    (void)so_far;
    bz_progress_show(&zoo->progress, zoo->ranges_done, zoo->ranges_found);
    return bz_interrupt_requested == 0;
}

static int run_job(struct zoo *zoo, const struct bz_job *job, struct bz_campaign_result *result) {
    struct bz_campaign_config config = bz_job_campaign(job);
    config.jobs = zoo->jobs;
    config.stop = &bz_interrupt_requested;
    config.poll = poll_range;
    config.context = zoo;
    return bz_campaign_run(&config, result) ? BZ_EXIT_OK
                                            : bz_cli_fail(BZ_EXIT_INTERNAL, "%s", result->lack);
}

static int run_twin(struct zoo *zoo, struct entry *entry, uint64_t runs) {
    static struct bz_campaign_result result;
    static struct bz_job job;
    job = entry->job;
    job.program.variant = entry->twin;
    bz_program_use(&job.program, job.program.args.primitive); /* in a size that it offers */
    job.runs = runs;
    int code = run_job(zoo, &job, &result);
    entry->twin_runs += result.runs;
    entry->is_interrupted |= result.is_interrupted;
    if (result.violations > 0 && entry->twin_other.violation.oracle == NULL) {
        entry->twin_other = result.findings[0];
    }
    return code;
}

static int run_range(struct zoo *zoo, struct entry *entry) {
    static struct bz_campaign_result result;
    const struct bz_fault *fault = entry->job.program.variant->fault;
    int code = run_job(zoo, &entry->job, &result);
    entry->is_interrupted |= result.is_interrupted;
    if (code != BZ_EXIT_OK || result.is_interrupted) {
        return code;
    }
    uint32_t range = entry->ranges_done++;
    if (result.violations > 0 && bz_fault_is_caught(fault, result.findings[0].violation.oracle)) {
        entry->finding = entry->ranges_found == 0 ? result.findings[0] : entry->finding;
        entry->ranges_found++;
        entry->schedules[range] = result.runs;
        zoo->ranges_found++;
    } else if (result.violations > 0 && entry->other.violation.oracle == NULL) {
        entry->other = result.findings[0];
    }
    code = entry->twin == NULL ? code : run_twin(zoo, entry, result.runs);
    entry->job.seed_first += zoo->runs;
    return code;
}

static int run_all(struct zoo *zoo) {
    int code = BZ_EXIT_OK;
    bz_interrupt_catch();
    bz_progress_begin(&zoo->progress, false, zoo->entry_count * zoo->ranges, 0);
    zoo->progress.unit = "ranges";
    for (size_t index = 0; code == BZ_EXIT_OK && index < zoo->entry_count; index++) {
        struct entry *entry = &zoo->entries[index];
        while (code == BZ_EXIT_OK && entry->ranges_done < zoo->ranges &&
               bz_interrupt_requested == 0) {
            code = run_range(zoo, entry);
            zoo->ranges_done++;
            bz_progress_show(&zoo->progress, zoo->ranges_done, zoo->ranges_found);
        }
        entry->is_interrupted |= entry->ranges_done < zoo->ranges;
    }
    bz_progress_end(&zoo->progress);
    return code;
}

/* The mean number of schedules to the finding, in tenths; 0 if it was never found. */
static uint64_t mean_tenths(const struct entry *entry) {
    uint64_t count = entry->ranges_found;
    uint64_t sum = 0;
    for (uint32_t range = 0; range < entry->ranges_done; range++) {
        sum += entry->schedules[range];
    }
    return count == 0 ? 0 : (sum * 10 + count / 2) / count;
}

/* --- the result ------------------------------------------------------------------------------- */

struct tally {
    size_t entries; /* with at least one measurement */
    size_t found;   /* under every measured order */
    uint64_t twin_runs;
    size_t rows_without_twin;
    bool is_twin_silent;
    bool is_interrupted;
    int exit_code;
};

static struct tally count(const struct zoo *zoo) {
    struct tally tally = {.is_twin_silent = true};
    bool is_found = true;
    for (size_t index = 0; index < zoo->entry_count; index++) {
        const struct entry *entry = &zoo->entries[index];
        bool is_last = index + 1 == zoo->entry_count ||
                       entry[1].job.program.variant != entry->job.program.variant;
        is_found &= entry->ranges_found == zoo->ranges;
        tally.entries += is_last;
        tally.found += is_last && is_found;
        is_found |= is_last;
        tally.twin_runs += entry->twin_runs;
        tally.rows_without_twin += entry->twin == NULL;
        tally.is_twin_silent &= entry->twin_other.violation.oracle == NULL;
        tally.is_interrupted |= entry->is_interrupted;
    }
    tally.exit_code = tally.is_interrupted           ? BZ_EXIT_INTERRUPTED
                      : !tally.is_twin_silent        ? BZ_EXIT_VIOLATION
                      : tally.found != tally.entries ? BZ_EXIT_UNPROVED
                                                     : BZ_EXIT_OK;
    return tally;
}

static const char *token_of(const struct entry *entry, const struct bz_variant *variant,
                            const struct bz_finding *finding, char *token, size_t token_bytes) {
    struct bz_program program;
    bz_job_program(&entry->job, finding->seed, &program);
    program.variant = variant;
    return bz_token_format(&program, finding->seed, finding->digest, token, token_bytes);
}

static const char *twin_word(const struct entry *entry) {
    if (entry->twin == NULL) {
        return "offers none";
    }
    return entry->twin_other.violation.oracle != NULL ? "NOT SILENT"
           : entry->twin_runs == 0                    ? "not run"
                                                      : "silent";
}

/* Prints unexpected findings below the row. */
static void print_remarks(const struct entry *entry) {
    char token[BZ_TOKEN_BYTES];
    if (entry->other.violation.oracle != NULL) {
        printf("    %s was violated first, and not %s: %s\n", entry->other.violation.oracle,
               entry->job.program.variant->fault->oracle,
               token_of(entry, entry->job.program.variant, &entry->other, token, sizeof token));
    }
    if (entry->twin_other.violation.oracle != NULL) {
        printf("    %s was violated by buzzer: %s\n", entry->twin_other.violation.oracle,
               token_of(entry, entry->twin, &entry->twin_other, token, sizeof token));
    }
}

static void print_table(const struct zoo *zoo) {
    int name_width = 5;
    int project_width = 7;
    for (size_t index = 0; index < zoo->entry_count; index++) {
        const struct bz_variant *variant = zoo->entries[index].job.program.variant;
        int name = (int)strlen(variant->name);
        int project = (int)strlen(variant->fault->project);
        name_width = name > name_width ? name : name_width;
        project_width = project > project_width ? project : project_width;
    }
    project_width = project_width < PROJECT_WIDTH_MAX ? project_width : PROJECT_WIDTH_MAX;
    printf("%-*s  %-*s  %-5s  %-19s %10s  %s\n", name_width, "entry", project_width, "project",
           "order", "found by", "schedules", "buzzer");
    for (size_t index = 0; index < zoo->entry_count; index++) {
        const struct entry *entry = &zoo->entries[index];
        const struct bz_fault *fault = entry->job.program.variant->fault;
        uint64_t mean = mean_tenths(entry);
        char found[48];
        char schedules[32] = "-";
        snprintf(found, sizeof found, "%s", fault->oracle);
        if (entry->ranges_found < zoo->ranges) {
            snprintf(found, sizeof found, "%s %u of %u", entry->is_interrupted ? "stopped" : "NOT",
                     entry->ranges_found, zoo->ranges);
        }
        if (entry->ranges_found > 0) {
            snprintf(schedules, sizeof schedules, "%" PRIu64 ".%" PRIu64, mean / 10, mean % 10);
        }
        printf("%-*s  %-*.*s  %-5s  %-19s %10s  %s\n", name_width, entry->job.program.variant->name,
               project_width, project_width, fault->project,
               bz_order_name(entry->job.program.order), found, schedules, twin_word(entry));
        print_remarks(entry);
    }
}

static void print_text(const struct zoo *zoo, const struct tally *tally) {
    print_table(zoo);
    printf("\n%zu entries, %zu found: each by the oracle that it declares, before any other, in %u "
           "of %u ranges\n",
           tally->entries, tally->found, zoo->ranges, zoo->ranges);
    printf("buzzer, on the same %" PRIu64 " seeds, scenarios and settings: %s\n", tally->twin_runs,
           tally->is_twin_silent ? "silent" : "NOT SILENT");
    if (tally->rows_without_twin > 0) {
        printf("(not in %zu rows: it does not offer the primitive)\n", tally->rows_without_twin);
    }
    if (tally->is_interrupted) {
        printf("interrupted; the ranges above are complete\n");
    }
}

static void add_finding(struct bz_json *object, const char *key, const struct entry *entry,
                        const struct bz_variant *variant, const struct bz_finding *finding) {
    char token[BZ_TOKEN_BYTES];
    if (finding->violation.oracle == NULL) {
        bz_json_add_string(object, key, NULL);
        return;
    }
    struct bz_json *item = bz_json_add_object(object, key);
    bz_json_add_string(item, "oracle", finding->violation.oracle);
    bz_json_add_hex(item, "seed", finding->seed);
    bz_json_add_string(item, "message", finding->violation.message);
    bz_json_add_string(item, "token", token_of(entry, variant, finding, token, sizeof token));
}

static void add_entry(struct bz_json *results, const struct zoo *zoo, const struct entry *entry) {
    const struct bz_variant *variant = entry->job.program.variant;
    struct bz_json *item = bz_json_append_object(results);
    bz_json_add_string(item, "entry", variant->name);
    bz_json_add_string(item, "project", variant->fault->project);
    bz_json_add_string(item, "issue", variant->fault->issue);
    bz_json_add_string(item, "oracle", variant->fault->oracle);
    bz_json_add_program(item, &entry->job.program);
    bz_json_add_bool(item, "found", entry->ranges_found == zoo->ranges);
    bz_json_add_number(item, "ranges_found", entry->ranges_found);
    bz_json_add_number(item, "ranges_done", entry->ranges_done);
    if (entry->ranges_found > 0) {
        bz_json_add_decimal(item, "mean_schedules", (double)mean_tenths(entry) / 10);
    } else {
        bz_json_add_string(item, "mean_schedules", NULL);
    }
    struct bz_json *schedules = bz_json_add_array(item, "schedules");
    for (uint32_t range = 0; range < entry->ranges_done; range++) {
        bz_json_append_number(schedules, entry->schedules[range]);
    }
    add_finding(item, "first", entry, variant, &entry->finding);
    add_finding(item, "other", entry, variant, &entry->other);
    bz_json_add_bool(item, "twin_offers_it", entry->twin != NULL);
    bz_json_add_number(item, "twin_runs", entry->twin_runs);
    add_finding(item, "twin_violation", entry, entry->twin, &entry->twin_other);
}

static void print_json(const struct zoo *zoo, const struct tally *tally) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "strategy", zoo->entries[0].job.program.strategy->name);
    bz_json_add_number(root, "runs", zoo->runs);
    bz_json_add_hex(root, "seed_first", zoo->seed_first);
    bz_json_add_number(root, "repetitions", zoo->ranges);
    struct bz_json *results = bz_json_add_array(root, "results");
    for (size_t index = 0; index < zoo->entry_count; index++) {
        add_entry(results, zoo, &zoo->entries[index]);
    }
    bz_json_add_number(root, "entries", tally->entries);
    bz_json_add_number(root, "found", tally->found);
    bz_json_add_number(root, "twin_runs", tally->twin_runs);
    bz_json_add_bool(root, "twin_silent", tally->is_twin_silent);
    bz_json_add_bool(root, "interrupted", tally->is_interrupted);
    bz_json_add_number(root, "exit_code", (uint64_t)tally->exit_code);
    bz_json_put(root);
}

int bz_command_zoo(int argc, char **argv) {
    static struct zoo zoo;
    zoo = (struct zoo){.is_order_wanted = {true, true}, .runs = 10000, .ranges = 5, .jobs = 1};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &zoo,
        .args_doc = "[ENTRY...]",
        .arguments = zoo.wanted,
        .arguments_max = ENTRIES_MAX,
        .plugins = BZ_PLUGINS_RUN,
        .doc = "Looks for the fault of every variant that declares one, in its own scenario, and "
               "runs 'buzzer' on the same seeds. Exit status: 0 all are found, 1 'buzzer' had a "
               "violation, 2 usage, 4 a fault was not found, 5 interrupted."};
    int code = bz_options_parse(&syntax, argc, argv);
    code = code == BZ_EXIT_OK ? check_wanted(&zoo) : code;
    code = code == BZ_EXIT_OK ? collect_entries(&zoo) : code;
    code = code == BZ_EXIT_OK ? run_all(&zoo) : code;
    if (code == BZ_EXIT_OK) {
        struct tally tally = count(&zoo);
        code = tally.exit_code;
        (zoo.is_json ? print_json : print_text)(&zoo, &tally);
    }
    free(zoo.entries);
    return code;
}
