/* Barrier: the peers' cases, unique indices after any cancellation, abort and reset in every state.
 */
#include "primitives/sync/tests/stage_hall.h"

static void play(uint32_t parties, const char *timeline) {
    hall_play(parties, BZ_QUEUE_FIFO, 0, timeline);
}

/* --- passing ---------------------------------------------------------------------------------- */

Test(barrier, of_nobody_is_refused) {
    struct bz_loop *loop = tst_begin();
    struct bz_barrier barrier;
    tst_status(bz_barrier_init(&barrier, loop, 0), BZ_INVALID_ARGUMENT);
    tst_end(loop);
}

Test(barrier, timelines) {
    static const struct tst_sized_row rows[] = {
        /* One party never waits, and needs no task. */
        {"of_one_passes_at_once", 1,
         "arrive=0 arrive=0 arrive=0 filling=0 draining=no;"
         "a: arrive arrive => a.arrive=0 a.arrive=0"},
        {"fills_task_by_task", 3,
         "a: arrive; turn filling=1 draining=no; b: arrive; turn filling=2 draining=no -> ;"
         "c: arrive; turn filling=0 draining=yes -> c.arrive=2;"
         "step filling=0 draining=yes step filling=0 draining=no -> a.arrive=0 b.arrive=1"},
        {"can_be_used_again", 3,
         "a-c: arrive arrive arrive => c.arrive=2 a.arrive=0 b.arrive=1"
         " b.arrive=2 c.arrive=0 a.arrive=1 a.arrive=2 b.arrive=0 c.arrive=1"},

        /* --- draining --- */
        /* A fast task that comes back while the others drain is held back, in any order of
         * steps. With f a third one is held back; still no round passes until a has left. */
        {"newcomers_are_held_back_while_it_drains", 3,
         "a-b: arrive; turn; c: arrive; d-e: arrive;"
         "step step step filling=0 draining=yes barrier=2/2/0 -> c.arrive=2;"
         "f: arrive; step-2 barrier=3/2/0 -> ;"
         "step-1 barrier=3/1/0 -> b.arrive=1;"
         "step barrier=0/3/0 => a.arrive=0 d.arrive=0 e.arrive=1 f.arrive=2"},
        /* More than one round is held back: each passes when the one before has left. */
        {"rounds_follow_each_other", 2,
         "a-g: arrive; turn barrier=5/1/0 -> b.arrive=1;"
         "turn barrier=3/2/0 -> a.arrive=0;"
         "run filling=1 draining=no -> c.arrive=0 d.arrive=1 e.arrive=0 f.arrive=1;"
         "h: arrive => h.arrive=1 g.arrive=0"},
        /* One of the tasks that are held back is cancelled before the round has left: the others
         * wait. */
        {"who_is_held_back_may_be_cancelled", 2,
         "a-d: arrive; turn barrier=2/1/0;"
         "cancel-c => b.arrive=1 a.arrive=0 c.arrive:cancelled;"
         "filling=1 draining=no; e: arrive => e.arrive=1 d.arrive=0"},

        /* --- cancels --- */
        {"cancelled_filler_opens_its_place", 3,
         "a-b: arrive; turn filling=2 draining=no cancel-a filling=1 draining=no turn;"
         "c: arrive; turn filling=2 draining=no -> a.arrive:cancelled;"
         "d: arrive => d.arrive=2 b.arrive=0 c.arrive=1"},
        /* Indices are 0, 1, 2, whichever filler was cancelled (gh-155233). */
        {"indices_are_unique_whoever_is_cancelled", 4,
         "a-c: arrive; turn cancel-a; d-e: arrive"
         " => a.arrive:cancelled e.arrive=3 b.arrive=0 c.arrive=1 d.arrive=2"},
        {"indices_are_unique_whoever_is_cancelled", 4,
         "a-c: arrive; turn cancel-b; d-e: arrive"
         " => b.arrive:cancelled e.arrive=3 a.arrive=0 c.arrive=1 d.arrive=2"},
        {"indices_are_unique_whoever_is_cancelled", 4,
         "a-c: arrive; turn cancel-c; d-e: arrive"
         " => c.arrive:cancelled e.arrive=3 a.arrive=0 b.arrive=1 d.arrive=2"},
        /* Cancel and the last arrival in one turn. First the cancel: one is missing. */
        {"cancel_then_last_arrival", 2,
         "a: arrive; turn; b: arrive; cancel-a => a.arrive:cancelled;"
         "filling=1 draining=no; c: arrive => c.arrive=1 b.arrive=0"},
        /* The window: the round has passed, the others pass, and nobody gets the index. */
        {"last_arrival_then_cancel", 3,
         "a-c: arrive; turn -> c.arrive=2; cancel-a => a.arrive:cancelled b.arrive=1;"
         "d-f: arrive => f.arrive=2 d.arrive=0 e.arrive=1"},
        /* The last task that drains is cancelled: the next round still passes. */
        {"cancelled_last_leaver_lets_the_next_round_in", 2,
         "a-d: arrive; turn cancel-a"
         " => b.arrive=1 a.arrive:cancelled c.arrive=0 d.arrive=1"},
        {"second_request_while_cancelling_is_absorbed", 2,
         "a: ~arrive arrive; turn cancel-a cancel-a run filling=1 draining=no;"
         "b: arrive => a.arrive:cancelled b.arrive=1 a.arrive=0"},
        /* A marked task does not fill; but if it is the last one it does not wait, and passes. */
        {"request_made_before_the_wait", 2,
         "a: cancel-self ~arrive arrive; run filling=1 draining=no;"
         "b: cancel-self arrive ~yield"
         " => a.arrive:cancelled b.arrive=1 a.arrive=0 b.yield:cancelled"},

        /* --- reset --- */
        {"reset_of_an_empty_one_changes_nothing", 2,
         "reset filling=0 draining=no broken=no; a-b: arrive => b.arrive=1 a.arrive=0"},
        /* Those who fill fail, may come back at once, and a full round works. Until the last of
         * them has resumed, those who came back are held back. */
        {"reset_while_it_fills", 3,
         "a-b: ~arrive arrive; turn reset broken=no filling=0 draining=yes;"
         "step filling=0 draining=yes step filling=2 draining=no;"
         "c: arrive"
         " => a.arrive:broken b.arrive:broken c.arrive=2 a.arrive=0 b.arrive=1"},
        /* A task that has left (a) is not affected; those that have not resumed fail; the one
         * that is held back (e) belongs to the next round. */
        {"reset_while_it_drains", 4,
         "a-d: arrive; turn; e-f: arrive; step step-2 barrier=1/2/0 reset barrier=1/2/0"
         " => d.arrive=3 a.arrive=0 b.arrive:broken c.arrive:broken;"
         "filling=2 draining=no; g-h: arrive => h.arrive=3 e.arrive=0 f.arrive=1 g.arrive=2"},
        /* The last that leaves resets in the same step: those who came back fill by then, and
         * fail. (In asyncio they have not noticed yet that they may fill, and are spared.)
         * Before it c and a are back, and b drains; then b is held back until they have left. */
        {"reset_by_the_last_that_leaves", 3,
         "a: arrive ~arrive arrive; b: arrive reset arrive; c: arrive ~arrive arrive;"
         "turn step barrier=2/1/0 step barrier=1/2/0"
         " => c.arrive=2 a.arrive=0 b.arrive=1 c.arrive:broken a.arrive:broken"
         " a.arrive=2 b.arrive=0 c.arrive=1"},

        /* --- abort --- */
        {"abort_breaks_it_until_it_is_reset", 1,
         "abort broken=yes filling=0 draining=no arrive:broken;"
         "abort reset broken=no arrive"},
        {"abort_while_it_fills", 4,
         "a-b: arrive; turn abort; c: arrive"
         " => a.arrive:broken b.arrive:broken c.arrive:broken; broken=yes"},
        /* Every task that has not left fails, those held back included. */
        {"abort_while_it_drains", 4,
         "a-d: arrive; turn; e: arrive; step step-2 barrier=1/2/0 abort barrier=0/3/0"
         " => d.arrive=3 a.arrive=0 b.arrive:broken c.arrive:broken e.arrive:broken"},
        /* Reset before those who were broken have resumed: they fail all the same, and a
         * newcomer waits for them to leave. */
        {"abort_then_reset_in_one_turn", 3,
         "a-b: ~arrive arrive; turn abort reset filling=0 draining=yes;"
         "c: arrive; step-2 barrier=1/2/0"
         " => a.arrive:broken b.arrive:broken b.arrive=2 c.arrive=0 a.arrive=1"},
        /* A cancellation takes precedence over a broken barrier. */
        {"abort_then_cancel", 3,
         "a-b: arrive; turn abort cancel-a => a.arrive:cancelled b.arrive:broken"},
        {"cancel_then_abort", 3,
         "a-b: arrive; turn cancel-a abort => a.arrive:cancelled b.arrive:broken"},
        /* A guest that fails after it has passed breaks the barrier for those who come back;
         * then all meet at the next one, reset it, and go on. */
        {"abort_by_one_that_failed", 3,
         "a: arrive abort await reset arrive;"
         "b: ~arrive ~arrive await arrive;"
         "c: arrive ~arrive await arrive"
         " => c.arrive=2 a.arrive=0 b.arrive:broken b.arrive:broken c.arrive:broken;"
         "broken=yes set-a run broken=no set-b set-c"
         " => a.await:ok b.await:ok c.await:ok c.arrive=2 a.arrive=0 b.arrive=1"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play);
}

Test(barrier, index_may_be_unwanted) {
    struct hall hall;
    hall_begin(&hall, 2, BZ_QUEUE_FIFO, 0);
    tst_play(&hall.stage, "a: arrive; turn");
    tst_status(bz_barrier_wait(&hall.barrier, NULL), BZ_OK);
    tst_play(&hall.stage, "run -> a.arrive=0");
    hall_end(&hall);
}
