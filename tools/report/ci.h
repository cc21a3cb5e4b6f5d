/* The output for pipelines: --junit FILE and --github.
 *
 *     static const struct bz_option options[] = {..., BZ_CI_OPTIONS(struct run, ci), {NULL}};
 *     code = bz_options_parse(...);
 *     code = bz_ci_begin(&run.ci, code, suite, title);
 *     ... work ...
 *     code = bz_ci_end(&outcome);
 *
 * The file of --junit is there from the beginning, with an error "unfinished": a pipeline that
 * kills the program must not find the result of an earlier one, or none. It is replaced at the end,
 * as a whole. A command that ends between the two, after a message, leaves an error with this
 * message. */
#pragma once

#include <stdbool.h>

#include "tools/cli/options.h"
#include "tools/report/outcome.h"

struct bz_ci {
    const char *junit; /* NULL: none */
    bool is_github;
    bool has_json; /* stdout is for the document */
};

#define BZ_CI_OPTIONS(type, member)                                                                \
    {"junit", "FILE",                                                                              \
     "Write the result as JUnit XML: one case for the whole, and one for each "                    \
     "distinct finding",                                                                           \
     BZ_OPTION_TEXT, offsetof(type, member.junit)},                                                \
    {                                                                                              \
        "github", NULL,                                                                            \
            "For GitHub Actions: print at most 10 annotations, and append tables and "             \
            "diagrams to the job summary, the file $GITHUB_STEP_SUMMARY",                          \
            BZ_OPTION_FLAG, offsetof(type, member.is_github)                                       \
    }

/* True if any output is asked for. */
bool bz_ci_is_wanted(const struct bz_ci *ci);

/* Checks that the files can be written; `ci` must last until the command returns.
 * `code`: of what came before; if it is not BZ_EXIT_OK, it is returned, and the file says why. Else
 * an exit code; not BZ_EXIT_OK after a message on stderr. Suite and title: as known so far; NULL:
 * not yet. */
int bz_ci_begin(const struct bz_ci *ci, int code, const char *suite, const char *title);

/* Says what the work is called, once that is known. Returns an exit code likewise. */
int bz_ci_rename(const char *suite, const char *title);

/* Writes what was asked for. An exit code likewise: what cannot be written hides no other part. */
int bz_ci_end(const struct bz_outcome *outcome);
