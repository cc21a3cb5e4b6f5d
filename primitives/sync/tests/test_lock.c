/* What is the lock's own: misuse, and that it is handed over. */
#include "primitives/sync/tests/stage_permits.h"

Test(lock, release_of_a_free_lock_is_refused) {
    play(KIND_LOCK, 1,
         "release:not-held locked=no;"
         "a: acquire release ~release acquire release"
         " => a.acquire:ok a.release:not-held a.acquire:ok");
}

/* In the window nobody holds it yet: the guest that was granted has not come back. A second release
 * there would let two in. */
Test(lock, release_in_the_window_is_refused) {
    play(KIND_LOCK, 1,
         "acquire; a-b: acquire await release; turn;"
         "release release:not-held queue=1/1/0 turn -> a.acquire:ok;"
         "set-a => a.await:ok b.acquire:ok; set-b => b.await:ok");
}

/* Hand-over: from the release on it is the waiter's, before the waiter has run. */
Test(lock, is_handed_over_by_the_release) {
    play(KIND_LOCK, 1,
         "acquire; a: acquire release; turn;"
         "release level=1 locked=yes turn locked=no -> a.acquire:ok");
}

/* Not reentrant: who acquires twice waits for itself, and can be helped by a cancel. */
Test(lock, is_not_reentrant) {
    play(KIND_LOCK, 1,
         "a: acquire ~acquire release => a.acquire:ok;"
         "done-a=no cancel-a => a.acquire:cancelled; locked=no");
}

/* Never two inside, whatever the guests do between. */
static enum bz_status visit(void *arg) {
    struct permits *permits = arg;
    for (int round = 0; round < 50; round++) {
        tst_status(permits_acquire(permits), BZ_OK);
        cr_assert(eq(u32, permits->holders, 1));
        tst_status(bz_yield(permits->stage.loop), BZ_OK);
        cr_assert(eq(u32, permits->holders, 1));
        tst_status(permits_release(permits), BZ_OK);
    }
    return BZ_OK;
}

Test(lock, excludes) {
    struct permits permits;
    permits_begin(&permits, KIND_LOCK, 1);
    for (int index = 0; index < 20; index++) {
        tst_start(permits.stage.loop, visit, &permits);
    }
    permits_end(&permits);
}

Test(lock, acquire_of_a_taken_lock_outside_a_task_stops_the_process, .signal = SIGABRT) {
    play(KIND_LOCK, 1, "acquire acquire");
}
