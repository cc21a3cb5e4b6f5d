#include "scenarios/canceller.h"

#include "sim/native/world.h"

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

void bz_cancel_one_inside(struct bz_world *world, struct bz_task *const *tasks, uint32_t count,
                          enum bz_op op) {
    uint32_t inside = 0;
    for (uint32_t first = 0; first < count; first += 64) {
        uint32_t some = least(count - first, 64);
        inside +=
            (uint32_t)__builtin_popcountll(bz_world_suspended_in(world, tasks + first, some, op));
    }
    if (inside == 0) {
        return;
    }
    uint64_t skip = bz_world_draw(world, "victim", inside);
    for (uint32_t first = 0; first < count; first += 64) {
        uint32_t some = least(count - first, 64);
        uint64_t set = bz_world_suspended_in(world, tasks + first, some, op);
        for (; set != 0; set &= set - 1) {
            if (skip-- == 0) {
                bz_task_cancel(tasks[first + (uint32_t)__builtin_ctzll(set)]);
                return;
            }
        }
    }
}
