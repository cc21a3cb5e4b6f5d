/* The slots of the ready queue that are promised to live tasks, armed timers and callbacks: each is
 * given back, once, however the thing it was promised to ends. */
#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "primitives/tests/support.h"

#define ROUNDS 10000u
#define TIMERS 200u

static void fire(struct bz_timer *timer) {
    (void)timer;
}

static void call(struct bz_callback *callback, struct bz_future *future) {
    (void)callback;
    (void)future;
}

static enum bz_status do_nothing(void *arg) {
    (void)arg;
    return BZ_OK;
}

static enum bz_status sleep_ten(void *arg) {
    return bz_sleep(arg, 10);
}

static enum bz_status in_scopes(void *arg) {
    struct bz_group group;
    struct bz_timeout scope;
    tst_status(bz_timeout_enter(arg, &scope, 0), BZ_OK);
    tst_status(bz_timeout_reschedule(&scope, 0), BZ_OK);
    tst_status(bz_group_enter(arg, &group), BZ_OK);
    tst_status(bz_group_spawn(&group, "child", 0, sleep_ten, arg, NULL), BZ_OK);
    return bz_timeout_exit(&scope, bz_group_exit(&group, BZ_OK));
}

/* --- ways to end ------------------------------------------------------------------------------ */

static void task_ends(struct bz_loop *loop) {
    tst_start(loop, do_nothing, NULL);
    tst_run(loop);
}

static void task_is_cancelled_unstarted(struct bz_loop *loop) {
    struct bz_task *task = tst_spawn(loop, do_nothing, NULL);
    cr_assert(bz_task_cancel(task));
    tst_run(loop);
    bz_task_free(task);
}

static void sleeper_is_cancelled(struct bz_loop *loop) {
    struct bz_task *task = tst_spawn(loop, sleep_ten, loop);
    tst_turn(loop);
    cr_assert(bz_task_cancel(task));
    tst_run(loop);
    bz_task_free(task);
}

static void group_is_timed_out(struct bz_loop *loop) {
    struct bz_task *task = tst_spawn(loop, in_scopes, loop);
    tst_run(loop);
    tst_status(tst_outcome(task), BZ_TIMED_OUT);
}

/* Disarmed in the heap, disarmed in the queue, fired. */
static void timer_ends(struct bz_loop *loop) {
    struct bz_timer timer;
    bz_timer_init(&timer, loop, fire);
    for (int way = 0; way < 3; way++) {
        cr_assert(bz_timer_arm(&timer, bz_loop_now_ns(loop) + (way == 0)));
        cr_assert(eq(u32, bz_driver_queue_due_timers(loop), way > 0));
        if (way < 2) {
            bz_timer_disarm(&timer);
        }
        tst_run(loop);
    }
}

/* Removed, run, added too late. */
static void callback_ends(struct bz_loop *loop) {
    struct bz_future future;
    struct bz_callback callbacks[3];
    bz_future_init(&future, loop);
    bz_future_add_callback(&future, &callbacks[0], call);
    bz_future_add_callback(&future, &callbacks[1], call);
    cr_assert(bz_future_remove_callback(&callbacks[0]));
    cr_assert(not(bz_future_remove_callback(&callbacks[0])));
    tst_status(bz_future_set_result(&future, 0), BZ_OK);
    bz_future_add_callback(&future, &callbacks[2], call);
    tst_run(loop);
}

/* --- what was given back ---------------------------------------------------------------------- */

/* A slot that is kept would fill the small arena. A slot that is given back twice would be missing
 * when all timers are due in one turn, and no memory is left. */
static void gives_slots_back_once(void (*way)(struct bz_loop *loop)) {
    struct bz_loop_config config = {.mem_limit_bytes = 64 * 1024};
    struct bz_loop *loop = tst_begin_with(&config);
    static struct bz_timer timers[TIMERS];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        way(loop);
    }
    for (uint32_t index = 0; index < TIMERS; index++) {
        bz_timer_init(&timers[index], loop, fire);
        cr_assert(bz_timer_arm(&timers[index], bz_loop_now_ns(loop) + 1));
    }
    for (size_t size_bytes = 1 << 16; size_bytes > 0; size_bytes /= 2) {
        while (bz_mem_alloc(bz_loop_mem(loop), size_bytes) != NULL) {
        }
    }
    tst_run(loop);
    bz_loop_destroy(loop);
}

Test(promises, of_tasks_are_given_back_once) {
    gives_slots_back_once(task_ends);
    gives_slots_back_once(task_is_cancelled_unstarted);
    gives_slots_back_once(sleeper_is_cancelled);
    gives_slots_back_once(group_is_timed_out);
}

Test(promises, of_timers_are_given_back_once) {
    gives_slots_back_once(timer_ends);
}

Test(promises, of_callbacks_are_given_back_once) {
    gives_slots_back_once(callback_ends);
}
