/* Events told by hand: orders of events that are rare or come from another runtime. */
#include "primitives/tests/support.h"
#include "sim/choice/rng.h"
#include "sim/judge/internal.h"
#include "sim/judge/record.h"

/* Tells events of the tasks a, b, c, ... and one object, in words that are separated by blanks:
 *     +a  +a!       a step of task a begins: it resumes with OK, or cancelled
 *     call          it calls acquire
 *     ok  no        acquire returns OK, or BZ_CANCELLED
 *     release       it releases, which returns BZ_OK; refused: BZ_NOT_HELD
 *     wait  yield   it suspends: waits for a future, or yields
 *     join          it suspends: joins another task
 *     exit          it ends
 *     wake-b        task b is woken
 *     cancel-b      a request to cancel task b; it waits for a future: that is cancelled
 *     mark-b        a request to cancel task b that nothing else follows
 *     uncancel-b    the only request to cancel task b is taken back
 * The object shows `view`, or nothing. */
struct teller {
    struct bz_judge *judge;
    uint32_t object;
    const struct bz_permit_view *view;
};

static void show(void *instance, struct bz_permit_view *view) {
    *view = *((struct teller *)instance)->view;
}

static void begin(struct teller *teller, const struct bz_judge_config *config, uint32_t claims,
                  uint64_t permits, const struct bz_permit_view *view) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    const struct bz_introspection look = {.instance = teller, .view = show};
    *teller = (struct teller){.judge = bz_judge_new(config), .view = view};
    cr_assert(teller->judge != NULL);
    bz_judge_begin(teller->judge, &(struct bz_run_start){.seed = 1});
    teller->object = bz_judge_add_permits(teller->judge, "table", BZ_PRIMITIVE_SEMAPHORE, claims,
                                          permits, view == NULL ? NULL : &look);
    for (uint32_t task = 0; task < 5; task++) {
        bz_judge_spawn(teller->judge, names[task], 0);
    }
}

static void begin_step(struct bz_judge *judge, const char *word) {
    uint32_t task = (uint32_t)(word[1] - 'a') + 1;
    uint32_t nth = judge->shadow.tasks[task].next_step;
    bz_judge_end_step(judge);
    bz_judge_begin_step(judge, 0,
                        (struct bz_ready){.owner = task, .nth = nth, .role = BZ_ROLE_STEP});
    bz_judge_event(judge, BZ_EVENT_RESUME, task, word[2] == '!' ? BZ_CANCELLED : BZ_OK, nth);
}

static void tell_word(struct teller *teller, const char *word) {
    struct bz_judge *judge = teller->judge;
    uint32_t running = bz_judge_running(judge);
    const char *dash = strchr(word, '-');
    uint32_t other = dash == NULL ? 0 : (uint32_t)(dash[1] - 'a') + 1;
    if (word[0] == '+') {
        begin_step(judge, word);
    } else if (strcmp(word, "call") == 0) {
        bz_judge_acquire_begin(judge, teller->object);
    } else if (strcmp(word, "ok") == 0 || strcmp(word, "no") == 0) {
        bz_judge_acquire_end(judge, teller->object, word[0] == 'o' ? BZ_OK : BZ_CANCELLED);
    } else if (strcmp(word, "release") == 0 || strcmp(word, "refused") == 0) {
        bz_judge_release_begin(judge, teller->object);
        bz_judge_release_end(judge, teller->object, word[2] == 'l' ? BZ_OK : BZ_NOT_HELD);
    } else if (strcmp(word, "wait") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_FUTURE);
    } else if (strcmp(word, "yield") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_YIELD);
    } else if (strcmp(word, "join") == 0) {
        bz_judge_event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, BZ_WAIT_JOIN);
    } else if (strcmp(word, "exit") == 0) {
        bz_judge_event(judge, BZ_EVENT_EXIT, running, BZ_OK, 0);
    } else if (word[0] == 'w') {
        bz_judge_event(judge, BZ_EVENT_WAKE, other, BZ_OK, 0);
    } else if (word[0] == 'u') {
        bz_judge_event(judge, BZ_EVENT_UNCANCEL, other, BZ_OK, 0);
    } else {
        bz_judge_event(judge, BZ_EVENT_CANCEL, other, BZ_OK, running);
        if (word[0] == 'c') {
            bz_judge_event(judge, BZ_EVENT_WAKE, other, BZ_CANCELLED, 0);
        }
    }
}

