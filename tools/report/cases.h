/* The outcome of each command that a pipeline runs. See outcome.h. */
#pragma once

#include "sim/session/stored_traces.h"
#include "tools/report/ci.h"
#include "tools/report/explore_report.h"
#include "tools/report/outcome.h"
#include "tools/report/report.h"

/* Says that a program is tested: the suite is the scenario, the title "VARIANT" with the settings
 * that are not the default, and so the same for all campaigns of a program. `has_strategy`: also
 * the strategy. An exit code, as bz_ci_rename(). */
int bz_cases_name(const struct bz_ci *ci, const struct bz_program *program, bool has_strategy);

/* Adds to a case the run that violates an oracle: its timeline, its picture and its place. */
void bz_cases_add_run(struct bz_case *one, const struct bz_trace *trace,
                      const struct bz_variant *variant);

/* The outcome of `run`. Fills an empty outcome, which must be released. The last two: traces that
 * were tried first. */
void bz_cases_of_run(struct bz_outcome *outcome, const struct bz_run_report *report,
                     const struct bz_stored *stored, const struct bz_stored *own);

/* Of `explore`. */
void bz_cases_of_explore(struct bz_outcome *outcome, const struct bz_explore_report *report);
