/* The findings of a campaign: each recorded in full, with its token, and kept as a file if wanted.
 */
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
    char token[BZ_TOKEN_BYTES];
    char path[PATH_MAX]; /* of the trace; empty: not written */
    /* Whether a plain FIFO loop gets there, too: searched when the finding is one under `any`. */
    bool fifo_is_searched;
    char fifo_token[BZ_TOKEN_BYTES]; /* empty: no witness was found */
};

struct bz_kept_findings {
    struct bz_kept_finding items[BZ_FINDINGS_MAX];
    uint32_t count;
};

/* Creates the folder, if need be with those above it, and makes sure that files can be created in
 * it. An exit code, not BZ_EXIT_OK after a message. */
int bz_findings_prepare_folder(const char *name, const char *folder);

/* Records one more finding of a program in `kept`, which has room for BZ_FINDINGS_MAX. `folder`
 * NULL: writes no file. A file of the same name and other content is left alone, and a number is
 * added to the name. An interrupt ends the search for a witness. Likewise. */
int bz_findings_add(struct bz_kept_findings *kept, const char *name,
                    const struct bz_program *program, const struct bz_finding *finding,
                    const char *folder);

void bz_findings_fini(struct bz_kept_findings *kept);

#endif
