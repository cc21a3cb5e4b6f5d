/* The corpus of a long campaign: few short runs that have all its situations. */
#ifndef BZ_TOOLS_SESSION_FUZZ_CORPUS_H
#define BZ_TOOLS_SESSION_FUZZ_CORPUS_H

#include "sim/fuzz/fuzz.h"

/* Makes the folder hold these runs, as traces: writes what is missing, and removes what is no
 * longer needed. Other files, whose names do not begin with "fuzz-", stay. `count` becomes the
 * number of traces. False with errno if a file cannot be written. */
bool bz_fuzz_corpus_write(const struct bz_fuzz *fuzz, const char *folder, uint64_t *count);

#endif
