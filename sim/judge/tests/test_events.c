/* Events told by hand: orders of events that are rare or come from another runtime. */
#include "sim/choice/rng.h"
#include "sim/judge/tests/teller.h"

/* --- stories -------------------------------------------------------------------------------- */

static const struct bz_judge_config one_overtaking = {.strategy = &bz_strategy_fifo,
                                                      .starvation_bound = 1};
static const struct bz_judge_config two_overtakings = {.strategy = &bz_strategy_fifo,
                                                       .starvation_bound = 2};

/* The events of one run, and the verdict at their end. */
static const struct story {
    const char *name;
    const struct bz_judge_config *config;
    uint32_t claims;
    uint64_t permits;
    const char *words;
    const char *oracle; /* NULL: none objects */
    const char *text;
} stories[] = {
    /* The newest waiter is woken first, and a newcomer takes its permit. Later the oldest is
     * woken, and its permit is taken, too. */
    {"order/knows_who_was_woken_before_a_later_arrival", &two_overtakings, 0, 1,
     "+a call ok yield  +b call wait  +c call wait  +a release wake-c call ok yield +a "
     "release yield  +c ok release wake-b yield  +a call ok",
     "starvation", "b was overtaken 3 times while it waited for 'table'"},
    /* The count begins anew with each acquire. */
    {"order/counts_overtakings_of_one_wait", &one_overtaking, 0, 1,
     "+a call ok yield  +b call wait  +c call wait  +a release wake-c yield  +c ok "
     "release wake-b yield  +b ok release yield +a call ok yield  +b call wait  +c call "
     "wait  +a release wake-c yield  +c ok release wake-b yield  +b ok release yield"},
    /* It yields inside acquire, so the request does not wake it. It may be overtaken all the
     * same. */
    {"order/knows_who_was_asked_to_leave_while_it_polls", &plain, BZ_CLAIM_FIFO, 1,
     "+a call yield  mark-a  +b call ok"},
    /* Three were woken, two of them were then cancelled: a permit is left for the third. */
    {"order/knows_that_a_permit_is_left_for_who_was_woken", &plain, BZ_CLAIM_FIFO, 3,
     "+a call ok call ok call ok yield  +b call wait  +c call wait  +d call wait +a "
     "release wake-b release wake-c release wake-d mark-c mark-d call ok"},
    /* A wake-up that is a hint grants nothing: who is woken too early may wait again. */
    {"order/judges_a_hint_at_the_return", &plain, BZ_CLAIM_FIFO, 1,
     "+a call ok yield  +b call wait  +c call wait  +a release wake-c yield  +c wake-b "
     "wait  +b ok"},
    {"order/judges_a_hint_at_the_return", &plain, BZ_CLAIM_FIFO, 1,
     "+a call ok yield  +b call wait  +c call wait  +a release wake-c yield  +c ok", "fifo",
     "c was granted a permit of 'table' before b, which still waits"},
    {"order/judges_a_hint_at_the_return", &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1,
     "+a call ok yield  +b call wait  +c call wait  +a release wake-c", "fifo",
     "c was granted a permit of 'table' before b, which still waits"},
    /* Of two hints the later one is followed first, and a permit is left for the other. */
    {"order/leaves_a_hint_that_finds_enough", &plain, BZ_CLAIM_FIFO, 2,
     "+a call ok call ok yield  +b call wait  +c call wait  +a release release wake-c "
     "yield  +c ok wake-b yield  +b ok"},
    {"order/leaves_a_hint_that_finds_enough", &plain, BZ_CLAIM_FIFO, 2,
     "+a call ok call ok yield  +b call wait  +c call wait  +a release wake-c yield  +c "
     "ok",
     "fifo", "c was granted a permit of 'table' before b, which still waits"},
    /* It yields inside acquire: its result may have been set, which nobody sees. */
    {"order/knows_that_a_task_may_have_a_result_before_it_awaits", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 2,
     "+a call ok call ok yield  +b call yield  +c call wait  +a release release wake-c "
     "yield  +c ok yield  +b ok"},
    {"order/knows_that_a_task_may_have_a_result_before_it_awaits", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 2,
     "+a call ok call ok yield  +b call yield  +c call wait  +a release wake-c", "fifo",
     "c was granted a permit of 'table' before b"},
    /* It was asked before it called, and yields with the lock in its hand. Then it passes the
     * lock on. */
    {"order/knows_who_passes_on_in_the_step_in_which_it_is_cancelled", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1,
     "+b mark-b call yield  +c call wait +b! wake-c no yield  +c ok"},
    {"order/knows_who_passes_on_in_the_step_in_which_it_is_cancelled", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1, "+b call yield  +c call wait  +b wake-c", "fifo",
     "c was granted a permit of 'table' before b"},
    /* The step does nothing else that concerns the object. */
    {"dirty/is_the_object_of_a_task_that_is_woken", &plain, BZ_CLAIM_WAKE_IS_GRANT, 1,
     "show-0000 +a call ok yield  +b call wait show-0101 +a show-0011 wake-b yield", "level-bound",
     "'table' promises more permits than it has"},
    {"queue-partition/fires_at_a_result_that_nobody_was_woken_with", &plain, 0, 1,
     "show-0011 +a call ok yield", "queue-partition", "1 entry with a result, but 0 tasks were"},
    /* It comes right after the return, in the same step. */
    {"work-conserving/is_silent_about_who_came_later", &plain, BZ_CLAIM_WORK_CONSERVING, 2,
     "+c call yield mark-c  +a call yield  +a ok call wait"},
    /* The one that yields has the second permit, unless there is a third. */
    {"work-conserving/knows_that_a_task_may_have_a_permit_and_not_have_returned", &plain,
     BZ_CLAIM_WORK_CONSERVING, 2,
     "+d call ok call ok yield  +b call wait  +c call yield  +a call yield  +d release "
     "release yield  +a ok"},
    {"work-conserving/knows_that_a_task_may_have_a_permit_and_not_have_returned", &plain,
     BZ_CLAIM_WORK_CONSERVING, 3,
     "+d call ok call ok call ok yield  +b call wait  +c call yield  +a call yield  +d "
     "release release release yield  +a ok",
     "work-conserving", "is promised to nobody, but b waits"},
    /* An entry that is in the queue before its task waits. */
    {"queue-partition/knows_that_a_task_may_enter_before_it_waits", &plain, 0, 1,
     "show-0000 +a call ok yield  +b show-0101 call yield"},
    {"queue-partition/knows_that_a_task_may_enter_before_it_waits", &plain, 0, 1,
     "show-0101 +a call ok yield", "queue-partition", "shows 1 waiting entry, but 0 tasks wait"},
    /* A task has the permit and yields before it returns. Others wait meanwhile, beside level 1. */
    {"spec/knows_that_a_task_may_have_a_permit_and_not_have_returned", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_LOCKED_EXACT, 1,
     "show-1000 +a call yield  +b call wait show-1101 +a ok show-0101"},
    /* In its first acquire a polls beside a free permit. To queue there would be wrong. In its
     * second one it queues, while b has the permit. */
    {"spec/forgets_at_the_end_of_a_step_what_was_none_of_its_actions", &plain,
     BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT, 1,
     "show-1000 +a call yield  +a ok release yield  +b call ok show-0000 yield  +a call "
     "wait show-0101"},
    {"cancel-delivered/fires_when_a_task_resumes_as_if_nobody_had_asked", &plain, 0, 1,
     "+a yield  mark-a  +a", "cancel-delivered",
     "a resumed with 'ok', although a cancel request was pending"},
    /* The request comes after the wake-up, so it goes to nobody else. */
    {"cancel-delivered/fires_when_a_woken_joiner_resumes_as_if_nobody_had_asked", &plain, 0, 1,
     "+a join  +b exit wake-a  +c mark-a yield  +a", "cancel-delivered",
     "a resumed with 'ok', although a cancel request was pending"},
    /* The request went on to the joined task, which ended otherwise. */
    {"cancel-delivered/is_silent_when_the_joined_task_takes_the_request", &plain, 0, 1,
     "+a join  +c mark-a yield  +b exit wake-a  +a"},
    /* The joined task cannot be cancelled, so the request stays with the joiner. */
    {"cancel-delivered/fires_when_a_joiner_that_waited_on_resumes_as_if_nobody_had_asked", &plain,
     0, 1, "+a join  +c mark-a keep-a yield  +b exit wake-a  +a", "cancel-delivered",
     "a resumed with 'ok', although a cancel request was pending"},
    {"cancel-delivered/is_silent_when_a_joiner_waited_on", &plain, 0, 1,
     "+a join  +c mark-a keep-a yield  +b exit wake-a  +a! yield  +a"},
    /* The request is taken back, but its future is cancelled already. */
    {"cancel-delivered/is_silent_when_a_request_on_its_way_is_taken_back", &plain, 0, 1,
     "+a call ok yield  +b call wait  cancel-b uncancel-b  +b! no yield"},
};

