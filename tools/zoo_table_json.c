/* The table for programs; the keys are a contract, see README.md. */
#include <string.h>

#include "tools/report_json.h"
#include "tools/zoo_table.h"

static void add_cell(struct bz_json *cells, const char *strategy, const struct bz_race_cell *cell,
                     const struct bz_sample *sample) {
    struct bz_json *item = bz_json_append_object(cells);
    bz_json_add_string(item, "strategy", strategy);
    bz_json_add_number(item, "ranges", cell->done);
    bz_json_add_number(item, "found", cell->found);
    bz_json_add_number(item, "censored", cell->done - cell->found);
    bz_json_add_bool(item, "given_up", cell->is_given_up);
    bz_json_add_number(item, "others", cell->others);
    bz_json_add_decimal(item, "mean", sample->mean);
    if (sample->count > 1) {
        bz_json_add_decimal(item, "standard_error", sample->error);
    } else {
        bz_json_add_string(item, "standard_error", NULL);
    }
    bz_json_add_decimal(item, "median", sample->median);
    bz_json_add_decimal(item, "p90", sample->p90);
}

static void add_ratio(struct bz_json *item, const struct bz_table *table,
                      const struct bz_table_row *row) {
    if (!row->has_ratio) {
        bz_json_add_string(item, "ratio", NULL);
        return;
    }
    const struct bz_race_cell *candidate = &row->cells[table->candidate];
    const struct bz_race_cell *best = &row->cells[row->best];
    struct bz_json *ratio = bz_json_add_object(item, "ratio");
    bz_json_add_decimal(ratio, "value", row->ratio.ratio);
    if (row->ratio.has_interval) {
        bz_json_add_decimal(ratio, "low", row->ratio.low);
        bz_json_add_decimal(ratio, "high", row->ratio.high);
    } else {
        bz_json_add_string(ratio, "low", NULL);
        bz_json_add_string(ratio, "high", NULL);
    }
    bz_json_add_bool(ratio, "is_lower_bound", candidate->found < candidate->done);
    bz_json_add_bool(ratio, "is_upper_bound", best->found < best->done);
    bz_json_add_bool(ratio, "over", row->is_over);
    bz_json_add_bool(ratio, "beyond", row->is_beyond);
}

static void add_row(struct bz_json *rows, const struct bz_table *table,
                    const struct bz_table_row *row) {
    const struct bz_program *program = &row->cells[0].program;
    struct bz_json *item = bz_json_append_object(rows);
    bz_json_add_string(item, "entry", program->variant->name);
    bz_json_add_string(item, "project", program->variant->fault->project);
    bz_json_add_string(item, "oracle", program->variant->fault->oracle);
    bz_json_add_string(item, "scenario", program->scenario->name);
    bz_json_add_string(item, "order", bz_order_name(program->order));
    struct bz_json *cells = bz_json_add_array(item, "cells");
    for (size_t column = 0; column < table->strategy_count; column++) {
        add_cell(cells, table->strategies[column], &row->cells[column], &row->samples[column]);
    }
    bz_json_add_string(item, "best",
                       row->best == BZ_TABLE_NONE ? NULL : table->strategies[row->best]);
    bz_json_add_bool(item, "best_within_noise", row->is_best_noise);
    add_ratio(item, table, row);
}

static void add_strategies(struct bz_json *array, const struct bz_table *table) {
    const struct bz_table_sum *sum = &table->sum;
    for (size_t column = 0; column < table->strategy_count; column++) {
        struct bz_json *item = bz_json_append_object(array);
        bz_json_add_string(item, "strategy", table->strategies[column]);
        bz_json_add_number(item, "best_in", sum->best_in[column]);
        bz_json_add_number(item, "not_found_in", sum->unfound_in[column]);
        if (sum->compared_in[column] > 0) {
            bz_json_add_decimal(item, "mean_to_best", sum->distance_mean[column]);
        } else {
            bz_json_add_string(item, "mean_to_best", NULL);
        }
    }
}

static void add_candidate(struct bz_json *root, const struct bz_table *table) {
    const struct bz_table_sum *sum = &table->sum;
    if (sum->ratios == 0) {
        bz_json_add_string(root, "candidate", NULL);
        return;
    }
    const struct bz_table_row *worst = &table->rows[sum->worst];
    struct bz_json *item = bz_json_add_object(root, "candidate");
    bz_json_add_string(item, "strategy", table->strategies[table->candidate]);
    bz_json_add_number(item, "rows", sum->ratios);
    bz_json_add_decimal(item, "worst_ratio", worst->ratio.ratio);
    bz_json_add_string(item, "worst_entry", worst->cells[0].program.variant->name);
    bz_json_add_string(item, "worst_order", bz_order_name(worst->cells[0].program.order));
    bz_json_add_decimal(item, "geometric_mean", sum->ratio_mean);
    bz_json_add_number(item, "entries", sum->entries_compared);
    bz_json_add_number(item, "entries_within", sum->entries_within);
    bz_json_add_number(item, "rows_over", sum->rows_over);
    bz_json_add_number(item, "rows_beyond", sum->rows_beyond);
}

void bz_table_print_json(const struct bz_table *table) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_number(root, "runs", table->config.runs);
    bz_json_add_hex(root, "seed_first", table->config.seed_first);
    bz_json_add_number(root, "repetitions", table->config.ranges);
    bz_json_add_number(root, "give_up", table->config.give_up);
    add_strategies(bz_json_add_array(root, "strategies"), table);
    struct bz_json *rows = bz_json_add_array(root, "rows");
    for (size_t index = 0; index < table->row_count; index++) {
        if (table->rows[index].is_complete) {
            add_row(rows, table, &table->rows[index]);
        }
    }
    bz_json_add_number(root, "rows_wanted", table->row_count);
    bz_json_add_number(root, "rows_not_found", table->sum.rows_not_found);
    bz_json_add_number(root, "entries", table->sum.entries);
    add_candidate(root, table);
    bz_json_add_bool(root, "interrupted", table->sum.rows < table->row_count);
    bz_json_add_number(root, "exit_code", (uint64_t)table->exit_code);
    bz_json_put(root);
}
