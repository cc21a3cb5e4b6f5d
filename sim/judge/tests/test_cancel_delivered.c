/* cancel-delivered: a request that was accepted surfaces exactly once. */
#include "sim/tests/toys.h"

/* Says OK although it was cancelled, even without a permit. The zoo's faults have one. */
static enum bz_status swallows_acquire(void *instance) {
    (void)bz_zoo_semaphore_acquire(instance);
    return BZ_OK;
}

/* Says that it was cancelled, although nobody asked. No entry of the zoo does that. */
static enum bz_status invents_acquire(void *instance) {
    (void)instance;
    return BZ_CANCELLED;
}

/* Cancels the oldest waiter instead of waking it. No entry of the zoo does that either. */
static enum bz_status cancels_release(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    toy->value++;
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&toy->queue);
    if (oldest != NULL) {
        bz_future_cancel(&oldest->future);
    }
    return BZ_OK;
}

/* A cancelled future is how it wakes a task: that task has the permit, unless it was asked to
 * leave. Without a fault. */
static enum bz_status signals_acquire(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    while (toy->value == 0) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&toy->queue, &waiter);
        if (status != BZ_OK && bz_task_cancelling(bz_loop_current(toy->queue.loop)) > 0) {
            return status;
        }
    }
    toy->value--;
    return BZ_OK;
}

TOY(signals, 0, .acquire = signals_acquire, .release = cancels_release, .view = NULL);
TOY(swallows, TOY_CLAIMS_ALL, .acquire = swallows_acquire, .view = NULL);
TOY(invents, TOY_CLAIMS_ALL, .acquire = invents_acquire);
TOY(cancels, 0, .release = cancels_release, .view = NULL);

static const char *const two_guests[] = {"acquire ~yield release", "~acquire", NULL};

Test(cancel_delivered, fires_when_an_operation_swallows_a_cancel) {
    toy_fails(&swallows, 2, STAGE_SCRIPTS("acquire acquire yield release release", "~acquire"),
              "a b !b b", "mutual-exclusion", 4, "b acquired 'table' as holder");
    toy_fails(
        &bz_variant_zoo_go_63615, 1, STAGE_SCRIPTS("acquire yield release", "~acquire"),
        "a b a !b b", "cancel-delivered", 5,
        "b was cancelled in acquire of 'table', which returned 'ok' and swallowed the cancel");
}

Test(cancel_delivered, fires_when_an_operation_invents_one) {
    toy_fails(&invents, 1, STAGE_SCRIPTS("~acquire"), "a", "cancel-delivered", 1,
              "a got 'cancelled' from acquire of 'table', which no cancel request had reached");
}

Test(cancel_delivered, fires_when_a_waiter_is_cancelled_instead_of_woken) {
    toy_fails(&cancels, 1, two_guests, "a b a b", "cancel-delivered", 4,
              "b got 'cancelled' from acquire of 'table', which no cancel request had reached");
}

/* No request, no cancel: a future of the primitive's own was cancelled. */
Test(cancel_delivered, is_silent_when_a_cancelled_future_is_a_signal) {
    toy_passes(&signals, 1, STAGE_SCRIPTS("acquire yield release", "acquire release"), "a b a b");
}

Test(cancel_delivered, is_silent_in_every_window) {
    static const char *const plans[] = {"!a",        "!b",          "a !a",   "a b !b",
                                        "a b a !b",  "a b !b !b b", "a !b b", "a b a !b !b b",
                                        "a b a b !b"};
    for (size_t index = 0; index < sizeof plans / sizeof plans[0]; index++) {
        toy_passes(&bz_variant_buzzer, 1, two_guests, plans[index]);
    }
}

/* Requests that are taken back in time, or that meet no await because a permit is free. */
Test(cancel_delivered, is_silent_when_a_request_is_taken_back_or_never_meets_an_await) {
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("cancel-self uncancel yield acquire release"),
               "");
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("cancel-self acquire release"), "");
    toy_passes(&bz_variant_buzzer, 1, STAGE_SCRIPTS("cancel-self acquire release ~yield yield"),
               "");
    toy_passes(&bz_variant_buzzer, 1,
               STAGE_SCRIPTS("acquire yield release", "cancel-self ~acquire acquire"), "a b");
}

/* A cancel of a task that joins another goes to the joined task, which may ignore it. */
Test(cancel_delivered, is_silent_when_a_joined_task_ignores_the_request) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_guests(&stage, STAGE_SCRIPTS("join yield", "~sleep yield"));
    stage.actors[0].other = stage.tasks[1];
    stage_play(&stage, "a b !a");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "b.sleep:cancelled b.yield:ok a.join:ok a.yield:ok");
    stage_end(&stage);
}

Test(cancel_delivered, is_silent_when_a_joined_task_passes_the_request_on) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_guests(&stage, STAGE_SCRIPTS("~join yield", "sleep"));
    stage.actors[0].other = stage.tasks[1];
    stage_play(&stage, "a b !a");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "b.sleep:cancelled a.join:cancelled a.yield:ok");
    stage_end(&stage);
}
