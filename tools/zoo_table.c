#include "tools/zoo_table.h"

#include <math.h>

#include "tools/cli.h"

static bool is_single(const struct bz_table *table, size_t column) {
    return column != table->candidate;
}

/* --- one row ------------------------------------------------------------------------------------
 */

static void find_best(const struct bz_table *table, struct bz_table_row *row) {
    row->best = BZ_TABLE_NONE;
    for (size_t column = 0; column < table->strategy_count; column++) {
        if (is_single(table, column) && row->cells[column].found > 0 &&
            (row->best == BZ_TABLE_NONE ||
             row->samples[column].mean < row->samples[row->best].mean)) {
            row->best = column;
        }
    }
    for (size_t column = 0; row->best != BZ_TABLE_NONE && column < table->strategy_count;
         column++) {
        if (is_single(table, column) && column != row->best && row->cells[column].found > 0) {
            struct bz_sample_ratio ratio =
                bz_sample_ratio_of(&row->samples[column], &row->samples[row->best]);
            row->is_best_noise |= !ratio.has_interval || ratio.low <= 1;
        }
    }
}

static void judge_row(const struct bz_table *table, struct bz_table_row *row) {
    row->is_complete = true;
    for (size_t column = 0; column < table->strategy_count; column++) {
        row->is_complete &= row->cells[column].is_complete;
    }
    if (!row->is_complete) {
        return;
    }
    for (size_t column = 0; column < table->strategy_count; column++) {
        struct bz_race_cell *cell = &row->cells[column];
        row->samples[column] = bz_sample_of(cell->schedules, cell->done);
        row->is_found |= cell->found > 0;
    }
    find_best(table, row);
    row->has_ratio = row->best != BZ_TABLE_NONE && table->candidate != BZ_TABLE_NONE;
    if (row->has_ratio) {
        row->ratio = bz_sample_ratio_of(&row->samples[table->candidate], &row->samples[row->best]);
        row->is_over = row->ratio.ratio > BZ_TABLE_WITHIN;
        row->is_beyond = row->ratio.has_interval && row->ratio.low > BZ_TABLE_WITHIN;
    }
}

/* --- all rows -----------------------------------------------------------------------------------
 */

static void add_strategies(struct bz_table *table, const struct bz_table_row *row) {
    struct bz_table_sum *sum = &table->sum;
    for (size_t column = 0; column < table->strategy_count; column++) {
        bool is_found = row->cells[column].found > 0;
        sum->best_in[column] += row->best == column;
        sum->unfound_in[column] += !is_found;
        if (is_found && row->best != BZ_TABLE_NONE) {
            sum->compared_in[column]++;
            sum->distance_mean[column] +=
                log(row->samples[column].mean / row->samples[row->best].mean);
        }
    }
}

static void add_row(struct bz_table *table, size_t index) {
    struct bz_table_sum *sum = &table->sum;
    const struct bz_table_row *row = &table->rows[index];
    sum->rows++;
    sum->rows_not_found += !row->is_found;
    add_strategies(table, row);
    if (!row->has_ratio) {
        return;
    }
    sum->ratios++;
    sum->ratio_mean += log(row->ratio.ratio);
    sum->rows_over += row->is_over;
    sum->rows_beyond += row->is_beyond;
    if (sum->worst == BZ_TABLE_NONE || row->ratio.ratio > table->rows[sum->worst].ratio.ratio) {
        sum->worst = index;
    }
}

static void add_entry(struct bz_table *table, const struct bz_table_row *rows, size_t count) {
    bool is_complete = true;
    bool is_compared = false;
    bool is_over = false;
    for (size_t index = 0; index < count; index++) {
        is_complete &= rows[index].is_complete;
        is_compared |= rows[index].has_ratio;
        is_over |= rows[index].is_over;
    }
    table->sum.entries += is_complete;
    table->sum.entries_compared += is_complete && is_compared;
    table->sum.entries_within += is_complete && is_compared && !is_over;
}

static void add_up(struct bz_table *table) {
    struct bz_table_sum *sum = &table->sum;
    size_t first = 0;
    *sum = (struct bz_table_sum){.worst = BZ_TABLE_NONE};
    for (size_t index = 0; index < table->row_count; index++) {
        const struct bz_variant *entry = table->rows[index].cells[0].program.variant;
        if (table->rows[index].is_complete) {
            add_row(table, index);
        }
        if (index + 1 == table->row_count ||
            table->rows[index + 1].cells[0].program.variant != entry) {
            add_entry(table, &table->rows[first], index + 1 - first);
            first = index + 1;
        }
    }
    sum->ratio_mean = sum->ratios == 0 ? 0 : exp(sum->ratio_mean / (double)sum->ratios);
    for (size_t column = 0; column < table->strategy_count; column++) {
        size_t count = sum->compared_in[column];
        sum->distance_mean[column] =
            count == 0 ? 0 : exp(sum->distance_mean[column] / (double)count);
    }
}

void bz_table_judge(struct bz_table *table) {
    table->single_count = table->strategy_count - (table->candidate != BZ_TABLE_NONE);
    for (size_t index = 0; index < table->row_count; index++) {
        judge_row(table, &table->rows[index]);
    }
    add_up(table);
    table->exit_code = table->sum.rows < table->row_count ? BZ_EXIT_INTERRUPTED
                       : table->sum.rows_not_found > 0    ? BZ_EXIT_UNPROVED
                                                          : BZ_EXIT_OK;
}
