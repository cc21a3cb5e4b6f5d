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

/* Never two inside. */
static enum bz_status visit(void *arg) {
    struct permits *permits = arg;
    for (int round = 0; round < 50; round++) {
        tst_status(permits_acquire(permits), BZ_OK);
        cr_assert_eq(permits->holders, 1);
        tst_status(bz_yield(permits->stage.loop), BZ_OK);
        cr_assert_eq(permits->holders, 1);
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

/* A wake-up needs no memory: with a full arena, sixteen handles of bz_loop_call_soon() cannot take
 * the slots of waiting tasks. */
static enum bz_status pass(void *lock) {
    enum bz_status status = bz_lock_acquire(lock);
    return status == BZ_OK ? bz_lock_release(lock) : status;
}

static void do_nothing(struct bz_handle *handle) {
    (void)handle;
}

Test(lock, release_needs_no_memory) {
    enum { TASKS = 12, HANDLES = 16 };
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 16};
    struct bz_loop *loop = tst_begin_with(&config);
    struct bz_lock lock;
    bz_lock_init(&lock, loop);
    tst_status(bz_lock_acquire(&lock), BZ_OK);
    struct bz_task *tasks[TASKS];
    for (int index = 0; index < TASKS; index++) {
        tasks[index] = tst_spawn(loop, pass, &lock);
    }
    tst_turn(loop);
    tst_exhaust(bz_loop_mem(loop));
    struct bz_handle handles[HANDLES];
    int accepted = 0;
    for (int index = 0; index < HANDLES; index++) {
        accepted += bz_loop_call_soon(loop, &handles[index], do_nothing);
    }
    cr_assert_lt(accepted, HANDLES);
    tst_status(bz_lock_release(&lock), BZ_OK);
    tst_run(loop);
    for (int index = 0; index < TASKS; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
    }
    bz_loop_destroy(loop);
}

Test(lock, acquire_of_a_taken_lock_outside_a_task_stops_the_process, .signal = SIGABRT) {
    play(KIND_LOCK, 1, "acquire acquire");
}
