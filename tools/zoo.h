/* What the command line of `buzzer zoo` (cmd_zoo.c) tells the search for the faults (zoo_hunts.c).
 */
#ifndef BZ_TOOLS_ZOO_H
#define BZ_TOOLS_ZOO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/plugins.h"
#include "tools/progress.h"

#define BZ_ZOO_ENTRIES_MAX 256u
#define BZ_ZOO_ORDERS 2u

struct bz_zoo {
    const char *name; /* for messages */
    struct bz_plugins plugins;
    const char *strategy; /* as it was named; NULL: the default */
    bool is_order_wanted[BZ_ZOO_ORDERS];
    const char *wanted[BZ_ZOO_ENTRIES_MAX]; /* named on the command line */
    size_t wanted_count;
    bool is_json;
    uint64_t seed_first;
    uint64_t runs;
    uint32_t ranges;
    uint32_t jobs;
    struct bz_progress progress;
};

/* Whether this entry is to be tried under this order. */
bool bz_zoo_is_wanted(const struct bz_zoo *zoo, const struct bz_variant *variant, unsigned order);

/* Returns the exit code, and has printed everything. */
int bz_zoo_hunt(struct bz_zoo *zoo);

#endif
