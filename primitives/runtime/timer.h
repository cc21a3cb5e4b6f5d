/* Timers, in a binary heap with back-pointers: arming and disarming are O(log n).
 *
 * Timers that are due at the same instant become ready in the order in which they were armed. The
 * caller provides a timer's storage, which must stay in place until the timer has run or was
 * disarmed.
 */
#ifndef BZ_RUNTIME_TIMER_H
#define BZ_RUNTIME_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/handle.h"

BZ_BEGIN_DECLS

struct bz_loop;

#define BZ_TIME_NEVER UINT64_MAX

/* The time `delay_ns` after `now_ns`; BZ_TIME_NEVER instead of an overflow. */
static inline uint64_t bz_time_after(uint64_t now_ns, uint64_t delay_ns) {
    return delay_ns >= BZ_TIME_NEVER - now_ns ? BZ_TIME_NEVER : now_ns + delay_ns;
}

struct bz_timer {
    struct bz_handle handle;
    struct bz_loop *loop;
    void (*fire)(struct bz_timer *timer);
    uint64_t when_ns;    /* BZ_TIME_NEVER: armed by bz_timer_arm_now() */
    uint64_t order;      /* arming order: breaks ties, unless rules.h says otherwise */
    uint32_t heap_index; /* UINT32_MAX: not in the heap */
};

/* Prepares a timer, which is not armed yet. */
void bz_timer_init(struct bz_timer *timer, struct bz_loop *loop,
                   void (*fire)(struct bz_timer *timer));

/* Arms it for `when_ns` on the loop's clock. A time in the past fires in the next turn;
 * BZ_TIME_NEVER arms nothing. False if the loop is out of memory. */
bool bz_timer_arm(struct bz_timer *timer, uint64_t when_ns);

/* Queues an unarmed timer behind the handles that are ready now, as asyncio's call_soon does for a
 * deadline that has passed. False if the loop is out of memory. */
bool bz_timer_arm_now(struct bz_timer *timer);

/* Removes it from the heap, or from the ready queue if it is due and has not run: O(queue). Does
 * nothing to a timer that is not armed. */
void bz_timer_disarm(struct bz_timer *timer);

BZ_END_DECLS

#endif
