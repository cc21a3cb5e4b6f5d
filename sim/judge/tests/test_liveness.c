/* lost-wakeup, deadlock, livelock, leak. */
#include "primitives/runtime/timer.h"
#include "sim/tests/toys.h"

/* Wakes nobody. The zoo's faults wake somebody unless there is a race. */
static enum bz_status forgets_release(void *instance) {
    ((struct bz_zoo_semaphore *)instance)->value++;
    return BZ_OK;
}

/* Schedules a callback, which wakes nobody. That of zoo/q-deferred-set meets a cancelled waiter. */
static void wake_nobody(struct bz_handle *handle) {
    (void)handle;
}

static enum bz_status defers_lost_release(void *instance) {
    forgets_release(instance);
    toy_defer(instance, wake_nobody);
    return BZ_OK;
}

/* Wakes from a task of its own, or from a timer. Then again from a task and a timer that wake
 * nobody. */
struct toy_helped {
    struct bz_zoo_semaphore semaphore;
    struct bz_timer timer;
};

static enum bz_status help(void *arg) {
    bz_zoo_semaphore_wake_all_that_fit(arg);
    return BZ_OK;
}

static enum bz_status idle(void *arg) {
    (void)arg;
    return BZ_OK;
}

static enum bz_status helped_release(struct bz_zoo_semaphore *toy, bz_task_fn *helper) {
    struct bz_task *task = bz_task_spawn(toy->queue.loop, "helper", 0, helper, toy);
    cr_assert_not_null(task);
    bz_task_detach(task);
    return forgets_release(toy);
}

static enum bz_status helps_release(void *instance) {
    return helped_release(instance, help);
}

static enum bz_status helps_nobody_release(void *instance) {
    return helped_release(instance, idle);
}

static void on_late(struct bz_timer *timer) {
    bz_zoo_semaphore_wake_all_that_fit(
        &bz_container_of(timer, struct toy_helped, timer)->semaphore);
}

static void on_late_lost(struct bz_timer *timer) {
    (void)timer;
}

static enum bz_status late_release_by(struct toy_helped *toy,
                                      void (*fire)(struct bz_timer *timer)) {
    struct bz_loop *loop = toy->semaphore.queue.loop;
    bz_timer_init(&toy->timer, loop, fire);
    cr_assert(bz_timer_arm(&toy->timer, bz_loop_now_ns(loop) + 5));
    return forgets_release(toy);
}

static enum bz_status late_release(void *instance) {
    return late_release_by(instance, on_late);
}

static enum bz_status late_lost_release(void *instance) {
    return late_release_by(instance, on_late_lost);
}

#define HELPED .instance_bytes = sizeof(struct toy_helped)

TOY(helps, BZ_CLAIM_WAKE_IS_GRANT, HELPED, .release = helps_release);
TOY(helps_nobody, BZ_CLAIM_WAKE_IS_GRANT, HELPED, .release = helps_nobody_release);
TOY(is_late, BZ_CLAIM_WAKE_IS_GRANT, HELPED, .release = late_release);
TOY(is_late_lost, BZ_CLAIM_WAKE_IS_GRANT, HELPED, .release = late_lost_release);
TOY(forgets, TOY_CLAIMS_ALL, .release = forgets_release);
TOY(forgets_unseen, 0, .release = forgets_release, .view = NULL);
TOY(defers, TOY_CLAIMS_ALL & ~BZ_CLAIM_LOCKED_EXACT, TOY_DEFERS);
TOY(defers_lost, TOY_CLAIMS_ALL, TOY_DEFERS, .release = defers_lost_release);
TOY(polls, 0, .acquire = toy_poll, .view = NULL);

static const char *const two_guests[] = {"acquire yield release", "acquire release", NULL};
static const char *const three_guests[] = {"acquire yield release", "~acquire", "acquire release",
                                           NULL};

/* --- lost-wakeup ------------------------------------------------------------------------------ */

Test(lost_wakeup, fires_at_the_release_that_wakes_nobody) {
    static const struct bz_variant *const variants[] = {&forgets, &forgets_unseen};
    for (int index = 0; index < 2; index++) {
        toy_fails(variants[index], 1, two_guests, "a b a", "lost-wakeup", 3,
                  "1 of 1 permit of 'table' is free, but b waits (first of 1 waiter)");
    }
}