static void tell(struct teller *teller, const char *words) {
    char word[16];
    while (sscanf(words, "%15s", word) == 1) {
        words = strstr(words, word) + strlen(word);
        tell_word(teller, word);
    }
}

static void end_silently(struct teller *teller) {
    const struct bz_violation *violation = bz_judge_violation(teller->judge);
    bz_judge_end_step(teller->judge);
    cr_assert(violation->oracle == NULL, "%s: %s", violation->oracle, violation->message);
    bz_judge_destroy(teller->judge);
}

static void end_violated(struct teller *teller, const char *oracle, const char *text) {
    const struct bz_violation *violation = bz_judge_violation(teller->judge);
    bz_judge_end_step(teller->judge);
    cr_assert(violation->oracle != NULL, "%s stays silent", oracle);
    tst_text(violation->oracle, oracle);
    cr_assert(strstr(violation->message, text) != NULL, "%s", violation->message);
    bz_judge_destroy(teller->judge);
}

/* --- the order of service --------------------------------------------------------------------- */

static const struct bz_judge_config plain = {.strategy = &bz_strategy_fifo};
static const struct bz_judge_config one_overtaking = {.strategy = &bz_strategy_fifo,
                                                      .starvation_bound = 1};
static const struct bz_judge_config two_overtakings = {.strategy = &bz_strategy_fifo,
                                                       .starvation_bound = 2};

/* The newest waiter is woken first, and a newcomer takes its permit. Later the oldest is woken, and
 * its permit is taken, too. */
Test(order, knows_who_was_woken_before_a_later_arrival) {
    struct teller teller;
    begin(&teller, &two_overtakings, 0, 1, NULL);
    tell(&teller, "+a call ok yield  +b call wait  +c call wait  +a release wake-c call ok yield "
                  "+a release yield  +c ok release wake-b yield  +a call ok");
    end_violated(&teller, "starvation", "b was overtaken 3 times while it waited for 'table'");
}

/* The line is full, and 14 of its places are gaps. The woken task moves from the 15th to the first.
 */
Test(order, knows_who_was_woken_when_the_line_closes_its_gaps) {
    struct teller teller;
    begin(&teller, &one_overtaking, 0, 1, NULL);
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

/* The count begins anew with each acquire. */
Test(order, counts_overtakings_of_one_wait) {
    static const char words[] = "+a call ok yield  +b call wait  +c call wait  +a release wake-c "
                                "yield  +c ok release wake-b yield  +b ok release yield ";
    struct teller teller;
    begin(&teller, &one_overtaking, 0, 1, NULL);
    tell(&teller, words);
    tell(&teller, words);
    end_silently(&teller);
}

/* It yields inside acquire, so the request does not wake it. It may be overtaken all the same. */
Test(order, knows_who_was_asked_to_leave_while_it_polls) {
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO, 1, NULL);
    tell(&teller, "+a call yield  mark-a  +b call ok");
    end_silently(&teller);
}

/* Three were woken, two of them were then cancelled: a permit is left for the third. */
Test(order, knows_that_a_permit_is_left_for_who_was_woken) {
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO, 3, NULL);
    tell(&teller, "+a call ok call ok call ok yield  +b call wait  +c call wait  +d call wait "
                  "+a release wake-b release wake-c release wake-d mark-c mark-d call ok");
    end_silently(&teller);
}

