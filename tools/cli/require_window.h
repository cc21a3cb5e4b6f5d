/* The argument of --require-window: windows, and pairs of an operation and a window, that cancels
 * must hit. A campaign that misses one proves nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/world.h"

/* Adds "WINDOW" and "OPERATION:WINDOW", separated by commas, to an array of BZ_OP_COUNT: bits 1 <<
 * window, by operation; [BZ_OP_NONE]: any operation. The parser of an option. A usage error ends
 * the process. */
void bz_require_window_parse(void *target, const char *option, char *list);

/* The required ones that were never hit, "woken" or "acquire:woken": windows first, then pairs by
 * operation. */
struct bz_missed {
    unsigned count;
    char names[BZ_OP_COUNT * BZ_WINDOW_COUNT][40];
};

/* Adds them to `missed`, which is zeroed. */
void bz_require_window_missed(const uint32_t *required, const struct bz_run_stats *stats,
                              struct bz_missed *missed);
