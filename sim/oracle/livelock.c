/* livelock: the step limit was hit, and for at least half of the run no operation was called or
 * returned and no task ended. A run that hits the limit while it still gets somewhere is no
 * violation; the campaign reports it as out of steps. */
#include "sim/oracle/oracle.h"
#include "sim/world/world.h"

static void on_end(struct bz_world *world) {
    if (world->end != BZ_RUN_OUT_OF_STEPS || world->progress_step > world->step / 2) {
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
