#include "scenarios/canceller.h"

#include "sim/world/world.h"

void bz_cancel_one_inside(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                          enum bz_op op) {
    uint32_t inside = 0;
    for (uint32_t index = 0; index < count; index++) {
        inside += bz_world_is_suspended_in(world, tasks[index], op);
    }
    if (inside == 0) {
        return;
    }
    uint64_t skip = bz_world_draw(world, "victim", inside);
    for (uint32_t index = 0; index < count; index++) {
        if (bz_world_is_suspended_in(world, tasks[index], op) && skip-- == 0) {
            bz_task_cancel(tasks[index]);
            return;
        }
    }
}
