/* buzzer zoo --table: every entry under every strategy, over the same ranges of seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run/settings.h"
#include "tools/cli.h"
#include "tools/hunt.h"
#include "tools/interrupt.h"
#include "tools/zoo.h"

struct zoo_race {
    struct bz_zoo *zoo;
    struct bz_table table;
    struct bz_race_cell *cells; /* row after row */
    uint64_t *schedules;        /* cell after cell */
    char *names;                /* what the names of strategies point into */
};

/* --- the columns --------------------------------------------------------------------------------
 */

static int add_strategy(struct zoo_race *race, const char *name) {
    struct bz_table *table = &race->table;
    for (size_t index = 0; index < table->strategy_count; index++) {
        if (strcmp(table->strategies[index], name) == 0) {
            return bz_cli_fail(race->zoo->name, BZ_EXIT_USAGE, "strategy '%s' is named twice",
                               name);
        }
    }
    if (table->strategy_count == BZ_TABLE_STRATEGIES_MAX) {
        return bz_cli_fail(race->zoo->name, BZ_EXIT_USAGE, "more than %u strategies",
                           BZ_TABLE_STRATEGIES_MAX);
    }
    table->strategies[table->strategy_count++] = name;
    return BZ_EXIT_OK;
}

/* Those that were named, or all that search: `fifo` and `answers` draw no schedules, and have no
 * mean. */
static int collect_strategies(struct zoo_race *race) {
    int code = BZ_EXIT_OK;
    if (race->zoo->strategy == NULL) {
        for (size_t index = 0; code == BZ_EXIT_OK && bz_strategies[index] != NULL; index++) {
            if (bz_strategies[index] != &bz_strategy_fifo &&
                bz_strategies[index] != &bz_strategy_answers) {
                code = add_strategy(race, bz_strategies[index]->name);
            }
        }
        return code;
    }
    race->names = strdup(race->zoo->strategy);
    char *rest = race->names;
    if (rest == NULL) {
        return bz_cli_fail(race->zoo->name, BZ_EXIT_INTERNAL, "out of memory");
    }
    while (code == BZ_EXIT_OK && rest != NULL) {
        code = add_strategy(race, strsep(&rest, ","));
    }
    return code;
}

static int find_candidate(struct zoo_race *race) {
    struct bz_table *table = &race->table;
    const char *name = race->zoo->candidate;
    table->candidate = BZ_TABLE_NONE;
    for (size_t index = 0; index < table->strategy_count; index++) {
        if (strcmp(table->strategies[index], name == NULL ? BZ_TABLE_CANDIDATE : name) == 0) {
            table->candidate = index;
        }
    }
    if (table->candidate == BZ_TABLE_NONE && name != NULL) {
        return bz_cli_fail(race->zoo->name, BZ_EXIT_USAGE,
                           "the candidate '%s' is not among the strategies of the table", name);
    }
    return BZ_EXIT_OK;
}

/* --- the rows -----------------------------------------------------------------------------------
 */

static bool allocate(struct zoo_race *race, size_t rows) {
    struct bz_table *table = &race->table;
    size_t cells = rows * table->strategy_count;
    table->rows = calloc(rows, sizeof *table->rows);
    race->cells = calloc(cells, sizeof *race->cells);
    race->schedules = calloc(cells * race->zoo->ranges, sizeof *race->schedules);
    if (table->rows == NULL || race->cells == NULL || race->schedules == NULL) {
        return false;
    }
    for (size_t index = 0; index < cells; index++) {
        race->cells[index].schedules = &race->schedules[index * race->zoo->ranges];
    }
    return true;
}

static int add_row(struct zoo_race *race, const struct bz_variant *entry, enum bz_order order) {
    char error[BZ_ERROR_BYTES];
    struct bz_table *table = &race->table;
    struct bz_table_row *row = &table->rows[table->row_count];
    row->cells = &race->cells[table->row_count * table->strategy_count];
    table->row_count++;
    for (size_t column = 0; column < table->strategy_count; column++) {
        if (!bz_hunt_program(&row->cells[column].program, entry, table->strategies[column], order,
                             error, sizeof error)) {
            return bz_cli_fail(race->zoo->name, BZ_EXIT_USAGE, "%s: %s", entry->name, error);
        }
    }
    return BZ_EXIT_OK;
}

static int collect_rows(struct zoo_race *race) {
    const struct bz_variant *const *variants = bz_cli_catalog.variants;
    size_t rows = 0;
    int code = BZ_EXIT_OK;
    for (size_t index = 0; variants[index] != NULL; index++) {
        for (unsigned order = 0; order < BZ_ZOO_ORDERS; order++) {
            rows += bz_zoo_is_wanted(race->zoo, variants[index], order);
        }
    }
    if (rows == 0) {
        return bz_zoo_fail_empty(race->zoo);
    }
    if (!allocate(race, rows)) {
        return bz_cli_fail(race->zoo->name, BZ_EXIT_INTERNAL, "out of memory");
    }
    for (size_t index = 0; variants[index] != NULL; index++) {
        for (unsigned order = 0; order < BZ_ZOO_ORDERS && code == BZ_EXIT_OK; order++) {
            if (bz_zoo_is_wanted(race->zoo, variants[index], order)) {
                code = add_row(race, variants[index], (enum bz_order)order);
            }
        }
    }
    return code;
}

/* --- all of it ----------------------------------------------------------------------------------
 */

static void show_progress(void *context, uint64_t done, uint64_t found) {
    struct bz_zoo *zoo = context;
    bz_progress_show(&zoo->progress, done, found);
}

static bool run(struct zoo_race *race) {
    struct bz_zoo *zoo = race->zoo;
    struct bz_table *table = &race->table;
    size_t cells = table->row_count * table->strategy_count;
    table->config = (struct bz_race_config){.seed_first = zoo->seed_first,
                                            .runs = zoo->runs,
                                            .ranges = zoo->ranges,
                                            .give_up = zoo->give_up,
                                            .jobs = zoo->jobs,
                                            .stop = &bz_interrupt_requested,
                                            .poll = show_progress,
                                            .context = zoo};
    bz_interrupt_catch();
    bz_progress_begin(&zoo->progress, false, cells * zoo->ranges, 0);
    zoo->progress.unit = "ranges";
    bool is_ok = bz_race_run(&table->config, race->cells, cells);
    bz_progress_end(&zoo->progress);
    return is_ok;
}

int bz_zoo_race(struct bz_zoo *zoo) {
    struct zoo_race race = {.zoo = zoo};
    int code = collect_strategies(&race);
    code = code == BZ_EXIT_OK ? find_candidate(&race) : code;
    code = code == BZ_EXIT_OK ? collect_rows(&race) : code;
    if (code == BZ_EXIT_OK && !run(&race)) {
        code = bz_cli_fail(zoo->name, BZ_EXIT_INTERNAL, "out of memory or threads");
    }
    if (code == BZ_EXIT_OK) {
        bz_table_judge(&race.table);
        bz_table_print(&race.table, zoo->is_json ? BZ_TABLE_JSON : zoo->format);
        code = race.table.exit_code;
    }
    free(race.table.rows);
    free(race.cells);
    free(race.schedules);
    free(race.names);
    return code;
}
