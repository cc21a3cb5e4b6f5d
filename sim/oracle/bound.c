/* bound (zoo: BOUND): a queue never holds more items than its maxsize. Counted by what put and get
 * said, so that it needs no look inside. Items that a variant may have handed to woken getters,
 * which have not resumed, are in their hands; but when such a getter leaves without its item, that
 * is in the queue again. */
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
    const struct bz_object *items = &world->book.objects[number - 1]; /* the two come in a pair */
    bool may_hand_over = (object->claims & BZ_CLAIM_TAKES_AT_RETURN) == 0;
    if (object->holders <= object->permits + (may_hand_over ? items->woken : 0)) {
        return;
    }
    bz_world_violate(
        world, bz_oracle_bound.name, task, number,
        "'%s' has room for %" PRIu64 ", and after the %s of %s there are %" PRIu64 " item(s)",
        object->name, object->permits,
        object->return_task == task && object->return_step == world->step ? "put" : "get",
        bz_world_task_name(world, task, name, sizeof name), object->holders);
}

const struct bz_monitor bz_oracle_bound = {
    .name = "bound",
    .summary = "a queue holds more items than its maxsize",
    .facts = BZ_FACT_CROWDED,
    .on_fact = on_fact,
};
