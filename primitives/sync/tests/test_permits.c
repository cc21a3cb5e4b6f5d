/* What lock, semaphore and bounded semaphore of one permit have in common: the peers' cases, and
 * the window in every order. Each case runs over all three. */
#include "primitives/sync/tests/stage_permits.h"

#define FOR_EACH_KIND(stage, permits)                                                              \
    for (int kind = 0; kind < KIND_COUNT && (stage_begin(stage, (enum kind)kind, permits), true);  \
         kind++)

/* --- without contention ----------------------------------------------------------------------- */

Test(permits, free_one_is_taken_at_once) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        stage_guest(&stage, 'a', "expect-free acquire expect-locked release expect-free");
        stage_turn(&stage);
        stage_end(&stage, "a.acquire:ok");
    }
}

/* The fast path needs no task. */
Test(permits, free_one_may_be_taken_outside_a_task) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_check(&stage);
        cr_assert(stage_locked(&stage));
        stage_give_back(&stage);
        cr_assert(not(stage_locked(&stage)));
        stage_end(&stage, "");
    }
}

/* Any task may give back; ownership is not checked. */
Test(permits, may_be_given_back_by_anybody) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        stage_guest(&stage, 'a', "acquire");
        stage_guest(&stage, 'b', "release expect-free");
        stage_end(&stage, "a.acquire:ok");
    }
}

/* --- order ------------------------------------------------------------------------------------ */

/* Each release grants exactly one, in order of arrival; a task that was only just created when the
 * release came stands behind those who wait. */
Test(permits, releases_grant_one_each_in_order_of_arrival) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'b', "acquire");
        stage_turn(&stage);
        stage_expect_queue(&stage, 2, 0, 0);
        stage_give_back(&stage);
        stage_expect_queue(&stage, 1, 1, 0);
        stage_turn(&stage);
        tst_expect(&stage.log, "a.acquire:ok");
        stage_guest(&stage, 'c', "acquire");
        stage_give_back(&stage);
        stage_turn(&stage);
        tst_expect(&stage.log, "a.acquire:ok b.acquire:ok");
        stage_expect_queue(&stage, 1, 0, 0);
        stage_give_back(&stage);
        stage_end(&stage, "a.acquire:ok b.acquire:ok c.acquire:ok");
    }
}

/* Everybody comes back for more: strict round robin. */
Test(permits, guests_that_come_back_take_turns) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        stage_guests(&stage, 'a', 'c',
                     "acquire yield release acquire yield release acquire release");
        stage_end(&stage, "a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok "
                          "a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok "
                          "a.acquire:ok b.acquire:ok c.acquire:ok");
    }
}

/* A holder that releases and acquires again without a pause goes behind who waits: no barging. */
Test(permits, releaser_cannot_barge) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        stage_guest(&stage, 'a', "acquire yield release acquire release acquire release");
        stage_guests(&stage, 'b', 'c', "acquire yield release");
        stage_end(&stage, "a.acquire:ok a.yield:ok b.acquire:ok b.yield:ok c.acquire:ok c.yield:ok "
                          "a.acquire:ok a.acquire:ok");
    }
}

/* Nor can a newcomer in the window, whether it runs before or after the woken one. */
Test(permits, newcomer_cannot_barge_in_the_window) {
    struct stage stage;
    for (uint32_t first = 0; first < 2; first++) {
        FOR_EACH_KIND(&stage, 1) {
            tst_status(stage_acquire(&stage), BZ_OK);
            stage_guest(&stage, 'a', "acquire release");
            stage_turn(&stage);
            stage_give_back(&stage);
            stage_guest(&stage, 'b', "expect-locked acquire release");
            if (first == 1) {
                stage.actors[1].script = "acquire release"; /* a is out by then */
                stage_step(&stage, 0);
            } else {
                stage_step(&stage, 1);
                stage_expect_queue(&stage, 1, 1, 0);
            }
            stage_end(&stage, "a.acquire:ok b.acquire:ok");
        }
    }
}

/* --- locked() --------------------------------------------------------------------------------- */

/* It is true exactly when an acquire would suspend, in the window above all (gh-138121, gh-97028).
 */
