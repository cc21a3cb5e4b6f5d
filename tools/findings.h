/* The findings of a campaign: each is recorded in full, with its token, and written to a file on
 * request. */
#ifndef BZ_TOOLS_FINDINGS_H
#define BZ_TOOLS_FINDINGS_H

#include <limits.h>

#include "sim/run/campaign.h"
#include "sim/run/replay.h"
#include "sim/run/token.h"
#include "sim/run/witness.h"
#include "traces/trace.h"

struct bz_kept_finding {
    struct bz_trace trace;
    const char *oracle;
    char token[BZ_TOKEN_BYTES];
    char path[PATH_MAX]; /* of the trace; empty: no file */
    /* Whether a FIFO loop can reach it: searched for findings under the order `any`. */
    bool fifo_is_searched;
    char fifo_token[BZ_TOKEN_BYTES]; /* empty: no witness was found */
};

struct bz_kept_findings {
    struct bz_kept_finding items[BZ_FINDINGS_MAX];
    uint32_t count;
};

/* Creates the folder and its parents, and checks that files can be created in it. Returns an exit
 * code, after a message unless it is BZ_EXIT_OK. */
int bz_findings_prepare_folder(const char *name, const char *folder);

/* Records one more finding in `kept`, which holds at most BZ_FINDINGS_MAX, and searches a witness
 * unless one was searched for an earlier finding of the same oracle.
 * Writes a file unless `folder` is NULL; an existing file with other content is kept, and the name
 * gets a number. Returns an exit code likewise. */
int bz_findings_add(struct bz_kept_findings *kept, const char *name,
                    const struct bz_program *program, const struct bz_finding *finding,
                    const char *folder);

void bz_findings_fini(struct bz_kept_findings *kept);

#endif
