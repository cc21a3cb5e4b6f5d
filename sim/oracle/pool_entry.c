/* pool-entry (zoo: HYGIENE, POOL-PRUNE-WINDOW): when nobody uses any key, a pool of locks keeps
 * none. That it never has two locks for one key is `mutual-exclusion`'s business. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    (void)fact;
    bz_world_violate(world, bz_oracle_pool_entry.name, task, number,
                     "nobody uses any key of '%s', and it still keeps %" PRIu64 " lock(s)",
                     world->book.objects[number].name, world->book.detail[0]);
}

const struct bz_monitor bz_oracle_pool_entry = {
    .name = "pool-entry",
    .summary = "a pool keeps a lock for a key that nobody uses",
    .facts = BZ_FACT_BAD_ENTRY,
    .on_fact = on_fact,
};
