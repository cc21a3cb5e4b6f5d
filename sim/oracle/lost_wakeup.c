/* lost-wakeup (zoo: NOLOST): a permit (an item, a slot, a set event, the last party of a barrier)
 * is there, a live waiter is queued, and nothing is under way that could hand it over. Found at the
 * step that loses it, not at the deadlock.
 *
 * Under way is: a waiter that was woken or cancelled and has not resumed (it may pass the wake-up
 * on), a waiter that polls, and any callback that is ready: what it does is looked at when it has
 * run. A variant that hands over by a task or a timer of its own is judged too early; it has to
 * wake its waiters from the release, from a callback, or from a waiter. */
#include <inttypes.h>

#include "primitives/runtime/driver.h"
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static bool callback_is_under_way(const struct bz_loop *loop) {
    for (uint32_t index = 0; index < bz_driver_ready_count(loop); index++) {
        if (bz_driver_ready_at(loop, index)->role == BZ_ROLE_CALLBACK) {
            return true;
        }
    }
    return false;
}

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    if (callback_is_under_way(world->loop)) {
        return;
    }
    char name[64];
    uint32_t waiter = bz_book_oldest_live(&world->book, object);
    bz_world_task_name(world, waiter, name, sizeof name);
    if (object->kind == BZ_OBJECT_EVENT) {
        bz_world_violate(world, bz_oracle_lost_wakeup.name, waiter, number,
                         "'%s' is set, %s waits (first of %u), and nothing is under way to wake it",
                         object->name, name, object->waiting);
    } else if (object->kind == BZ_OBJECT_BARRIER) {
        bz_world_violate(world, bz_oracle_lost_wakeup.name, waiter, number,
                         "%u wait at '%s', which is for %u, and nothing is under way to wake them",
                         object->live, object->name, object->quorum);
    } else {
        const char *what = object->kind == BZ_OBJECT_ITEMS   ? "item(s)"
                           : object->kind == BZ_OBJECT_SLOTS ? "slot(s)"
                                                             : "permit(s)";
        bz_world_violate(world, bz_oracle_lost_wakeup.name, waiter, number,
                         "%" PRIu64 " of %" PRIu64 " %s of '%s' is free, %s waits (first of %u), "
                         "and nothing is under way to wake it",
                         object->permits - object->holders, object->permits, what, object->name,
                         name, object->waiting);
    }
}

const struct bz_monitor bz_oracle_lost_wakeup = {
    .name = "lost-wakeup",
    .summary = "a permit is free, a live waiter is queued, and nothing will hand it over",
    .facts = BZ_FACT_STUCK,
    .on_fact = on_fact,
};
