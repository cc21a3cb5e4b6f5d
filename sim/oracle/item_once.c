/* item-once (zoo: ITEM, ATOMIC): every item whose put said OK is delivered exactly once, and no
 * other: none is made up, none comes twice, none comes out of a put that was cancelled, and at the
 * end none is missing. A get or put that failed must leave the queue with as many items as there
 * were: there a lost item is found at the step that loses it. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

#define FEWER 5u
#define MORE 6u

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    static const char *const how[] = {
        "was delivered, and nobody had put it",
        "was delivered a second time",
        "was delivered, and its put said that it did not happen",
        "was put, and was never delivered, nor is it in the queue",
        "was delivered, and a shutdown had dropped it",
    };
    uint64_t which = world->book.detail[0];
    uint64_t kind = world->book.detail[1];
    const char *name = world->book.objects[number].name;
    char task_name[64];
    (void)fact;
    if (kind < FEWER) {
        bz_world_violate(world, bz_oracle_item_once.name, task, number,
                         "item %" PRIu64 " of '%s' %s", which, name, how[kind]);
        return;
    }
    bz_world_violate(world, bz_oracle_item_once.name, task, number,
                     "%s did not get or put anything, and now '%s' has %" PRIu64
                     " item(s) %s than were put and not yet got",
                     bz_world_task_name(world, task, task_name, sizeof task_name), name, which,
                     kind == MORE ? "more" : "fewer");
}

const struct bz_monitor bz_oracle_item_once = {
    .name = "item-once",
    .summary = "an item is lost, made up, or delivered twice",
    .facts = BZ_FACT_BAD_ITEM,
    .on_fact = on_fact,
};
