/* buzzer zoo: every variant that declares a fault, and how soon the fault is found. This file is
 * the command line. */
#include <string.h>

#include "sim/run/campaign.h"
#include "tools/cli.h"
#include "tools/hunt.h"
#include "tools/options.h"
#include "tools/zoo.h"

#define RUNS_DEFAULT 10000u
#define RUNS_MAX UINT64_C(1000000000000)
#define RANGES_DEFAULT 5u

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

static void parse_order(struct bz_zoo *zoo, struct argp_state *state, const char *text) {
    for (unsigned order = 0; order < BZ_ZOO_ORDERS; order++) {
        zoo->is_order_wanted[order] = strcmp(text, bz_order_name((enum bz_order)order)) == 0;
    }
    if (!zoo->is_order_wanted[BZ_ORDER_ANY] && !zoo->is_order_wanted[BZ_ORDER_FIFO]) {
        argp_error(state, "--order is any or fifo, and not '%s'", text);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state) {
    struct bz_zoo *zoo = state->input;
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
        zoo->runs = bz_option_number(state, "runs", arg, 1, RUNS_MAX);
        return 0;
    case OPTION_SEED_FIRST:
        zoo->seed_first = bz_option_number(state, "seed-first", arg, 0, UINT64_MAX);
        return 0;
    case OPTION_REPETITIONS:
        zoo->ranges = (uint32_t)bz_option_number(state, "repetitions", arg, 1, BZ_HUNT_RANGES_MAX);
        return 0;
    case OPTION_JOBS:
        zoo->jobs = (uint32_t)bz_option_number(state, "jobs", arg, 1, BZ_JOBS_MAX);
        return 0;
    case OPTION_JSON:
        zoo->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (zoo->wanted_count == BZ_ZOO_ENTRIES_MAX) {
            argp_error(state, "more than %u entries", BZ_ZOO_ENTRIES_MAX);
        }
        zoo->wanted[zoo->wanted_count++] = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- which entries ------------------------------------------------------------------------------
 */

/* Every name on the command line is an entry. */
static int check_wanted(const struct bz_zoo *zoo) {
    const char *names[BZ_ZOO_ENTRIES_MAX];
    char hint[128];
    size_t count = 0;
    for (const struct bz_variant *const *next = bz_cli_catalog.variants;
         *next != NULL && count < BZ_ZOO_ENTRIES_MAX; next++) {
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

bool bz_zoo_is_wanted(const struct bz_zoo *zoo, const struct bz_variant *variant, unsigned order) {
    bool is_named = zoo->wanted_count == 0;
    for (size_t index = 0; index < zoo->wanted_count; index++) {
        is_named |= strcmp(zoo->wanted[index], variant->name) == 0;
    }
    return is_named && variant->fault != NULL && zoo->is_order_wanted[order] &&
           (order != BZ_ORDER_FIFO || variant->fault->fifo_reachable);
}

static int command_zoo(int argc, char **argv) {
    const struct argp_child children[] = {{&bz_plugins_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .options = options_table,
        .parser = parse_option,
        .children = children,
        .args_doc = "[ENTRY...]",
        .doc = "Looks for the fault of every variant that declares one, in its own scenario, and "
               "runs 'buzzer' on the same seeds. Exit status: 0 all are found, 4 one is not, "
               "1 'buzzer' was not silent, 2 usage, 5 interrupted."};
    struct bz_zoo zoo = {.name = argv[0],
                         .is_order_wanted = {true, true},
                         .runs = RUNS_DEFAULT,
                         .ranges = RANGES_DEFAULT,
                         .jobs = 1};
    bz_cli_parse(&argp, argc, argv, &zoo);
    int code = bz_plugins_load(&zoo.plugins, argv[0]);
    code = code == BZ_EXIT_OK ? check_wanted(&zoo) : code;
    if (code == BZ_EXIT_OK) {
        code = bz_zoo_hunt(&zoo);
    }
    return code;
}

const struct bz_command bz_command_zoo = {
    .name = "zoo",
    .summary = "find every declared fault, and count the schedules it takes",
    .run = command_zoo,
};
