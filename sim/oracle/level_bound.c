/* level-bound (van Rossum: level >= |R|): more waiters hold a result than there are open tables, so
 * that a permit is promised twice. Found at the second promise, before anybody is let in. Judges
 * variants to whom a wake-up is a grant; where it is a hint, two hints promise nothing. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    if ((object->claims & BZ_CLAIM_WAKE_IS_GRANT) == 0) {
        return;
    }
    bz_world_violate(
        world, bz_oracle_level_bound.name, bz_book_newest_woken(&world->book, object), number,
        "%u waiter(s) of '%s' were woken and have not resumed, for a level of %" PRIu64,
        object->woken, object->name, object->view.level);
}

const struct bz_monitor bz_oracle_level_bound = {
    .name = "level-bound",
    .summary = "the level is below the number of waiters that hold a result",
    .facts = BZ_FACT_OVERPROMISED,
    .on_fact = on_fact,
};
