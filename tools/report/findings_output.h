/* The output of commands that keep findings: what is found, how far shrinking is, and what went
 * wrong. All of it goes to stderr. */
#pragma once

#include "sim/session/findings.h"
#include "tools/cli/progress.h"
#include "tools/report/text_output.h"

/* Options of commands: how far a finding is shrunk. */
#define BZ_SEARCH_OPTIONS(type, member)                                                            \
    {"shrink-steps",                                                                               \
     "N",                                                                                          \
     "Steps that may be spent on the smallest run that fails as a finding does, and as many on "   \
     "its FIFO witness (as many as take about 10 s)",                                              \
     BZ_OPTION_NUMBER,                                                                             \
     offsetof(type, member.steps),                                                                 \
     .least = 1,                                                                                   \
     .most = UINT64_MAX},                                                                          \
    {                                                                                              \
        "shrink-time", "TIME",                                                                     \
            "Stop either search after this time; what is found until then depends on the machine " \
            "(60s)",                                                                               \
            BZ_OPTION_SECONDS, offsetof(type, member.seconds)                                      \
    }

struct bz_findings_output {
    bool is_quiet; /* no progress, and no announcement */
    int lack_code; /* of something that ran out; 0: BZ_EXIT_INTERNAL, as bz_cli_fail() has it */
    int code;      /* the worst exit code so far */
    bool is_shown; /* the progress has begun */
    struct bz_progress progress;
};

/* The output becomes that of the findings. */
bz_trouble_fn bz_findings_output_on_trouble; /* with the output as its context */
void bz_findings_output_begin(struct bz_findings_output *output, struct bz_kept_findings *kept);

/* Prints a message, and returns the exit code, which counts as well; BZ_EXIT_OK and no message for
 * BZ_TROUBLE_NONE. */
int bz_findings_output_trouble(struct bz_findings_output *output, enum bz_trouble trouble,
                               const char *message);

/* Says what the `place`-th is, before anything is searched for it. */
void bz_findings_announce(const struct bz_findings_output *output,
                          const struct bz_kept_findings *kept, uint32_t place);

/* Prints the command that continues from a place, to stderr: with `more` options behind it, and the
 * limits of code that is contained. */
void bz_findings_print_resume(const char *command, const char *place, const struct bz_text *more);

/* Shows on `context`, a struct bz_findings_output, how far shrinking is. */
bz_shrink_progress_fn bz_findings_show_shrinking;
