/* Barrier: the peers' cases, indices that are unique whoever is cancelled, and abort and reset in
 * every state. */
#include "primitives/sync/tests/stage_hall.h"

static void begin(struct hall *hall, uint32_t parties) {
    hall_begin_with(hall, parties, BZ_QUEUE_FIFO, 0);
}

static void expect_state(const struct hall *hall, uint32_t waiting, bool is_draining) {
    cr_assert(eq(u32, bz_barrier_waiting(&hall->barrier), waiting));
    cr_assert(eq(int, bz_barrier_is_draining(&hall->barrier), is_draining));
}

static void abort_barrier(struct hall *hall) {
    bz_barrier_abort(&hall->barrier);
    hall_check(hall);
}

static void reset_barrier(struct hall *hall) {
    bz_barrier_reset(&hall->barrier);
    hall_check(hall);
}

/* --- passing ---------------------------------------------------------------------------------- */

Test(barrier, of_nobody_is_refused) {
    struct hall hall;
    begin(&hall, 2);
    struct bz_barrier barrier;
    tst_status(bz_barrier_init(&barrier, hall.loop, 0), BZ_INVALID_ARGUMENT);
    hall_end(&hall, "");
}

/* One party never waits, and needs no task. */
Test(barrier, of_one_passes_at_once) {
    struct hall hall;
    begin(&hall, 1);
    for (int round = 0; round < 2; round++) {
        uint32_t index = 7;
        tst_status(bz_barrier_wait(&hall.barrier, &index), BZ_OK);
        cr_assert(eq(u32, index, 0));
        tst_status(bz_barrier_wait(&hall.barrier, NULL), BZ_OK);
        expect_state(&hall, 0, false);
    }
    hall_guest(&hall, 'a', "arrive arrive");
    hall_end(&hall, "a.arrive=0 a.arrive=0");
}

Test(barrier, fills_task_by_task) {
    struct hall hall;
    begin(&hall, 3);
    hall_guest(&hall, 'a', "arrive");
    hall_turn(&hall);
    expect_state(&hall, 1, false);
    hall_guest(&hall, 'b', "arrive");
    hall_turn(&hall);
    expect_state(&hall, 2, false);
    tst_expect(&hall.log, "");
    hall_guest(&hall, 'c', "arrive");
    hall_turn(&hall);
    tst_expect(&hall.log, "c.arrive=2");
    expect_state(&hall, 0, true);
    hall_step(&hall, 0);
    expect_state(&hall, 0, true);
    hall_step(&hall, 0);
    expect_state(&hall, 0, false);
    hall_end(&hall, "c.arrive=2 a.arrive=0 b.arrive=1");
}

Test(barrier, can_be_used_again) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'c', "arrive arrive arrive");
    hall_end(&hall, "c.arrive=2 a.arrive=0 b.arrive=1 "
                    "b.arrive=2 c.arrive=0 a.arrive=1 "
                    "a.arrive=2 b.arrive=0 c.arrive=1");
}

Test(barrier, index_may_be_unwanted) {
    struct hall hall;
    begin(&hall, 2);
    hall_guest(&hall, 'a', "arrive");
    hall_turn(&hall);
    tst_status(bz_barrier_wait(&hall.barrier, NULL), BZ_OK);
    hall_end(&hall, "a.arrive=0");
}

/* --- draining --------------------------------------------------------------------------------- */

/* Who is fast comes back while the others still drain: it is held back, in any order of steps. */
Test(barrier, newcomers_are_held_back_while_it_drains) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_turn(&hall);
    hall_guest(&hall, 'c', "arrive");
    hall_guests(&hall, 'd', 'e', "arrive");
    hall_step(&hall, 0); /* c: passes */
    hall_step(&hall, 0); /* d */
    hall_step(&hall, 0); /* e */
    expect_state(&hall, 0, true);
    hall_expect_queue(&hall.barrier.queue, 2, 2, 0);
    hall_guest(&hall, 'f', "arrive");
    hall_step(&hall, 2); /* f: the third that is held back, and still no round */
    hall_expect_queue(&hall.barrier.queue, 3, 2, 0);
    tst_expect(&hall.log, "c.arrive=2");
    hall_step(&hall, 1); /* b */
    hall_expect_queue(&hall.barrier.queue, 3, 1, 0);
    hall_step(&hall, 0); /* a: the last, and the next round passes at once */
    hall_expect_queue(&hall.barrier.queue, 0, 3, 0);
    hall_end(&hall, "c.arrive=2 b.arrive=1 a.arrive=0 d.arrive=0 e.arrive=1 f.arrive=2");
}

