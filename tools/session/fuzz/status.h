/* The status of a long campaign: a text of 80 columns, a JSON document, and one HTML file that
 * loads nothing from elsewhere. The keys of the document are a contract, see README.md. */
#ifndef BZ_TOOLS_SESSION_FUZZ_STATUS_H
#define BZ_TOOLS_SESSION_FUZZ_STATUS_H

#include "sim/fuzz/state.h"
#include "tools/report/text_output.h"
#include "traces/json.h"

struct bz_fuzz_status {
    const struct bz_fuzz *fuzz;
    const struct bz_fuzz_order *order; /* with the time spent */
    const char *state;                 /* "running", "done", "interrupted" */
    uint64_t session_ms;               /* of it, in this session */
    uint64_t session_runs;
    uint64_t examples; /* traces in the corpus */
};

/* `has_times` false: without what the clock says, so that it depends on the campaign alone. */
void bz_fuzz_status_text(const struct bz_fuzz_status *status, bool has_times, struct bz_text *text);

struct bz_json *bz_fuzz_status_json(const struct bz_fuzz_status *status);

void bz_fuzz_status_html(const struct bz_fuzz_status *status, struct bz_text *text);

/* --- shared by the three */

#define BZ_COUNT_BYTES 48u
#define BZ_WORDS_BYTES 160u

/* A number in at most 6 columns: "987654", "12.3M". Returns `text`. */
const char *bz_fuzz_count_text(uint64_t count, char *text);

/* A time: "3 d 4 h", "2 h 05 min", "7 min 30 s", "12 s". Returns `text`. */
const char *bz_fuzz_time_text(uint64_t ms, char *text);

/* Runs a second in this session. */
uint64_t bz_fuzz_rate(const struct bz_fuzz_status *status);

/* Whether a cancel may strike there: the window exists for the operation, and the program of the
 * target has that operation. */
bool bz_fuzz_may_strike(const struct bz_fuzz_target *target, unsigned op, unsigned window);

/* The index-th pair of an operation and a window that may be struck and never was, as
 * "acquire:woken". False after the last. */
bool bz_fuzz_missed(const struct bz_fuzz_target *target, uint32_t index, char *words);

/* Where a finding struck, in words: "lost-wakeup, in acquire while woken". Returns `words`. */
const char *bz_fuzz_finding_words(const struct bz_fuzz_finding *finding, char *words);

#endif
