/* The folder of a long campaign:
 *
 *     fuzz.state          what --resume needs (sim/fuzz/state.h)
 *     findings/           a trace of each finding, and the smallest run that fails so
 *     corpus/             few short runs that have all situations, as traces: names begin with
 * fuzz- status.txt, .json, .html
 *
 * All files but those of findings are replaced as a whole, so a reader, or a session after a crash,
 * finds them complete. One process at a time has the folder. */
#ifndef BZ_TOOLS_SESSION_FUZZ_FOLDER_H
#define BZ_TOOLS_SESSION_FUZZ_FOLDER_H

#include <limits.h>

#include "sim/fuzz/state.h"
#include "tools/session/findings.h"

struct bz_fuzz_folder {
    const char *name; /* for messages */
    char path[PATH_MAX];
    int lock;             /* -1: none */
    uint64_t began_ns;    /* this session */
    uint64_t before_ms;   /* spent in earlier ones */
    uint64_t runs_before; /* made in earlier ones */
    uint64_t state_due_ns, status_due_ns, corpus_due_ns;
    uint64_t examples; /* traces in the corpus */
    bool has_failed;   /* the last write of a file did not succeed */
};

/* Creates the folder of a new campaign. One that has a campaign is refused. Returns an exit code,
 * after a message unless it is BZ_EXIT_OK. */
int bz_fuzz_folder_create(struct bz_fuzz_folder *folder, const char *path);

/* Opens that of --resume and reads its state. Returns an exit code likewise. */
int bz_fuzz_folder_open(struct bz_fuzz_folder *folder, const char *path, struct bz_fuzz *fuzz,
                        struct bz_fuzz_order *order);

/* The time spent in all sessions. */
uint64_t bz_fuzz_folder_spent_ms(const struct bz_fuzz_folder *folder);

/* Records a finding of the campaign, shrinks it, and writes both into findings/. Returns an exit
 * code likewise. */
int bz_fuzz_folder_keep(struct bz_fuzz_folder *folder, struct bz_fuzz *fuzz, uint32_t index);

/* Writes what is due: the state after every slice, and for at most a twentieth of the time; the
 * status every few seconds; the corpus every minute. `state` is the word of the status; if it is
 * not "running", all is due. A failure is reported once, and noted in has_failed. */
void bz_fuzz_folder_write(struct bz_fuzz_folder *folder, struct bz_fuzz *fuzz,
                          struct bz_fuzz_order *order, const char *state);

void bz_fuzz_folder_close(struct bz_fuzz_folder *folder);

#endif
