/* What --require-window asks for: windows, and pairs of an operation and a window, that cancels
 * must have hit for a campaign to count as a proof of anything. */
#ifndef BZ_TOOLS_REQUIRE_WINDOW_H
#define BZ_TOOLS_REQUIRE_WINDOW_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/world.h"

struct bz_require_window {
    uint32_t windows[BZ_OP_COUNT]; /* bits 1 << window, by operation; [BZ_OP_NONE]: in whichever */
};

#define BZ_REQUIRE_WINDOW_NAME_BYTES 40u

/* Adds "WINDOW" and "OPERATION:WINDOW", separated by commas, to a struct bz_require_window: the
 * parser of an option. A usage error ends the process. */
void bz_require_window_parse(struct argp_state *state, void *target, const char *option,
                             char *list);

/* Of what is required, that which was never hit. */
struct bz_require_window bz_require_window_missed(const struct bz_require_window *required,
                                                  const struct bz_run_stats *stats);

/* The index-th of them as it was asked for, "woken" or "acquire:woken": windows first, then pairs
 * by operation. False behind the last. */
bool bz_require_window_name(const struct bz_require_window *required, unsigned index, char *name,
                            size_t name_bytes);

#endif
