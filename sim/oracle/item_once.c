/* item-once (zoo: ITEM, ATOMIC): every item whose put said OK is delivered exactly once, and no
 * other: none is made up, none comes twice, none comes out of a put that was cancelled, and at the
 * end none is missing. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    static const char *const how[] = {
        "was delivered, and nobody had put it",
        "was delivered a second time",
        "was delivered, and its put said that it did not happen",
        "was put, and was never delivered, nor is it in the queue",
    };
    uint64_t kind = world->book.detail[1];
    (void)fact;
    bz_world_violate(world, bz_oracle_item_once.name, task, number, "item %" PRIu64 " of '%s' %s",
                     world->book.detail[0], world->book.objects[number].name,
                     how[kind < 4 ? kind : 0]);
}

const struct bz_monitor bz_oracle_item_once = {
    .name = "item-once",
    .summary = "an item is lost, made up, or delivered twice",
    .facts = BZ_FACT_BAD_ITEM,
    .on_fact = on_fact,
};
