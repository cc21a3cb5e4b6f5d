/* The argument of --require-window: windows, and pairs of an operation and a window, that cancels
 * must hit. A campaign that misses one proves nothing. */
#ifndef BZ_TOOLS_REQUIRE_WINDOW_H
#define BZ_TOOLS_REQUIRE_WINDOW_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/world.h"

struct bz_require_window {
    uint32_t windows[BZ_OP_COUNT]; /* bits 1 << window, by operation; [BZ_OP_NONE]: any operation */
};

#define BZ_REQUIRE_WINDOW_NAME_BYTES 40u

/* Adds "WINDOW" and "OPERATION:WINDOW", separated by commas, to a struct bz_require_window: the
 * parser of an option. A usage error ends the process. */
void bz_require_window_parse(struct argp_state *state, void *target, const char *option,
                             char *list);

/* The required ones that were never hit. */
struct bz_require_window bz_require_window_missed(const struct bz_require_window *required,
                                                  const struct bz_run_stats *stats);

/* The index-th of them as text, "woken" or "acquire:woken": windows first, then pairs by operation.
 * False after the last. */
bool bz_require_window_name(const struct bz_require_window *required, unsigned index, char *name,
                            size_t name_bytes);

#endif
