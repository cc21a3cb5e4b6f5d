/* The state of a long campaign as a file, from which it continues as if it had never stopped.
 *
 *     {"format":"buzzer-fuzz/2", ..., "checksum":"0123456789abcdef"}
 *
 * One line of JSON. A target is named by the token of its program; arms follow from the targets and
 * from what is fixed. The file is untrusted input, as a trace is. */
#ifndef BZ_SIM_FUZZ_STATE_H
#define BZ_SIM_FUZZ_STATE_H

#include <stddef.h>

#include "sim/fuzz/fuzz.h"
#include "sim/program/catalog.h"

#define BZ_FUZZ_FORMAT "buzzer-fuzz/2"
#define BZ_FUZZ_BYTES_MAX ((size_t)256 << 20u)

/* The task of the campaign, besides struct bz_fuzz. */
struct bz_fuzz_order {
    struct bz_fuzz_fixed fixed;
    uint64_t runs_max;
    uint64_t limit_ms; /* 0: no limit of time */
    uint64_t spent_ms; /* so far */
};

/* The text of the file; the caller frees it. Without memory it calls bz_lack_stop(). */
char *bz_fuzz_print(const struct bz_fuzz *fuzz, const struct bz_fuzz_order *order);

/* Reads it back into a new `fuzz`, which the caller releases in any case. False with a message that
 * begins with `origin`. */
bool bz_fuzz_parse(struct bz_fuzz *fuzz, struct bz_fuzz_order *order,
                   const struct bz_catalog *catalog, const char *text, size_t length,
                   const char *origin, char *error, size_t error_bytes);

#endif
