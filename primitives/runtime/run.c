/* bz_loop_run(). No other file of the library reads the system's clock or sleeps. */
#include <errno.h>
#include <time.h>

#include "primitives/runtime/internal.h"

#define NS_PER_S UINT64_C(1000000000)
#define LAST_NS ((uint64_t)INT64_MAX) /* the latest time that the kernel accepts */

static uint64_t monotonic_ns(void) {
    struct timespec now;
    BZ_CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Waits until the loop's clock (the system's minus `origin_ns`) shows the deadline. */
static void wait_until(uint64_t origin_ns, uint64_t deadline_ns) {
    uint64_t system_ns = monotonic_ns();
    uint64_t loop_ns = system_ns - origin_ns;
    if (deadline_ns <= loop_ns) {
        return;
    }
    uint64_t delay_ns = deadline_ns - loop_ns;
    uint64_t when_ns = delay_ns > LAST_NS - system_ns ? LAST_NS : system_ns + delay_ns;
    struct timespec when = {.tv_sec = (time_t)(when_ns / NS_PER_S),
                            .tv_nsec = (long)(when_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {
    }
}

enum bz_status bz_loop_run(struct bz_loop *loop) {
    BZ_CHECK(loop->current == NULL);
    uint64_t origin_ns = monotonic_ns() - loop->now_ns;
    for (;;) {
        if (loop->ready_count == 0) {
            uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
            if (deadline_ns == BZ_TIME_NEVER) {
                break;
            }
            wait_until(origin_ns, deadline_ns);
        }
        bz_driver_set_now(loop, monotonic_ns() - origin_ns);
        bz_driver_begin_turn(loop);
        while (loop->turn_left > 0) {
            bz_loop_step(loop, bz_loop_take(loop, 0));
        }
    }
    return loop->live_tasks == 0 ? BZ_OK : BZ_INVALID_STATE;
}