/* A wake-up that is a hint grants nothing: who is woken too early may wait again. */
Test(order, judges_a_hint_at_the_return) {
    static const char words[] = "+a call ok yield  +b call wait  +c call wait  +a release wake-c ";
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO, 1, NULL);
    tell(&teller, words);
    tell(&teller, "yield  +c wake-b wait  +b ok");
    end_silently(&teller);
    begin(&teller, &plain, BZ_CLAIM_FIFO, 1, NULL);
    tell(&teller, words);
    tell(&teller, "yield  +c ok");
    end_violated(&teller, "fifo", "c was granted a permit of 'table' before b, which still waits");
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1, NULL);
    tell(&teller, words);
    end_violated(&teller, "fifo", "c was granted a permit of 'table' before b, which still waits");
}

/* Of two hints the later one is followed first, and a permit is left for the other. */
Test(order, leaves_a_hint_that_finds_enough) {
    static const char words[] = "+a call ok call ok yield  +b call wait  +c call wait  +a release ";
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO, 2, NULL);
    tell(&teller, words);
    tell(&teller, "release wake-c yield  +c ok wake-b yield  +b ok");
    end_silently(&teller);
    begin(&teller, &plain, BZ_CLAIM_FIFO, 2, NULL);
    tell(&teller, words);
    tell(&teller, "wake-c yield  +c ok");
    end_violated(&teller, "fifo", "c was granted a permit of 'table' before b, which still waits");
}

/* It yields inside acquire: its result may have been set, which nobody sees. */
Test(order, knows_that_a_task_may_have_a_result_before_it_awaits) {
    static const char words[] =
        "+a call ok call ok yield  +b call yield  +c call wait  +a release ";
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 2, NULL);
    tell(&teller, words);
    tell(&teller, "release wake-c yield  +c ok yield  +b ok");
    end_silently(&teller);
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 2, NULL);
    tell(&teller, words);
    tell(&teller, "wake-c");
    end_violated(&teller, "fifo", "c was granted a permit of 'table' before b");
}

/* It was asked before it called, and yields with the lock in its hand. Then it passes the lock on.
 */
Test(order, knows_who_passes_on_in_the_step_in_which_it_is_cancelled) {
    static const char words[] = "+b mark-b call yield  +c call wait ";
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1, NULL);
    tell(&teller, words);
    tell(&teller, "+b! wake-c no yield  +c ok");
    end_silently(&teller);
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT, 1, NULL);
    tell(&teller, "+b call yield  +c call wait  +b wake-c");
    end_violated(&teller, "fifo", "c was granted a permit of 'table' before b");
}

/* --- what a step concerns --------------------------------------------------------------------- */

/* The step does nothing else that concerns the object. */
Test(dirty, is_the_object_of_a_task_that_is_woken) {
    struct bz_permit_view view = {.level = 0};
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_WAKE_IS_GRANT, 1, &view);
    tell(&teller, "+a call ok yield  +b call wait");
    view.waiting = view.queued = 1;
    tell(&teller, "+a");
    view.waiting = 0;
    view.woken = 1;
    tell(&teller, "wake-b yield");
    end_violated(&teller, "level-bound", "'table' promises more permits than it has");
}

Test(queue_partition, fires_at_a_result_that_nobody_was_woken_with) {
    struct bz_permit_view view = {.level = 0, .woken = 1, .queued = 1};
    struct teller teller;
    begin(&teller, &plain, 0, 1, &view);
    tell(&teller, "+a call ok yield");
    end_violated(&teller, "queue-partition", "1 entry with a result, but 0 tasks were");
}

/* It comes right after the return, in the same step. */
Test(work_conserving, is_silent_about_who_came_later) {
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_WORK_CONSERVING, 2, NULL);
    tell(&teller, "+c call yield mark-c  +a call yield  +a ok call wait");
    end_silently(&teller);
}

/* The one that yields has the second permit, unless there is a third. */
Test(work_conserving, knows_that_a_task_may_have_a_permit_and_not_have_returned) {
    static const char words[] =
        "call ok call ok yield  +b call wait  +c call yield  +a call yield  "
        "+d release release ";
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_WORK_CONSERVING, 2, NULL);
    tell(&teller, "+d");
    tell(&teller, words);
    tell(&teller, "yield  +a ok");
    end_silently(&teller);
    begin(&teller, &plain, BZ_CLAIM_WORK_CONSERVING, 3, NULL);
    tell(&teller, "+d call ok");
    tell(&teller, words);
    tell(&teller, "release yield  +a ok");
    end_violated(&teller, "work-conserving", "is promised to nobody, but b waits");
}

