/* Recording and replay of runs that a source tells by hand, and attempts that are void. */
#include "sim/judge/record.h"
#include "sim/judge/tests/teller.h"

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
