/* The findings of a campaign: each is recorded in full, with its token, and written to a file on
 * request. */
#ifndef BZ_TOOLS_SESSION_FINDINGS_H
#define BZ_TOOLS_SESSION_FINDINGS_H

#include <limits.h>

#include "sim/program/replay.h"
#include "sim/program/token.h"
#include "sim/session/campaign.h"
#include "sim/session/witness.h"
#include "sim/shrink/shrink.h"
#include "traces/trace.h"

struct bz_parse;

/* Whether a FIFO loop can reach a finding: searched for those under the order `any`. */
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

/* How far a finding is shrunk, and how far its witness is searched: options of commands. */
struct bz_search_limits {
    uint64_t steps;   /* 0: sim/program/budget.h */
    uint64_t seconds; /* 0: BZ_SEARCH_SECONDS */
};
#define BZ_SEARCH_SECONDS 60u
#define BZ_SEARCH_OPTIONS(type, member)                                                            \
    {"shrink-steps",                                                                               \
     "N",                                                                                          \
     "Steps that may be spent on the smallest run that fails as a finding does, and as many on "   \
     "its FIFO witness (as many as take about 10 s)",                                              \
     BZ_OPTION_NUMBER,                                                                             \
     offsetof(type, member.steps),                                                                 \
     .is_once = true,                                                                              \
     .least = 1,                                                                                   \
     .most = UINT64_MAX},                                                                          \
    {                                                                                              \
        "shrink-time", "TIME",                                                                     \
            "Stop either search after this time; what is found until then depends on the machine " \
            "(60s)",                                                                               \
            BZ_OPTION_PARSED, offsetof(type, member), .is_once = true,                             \
                                                      .parse = bz_search_limits_parse_time         \
    }
void bz_search_limits_parse_time(struct bz_parse *state, void *target, const char *option,
                                 char *text);

struct bz_kept_findings {
    struct bz_kept_finding items[BZ_FINDINGS_MAX];
    uint32_t count;
    struct bz_search_limits limits;
    bool is_quiet; /* it shows no progress */
};

/* Creates the folder and its parents, and checks that files can be created in it. Returns an exit
 * code, after a message unless it is BZ_EXIT_OK. */
int bz_findings_prepare_folder(const char *name, const char *folder);

/* Creates a folder with all above it. True if it is there already; false with errno. */
bool bz_findings_make_folders(const char *folder);

/* Takes a lock of the folder, against campaigns that write into it at the same time. The caller
 * closes the descriptor; -1: there is no lock. */
int bz_findings_lock_folder(const char *folder);

/* SCENARIO_VARIANT_SEED.json in the folder. `kind` comes after the seed: "", "-shrunk", "-fifo".
 * `number` above 1: with -2, -3, ... */
void bz_findings_path(const char *scenario, const char *variant, uint64_t seed, const char *kind,
                      const char *folder, unsigned number, char path[PATH_MAX]);

/* Writes a trace under the first such name that is free or has the same content. A lock keeps
 * concurrent campaigns from choosing the same one; without a lock, the trace is written anyway.
 * Returns an exit code likewise; not BZ_EXIT_OK: `path` is empty. */
int bz_findings_write_trace(const char *name, const struct bz_trace *trace, uint64_t seed,
                            const char *kind, const char *folder, char path[PATH_MAX]);

/* Records a finding as the `place`-th of `kept`, which grows by one or replaces an earlier one.
 * Writes a file unless `folder` is NULL; an existing file with other content is kept, and the name
 * gets a number. Returns an exit code likewise. */
int bz_findings_keep(struct bz_kept_findings *kept, uint32_t place, const char *name,
                     const struct bz_program *program, const struct bz_finding *finding,
                     const char *folder);

/* Says on stderr what the `place`-th is, before anything is searched for it. */
void bz_findings_announce(const struct bz_kept_findings *kept, uint32_t place, const char *name);

/* Shows on `context`, a struct bz_progress, how far shrinking is: bz_shrink_config.on_progress. */
void bz_findings_show_shrinking(void *context, uint64_t runs, const struct bz_shrink_size *best);

/* Searches the smallest run that fails as the `place`-th does, and keeps its trace beside the
 * other. A finding that cannot be shrunk stays as it is. Returns an exit code likewise. */
int bz_findings_shrink(struct bz_kept_findings *kept, uint32_t place, const char *name,
                       const char *folder);

/* Searches a FIFO witness for the `place`-th, unless an earlier one fails in the same way: first in
 * the program of the smallest run, whose runs cost least, and then in its own. Shrinks it if
 * `shrinks`, and keeps its trace in the folder, if any. Returns an exit code likewise. */
int bz_findings_search_witness(struct bz_kept_findings *kept, uint32_t place, const char *name,
                               bool shrinks, const char *folder);

/* When a campaign has ended: takes over the counts of the findings, shrinks them, and searches
 * witnesses. `merges`: makes one finding of those whose smallest runs are the same run and violate
 * the same oracle; the first one has the counts of all, and the traces of all stay. Returns the
 * worst exit code. */
int bz_findings_finish(struct bz_kept_findings *kept, const struct bz_campaign_result *result,
                       const char *name, const char *folder, bool shrinks, bool merges);

/* Records a run that the step limit cuts into an empty `cut`, with its token. The token stays empty
 * if that is not what the run does again, or if memory runs out. */
void bz_findings_keep_cut(struct bz_kept_finding *cut, const struct bz_program *program,
                          uint64_t seed);

/* Releases what it owns. */
void bz_findings_drop(struct bz_kept_finding *item);

/* Forgets the last one. */
void bz_findings_drop_last(struct bz_kept_findings *kept);

void bz_findings_fini(struct bz_kept_findings *kept);

#endif