/* More than one round is held back: each passes when the one before has left. */
Test(barrier, rounds_follow_each_other) {
    struct hall hall;
    begin(&hall, 2);
    hall_guests(&hall, 'a', 'g', "arrive");
    hall_turn(&hall);
    hall_expect_queue(&hall.barrier.queue, 5, 1, 0);
    hall_turn(&hall);
    hall_expect_queue(&hall.barrier.queue, 3, 2, 0);
    hall_run(&hall);
    expect_state(&hall, 1, false);
    hall_guest(&hall, 'h', "arrive");
    hall_end(&hall, "b.arrive=1 a.arrive=0 c.arrive=0 d.arrive=1 e.arrive=0 f.arrive=1 "
                    "h.arrive=1 g.arrive=0");
}

/* Held back, and one is gone by the time the round has left: the others wait. */
Test(barrier, who_is_held_back_may_be_cancelled) {
    struct hall hall;
    begin(&hall, 2);
    hall_guests(&hall, 'a', 'd', "arrive");
    hall_turn(&hall);
    hall_expect_queue(&hall.barrier.queue, 2, 1, 0);
    hall_cancel(&hall, 'c');
    hall_run(&hall);
    expect_state(&hall, 1, false);
    tst_expect(&hall.log, "b.arrive=1 a.arrive=0 c.arrive:cancelled");
    hall_guest(&hall, 'e', "arrive");
    hall_end(&hall, "b.arrive=1 a.arrive=0 c.arrive:cancelled e.arrive=1 d.arrive=0");
}

/* --- cancels ---------------------------------------------------------------------------------- */

Test(barrier, cancelled_filler_opens_its_place) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_turn(&hall);
    expect_state(&hall, 2, false);
    hall_cancel(&hall, 'a');
    expect_state(&hall, 1, false);
    hall_turn(&hall);
    hall_guest(&hall, 'c', "arrive");
    hall_turn(&hall);
    expect_state(&hall, 2, false);
    hall_guest(&hall, 'd', "arrive");
    hall_end(&hall, "a.arrive:cancelled d.arrive=2 b.arrive=0 c.arrive=1");
}

/* Indices are 0, 1, 2, whoever of the fillers was cancelled (gh-155233). */
Test(barrier, indices_are_unique_whoever_is_cancelled) {
    static const char *const stories[] = {
        "a.arrive:cancelled e.arrive=3 b.arrive=0 c.arrive=1 d.arrive=2",
        "b.arrive:cancelled e.arrive=3 a.arrive=0 c.arrive=1 d.arrive=2",
        "c.arrive:cancelled e.arrive=3 a.arrive=0 b.arrive=1 d.arrive=2",
    };
    for (int victim = 0; victim < 3; victim++) {
        struct hall hall;
        begin(&hall, 4);
        hall_guests(&hall, 'a', 'c', "arrive");
        hall_turn(&hall);
        hall_cancel(&hall, (char)('a' + victim));
        hall_guests(&hall, 'd', 'e', "arrive");
        hall_end(&hall, stories[victim]);
    }
}

/* Cancel and the last arrival in one turn. First the cancel: one is missing. */
Test(barrier, cancel_then_last_arrival) {
    struct hall hall;
    begin(&hall, 2);
    hall_guest(&hall, 'a', "arrive");
    hall_turn(&hall);
    hall_guest(&hall, 'b', "arrive");
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    tst_expect(&hall.log, "a.arrive:cancelled");
    expect_state(&hall, 1, false);
    hall_guest(&hall, 'c', "arrive");
    hall_end(&hall, "a.arrive:cancelled c.arrive=1 b.arrive=0");
}

/* The window: the round has passed, the others pass, and nobody gets the index. */
Test(barrier, last_arrival_then_cancel) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'c', "arrive");
    hall_turn(&hall);
    tst_expect(&hall.log, "c.arrive=2");
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    tst_expect(&hall.log, "c.arrive=2 a.arrive:cancelled b.arrive=1");
    hall_guests(&hall, 'd', 'f', "arrive");
    hall_end(&hall, "c.arrive=2 a.arrive:cancelled b.arrive=1 f.arrive=2 d.arrive=0 e.arrive=1");
}

