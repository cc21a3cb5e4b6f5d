/* permit-conservation (zoo: CONSERVE): after every step, open tables and holders add up to the
 * permits. Permits that were promised to woken waiters count among the open tables. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    bz_world_violate(world, bz_oracle_permit_conservation.name, 0, number,
                     "'%s' has %" PRIu64 " permit(s), but level %" PRIu64 " and %" PRIu64
                     " holder(s); %u woken waiter(s)",
                     object->name, object->permits, object->view.level, object->holders,
                     object->woken);
}

const struct bz_monitor bz_oracle_permit_conservation = {
    .name = "permit-conservation",
    .summary = "level plus holders differs from the permits, after any step",
    .facts = BZ_FACT_UNBALANCED,
    .on_fact = on_fact,
};
