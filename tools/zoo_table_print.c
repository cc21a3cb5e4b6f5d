/* The table for people: on a terminal, and to be pasted into a page of Markdown. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/zoo_table.h"

#define FIELD_BYTES 64u
#define FIELDS_MAX (BZ_TABLE_STRATEGIES_MAX + 5u)
#define FIRST_STRATEGY 3u /* behind entry, order, scenario */

/* The columns: entry, scenario, order, the strategies, and then as far as they say anything, which
 * is best and the ratio. */
static size_t field_count(const struct bz_table *table) {
    return FIRST_STRATEGY + table->strategy_count + (table->single_count > 1) +
           (table->candidate != BZ_TABLE_NONE && table->single_count > 0);
}

static bool is_figure(const struct bz_table *table, size_t field) {
    return field >= FIRST_STRATEGY && field < FIRST_STRATEGY + table->strategy_count;
}

static bool is_best(const struct bz_table *table, size_t field) {
    return field == FIRST_STRATEGY + table->strategy_count && table->single_count > 1;
}

/* As many decimals as mean anything. */
static int decimals(double value, double from) {
    return value < from ? 1 : 0;
}

static void write_cell(const struct bz_race_cell *cell, const struct bz_sample *sample,
                       char *text) {
    const char *other = cell->others > 0 ? "!" : "";
    if (cell->found == 0) {
        snprintf(text, FIELD_BYTES, ">%.0f%s", sample->mean, other);
        return;
    }
    snprintf(text, FIELD_BYTES, "%s%.*f (%.*f)%s", cell->found < cell->done ? ">" : "",
             decimals(sample->mean, 1000), sample->mean, decimals(sample->error, 100),
             sample->error, other);
}

static void write_ratio(const struct bz_table *table, const struct bz_table_row *row, char *text) {
    if (!row->has_ratio) {
        snprintf(text, FIELD_BYTES, "-");
        return;
    }
    const struct bz_race_cell *candidate = &row->cells[table->candidate];
    const struct bz_race_cell *best = &row->cells[row->best];
    bool is_least = candidate->found < candidate->done;
    bool is_most = best->found < best->done;
    const char *bound = is_least && is_most ? "~" : is_least ? ">" : is_most ? "<" : "";
    const char *word = row->is_beyond ? " beyond" : row->is_over ? " noise" : "";
    int length = snprintf(text, FIELD_BYTES, "%s%.2f", bound, row->ratio.ratio);
    if (row->ratio.has_interval) {
        length += snprintf(text + length, FIELD_BYTES - (size_t)length, " (%.2f..%.2f)",
                           row->ratio.low, row->ratio.high);
    }
    snprintf(text + length, FIELD_BYTES - (size_t)length, "%s", word);
}

static void write_head(const struct bz_table *table, size_t field, char *text) {
    static const char *const names[FIRST_STRATEGY] = {"entry", "scenario", "order"};
    if (field < FIRST_STRATEGY) {
        snprintf(text, FIELD_BYTES, "%s", names[field]);
    } else if (is_figure(table, field)) {
        snprintf(text, FIELD_BYTES, "%s", table->strategies[field - FIRST_STRATEGY]);
    } else if (is_best(table, field)) {
        snprintf(text, FIELD_BYTES, "best");
    } else {
        snprintf(text, FIELD_BYTES, "%s/best", table->strategies[table->candidate]);
    }
}

/* The field of a row; of the heading if `row` is NULL. Returns `text`, which has FIELD_BYTES. */
static const char *field_text(const struct bz_table *table, const struct bz_table_row *row,
                              size_t field, char *text) {
    if (row == NULL) {
        write_head(table, field, text);
    } else if (field < FIRST_STRATEGY) {
        const struct bz_program *program = &row->cells[0].program;
        const char *const names[FIRST_STRATEGY] = {program->variant->name, program->scenario->name,
                                                   bz_order_name(program->order)};
        snprintf(text, FIELD_BYTES, "%s", names[field]);
    } else if (is_figure(table, field)) {
        size_t column = field - FIRST_STRATEGY;
        write_cell(&row->cells[column], &row->samples[column], text);
    } else if (is_best(table, field)) {
        snprintf(text, FIELD_BYTES, "%s%s",
                 row->best == BZ_TABLE_NONE ? "-" : table->strategies[row->best],
                 row->is_best_noise ? " ~" : "");
    } else {
        write_ratio(table, row, text);
    }
    return text;
}

/* --- lines --------------------------------------------------------------------------------------
 */

static void print_line(const struct bz_table *table, const struct bz_table_row *row,
                       const int *widths, bool is_markdown) {
    char text[FIELD_BYTES];
    size_t count = field_count(table);
    for (size_t field = 0; field < count; field++) {
        field_text(table, row, field, text);
        if (is_markdown) {
            bool is_name = row != NULL && field == 0;
            printf("| %s%s%s ", is_name ? "`" : "", text, is_name ? "`" : "");
        } else if (is_figure(table, field)) {
            printf("  %*s", widths[field], text);
        } else {
            /* No blanks at the end of a line. */
            printf("%s%-*s", field == 0 ? "" : "  ", field + 1 == count ? 0 : widths[field], text);
        }
    }
    puts(is_markdown ? "|" : "");
}

