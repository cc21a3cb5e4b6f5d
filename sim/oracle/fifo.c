/* fifo (zoo: FIFO): a later arrival is granted before an earlier live waiter.
 *
 * Arrival is the call of acquire. The grant is what counts, not the resume: under the order `any`
 * tasks that were woken resume in any order. Two ways to be overtaken: a later arrival is granted
 * while an earlier one waits; or an earlier one was woken, and a later one takes the permit that it
 * was woken for, so that none is left (barging, gh-90155). Judges variants that claim strict FIFO.
 */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_grant *grant = &world->book.grant;
    const struct bz_object *object = &world->book.objects[number];
    (void)fact;
    (void)task;
    if ((object->claims & BZ_CLAIM_FIFO) == 0) {
        return;
    }
    char late[64];
    char early[64];
    bz_world_violate(world, bz_oracle_fifo.name, grant->task, grant->object,
                     "%s overtook %u earlier waiter(s) on '%s', first of all %s, which %s",
                     bz_world_task_name(world, grant->task, late, sizeof late), grant->overtook,
                     object->name,
                     bz_world_task_name(world, grant->overtook_task, early, sizeof early),
                     grant->is_steal  ? "had been woken and now finds no permit"
                     : grant->is_pass ? "had been woken and has not resumed"
                                      : "still waits");
}

const struct bz_monitor bz_oracle_fifo = {
    .name = "fifo",
    .summary = "a later arrival is granted before an earlier live waiter",
    .facts = BZ_FACT_OVERTAKEN,
    .on_fact = on_fact,
};
