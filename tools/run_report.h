/* The report of `buzzer run` as text. It depends on the program and the seeds alone; times go to
 * stderr. */
#ifndef BZ_TOOLS_RUN_REPORT_H
#define BZ_TOOLS_RUN_REPORT_H

#include <stdbool.h>

#include "tools/report_json.h"

/* Printed before the first run: the seed and every setting. */
void bz_run_report_print_head(const struct bz_run_report *report);

/* The scenario, the variant and every setting. */
void bz_run_report_print_program(const struct bz_program *program);

/* A finding, and whether a FIFO loop can reach it. */
void bz_run_report_print_finding(const struct bz_kept_finding *finding,
                                 const struct bz_variant *variant);

/* Printed at the end. `is_quiet`: findings alone. */
void bz_run_report_print(const struct bz_run_report *report, bool is_quiet);

#endif
