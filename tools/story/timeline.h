/* The story of a run as rows of text, a row for each step, in 80 columns. */
#pragma once

#include "tools/report/text_output.h"
#include "tools/story/story.h"

/* A column between the time and the task. */
struct bz_timeline_lanes {
    const char *heading; /* NULL: there is no such column */
    /* Writes the column of the row of these lines, with as many bytes as the heading. Called for
     * one row after another. */
    void (*draw)(void *context, size_t first, size_t end, char *row);
    void *context;
};

/* The lines of a step, or some of them. A block of rows that comes again and again is printed once,
 * the last time, behind a line that says how often: "(steps 10 to 108: the next 3 lines, 33
 * times)". */
struct bz_timeline_row {
    size_t first, end;     /* its lines */
    uint64_t key;          /* equal for rows with the same text and task */
    uint64_t gap;          /* steps since the row before */
    uint32_t distance;     /* how near it is to the violation; BZ_STORY_NONE: it is no cause */
    bool is_folded;        /* it is not printed: one below is alike */
    size_t times;          /* so often was the block folded that begins here; 0: none does */
    size_t period;         /* its rows */
    uint64_t since, until; /* the steps of what was folded */
};

struct bz_timeline {
    const struct bz_trace *trace;
    struct bz_story story;
    struct bz_text text; /* of the row that is printed */
    struct bz_timeline_row *rows;
    size_t row_count;
    size_t cause_count;
    uint32_t distance_max; /* of causes that are shown */
    unsigned step_columns;
    unsigned time_columns;
    unsigned task_columns;
    struct bz_timeline_lanes lanes; /* none unless it is set */
};

/* The trace must outlive the timeline. Without memory, functions call bz_lack_stop(). */
void bz_timeline_init(struct bz_timeline *timeline, const struct bz_trace *trace);
void bz_timeline_fini(struct bz_timeline *timeline);

/* Of the causes of the violation, the nearest are shown, in about so many rows [100]. */
void bz_timeline_limit(struct bz_timeline *timeline, size_t rows_max);

/* Prints the rows up to the violation. `is_whole`: all of them, and what the steps between them do.
 * Otherwise those that the violation depends on, and how many were left out. */
void bz_timeline_print(struct bz_timeline *timeline, struct bz_wrap *wrap, bool is_whole);

/* Prints the last rows, at most `rows_max`, and what the steps between them and behind them do. */
void bz_timeline_print_end(struct bz_timeline *timeline, struct bz_wrap *wrap, size_t rows_max);
