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

#define TWO_GUESTS "permits 1; a: acquire ~yield release; b: ~acquire; "

Test(cancel_delivered, timelines) {
    static const struct stage_row rows[] = {
        {"cancel-delivered/fires_when_an_operation_swallows_a_cancel", &swallows,
         "permits 2; a: acquire acquire yield release release; b: ~acquire; a b !b b",
         "mutual-exclusion 4: b acquired 'table' as holder"},
        {"", &bz_variant_zoo_go_63615,
         "permits 1; a: acquire yield release; b: ~acquire; a b a !b b",
         "cancel-delivered 5: b was cancelled in acquire of 'table', which returned 'ok' and "
         "swallowed the cancel"},
        {"cancel-delivered/fires_when_an_operation_invents_one", &invents,
         "permits 1; a: ~acquire; a",
         "cancel-delivered 1: a got 'cancelled' from acquire of 'table', which no cancel request "
         "had reached"},
        {"cancel-delivered/fires_when_a_waiter_is_cancelled_instead_of_woken", &cancels,
         "permits 1; a: acquire ~yield release; b: ~acquire; a b a b",
         "cancel-delivered 4: b got 'cancelled' from acquire of 'table', which no cancel request "
         "had reached"},
        /* No request, no cancel: a future of the primitive's own was cancelled. */
        {"cancel-delivered/is_silent_when_a_cancelled_future_is_a_signal", &signals,
         "permits 1; a: acquire yield release; b: acquire release; a b a b"},
        /* Requests that are taken back in time, or that meet no await because a permit is free. */
        {"cancel-delivered/is_silent_when_a_request_is_taken_back_or_never_meets_an_await",
         &bz_variant_buzzer, "permits 1; a: cancel-self uncancel yield acquire release"},
        {"", &bz_variant_buzzer, "permits 1; a: cancel-self acquire release"},
        {"", &bz_variant_buzzer, "permits 1; a: cancel-self acquire release ~yield yield"},
        {"", &bz_variant_buzzer,
         "permits 1; a: acquire yield release; b: cancel-self ~acquire acquire; a b"},
        /* A cancel of a task that joins another goes to the joined task, which may ignore it. */
        {"cancel-delivered/is_silent_when_a_joined_task_ignores_the_request", &bz_variant_buzzer,
         "permits 1; a: join-b yield; b: ~sleep yield; a b !a"
         " => b.sleep:cancelled b.yield:ok a.join-b:ok a.yield:ok"},
        {"cancel-delivered/is_silent_when_a_joined_task_passes_the_request_on", &bz_variant_buzzer,
         "permits 1; a: ~join-b yield; b: sleep; a b !a"
         " => b.sleep:cancelled a.join-b:cancelled a.yield:ok"},
        {"cancel-delivered/is_silent_in_every_window", &bz_variant_buzzer, TWO_GUESTS "!a"},
        {"", &bz_variant_buzzer, TWO_GUESTS "!b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a !a"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a b !b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a b a !b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a b !b !b b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a !b b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a b a !b !b b"},
        {"", &bz_variant_buzzer, TWO_GUESTS "a b a b !b"},
        {NULL},
    };
    stage_rows(rows);
}
