/* work-conserving (zoo: WORKCONS, gh-111693): a woken waiter took its permit, and beside it permits
 * are free that nobody was woken for, while others sleep. Nobody is lost: each wakes the next one.
 * But what could run at once runs one after the other. Judges variants that claim otherwise. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    struct bz_object *object = &world->book.objects[number];
    uint32_t waiter = bz_book_oldest_live(&world->book, object);
    char name[64];
    (void)fact;
    (void)task;
    bz_world_violate(world, bz_oracle_work_conserving.name, waiter, number,
                     "%" PRIu64 " permit(s) of '%s' are free and promised to nobody, but %s sleeps "
                     "(first of %u)",
                     object->permits - object->holders - object->woken, object->name,
                     bz_world_task_name(world, waiter, name, sizeof name), object->live);
}

const struct bz_monitor bz_oracle_work_conserving = {
    .name = "work-conserving",
    .summary = "a woken waiter goes on, and others sleep beside permits that nobody is to get",
    .facts = BZ_FACT_IDLE,
    .on_fact = on_fact,
};
