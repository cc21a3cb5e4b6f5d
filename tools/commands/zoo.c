/* buzzer zoo: measures how soon each declared fault is found, and runs `buzzer` on the same seeds.
 * */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "sim/program/token.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/commands/time_to_failure.h"
#include "tools/plugin/plugins.h"
#include "tools/report/report.h"
#include "traces/lack.h"

#define RUNS_MAX UINT64_C(1000000000000)
#define ENTRIES_MAX 256u
#define PROJECT_WIDTH_MAX 28 /* longer names are cut; 'list variants' prints them in full */

struct zoo {
    const char *name;     /* for messages */
    const char *strategy; /* NULL: the default */
    bool is_order_wanted[BZ_ORDER_COUNT];
    const char *wanted[ENTRIES_MAX + 1]; /* from the command line; NULL ends the list */
    bool is_json;
    struct bz_progress progress;
    struct bz_ttf_config config;
    struct bz_ttf *entries; /* one for each variant and order */
    size_t entry_count;
    const char *lack; /* what ran out */
    uint64_t ranges_done;
    uint64_t ranges_found;
};

static void parse_order(struct argp_state *state, void *target, const char *option, char *text) {
    struct zoo *zoo = target;
    for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
        zoo->is_order_wanted[order] = strcmp(text, bz_order_name(order)) == 0;
    }
    if (!zoo->is_order_wanted[BZ_ORDER_ANY] && !zoo->is_order_wanted[BZ_ORDER_FIFO]) {
        bz_cli_misuse(state, "--%s is any or fifo, and not '%s'", option, text);
    }
}

static void set_sizes(struct argp_state *state, void *target, const char *option, char *text) {
    ((struct zoo *)target)->config.has_default_sizes = bz_option_default_sizes(state, option, text);
}

