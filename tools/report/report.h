/* The report of `buzzer run`, and parts that other reports share. Everything on stdout depends on
 * the program and the seeds alone; times go to stderr. The keys of JSON documents are a contract,
 * see README.md. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/session/findings.h"
#include "sim/session/job.h"
#include "tools/cli/require_window.h"
#include "tools/report/text_output.h"
#include "tools/report/warnings.h"
#include "traces/json.h"

struct bz_run_report {
    const struct bz_job *job;
    const struct bz_campaign_result *result;
    const struct bz_kept_findings *findings;
    const struct bz_kept_finding
        *cut; /* the first run that was cut; without a token: none is shown */
    double seconds;
    bool is_stopped;         /* by a signal, or because something ran out */
    bool is_time_up;         /* --time ended it */
    const char *why_stopped; /* in words; NULL: it was interrupted */
    struct bz_missed missed; /* required windows */
    struct bz_warnings warnings;
    uint64_t stored_failed; /* traces that were tried before: no part of the campaign */
    bool is_strict;         /* warnings make it fail */
    int exit_code;
};

/* --- for people */

/* Printed before the first run: the seed and every setting. */
void bz_run_report_print_head(const struct bz_run_report *report);

/* The scenario, the variant and every setting. */
void bz_run_report_print_program(const struct bz_program *program);

/* A finding, and whether a FIFO loop can reach it. */
void bz_run_report_print_finding(FILE *out, const struct bz_kept_finding *finding,
                                 const struct bz_variant *variant);

/* Why the campaign proved nothing, in a line or more, if it did not. Also for quiet campaigns. */
void bz_run_report_print_why(FILE *out, const struct bz_run_report *report);

/* Adds the windows in which cancels struck the operation: "waiting=3 woken=1"; nothing if none did.
 */
void bz_run_report_add_windows(struct bz_text *text, const struct bz_run_stats *stats, unsigned op);

/* Prints them for every operation. */
void bz_run_report_print_windows(const struct bz_run_stats *stats);

/* Printed at the end. `is_quiet`: findings alone. */
void bz_run_report_print(const struct bz_run_report *report, bool is_quiet);

/* The cause that ended the campaign: "runs", "time", "violation", "step-limit" (the first runs were
 * all cut), "complete" (no run offers a choice), "interrupted", "no-resource", "stored-trace" (one
 * failed, and the campaign was not begun). */
const char *bz_run_report_end(const struct bz_run_report *report);
/* The exit status of the command, as far as the result decides it. */
int bz_run_report_exit_code(const struct bz_run_report *report);

/* --- JSON */

/* Adds the members of the document of `run --json`. */
void bz_run_report_add_json(struct bz_json *root, const struct bz_run_report *report);

/* Adds the scenario, variant, strategy, order and other settings. */
void bz_json_add_program(struct bz_json *object, const struct bz_program *program);

/* Adds the cancels by operation and window. */
void bz_json_add_windows(struct bz_json *object, const struct bz_run_stats *stats);

/* Adds the result of a replay. */
void bz_json_add_replay(struct bz_json *object, const struct bz_replay_report *report);

/* Adds how large a run is. */
void bz_json_add_size(struct bz_json *object, const struct bz_shrink_size *size);

/* Adds why it diverged: `cause`, `cause_text`. */
void bz_json_add_cause(struct bz_json *object, enum bz_cause cause, const char *text);

/* Adds a finding. True if the variant declares it. */
bool bz_json_add_violation(struct bz_json *item, const struct bz_kept_finding *finding,
                           const struct bz_variant *variant);

/* Adds a number, cut to what JSON can have; null if it is not known, or unlimited. */
void bz_json_add_known(struct bz_json *object, const char *key, bool is_known, uint64_t number);

/* Adds a text; null if it is empty. */
void bz_json_add_text(struct bz_json *object, const char *key, const char *text);

/* Adds a digest as 16 digits. */
void bz_json_add_digest(struct bz_json *object, const char *key, uint64_t digest);

/* True if somebody reads a document: `is_json`, by --json, or the caller of the program. */
bool bz_json_is_wanted(bool is_json);

/* Prints the document to stdout, or passes it to the caller of the program, and frees it. */
void bz_json_put(struct bz_json *root);
