/* queue-size (zoo: CONSERVE): a queue's size is what was put less what was got, after every put and
 * get. White box; judges variants whose get takes its item when it returns. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    (void)fact;
    bz_world_violate(
        world, bz_oracle_queue_size.name, task, number,
        "'%s' says that it has %" PRIu64 " item(s); %" PRIu64 " were put and not yet got",
        world->book.objects[number].name, world->book.detail[0], world->book.detail[1]);
}

const struct bz_monitor bz_oracle_queue_size = {
    .name = "queue-size",
    .summary = "a queue's size is not what was put less what was got",
    .facts = BZ_FACT_BAD_SIZE,
    .on_fact = on_fact,
};
