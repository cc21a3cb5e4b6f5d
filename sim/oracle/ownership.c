/* ownership (zoo: ATOMIC, CONSERVE): acquire said OK and no permit left the level, or it did not
 * say OK and a permit went with it. White box: the sum of permits is wrong after a step in which an
 * acquire returned, and that return is the reason. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    bool said_ok = object->return_status == BZ_OK;
    bool is_too_many = object->view.level + object->holders > object->permits;
    (void)fact;
    (void)task;
    if (object->return_step != world->step || object->return_task == 0 || said_ok != is_too_many) {
        return; /* no acquire returned, or the sum is wrong the other way: not its doing */
    }
    char name[64];
    bz_world_violate(world, bz_oracle_ownership.name, object->return_task, number,
                     "acquire of '%s' said '%s' to %s, but %s: level %" PRIu64 " and %" PRIu64
                     " holder(s) of %" PRIu64 " permit(s)",
                     object->name, bz_status_name((enum bz_status)object->return_status),
                     bz_world_task_name(world, object->return_task, name, sizeof name),
                     said_ok ? "no permit was taken" : "a permit went with it", object->view.level,
                     object->holders, object->permits);
}

const struct bz_monitor bz_oracle_ownership = {
    .name = "ownership",
    .summary = "acquire said OK and the caller owns nothing, or did not and it owns",
    .facts = BZ_FACT_UNBALANCED,
    .on_fact = on_fact,
};