/* An entry that is in the queue before its task waits. */
Test(queue_partition, knows_that_a_task_may_enter_before_it_waits) {
    struct bz_permit_view view = {.level = 0};
    struct teller teller;
    begin(&teller, &plain, 0, 1, &view);
    tell(&teller, "+a call ok yield  +b");
    view.waiting = view.queued = 1;
    tell(&teller, "call yield");
    end_silently(&teller);
    begin(&teller, &plain, 0, 1, &view);
    tell(&teller, "+a call ok yield");
    end_violated(&teller, "queue-partition", "shows 1 waiting entry, but 0 tasks wait");
}

/* A task has the permit and yields before it returns. Others wait meanwhile, beside level 1. */
Test(spec, knows_that_a_task_may_have_a_permit_and_not_have_returned) {
    struct bz_permit_view view = {.level = 1};
    struct teller teller;
    begin(&teller, &plain,
          BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_LOCKED_EXACT, 1,
          &view);
    tell(&teller, "+a call yield  +b call wait");
    view.waiting = view.queued = 1;
    tell(&teller, "+a ok");
    view.level = 0;
    end_silently(&teller);
}

/* In its first acquire a polls beside a free permit. To queue there would be wrong. In its second
 * one it queues, while b has the permit. */
Test(spec, forgets_at_the_end_of_a_step_what_was_none_of_its_actions) {
    struct bz_permit_view view = {.level = 1};
    struct teller teller;
    begin(&teller, &plain, BZ_CLAIM_FIFO | BZ_CLAIM_NO_PASSING | BZ_CLAIM_WAKE_IS_GRANT, 1, &view);
    tell(&teller, "+a call yield  +a ok release yield  +b call ok");
    view.level = 0;
    tell(&teller, "yield  +a call wait");
    view.waiting = view.queued = 1;
    end_silently(&teller);
}

/* --- requests to cancel ----------------------------------------------------------------------- */

Test(cancel_delivered, fires_when_a_task_resumes_as_if_nobody_had_asked) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    tell(&teller, "+a yield  mark-a  +a");
    end_violated(&teller, "cancel-delivered",
                 "a resumed with 'ok', although a cancel request was pending");
}

/* The request comes after the wake-up, so it goes to nobody else. */
Test(cancel_delivered, fires_when_a_woken_joiner_resumes_as_if_nobody_had_asked) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    tell(&teller, "+a join  +b exit wake-a  +c mark-a yield  +a");
    end_violated(&teller, "cancel-delivered",
                 "a resumed with 'ok', although a cancel request was pending");
}

/* The request went on to the joined task, which ended otherwise. */
Test(cancel_delivered, is_silent_when_the_joined_task_takes_the_request) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    tell(&teller, "+a join  +c mark-a yield  +b exit wake-a  +a");
    end_silently(&teller);
}

/* The request is taken back, but its future is cancelled already. */
Test(cancel_delivered, is_silent_when_a_request_on_its_way_is_taken_back) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    tell(&teller, "+a call ok yield  +b call wait  cancel-b uncancel-b  +b! no yield");
    end_silently(&teller);
}

/* A wait without the lock is refused. An earlier operation of the task was cancelled. */
Test(cancel_delivered, is_silent_about_misuse_after_a_cancelled_operation) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    struct bz_judged_condition condition =
        bz_judge_add_condition(teller.judge, "news", "lock", 0, NULL);
    tell(&teller, "+a call ok yield  +b call wait  cancel-b  +b! no");
    bz_judge_condition_misuse_begin(&condition);
    bz_judge_condition_misuse_end(&condition, BZ_NOT_HELD);
    end_silently(&teller);
}

