/* The findings of a session. Each is recorded in full, with its token, shrunk, and searched for on
 * a FIFO loop; its traces go to a folder. Nothing is printed: the caller gets the results, and
 * sentences of what went wrong. */
#pragma once

#include <limits.h>

#include "sim/campaign/campaign.h"
#include "sim/campaign/witness.h"
#include "sim/program/replay.h"
#include "sim/program/token.h"
#include "sim/session/folder.h"
#include "sim/shrink/shrink.h"
#include "traces/trace.h"

/* The answer to the question whether a FIFO loop can reach a finding, for those under the order
 * `any`. */
struct bz_kept_witness {
    bool is_searched;
    char token[BZ_TOKEN_BYTES]; /* shrunk; empty: none was found */
    uint64_t lag_ns;            /* that it needs */
    char path[PATH_MAX];
    uint64_t runs;           /* without a witness: that were made */
    char end[BZ_LACK_BYTES]; /* likewise: what ended the search before all were; empty */
};

struct bz_kept_finding {
    struct bz_trace trace;
    struct bz_failure failure;
    uint64_t count;            /* runs with this finding; 0: not counted */
    struct bz_program program; /* of its run */
    char token[BZ_TOKEN_BYTES];
    char path[PATH_MAX]; /* of the trace; empty: no file */
    /* The smallest run that fails in the same way; token and path are empty if there is none. */
    struct bz_trace small;
    bool is_interrupted; /* before it was shrunk */
    bool is_shrunk;
    struct bz_program small_program;
    struct bz_shrink_size small_size;
    char small_end[BZ_LACK_BYTES + 128]; /* why it is not smaller */
    char small_token[BZ_TOKEN_BYTES];
    char small_path[PATH_MAX];
    struct bz_kept_witness fifo;
};

/* How far a finding is shrunk, and how far its witness is searched. */
struct bz_search_limits {
    uint64_t steps;   /* 0: sim/program/budget.h */
    uint64_t seconds; /* 0: BZ_SEARCH_SECONDS */
};
#define BZ_SEARCH_SECONDS 60u

/* A search within these limits begins: its budget. bz_time_limit_end() ends it. */
struct bz_budget bz_search_limits_begin(const struct bz_search_limits *limits);

struct bz_kept_findings {
    struct bz_kept_finding items[BZ_FINDINGS_MAX];
    uint32_t count;
    /* Set by the caller: */
    const char *folder; /* of the traces; NULL: no files */
    bool keeps_size;    /* nothing is shrunk */
    struct bz_search_limits limits;
    bz_trouble_fn *on_trouble;           /* the finding itself stands */
    bz_shrink_progress_fn *on_shrinking; /* NULL: never. `best` is NULL when a search has ended */
    void *context;
};

/* Passes a message on to kept->on_trouble(). Returns false. */
bool bz_findings_report(const struct bz_kept_findings *kept, enum bz_trouble trouble,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Records a finding as the `place`-th of `kept`, which grows by one or replaces an earlier one, and
 * writes its trace. An existing file with other content is kept, and the name gets a number. False
 * after on_trouble(). */
bool bz_findings_keep(struct bz_kept_findings *kept, uint32_t place,
                      const struct bz_program *program, const struct bz_finding *finding);

/* Searches the smallest run that fails as the `place`-th does, and keeps its trace beside the
 * other. A finding that cannot be shrunk stays as it is. */
void bz_findings_shrink(struct bz_kept_findings *kept, uint32_t place);

/* Searches a FIFO witness for the `place`-th, unless an earlier one fails in the same way: first in
 * the program of the smallest run, whose runs cost least, and then in its own. Shrinks it, and
 * keeps its trace. */
void bz_findings_search_witness(struct bz_kept_findings *kept, uint32_t place);

/* When a campaign has ended: takes over the counts of the findings, shrinks them, and searches
 * witnesses. `merges`: makes one finding of those whose smallest runs are the same run and violate
 * the same oracle; the first one has the counts of all, and the traces of all stay. */
void bz_findings_finish(struct bz_kept_findings *kept, const struct bz_campaign_result *result,
                        bool merges);

/* Records a run that the step limit cuts into an empty `cut`, with its token. The token stays empty
 * if that is not what the run does again, or if memory runs out. */
void bz_findings_keep_cut(struct bz_kept_finding *cut, const struct bz_program *program,
                          uint64_t seed);

/* Releases what it owns. */
void bz_findings_drop(struct bz_kept_finding *item);

/* Forgets all but the first `count`. */
void bz_findings_truncate(struct bz_kept_findings *kept, uint32_t count);
