/* cancel-count (zoo: COUNT): requests to cancel a task are counted, and a timeout scope keeps the
 * account: it takes back its own request, and no other, and what it makes of the body's status
 * follows from whose requests there were. The rules are in sim/world/subject_scope.h. */
#include <inttypes.h>

#include "sim/oracle/oracle.h"
#include "sim/world/subject_scope.h"
#include "sim/world/world.h"

static void on_fact(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t number) {
    static const char *const how[] = {
        [BZ_BAD_COUNT_OFF] = "a timeout scope left with a wrong number of requests",
        [BZ_BAD_COUNT_EARLY] = "a timeout scope took back a request before its deadline",
        [BZ_BAD_COUNT_UNSAID] = "a timeout scope expired, nobody else had asked for a "
                                "cancellation, and it did not say timed-out",
        [BZ_BAD_COUNT_SWALLOWED] = "a timeout scope said timed-out, and somebody else's request "
                                   "to cancel ended in it",
        [BZ_BAD_COUNT_CHANGED] = "a timeout scope changed a status that is not its own",
    };
    uint64_t kind = world->book.detail[0];
    uint64_t counts = world->book.detail[1];
    char name[64];
    (void)fact;
    bz_world_violate(world, bz_oracle_cancel_count.name, task, number,
                     "%s: %s (cancelling: %" PRIu64 ", due: %" PRIu64 ")",
                     bz_world_task_name(world, task, name, sizeof name), how[kind],
                     counts & UINT32_MAX, counts >> 32u);
}

const struct bz_monitor bz_oracle_cancel_count = {
    .name = "cancel-count",
    .summary = "a timeout scope loses count of the cancel requests, or whose they were",
    .facts = BZ_FACT_BAD_COUNT,
    .on_fact = on_fact,
};
