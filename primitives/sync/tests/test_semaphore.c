/* The semaphores: several permits, the level, bounds. */
#include "primitives/sync/tests/stage_permits.h"

/* --- several permits -------------------------------------------------------------------------- */

static void play_semaphore(uint32_t count, const char *timeline) {
    play(KIND_SEMAPHORE, count, timeline);
}

Test(semaphore, timelines) {
    static const struct tst_sized_row rows[] = {
        {"without_permits_is_locked", 0,
         "locked=yes level=0; a: acquire; turn queue=1/0/0 release => a.acquire:ok"},
        {"release_without_waiters_adds_a_permit", 0,
         "release value=1 locked=no release value=2 release value=3 release value=4;"
         "release value=5 locked=no; a-e: acquire; turn locked=yes"
         " -> a.acquire:ok b.acquire:ok c.acquire:ok d.acquire:ok e.acquire:ok"},
        /* Three permits, two taken; four guests, the first of which takes the third. Two
         * releases grant exactly two of the rest, and the last one waits on. */
        {"grants_as_many_as_were_given_back", 3,
         "acquire acquire locked=no; a-d: acquire; turn queue=3/0/0 -> a.acquire:ok;"
         "release release value=0 level=2 turn -> b.acquire:ok c.acquire:ok;"
         "value=0 queue=1/0/0 release => d.acquire:ok"},
        /* Four wait, the first two are cancelled, then one release: exactly the third has it. */
        {"cancel_of_two_then_one_release", 0,
         "a-d: acquire; turn cancel-a cancel-b release queue=1/1/2;"
         "turn-2 -> a.acquire:cancelled b.acquire:cancelled c.acquire:ok;"
         "queue=1/0/0 release => d.acquire:ok"},
        /* The first of three is cancelled, then two releases: second and third. */
        {"cancel_of_the_first_then_two_releases", 0,
         "a-c: acquire; turn cancel-a release release"
         " => a.acquire:cancelled b.acquire:ok c.acquire:ok; value=0"},
        /* A holder gives back and cancels, in the same step, the one it woke: who comes later
         * gets it. */
        {"holder_releases_and_cancels_the_woken", 1,
         "a: acquire yield release cancel-b;"
         "b: acquire => a.acquire:ok a.yield:ok b.acquire:cancelled;"
         "locked=no; c: acquire => c.acquire:ok"},

        /* --- permits and newcomers in the window --- */
        /* More is free than was promised, yet newcomers queue behind the woken: nobody
         * overtakes. b, c and d had their first steps queued before a was woken. When a resumes,
         * whoever fits is woken in that same step, not one per turn (gh-111693). */
        {"newcomers_park_behind_the_woken", 0,
         "a: acquire; turn; b-d: acquire;"
         "release release release release queue=0/1/0 value=3;"
         "step queue=1/1/0 step queue=2/1/0 step queue=3/1/0 step -> a.acquire:ok;"
         "queue=0/3/0 value=0 turn -> b.acquire:ok c.acquire:ok d.acquire:ok"},
        /* The same with the woken one cancelled in the window: its permit and the free ones go
         * to the parked in that step. */
        {"newcomers_parked_behind_a_cancelled_one", 0,
         "a: acquire; turn; b-d: acquire; release release cancel-a;"
         "step step step queue=3/1/0 step queue=1/2/0 -> a.acquire:cancelled;"
         "turn release => b.acquire:ok c.acquire:ok d.acquire:ok"},
        /* A release in the window serves who is parked, if there is a permit: it need not wait
         * for the woken one to resume. asyncio wakes one waiter a release; here, all that fit. */
        {"release_in_the_window_serves_the_parked", 0,
         "a: acquire; turn; b-c: acquire; release release step step queue=2/1/0 value=1;"
         "release queue=0/3/0 => a.acquire:ok b.acquire:ok c.acquire:ok"},
        /* All of several woken are cancelled: every permit goes on, in order. */
        {"several_woken_are_cancelled", 0,
         "a-f: acquire; turn release release release cancel-a cancel-b cancel-c queue=3/3/0"
         " => a.acquire:cancelled b.acquire:cancelled c.acquire:cancelled"
         " d.acquire:ok e.acquire:ok f.acquire:ok; holders=3"},
        /* The peers' fourth order: one waits; a queued task gives back three times; the first
         * resume wakes all that fit, and a task created after that comes last. */
        {"first_resume_wakes_all_that_fit", 1,
         "acquire; a: acquire; turn; b: release release release; c-d: acquire;"
         "turn queue=2/1/0 value=2 -> ;"
         "e: acquire; turn value=0 -> a.acquire:ok;"
         "release => c.acquire:ok d.acquire:ok e.acquire:ok"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_semaphore);
}

/* --- bounds ----------------------------------------------------------------------------------- */

static void play_bounded(uint32_t count, const char *timeline) {
    play(KIND_BOUNDED, count, timeline);
}

Test(bounded, timelines) {
    static const struct tst_sized_row rows[] = {
        {"refuses_a_release_too_many", 2,
         "release:not-held value=2 acquire release release:not-held value=2"},
        /* In the window, too: the permit is out, promised to a guest that has not come back.
         * asyncio counts it as held and accepts the release. */
        {"refuses_a_release_too_many_in_the_window", 1,
         "acquire; a-b: acquire; turn release release:not-held queue=1/1/0;"
         "turn -> a.acquire:ok; release => b.acquire:ok"},
        /* With the woken one cancelled the permit is still out until that one has run. */
        {"refuses_a_release_too_many_after_a_cancel_in_the_window", 1,
         "acquire; a: acquire; turn release cancel-a release:not-held;"
         "turn release:not-held -> a.acquire:cancelled"},
        {"of_no_permits_never_opens", 0,
         "release:not-held; a: acquire; turn release:not-held cancel-a => a.acquire:cancelled"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play_bounded);
}

/* A plain semaphore has a bound as well: that of its counter. */
Test(semaphore, counter_does_not_overflow) {
    struct permits permits;
    permits_begin(&permits, KIND_SEMAPHORE, BZ_SEMAPHORE_PERMITS_MAX - 1);
    tst_act(&permits.stage, "release");
    cr_assert_eq(permits.semaphore.value, BZ_SEMAPHORE_PERMITS_MAX);
    tst_act(&permits.stage, "release:full");
    cr_assert_eq(permits.semaphore.value, BZ_SEMAPHORE_PERMITS_MAX);
    permits_end(&permits);
}

/* --- cost ------------------------------------------------------------------------------------- */

struct visitors {
    struct bz_loop *loop;
    struct bz_semaphore semaphore;
};

static enum bz_status come_and_go(void *arg) {
    struct visitors *visitors = arg;
    for (int round = 0; round < 10000; round++) {
        tst_status(bz_semaphore_acquire(&visitors->semaphore), BZ_OK);
        tst_status(bz_yield(visitors->loop), BZ_OK);
        tst_status(bz_semaphore_release(&visitors->semaphore), BZ_OK);
    }
    return BZ_OK;
}

/* A hundred thousand operations, contended, with no memory left: nothing is allocated. */
Test(semaphore, operations_allocate_nothing) {
    struct bz_loop_config config = {.mem_limit_bytes = 1 << 16};
    struct visitors visitors = {.loop = tst_begin_with(&config)};
    struct bz_mem *mem = bz_loop_mem(visitors.loop);
    bz_semaphore_init(&visitors.semaphore, visitors.loop, 2);
    struct bz_task *tasks[5];
    for (int index = 0; index < 5; index++) {
        tasks[index] = tst_spawn(visitors.loop, come_and_go, &visitors);
    }
    while (bz_mem_alloc(mem, 1) != NULL) {
    }
    uint64_t live = bz_mem_live_blocks(mem);
    while (bz_driver_ready_count(visitors.loop) > 0) {
        tst_turn(visitors.loop);
        cr_assert_eq(bz_mem_live_blocks(mem), live);
    }
    for (int index = 0; index < 5; index++) {
        tst_status(tst_outcome(tasks[index]), BZ_OK);
    }
    cr_assert_eq(visitors.semaphore.value, 2);
    bz_loop_destroy(visitors.loop);
}
