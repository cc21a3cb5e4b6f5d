/* What the deferred lock and the deferred semaphore have in common: a semaphore with one token does
 * all that a lock does. Every story is played by both. */
#include "primitives/sync/tests/stage_deferred.h"

#define EACH_KIND(kind) for (enum kind kind = KIND_LOCK; kind < KIND_COUNT; kind++)

Test(deferred_permits, free_one_is_taken_at_once) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        cr_assert(not(stage_locked(&stage)));
        stage_acquire(&stage, 'a', NULL);
        cr_assert(stage_locked(&stage));
        stage_give_back(&stage);
        cr_assert(not(stage_locked(&stage)));
        stage_end(&stage, "a:ok");
    }
}

/* A release from outside has run the callbacks when it returns; each grants one, in order. */
Test(deferred_permits, release_runs_the_callback_of_the_oldest) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "locked");
        stage_acquire(&stage, 'c', "locked");
        tst_expect(&stage.log, "a:ok");
        stage_give_back(&stage);
        tst_expect(&stage.log, "a:ok b:ok b.");
        stage_give_back(&stage);
        tst_expect(&stage.log, "a:ok b:ok b. c:ok c.");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:ok c.");
    }
}

/* A release inside a callback returns before the next one's callback runs, which is the difference
 * to Twisted; the lock is that one's already. */
Test(deferred_permits, release_in_a_callback_runs_the_next_behind_it) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "release locked");
        stage_acquire(&stage, 'c', "release locked");
        stage_acquire(&stage, 'd', "release");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:ok c. d:ok d.");
    }
}

/* The releaser that comes back at once is behind those who wait. */
Test(deferred_permits, releaser_cannot_barge) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "release acquire-d");
        stage_acquire(&stage, 'c', "release");
        stage_script(&stage, 'd', "release");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:ok c. d:ok d.");
    }
}

Test(deferred_permits, taken_again_by_the_callback_of_the_last) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_script(&stage, 'b', "release");
        stage_acquire(&stage, 'a', "release acquire-b locked");
        stage_end(&stage, "a:ok a. b:ok b.");
    }
}

Test(deferred_permits, cancelled_waiter_leaves_no_trace) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', NULL);
        stage_acquire(&stage, 'c', NULL);
        stage_acquire(&stage, 'd', NULL);
        cr_assert(stage_cancel(&stage, 'c'));
        tst_expect(&stage.log, "a:ok c:cancelled");
        cr_assert(not(stage_cancel(&stage, 'c')));
        cr_assert(stage_cancel(&stage, 'b'));
        cr_assert(eq(u32, stage_queue(&stage)->waiting_count, 1));
        stage_give_back(&stage);
        stage_give_back(&stage);
        stage_end(&stage, "a:ok c:cancelled b:cancelled d:ok");
    }
}

/* Too late: it owns what it was granted, and has to release it. */
Test(deferred_permits, cancel_of_a_granted_one_does_nothing) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', NULL);
        cr_assert(not(stage_cancel(&stage, 'a')));
        cr_assert(stage_locked(&stage));
        stage_give_back(&stage);
        cr_assert(not(stage_cancel(&stage, 'b')));
        cr_assert(stage_locked(&stage));
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok");
    }
}

/* The only gap there is: granted by a release in a callback, and cancelled before its own has run.
 * It is granted all the same. */
Test(deferred_permits, cancel_of_a_granted_one_before_its_callback_does_nothing) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "release cancel-c");
        stage_acquire(&stage, 'c', "release");
        stage_acquire(&stage, 'd', "release");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:ok c. d:ok d.");
    }
}

/* The other order: cancelled before the release, in the same callback. */
Test(deferred_permits, cancel_in_a_callback_then_release) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "cancel-c release");
        stage_acquire(&stage, 'c', "release");
        stage_acquire(&stage, 'd', "release");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:cancelled d:ok d.");
    }
}

/* A waiter that was abandoned, and that somebody gives an error by hand: those behind it are
 * served, and its queue forgets it at once. */
Test(deferred_permits, waiter_that_was_given_an_error_strands_nobody) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', NULL);
        stage_acquire(&stage, 'c', "release");
        tst_status(bz_deferred_errback(&stage.guests[1].waiter.deferred, BZ_FAILED, 0), BZ_OK);
        stage_check(&stage);
        cr_assert(eq(u32, stage_queue(&stage)->waiting_count, 1));
        memset(&stage.guests[1].waiter, 0xa5, sizeof stage.guests[1].waiter);
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:failed c:ok c.");
    }
}

Test(deferred_permits, waiter_that_was_given_an_error_in_a_callback_strands_nobody) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        stage_acquire(&stage, 'a', NULL);
        stage_acquire(&stage, 'b', "error-c release error-d");
        stage_acquire(&stage, 'c', NULL);
        stage_acquire(&stage, 'd', "release");
        stage_give_back(&stage);
        stage_end(&stage, "a:ok b:ok b. c:failed d:ok d.");
    }
}

