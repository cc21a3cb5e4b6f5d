/* barrier-round (gh-155233): each round of a barrier hands out each index once, and passes nobody
 * before as many have come as it has parties. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    uint64_t index = world->book.detail[0];
    char name[64];
    (void)fact;
    bz_world_task_name(world, task, name, sizeof name);
    if (index == BZ_NO_TASK) {
        bz_world_violate(world, bz_oracle_barrier_round.name, task, number,
                         "%s passed '%s' with only %" PRIu64 " of %u parties there", name,
                         object->name, world->book.detail[1], object->quorum);
    } else {
        bz_world_violate(world, bz_oracle_barrier_round.name, task, number,
                         "%s got index %" PRIu64 " of '%s', which %s", name, index, object->name,
                         index < object->quorum ? "another task of its round has, too"
                                                : "is none of 0 to parties - 1");
    }
}

const struct bz_monitor bz_oracle_barrier_round = {
    .name = "barrier-round",
    .summary = "an index of a barrier comes twice in a round, or too few pass",
    .facts = BZ_FACT_BAD_ROUND,
    .on_fact = on_fact,
};
