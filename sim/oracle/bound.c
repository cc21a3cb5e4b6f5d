/* bound (zoo: BOUND): a queue never holds more items than its maxsize. Counted by what put and get
 * said, so that it needs no look inside. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    char name[64];
    (void)fact;
    if (object->kind != BZ_OBJECT_SLOTS) {
        return;
    }
    bz_world_violate(world, bz_oracle_bound.name, task, number,
                     "%s put item number %" PRIu64 " into '%s', which has room for %" PRIu64,
                     bz_world_task_name(world, task, name, sizeof name), object->holders,
                     object->name, object->permits);
}

const struct bz_monitor bz_oracle_bound = {
    .name = "bound",
    .summary = "a queue holds more items than its maxsize",
    .facts = BZ_FACT_CROWDED,
    .on_fact = on_fact,
};