Test(deferred_permits, release_too_many_is_refused) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        tst_status(stage_release(&stage), BZ_NOT_HELD);
        stage_check(&stage);
        stage_acquire(&stage, 'a', NULL);
        stage_give_back(&stage);
        tst_status(stage_release(&stage), BZ_NOT_HELD);
        stage_check(&stage);
        stage_acquire(&stage, 'b', "release");
        stage_end(&stage, "a:ok b:ok b.");
    }
}

/* --- tasks ------------------------------------------------------------------------------------ */

struct client {
    struct stage *stage;
    struct bz_deferred_waiter waiter;
};

static void client_acquire(struct client *client) {
    struct stage *stage = client->stage;
    if (stage->kind == KIND_LOCK) {
        bz_deferred_lock_acquire(&stage->lock, &client->waiter);
    } else {
        bz_deferred_semaphore_acquire(&stage->semaphore, &client->waiter);
    }
    stage->owned += bz_deferred_is_fired(&client->waiter.deferred);
}

/* As the header of deferreds has it: what was granted to a cancelled task is given back. */
static enum bz_status client_run(void *arg) {
    struct client *client = arg;
    struct bz_deferred_result got;
    client_acquire(client);
    enum bz_status status = bz_deferred_await(&client->waiter.deferred, &got);
    tst_say(&client->stage->log, "task:%s", bz_status_name(status));
    if (got.status == BZ_OK) {
        stage_give_back(client->stage);
    }
    return status;
}

enum moment {
    MOMENT_WAITING,
    MOMENT_BEFORE_RELEASE,
    MOMENT_AFTER_RELEASE,
    MOMENT_COUNT,
};

/* A task between two that only have callbacks, cancelled in every window that it has. */
Test(deferred_permits, task_that_is_cancelled_gives_way_to_the_next) {
    EACH_KIND(kind) {
        for (enum moment moment = MOMENT_WAITING; moment < MOMENT_COUNT; moment++) {
            struct stage stage;
            stage_begin(&stage, kind, 1);
            struct client client = {.stage = &stage};
            stage_acquire(&stage, 'a', NULL);
            struct bz_task *task = tst_spawn(stage.loop, client_run, &client);
            tst_turn(stage.loop);
            stage_acquire(&stage, 'b', "release");
            if (moment != MOMENT_AFTER_RELEASE) {
                cr_assert(bz_task_cancel(task));
            }
            if (moment == MOMENT_WAITING) {
                tst_turn(stage.loop);
                cr_assert(eq(u32, stage_queue(&stage)->waiting_count, 1));
            }
            stage_give_back(&stage);
            if (moment == MOMENT_AFTER_RELEASE) {
                cr_assert(bz_task_cancel(task));
            }
            tst_turn(stage.loop);
            tst_status(tst_outcome(task), BZ_CANCELLED);
            stage_end(&stage, "a:ok task:cancelled b:ok b.");
        }
    }
}

Test(deferred_permits, task_takes_its_turn) {
    EACH_KIND(kind) {
        struct stage stage;
        stage_begin(&stage, kind, 1);
        struct client client = {.stage = &stage};
        stage_acquire(&stage, 'a', NULL);
        tst_start(stage.loop, client_run, &client);
        tst_turn(stage.loop);
        stage_acquire(&stage, 'b', "release");
        stage_give_back(&stage);
        tst_expect(&stage.log, "a:ok");
        tst_turn(stage.loop);
        stage_end(&stage, "a:ok task:ok b:ok b.");
    }
}

/* --- what only a semaphore can do ------------------------------------------------------------- */

Test(deferred_semaphore, needs_a_token) {
    struct bz_loop *loop = tst_begin();
    struct bz_trampoline trampoline;
    struct bz_deferred_semaphore semaphore;
    bz_trampoline_init(&trampoline, loop);
    tst_status(bz_deferred_semaphore_init(&semaphore, &trampoline, 0), BZ_INVALID_ARGUMENT);
    tst_end(loop);
}

Test(deferred_semaphore, grants_as_many_as_it_has) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 3);
    for (char name = 'a'; name <= 'f'; name++) {
        stage_acquire(&stage, name, NULL);
        cr_assert(eq(int, stage_locked(&stage), name >= 'c'));
    }
    tst_expect(&stage.log, "a:ok b:ok c:ok");
    cr_assert(stage_cancel(&stage, 'd'));
    stage_give_back(&stage);
    stage_give_back(&stage);
    tst_expect(&stage.log, "a:ok b:ok c:ok d:cancelled e:ok f:ok");
    for (int count = 0; count < 3; count++) {
        stage_give_back(&stage);
    }
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_end(&stage, "a:ok b:ok c:ok d:cancelled e:ok f:ok");
}

/* Two releases in one callback: two are granted, in order, and run in that order. */
Test(deferred_semaphore, two_releases_in_a_callback) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 2);
    stage_acquire(&stage, 'a', NULL);
    stage_acquire(&stage, 'b', NULL);
    stage_acquire(&stage, 'c', "release release locked");
    stage_acquire(&stage, 'd', "release");
    stage_acquire(&stage, 'e', "release");
    stage_give_back(&stage);
    stage_end(&stage, "a:ok b:ok c:ok c. d:ok d. e:ok e.");
}
