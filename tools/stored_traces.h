/* `run --corpus`: the traces of a folder are tried before the first seed, as Hypothesis tries what
 * failed before.
 *
 * Every trace of the campaign's scenario is carried over to the campaign's variant (carry.h), with
 * the settings that it was recorded with. These runs are no part of the campaign: its seeds, its
 * counts, its digest and its checkpoint are the same with and without them. So a stored trace that
 * fails ends the session before the campaign begins, unless it is to keep going; it is a violation
 * for the exit status. The folder of --out is not tried by itself: a campaign that is run again
 * would report its own finding twice, and its output would depend on what else lies there. */
#ifndef BZ_TOOLS_STORED_TRACES_H
#define BZ_TOOLS_STORED_TRACES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/run/program.h"
#include "traces/json.h"
#include "traces/trace.h"

#define BZ_STORED_MAX 16u /* that are kept */

struct bz_stored_failure {
    char path[PATH_MAX];
    bool is_as_recorded; /* the same oracle and object */
    char oracle[BZ_TRACE_NAME_BYTES_MAX + 1];
    char object[BZ_TRACE_NAME_BYTES_MAX + 1]; /* empty: none */
    char message[BZ_TRACE_TEXT_BYTES_MAX + 1];
    uint64_t step;
    struct bz_trace record; /* of the run */
};

struct bz_stored {
    uint64_t tried; /* of the scenario, and applicable */
    uint64_t failed;
    struct bz_stored_failure failures[BZ_STORED_MAX]; /* the first of them */
};

/* Tries the traces of the folder. An exit code; not BZ_EXIT_OK after a message: the folder, or a
 * trace of it, cannot be read, or a resource ran out. */
int bz_stored_try(struct bz_stored *stored, const char *name, const char *folder,
                  const struct bz_program *program);

/* Prints those that failed, with the command that shows each, and a summary unless `is_quiet`. */
void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet);

/* Adds the same to a document as `stored`. */
void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object);

#endif