Test(events, end_as_each_story_says) {
    for (size_t index = 0; index < sizeof stories / sizeof stories[0]; index++) {
        const struct story *story = &stories[index];
        const struct bz_violation *violation;
        struct teller teller;
        begin(&teller, story->config, story->claims, story->permits,
              strncmp(story->words, "show-", 5) == 0);
        violation = bz_judge_violation(teller.judge);
        tell(&teller, story->words);
        bz_judge_end_step(teller.judge);
        const char *oracle = violation->oracle == NULL ? "none" : violation->oracle;
        cr_assert_str_eq((char *)oracle, (char *)(story->oracle == NULL ? "none" : story->oracle),
                         "%s: %s", story->name, violation->message);
        cr_assert(story->oracle == NULL || strstr(violation->message, story->text) != NULL,
                  "%s: %s", story->name, violation->message);
        bz_judge_destroy(teller.judge);
    }
}

/* The line is full, and 14 of its places are gaps. The woken task moves from the 15th to the first.
 */
Test(order, knows_who_was_woken_when_the_line_closes_its_gaps) {
    struct teller teller;
    begin(&teller, &one_overtaking, 0, 1, false);
    tell(&teller, "+b call yield");
    for (int gap = 1; gap < 14; gap++) {
        tell(&teller, "+b ok release call yield");
    }
    tell(&teller, "+b ok release yield  +a call ok yield  +c call wait  +a release wake-c call ok "
                  "yield  +c wait  +a release wake-c yield  +d call wait  +e call wait");
    cr_assert_eq(teller.judge->shadow.objects[1].line_end, 3);
    tell(&teller, "+a call ok");
    end_violated(&teller, "starvation", "c was overtaken 2 times while it waited for 'table'");
}

