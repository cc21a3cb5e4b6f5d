/* locked-definition (van Rossum; gh-97028, gh-138121): locked() is (W or R or level == 0), that is,
 * true exactly when an acquire now would wait. Judges variants that claim it. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    bool is_locked = object->ops->locked(object->instance);
    bz_world_violate(world, bz_oracle_locked_definition.name, 0, number,
                     "locked() of '%s' says %s with %u waiting, %u woken and level %" PRIu64,
                     object->name, is_locked ? "true" : "false", object->waiting, object->woken,
                     object->view.level);
}

const struct bz_monitor bz_oracle_locked_definition = {
    .name = "locked-definition",
    .summary = "locked() differs from (W or R or level == 0)",
    .facts = BZ_FACT_LOCKED_WRONG,
    .on_fact = on_fact,
};
