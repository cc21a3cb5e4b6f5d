/* The result of a command, as a suite of cases: the input of the formats for pipelines.
 *
 * run, explore and corpus make one outcome at their end (cases.h). junit.c and github.c write it
 * down. So a format knows no campaign, and a command knows no format.
 *
 * Names and messages are hostile: each format escapes them. Without memory, functions call
 * bz_lack_stop() (traces/lack.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tools/report/text_output.h"
#include "traces/trace.h"

enum bz_case_result {
    BZ_CASE_PASSED,
    BZ_CASE_FAILED,  /* a property is violated */
    BZ_CASE_ERROR,   /* nothing was proved: interrupted, out of something, bad input */
    BZ_CASE_SKIPPED, /* it does not apply */
};

/* A text below is empty if there is none; bz_outcome_text() reads it. */
struct bz_case {
    enum bz_case_result result;
    struct bz_text name; /* the same in every campaign that has the same case: no seed, no count */
    char type[BZ_TRACE_NAME_BYTES_MAX + 1]; /* an oracle, or how it ended: "incomplete" */
    struct bz_text message;                 /* one line */
    struct bz_text story;                   /* lines: what led to it */
    struct bz_text command;                 /* that shows it again */
    struct bz_text picture;                 /* Mermaid */
    struct bz_text trace;                   /* the path of a file */
    struct bz_text file;                    /* of the program, with `line`, if the trace has it */
    uint64_t line;
};

#define BZ_PROPERTY_NAME_BYTES 64u /* longer names are cut */

struct bz_property {
    char name[BZ_PROPERTY_NAME_BYTES];
    struct bz_text value;
};

#define BZ_OUTCOME_PROPERTIES_MAX 128u

struct bz_outcome {
    const char *command;  /* "run" */
    struct bz_text suite; /* "contended" */
    struct bz_text title; /* what is tested: "buzzer order=fifo" */
    struct bz_property properties[BZ_OUTCOME_PROPERTIES_MAX];
    size_t property_count;
    struct bz_case **cases; /* the first one is that of the whole */
    size_t case_count;
    size_t case_capacity;
    struct bz_text warnings; /* a line for each */
    double seconds;
};

void bz_outcome_init(struct bz_outcome *outcome, const char *command);
void bz_outcome_fini(struct bz_outcome *outcome);

const char *bz_outcome_text(const struct bz_text *text);

/* Further ones than BZ_OUTCOME_PROPERTIES_MAX are left out. */
void bz_outcome_property(struct bz_outcome *outcome, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a case. It belongs to the outcome, and stays where it is; the type is copied. */
struct bz_case *bz_outcome_case(struct bz_outcome *outcome, enum bz_case_result result,
                                const char *type);

/* Adds " #2" to the name if an earlier case has it: readers take equal names for one case. */
void bz_outcome_distinguish(const struct bz_outcome *outcome, struct bz_case *one);

/* How many cases have this result. */
size_t bz_outcome_count(const struct bz_outcome *outcome, enum bz_case_result result);

/* --- the formats ------------------------------------------------------------------------------ */

/* JUnit's XML (junit.c). */
void bz_junit_add(struct bz_text *out, const struct bz_outcome *outcome);

/* GitHub shows ten annotations of a type for each step, and 1 MiB of summary. */
#define BZ_GITHUB_ANNOTATIONS_MAX 10u
#define BZ_GITHUB_SUMMARY_BYTES_MAX 1000000u

/* For GitHub Actions: lines "::error title=...::...", one for each case that did not pass, and
 * "::warning" for each warning. Of more than BZ_GITHUB_ANNOTATIONS_MAX errors, the last line says
 * how many are left out. */
void bz_github_add_annotations(struct bz_text *out, const struct bz_outcome *outcome);

/* A part of the job summary, Markdown: the verdict, the cases that did not pass, windows, counts,
 * and of each finding its diagram, its story and its command. Findings that do not fit into
 * `bytes_max` are left out. */
void bz_github_add_summary(struct bz_text *out, const struct bz_outcome *outcome, size_t bytes_max);
