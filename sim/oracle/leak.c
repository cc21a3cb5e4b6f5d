/* leak (zoo: HYGIENE): every task has ended, and yet a queue has entries: waiters that nobody will
 * ever take out. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_end(struct bz_world *world) {
    struct bz_book *book = &world->book;
    if (book->unfinished > 0 || world->end == BZ_RUN_OUT_OF_STEPS) {
        return;
    }
    for (uint32_t number = 1; number <= book->object_count; number++) {
        struct bz_object *object = &book->objects[number];
        uint32_t queued = 0;
        if (object->has_view) {
            object->ops->view(object->instance, &object->view);
            queued = object->view.queued;
        } else if (object->queued != NULL) {
            queued = object->queued(object->instance);
        }
        if (queued > 0) {
            bz_world_violate(world, bz_oracle_leak.name, 0, number,
                             "every task has ended, but the queue of '%s' still has %u entries",
                             object->name, queued);
        }
    }
}

const struct bz_monitor bz_oracle_leak = {
    .name = "leak",
    .summary = "a waiter is left behind in a queue when every task has ended",
    .on_end = on_end,
};
