/* livelock: the step limit was hit, and for at least half of the run no operation was called or
 * returned and no task ended; nor does a holder work on between two operations, as in a scenario
 * with long meals. A run that hits the limit while it still gets somewhere is no violation; the
 * campaign reports it as out of steps. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

/* Somebody is on the way between two operations: what takes so long is the scenario's own work. */
static bool somebody_works(const struct bz_book *book) {
    for (uint32_t id = 1; id <= book->task_count; id++) {
        const struct bz_book_task *task = &book->tasks[id];
        bool waits_for_somebody = task->wait == BZ_WAIT_FUTURE || task->wait == BZ_WAIT_JOIN;
        if (task->phase == BZ_PHASE_SUSPENDED && task->op == BZ_OP_NONE && task->holdings > 0 &&
            !waits_for_somebody) {
            return true;
        }
    }
    return false;
}

static void on_end(struct bz_world *world) {
    if (world->end != BZ_RUN_OUT_OF_STEPS || world->progress_step > world->step / 2 ||
        somebody_works(&world->book)) {
        return;
    }
    bz_world_violate(world, bz_oracle_livelock.name, 0, 0,
                     "%u steps were run, and nothing was achieved since step %u: no operation "
                     "was called or returned, no task ended",
                     world->step, world->progress_step);
}

const struct bz_monitor bz_oracle_livelock = {
    .name = "livelock",
    .summary = "the step budget ends with no progress",
    .on_end = on_end,
};
