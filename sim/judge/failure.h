/* The way in which a run fails. Two runs fail in the same way if the oracle, the object (by its
 * name), the operation and the window are the same; those of a scenario's own checks (`assertion`,
 * `misuse`) also say the same, but for numbers and names.
 *
 * So say shrinking, explanations, and the search of a FIFO witness. A campaign, which may meet many
 * violations, makes findings (sim/campaign/totals.h): it knows objects by number, and takes
 * the first message for all.
 */
#pragma once

#include <stdbool.h>

#include "sim/judge/judge.h"
#include "traces/trace.h"

struct bz_failure {
    struct bz_violation violation;
    char object[BZ_TRACE_NAME_BYTES_MAX + 1]; /* its name; empty: there is none */
};

bool bz_failures_are_alike(const struct bz_failure *a, const struct bz_failure *b);

/* The same of two runs of one program, in which an object's number stands for its name. */
bool bz_violations_are_alike(const struct bz_violation *a, const struct bz_violation *b);

/* True if the last run of the judge, which has failed, did so in this way. */
bool bz_fails_likewise(const struct bz_violation *wanted, const char *wanted_object,
                       const struct bz_judge *judge);
