/* Progress on stderr: one line that is rewritten on a terminal, or a line every 30 seconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bz_progress {
    bool is_quiet;
    bool is_terminal;
    bool is_shown; /* a line is on the terminal now */
    uint64_t began_ns;
    uint64_t shown_ns;    /* when the last line was printed */
    uint64_t runs_wanted; /* 0: not known */
    uint64_t runs_before; /* of those shown, done before the beginning; 0 unless changed */
    uint64_t deadline_ns; /* 0: none */
    const char *unit;     /* "runs" unless changed after bz_progress_begin() */
};

/* The limit that comes first ends the work: `runs_wanted`, or the time; 0 or BZ_RUNS_MAX: not
 * known. */
void bz_progress_begin(struct bz_progress *progress, bool is_quiet, uint64_t runs_wanted,
                       uint64_t seconds);

/* Prints the state, if a line is due. */
void bz_progress_show(struct bz_progress *progress, uint64_t runs, uint64_t findings);

/* Prints the caller's line, if one is due. */
void bz_progress_show_line(struct bz_progress *progress, const char *line);

/* Keeps the thread on the core that it runs on, if the system allows that: for measurements. */
void bz_thread_pin(void);

/* Erases the line. Returns the seconds since the beginning. */
double bz_progress_end(struct bz_progress *progress);
