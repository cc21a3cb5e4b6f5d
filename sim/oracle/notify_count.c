/* notify-count: a condition wakes exactly as many waiters as it is told to, plus one for each that
 * was notified and then cancelled while somebody else waited; each in the step in which it is due.
 * Spurious wake-ups are allowed by most documentations; this judges variants that claim to have
 * none (BZ_CLAIM_EXACT_NOTIFY). */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    bz_world_violate(world, bz_oracle_notify_count.name, task, number,
                     "'%s' has woken %u waiter(s) in all, and %u were due", object->name,
                     object->wakes, object->wakes_due);
}

const struct bz_monitor bz_oracle_notify_count = {
    .name = "notify-count",
    .summary = "a condition wakes more waiters than it was told to, or too late",
    .facts = BZ_FACT_MISCOUNTED,
    .on_fact = on_fact,
};
