/* misuse (zoo: BOUND): a call that makes no sense was accepted, or one that does was refused: a
 * release of what nobody holds, a wait or notification without the lock, a task_done too many. A
 * plain semaphore may be released by anybody; locks and bounded semaphores are judged if they claim
 * to refuse it. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    uint32_t by = object->over_released_by;
    char name[64];
    if (fact == BZ_FACT_MISUSED) {
        bz_world_violate(world, bz_oracle_misuse.name, task, number,
                         "%s was told '%s' by '%s', whose state says otherwise",
                         bz_world_task_name(world, task, name, sizeof name),
                         bz_status_name((enum bz_status)world->book.detail[0]), object->name);
        return;
    }
    if (object->primitive == BZ_PRIMITIVE_SEMAPHORE ||
        (object->claims & BZ_CLAIM_REFUSES_MISUSE) == 0) {
        return;
    }
    bz_world_violate(world, bz_oracle_misuse.name, by, number,
                     "%s released '%s', which nobody held, and was told OK",
                     bz_world_task_name(world, by, name, sizeof name), object->name);
}

const struct bz_monitor bz_oracle_misuse = {
    .name = "misuse",
    .summary = "a release of what is not held is accepted, or another call that makes no sense",
    .facts = BZ_FACT_OVER_RELEASED | BZ_FACT_MISUSED,
    .on_fact = on_fact,
};