/* The request is taken back, but its future is cancelled already: it is still on its way. */
Test(windows, of_a_task_whose_request_was_taken_back_on_its_way) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    tell(&teller, "+a call ok yield  +b call wait  cancel-b uncancel-b mark-b  +b! no yield");
    const struct bz_run_stats *stats = bz_judge_stats(teller.judge);
    cr_assert_eq(stats->windows[BZ_OP_ACQUIRE][BZ_WINDOW_WAITING], 1);
    cr_assert_eq(stats->windows[BZ_OP_ACQUIRE][BZ_WINDOW_CANCELLING], 1);
    end_silently(&teller);
}

/* A wait without the lock is refused. An earlier operation of the task was cancelled. */
Test(cancel_delivered, is_silent_about_misuse_after_a_cancelled_operation) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    struct bz_judged_condition condition =
        bz_judge_add_condition(teller.judge, "news", "lock", 0, NULL);
    tell(&teller, "+a call ok yield  +b call wait  cancel-b  +b! no");
    bz_judge_condition_misuse_begin(&condition);
    bz_judge_condition_misuse_end(&condition, BZ_NOT_HELD);
    end_silently(&teller);
}

Test(windows, of_a_task_whose_release_was_refused) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    tell(&teller, "+a call ok refused yield  mark-a");
    cr_assert_eq(bz_judge_stats(teller.judge)->windows[BZ_OP_YIELD][BZ_WINDOW_HOLDING], 1);
    end_violated(&teller, "status",
                 "release of 'table' returned not-held to a, but the task holds a permit");
}

