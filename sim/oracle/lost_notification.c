/* lost-notification (zoo: NOLOST): fewer waiters were woken than a notification was for. Two ways:
 * notify(n), notify_all() or set() leave somebody asleep that they were for; or a waiter that was
 * notified and then cancelled left while others still waited, and woke none of them (gh-112202).
 * Spurious wake-ups are no fault. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    struct bz_object *object = &world->book.objects[number];
    uint64_t woken = world->book.detail[0];
    uint64_t due = world->book.detail[1];
    bool is_debt = task != 0 && world->book.tasks[task].owes_wake > 0;
    char name[64];
    (void)fact;
    bz_world_task_name(world, task, name, sizeof name);
    if (is_debt) {
        bz_world_violate(world, bz_oracle_lost_notification.name, task, number,
                         "%s was notified by '%s', then cancelled, and left without passing it on; "
                         "%u still wait(s)",
                         name, object->name, object->live);
    } else {
        bz_world_violate(world, bz_oracle_lost_notification.name, task, number,
                         "%s told '%s' to wake %" PRIu64 " waiter(s), and %" PRIu64
                         " were woken; %u still wait(s)",
                         name, object->name, due, woken, object->live);
    }
}

const struct bz_monitor bz_oracle_lost_notification = {
    .name = "lost-notification",
    .summary = "a notification wakes fewer waiters than it is for, or goes with a cancelled one",
    .facts = BZ_FACT_UNNOTIFIED,
    .on_fact = on_fact,
};
