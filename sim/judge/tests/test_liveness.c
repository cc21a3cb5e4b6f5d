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
TOY(polls_with_view, 0, .acquire = toy_poll);

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

Test(liveness, timelines) {
    static const struct stage_row rows[] = {
        /* --- lost-wakeup --- */
        {"lost-wakeup/fires_at_the_release_that_wakes_nobody", &forgets,
         "permits 1; a: acquire yield release; b: acquire release; a b a",
         "lost-wakeup 3: 1 of 1 permit of 'table' is free, but b waits (first of 1 waiter)"},
        {"", &forgets_unseen, "permits 1; a: acquire yield release; b: acquire release; a b a",
         "lost-wakeup 3: 1 of 1 permit of 'table' is free, but b waits (first of 1 waiter)"},
        /* In the window: b is woken, cancelled before it resumes, and does not pass the wake-up
         * on. */
        {"lost-wakeup/fires_when_a_cancelled_waiter_keeps_its_wake_up",
         &bz_variant_zoo_sem_woken_cancel,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c a !b b",
         "lost-wakeup 6: 1 of 1 permit of 'table' is free, but c waits (first of 1 waiter)"},
        /* The same schedule up to the step before: the woken waiter may still pass it on. */
        {"lost-wakeup/is_silent_while_a_cancelled_or_woken_one_is_under_way", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c a !b b"},
        /* c is granted, b has been cancelled before the release and has not resumed: in between, a
         * permit is free and only C is in flight. */
        {"", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c !b a b c"},
        {"lost-wakeup/waits_for_a_callback_that_is_under_way", &defers,
         "permits 1; a: acquire yield release; b: acquire release; a b a"},
        {"", &defers_lost, "permits 1; a: acquire yield release; b: acquire release; a b a .",
         "lost-wakeup 4: b waits (first of 1 waiter)"},
        /* The helper is the third task. No cancel is injected into it. */
        {"lost-wakeup/waits_for_a_helper", &helps,
         "permits 1; a: acquire yield release; b: acquire; a b a"},
        {"", &helps, "permits 1; a: acquire yield release; b: acquire; a b a !c c"},
        {"", &helps_nobody, "permits 1; a: acquire yield release; b: acquire; a b a c",
         "lost-wakeup 4: b waits (first of 1 waiter)"},
        {"lost-wakeup/waits_for_a_timer_of_the_variant", &is_late,
         "permits 1; a: acquire yield release; b: acquire; a b a"},
        {"", &is_late_lost, "permits 1; a: acquire yield release; b: acquire; a b a .",
         "lost-wakeup 4: b waits (first of 1 waiter)"},
        /* A waiter that polls needs no wake-up. */
        {"lost-wakeup/is_silent_about_waiters_that_poll", &polls,
         "permits 1; a: acquire yield release; b: acquire release; a b b b b a b"},
        /* a keeps it: no wake-up is lost, and none will come. */
        {"lost-wakeup/is_silent_when_every_permit_is_taken", &forgets,
         "permits 1; a-b: acquire; a b",
         "deadlock 2: b (in acquire of 'table'); 'table' is held by a (ended)"},

        /* --- deadlock --- */
        {"deadlock/fires_when_tasks_wait_for_each_other_or_themselves", &bz_variant_buzzer,
         "permits 1; a: join-b; b: join-a; a b",
         "deadlock 2: nothing can run, and 2 of 2 tasks have not ended: a (in join), b (in join)"},
        {"", &bz_variant_buzzer, "permits 1; a: acquire acquire; b: yield; a b",
         "deadlock 3: a (in acquire of 'table'); 'table' is held by a (in acquire of 'table')"},
        /* The message names the first four. */
        {"deadlock/names_only_the_first_of_many", &bz_variant_buzzer,
         "permits 1; a-f: acquire yield acquire",
         "deadlock 7: 6 of 6 tasks have not ended: a (in acquire of 'table'), b (in acquire of "
         "'table'), c (in acquire of 'table'), d (in acquire of 'table'), ..."},

        /* --- livelock --- */
        {"livelock/fires_when_the_run_repeats_itself_however_short_it_was", &polls_with_view,
         "semaphore 1 order=fifo max-steps=3; a-b: acquire",
         "livelock 3: what runs: b (in acquire of 'table')"},
        {"", &polls_with_view, "semaphore 1 order=fifo max-steps=100; a-b: acquire",
         "livelock 100: what runs: b (in acquire of 'table')"},
        /* b polls, and the holder sleeps. */
        {"livelock/lets_time_pass_while_nothing_but_polls_is_left", &polls_with_view,
         "semaphore 1 order=fifo max-steps=50; a: acquire doze release; b: acquire release"},

        /* --- leak --- */
        /* The lock is never released: a release would take the entry out. */
        {"leak/fires_when_a_cancelled_entry_stays_behind", &bz_variant_zoo_am_54,
         "permits 1; a: acquire yield; b: ~acquire; a b !b",
         "leak 5: every task has ended, but 1 entry is left in the queue of 'table'"},
        {"leak/is_silent_when_all_have_left", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: ~acquire; c: acquire release; a b c !b"},
        {NULL},
    };
    stage_rows(rows);
}

/* The clock moves on to a timer that is pending. */
Test(deadlock, is_silent_while_a_timer_is_pending) {
    static const struct stage_row row = {
        "deadlock", &bz_variant_buzzer,
        "permits 1; a: acquire sleep doze release; b: acquire release; a b"};
    struct stage stage;
    stage_row_begin(&stage, &row, stage_word);
    cr_assert_eq(stage.world->loop->now_ns, 40);
    stage_end(&stage);
}

/* b releases the permit of a, so the count of a says nothing any more. */
Test(deadlock, names_no_holder_after_a_release_of_another_task) {
    static const struct stage_row row = {"deadlock", &bz_variant_buzzer,
                                         "permits 1; a: acquire; b: release acquire acquire; a b",
                                         "deadlock 2: b (in acquire of 'table')"};
    struct stage stage;
    stage_row_begin(&stage, &row, stage_word);
    cr_assert_null(strstr(bz_judge_violation(stage.world->judge)->message, "held"));
    stage_end(&stage);
}

/* The number of polls that are left is on its stack. */
Test(livelock, is_silent_about_a_run_that_is_cut_short) {
    for (unsigned steps_max = 1; steps_max <= 256; steps_max *= 2) {
        char timeline[64];
        snprintf(timeline, sizeof timeline, "semaphore 1 order=fifo max-steps=%u; a-b: acquire",
                 steps_max);
        stage_row_with(&(struct stage_row){timeline, &polls_for_long, timeline, "out-of-steps"},
                       stage_word);
    }
}

Test(leak, is_silent_without_a_view) {
    struct bz_permit_ops ops = bz_zoo_ops_am_54;
    struct bz_variant unseen = bz_variant_zoo_am_54;
    ops.view = NULL;
    unseen.permits[BZ_PRIMITIVE_LOCK] = &ops;
    stage_row_with(
        &(struct stage_row){"leak", &unseen, "permits 1; a: acquire yield; b: ~acquire; a b !b"},
        stage_word);
}