/* --- verdicts --------------------------------------------------------------------------------- */

Test(oracles, are_silent_when_they_are_off) {
    struct bz_judge_config config = {.strategy = &bz_strategy_fifo};
    struct teller teller;
    begin(&teller, &config, 0, 1, false);
    tell(&teller, "+a call ok yield  +b call ok");
    end_violated(&teller, "mutual-exclusion", "b acquired 'table' as holder number 2");
    config.oracles_off = UINT64_C(1) << bz_oracle_index("mutual-exclusion");
    begin(&teller, &config, 0, 1, false);
    tell(&teller, "+a call ok yield  +b call ok");
    end_silently(&teller);
}

/* The joined task swallowed the request. The next one strikes the joining task when it has been
 * woken, and no cancel is on its way. */
Test(windows, of_a_joining_task_whose_request_the_joined_task_swallowed) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    tell(&teller, "+a join  +b wait  mark-a cancel-b  +b! exit wake-a mark-a");
    const struct bz_run_stats *stats = bz_judge_stats(teller.judge);
    cr_assert_eq(stats->windows[BZ_OP_JOIN][BZ_WINDOW_WAITING], 1);
    cr_assert_eq(stats->windows[BZ_OP_JOIN][BZ_WINDOW_WOKEN], 1);
    cr_assert_eq(stats->windows[BZ_OP_JOIN][BZ_WINDOW_CANCELLING], 0);
    tell(&teller, "+a! exit");
    end_silently(&teller);
}

/* --- the end of long runs --------------------------------------------------------------------- */

/* A source whose state never changes, or always does. */
static bool looks_the_same(void *source, uint64_t *fingerprint) {
    *fingerprint = (uintptr_t)source;
    return true;
}

static bool looks_new(void *source, uint64_t *fingerprint) {
    *fingerprint = ++*(uint64_t *)source;
    return true;
}

/* A run of 10 steps: a acquires in the first one, and there is no progress after it. */
static void run_long(struct teller *teller, bool (*fingerprint)(void *, uint64_t *),
                     const char *others) {
    static uint64_t states;
    const struct bz_judge_config config = {.strategy = &bz_strategy_fifo,
                                           .steps_max = 10,
                                           .fingerprint = fingerprint,
                                           .source = &states};
    begin(teller, &config, 0, 2, false);
    tell(teller, "+a call ok join");
    while (bz_judge_goes_on(teller->judge)) {
        tell(teller, others);
    }
    bz_judge_end(teller->judge);
}

Test(livelock, fires_when_the_state_repeats) {
    struct teller teller;
    run_long(&teller, looks_the_same, "+b yield");
    cr_assert_eq(bz_judge_steps(teller.judge), 10);
    cr_assert_eq(bz_judge_violation(teller.judge)->step, 10);
    end_violated(&teller, "livelock", "last progress in step 1 of 10; what runs: b (in yield)");
}

static void end_out_of_steps(struct teller *teller) {
    cr_assert_eq(bz_judge_verdict(teller->judge), BZ_RUN_OUT_OF_STEPS);
    end_silently(teller);
}

Test(livelock, is_silent_about_a_source_that_shows_no_state_or_always_another) {
    struct teller teller;
    run_long(&teller, NULL, "+b yield");
    uint64_t digest = bz_judge_digest(teller.judge);
    end_out_of_steps(&teller);
    run_long(&teller, looks_new, "+b yield");
    cr_assert_eq(bz_judge_digest(teller.judge), digest, "the search for a cycle is no event");
    end_out_of_steps(&teller);
}