/* The last that drains is cancelled: the next round passes all the same. */
Test(barrier, cancelled_last_leaver_lets_the_next_round_in) {
    struct hall hall;
    begin(&hall, 2);
    hall_guests(&hall, 'a', 'd', "arrive");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    hall_end(&hall, "b.arrive=1 a.arrive:cancelled c.arrive=0 d.arrive=1");
}

Test(barrier, second_request_while_cancelling_is_absorbed) {
    struct hall hall;
    begin(&hall, 2);
    hall_guest(&hall, 'a', "~arrive arrive");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    hall_cancel(&hall, 'a');
    hall_run(&hall);
    expect_state(&hall, 1, false);
    hall_guest(&hall, 'b', "arrive");
    hall_end(&hall, "a.arrive:cancelled b.arrive=1 a.arrive=0");
}

/* A marked task does not fill; but if it is the last one it does not wait, and passes. */
Test(barrier, request_made_before_the_wait) {
    struct hall hall;
    begin(&hall, 2);
    hall_guest(&hall, 'a', "cancel-self ~arrive arrive");
    hall_run(&hall);
    expect_state(&hall, 1, false);
    hall_guest(&hall, 'b', "cancel-self arrive ~yield");
    hall_end(&hall, "a.arrive:cancelled b.arrive=1 a.arrive=0 b.yield:cancelled");
}

/* --- reset ------------------------------------------------------------------------------------ */

Test(barrier, reset_of_an_empty_one_changes_nothing) {
    struct hall hall;
    begin(&hall, 2);
    reset_barrier(&hall);
    expect_state(&hall, 0, false);
    cr_assert(not(bz_barrier_is_broken(&hall.barrier)));
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_end(&hall, "b.arrive=1 a.arrive=0");
}

/* Those who fill fail, may come back at once, and a full round works. Until the last of them has
 * resumed, those who came back are held back. */
Test(barrier, reset_while_it_fills) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "~arrive arrive");
    hall_turn(&hall);
    reset_barrier(&hall);
    cr_assert(not(bz_barrier_is_broken(&hall.barrier)));
    expect_state(&hall, 0, true);
    hall_step(&hall, 0);
    expect_state(&hall, 0, true);
    hall_step(&hall, 0);
    expect_state(&hall, 2, false);
    hall_guest(&hall, 'c', "arrive");
    hall_end(&hall, "a.arrive:broken b.arrive:broken c.arrive=2 a.arrive=0 b.arrive=1");
}

/* Who has left is not affected; who has not resumed fails; who is held back is of the next round.
 */
Test(barrier, reset_while_it_drains) {
    struct hall hall;
    begin(&hall, 4);
    hall_guests(&hall, 'a', 'd', "arrive");
    hall_turn(&hall);
    hall_guests(&hall, 'e', 'f', "arrive");
    hall_step(&hall, 0); /* a has left */
    hall_step(&hall, 2); /* e is held back */
    hall_expect_queue(&hall.barrier.queue, 1, 2, 0);
    reset_barrier(&hall);
    hall_expect_queue(&hall.barrier.queue, 1, 2, 0);
    hall_run(&hall);
    tst_expect(&hall.log, "d.arrive=3 a.arrive=0 b.arrive:broken c.arrive:broken");
    expect_state(&hall, 2, false);
    hall_guests(&hall, 'g', 'h', "arrive");
    hall_end(&hall, "d.arrive=3 a.arrive=0 b.arrive:broken c.arrive:broken "
                    "h.arrive=3 e.arrive=0 f.arrive=1 g.arrive=2");
}

/* The last that leaves resets in the same step: those who came back fill by then, and fail. (In
 * asyncio they have not noticed yet that they may fill, and are spared.) */
Test(barrier, reset_by_the_last_that_leaves) {
    struct hall hall;
    begin(&hall, 3);
    hall_guest(&hall, 'a', "arrive ~arrive arrive");
    hall_guest(&hall, 'b', "arrive reset arrive");
    hall_guest(&hall, 'c', "arrive ~arrive arrive");
    hall_turn(&hall);
    hall_step(&hall, 0);
    hall_expect_queue(&hall.barrier.queue, 2, 1, 0); /* c and a are back, b drains */
    hall_step(&hall, 0);
    hall_expect_queue(&hall.barrier.queue, 1, 2, 0); /* b is held back until they have left */
    hall_end(&hall, "c.arrive=2 a.arrive=0 b.arrive=1 c.arrive:broken a.arrive:broken "
                    "a.arrive=2 b.arrive=0 c.arrive=1");
}

