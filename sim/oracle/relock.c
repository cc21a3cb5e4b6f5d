/* relock (zoo: RELOCK, gh-67159): the wait of a condition comes back, whatever it says, with the
 * lock held by who waited, and by nobody else. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    char name[64];
    (void)fact;
    bz_world_violate(world, bz_oracle_relock.name, task, number,
                     "%s came back from waiting for '%s' with '%s', %s",
                     bz_world_task_name(world, task, name, sizeof name),
                     world->book.objects[number].name,
                     bz_status_name((enum bz_status)world->book.detail[1]),
                     world->book.detail[0] != 0 ? "while another task holds the lock"
                                                : "and nobody holds the lock");
}

const struct bz_monitor bz_oracle_relock = {
    .name = "relock",
    .summary = "the wait of a condition comes back without the lock",
    .facts = BZ_FACT_UNLOCKED,
    .on_fact = on_fact,
};
