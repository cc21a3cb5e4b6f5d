/* What is the semaphores' own: several permits, the level, bounds. */
#include "primitives/sync/tests/stage_permits.h"

/* --- several permits -------------------------------------------------------------------------- */

Test(semaphore, without_permits_is_locked) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    cr_assert(stage_locked(&stage));
    cr_assert(eq(u64, bz_semaphore_level(&stage.semaphore), 0));
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_expect_queue(&stage, 1, 0, 0);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:ok");
}

Test(semaphore, release_without_waiters_adds_a_permit) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    for (uint32_t count = 1; count <= 5; count++) {
        stage_give_back(&stage);
        cr_assert(eq(u32, stage.semaphore.value, count));
        cr_assert(not(stage_locked(&stage)));
    }
    stage_guests(&stage, 'a', 'e', "acquire");
    stage_turn(&stage);
    cr_assert(stage_locked(&stage));
    stage_end(&stage, "a.acquire:ok b.acquire:ok c.acquire:ok d.acquire:ok e.acquire:ok");
}

/* Three permits, two taken; four guests, the first of which takes the third. Two releases grant
 * exactly two of the rest, and the last one waits on. */
Test(semaphore, grants_as_many_as_were_given_back) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 3);
    tst_status(stage_acquire(&stage), BZ_OK);
    tst_status(stage_acquire(&stage), BZ_OK);
    cr_assert(not(stage_locked(&stage)));
    stage_guests(&stage, 'a', 'd', "acquire");
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok");
    stage_expect_queue(&stage, 3, 0, 0);
    stage_give_back(&stage);
    stage_give_back(&stage);
    cr_assert(eq(u32, stage.semaphore.value, 0), "both are promised");
    cr_assert(eq(u64, bz_semaphore_level(&stage.semaphore), 2));
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok b.acquire:ok c.acquire:ok");
    cr_assert(eq(u32, stage.semaphore.value, 0));
    stage_expect_queue(&stage, 1, 0, 0);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:ok b.acquire:ok c.acquire:ok d.acquire:ok");
}

/* Four wait, the first two are cancelled, then one release: exactly the third has it. */
Test(semaphore, cancel_of_two_then_one_release) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guests(&stage, 'a', 'd', "acquire");
    stage_turn(&stage);
    stage_cancel(&stage, 'a');
    stage_cancel(&stage, 'b');
    stage_give_back(&stage);
    stage_expect_queue(&stage, 1, 1, 2);
    stage_turn(&stage);
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:cancelled b.acquire:cancelled c.acquire:ok");
    stage_expect_queue(&stage, 1, 0, 0);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:cancelled b.acquire:cancelled c.acquire:ok d.acquire:ok");
}

/* The first of three is cancelled, then two releases: second and third. */
Test(semaphore, cancel_of_the_first_then_two_releases) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guests(&stage, 'a', 'c', "acquire");
    stage_turn(&stage);
    stage_cancel(&stage, 'a');
    stage_give_back(&stage);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:cancelled b.acquire:ok c.acquire:ok");
    cr_assert(eq(u32, stage.semaphore.value, 0));
}

/* A holder gives back and cancels, in the same step, the one it woke: who comes later gets it. */
Test(semaphore, holder_releases_and_cancels_the_woken) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 1);
    stage_guest(&stage, 'a', "acquire yield release cancel-b");
    stage_guest(&stage, 'b', "acquire");
    stage_run(&stage);
    cr_assert(not(stage_locked(&stage)));
    stage_guest(&stage, 'c', "acquire");
    stage_end(&stage, "a.acquire:ok a.yield:ok b.acquire:cancelled c.acquire:ok");
}

/* --- permits and newcomers in the window ------------------------------------------------------ */

/* More is free than was promised, yet newcomers queue behind the woken: nobody overtakes. When the
 * woken one resumes, whoever fits is woken in that same step, not one per turn (gh-111693). */
