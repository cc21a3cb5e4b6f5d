/* The lock: misuse, and its hand-over. */
#include "primitives/sync/tests/stage_permits.h"

static void play_lock(const char *timeline) {
    play(KIND_LOCK, 1, timeline);
}

Test(lock, timelines) {
    static const struct tst_row rows[] = {
        {"release_of_a_free_lock_is_refused", "release:not-held locked=no;"
                                              "a: acquire release ~release acquire release"
                                              " => a.acquire:ok a.release:not-held a.acquire:ok"},
        /* In the window nobody holds it: the woken guest has not resumed. A second release would
         * let two in. */
        {"release_in_the_window_is_refused",
         "acquire; a-b: acquire await release; turn;"
         "release release:not-held queue=1/1/0 turn -> a.acquire:ok;"
         "set-a => a.await:ok b.acquire:ok; set-b => b.await:ok"},
        /* Hand-over: the waiter owns the lock from the release on, before it has run. */
        {"is_handed_over_by_the_release",
         "acquire; a: acquire release; turn;"
         "release level=1 locked=yes turn locked=no -> a.acquire:ok"},
        /* Not reentrant: a task that acquires twice waits for itself, until a cancel. */
        {"is_not_reentrant", "a: acquire ~acquire release => a.acquire:ok;"
                             "done-a=no cancel-a => a.acquire:cancelled; locked=no"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play_lock);
}

Test(lock, acquire_of_a_taken_lock_outside_a_task_stops_the_process, .signal = SIGABRT) {
    play(KIND_LOCK, 1, "acquire acquire");
}