Test(windows, of_a_task_whose_release_was_refused) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    tell(&teller, "+a call ok refused yield  mark-a");
    cr_assert_eq(bz_judge_stats(teller.judge)->windows[BZ_OP_YIELD][BZ_WINDOW_HOLDING], 1);
    end_violated(&teller, "status",
                 "release of 'table' returned not-held to a, but the task holds a permit");
}

/* --- verdicts --------------------------------------------------------------------------------- */

Test(oracles, are_silent_when_they_are_off) {
    struct bz_judge_config config = {.strategy = &bz_strategy_fifo};
    struct teller teller;
    begin(&teller, &config, 0, 1, NULL);
    tell(&teller, "+a call ok yield  +b call ok");
    end_violated(&teller, "mutual-exclusion", "b acquired 'table' as holder number 2");
    config.oracles_off = UINT64_C(1) << bz_oracle_index("mutual-exclusion");
    begin(&teller, &config, 0, 1, NULL);
    tell(&teller, "+a call ok yield  +b call ok");
    end_silently(&teller);
}

/* The joined task swallowed the request. The next one strikes the joining task when it has been
 * woken, and no cancel is on its way. */
Test(windows, of_a_joining_task_whose_request_the_joined_task_swallowed) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
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
    begin(teller, &config, 0, 2, NULL);
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
    begin(&teller, &plain, 0, 1, NULL);
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
    end_silently(&teller);
}

/* A notification that leaves nobody asleep is lost on nobody: b began to wait after it. */
Test(lost_notification, is_silent_about_those_who_came_after_it) {
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
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
    begin(&teller, &plain, 0, 1, NULL);
    bz_judge_add_barrier(teller.judge, &barrier, "gate", 2, 0, NULL);
    tell(&teller, "+a");
    struct bz_judged_pass first = bz_judge_barrier_wait_begin(&barrier);
    tell(&teller, "wait  +b");
    struct bz_judged_pass last = bz_judge_barrier_wait_begin(&barrier);
    tell(&teller, "wake-a");
    bz_judge_barrier_wait_end(&barrier, last, 1, BZ_OK);
    tell(&teller, "yield  +a");
    bz_judge_barrier_wait_end(&barrier, first, 0, BZ_OK);
    bz_judge_barrier_break(&barrier, BZ_OP_RESET);
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    end_violated(&teller, "barrier-round", "a passed 'gate' with only 1 of 2 parties there");
}

/* Two pass with the same index while two others poll. Then these leave. The third one to pass is
 * alone in its round, but its index is new. */
Test(barrier_round, fires_at_who_is_alone_when_others_have_left) {
    struct bz_judged_barrier barrier;
    struct bz_judged_pass waits[2];
    struct teller teller;
    begin(&teller, &plain, 0, 1, NULL);
    bz_judge_add_barrier(teller.judge, &barrier, "gate", 2, 0, NULL);
    for (int task = 0; task < 2; task++) {
        tell(&teller, task == 0 ? "+a" : "+b");
        waits[task] = bz_judge_barrier_wait_begin(&barrier);
        tell(&teller, "yield");
    }
    tell(&teller, "+c");
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 0, BZ_OK);
    tell(&teller, "mark-a mark-b yield");
    for (int task = 0; task < 2; task++) {
        tell(&teller, task == 0 ? "+a!" : "yield +b!");
        bz_judge_barrier_wait_end(&barrier, waits[task], 0, BZ_CANCELLED);
    }
    bz_judge_barrier_wait_end(&barrier, bz_judge_barrier_wait_begin(&barrier), 1, BZ_OK);
    end_violated(&teller, "barrier-round", "b passed 'gate' with only 1 of 2 parties there");
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
    begin(teller, &plain, 0, 1, NULL);
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
    begin(&teller, &plain, 0, 1, NULL);
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
    begin(&teller, &plain, 0, 1, NULL);
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
    begin(&teller, &config, 0, 1, NULL);
    for (int run = 0; run < 2; run++) {
        bz_judge_begin(teller.judge, &(struct bz_run_start){.seed = 1});
        bz_judge_spawn(teller.judge, "a", 0);
        tell(&teller, "+a");
        cr_assert_neq(bz_judge_draw(teller.judge, "datum", 1000), 0);
        cr_assert_eq(teller.judge->tape.choices[0].nth, 1);
    }
    end_silently(&teller);
}

