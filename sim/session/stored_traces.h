/* The traces of a folder are tried before the first seed, as Hypothesis tries what failed before.
 *
 * `run --corpus`: every trace of the campaign's scenario is carried over to the campaign's variant
 * (transfer.h). One that fails ends the session before the campaign begins, unless it is to keep
 * going. A file that cannot be read is an error.
 *
 * `run --out`: so is every trace of a violation that an earlier campaign of the same scenario and
 * variant has kept in its folder, up to BZ_STORED_OWN_MAX of them. They never stop the campaign,
 * and other files are skipped: the folder may hold anything.
 *
 * Each has the settings that it was recorded with. These runs are no part of the campaign: its
 * seeds, its counts, its digest, its findings and its checkpoint are the same with and without
 * them. One that fails is a violation for the exit status. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/program/catalog.h"
#include "sim/program/program.h"
#include "sim/program/token.h"
#include "sim/session/folder.h"
#include "traces/trace.h"

#define BZ_STORED_MAX 16u /* failures that are kept */
#define BZ_STORED_OWN_MAX 200u

struct bz_stored_failure {
    char path[PATH_MAX];
    bool is_as_recorded;        /* the same oracle and object */
    bool is_same_run;           /* as the trace has it: a replay needs no --variant */
    char token[BZ_TOKEN_BYTES]; /* of the run; empty: only the trace leads to it */
    struct bz_trace record;     /* of the run, with its verdict */
};

struct bz_stored {
    const struct bz_catalog *catalog; /* set by the caller */
    bool is_own;                      /* of --out; likewise */
    uint64_t tried;                   /* of the scenario, and applicable */
    uint64_t failed;
    uint64_t passed;
    uint64_t unfit;  /* of these, choices no longer fit: the schedule is another one */
    uint64_t cut;    /* by the step limit: neither */
    uint64_t other;  /* not tried: made for the order `any`, and the campaign's is `fifo` */
    uint64_t slower; /* not tried: it has more lag than the campaign's max-lag */
    bool is_cut_off; /* there are more than BZ_STORED_OWN_MAX */
    struct bz_stored_failure failures[BZ_STORED_MAX]; /* the first of them */
};

/* Tries the traces of the folder. Not BZ_TROUBLE_NONE with a message: a resource ran out, or the
 * folder, or a trace of it, cannot be read and is not own. */
enum bz_trouble bz_stored_try(struct bz_stored *stored, const char *folder,
                              const struct bz_program *program, char *error, size_t error_bytes);

/* True if two folders are one. */
bool bz_stored_is_same_folder(const char *a, const char *b);
