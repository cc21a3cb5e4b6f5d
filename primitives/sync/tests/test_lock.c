/* What is the lock's own: misuse, and that it is handed over. */
#include "primitives/sync/tests/stage_permits.h"

Test(lock, release_of_a_free_lock_is_refused) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    cr_assert(not(stage_locked(&stage)));
    stage_guest(&stage, 'a', "acquire release ~release acquire release");
    stage_end(&stage, "a.acquire:ok a.release:not-held a.acquire:ok");
}

/* In the window nobody holds it yet: the guest that was granted has not come back. A second release
 * there would let two in. */
Test(lock, release_in_the_window_is_refused) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    tst_status(stage_acquire(&stage), BZ_OK);
    stage_guests(&stage, 'a', 'b', "acquire await release");
    stage_turn(&stage);
    stage_give_back(&stage);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_expect_queue(&stage, 1, 1, 0);
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok");
    tst_status(bz_future_set_result(&stage.futures[0], 0), BZ_OK);
    stage_run(&stage);
    tst_status(bz_future_set_result(&stage.futures[1], 0), BZ_OK);
    stage_end(&stage, "a.acquire:ok a.await:ok b.acquire:ok b.await:ok");
}

/* Hand-over: from the release on it is the waiter's, before the waiter has run. */
Test(lock, is_handed_over_by_the_release) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    tst_status(stage_acquire(&stage), BZ_OK);
    stage_guest(&stage, 'a', "acquire release");
    stage_turn(&stage);
    stage_give_back(&stage);
    cr_assert(not(stage.lock.is_held), "not held by a task that has resumed");
    cr_assert(bz_lock_locked(&stage.lock));
    stage_turn(&stage);
    cr_assert(not(bz_lock_locked(&stage.lock)));
    stage_end(&stage, "a.acquire:ok");
}

/* Not reentrant: who acquires twice waits for itself, and can be helped by a cancel. */
Test(lock, is_not_reentrant) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    stage_guest(&stage, 'a', "acquire ~acquire release");
    stage_run(&stage);
    cr_assert(not(bz_task_is_done(stage.tasks[0])));
    stage_cancel(&stage, 'a');
    stage_end(&stage, "a.acquire:ok a.acquire:cancelled");
    cr_assert(not(bz_lock_locked(&stage.lock)));
}

/* Never two inside, whatever the guests do between. */
static enum bz_status visit(void *arg) {
    struct stage *stage = arg;
    for (int round = 0; round < 50; round++) {
        tst_status(stage_acquire(stage), BZ_OK);
        cr_assert(eq(u32, stage->holders, 1));
        tst_status(bz_yield(stage->loop), BZ_OK);
        cr_assert(eq(u32, stage->holders, 1));
        tst_status(stage_release(stage), BZ_OK);
    }
    return BZ_OK;
}

Test(lock, excludes) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    for (int index = 0; index < 20; index++) {
        tst_start(stage.loop, visit, &stage);
    }
    stage_end(&stage, "");
}

Test(lock, acquire_of_a_taken_lock_outside_a_task_stops_the_process, .signal = SIGABRT) {
    struct stage stage;
    stage_begin(&stage, KIND_LOCK, 1);
    tst_status(bz_lock_acquire(&stage.lock), BZ_OK);
    (void)!bz_lock_acquire(&stage.lock);
}