Test(semaphore, newcomers_park_behind_the_woken) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_guests(&stage, 'b', 'd', "acquire");
    for (int count = 0; count < 4; count++) {
        stage_give_back(&stage);
    }
    stage_expect_queue(&stage, 0, 1, 0);
    cr_assert(eq(u32, stage.semaphore.value, 3));
    /* b, c, d had their first steps queued before a was woken. */
    for (uint32_t parked = 1; parked <= 3; parked++) {
        stage_step(&stage, 0);
        stage_expect_queue(&stage, parked, 1, 0);
    }
    stage_step(&stage, 0);
    tst_expect(&stage.log, "a.acquire:ok");
    stage_expect_queue(&stage, 0, 3, 0);
    cr_assert(eq(u32, stage.semaphore.value, 0));
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok b.acquire:ok c.acquire:ok d.acquire:ok");
    stage_end(&stage, "a.acquire:ok b.acquire:ok c.acquire:ok d.acquire:ok");
}

/* The same with the woken one cancelled in the window: its permit and the free ones go to the
 * parked in that step. */
Test(semaphore, newcomers_parked_behind_a_cancelled_one) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_guests(&stage, 'b', 'd', "acquire");
    stage_give_back(&stage);
    stage_give_back(&stage);
    stage_cancel(&stage, 'a');
    for (int step = 0; step < 3; step++) {
        stage_step(&stage, 0);
    }
    stage_expect_queue(&stage, 3, 1, 0);
    stage_step(&stage, 0);
    tst_expect(&stage.log, "a.acquire:cancelled");
    stage_expect_queue(&stage, 1, 2, 0);
    stage_turn(&stage);
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:cancelled b.acquire:ok c.acquire:ok d.acquire:ok");
}

/* A release in the window serves who is parked, if there is a permit: it need not wait for the
 * woken one to resume. asyncio wakes one waiter a release; here, all that fit. */
Test(semaphore, release_in_the_window_serves_the_parked) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_guests(&stage, 'b', 'c', "acquire");
    stage_give_back(&stage);
    stage_give_back(&stage);
    stage_step(&stage, 0);
    stage_step(&stage, 0);
    stage_expect_queue(&stage, 2, 1, 0);
    cr_assert(eq(u32, stage.semaphore.value, 1));
    stage_give_back(&stage);
    stage_expect_queue(&stage, 0, 3, 0);
    stage_end(&stage, "a.acquire:ok b.acquire:ok c.acquire:ok");
}

/* All of several woken are cancelled: every permit goes on, in order. */
Test(semaphore, several_woken_are_cancelled) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 0);
    stage_guests(&stage, 'a', 'f', "acquire");
    stage_turn(&stage);
    for (int count = 0; count < 3; count++) {
        stage_give_back(&stage);
    }
    for (char name = 'a'; name <= 'c'; name++) {
        stage_cancel(&stage, name);
    }
    stage_expect_queue(&stage, 3, 3, 0);
    stage_end(&stage, "a.acquire:cancelled b.acquire:cancelled c.acquire:cancelled "
                      "d.acquire:ok e.acquire:ok f.acquire:ok");
    cr_assert(eq(u32, stage.holders, 3));
}

/* The peers' fourth order: one waits; a queued task gives back three times; the first resume wakes
 * all that fit, and a task created after that comes last. */
Test(semaphore, first_resume_wakes_all_that_fit) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, 1);
    tst_status(stage_acquire(&stage), BZ_OK);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_guest(&stage, 'b', "release release release");
    stage_guests(&stage, 'c', 'd', "acquire");
    stage_turn(&stage);
    tst_expect(&stage.log, "");
    stage_expect_queue(&stage, 2, 1, 0);
    cr_assert(eq(u32, stage.semaphore.value, 2));
    stage_guest(&stage, 'e', "acquire");
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok");
    cr_assert(eq(u32, stage.semaphore.value, 0));
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:ok c.acquire:ok d.acquire:ok e.acquire:ok");
}

/* --- bounds ----------------------------------------------------------------------------------- */