/* --- recording and replay --------------------------------------------------------------------- */

/* One task takes two steps. Then the program objects, and names task `*blamed`. */
static void run_two_steps(void *context, struct bz_judge *judge) {
    struct teller teller = {.judge = judge};
    const uint32_t *blamed = context;
    bz_judge_spawn(judge, "a", 0);
    bz_judge_spawn(judge, "b", 0);
    tell(&teller, "+a yield  +a yield");
    if (blamed != NULL) {
        bz_judge_violate(judge, "assertion", *blamed, 0, "blamed");
    }
    bz_judge_give_up(judge);
    bz_judge_end(judge);
}

static void record(struct bz_judge *judge, const struct bz_source *source, uint32_t *blamed,
                   struct bz_trace *trace, struct bz_replay_report *report) {
    struct bz_kept_run run;
    enum bz_run_end end = bz_judge_run(judge, source, &(struct bz_run_start){.seed = 1});
    cr_assert_eq(end, blamed == NULL ? BZ_RUN_GIVEN_UP : BZ_RUN_VIOLATED, "%s",
                 bz_judge_error(judge) != NULL ? bz_judge_error(judge) : judge->violation.message);
    bz_judge_keep(judge, &run);
    if (blamed != NULL) {
        ++*blamed;
    }
    bz_trace_init(trace);
    bz_judge_record(judge, source, &run, trace, report);
    bz_kept_run_fini(&run);
}

Test(profile, counts_no_runs) {
    struct bz_judge *judge = bz_judge_new(&plain);
    struct bz_profile profile;
    bz_judge_measure(judge, &(struct bz_source){run_two_steps, NULL}, &profile);
    cr_assert_eq(profile.steps, 2);
    cr_assert_eq(bz_judge_stats(judge)->runs, 0);
    bz_judge_destroy(judge);
}

/* A run of two steps that is ended from outside before its second one. */
struct attempts {
    int made;
    int voids; /* the first ones */
};

static void makes_attempt(void *context, struct bz_judge *judge) {
    struct attempts *attempts = context;
    struct teller teller = {.judge = judge};
    bz_judge_spawn(judge, "a", 0);
    tell(&teller, "+a yield");
    if (attempts->made++ >= attempts->voids) {
        tell(&teller, "+a yield");
        bz_judge_give_up(judge);
        bz_judge_end(judge);
    } else if (!bz_judge_void(judge)) {
        bz_judge_died(judge, "crash", "SIGKILL");
    }
}

static void count_one(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    (void)event;
    ++*(int *)(void *)(sink + 1);
}

Test(source, whose_run_is_void_makes_it_once_more) {
    struct bz_judge *judge = bz_judge_new(&plain);
    uint64_t digest = 0;
    for (int turn = 0; turn < 6; turn++) {
        struct attempts attempts = {.voids = turn % 3};
        struct bz_source source = {makes_attempt, &attempts};
        struct {
            struct bz_event_sink sink;
            int events;
        } counter = {{count_one}, 0};
        *bz_judge_stats(judge) = (struct bz_run_stats){.runs = 0};
        enum bz_run_end end = bz_judge_run(
            judge, &source, &(struct bz_run_start){.seed = 1, .sink = bz_judge_log_events(judge)});
        bz_judge_log_replay(judge, &counter.sink);
        digest = turn == 0 ? bz_judge_digest(judge) : digest;
        bool is_whole = attempts.voids < 2;
        cr_assert_eq(end, is_whole ? BZ_RUN_GIVEN_UP : BZ_RUN_VIOLATED);
        cr_assert_eq(attempts.made, attempts.voids == 0 ? 1 : 2);
        cr_assert_eq(counter.events, is_whole ? 5 : 3);
        cr_assert_eq(is_whole, bz_judge_digest(judge) == digest);
        cr_assert_eq(bz_judge_stats(judge)->runs, 1);
        cr_assert_eq(bz_judge_stats(judge)->steps, is_whole ? 2 : 1);
    }
    bz_judge_destroy(judge);
}

