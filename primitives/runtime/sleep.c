/* asyncio.sleep(): a future that a timer completes. */
#include "primitives/runtime/internal.h"

struct sleeper {
    struct bz_timer timer;
    struct bz_future future;
};

static void sleeper_fire(struct bz_timer *timer) {
    struct sleeper *sleeper = bz_container_of(timer, struct sleeper, timer);
    (void)bz_future_set_result(&sleeper->future, 0); /* refused if cancelled meanwhile */
}

enum bz_status bz_sleep(struct bz_loop *loop, uint64_t delay_ns) {
    if (delay_ns == 0) {
        return bz_yield(loop);
    }
    struct sleeper sleeper;
    bz_future_init(&sleeper.future, loop);
    bz_timer_init(&sleeper.timer, loop, sleeper_fire);
    if (!bz_timer_arm(&sleeper.timer, bz_time_after(loop->now_ns, delay_ns))) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = bz_future_await_as(&sleeper.future, BZ_WAIT_SLEEP);
    bz_timer_disarm(&sleeper.timer);
    return status;
}
