/* spec: a step of the code is no transition of the executable specification `buzzer`
 * (sim/spec/guards.h): the code does not refine it.
 *
 * The book is the specification's state of an object: level is the permits less the holders, W, R
 * and C are the tasks that wait, that were woken, that were cancelled and have not resumed. What
 * tasks do and are told are its actions: an acquire that returns at once is Acquire, one that
 * suspends is Enqueue, a wake-up is Wake, a return after a wake-up Resume or GiveBack, and so on; a
 * step is a sequence of them. Two things must hold. Each action's guards are met where the book
 * takes note of it, by the very functions with which the specification is enumerated; and what the
 * code shows of itself after the step is the state that the specification is in.
 *
 *     Acquire: a newcomer finds a free permit, and overtakes nobody who waits or was woken.
 *
 *     Enqueue: it waits only if W or R or level = 0, even where it will be woken in a moment.
 *
 *     Wake: the oldest W is woken, and level > |R|.
 *
 *     Resume: whoever waited comes in because it was woken.
 *
 *     The state: level and W are the specification's, level >= |R|, and W, R, C are the queue.
 *
 * Most of this hurts a user in a way that another oracle names; this one judges behind them all,
 * and its own share is what nobody was hurt by in this run. Judged are locks and semaphores that
 * can be looked into and claim what the specification demands: strict FIFO, newcomers that pass
 * nobody, and a wake-up that is a grant.
 *
 * Not judged: that a Wake comes in time, which is lost-wakeup's and work-conserving's business (the
 * specification lets it wait for a resume); a release by who never acquired, which is outside of
 * the specification, and adds a permit to a plain semaphore; a request to cancel that is taken
 * back.
 */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/spec/guards.h"
#include "sim/world/world.h"

static void object_to_action(struct bz_world *world, const struct bz_object *object,
                             uint32_t number) {
    const struct bz_refusal *refusal = &world->book.refused;
    enum bz_spec_action action = (enum bz_spec_action)refusal->action;
    char name[64];
    bz_world_violate(world, bz_oracle_spec.name, refusal->task, number,
                     "%s of %s at '%s' is no transition of the specification: it needs %s; level "
                     "%" PRId64 ", W %u, R %u",
                     bz_spec_action_name(action),
                     bz_world_task_name(world, refusal->task, name, sizeof name), object->name,
                     bz_spec_guard_text(action, refusal->guards & -(uint32_t)refusal->guards),
                     refusal->counts.level, refusal->counts.waiting, refusal->counts.woken);
}

/* What other oracles name is a failure to refine, too. */
static void object_to_order(struct bz_world *world, uint32_t task, uint32_t number) {
    const struct bz_grant *grant = &world->book.grant;
    const struct bz_object *object = &world->book.objects[number];
    char late[64];
    char early[64];
    bz_world_violate(world, bz_oracle_spec.name, task, number,
                     "%s was served at '%s' before %s: no transition of the specification",
                     bz_world_task_name(world, grant->task, late, sizeof late), object->name,
                     bz_world_task_name(world, grant->overtook_task, early, sizeof early));
}

static void object_to_state(struct bz_world *world, const struct bz_object *object,
                            uint32_t number) {
    const struct bz_permit_view *view = &object->view;
    bz_world_violate(
        world, bz_oracle_spec.name, 0, number,
        "'%s' is not in the specification's state: level %" PRId64
        ", W %u, R %u, C %u, but it shows level %" PRIu64 ", W %u, R %u, C %u in a queue of %u",
        object->name, bz_object_counts(object).level, object->waiting, object->woken,
        object->cancelled, view->level, view->waiting, view->woken, view->cancelled, view->queued);
}

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    const struct bz_object *object = &world->book.objects[number];
    char name[64];
    if (!object->refines) {
        return;
    }
    if (fact == BZ_FACT_NO_TRANSITION) {
        object_to_action(world, object, number);
    } else if (fact == BZ_FACT_OVERTAKEN) {
        object_to_order(world, task, number);
    } else if (fact == BZ_FACT_CROWDED) {
        bz_world_violate(
            world, bz_oracle_spec.name, task, number,
            "%s came in at '%s', whose level was 0: no transition of the specification",
            bz_world_task_name(world, task, name, sizeof name), object->name);
    } else {
        object_to_state(world, object, number);
    }
}

const struct bz_monitor bz_oracle_spec = {
    .name = "spec",
    .summary = "the step is no transition of the executable specification",
    .facts = BZ_FACT_NO_TRANSITION | BZ_FACT_OVERTAKEN | BZ_FACT_CROWDED | BZ_FACT_OVERPROMISED |
             BZ_FACT_UNBALANCED | BZ_FACT_UNPARTITIONED,
    .on_fact = on_fact,
};
