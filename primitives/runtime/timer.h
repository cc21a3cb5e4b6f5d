/* Timers, in a binary heap with back-pointers: arming and disarming are O(log n).
 *
 * Timers that are due at the same instant become ready in the order in which they were armed
 * (asyncio leaves that order unspecified). A timer's storage belongs to the caller and must stay
 * where it is until the timer has run or was disarmed.
 */
#ifndef BZ_RUNTIME_TIMER_H
#define BZ_RUNTIME_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/handle.h"

BZ_BEGIN_DECLS

struct bz_loop;

#define BZ_TIME_NEVER UINT64_MAX

/* The end of time is never reached: what would lie beyond it never comes. */
static inline uint64_t bz_time_after(uint64_t now_ns, uint64_t delay_ns) {
    return delay_ns >= BZ_TIME_NEVER - now_ns ? BZ_TIME_NEVER : now_ns + delay_ns;
}

struct bz_timer {
    struct bz_handle handle;
    struct bz_loop *loop;
    void (*fire)(struct bz_timer *timer);
    uint64_t when_ns;    /* BZ_TIME_NEVER: by bz_timer_arm_now() */
    uint64_t order;      /* arming order: breaks ties */
    uint32_t heap_index; /* UINT32_MAX: not in the heap */
};

/* Prepares a timer that belongs to no heap yet. */
void bz_timer_init(struct bz_timer *timer, struct bz_loop *loop,
                   void (*fire)(struct bz_timer *timer));

/* Arms it for `when_ns` on the loop's clock; a time that has passed fires in the next turn. With
 * BZ_TIME_NEVER nothing is armed, and nothing will fire. False when the loop is out of memory. */
bool bz_timer_arm(struct bz_timer *timer, uint64_t when_ns);

/* Queues a timer that is not armed as if it were due, without a detour through the heap: it keeps
 * its place among the handles that are ready now, as asyncio's call_soon for a deadline that has
 * passed. False when the loop is out of memory. */
bool bz_timer_arm_now(struct bz_timer *timer);

/* Takes it out of the heap, or out of the ready queue if it is due and has not run. Harmless on a
 * timer that is not armed. */
void bz_timer_disarm(struct bz_timer *timer);

BZ_END_DECLS

#endif
