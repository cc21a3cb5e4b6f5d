/* buzzer zoo: every variant that declares a fault, and how soon the fault is found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/campaign/settings.h"
#include "sim/campaign/token.h"
#include "tools/cli.h"
#include "tools/hunt.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/plugins.h"
#include "tools/progress.h"
#include "tools/report_json.h"

#define RUNS_DEFAULT 10000u
#define RUNS_MAX UINT64_C(1000000000000)
#define RANGES_DEFAULT 5u
#define RANGES_MAX 1000u
#define ENTRIES_MAX 256u
#define ORDERS 2u
#define PROJECT_WIDTH_MAX 28 /* some say more, and 'list variants' prints it whole */

enum {
    OPTION_STRATEGY = 0x6000,
    OPTION_ORDER,
    OPTION_RUNS,
    OPTION_SEED_FIRST,
    OPTION_REPETITIONS,
    OPTION_JOBS,
    OPTION_JSON,
};

static const struct argp_option options_table[] = {
    {"strategy", OPTION_STRATEGY, "S", 0, "Who answers the choices (portfolio)", 0},
    {"order", OPTION_ORDER, "ORDER", 0, "any or fifo alone (both)", 0},
    {"runs", OPTION_RUNS, "N", 0, "Schedules of one range, at most (10000)", 0},
    {"repetitions", OPTION_REPETITIONS, "R", 0, "Ranges of seeds for each mean (5)", 0},
    {"seed-first", OPTION_SEED_FIRST, "N", 0, "Where the first range begins (0)", 0},
    {"jobs", OPTION_JOBS, "N", 0, "Worker threads; results do not depend on it (1)", 0},
    {"json", OPTION_JSON, NULL, 0, "Print one JSON document", 0},
    {0},
};

struct zoo {
    const char *name; /* for messages */
    struct bz_plugins plugins;
    const char *strategy;
    bool is_order_wanted[ORDERS];
    const char *wanted[ENTRIES_MAX]; /* named on the command line */
    size_t wanted_count;
    bool is_json;
    struct bz_hunt_config config;
    struct bz_hunt *hunts;
    size_t hunt_count;
    struct bz_progress progress;
    uint64_t ranges_done;
    uint64_t ranges_found;
};