/* --- abort ------------------------------------------------------------------------------------ */

Test(barrier, abort_breaks_it_until_it_is_reset) {
    struct hall hall;
    begin(&hall, 1);
    abort_barrier(&hall);
    cr_assert(bz_barrier_is_broken(&hall.barrier));
    expect_state(&hall, 0, false);
    tst_status(bz_barrier_wait(&hall.barrier, NULL), BZ_BROKEN);
    abort_barrier(&hall);
    reset_barrier(&hall);
    cr_assert(not(bz_barrier_is_broken(&hall.barrier)));
    tst_status(bz_barrier_wait(&hall.barrier, NULL), BZ_OK);
    hall_end(&hall, "");
}

Test(barrier, abort_while_it_fills) {
    struct hall hall;
    begin(&hall, 4);
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_turn(&hall);
    abort_barrier(&hall);
    hall_guest(&hall, 'c', "arrive");
    hall_end(&hall, "a.arrive:broken b.arrive:broken c.arrive:broken");
    cr_assert(bz_barrier_is_broken(&hall.barrier));
}

/* Everybody that has not left fails, also who is held back. */
Test(barrier, abort_while_it_drains) {
    struct hall hall;
    begin(&hall, 4);
    hall_guests(&hall, 'a', 'd', "arrive");
    hall_turn(&hall);
    hall_guest(&hall, 'e', "arrive");
    hall_step(&hall, 0);
    hall_step(&hall, 2);
    hall_expect_queue(&hall.barrier.queue, 1, 2, 0);
    abort_barrier(&hall);
    hall_expect_queue(&hall.barrier.queue, 0, 3, 0);
    hall_end(&hall, "d.arrive=3 a.arrive=0 b.arrive:broken c.arrive:broken e.arrive:broken");
}

/* Reset before those who were broken have resumed: they fail all the same, and a newcomer waits
 * for them to leave. */
Test(barrier, abort_then_reset_in_one_turn) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "~arrive arrive");
    hall_turn(&hall);
    abort_barrier(&hall);
    reset_barrier(&hall);
    expect_state(&hall, 0, true);
    hall_guest(&hall, 'c', "arrive");
    hall_step(&hall, 2);
    hall_expect_queue(&hall.barrier.queue, 1, 2, 0);
    hall_end(&hall, "a.arrive:broken b.arrive:broken b.arrive=2 c.arrive=0 a.arrive=1");
}

/* A cancellation is told before a breach. */
Test(barrier, abort_then_cancel) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_turn(&hall);
    abort_barrier(&hall);
    hall_cancel(&hall, 'a');
    hall_end(&hall, "a.arrive:cancelled b.arrive:broken");
}

Test(barrier, cancel_then_abort) {
    struct hall hall;
    begin(&hall, 3);
    hall_guests(&hall, 'a', 'b', "arrive");
    hall_turn(&hall);
    hall_cancel(&hall, 'a');
    abort_barrier(&hall);
    hall_end(&hall, "a.arrive:cancelled b.arrive:broken");
}

/* A guest that fails after it has passed breaks the barrier for those who come back; then all meet
 * at the next one, reset it, and go on. */
Test(barrier, abort_by_one_that_failed) {
    struct hall hall;
    begin(&hall, 3);
    hall_guest(&hall, 'a', "arrive abort await reset arrive");
    hall_guest(&hall, 'b', "~arrive ~arrive await arrive");
    hall_guest(&hall, 'c', "arrive ~arrive await arrive");
    hall_run(&hall);
    tst_expect(&hall.log, "c.arrive=2 a.arrive=0 b.arrive:broken b.arrive:broken c.arrive:broken");
    cr_assert(bz_barrier_is_broken(&hall.barrier));
    tst_forget(&hall.log);
    hall_signal(&hall, 'a');
    hall_run(&hall);
    cr_assert(not(bz_barrier_is_broken(&hall.barrier)));
    hall_signal(&hall, 'b');
    hall_signal(&hall, 'c');
    hall_end(&hall, "a.await:ok b.await:ok c.await:ok c.arrive=2 a.arrive=0 b.arrive=1");
}
