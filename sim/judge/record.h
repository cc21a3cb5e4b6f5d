/* From a run to a trace, and back: recording, replaying, tokens. For every source of events. */
#ifndef BZ_SIM_JUDGE_RECORD_H
#define BZ_SIM_JUDGE_RECORD_H

#include "sim/choice/tape.h"
#include "sim/judge/judge.h"
#include "traces/lack.h"
#include "traces/trace.h"

BZ_BEGIN_DECLS

/* --- recording -------------------------------------------------------------------------------- */
/* Record light, replay heavy: a campaign keeps only the tape and the digest of a run. The same tape
 * is run again with full recording, and must give the same run. */

/* The data that is kept of a run that is to be recorded. */
struct bz_kept_run {
    uint64_t seed;
    uint64_t digest;
    uint32_t steps;
    struct bz_violation violation;
    struct bz_tape tape;
};

/* Keeps the run that the judge has just made. The caller releases it. */
void bz_judge_keep(const struct bz_judge *judge, struct bz_kept_run *run);
void bz_kept_run_fini(struct bz_kept_run *run);

#define BZ_REPLAY_TEXT_BYTES 320u

enum bz_replay_result {
    BZ_REPLAY_MATCHED = 0,  /* same events, same verdict, same digest */
    BZ_REPLAY_DIVERGED = 1, /* see step, expected, got */
};

struct bz_replay_report {
    char lack[BZ_LACK_BYTES]; /* not empty: this ran out, and nothing below is valid */
    enum bz_replay_result result;
    uint32_t step;
    char expected[BZ_REPLAY_TEXT_BYTES];
    char got[BZ_REPLAY_TEXT_BYTES];
    struct bz_violation violation;            /* of the replayed run; oracle NULL: it passed */
    char object[BZ_TRACE_NAME_BYTES_MAX + 1]; /* the name of its object; empty: there is none */
    uint64_t digest;
    uint32_t steps;
    enum bz_run_end end; /* BZ_RUN_OUT_OF_STEPS: cut short, so that no violation proves nothing */
    /* Of a lenient replay: the choices of the trace, and how many were made as they stand. If some
     * were not, `step`, `expected` and `got` are about the first. */
    size_t choices;
    size_t choices_made;
};

/* True if the run has no verdict, because it did not come to its end. */
static inline bool bz_replay_is_cut(const struct bz_replay_report *report) {
    return report->violation.oracle == NULL && report->end != BZ_RUN_PASSED;
}

/* The result of the run: the oracle, "pass", or "cut short by its step limit". */
const char *bz_replay_verdict(const struct bz_replay_report *report);

/* Runs the tape of a run that was kept (`run` NULL: of the last run), and fills `trace`, which is
 * empty but for its header. If the two runs differ, the program is not deterministic: the report
 * says where, and the verdict of the trace is a violation of `nondeterminism`. A trace without a
 * header gets one that names the judge's program, variant and settings. If memory runs out,
 * report->lack says so, and the trace is void. */
void bz_judge_record(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_kept_run *run, struct bz_trace *trace,
                     struct bz_replay_report *report);

/* --- replaying -------------------------------------------------------------------------------- */

/* Replays a trace strictly: every choice comes from it, and the run stops at the first choice that
 * does not fit and at the first event that differs. False with a message if the trace makes no
 * sense, the source breaks a rule (bz_judge_error()), or memory runs out (report->lack). */
bool bz_judge_replay(struct bz_judge *judge, const struct bz_source *source,
                     const struct bz_trace *trace, struct bz_replay_report *report, char *error,
                     size_t error_bytes);

/* Why a run is no longer the one that was recorded. */
enum bz_cause {
    BZ_CAUSE_UNKNOWN = 0,
    BZ_CAUSE_VERSION = 1, /* another version recorded it */
    BZ_CAUSE_EDITED = 2,  /* the file is not as it was written */
    BZ_CAUSE_CODE = 3,    /* neither: the code has changed, or the choices do not decide alone */
};

/* "unknown", "version", "edited", "code". */
const char *bz_cause_name(enum bz_cause cause);

#define BZ_CAUSE_BYTES 400u

/* For a trace whose replay diverged, and for a token whose run has another digest. Writes a clause
 * for people, cut to fit, with '?' for what is not printable. */
struct bz_token;
enum bz_cause bz_trace_cause(const struct bz_trace *trace, char *text, size_t text_bytes);
enum bz_cause bz_token_cause(const struct bz_token *token, char *text, size_t text_bytes);

/* The name and the version of this program, "buzzer 0.1.0"; its version alone, "0.1.0". */
const char *bz_engine(void);
const char *bz_engine_version(void);

/* Replays its choices leniently, on a program that may be another one: a choice that does not fit
 * is the default one, and nothing is compared. Records what happens into `record`, as above. The
 * report counts the choices that fit. */
bool bz_judge_replay_lenient(struct bz_judge *judge, const struct bz_source *source,
                             const struct bz_trace *trace, struct bz_trace *record,
                             struct bz_replay_report *report, char *error, size_t error_bytes);