static void measure(const struct bz_table *table, int *widths) {
    char text[FIELD_BYTES];
    for (size_t field = 0; field < field_count(table); field++) {
        widths[field] = (int)strlen(field_text(table, NULL, field, text));
        for (size_t index = 0; index < table->row_count; index++) {
            const struct bz_table_row *row = &table->rows[index];
            int width = row->is_complete ? (int)strlen(field_text(table, row, field, text)) : 0;
            widths[field] = width > widths[field] ? width : widths[field];
        }
    }
}

static void print_rows(const struct bz_table *table, bool is_markdown) {
    int widths[FIELDS_MAX];
    measure(table, widths);
    print_line(table, NULL, widths, is_markdown);
    for (size_t field = 0; is_markdown && field < field_count(table); field++) {
        printf("| %s ", is_figure(table, field) ? "---:" : "---");
    }
    fputs(is_markdown ? "|\n" : "", stdout);
    for (size_t index = 0; index < table->row_count; index++) {
        if (table->rows[index].is_complete) {
            print_line(table, &table->rows[index], widths, is_markdown);
        }
    }
}

/* --- the sum ------------------------------------------------------------------------------------
 */

static void print_strategies(const struct bz_table *table, bool is_markdown) {
    const struct bz_table_sum *sum = &table->sum;
    puts(is_markdown ? "| strategy | best in | not found in | mean/best, geometric mean |\n"
                       "| --- | ---: | ---: | ---: |"
                     : "strategy    best in  not found in  mean/best, geometric mean");
    for (size_t column = 0; column < table->strategy_count; column++) {
        bool is_single = column != table->candidate;
        char best[24] = "-";
        char distance[32] = "-";
        if (is_single) {
            snprintf(best, sizeof best, "%zu", sum->best_in[column]);
        }
        if (sum->compared_in[column] > 0) {
            snprintf(distance, sizeof distance, "%.2f", sum->distance_mean[column]);
        }
        printf(is_markdown ? "| %s | %s | %zu | %s |\n" : "%-10s  %7s  %12zu  %s\n",
               table->strategies[column], best, sum->unfound_in[column], distance);
    }
}

static void print_candidate(const struct bz_table *table) {
    const struct bz_table_sum *sum = &table->sum;
    if (sum->ratios == 0) {
        return;
    }
    const struct bz_table_row *worst = &table->rows[sum->worst];
    const struct bz_program *program = &worst->cells[0].program;
    char text[FIELD_BYTES];
    write_ratio(table, worst, text);
    printf("\n%s to the best single strategy: worst %s, %s under %s;\n"
           "geometric mean %.2f; %zu of %zu entries within %.0fx under every order tried;\n"
           "rows over %.0fx: %zu, of them beyond noise: %zu\n",
           table->strategies[table->candidate], text, program->variant->name,
           bz_order_name(program->order), sum->ratio_mean, sum->entries_within,
           sum->entries_compared, BZ_TABLE_WITHIN, BZ_TABLE_WITHIN, sum->rows_over,
           sum->rows_beyond);
}

static void print_legend(const struct bz_table *table) {
    const struct bz_race_config *config = &table->config;
    printf("\n%zu rows, %zu entries: mean schedules to the finding (standard error), over %u\n"
           "disjoint ranges of at most %" PRIu64 " schedules, from seed 0x%" PRIx64 "\n",
           table->sum.rows, table->sum.entries, config->ranges, config->runs, config->seed_first);
    puts("> a lower bound: in some ranges it was not found, and they count with their length;\n"
         "  in none where there is no error");
    if (config->give_up != 0 && config->give_up < config->ranges) {
        printf("  (a pair is given up when the first %u ranges find nothing)\n", config->give_up);
    }
    puts("! another oracle objected before, in some range");
    if (table->single_count > 1) {
        puts("~ after the best: another single strategy is as good, within noise (95 %)");
    }
    if (table->candidate != BZ_TABLE_NONE && table->single_count > 0) {
        puts("ratios with their 95 % interval; over 2 it says beyond if all of that is, else "
             "noise");
    }
}

void bz_table_print(const struct bz_table *table, enum bz_table_format format) {
    bool is_markdown = format == BZ_TABLE_MARKDOWN;
    if (format == BZ_TABLE_JSON) {
        bz_table_print_json(table);
        return;
    }
    if (table->sum.rows > 0) {
        print_rows(table, is_markdown);
        fputs(is_markdown ? "\n```" : "", stdout);
        print_legend(table);
        fputs(is_markdown ? "```\n" : "", stdout);
        puts("");
        print_strategies(table, is_markdown);
        print_candidate(table);
    }
    if (table->sum.rows_not_found > 0) {
        printf("\n%zu rows were found by no strategy\n", table->sum.rows_not_found);
    }
    if (table->sum.rows < table->row_count) {
        printf("%sinterrupted: %zu of %zu rows are complete, and no others are shown\n",
               table->sum.rows > 0 ? "\n" : "", table->sum.rows, table->row_count);
    }
}
