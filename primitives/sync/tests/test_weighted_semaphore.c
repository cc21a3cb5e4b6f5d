/* The weighted semaphore: no request passes an older one, and none is blocked by one that has gone.
 */
#include "primitives/sync/tests/stage_waiters.h"
#include "primitives/sync/weighted_semaphore.h"

/* Words: "acquire-2" "try-2" "release-2"; "value" "reserved" "queue" report. */
struct weighted {
    struct tst_stage stage;
    struct bz_weighted_semaphore semaphore;
    uint32_t held;
};

static struct weighted *weighted_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct weighted, stage);
}

static uint32_t permits_named(const struct tst_call *call) {
    return (uint32_t)tst_number(call->rest);
}

static enum bz_status word_acquire(struct tst_call *call) {
    struct weighted *weighted = weighted_of(call);
    uint32_t permits = permits_named(call);
    enum bz_status status = bz_weighted_semaphore_acquire(&weighted->semaphore, permits);
    weighted->held += status == BZ_OK ? permits : 0;
    return status;
}

static enum bz_status word_try(struct tst_call *call) {
    struct weighted *weighted = weighted_of(call);
    uint32_t permits = permits_named(call);
    enum bz_status status = bz_weighted_semaphore_try_acquire(&weighted->semaphore, permits);
    weighted->held += status == BZ_OK ? permits : 0;
    return status;
}

static enum bz_status word_release(struct tst_call *call) {
    struct weighted *weighted = weighted_of(call);
    uint32_t permits = permits_named(call);
    weighted->held -= permits <= weighted->held ? permits : 0;
    return bz_weighted_semaphore_release(&weighted->semaphore, permits);
}

static void weighted_report(struct tst_call *call) {
    struct bz_weighted_semaphore *semaphore = &weighted_of(call)->semaphore;
    tst_count(call, "value", semaphore->value);
    tst_count(call, "reserved", semaphore->reserved);
    report_waiters(call, "queue", &semaphore->queue);
}

static void weighted_check(struct tst_stage *stage) {
    struct weighted *weighted = bz_container_of(stage, struct weighted, stage);
    struct bz_weighted_semaphore *semaphore = &weighted->semaphore;
    check_waiters(&semaphore->queue);
    cr_assert_eq(semaphore->value + semaphore->reserved + weighted->held, semaphore->bound);
    if (semaphore->queue.waiting_count > 0 && semaphore->queue.cancelled_count == 0) {
        cr_assert_lt(semaphore->value, bz_waitq_oldest_amount(&semaphore->queue));
    }
}

static void play(uint32_t permits, const char *timeline) {
    static const struct tst_word words[] = {{"acquire-", word_acquire},
                                            {"try-", word_try},
                                            {"release-", word_release, .is_quiet = true},
                                            {NULL, NULL}};
    struct weighted weighted = {.held = 0};
    tst_stage_begin(&weighted.stage, (struct tst_cast){words, weighted_report, weighted_check});
    bz_weighted_semaphore_init(&weighted.semaphore, weighted.stage.loop, permits);
    tst_play(&weighted.stage, timeline);
    tst_play(&weighted.stage, "run queue=0/0/0");
    tst_stage_end(&weighted.stage);
}

Test(weighted, timelines) {
    static const struct tst_sized_row rows[] = {
        {"gives_as_many_as_were_asked_for", 3,
         "acquire-2 value=1 acquire-1 value=0 release-3 value=3"},
        {"refuses_what_can_never_be_had", 3,
         "acquire-4:invalid-argument acquire-0:invalid-argument try-4:invalid-argument value=3"},
        {"refuses_a_release_of_what_is_not_held", 3,
         "acquire-2 release-3:not-held release-2 release-1:not-held value=3"},
        /* A reserved permit is not held yet. */
        {"refuses_a_release_too_many_in_the_window", 2,
         "acquire-2; a: acquire-2; turn release-2 reserved=2 release-1:not-held -> ;"
         "turn release-2 -> a.acquire-2:ok"},
        {"try_never_waits", 3, "try-2 try-2:empty try-1 try-1:empty release-3"},

        /* --- order --- */
        /* a wants more than there is; b and a try want less, and stand behind it. */
        {"large_request_blocks_smaller_ones_behind_it", 3,
         "acquire-2; a: acquire-3 release-3; turn; b: acquire-1 release-1; turn;"
         "value=1 try-1:empty queue=2/0/0 release-2 => a.acquire-3:ok b.acquire-1:ok"},
        {"release_wakes_all_that_fit", 4,
         "acquire-4; a: acquire-1; b: acquire-2; c: acquire-2; d: acquire-1; turn;"
         "release-3 queue=2/2/0 value=0 reserved=3 turn -> a.acquire-1:ok b.acquire-2:ok;"
         "release-1 queue=2/0/0 value=1 release-1 queue=1/1/0"
         " => c.acquire-2:ok; release-1 => d.acquire-1:ok"},
        /* A newcomer takes what is left, unless somebody waits. */
        {"newcomer_takes_what_is_left_in_the_window", 3,
         "acquire-3; a: acquire-1; turn release-3 queue=0/1/0; b: acquire-2 => "
         "a.acquire-1:ok b.acquire-2:ok"},

        /* --- cancels --- */
        /* golang/go#37852: the head wanted more than there was, and is cancelled. */
        {"cancelled_head_no_longer_blocks", 3,
         "acquire-2; a: acquire-3; b: acquire-1; turn queue=2/0/0 cancel-a queue=1/0/1"
         " => a.acquire-3:cancelled b.acquire-1:ok; value=0"},
        /* While the cancelled head has not resumed, a newcomer does not pass those behind it. */
        {"newcomer_stands_behind_those_that_a_cancelled_head_blocked", 3,
         "acquire-2; a: acquire-3; b: acquire-1; turn cancel-a try-1:empty;"
         "c: acquire-1; step queue=0/1/0 => a.acquire-3:cancelled b.acquire-1:ok;"
         "release-1 => c.acquire-1:ok"},
        {"cancelled_waiter_that_is_not_the_head_changes_nothing", 3,
         "acquire-2; a: acquire-2; b: acquire-3; turn cancel-b"
         " => b.acquire-3:cancelled; queue=1/0/0 release-1 => a.acquire-2:ok"},
        /* The window: what the head was given goes to those behind it, in order. */
        {"woken_and_cancelled_gives_its_permits_back", 3,
         "acquire-3; a: acquire-3; b-d: acquire-1; turn release-3 cancel-a queue=3/1/0;"
         "step queue=0/3/0 value=0 => a.acquire-3:cancelled b.acquire-1:ok"
         " c.acquire-1:ok d.acquire-1:ok"},
        {"woken_and_cancelled_with_nobody_behind_it", 3,
         "acquire-3; a: acquire-2; turn release-2 cancel-a => a.acquire-2:cancelled;"
         "value=2 try-2 try-1:empty"},
        /* Cancel, then release: the head has gone, and the next one is woken by the release. */
        {"cancel_then_release", 2,
         "acquire-2; a-b: acquire-2; turn cancel-a release-2 queue=0/1/1"
         " => a.acquire-2:cancelled b.acquire-2:ok"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play);
}