Test(livelock, is_silent_while_there_is_progress_or_the_state_of_a_task_differs) {
    struct teller teller;
    run_long(&teller, looks_the_same, "+b call yield +b ok release yield");
    end_out_of_steps(&teller);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* It was notified and then cancelled while another one waited, which has left by now. */
Test(lost_notification, is_silent_when_nobody_is_left_to_pass_it_on_to) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    struct bz_judged_condition condition =
        bz_judge_add_condition(teller.judge, "news", "lock", 0, NULL);
    teller.object = condition.lock;
    for (int task = 0; task < 2; task++) {
        tell(&teller, task == 0 ? "+a call ok" : "+b call ok");
        bz_judge_condition_wait_begin(&condition);
        tell(&teller, "wait");
    }
    tell(&teller, "+c call ok");
    struct bz_judged_wakes wakes = bz_judge_notify_begin(&condition, 1);
    tell(&teller, "wake-a");
    bz_judge_notify_end(&condition, wakes, BZ_OK);
    tell(&teller, "release mark-a yield  +a! cancel-b");
    bz_judge_condition_wait_end(&condition, true, BZ_CANCELLED);
    tell(&teller, "release"); /* until then it might pass it on */
    end_silently(&teller);
}

/* A notification that leaves nobody asleep is lost on nobody: b began to wait after it. */
Test(lost_notification, is_silent_about_those_who_came_after_it) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    struct bz_judged_condition condition =
        bz_judge_add_condition(teller.judge, "news", "lock", 0, NULL);
    teller.object = condition.lock;
    tell(&teller, "+a call ok");
    bz_judge_condition_wait_begin(&condition);
    tell(&teller, "wait  +b call ok");
    struct bz_judged_wakes wakes = bz_judge_notify_begin(&condition, 5);
    tell(&teller, "wake-a");
    bz_judge_notify_end(&condition, wakes, BZ_OK);
    bz_judge_condition_wait_begin(&condition);
    tell(&teller, "wait mark-a  +a!");
    bz_judge_condition_wait_end(&condition, true, BZ_CANCELLED);
    tell(&teller, "release");
    end_silently(&teller);
}

/* --- barriers --------------------------------------------------------------------------------- */

/* After the reset one task alone is too few, whoever passed before it. */
Test(barrier_round, begins_anew_after_a_reset) {
    struct bz_judged_barrier barrier;
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    bz_judge_add_barrier(teller.judge, &barrier, "gate", 2, 0, NULL);
    tell(&teller, "+a");
    struct bz_judged_pass first = bz_judge_barrier_wait_begin(&barrier);
    tell(&teller, "wait  +b");
    struct bz_judged_pass last = bz_judge_barrier_wait_begin(&barrier);
    tell(&teller, "wake-a");
    bz_judge_barrier_wait_end(&barrier, last, 1, BZ_OK);
    tell(&teller, "yield  +a");
    bz_judge_barrier_wait_end(&barrier, first, 0, BZ_OK);
    (void)bz_judge_barrier_break(&barrier, BZ_OP_RESET);
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    end_violated(&teller, "barrier-round", "a passed 'gate' with only 1 of 2 parties there");
}

/* Two pass with the same index while others wait. Then these leave. The third one to pass is alone
 * in its round, but its index is new. (One is cancelled from the beginning, so nobody has to be
 * woken.) */
