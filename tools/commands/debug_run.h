/* One run under a debugger: `replay --gdb`, and `replay --once`, which gdb starts.
 *
 * `--gdb` writes the trace of the run to a temporary file if it is a token, and a script for gdb,
 * and runs gdb on this program with `--once`. That makes one run and no other, in one process, and
 * calls bz_debug_step() before the step where gdb is to stop. No campaign comes here. */
#pragma once

#include <stdint.h>

#include "tools/cli/run_argument.h"

/* Makes the run of the trace in this process, whatever its variant is, and stops before `stop_step`
 * (0: before the set-up). Prints how it ended. An exit code. */
int bz_debug_once(const struct bz_named_run *run, uint64_t stop_step);

/* Runs gdb on it. `run` was loaded for `variant` (NULL: the recorded one), and `verdict` is that of
 * its replay. BZ_EXIT_OK when gdb has ended, whatever was done there. */
int bz_debug_gdb(const struct bz_named_run *run, const char *variant, uint64_t stop_step);

/* Where gdb stops. tools/gdb/ has the commands that it gets. */
void bz_debug_step(uint32_t step);
