/* The explanation of a run that fails: the smallest run that fails in the same way, the cancel
 * that matters, which choices are essential, when it was lost, what passes beside it, and which
 * fault of the zoo it resembles. */
#pragma once

#include "sim/judge/record.h"
#include "sim/shrink/shrink.h"
#include "sim/shrink/why.h"
#include "tools/cli/run_argument.h"
#include "tools/story/story.h"

#define BZ_RESEMBLES_MAX 3u

struct bz_explanation {
    const struct bz_named_run *run;
    struct bz_shrink_result shrunk;
    struct bz_trace trace;      /* of the smallest run */
    struct bz_story story;      /* of that trace */
    char token[BZ_TOKEN_BYTES]; /* empty: its choices do not fit into one */
    /* The cancel without which it does not fail, or the last one that the violation depends on: a
     * line of the story; BZ_STORY_NONE: it needs none. */
    uint32_t cancel;
    /* Operation and window of that cancel; without one, of the task of the violation. NULL: none */
    const char *operation;
    const char *window;
    /* Of a task that waits at the end: its line, and the last line of another task about the same
     * object. BZ_STORY_NONE: there is none. */
    uint32_t waits;
    uint32_t last_to_act;
    bool has_why;
    const char *why_not; /* the reason, a sentence for people, if it has none; else NULL */
    struct bz_why why;
    /* Entries of the zoo in which these choices fail in the same way: first those with the same
     * events. */
    bool is_program; /* and so does the primitive that ships: then it is no fault of the variant */
    uint32_t resembles_count;
    uint32_t resembles_more;
    struct {
        const struct bz_fault *fault;
        const char *variant;
        bool is_same; /* event by event */
    } resembles[BZ_RESEMBLES_MAX];
};

/* Explains a run that was loaded and violates an oracle. The run must outlive the explanation.
 * Returns an exit code, after a message unless it is BZ_EXIT_OK. Release it in any case. */
int bz_explanation_make(struct bz_explanation *explanation, const struct bz_named_run *run);
void bz_explanation_fini(struct bz_explanation *explanation);

/* Prints it for people, in 80 columns; and as a JSON document. */
void bz_explanation_print(const struct bz_explanation *explanation);
void bz_explanation_print_json(const struct bz_explanation *explanation, int exit_code);