Test(barrier_round, fires_at_who_is_alone_when_others_have_left) {
    static const char *const joins[] = {"+d", "+a cancel-d", "+b"};
    static const char *const leaves[] = {"+d!", "yield +a!", "yield +b!"};
    struct bz_judged_barrier barrier;
    struct bz_judged_pass waits[3];
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    bz_judge_add_barrier(teller.judge, &barrier, "gate", 2, 0, NULL);
    for (int task = 0; task < 3; task++) {
        tell(&teller, joins[task]);
        waits[task] = bz_judge_barrier_wait_begin(&barrier);
        tell(&teller, "wait");
    }
    tell(&teller, "+c");
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    tell(&teller, "cancel-a cancel-b yield");
    for (int task = 0; task < 3; task++) {
        tell(&teller, leaves[task]);
        bz_judge_barrier_wait_end(&barrier, waits[task], 0, BZ_CANCELLED);
    }
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 1, BZ_OK);
    end_violated(&teller, "barrier-round", "b passed 'gate' with only 1 of 2 parties there");
}

/* One polls, and is cancelled when its round is complete, which nobody has seen. */
Test(barrier_round, is_silent_about_a_cancelled_task_that_polls) {
    struct bz_judged_barrier barrier;
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    bz_judge_add_barrier(teller.judge, &barrier, "gate", 2, 0, NULL);
    for (int round = 0; round < 2; round++) {
        tell(&teller, "+a");
        struct bz_judged_pass wait = bz_judge_barrier_wait_begin(&barrier);
        tell(&teller, "yield +b");
        bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 1, BZ_OK);
        tell(&teller, round == 0 ? "mark-a yield +a!" : "yield +a");
        bz_judge_barrier_wait_end(&barrier, wait, 0, round == 0 ? BZ_CANCELLED : BZ_OK);
        tell(&teller, "yield");
    }
    tell(&teller, "+a");
    end_silently(&teller);
}

/* --- queues ----------------------------------------------------------------------------------- */

static uint64_t size_of_queue(void *instance) {
    return *(uint64_t *)instance;
}

/* A queue for one item, which a has put; it waits to put another one. The size is what the test
 * says. */
static void begin_queue(struct teller *teller, struct bz_judged_queue *queue, uint32_t claims,
                        uint64_t *size) {
    const struct bz_introspection look = {.instance = size};
    begin(teller, &plain, 0, 1, false);
    bz_judge_add_queue(teller->judge, queue, "items", "slots", BZ_QUEUE_ORDER_FIFO, 1, claims,
                       &look, size_of_queue);
    tell(teller, "+a");
    *size = 1;
    bz_judge_put_end(queue, bz_judge_put_begin(queue, 0), BZ_OK);
    (void)bz_judge_put_begin(queue, 0);
    tell(teller, "wait  +b");
}

/* The shutdown drops the item. Its slot is free, but no put may have it. */
Test(lost_wakeup, is_silent_about_a_putter_that_waits_at_a_closed_queue) {
    uint64_t size;
    struct bz_judged_queue queue;
    struct teller teller;
    begin_queue(&teller, &queue, 0, &size);
    bz_judge_shutdown_begin(&queue, true);
    size = 0;
    bz_judge_shutdown_end(&queue, true);
    tell(&teller, "yield  +c");
    bz_judge_put_end(&queue, bz_judge_put_begin(&queue, 0), BZ_CLOSED);
    end_silently(&teller);
}

/* The get lets in the item of the waiting putter. The next get fails, and finds it there. */
Test(item_once, is_silent_about_an_item_whose_put_has_not_returned) {
    uint64_t size;
    struct bz_judged_queue queue;
    struct teller teller;
    begin_queue(&teller, &queue, 0, &size);
    bz_judge_get_begin(&queue);
    tell(&teller, "wake-a");
    bz_judge_get_end(&queue, 1, BZ_OK);
    bz_judge_try(&queue);
    bz_judge_get_begin(&queue);
    bz_judge_get_end(&queue, 0, BZ_EMPTY);
    end_silently(&teller);
}

#define EXACT (BZ_CLAIM_TAKES_AT_RETURN | BZ_CLAIM_REFUSES_MISUSE)

