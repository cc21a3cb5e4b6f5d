/* The report of `buzzer explore`, as text and as JSON. Times go to stderr; everything else depends
 * on the program and the bounds alone. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/explore/explore.h"
#include "sim/session/findings.h"

struct bz_explore_report {
    const struct bz_program *program;
    const struct bz_explore_config *config;
    const struct bz_explore_result *result;
    const struct bz_kept_findings *findings; /* in the order of the result's */
    double seconds;
    int exit_code;
};

/* Printed before the search. */
void bz_explore_report_print_head(const struct bz_explore_report *report);

/* Printed after each round, or after the sweep. */
void bz_explore_report_print_round(const struct bz_explore_result *result, bool is_sweep);

/* Printed at the end. */
void bz_explore_report_print(const struct bz_explore_report *report, bool is_quiet);

/* The part that is proved, in a line or more. */
void bz_explore_report_print_conclusion(FILE *out, const struct bz_explore_report *report);

/* Says on stderr if a complete search has tested nothing: no operation ever waited. */
void bz_explore_report_warn(const struct bz_explore_report *report);

/* The document of `explore --json`; the caller frees it. */
struct bz_json *bz_explore_report_json(const struct bz_explore_report *report);
