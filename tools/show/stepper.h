/* `replay --step` on a terminal: a run that can be walked in both directions, and changed.
 *
 * A run takes microseconds, so nothing is stored: to go to step n, the stepper makes the choices
 * again up to there, and lists the handles that can be next. To choose another handle, or a cancel,
 * it changes the list of choices at that step and makes the run once more. */
#pragma once

#include "tools/cli/run_argument.h"

/* Steps through the run until the user leaves. An exit code: BZ_EXIT_OK, or another one after a
 * message. */
typedef int bz_stepper_fn(const struct bz_named_run *run);
bz_stepper_fn bz_stepper_run;

/* The function that `replay --step` calls; NULL: this program has no stepper, because it was built
 * without ncurses, or is the program of somebody's test. Set before bz_cli_main(). */
extern bz_stepper_fn *bz_stepper;
