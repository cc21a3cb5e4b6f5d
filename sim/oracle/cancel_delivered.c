/* cancel-delivered (zoo: CANCEL): a request that was accepted surfaces exactly once.
 *
 * Swallowed: a task resumes as if nobody had asked, or an await inside an operation was cancelled
 * and the operation says OK. Invented: an operation is cancelled, or says so, though nobody asked,
 * or a second time for one request. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static const char *describe(const struct bz_book_task *task, uint32_t fact) {
    if (fact == BZ_FACT_SWALLOWED) {
        return "resumed as if nothing had happened, although a cancel request was due";
    }
    if (fact == BZ_FACT_UNINVITED) {
        return "was cancelled inside an operation, although nobody had asked, or once too often";
    }
    return task->cancelled_in_op
               ? "was cancelled inside an operation, which swallowed that and said otherwise"
               : "was refused by an operation that no cancellation had reached";
}

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    char name[64];
    const char *on = number == 0 ? "" : " on ";
    bz_world_violate(world, bz_oracle_cancel_delivered.name, task, number, "%s%s%s %s",
                     bz_world_task_name(world, task, name, sizeof name), on,
                     number == 0 ? "" : world->book.objects[number].name,
                     describe(&world->book.tasks[task], fact));
}

const struct bz_monitor bz_oracle_cancel_delivered = {
    .name = "cancel-delivered",
    .summary = "a cancel request was swallowed, invented, or delivered twice",
    .facts = BZ_FACT_SWALLOWED | BZ_FACT_UNINVITED | BZ_FACT_ODD_RETURN,
    .on_fact = on_fact,
};