static const struct bz_option options[] = {
    {"strategy", "S", "Strategy that makes the choices (default portfolio)", BZ_OPTION_TEXT,
     offsetof(struct zoo, strategy)},
    {"order", "any|fifo", "Only this order (default: both)", BZ_OPTION_PARSED,
     .parse = parse_order},
    {"runs", "N", "Maximum number of schedules in one range (default 10000)", BZ_OPTION_NUMBER,
     offsetof(struct zoo, config.runs), .least = 1, .most = RUNS_MAX},
    {"repetitions", "R", "Number of ranges of seeds for each mean (default 5)", BZ_OPTION_NUMBER32,
     offsetof(struct zoo, config.ranges), .least = 1, .most = BZ_TTF_RANGES_MAX},
    {"seed-first", "N", "First seed of the first range (default 0)", BZ_OPTION_NUMBER,
     offsetof(struct zoo, config.seed_first), .most = UINT64_MAX},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct zoo, config.jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"sizes", "drawn|default", BZ_OPTION_SIZES_HELP, BZ_OPTION_PARSED, .parse = set_sizes},
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
            return bz_cli_fail(zoo->name, BZ_EXIT_USAGE,
                               "no entry '%s'%s ('buzzer list variants' shows them all)", name,
                               bz_cli_hint(name, names, count));
        }
        if (variant->fault == NULL) {
            return bz_cli_fail(zoo->name, BZ_EXIT_USAGE,
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

static int collect_entries(struct zoo *zoo) {
    char error[BZ_ERROR_BYTES];
    size_t variants = 0;
    while (bz_cli_catalog.variants[variants] != NULL) {
        variants++;
    }
    if (zoo->wanted[0] == NULL && bz_options_has_plugins() && !plugins_declare_faults()) {
        return bz_cli_fail(zoo->name, BZ_EXIT_USAGE,
                           "no variant of the plug-in declares a fault: there is nothing to find");
    }
    zoo->entries =
        bz_lack_check(calloc(variants * BZ_ORDER_COUNT + 1, sizeof *zoo->entries), "the entries");
    for (size_t index = 0; index < variants; index++) {
        const struct bz_variant *entry = bz_cli_catalog.variants[index];
        for (unsigned order = 0; order < BZ_ORDER_COUNT; order++) {
            if (is_wanted(zoo, entry, order) &&
                !bz_ttf_init(&zoo->entries[zoo->entry_count++], entry, zoo->strategy,
                             (enum bz_order)order, error, sizeof error)) {
                return bz_cli_fail(zoo->name, BZ_EXIT_USAGE, "%s: %s", entry->name, error);
            }
        }
    }
    return zoo->entry_count > 0
               ? BZ_EXIT_OK
               : bz_cli_fail(
                     zoo->name, BZ_EXIT_UNPROVED,
                     "nothing was checked: none of the selected faults is reachable in this order");
}

static void show_progress(void *context) {
    struct zoo *zoo = context;
    bz_progress_show(&zoo->progress, zoo->ranges_done, zoo->ranges_found);
}

static bool run_all(struct zoo *zoo) {
    bool is_ok = true;
    bz_interrupt_catch();
    bz_progress_begin(&zoo->progress, false, zoo->entry_count * zoo->config.ranges, 0);
    zoo->progress.unit = "ranges";
    for (size_t index = 0; is_ok && index < zoo->entry_count; index++) {
        struct bz_ttf *ttf = &zoo->entries[index];
        uint32_t found_before = 0;
        while (is_ok && ttf->ranges_done < zoo->config.ranges && bz_interrupt_requested == 0) {
            is_ok = bz_ttf_run_range(ttf, &zoo->config);
            zoo->lack = ttf->lack;
            zoo->ranges_done++;
            zoo->ranges_found += ttf->ranges_found - found_before;
            found_before = ttf->ranges_found;
            show_progress(zoo);
        }
        ttf->is_interrupted |= ttf->ranges_done < zoo->config.ranges;
    }
    bz_progress_end(&zoo->progress);
    return is_ok;
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
        const struct bz_ttf *ttf = &zoo->entries[index];
        bool is_last =
            index + 1 == zoo->entry_count || ttf[1].program.variant != ttf->program.variant;
        is_found &= bz_ttf_is_found(ttf, &zoo->config);
        tally.entries += is_last;
        tally.found += is_last && is_found;
        is_found |= is_last;
        tally.twin_runs += ttf->twin_runs;
        tally.rows_without_twin += ttf->twin == NULL;
        tally.is_twin_silent &= ttf->twin_other.violation.oracle == NULL;
        tally.is_interrupted |= ttf->is_interrupted;
    }
    tally.exit_code = tally.is_interrupted           ? BZ_EXIT_INTERRUPTED
                      : !tally.is_twin_silent        ? BZ_EXIT_VIOLATION
                      : tally.found != tally.entries ? BZ_EXIT_UNPROVED
                                                     : BZ_EXIT_OK;
    return tally;
}

static const char *token_of(const struct bz_ttf *ttf, const struct bz_variant *variant,
                            const struct bz_finding *finding, char *token, size_t token_bytes) {
    struct bz_program program = ttf->program;
    if (ttf->draws_sizes) {
        bz_sizes_draw(&ttf->program, finding->seed, &program);
    }
    program.variant = variant;
    return bz_token_format(&program, finding->seed, finding->digest, token, token_bytes);
}

static const char *twin_word(const struct bz_ttf *ttf) {
    if (ttf->twin == NULL) {
        return "offers none";
    }
    return ttf->twin_other.violation.oracle != NULL ? "NOT SILENT"
           : ttf->twin_runs == 0                    ? "not run"
                                                    : "silent";
}

/* Prints unexpected findings below the row. */
static void print_remarks(const struct bz_ttf *ttf) {
    char token[BZ_TOKEN_BYTES];
    if (ttf->other.violation.oracle != NULL) {
        printf("    %s was violated first, and not %s: %s\n", ttf->other.violation.oracle,
               ttf->program.variant->fault->oracle,
               token_of(ttf, ttf->program.variant, &ttf->other, token, sizeof token));
    }
    if (ttf->twin_other.violation.oracle != NULL) {
        printf("    %s was violated by buzzer: %s\n", ttf->twin_other.violation.oracle,
               token_of(ttf, ttf->twin, &ttf->twin_other, token, sizeof token));
    }
}

static void print_table(const struct zoo *zoo) {
    int name_width = 5;
    int project_width = 7;
    for (size_t index = 0; index < zoo->entry_count; index++) {
        const struct bz_variant *entry = zoo->entries[index].program.variant;
        int name = (int)strlen(entry->name);
        int project = (int)strlen(entry->fault->project);
        name_width = name > name_width ? name : name_width;
        project_width = project > project_width ? project : project_width;
    }
    project_width = project_width < PROJECT_WIDTH_MAX ? project_width : PROJECT_WIDTH_MAX;
    printf("%-*s  %-*s  %-5s  %-19s %10s  %s\n", name_width, "entry", project_width, "project",
           "order", "found by", "schedules", "buzzer");
    for (size_t index = 0; index < zoo->entry_count; index++) {
        const struct bz_ttf *ttf = &zoo->entries[index];
        const struct bz_fault *fault = ttf->program.variant->fault;
        uint64_t mean = bz_ttf_mean_tenths(ttf);
        char found[48];
        char schedules[32] = "-";
        snprintf(found, sizeof found, "%s", fault->oracle);
        if (ttf->ranges_found < zoo->config.ranges) {
            snprintf(found, sizeof found, "%s %u of %u", ttf->is_interrupted ? "stopped" : "NOT",
                     ttf->ranges_found, zoo->config.ranges);
        }
        if (ttf->ranges_found > 0) {
            snprintf(schedules, sizeof schedules, "%" PRIu64 ".%" PRIu64, mean / 10, mean % 10);
        }
        printf("%-*s  %-*.*s  %-5s  %-19s %10s  %s\n", name_width, ttf->program.variant->name,
               project_width, project_width, fault->project, bz_order_name(ttf->program.order),
               found, schedules, twin_word(ttf));
        print_remarks(ttf);
    }
}

static void print_text(const struct zoo *zoo, const struct tally *tally) {
    print_table(zoo);
    printf("\n%zu entries, %zu found: each by the oracle that it declares, before any other, in %u "
           "of %u ranges\n",
           tally->entries, tally->found, zoo->config.ranges, zoo->config.ranges);
    printf("buzzer, on the same %" PRIu64 " seeds, scenarios and settings: %s\n", tally->twin_runs,
           tally->is_twin_silent ? "silent" : "NOT SILENT");
    if (tally->rows_without_twin > 0) {
        printf("(not in %zu rows: it does not offer the primitive)\n", tally->rows_without_twin);
    }
    if (tally->is_interrupted) {
        printf("interrupted; the ranges above are complete\n");
    }
}

static void add_finding(struct bz_json *object, const char *key, const struct bz_ttf *ttf,
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
    bz_json_add_string(item, "token", token_of(ttf, variant, finding, token, sizeof token));
}

static void add_entry(struct bz_json *results, const struct zoo *zoo, const struct bz_ttf *ttf) {
    const struct bz_variant *entry = ttf->program.variant;
    struct bz_json *item = bz_json_append_object(results);
    bz_json_add_string(item, "entry", entry->name);
    bz_json_add_string(item, "project", entry->fault->project);
    bz_json_add_string(item, "issue", entry->fault->issue);
    bz_json_add_string(item, "oracle", entry->fault->oracle);
    bz_json_add_program(item, &ttf->program);
    bz_json_add_bool(item, "found", bz_ttf_is_found(ttf, &zoo->config));
    bz_json_add_number(item, "ranges_found", ttf->ranges_found);
    bz_json_add_number(item, "ranges_done", ttf->ranges_done);
    if (ttf->ranges_found > 0) {
        bz_json_add_decimal(item, "mean_schedules", (double)bz_ttf_mean_tenths(ttf) / 10);
    } else {
        bz_json_add_string(item, "mean_schedules", NULL);
    }
    struct bz_json *schedules = bz_json_add_array(item, "schedules");
    for (uint32_t range = 0; range < ttf->ranges_done; range++) {
        bz_json_append_number(schedules, ttf->schedules[range]);
    }
    add_finding(item, "first", ttf, entry, &ttf->finding);
    add_finding(item, "other", ttf, entry, &ttf->other);
    bz_json_add_bool(item, "twin_offers_it", ttf->twin != NULL);
    bz_json_add_number(item, "twin_runs", ttf->twin_runs);
    add_finding(item, "twin_violation", ttf, ttf->twin, &ttf->twin_other);
}

static void print_json(const struct zoo *zoo, const struct tally *tally) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "strategy", zoo->entries[0].program.strategy->name);
    bz_json_add_number(root, "runs", zoo->config.runs);
    bz_json_add_hex(root, "seed_first", zoo->config.seed_first);
    bz_json_add_number(root, "repetitions", zoo->config.ranges);
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
    zoo = (struct zoo){.name = argv[0],
                       .is_order_wanted = {true, true},
                       .config = {.runs = 10000,
                                  .ranges = 5,
                                  .jobs = 1,
                                  .stop = &bz_interrupt_requested,
                                  .poll = show_progress,
                                  .context = &zoo}};
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
    if (code == BZ_EXIT_OK && !run_all(&zoo)) {
        code = bz_cli_fail(zoo.name, BZ_EXIT_INTERNAL, "%s", zoo.lack);
    }
    if (code == BZ_EXIT_OK) {
        struct tally tally = count(&zoo);
        code = tally.exit_code;
        (zoo.is_json ? print_json : print_text)(&zoo, &tally);
    }
    free(zoo.entries);
    return code;
}