/* In the window: b is woken, cancelled before it resumes, and does not pass the wake-up on. */
Test(lost_wakeup, fires_when_a_cancelled_waiter_keeps_its_wake_up) {
    toy_fails(&bz_variant_zoo_sem_woken_cancel, 1, three_guests, "a b c a !b b", "lost-wakeup", 6,
              "1 of 1 permit of 'table' is free, but c waits (first of 1 waiter)");
}

/* The same schedule up to the step before: the woken waiter may still pass it on. */
Test(lost_wakeup, is_silent_while_a_cancelled_or_woken_one_is_under_way) {
    toy_passes(&bz_variant_buzzer, 1, three_guests, "a b c a !b b");
    /* c is granted, b has been cancelled before the release and has not resumed: in between, a
     * permit is free and only C is in flight. */
    toy_passes(&bz_variant_buzzer, 1, three_guests, "a b c !b a b c");
}

Test(lost_wakeup, waits_for_a_callback_that_is_under_way) {
    toy_passes(&defers, 1, two_guests, "a b a");
    toy_fails(&defers_lost, 1, two_guests, "a b a .", "lost-wakeup", 4,
              "b waits (first of 1 waiter)");
}

/* The helper is the third task. No cancel is injected into it. */
Test(lost_wakeup, waits_for_a_helper) {
    static const char *const guests[] = {"acquire yield release", "acquire", NULL};
    toy_passes(&helps, 1, guests, "a b a");
    toy_passes(&helps, 1, guests, "a b a !c c");
    toy_fails(&helps_nobody, 1, guests, "a b a c", "lost-wakeup", 4, "b waits (first of 1 waiter)");
}

Test(lost_wakeup, waits_for_a_timer_of_the_variant) {
    static const char *const guests[] = {"acquire yield release", "acquire", NULL};
    toy_passes(&is_late, 1, guests, "a b a");
    toy_fails(&is_late_lost, 1, guests, "a b a .", "lost-wakeup", 4, "b waits (first of 1 waiter)");
}

/* A waiter that polls needs no wake-up. */
Test(lost_wakeup, is_silent_about_waiters_that_poll) {
    toy_passes(&polls, 1, two_guests, "a b b b b a b");
}

Test(lost_wakeup, is_silent_when_every_permit_is_taken) {
    struct stage stage;
    stage_begin(&stage, &forgets, 1);
    stage_act(&stage, STAGE_SCRIPTS("acquire", "acquire"),
              "a b"); /* a keeps it: no wake-up is lost, and none will come */
    stage_expect_violation(&stage, "deadlock", 2,
                           "b (in acquire of 'table'); 'table' is held by a (ended)");
    stage_end(&stage);
}

/* --- deadlock --------------------------------------------------------------------------------- */

static void wait_for_each_other(struct stage *stage, const char *first, const char *second) {
    stage_begin(stage, &bz_variant_buzzer, 1);
    stage_guest(stage, first);
    stage_guest(stage, second);
    stage->actors[0].other = stage->tasks[1];
    stage->actors[1].other = stage->tasks[0];
    stage_play(stage, "a b");
}

Test(deadlock, fires_when_tasks_wait_for_each_other_or_themselves) {
    struct stage stage;
    wait_for_each_other(&stage, "join", "join");
    stage_expect_violation(
        &stage, "deadlock", 2,
        "nothing can run, and 2 of 2 tasks have not ended: a (in join), b (in join)");
    stage_end(&stage);
    wait_for_each_other(&stage, "acquire acquire", "yield");
    stage_expect_violation(
        &stage, "deadlock", 3,
        "a (in acquire of 'table'); 'table' is held by a (in acquire of 'table')");
    stage_end(&stage);
}

/* b releases the permit of a, so the count of a says nothing any more. */
Test(deadlock, names_no_holder_after_a_release_of_another_task) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_act(&stage, STAGE_SCRIPTS("acquire", "release acquire acquire"), "a b");
    stage_expect_violation(&stage, "deadlock", 2, "b (in acquire of 'table')");
    cr_assert_null(strstr(bz_judge_violation(stage.world->judge)->message, "held"));
    stage_end(&stage);
}