static void parse_order(struct zoo *zoo, struct argp_state *state, const char *text) {
    for (unsigned order = 0; order < ORDERS; order++) {
        zoo->is_order_wanted[order] = strcmp(text, bz_order_name((enum bz_order)order)) == 0;
    }
    if (!zoo->is_order_wanted[BZ_ORDER_ANY] && !zoo->is_order_wanted[BZ_ORDER_FIFO]) {
        argp_error(state, "--order is any or fifo, and not '%s'", text);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct zoo *zoo = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &zoo->plugins;
        return 0;
    case OPTION_STRATEGY:
        zoo->strategy = arg;
        return 0;
    case OPTION_ORDER:
        parse_order(zoo, state, arg);
        return 0;
    case OPTION_RUNS:
        zoo->config.runs = bz_option_number(state, "runs", arg, 1, RUNS_MAX);
        return 0;
    case OPTION_SEED_FIRST:
        zoo->config.seed_first = bz_option_number(state, "seed-first", arg, 0, UINT64_MAX);
        return 0;
    case OPTION_REPETITIONS:
        zoo->config.ranges = (uint32_t)bz_option_number(state, "repetitions", arg, 1, RANGES_MAX);
        return 0;
    case OPTION_JOBS:
        zoo->config.jobs = (uint32_t)bz_option_number(state, "jobs", arg, 1, BZ_JOBS_MAX);
        return 0;
    case OPTION_JSON:
        zoo->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (zoo->wanted_count == ENTRIES_MAX) {
            argp_error(state, "more than %u entries", ENTRIES_MAX);
        }
        zoo->wanted[zoo->wanted_count++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what is hunted ------------------------------------------------------------------------------
 */

/* Every name on the command line is an entry. */
static int check_wanted(const struct zoo *zoo) {
    const char *names[ENTRIES_MAX];
    char hint[128];
    size_t count = 0;
    for (const struct bz_variant *const *next = bz_cli_catalog.variants;
         *next != NULL && count < ENTRIES_MAX; next++) {
        if ((*next)->fault != NULL) {
            names[count++] = (*next)->name;
        }
    }
    for (size_t index = 0; index < zoo->wanted_count; index++) {
        const char *name = zoo->wanted[index];
        const struct bz_variant *variant = bz_catalog_variant(&bz_cli_catalog, name);
        if (variant == NULL) {
            return bz_cli_fail(zoo->name, BZ_EXIT_USAGE,
                               "no entry '%s'%s ('buzzer list variants' shows them all)", name,
                               bz_cli_hint(name, names, count, hint, sizeof hint));
        }
        if (variant->fault == NULL) {
            return bz_cli_fail(zoo->name, BZ_EXIT_USAGE,
                               "variant '%s' declares no fault: there is nothing to find", name);
        }
    }
    return BZ_EXIT_OK;
}

static bool is_wanted(const struct zoo *zoo, const struct bz_variant *variant) {
    bool is_named = zoo->wanted_count == 0;
    for (size_t index = 0; index < zoo->wanted_count; index++) {
        is_named |= strcmp(zoo->wanted[index], variant->name) == 0;
    }
    return is_named && variant->fault != NULL;
}

static int collect_hunts(struct zoo *zoo) {
    char error[BZ_ERROR_BYTES];
    size_t variants = 0;
    while (bz_cli_catalog.variants[variants] != NULL) {
        variants++;
    }
    zoo->hunts = calloc(variants * ORDERS + 1, sizeof *zoo->hunts);
    if (zoo->hunts == NULL) {
        return bz_cli_fail(zoo->name, BZ_EXIT_INTERNAL, "out of memory");
    }
    for (size_t index = 0; index < variants; index++) {
        const struct bz_variant *entry = bz_cli_catalog.variants[index];
        for (unsigned order = 0; order < ORDERS && is_wanted(zoo, entry); order++) {
            if (!zoo->is_order_wanted[order] ||
                (order == BZ_ORDER_FIFO && !entry->fault->fifo_reachable)) {
                continue;
            }
            if (!bz_hunt_init(&zoo->hunts[zoo->hunt_count++], entry, zoo->strategy,
                              (enum bz_order)order, error, sizeof error)) {
                return bz_cli_fail(zoo->name, BZ_EXIT_USAGE, "%s: %s", entry->name, error);
            }
        }
    }
    if (zoo->hunt_count == 0) {
        return bz_cli_fail(zoo->name, BZ_EXIT_UNPROVED,
                           "nothing proved: no entry can be found under this order");
    }
    return BZ_EXIT_OK;
}

static void show_progress(void *context) {
    struct zoo *zoo = context;
    bz_progress_show(&zoo->progress, zoo->ranges_done, zoo->ranges_found);
}

static bool hunt_all(struct zoo *zoo) {
    bool is_ok = true;
    bz_interrupt_catch();
    bz_progress_begin(&zoo->progress, false, zoo->hunt_count * zoo->config.ranges, 0);
    zoo->progress.unit = "ranges";
    for (size_t index = 0; is_ok && index < zoo->hunt_count; index++) {
        struct bz_hunt *hunt = &zoo->hunts[index];
        uint32_t found_before = 0;
        while (is_ok && hunt->ranges_done < zoo->config.ranges && bz_interrupt_requested == 0) {
            is_ok = bz_hunt_range(hunt, &zoo->config);
            zoo->ranges_done++;
            zoo->ranges_found += hunt->ranges_found - found_before;
            found_before = hunt->ranges_found;
            show_progress(zoo);
        }
        hunt->is_interrupted |= hunt->ranges_done < zoo->config.ranges;
    }
    bz_progress_end(&zoo->progress);
    return is_ok;
}

/* --- what came of it ----------------------------------------------------------------------------
 */

struct tally {
    size_t entries; /* of which something was tried */
    size_t found;   /* under every order that was tried */
    uint64_t twin_runs;
    size_t hunts_without_twin;
    bool is_twin_silent;
    bool is_interrupted;
    int exit_code;
};

static struct tally count(const struct zoo *zoo) {
    struct tally tally = {.is_twin_silent = true};
    bool is_found = true;
    for (size_t index = 0; index < zoo->hunt_count; index++) {
        const struct bz_hunt *hunt = &zoo->hunts[index];
        bool is_last =
            index + 1 == zoo->hunt_count || hunt[1].program.variant != hunt->program.variant;
        is_found &= bz_hunt_is_found(hunt, &zoo->config);
        tally.entries += is_last;
        tally.found += is_last && is_found;
        is_found |= is_last;
        tally.twin_runs += hunt->twin_runs;
        tally.hunts_without_twin += !hunt->has_twin;
        tally.is_twin_silent &= hunt->twin_other.violation.oracle == NULL;
        tally.is_interrupted |= hunt->is_interrupted;
    }
    tally.exit_code = tally.is_interrupted           ? BZ_EXIT_INTERRUPTED
                      : !tally.is_twin_silent        ? BZ_EXIT_VIOLATION
                      : tally.found != tally.entries ? BZ_EXIT_UNPROVED
                                                     : BZ_EXIT_OK;
    return tally;
}

static const char *token_of(const struct bz_hunt *hunt, const struct bz_variant *variant,
                            const struct bz_finding *finding, char *token, size_t token_bytes) {
    struct bz_program program = hunt->program;
    program.variant = variant;
    return bz_token_format(&program, finding->seed, finding->digest, token, token_bytes);
}

static const char *twin_word(const struct bz_hunt *hunt) {
    if (!hunt->has_twin) {
        return "offers none";
    }
    return hunt->twin_other.violation.oracle != NULL ? "NOT SILENT"
           : hunt->twin_runs == 0                    ? "not run"
                                                     : "silent";
}

/* What a row has no room for: who objected first, and to what of `buzzer`. */
static void print_remarks(const struct bz_hunt *hunt) {
    char token[BZ_TOKEN_BYTES];
    const struct bz_variant *twin = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    if (hunt->other.violation.oracle != NULL) {
        printf("    %s objected first, and not %s: %s\n", hunt->other.violation.oracle,
               hunt->program.variant->fault->oracle,
               token_of(hunt, hunt->program.variant, &hunt->other, token, sizeof token));
    }
    if (hunt->twin_other.violation.oracle != NULL) {
        printf("    %s objects to buzzer: %s\n", hunt->twin_other.violation.oracle,
               token_of(hunt, twin, &hunt->twin_other, token, sizeof token));
    }
}

static void print_table(const struct zoo *zoo) {
    int name_width = 5;
    int project_width = 7;
    for (size_t index = 0; index < zoo->hunt_count; index++) {
        const struct bz_variant *entry = zoo->hunts[index].program.variant;
        int name = (int)strlen(entry->name);
        int project = (int)strlen(entry->fault->project);
        name_width = name > name_width ? name : name_width;
        project_width = project > project_width ? project : project_width;
    }
    project_width = project_width < PROJECT_WIDTH_MAX ? project_width : PROJECT_WIDTH_MAX;
    printf("%-*s  %-*s  %-5s  %-19s %10s  %s\n", name_width, "entry", project_width, "project",
           "order", "found by", "schedules", "buzzer");
    for (size_t index = 0; index < zoo->hunt_count; index++) {
        const struct bz_hunt *hunt = &zoo->hunts[index];
        const struct bz_fault *fault = hunt->program.variant->fault;
        uint64_t mean = bz_hunt_mean_tenths(hunt);
        char found[48];
        char schedules[32] = "-";
        snprintf(found, sizeof found, "%s", fault->oracle);
        if (hunt->ranges_found < zoo->config.ranges) {
            snprintf(found, sizeof found, "%s %u of %u", hunt->is_interrupted ? "stopped" : "NOT",
                     hunt->ranges_found, zoo->config.ranges);
        }
        if (hunt->ranges_found > 0) {
            snprintf(schedules, sizeof schedules, "%" PRIu64 ".%" PRIu64, mean / 10, mean % 10);
        }
        printf("%-*s  %-*.*s  %-5s  %-19s %10s  %s\n", name_width, hunt->program.variant->name,
               project_width, project_width, fault->project, bz_order_name(hunt->program.order),
               found, schedules, twin_word(hunt));
        print_remarks(hunt);
    }
}

static void print_text(const struct zoo *zoo, const struct tally *tally) {
    print_table(zoo);
    printf("\n%zu entries, %zu found: each by the oracle that it declares, before any other, in %u "
           "of %u ranges\n",
           tally->entries, tally->found, zoo->config.ranges, zoo->config.ranges);
    printf("buzzer, on the same %" PRIu64 " seeds, scenarios and settings: %s\n", tally->twin_runs,
           tally->is_twin_silent ? "silent" : "NOT SILENT");
    if (tally->hunts_without_twin > 0) {
        printf("(in %zu rows it was not asked: it does not offer the primitive)\n",
               tally->hunts_without_twin);
    }
    if (tally->is_interrupted) {
        printf("interrupted; the ranges above are complete\n");
    }
}

static void add_finding(struct bz_json *object, const char *key, const struct bz_hunt *hunt,
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
    bz_json_add_string(item, "token", token_of(hunt, variant, finding, token, sizeof token));
}

static void add_hunt(struct bz_json *results, const struct zoo *zoo, const struct bz_hunt *hunt) {
    const struct bz_variant *entry = hunt->program.variant;
    const struct bz_variant *twin = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    struct bz_json *item = bz_json_append_object(results);
    bz_json_add_string(item, "entry", entry->name);
    bz_json_add_string(item, "project", entry->fault->project);
    bz_json_add_string(item, "issue", entry->fault->issue);
    bz_json_add_string(item, "oracle", entry->fault->oracle);
    bz_json_add_program(item, &hunt->program);
    bz_json_add_bool(item, "found", bz_hunt_is_found(hunt, &zoo->config));
    bz_json_add_number(item, "ranges_found", hunt->ranges_found);
    bz_json_add_number(item, "ranges_done", hunt->ranges_done);
    if (hunt->ranges_found > 0) {
        bz_json_add_decimal(item, "mean_schedules", (double)bz_hunt_mean_tenths(hunt) / 10);
    } else {
        bz_json_add_string(item, "mean_schedules", NULL);
    }
    add_finding(item, "first", hunt, entry, &hunt->finding);
    add_finding(item, "other", hunt, entry, &hunt->other);
    bz_json_add_bool(item, "twin_offers_it", hunt->has_twin);
    bz_json_add_number(item, "twin_runs", hunt->twin_runs);
    add_finding(item, "twin_violation", hunt, twin, &hunt->twin_other);
}

static void print_json(const struct zoo *zoo, const struct tally *tally) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "strategy", zoo->hunts[0].program.strategy->name);
    bz_json_add_number(root, "runs", zoo->config.runs);
    bz_json_add_hex(root, "seed_first", zoo->config.seed_first);
    bz_json_add_number(root, "repetitions", zoo->config.ranges);
    struct bz_json *results = bz_json_add_array(root, "results");
    for (size_t index = 0; index < zoo->hunt_count; index++) {
        add_hunt(results, zoo, &zoo->hunts[index]);
    }
    bz_json_add_number(root, "entries", tally->entries);
    bz_json_add_number(root, "found", tally->found);
    bz_json_add_number(root, "twin_runs", tally->twin_runs);
    bz_json_add_bool(root, "twin_silent", tally->is_twin_silent);
    bz_json_add_bool(root, "interrupted", tally->is_interrupted);
    bz_json_add_number(root, "exit_code", (uint64_t)tally->exit_code);
    bz_json_put(root);
}

static int command_zoo(int argc, char **argv) {
    const struct argp_child children[] = {{&bz_plugins_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options_table,
        .parser = parse_option,
        .children = children,
        .args_doc = "[ENTRY...]",
        .doc = "Looks for the fault of every variant that declares one, in its own scenario, and "
               "runs 'buzzer' on the same seeds. Exit status: 0 all are found, 4 one is not, 1 "
               "'buzzer' was not silent, 2 usage, 5 interrupted."};
    struct zoo zoo = {.name = argv[0],
                      .is_order_wanted = {true, true},
                      .config = {.runs = RUNS_DEFAULT,
                                 .ranges = RANGES_DEFAULT,
                                 .jobs = 1,
                                 .stop = &bz_interrupt_requested,
                                 .poll = show_progress,
                                 .context = &zoo}};
    bz_cli_parse(&argp, argc, argv, &zoo);
    int code = bz_plugins_load(&zoo.plugins, argv[0]);
    code = code == BZ_EXIT_OK ? check_wanted(&zoo) : code;
    code = code == BZ_EXIT_OK ? collect_hunts(&zoo) : code;
    if (code == BZ_EXIT_OK && !hunt_all(&zoo)) {
        code = bz_cli_fail(argv[0], BZ_EXIT_INTERNAL, "out of memory or threads");
    }
    if (code == BZ_EXIT_OK) {
        struct tally tally = count(&zoo);
        code = tally.exit_code;
        (zoo.is_json ? print_json : print_text)(&zoo, &tally);
    }
    free(zoo.hunts);
    return code;
}

const struct bz_command bz_command_zoo = {
    .name = "zoo",
    .summary = "find every declared fault, and count the schedules it takes",
    .run = command_zoo,
};
