/* The report of `buzzer run` for people. Apart from the time it took, which goes to stderr, the
 * text depends on the program and the seeds alone. */
#ifndef BZ_TOOLS_RUN_REPORT_H
#define BZ_TOOLS_RUN_REPORT_H

#include <stdbool.h>

#include "tools/report_json.h"

/* The seed and every setting, before anything runs. */
void bz_run_report_print_head(const struct bz_run_report *report);

/* The scenario, the variant and every setting. */
void bz_run_report_print_program(const struct bz_program *program);

/* A finding, and whether a plain FIFO loop gets there. */
void bz_run_report_print_finding(const struct bz_kept_finding *finding,
                                 const struct bz_variant *variant);

/* What came of it. `is_quiet`: findings alone. */
void bz_run_report_print(const struct bz_run_report *report, bool is_quiet);

#endif
