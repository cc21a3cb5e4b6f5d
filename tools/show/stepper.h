/* `replay --step` on a terminal: a run that can be walked in both directions, and changed.
 *
 * A run takes microseconds, so nothing is stored: to go to step n, the stepper makes the choices
 * again and stops there. To choose another handle, or a cancel, it changes the list of choices at
 * that step and makes the run once more. */
#ifndef BZ_TOOLS_SHOW_STEPPER_H
#define BZ_TOOLS_SHOW_STEPPER_H

#include "tools/cli/run_argument.h"

/* Steps through the run until the user leaves. The terminal must be there (screen.h). An exit code:
 * BZ_EXIT_OK, or another one after a message. */
int bz_stepper_run(const char *name, const struct bz_named_run *run);

#endif