/* A cancel may strike at the second point of its step, or later. */
Test(record, keeps_the_point_of_a_cancel) {
    const struct bz_choice cancel = {.kind = BZ_CHOICE_CANCEL,
                                     .step = 1,
                                     .owner = 1,
                                     .nth = 1,
                                     .value = 2,
                                     .window = BZ_WINDOW_WOKEN};
    struct bz_judge *judge = bz_judge_new(&plain);
    struct bz_recorder recorder;
    struct bz_trace trace;
    struct bz_tape tape;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    bz_trace_init(&trace);
    bz_tape_init(&tape, NULL);
    bz_recorder_init(&recorder, judge, &trace);
    (void)bz_judge_run(judge, &(struct bz_source){run_two_steps, NULL},
                       &(struct bz_run_start){.seed = 1, .sink = &recorder.sink});
    bz_tape_append(&judge->tape, cancel);
    bz_recorder_finish(&recorder);
    cr_assert(bz_trace_to_tape(&trace, &tape, error, sizeof error), "%s", error);
    cr_assert_eq(tape.count, 1);
    cr_assert_eq(tape.choices[0].value, 2);
    bz_tape_fini(&tape);
    bz_trace_fini(&trace);
    bz_judge_destroy(judge);
}

/* A program with an object of each kind, whose first task uses some of them. */
static void run_with_objects(void *context, struct bz_judge *judge) {
    struct bz_judged_barrier barrier;
    struct bz_judged_queue queue;
    bool *is_larger = context;
    uint32_t door = bz_judge_add_permits(judge, "door", BZ_PRIMITIVE_SEMAPHORE, 0, 2, NULL);
    bz_judge_add_permits(judge, "door", BZ_PRIMITIVE_LOCK, 0, 1, NULL);
    bz_judge_add_event(judge, "flag", 0, NULL);
    struct bz_judged_condition news = bz_judge_add_condition(judge, "news", "lock", 0, NULL);
    bz_judge_add_barrier(judge, &barrier, "gate", *is_larger ? 4 : 3, 0, NULL);
    bz_judge_add_queue(judge, &queue, "jobs", "room", BZ_QUEUE_ORDER_LIFO, 5, 0, NULL, NULL);
    bz_judge_add_opaque(judge, "own", BZ_PRIMITIVE_LOCK, 0, NULL);
    bz_judge_add_permits(judge, "many", BZ_PRIMITIVE_SEMAPHORE, 0, UINT64_C(1) << 60, NULL);
    bz_judge_add_event(judge, "door#2", 0, NULL); /* as the second "door" */
    struct teller teller = {.judge = judge};
    bz_judge_spawn(judge, "a", 0);
    tell(&teller, "+a");
    bz_judge_acquire_begin(judge, news.lock);
    bz_judge_acquire_end(judge, news.lock, BZ_OK);
    bz_judge_notify_begin(&news, 2);
    bz_judge_acquire_begin(judge, door);
    bz_judge_acquire_end(judge, door, BZ_OK);
    tell(&teller, "yield");
    bz_judge_give_up(judge);
    bz_judge_end(judge);
}