Test(bounded, refuses_a_release_too_many) {
    struct stage stage;
    stage_begin(&stage, KIND_BOUNDED, 2);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    cr_assert(eq(u32, stage.semaphore.value, 2));
    tst_status(stage_acquire(&stage), BZ_OK);
    tst_status(stage_release(&stage), BZ_OK);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    cr_assert(eq(u32, stage.semaphore.value, 2));
    stage_end(&stage, "");
}

/* In the window, too: the permit is out, promised to a guest that has not come back. asyncio counts
 * it as held and accepts the release. */
Test(bounded, refuses_a_release_too_many_in_the_window) {
    struct stage stage;
    stage_begin(&stage, KIND_BOUNDED, 1);
    tst_status(stage_acquire(&stage), BZ_OK);
    stage_guests(&stage, 'a', 'b', "acquire");
    stage_turn(&stage);
    stage_give_back(&stage);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_expect_queue(&stage, 1, 1, 0);
    stage_turn(&stage);
    tst_expect(&stage.log, "a.acquire:ok");
    stage_give_back(&stage);
    stage_end(&stage, "a.acquire:ok b.acquire:ok");
}

/* With the woken one cancelled the permit is still out until that one has run. */
Test(bounded, refuses_a_release_too_many_after_a_cancel_in_the_window) {
    struct stage stage;
    stage_begin(&stage, KIND_BOUNDED, 1);
    tst_status(stage_acquire(&stage), BZ_OK);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    stage_give_back(&stage);
    stage_cancel(&stage, 'a');
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_turn(&stage);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_end(&stage, "a.acquire:cancelled");
}

Test(bounded, of_no_permits_never_opens) {
    struct stage stage;
    stage_begin(&stage, KIND_BOUNDED, 0);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_guest(&stage, 'a', "acquire");
    stage_turn(&stage);
    tst_status(stage_release(&stage), BZ_NOT_HELD);
    stage_cancel(&stage, 'a');
    stage_end(&stage, "a.acquire:cancelled");
}

/* A plain semaphore has a bound as well: that of its counter. */
Test(semaphore, counter_does_not_overflow) {
    struct stage stage;
    stage_begin(&stage, KIND_SEMAPHORE, BZ_SEMAPHORE_PERMITS_MAX - 1);
    stage_give_back(&stage);
    cr_assert(eq(u32, stage.semaphore.value, BZ_SEMAPHORE_PERMITS_MAX));
    tst_status(stage_release(&stage), BZ_FULL);
    cr_assert(eq(u32, stage.semaphore.value, BZ_SEMAPHORE_PERMITS_MAX));
    stage_end(&stage, "");
}

/* --- cost ------------------------------------------------------------------------------------- */

/* A hundred thousand operations, contended, with no memory left: nothing is allocated. */
static enum bz_status come_and_go(void *arg) {
    struct stage *stage = arg;
    for (int round = 0; round < 10000; round++) {
        tst_status(bz_semaphore_acquire(&stage->semaphore), BZ_OK);
        tst_status(bz_yield(stage->loop), BZ_OK);
        tst_status(bz_semaphore_release(&stage->semaphore), BZ_OK);
    }
    return BZ_OK;
}

Test(semaphore, operations_allocate_nothing) {
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 16};
    struct stage stage = {.loop = tst_begin_with(&config)};
    struct bz_mem *mem = bz_loop_mem(stage.loop);
    bz_semaphore_init(&stage.semaphore, stage.loop, 2);
    struct bz_task *tasks[5];
    for (int index = 0; index < 5; index++) {
        tasks[index] = tst_spawn(stage.loop, come_and_go, &stage);
    }
    while (bz_mem_alloc(mem, 1) != NULL) {
    }
    uint64_t live = bz_mem_live_blocks(mem);
    while (bz_driver_ready_count(stage.loop) > 0) {
        tst_turn(stage.loop);
        cr_assert(eq(u64, bz_mem_live_blocks(mem), live));
    }
    for (int index = 0; index < 5; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
    }
    cr_assert(eq(u32, stage.semaphore.value, 2));
    bz_loop_destroy(stage.loop);
}
