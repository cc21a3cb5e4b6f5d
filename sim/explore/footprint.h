/* The footprint of a transition: the tasks and objects that it accesses, by its events. Two
 * transitions whose footprints are disjoint commute: both orders lead to the same state, neither
 * enables or disables the other, and each has the same effect in both. Sleep sets depend on that
 * (P. Godefroid, "Partial-Order Methods", 1996).
 *
 * A task is accessed by its own steps, and by a transition that wakes, cancels or inspects it. An
 * object is accessed by the calls and returns of its operations, and when one of its waiters is
 * woken or cancelled. Timers, the clock, memory, spawned and joined tasks, and callbacks have no
 * number: they are "the world".
 */
#ifndef BZ_SIM_EXPLORE_FOOTPRINT_H
#define BZ_SIM_EXPLORE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/native/world.h"

/* A transition, the step of a task or the cancel of one, as a bit: a set of them is a word. */
#define BZ_TRANSITION_TASKS_MAX 31u
#define BZ_TRANSITION_NONE UINT64_C(0) /* one that has no bit */

static inline uint64_t bz_transition_step(uint32_t task) {
    return task - 1 < BZ_TRANSITION_TASKS_MAX ? UINT64_C(1) << (task - 1) : BZ_TRANSITION_NONE;
}

static inline uint64_t bz_transition_cancel(uint32_t task) {
    return bz_transition_step(task) << BZ_TRANSITION_TASKS_MAX;
}

struct bz_footprint {
    uint64_t tasks;
    uint64_t objects;
    bool is_world;
    bool is_cancel;
};

/* Collects the footprint of a transition. */
struct bz_tracker {
    struct bz_event_sink sink; /* first */
    struct bz_world *world;
    struct bz_footprint footprint;
    uint64_t transition; /* its bit */
    bool has_begun;
    uint64_t timers_before;
    uint64_t memory_before;
};

void bz_tracker_init(struct bz_tracker *tracker, struct bz_world *world);

void bz_tracker_begin(struct bz_tracker *tracker);
void bz_tracker_end(struct bz_tracker *tracker);

/* Two cancels do not commute if only one is left. */
static inline bool bz_footprints_commute(const struct bz_footprint *a, const struct bz_footprint *b,
                                         uint32_t cancels_left) {
    return !a->is_world && !b->is_world && (a->tasks & b->tasks) == 0 &&
           (a->objects & b->objects) == 0 && !(a->is_cancel && b->is_cancel && cancels_left < 2);
}

static inline void bz_footprint_add(struct bz_footprint *sum, const struct bz_footprint *more) {
    sum->tasks |= more->tasks;
    sum->objects |= more->objects;
    sum->is_world |= more->is_world;
    sum->is_cancel |= more->is_cancel;
}

#endif