Test(record, lists_the_objects_and_what_moves_permits) {
    static const char *const objects[] = {"semaphore door size=2",
                                          "lock door#2 size=1",
                                          "event flag",
                                          "lock lock size=1",
                                          "condition news partner=lock",
                                          "barrier gate size=3",
                                          "items jobs size=5 order=lifo partner=room",
                                          "slots room size=5 partner=jobs",
                                          "modelled own",
                                          "semaphore many"};
    struct bz_judge *judge = bz_judge_new(&plain);
    struct bz_replay_report report;
    struct bz_trace trace;
    bool is_larger = false;
    struct bz_source source = {run_with_objects, &is_larger};
    char error[BZ_TRACE_ERROR_BYTES] = "";
    record(judge, &source, NULL, &trace, &report);
    cr_assert_eq(trace.object_count, 10);
    for (size_t index = 0; index < trace.object_count; index++) {
        char text[200];
        bz_trace_object_text(&trace, index, text, sizeof text);
        tst_text(strchr(text, ':') + 2, objects[index]);
    }
    const struct bz_trace_event *events = &trace.events[trace.event_count - 4];
    cr_assert(events[0].held == 1 && events[0].n == BZ_TRACE_ABSENT, "the lock is held");
    cr_assert(events[1].held == 1 && events[1].n == 2, "a notification for two");
    cr_assert(events[2].held == 1);
    cr_assert(bz_judge_replay(judge, &source, &trace, &report, error, sizeof error), "%s", error);
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED, "%s", report.got);
    trace.events[trace.event_count - 2].held = 2;
    cr_assert(bz_judge_replay(judge, &source, &trace, &report, error, sizeof error), "%s", error);
    tst_text(report.got, "a return acquire door ok, 1 held");
    trace.events[trace.event_count - 2].held = 1;
    is_larger = true;
    cr_assert(bz_judge_replay(judge, &source, &trace, &report, error, sizeof error), "%s", error);
    tst_text(report.expected, "object 6: barrier gate size=3");
    tst_text(report.got, "object 6: barrier gate size=4");
    trace.version = 1;
    for (size_t index = 0; index < trace.event_count; index++) {
        bz_trace_event_restrict(&trace.events[index], 1);
    }
    cr_assert(bz_judge_replay(judge, &source, &trace, &report, error, sizeof error), "%s", error);
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED, "%s", report.got);
    bz_trace_fini(&trace);
    bz_judge_destroy(judge);
}

/* Equal events, but another verdict. */
Test(record, finds_verdicts_that_differ) {
    struct bz_judge *judge = bz_judge_new(&plain);
    struct bz_replay_report report;
    struct bz_trace trace;
    uint32_t blamed = 1;
    record(judge, &(struct bz_source){run_two_steps, &blamed}, &blamed, &trace, &report);
    cr_assert_eq(report.result, BZ_REPLAY_DIVERGED);
    tst_text(trace.verdict.oracle, "nondeterminism");
    bz_trace_fini(&trace);
    bz_judge_destroy(judge);
}

/* Replays an edited trace. `got`: how the end of the run differs; NULL: it does not. */
static void diverges(struct bz_judge *judge, const struct bz_trace *trace, const char *got) {
    struct bz_replay_report report;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    bool is_ok = bz_judge_replay(judge, &(struct bz_source){run_two_steps, NULL}, trace, &report,
                                 error, sizeof error);
    cr_assert(is_ok, "%s", error);
    cr_assert_eq(report.result, got == NULL ? BZ_REPLAY_MATCHED : BZ_REPLAY_DIVERGED);
    cr_assert(got == NULL || strstr(report.got, got) != NULL, "%s", report.got);
}

Test(replay, compares_what_comes_after_the_last_event) {
    struct bz_judge *judge = bz_judge_new(&plain);
    struct bz_replay_report report;
    struct bz_trace trace;
    record(judge, &(struct bz_source){run_two_steps, NULL}, NULL, &trace, &report);
    diverges(judge, &trace, NULL);
    trace.verdict.step++;
    diverges(judge, &trace, "verdict pass at step 2");
    trace.verdict.step--;
    trace.verdict.oracle = "fifo";
    diverges(judge, &trace, "verdict pass at step 2");
    trace.verdict.oracle = NULL;
    trace.verdict.task = "a";
    diverges(judge, &trace, "verdict pass at step 2");
    trace.verdict.task = NULL;
    trace.digest++;
    diverges(judge, &trace, "digest ");
    trace.digest--;
    bz_trace_add_event(&trace, trace.events[trace.event_count - 1]);
    diverges(judge, &trace, "the end of the run");
    bz_trace_fini(&trace);
    bz_judge_destroy(judge);
}
