/* starvation (zoo: NOSTARVE): a live waiter is overtaken more often than the bound, under a
 * strategy that is fair. For variants that do not claim strict order; those that do fail `fifo`
 * earlier. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_grant *grant = &world->book.grant;
    (void)fact;
    (void)task;
    uint32_t overtaken = world->book.tasks[grant->overtook_task].overtaken;
    if (overtaken <= world->config.starvation_bound || !world->config.judges_liveness) {
        return;
    }
    char name[64];
    bz_world_violate(world, bz_oracle_starvation.name, grant->overtook_task, number,
                     "%s was overtaken %u times while it waited for '%s'; the bound is %u",
                     bz_world_task_name(world, grant->overtook_task, name, sizeof name), overtaken,
                     world->book.objects[number].name, world->config.starvation_bound);
}

const struct bz_monitor bz_oracle_starvation = {
    .name = "starvation",
    .summary = "a live waiter is overtaken beyond the bound, under a fair schedule",
    .facts = BZ_FACT_OVERTAKEN,
    .on_fact = on_fact,
};
