/* mutual-exclusion (zoo: MUTEX): no more tasks own a permit than there are permits. Black box: it
 * counts returns of acquire with BZ_OK against accepted releases. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    if (object->kind != BZ_OBJECT_PERMITS) {
        return;
    }
    char name[64];
    bz_world_violate(world, bz_oracle_mutual_exclusion.name, task, number,
                     "%s was let in as holder number %" PRIu64 " of '%s', which has %" PRIu64
                     " permit(s)",
                     bz_world_task_name(world, task, name, sizeof name), object->holders,
                     object->name, object->permits);
}

const struct bz_monitor bz_oracle_mutual_exclusion = {
    .name = "mutual-exclusion",
    .summary = "more tasks hold a permit than there are permits",
    .facts = BZ_FACT_CROWDED,
    .on_fact = on_fact,
};
