/* The run that the command line names: by the token of a run, or by the file of a trace. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/program/replay.h"
#include "traces/trace.h"

struct bz_named_run {
    const char *input; /* a token, or the path of a trace */
    bool is_token;
    struct bz_program program;
    struct bz_trace trace;          /* read from the file, or recorded from the token */
    struct bz_replay_report report; /* whether it is the run that was recorded */
};

/* True if `input` is meant as a token, and not as a path. Also true for a token without its digest,
 * so that the message is about the token and not about a missing file. */
bool bz_named_run_is_token(const char *input);

/* Loads the run of `input` and replays it strictly. Returns an exit code, after a
 * message unless it is BZ_EXIT_OK: a run that diverges is no failure, but for the caller to judge
 * (`report`). Release it in any case. */
int bz_named_run_load(struct bz_named_run *run, const char *input);

/* The same without the replay, with another variant in the place of the recorded one, which need
 * not exist: `program` is of that variant, and `report` is not filled. A token names its variant
 * and its run is recorded. */
int bz_named_run_load_for(struct bz_named_run *run, const char *input, const char *variant);

/* The same for a run that must replay and violate an oracle: else there is a message, and the exit
 * code BZ_EXIT_DIVERGED or BZ_EXIT_USAGE. */
int bz_named_run_load_failing(struct bz_named_run *run, const char *input);

/* A trace alone, without any run: reads it and makes its program. A token is refused. */
int bz_named_run_open(struct bz_named_run *run, const char *input, const char *variant);

/* Plays the choices of the run on its program, which may be of another variant, and records that
 * run: `report` is about it. An exit code likewise. */
int bz_named_run_replay_leniently(struct bz_named_run *run, struct bz_trace *record);

void bz_named_run_fini(struct bz_named_run *run);

/* Why the run diverged, as a clause for people: another version, an edited file, or changed code.
 */
enum bz_cause bz_named_run_cause(const struct bz_named_run *run, char *text, size_t text_bytes);

/* The token of the run, or NULL if its seed and strategy lead to another one: the trace was edited,
 * or the strategy has changed. Returns `token`. */
const char *bz_named_run_token(const struct bz_named_run *run, char *token, size_t token_bytes);
