/* bz_loop_run(), the driver that ships: on the system's clock, so nothing here expects a duration,
 * only an order and lower bounds. */
#include "primitives/tests/support.h"

#define MS UINT64_C(1000000)

struct sleeper {
    struct bz_loop *loop;
    struct tst_log *log;
    const char *name;
    uint64_t delay_ns;
    uint64_t slept_ns;
};

static enum bz_status sleeper_run(void *arg) {
    struct sleeper *sleeper = arg;
    uint64_t began_ns = bz_loop_now_ns(sleeper->loop);
    tst_say(sleeper->log, "%s", sleeper->name);
    enum bz_status status = bz_sleep(sleeper->loop, sleeper->delay_ns);
    sleeper->slept_ns = bz_loop_now_ns(sleeper->loop) - began_ns;
    tst_say(sleeper->log, "%s:%s", sleeper->name, bz_status_name(status));
    return status;
}

Test(run, wakes_sleepers_in_order_of_time) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct sleeper sleepers[] = {{loop, &log, "long", 20 * MS, 0},
                                 {loop, &log, "short", 1 * MS, 0},
                                 {loop, &log, "none", 0, 0},
                                 {loop, &log, "middle", 8 * MS, 0}};
    for (int index = 0; index < 4; index++) {
        tst_start(loop, sleeper_run, &sleepers[index]);
    }
    tst_status(bz_loop_run(loop), BZ_OK);
    tst_expect(&log, "long short none middle none:ok short:ok middle:ok long:ok");
    for (int index = 0; index < 4; index++) {
        cr_assert(ge(u64, sleepers[index].slept_ns, sleepers[index].delay_ns));
    }
    tst_end(loop);
}

/* The clock goes on from where it stood, wherever that was. */
Test(run, continues_the_loops_clock) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    uint64_t before_ns = UINT64_MAX / 2;
    bz_driver_set_now(loop, before_ns);
    struct sleeper sleeper = {loop, &log, "a", 2 * MS, 0};
    tst_start(loop, sleeper_run, &sleeper);
    tst_status(bz_loop_run(loop), BZ_OK);
    cr_assert(ge(u64, bz_loop_now_ns(loop), before_ns + 2 * MS));
    cr_assert(le(u64, bz_loop_now_ns(loop), before_ns + 3600 * 1000 * MS));
    uint64_t between_ns = bz_loop_now_ns(loop);
    tst_start(loop, sleeper_run, &sleeper);
    tst_status(bz_loop_run(loop), BZ_OK);
    cr_assert(ge(u64, bz_loop_now_ns(loop), between_ns + 2 * MS));
    tst_expect(&log, "a a:ok a a:ok");
    tst_end(loop);
}

/* It stands still during a turn. */
static enum bz_status compare_clocks(void *arg) {
    struct sleeper *sleeper = arg;
    sleeper->slept_ns = bz_loop_now_ns(sleeper->loop);
    return BZ_OK;
}

Test(run, holds_the_clock_during_a_turn) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct sleeper first = {loop, &log, "first", 0, 0};
    struct sleeper second = {loop, &log, "second", 0, 0};
    tst_start(loop, compare_clocks, &first);
    tst_start(loop, compare_clocks, &second);
    tst_status(bz_loop_run(loop), BZ_OK);
    cr_assert(eq(u64, first.slept_ns, second.slept_ns));
    tst_end(loop);
}

Test(run, of_an_empty_loop_returns_at_once) {
    struct bz_loop *loop = tst_begin();
    tst_status(bz_loop_run(loop), BZ_OK);
    tst_end(loop);
}

/* Nothing can ever run, and a task waits: that is said, not waited out. */
static enum bz_status wait_for_ever(void *arg) {
    return bz_future_await(arg);
}

Test(run, tells_of_a_deadlock) {
    struct bz_loop *loop = tst_begin();
    struct bz_future never;
    bz_future_init(&never, loop);
    struct bz_task *task = tst_spawn(loop, wait_for_ever, &never);
    tst_status(bz_loop_run(loop), BZ_INVALID_STATE);
    cr_assert(not(bz_task_is_done(task)));
    /* And it can be run again, once somebody has helped. */
    cr_assert(bz_task_cancel(task));
    tst_status(bz_loop_run(loop), BZ_OK);
    tst_status(tst_outcome(task), BZ_CANCELLED);
    tst_end(loop);
}

/* A far deadline does not keep a near one from coming. */
static enum bz_status cancel_later(void *arg) {
    struct bz_task *task = arg;
    enum bz_status status = bz_sleep(task->done.loop, 2 * MS);
    cr_assert(bz_task_cancel(task));
    return status;
}

static enum bz_status sleep_long(void *arg) {
    return bz_sleep(arg, BZ_TIME_NEVER / 2);
}

Test(run, takes_deadlines_beyond_any_clock) {
    struct bz_loop *loop = tst_begin();
    struct bz_task *task = tst_spawn(loop, sleep_long, loop);
    tst_start(loop, cancel_later, task);
    tst_status(bz_loop_run(loop), BZ_OK);
    tst_status(tst_outcome(task), BZ_CANCELLED);
    tst_end(loop);
}

static enum bz_status run_again(void *arg) {
    return bz_loop_run(arg);
}

Test(run, from_one_of_its_tasks_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    tst_start(loop, run_again, loop);
    tst_status(bz_loop_run(loop), BZ_OK);
}