/* The choices of a trace as a tape, which is emptied first. Tasks that the trace does not list get
 * numbers that no run has, at most BZ_TRACE_STRANGERS_MAX of them. False with a message if a choice
 * makes no sense. `tape` keeps pointers to the labels, so the trace must outlive it. */
#define BZ_TRACE_STRANGERS_MAX 256u
bool bz_trace_to_tape(const struct bz_trace *trace, struct bz_tape *tape, char *error,
                      size_t error_bytes);

/* --- the recorder ----------------------------------------------------------------------------- */

/* Keeps all events of the judge's next run, up to BZ_TRACE_EVENTS_MAX + 1. The sink goes into
 * struct bz_run_start. The events lie in the judge's memory, so they are there even if the process
 * that made the run is not. */
struct bz_event_sink *bz_judge_log_events(struct bz_judge *judge);

/* Hands the events that were kept to another sink. */
void bz_judge_log_replay(const struct bz_judge *judge, struct bz_event_sink *sink);

struct bz_recorder {
    struct bz_event_sink sink; /* first: goes into struct bz_run_start */
    const struct bz_judge *judge;
    struct bz_trace *trace;
    /* Called with each event instead of storing it, if not NULL: a replay compares here. */
    void (*on_event)(struct bz_recorder *recorder, const struct bz_trace_event *event);
    void *context;
    bool is_full; /* a limit of traces was hit; what came after it was dropped */
};

/* Prepares a recorder that fills `trace` (empty; tasks, events). Names and messages are made fit
 * for a trace: cut to its limits, and no control characters. */
void bz_recorder_init(struct bz_recorder *recorder, const struct bz_judge *judge,
                      struct bz_trace *trace);

/* The name of a task in the trace: its own, or "name#number" if another one has it already. NULL
 * for the loop (0) and for a task that no trace can list. */
const char *bz_recorder_task(const struct bz_recorder *recorder, uint32_t task);

/* After the run: copies the tape, the verdict, the seed and the digest. */
void bz_recorder_finish(struct bz_recorder *recorder);

/* Makes the violation the verdict of a recording, with this message. */
void bz_trace_overrule(struct bz_trace *trace, const struct bz_violation *violation,
                       const char *text);

/* Makes the verdict of a recording that does not confirm what it was made for: the violation that
 * the run with `digest` had, and that there was none such this time. */
void bz_trace_contradict(struct bz_trace *trace, const struct bz_violation *violation,
                         uint64_t digest);

/* --- tokens ----------------------------------------------------------------------------------- */
/* A token names a run in one word: PROGRAM:VARIANT:STRATEGY:SEED[:name=value,...]#DIGEST@VERSION.
 * The version says who printed it. It may be left out, as older programs do; they read a token that
 * is cut off before the '@'. */

#define BZ_TOKEN_BYTES 1024u
#define BZ_DIGEST_DIGITS 16u /* hexadecimal */
#define BZ_VERSION_BYTES 32u /* of a version, with its NUL: a-z, A-Z, 0-9, '.', '-', '_', '+' */

struct bz_token {
    char text[BZ_TOKEN_BYTES]; /* in which the parts lie */
    const char *program;
    const char *variant;
    const char *strategy;
    const char *settings; /* "name=value,name=value"; NULL: none */
    const char *version;  /* NULL: none is named */
    uint64_t seed;
    uint64_t digest;
};

/* True if the text has the form of a token, and not that of a file's name. */
bool bz_token_looks_like(const char *text);

/* Splits a token. False with a message. */
bool bz_token_split(struct bz_token *token, const char *text, char *error, size_t error_bytes);

/* The token of the run that the judge has just made, cut to fit; returns `buffer`. It has those
 * settings of the judge that are not as `buzzer run` has them: order any, cancel any, max-cancels
 * 2, max-steps 100000, starvation-bound 64, max-lag 99ms. A source with other settings names them
 * in the configuration's `variant`. */
const char *bz_judge_token(const struct bz_judge *judge, char *buffer, size_t size_bytes);

/* Appends "#DIGEST@VERSION", this program's, cut to fit; returns `buffer`. */
const char *bz_token_end(uint64_t digest, char *buffer, size_t size_bytes);

/* Windows as text: "any", "none", or their names with the separator between them. */
void bz_windows_text(uint32_t windows, char separator, char *text, size_t bytes);

/* A bound on lag as text, and back: "100ms", "40us", "0", or "any" (BZ_LAG_MAX_ANY_NS). */
#define BZ_LAG_BYTES 32u
const char *bz_lag_text(uint64_t lag_max_ns, char buffer[BZ_LAG_BYTES]);
bool bz_parse_lag(const char *text, uint64_t *lag_max_ns);

/* Whole text to number: decimal or 0x hexadecimal, 64 bits. False if it is anything else. */
bool bz_parse_u64(const char *text, uint64_t *value);

/* Likewise BZ_DIGEST_DIGITS hexadecimal digits. */
bool bz_parse_digest(const char *text, uint64_t *digest);

BZ_END_DECLS

#endif
