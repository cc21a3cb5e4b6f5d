/* Puts the events of two runs side by side.
 *
 * Steps are matched by the handle that they run, "worker-2's third step", as the tape names choices
 * (sim/choice/tape.h), and not by their number: after a step that only one run has, the later ones
 * match again. A handle runs at most once, so the longest common sequence of steps is the longest
 * increasing one of their places: O(n log n) time and O(n) memory for n events. Inside of a matched
 * step, events are matched in the same way, by task, operation and object. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "traces/trace.h"

/* The events of one row; NULL: the run has none there. */
struct bz_align_row {
    const struct bz_trace_event *events[2];
    bool differs; /* in more than the number of the step */
};

struct bz_alignment {
    size_t begin; /* the first event, of a step: up to `first`, row by row both have the same */
    size_t count;
    struct bz_align_row *rows;
    size_t unmatched[2]; /* steps of one run without a counterpart in this order */
};

/* Aligns the events from index `first` on, up to which both runs are equal. Stops the program if
 * memory runs out (traces/lack.h). The traces must outlive the rows; release them. */
void bz_align(struct bz_alignment *alignment, const struct bz_trace *a, const struct bz_trace *b,
              size_t first);
void bz_alignment_fini(struct bz_alignment *alignment);