Test(misuse, fires_when_a_get_is_refused_though_there_are_items) {
    uint64_t size;
    struct bz_judged_queue queue;
    struct teller teller;
    begin_queue(&teller, &queue, EXACT, &size);
    bz_judge_shutdown_begin(&queue, false);
    bz_judge_shutdown_end(&queue, false);
    bz_judge_get_begin(&queue);
    bz_judge_get_end(&queue, 0, BZ_CLOSED);
    end_violated(&teller, "misuse", "b got 'closed' from get of 'items', although there are items");
}

/* A shutdown may change the size. */
Test(queue_size, is_silent_about_a_closed_queue) {
    uint64_t size;
    struct bz_judged_queue queue;
    struct teller teller;
    begin_queue(&teller, &queue, EXACT, &size);
    bz_judge_shutdown_begin(&queue, false);
    size = 7;
    bz_judge_shutdown_end(&queue, false);
    bz_judge_get_begin(&queue);
    bz_judge_get_end(&queue, 1, BZ_OK);
    end_silently(&teller);
}

Test(misuse, fires_at_a_task_done_too_many) {
    uint64_t size;
    struct bz_judged_queue queue;
    struct teller teller;
    begin_queue(&teller, &queue, EXACT, &size);
    bz_judge_task_done_begin(&queue);
    bz_judge_task_done_end(&queue, BZ_OK);
    cr_assert(bz_judge_violation(teller.judge)->oracle == NULL);
    bz_judge_task_done_begin(&queue);
    bz_judge_task_done_end(&queue, BZ_OK);
    end_violated(&teller, "misuse",
                 "b got 'ok' from task_done of 'items', although every item is done already");
}

Test(misuse, fires_at_a_notification_without_the_lock) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    struct bz_judged_condition condition =
        bz_judge_add_condition(teller.judge, "news", "lock", BZ_CLAIM_REFUSES_MISUSE, NULL);
    tell(&teller, "+a");
    bz_judge_notify_end(&condition, bz_judge_notify_begin(&condition, 1), BZ_OK);
    end_violated(&teller, "misuse", "a got 'ok' from 'news', although nobody holds its lock");
}

/* --- timeout scopes --------------------------------------------------------------------------- */

/* Of three scopes the innermost expires, and takes its request back. So there is no request for the
 * scopes around it. */
Test(cancel_count, knows_what_scopes_inside_have_taken_back) {
    struct bz_judged_scope scopes[3];
    struct teller teller;
    begin(&teller, &plain, 0, 1, false);
    tell(&teller, "+a");
    for (int depth = 0; depth < 3; depth++) {
        bz_judge_scope_enter_begin(teller.judge, &scopes[depth],
                                   depth == 0 ? NULL : &scopes[depth - 1], depth == 2 ? 10 : 100,
                                   0);
    }
    tell(&teller, "wait");
    bz_judge_clock(teller.judge, 10);
    tell(&teller, "cancel-a  +a!");
    bz_judge_scope_exit_end(&scopes[2], BZ_CANCELLED, BZ_TIMED_OUT, 0);
    bz_judge_scope_exit_end(&scopes[1], BZ_OK, BZ_OK, 0);
    bz_judge_scope_exit_end(&scopes[0], BZ_OK, BZ_OK, 0);
    end_silently(&teller);
}

/* --- draws ------------------------------------------------------------------------------------ */

/* A replay finds a draw by its number. */
Test(draws, are_numbered_anew_in_each_run) {
    const struct bz_judge_config config = {.strategy = &bz_strategy_random};
    struct teller teller;
    begin(&teller, &config, 0, 1, false);
    for (int run = 0; run < 2; run++) {
        bz_judge_begin(teller.judge, &(struct bz_run_start){.seed = 1});
        bz_judge_spawn(teller.judge, "a", 0);
        tell(&teller, "+a");
        cr_assert_neq(bz_judge_draw(teller.judge, "datum", 1000), 0);
        cr_assert_eq(teller.judge->tape.choices[0].nth, 1);
    }
    end_silently(&teller);
}