Test(permits, locked_is_exact_in_the_window) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        cr_assert(not(stage_locked(&stage)));
        tst_status(stage_acquire(&stage), BZ_OK);
        cr_assert(stage_locked(&stage));
        stage_guest(&stage, 'a', "acquire expect-locked release expect-free");
        stage_turn(&stage);
        stage_give_back(&stage);
        cr_assert(stage_locked(&stage), "handed over, not yet taken");
        stage_end(&stage, "a.acquire:ok");
        cr_assert(not(stage_locked(&stage)));
    }
}

/* Cancelled waiters that have not resumed do not count. */
Test(permits, locked_ignores_the_cancelled) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'b', "acquire");
        stage_turn(&stage);
        stage_cancel(&stage, 'a');
        stage_cancel(&stage, 'b');
        stage_expect_queue(&stage, 0, 0, 2);
        stage_give_back(&stage);
        cr_assert(not(stage_locked(&stage)));
        stage_end(&stage, "a.acquire:cancelled b.acquire:cancelled");
    }
}

/* --- cancelling who waits --------------------------------------------------------------------- */

Test(permits, cancelled_waiter_leaves_no_trace) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "acquire");
        stage_turn(&stage);
        stage_expect_queue(&stage, 1, 0, 0);
        stage_cancel(&stage, 'a');
        stage_expect_queue(&stage, 0, 0, 1);
        stage_turn(&stage);
        stage_expect_queue(&stage, 0, 0, 0);
        stage_end(&stage, "a.acquire:cancelled");
        cr_assert(eq(u32, stage.holders, 1));
    }
}

/* From anywhere in the queue, and the rest keep their order. */
Test(permits, waiters_may_be_cancelled_anywhere) {
    static const char *const stories[] = {
        "a.acquire:cancelled b.acquire:ok c.acquire:ok d.acquire:ok",
        "b.acquire:cancelled a.acquire:ok c.acquire:ok d.acquire:ok",
        "c.acquire:cancelled a.acquire:ok b.acquire:ok d.acquire:ok",
        "d.acquire:cancelled a.acquire:ok b.acquire:ok c.acquire:ok",
    };
    struct stage stage;
    for (int victim = 0; victim < 4; victim++) {
        FOR_EACH_KIND(&stage, 1) {
            tst_status(stage_acquire(&stage), BZ_OK);
            stage_guests(&stage, 'a', 'd', "acquire release");
            stage_turn(&stage);
            stage_cancel(&stage, (char)('a' + victim));
            stage_turn(&stage);
            stage_expect_queue(&stage, 3, 0, 0);
            stage_give_back(&stage);
            stage_end(&stage, stories[victim]);
        }
    }
}

/* --- cancel and release in one turn ----------------------------------------------------------- */

/* Cancel, then release: the head is cancelled and not yet gone; the next one is granted (2013's
 * fault, in which release stumbled over the cancelled head). */
Test(permits, cancel_then_release) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'b', "acquire release");
        stage_turn(&stage);
        stage_cancel(&stage, 'a');
        stage_give_back(&stage);
        stage_expect_queue(&stage, 0, 1, 1);
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok");
    }
}

/* Release, then cancel: the head has been granted and will not take it; the next one gets it in the
 * very step in which the head runs (bpo-27585, the canonical fault of the window). */
Test(permits, release_then_cancel) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'b', "acquire release");
        stage_turn(&stage);
        stage_give_back(&stage);
        stage_expect_queue(&stage, 1, 1, 0);
        stage_cancel(&stage, 'a');
        stage_expect_queue(&stage, 1, 1, 0);
        stage_step(&stage, 0);
        stage_expect_queue(&stage, 0, 1, 0);
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok");
    }
}

/* The same with nobody behind: it is free again, for good (3.9.12's stuck flag). */
Test(permits, release_then_cancel_of_the_only_waiter) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "acquire");
        stage_turn(&stage);
        stage_give_back(&stage);
        stage_cancel(&stage, 'a');
        cr_assert(stage_locked(&stage));
        stage_turn(&stage);
        cr_assert(not(stage_locked(&stage)));
        stage_guest(&stage, 'b', "expect-free acquire release");
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok");
    }
}

/* The canonical double grant (bpo-32734): the first of three is cancelled, then comes the release.
 * The cancelled one must not hand on what it was never given. */
