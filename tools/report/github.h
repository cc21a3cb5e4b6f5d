/* The output for GitHub Actions: annotations, and a part of the job summary. */
#ifndef BZ_TOOLS_REPORT_GITHUB_H
#define BZ_TOOLS_REPORT_GITHUB_H

#include "tools/report/outcome.h"

/* GitHub shows ten annotations of a type for each step, and 1 MiB of summary. */
#define BZ_GITHUB_ANNOTATIONS_MAX 10u
#define BZ_GITHUB_SUMMARY_BYTES_MAX 1000000u

/* Lines "::error title=...::...", one for each case that did not pass, and "::warning" for each
 * warning. Of more than BZ_GITHUB_ANNOTATIONS_MAX errors, the last line says how many are left out.
 */
void bz_github_add_annotations(struct bz_text *out, const struct bz_outcome *outcome);

/* Markdown: the verdict, the cases that did not pass, windows, counts, and of each finding its
 * diagram, its story and its command. Findings that do not fit into `bytes_max` are left out. */
void bz_github_add_summary(struct bz_text *out, const struct bz_outcome *outcome, size_t bytes_max);

#endif
