/* What the two ways of `buzzer zoo` share: is every fault found (zoo_hunts.c), and how soon by
 * which strategy (zoo_race.c). */
#ifndef BZ_TOOLS_ZOO_H
#define BZ_TOOLS_ZOO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/plugins.h"
#include "tools/progress.h"
#include "tools/zoo_table.h"

#define BZ_ZOO_ENTRIES_MAX 256u
#define BZ_ZOO_ORDERS 2u

struct bz_zoo {
    const char *name; /* for messages */
    struct bz_plugins plugins;
    const char *strategy;  /* as it was named; NULL: the default */
    const char *candidate; /* of the table; NULL: the default */
    bool is_order_wanted[BZ_ZOO_ORDERS];
    const char *wanted[BZ_ZOO_ENTRIES_MAX]; /* named on the command line */
    size_t wanted_count;
    bool is_json;
    bool is_table;
    enum bz_table_format format; /* of the table; JSON if is_json, too */
    uint64_t seed_first;
    uint64_t runs;
    uint32_t ranges;
    uint32_t give_up;
    uint32_t jobs;
    struct bz_progress progress;
};

/* Whether this entry is to be tried under this order. */
bool bz_zoo_is_wanted(const struct bz_zoo *zoo, const struct bz_variant *variant, unsigned order);

/* What to say when that leaves nothing; returns the exit code. */
int bz_zoo_fail_empty(const struct bz_zoo *zoo);

/* Each returns the exit code, and has printed everything. */
int bz_zoo_hunt(struct bz_zoo *zoo);
int bz_zoo_race(struct bz_zoo *zoo);

#endif