/* The message names the first four. */
Test(deadlock, names_only_the_first_of_many) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    for (int guest = 0; guest < 6; guest++) {
        stage_guest(&stage, "acquire yield acquire");
    }
    stage_play(&stage, "");
    stage_expect_violation(&stage, "deadlock", 7,
                           "6 of 6 tasks have not ended: a (in acquire of "
                           "'table'), b (in acquire of 'table'), c (in acquire "
                           "of 'table'), d (in acquire of 'table'), ...");
    stage_end(&stage);
}

/* The clock moves on to a timer that is pending. */
Test(deadlock, is_silent_while_a_timer_is_pending) {
    struct stage stage;
    wait_for_each_other(&stage, "acquire sleep doze release", "acquire release");
    stage_expect_pass(&stage);
    cr_assert_eq(stage.world->loop->now_ns, 40);
    stage_end(&stage);
}

/* --- livelock --------------------------------------------------------------------------------- */

TOY(polls_with_view, 0, .acquire = toy_poll);

static void spin(struct stage *stage, uint32_t steps_max) {
    struct bz_judge_config config = stage_config(BZ_ORDER_FIFO);
    config.steps_max = steps_max;
    stage_begin_with(stage, &polls_with_view, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
    stage_guest(stage, "acquire");
    stage_guest(stage, "acquire");
    stage_play(stage, "");
}

Test(livelock, fires_when_the_run_repeats_itself_however_short_it_was) {
    struct stage stage;
    for (uint32_t steps_max = 3; steps_max <= 100; steps_max += 97) {
        spin(&stage, steps_max);
        stage_expect_violation(&stage, "livelock", steps_max,
                               "what runs: b (in acquire of 'table')");
        cr_assert_eq(stage.world->judge->step, steps_max);
        stage_end(&stage);
    }
}

/* Polls, but gives up after a while. */
static enum bz_status poll_for_long(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    enum bz_status status = BZ_OK;
    for (uint32_t left = 300; status == BZ_OK && toy->value == 0 && left > 0; left--) {
        status = bz_yield(toy->queue.loop);
    }
    toy->value -= toy->value > 0;
    return status;
}

TOY(polls_for_long, 0, .acquire = poll_for_long, .view = NULL);

static void expect_out_of_steps(struct stage *stage) {
    cr_assert_null((void *)stage->world->judge->violation.oracle, "%s",
                   stage->world->judge->violation.message);
    cr_assert_eq(stage->world->judge->end, BZ_RUN_OUT_OF_STEPS);
    stage_end(stage);
}

/* The number of polls that are left is on its stack. */
Test(livelock, is_silent_about_a_run_that_is_cut_short) {
    struct stage stage;
    struct bz_judge_config config = stage_config(BZ_ORDER_FIFO);
    for (config.steps_max = 1; config.steps_max <= 256; config.steps_max *= 2) {
        stage_begin_with(&stage, &polls_for_long, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
        stage_act(&stage, STAGE_SCRIPTS("acquire", "acquire"), "");
        expect_out_of_steps(&stage);
    }
}

/* Without a clock jump, b polls for ever; the holder sleeps. */
Test(livelock, is_silent_while_a_timer_would_end_it) {
    struct stage stage;
    struct bz_judge_config config = stage_config(BZ_ORDER_FIFO);
    config.steps_max = 50;
    stage_begin_with(&stage, &polls_with_view, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
    stage_act(&stage, STAGE_SCRIPTS("acquire doze release", "acquire release"), "");
    expect_out_of_steps(&stage);
}

/* --- leak ------------------------------------------------------------------------------------- */

static const struct bz_variant *am_54(bool has_view) {
    static struct bz_permit_ops ops;
    static struct bz_variant variant;
    ops = bz_zoo_ops_am_54;
    ops.view = has_view ? ops.view : NULL;
    variant = bz_variant_zoo_am_54;
    variant.permits[BZ_PRIMITIVE_LOCK] = &ops;
    return &variant;
}

/* The lock is never released: a release would take the entry out. */
static const char *const keeps_it[] = {"acquire yield", "~acquire", NULL};

Test(leak, fires_when_a_cancelled_entry_stays_behind) {
    toy_fails(am_54(true), 1, keeps_it, "a b !b", "leak", 5,
              "every task has ended, but 1 entry is left in the queue of 'table'");
}

Test(leak, is_silent_without_a_view_and_when_all_have_left) {
    toy_passes(am_54(false), 1, keeps_it, "a b !b");
    toy_passes(&bz_variant_buzzer, 1, three_guests, "a b c !b");
}
