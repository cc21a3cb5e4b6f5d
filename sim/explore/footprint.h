/* What a transition touched, from its events: tasks, objects, or "the world", which is everything
 * that has no number here. Two transitions that touch nothing in common commute: after either order
 * the state is the same, neither enables or disables the other, and each does what it would have
 * done alone. That is what sleep sets need to know (Godefroid, Partial-Order Methods, 1996).
 *
 * A task is touched by its own steps, by who wakes, cancels or looks at it; an object by every call
 * and return of an operation, and when one of its waiters is woken or cancelled. Timers, the clock,
 * memory, spawned and joined tasks, callbacks: the world.
 */
#ifndef BZ_SIM_EXPLORE_FOOTPRINT_H
#define BZ_SIM_EXPLORE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/native/world.h"

/* Which transition it is: the step of a task, or the cancel of one; as a bit, so that sets of them
 * are words. */
#define BZ_TRANSITION_TASKS_MAX 31u
#define BZ_TRANSITION_NONE UINT64_C(0) /* none that has a bit */

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

/* Listens to a transition. */
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

/* Around a transition. */
void bz_tracker_begin(struct bz_tracker *tracker);
void bz_tracker_end(struct bz_tracker *tracker);

/* `cancels_left`: two cancels that share the last one do not commute. */
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
