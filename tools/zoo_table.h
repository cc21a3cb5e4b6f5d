/* The table of the zoo: strategy x entry, the mean schedules to the finding.
 *
 * A row is an entry under one order, a column a strategy. Of each row it is said which strategy is
 * best, and how far a candidate, `portfolio` unless another one is asked about, is from the best
 * of the others, which are called single here. Both are means of samples (sample.h), so it is also
 * said what is noise.
 *
 * The best of several noisy means is a little better than it deserves, so the ratios err on the
 * side of strictness.
 */
#ifndef BZ_TOOLS_ZOO_TABLE_H
#define BZ_TOOLS_ZOO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/race.h"
#include "tools/sample.h"

#define BZ_TABLE_STRATEGIES_MAX 32u
#define BZ_TABLE_WITHIN 2.0            /* how far from the best the candidate may be */
#define BZ_TABLE_NONE SIZE_MAX         /* no such column, or row */
#define BZ_TABLE_CANDIDATE "portfolio" /* by default */

enum bz_table_format {
    BZ_TABLE_TEXT,
    BZ_TABLE_MARKDOWN,
    BZ_TABLE_JSON,
};

struct bz_table_row {
    struct bz_race_cell *cells; /* one for each strategy */
    struct bz_sample samples[BZ_TABLE_STRATEGIES_MAX];
    bool is_complete;
    bool is_found;                /* by some strategy, in some range */
    size_t best;                  /* of the single strategies; NONE: it was found by none of them */
    bool is_best_noise;           /* another single one is as good, as far as can be told */
    bool has_ratio;               /* there is a best one, and a candidate */
    struct bz_sample_ratio ratio; /* candidate to best; a bound if one of both is censored */
    bool is_over;                 /* more than BZ_TABLE_WITHIN */
    bool is_beyond;               /* the whole interval is */
};

/* What the complete rows come to. Entries: with all of their rows complete. */
struct bz_table_sum {
    size_t rows;
    size_t entries;
    size_t rows_not_found; /* by any strategy */
    size_t best_in[BZ_TABLE_STRATEGIES_MAX];
    size_t unfound_in[BZ_TABLE_STRATEGIES_MAX];
    size_t compared_in[BZ_TABLE_STRATEGIES_MAX];   /* rows that the next figure is over: */
    double distance_mean[BZ_TABLE_STRATEGIES_MAX]; /* geometric, of mean / mean of the best */
    size_t ratios;                                 /* rows with a ratio */
    size_t worst;                                  /* the row of the worst; NONE */
    double ratio_mean;                             /* geometric */
    size_t entries_compared;                       /* those with a ratio */
    size_t entries_within;                         /* none of whose rows is over */
    size_t rows_over;
    size_t rows_beyond;
};

struct bz_table {
    struct bz_race_config config; /* of the race that it came from */
    size_t strategy_count;
    const char *strategies[BZ_TABLE_STRATEGIES_MAX];
    size_t candidate; /* column; NONE */
    size_t single_count;
    size_t row_count;
    struct bz_table_row *rows; /* entries one after another, each with its orders */
    struct bz_table_sum sum;
    int exit_code;
};

/* Works out everything else from the cells of the race, which each row must point to, from the
 * names of the strategies and the candidate. Sorts the schedules of each cell. */
void bz_table_judge(struct bz_table *table);

/* Prints it to stdout: the complete rows, then the sum. */
void bz_table_print(const struct bz_table *table, enum bz_table_format format);

/* The document of `zoo --table --json`; see README.md. bz_table_print() prints it. */
void bz_table_print_json(const struct bz_table *table);

#endif
