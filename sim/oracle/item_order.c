/* item-order (zoo: ORDER): items leave in the order of the queue. For a variant that takes its item
 * when get returns (BZ_CLAIM_TAKES_AT_RETURN), the very item that is next, of equals in priority
 * the one that was put first; for one that hands items over at the wake-up, whose takers may resume
 * in any order, of two items from one task to one task the earlier first (FIFO queues). */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    uint32_t claims = world->book.objects[number].claims;
    char name[64];
    (void)fact;
    bz_world_violate(world, bz_oracle_item_order.name, task, number,
                     "%s got item %" PRIu64 " of '%s' out of order: item %" PRIu64 " %s",
                     bz_world_task_name(world, task, name, sizeof name), world->book.detail[0],
                     world->book.objects[number].name, world->book.detail[1],
                     (claims & BZ_CLAIM_TAKES_AT_RETURN) != 0 ? "was to come first"
                                                              : "came before it");
}

const struct bz_monitor bz_oracle_item_order = {
    .name = "item-order",
    .summary = "an item is delivered before one that was to come first",
    .facts = BZ_FACT_BAD_ORDER,
    .on_fact = on_fact,
};
