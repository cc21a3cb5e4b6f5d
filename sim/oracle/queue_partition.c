/* queue-partition (van Rossum: W, R, C): every entry of the queue is waiting, or holds a result, or
 * is cancelled; and the waiting ones are exactly the tasks that wait in acquire. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    const struct bz_permit_view *view = &object->view;
    if (view->waiting + view->woken + view->cancelled != view->queued) {
        bz_world_violate(world, bz_oracle_queue_partition.name, 0, number,
                         "the queue of '%s' has %u entries, of which %u wait, %u hold a result and "
                         "%u are cancelled",
                         object->name, view->queued, view->waiting, view->woken, view->cancelled);
    } else if (view->waiting != object->waiting) {
        bz_world_violate(world, bz_oracle_queue_partition.name, 0, number,
                         "the queue of '%s' shows %u waiting entries, but %u task(s) wait",
                         object->name, view->waiting, object->waiting);
    } else if (view->woken > object->woken) {
        bz_world_violate(world, bz_oracle_queue_partition.name, 0, number,
                         "the queue of '%s' shows %u entries with a result, but only %u task(s) "
                         "were woken and have not resumed",
                         object->name, view->woken, object->woken);
    }
}

const struct bz_monitor bz_oracle_queue_partition = {
    .name = "queue-partition",
    .summary = "W, R, C do not partition the waiter queue",
    .facts = BZ_FACT_UNPARTITIONED,
    .on_fact = on_fact,
};