Test(permits, cancel_the_first_of_three_then_release) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'c', "acquire await release");
        stage_turn(&stage);
        stage_cancel(&stage, 'a');
        stage_give_back(&stage);
        stage_turn(&stage);
        stage_turn(&stage);
        tst_expect(&stage.log, "a.acquire:cancelled b.acquire:ok");
        cr_assert(eq(u32, stage.holders, 1));
        stage_expect_queue(&stage, 1, 0, 0);
        tst_status(bz_future_set_result(&stage.futures[1], 0), BZ_OK);
        stage_run(&stage);
        tst_status(bz_future_set_result(&stage.futures[2], 0), BZ_OK);
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok b.await:ok c.acquire:ok c.await:ok");
    }
}

/* A newcomer whose first step is queued before everything else: only the dead stand in the queue,
 * so it gets in (bpo-27585; made again by anyio 4.5 to 4.13). */
Test(permits, newcomer_gets_in_when_all_waiters_are_cancelled) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "acquire");
        stage_turn(&stage);
        stage_guest(&stage, 'b', "expect-free acquire");
        stage_cancel(&stage, 'a');
        stage_give_back(&stage);
        stage_end(&stage, "b.acquire:ok a.acquire:cancelled");
    }
}

/* The cancelled one is woken by nobody and hands on nothing; a chain of cancelled woken ones hands
 * on to the first that lives. */
Test(permits, chain_of_cancels_in_the_window) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'e', "acquire release");
        stage_turn(&stage);
        stage_give_back(&stage);
        for (char name = 'a'; name < 'e'; name++) {
            stage_expect_queue(&stage, (uint32_t)('e' - name), 1, 0);
            stage_cancel(&stage, name);
            stage_turn(&stage);
        }
        stage_end(&stage, "a.acquire:cancelled b.acquire:cancelled c.acquire:cancelled "
                          "d.acquire:cancelled e.acquire:ok");
    }
}

/* Second requests, in every state of a blocked guest, change nothing more. */
Test(permits, second_request_is_absorbed) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guests(&stage, 'a', 'b', "~acquire yield");
        stage_guest(&stage, 'c', "acquire release");
        stage_turn(&stage);
        stage_cancel(&stage, 'a');
        stage_cancel(&stage, 'a');
        stage_give_back(&stage);
        stage_cancel(&stage, 'b');
        stage_cancel(&stage, 'b');
        stage_expect_queue(&stage, 1, 1, 1);
        /* b hands on before it yields. */
        stage_end(&stage, "a.acquire:cancelled b.acquire:cancelled a.yield:ok c.acquire:ok "
                          "b.yield:ok");
    }
}

/* A request that is taken back in the window has not happened. */
Test(permits, request_taken_back_in_the_window) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "acquire release");
        stage_turn(&stage);
        stage_give_back(&stage);
        stage_cancel(&stage, 'a');
        cr_assert(eq(u32, bz_task_uncancel(stage.tasks[0]), 0));
        stage_end(&stage, "a.acquire:ok");
    }
}

/* A marked task queues and is cancelled on the spot; it takes no place from anybody. */
Test(permits, marked_task_cannot_wait) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "cancel-self ~acquire yield");
        stage_guest(&stage, 'b', "acquire release");
        stage_turn(&stage);
        stage_expect_queue(&stage, 1, 0, 1);
        stage_give_back(&stage);
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok a.yield:ok");
    }
}

/* But one that does not have to wait is not disturbed: the request strikes at its next await. */
Test(permits, marked_task_may_take_what_is_free) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        stage_guest(&stage, 'a', "cancel-self acquire ~yield release");
        stage_end(&stage, "a.acquire:ok a.yield:cancelled");
        cr_assert(eq(u32, stage.holders, 0));
    }
}

/* A cancelled guest may come again at once, at the end of the queue. */
Test(permits, cancelled_guest_may_come_again) {
    struct stage stage;
    FOR_EACH_KIND(&stage, 1) {
        tst_status(stage_acquire(&stage), BZ_OK);
        stage_guest(&stage, 'a', "~acquire acquire release");
        stage_guest(&stage, 'b', "acquire release");
        stage_turn(&stage);
        stage_give_back(&stage);
        stage_cancel(&stage, 'a');
        stage_end(&stage, "a.acquire:cancelled b.acquire:ok a.acquire:ok");
    }
}
