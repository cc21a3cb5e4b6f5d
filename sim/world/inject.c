/* Injected cancels: an outside event that cancels one task, in a step of its own.
 *
 * Who may be hit is decided when the cancel strikes, not when it is planned: every task whose
 * window is enabled, sorted by window so that a strategy can weigh windows.
 */
#include <stdlib.h>

#include "sim/world/world.h"

static void reserve(struct bz_world *world, uint32_t count) {
    if (count <= world->candidates_capacity) {
        return;
    }
    uint32_t capacity = 2 * count;
    struct bz_cancel_candidate *larger = realloc(world->candidates, capacity * sizeof *larger);
    BZ_CHECK(larger != NULL);
    world->candidates = larger;
    world->candidates_capacity = capacity;
}

/* How a cancel would strike this task; window BZ_WINDOW_NONE: not at all. */
static inline struct bz_cancel_candidate candidate(const struct bz_world *world, uint32_t id) {
    const struct bz_book_task *task = &world->book.tasks[id];
    uint32_t window = bz_book_window(task);
    bool is_enabled = (world->config.cancel_windows >> window & 1u) != 0;
    return (struct bz_cancel_candidate){
        .task = id,
        .nth = task->next_step,
        .window = (uint8_t)(is_enabled & !task->is_freed ? window : BZ_WINDOW_NONE)};
}

/* A counting sort by window, stable in task order. Who cannot be hit sorts behind all others. */
static uint32_t collect(struct bz_world *world) {
    uint32_t task_count = world->book.task_count;
    uint32_t place[BZ_WINDOW_COUNT] = {0};
    uint32_t total = 0;
    reserve(world, 2 * task_count);
    struct bz_cancel_candidate *sorted = world->candidates;
    struct bz_cancel_candidate *unsorted = world->candidates + task_count;
    for (uint32_t index = 0; index < task_count; index++) {
        unsorted[index] = candidate(world, index + 1);
        place[unsorted[index].window]++;
    }
    for (uint32_t window = BZ_WINDOW_NONE + 1; window < BZ_WINDOW_COUNT; window++) {
        uint32_t count = place[window];
        place[window] = total;
        total += count;
    }
    place[BZ_WINDOW_NONE] = total;
    for (uint32_t index = 0; index < task_count; index++) {
        sorted[place[unsorted[index].window]++] = unsorted[index];
    }
    return total;
}

bool bz_world_inject(struct bz_world *world) {
    const struct bz_strategy *strategy = world->config.strategy;
    /* Nothing is left to disturb once every task has ended. */
    uint32_t count = world->book.unfinished == 0 ? 0 : collect(world);
    if (count == 0) {
        return false; /* asked again at the next point */
    }
    uint32_t answer = strategy->cancel(world->strategy_state, world->loop, world->candidates, count,
                                       world->step + 1, world->point);
    world->cancel_gap = strategy->cancel_gap(world->strategy_state);
    if (answer == 0) {
        return false;
    }
    const struct bz_cancel_candidate *victim = &world->candidates[answer - 1];
    world->cancels_left--;
    world->step++;
    bz_tape_append(&world->tape, (struct bz_choice){.kind = BZ_CHOICE_CANCEL,
                                                    .step = world->step,
                                                    .owner = victim->task,
                                                    .nth = victim->nth,
                                                    .value = world->point,
                                                    .window = victim->window});
    world->stats.injected++;
    bz_world_event(world, (struct bz_event){
                              .kind = BZ_EVENT_INJECT, .task = victim->task, .arg = world->point});
    bz_task_cancel(bz_world_find_task(world, victim->task));
    return true;
}
