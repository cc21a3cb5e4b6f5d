/* The timeline: the events of a trace that matter to people, in their words. */
#ifndef BZ_TOOLS_TIMELINE_H
#define BZ_TOOLS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "traces/trace.h"

#define BZ_TIMELINE_TEXT_BYTES 192u

struct bz_moment {
    uint64_t step;
    uint64_t time_ns;
    const char *task; /* belongs to the trace; NULL: the loop */
    char text[BZ_TIMELINE_TEXT_BYTES];
};

/* Fills `moments` with the last moments up to step `step`, the oldest first, at most `capacity`.
 * Returns how many; `left_out` says how many came before them. Bare yields and what goes without
 * saying are no moments. */
size_t bz_timeline(const struct bz_trace *trace, uint64_t step, struct bz_moment *moments,
                   size_t capacity, size_t *left_out);

#endif
