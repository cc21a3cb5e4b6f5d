/* The recorder on real runs, and the way back from a trace to a tape. */
#include "sim/judge/record.h"

#include <inttypes.h>

#include "scenarios/scenarios.h"
#include "sim/native/internal.h"
#include "traces/tests/sample.h"

static struct bz_world *new_world(enum bz_order order) {
    struct bz_judge_config config = {.strategy = &bz_strategy_random,
                                     .order = order,
                                     .cancel_windows = BZ_WINDOWS_ALL,
                                     .cancels_max = 2,
                                     .oracles_off = UINT64_MAX};
    struct bz_world *world = bz_world_new(&config, &bz_variant_buzzer);
    cr_assert_not_null(world);
    return world;
}

static void describe(struct bz_trace *trace) {
    trace->engine = "test";
    trace->scenario = "contended";
    trace->variant = "buzzer";
    trace->strategy = "random";
    trace->order = "any";
    trace->cancel = "any";
}

static void record(struct bz_world *world, uint64_t seed, struct bz_trace *trace) {
    struct bz_scenario_args args = {.primitive = BZ_PRIMITIVE_SEMAPHORE};
    struct bz_recorder recorder;
    for (uint32_t index = 0; bz_scenario_contended.params[index].name != NULL; index++) {
        args.values[index] = bz_scenario_contended.params[index].value;
    }
    bz_trace_init(trace);
    describe(trace);
    bz_recorder_init(&recorder, world->judge, trace);
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = seed, .sink = &recorder.sink});
    bz_world_begin(world);
    bz_scenario_contended.setup(world, &args);
    bz_world_run(world);
    bz_judge_end(world->judge);
    bz_recorder_finish(&recorder);
    cr_assert_not(recorder.is_full);
}

static bool same_label(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void expect_same_tape(const struct bz_tape *a, const struct bz_tape *b, uint64_t seed) {
    cr_assert_eq(a->count, b->count, "seed %" PRIu64, seed);
    for (size_t index = 0; index < a->count; index++) {
        const struct bz_choice *left = &a->choices[index];
        const struct bz_choice *right = &b->choices[index];
        bool is_same = left->kind == right->kind && left->step == right->step &&
                       left->owner == right->owner && left->nth == right->nth &&
                       left->role == right->role && left->window == right->window &&
                       left->bound == right->bound && left->value == right->value &&
                       same_label(left->label, right->label);
        cr_assert(is_same, "choice %zu of seed %" PRIu64, index, seed);
    }
}

/* Tape to trace to file text to trace to tape: nothing is lost, and the same run gives the same
 * bytes. */
static void check_runs(enum bz_order order) {
    struct bz_world *world = new_world(order);
    struct bz_world *other = new_world(order);
    struct bz_tape tape;
    unsigned kinds[BZ_CHOICE_KIND_COUNT] = {0};
    unsigned calls = 0;
    bz_tape_init(&tape, NULL);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct bz_trace trace;
        struct bz_trace again;
        struct bz_trace back;
        char error[BZ_TRACE_ERROR_BYTES] = "";
        record(world, seed, &trace);
        record(other, seed, &again);
        char *text = bz_trace_print(&trace);
        char *text_again = bz_trace_print(&again);
        tst_text(text, text_again);
        cr_assert(bz_trace_parse(&back, text, strlen(text), "f", error, sizeof error), "%s", error);
        cr_assert(bz_trace_to_tape(&back, &tape, error, sizeof error), "%s", error);
        expect_same_tape(&world->judge->tape, &tape, seed);
        for (size_t index = 0; index < tape.count; index++) {
            kinds[tape.choices[index].kind]++;
        }
        for (size_t index = 0; index < back.event_count; index++) {
            const struct bz_trace_event *event = &back.events[index];
            bool is_call = strcmp(event->event, "call") == 0;
            if (is_call) {
                tst_text(event->object, "permits");
            }
            calls += is_call;
        }
        cr_assert_eq(back.seed, seed);
        cr_assert_eq(back.digest, world->judge->digest);
        cr_assert_eq(back.verdict.step, world->judge->step);
        tst_text(back.verdict.result, "pass");
        bz_trace_fini(&back);
        bz_trace_fini(&again);
        bz_trace_fini(&trace);
        free(text);
        free(text_again);
    }
    cr_assert_lt(0, calls);
    cr_assert_lt(0, kinds[BZ_CHOICE_CANCEL]);
    cr_assert_lt(0, kinds[BZ_CHOICE_DATA]);
    cr_assert_eq(kinds[BZ_CHOICE_NEXT] > 0, order == BZ_ORDER_ANY);
    bz_tape_fini(&tape);
    bz_world_destroy(world);
    bz_world_destroy(other);
}

Test(record, runs_in_any_order) {
    check_runs(BZ_ORDER_ANY);
}

Test(record, runs_in_fifo_order) {
    check_runs(BZ_ORDER_FIFO);
}

/* --- a scenario with most kinds of event, told line by line ----------------------------------- */

static struct bz_task *sleeper_task;

static enum bz_status sleeper(void *arg) {
    struct bz_world *world = arg;
    return bz_sleep(world->loop, 500);
}

static enum bz_status boss(void *arg) {
    struct bz_world *world = arg;
    bz_judge_note(world->judge, 7);
    bz_task_cancel(sleeper_task);
    bz_task_uncancel(sleeper_task);
    enum bz_status status = bz_sleep(world->loop, 100);
    bz_task_cancel(sleeper_task);
    status = bz_yield(world->loop);
    status = bz_yield(world->loop);
    bz_task_cancel(sleeper_task);
    bz_judge_violate(world->judge, "assertion", bz_judge_running(world->judge), 0,
                     "two\nlines\x1b");
    return status;
}

static void tell(const struct bz_trace *trace, char *story, size_t story_bytes) {
    size_t length = 0;
    for (size_t index = 0; index < trace->event_count; index++) {
        char line[200];
        length += (size_t)snprintf(story + length, story_bytes - length, "%" PRIu64 " %s\n",
                                   trace->events[index].step,
                                   bz_trace_event_text(&trace->events[index], line, sizeof line));
        cr_assert_lt(length, story_bytes);
    }
}

static void run_story(struct bz_world *world, struct bz_recorder *recorder,
                      struct bz_trace *trace) {
    bz_trace_init(trace);
    describe(trace);
    bz_recorder_init(recorder, world->judge, trace);
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 1, .sink = &recorder->sink});
    bz_world_begin(world);
    sleeper_task = bz_task_spawn(world->loop, "guest", 0, sleeper, world);
    bz_task_detach(bz_task_spawn(world->loop, "guest", 0, boss, world));
    bz_world_run(world);
    bz_recorder_finish(recorder);
}

static struct bz_world *new_story_world(void) {
    struct bz_judge_config config = {.strategy = &bz_strategy_fifo, .order = BZ_ORDER_FIFO};
    struct bz_world *world = bz_world_new(&config, &bz_variant_buzzer);
    cr_assert_not_null(world);
    return world;
}

Test(record, tells_the_story) {
    struct bz_world *world = new_story_world();
    struct bz_recorder recorder;
    struct bz_trace trace;
    char story[4000];
    char error[BZ_TRACE_ERROR_BYTES] = "";
    run_story(world, &recorder, &trace);
    tell(&trace, story, sizeof story);
    tst_text(story, "0 guest spawn\n"
                    "0 guest#2 spawn\n"
                    "1 guest resume ok n=1\n"
                    "1 guest suspend sleep\n"
                    "2 guest#2 resume ok n=1\n"
                    "2 guest#2 note n=7\n"
                    "2 guest cancel sleep window=sleeping by=guest#2\n"
                    "2 guest wake cancelled\n"
                    "2 guest uncancel n=0\n"
                    "2 guest#2 suspend sleep\n"
                    "3 guest resume cancelled n=2\n"
                    "3 guest exit cancelled\n"
                    "4 clock time_ns=100\n"
                    "4 guest#2 callback timer\n"
                    "4 guest#2 wake ok\n"
                    "5 guest#2 resume ok n=2\n"
                    "5 guest cancel run invalid-state window=done by=guest#2\n"
                    "5 guest#2 suspend yield\n"
                    "6 guest#2 resume ok n=3\n"
                    "6 guest#2 suspend yield\n"
                    "7 guest#2 resume ok n=4\n"
                    "7 guest cancel run invalid-state window=done by=guest#2\n"
                    "7 guest#2 exit ok\n"
                    "7 guest#2 free\n");
    tst_text(trace.verdict.message, "two lines?");
    tst_text(trace.verdict.oracle, "assertion");
    tst_text(trace.verdict.task, "guest#2");
    char *text = bz_trace_print(&trace);
    struct bz_trace back;
    cr_assert(bz_trace_parse(&back, text, strlen(text), "f", error, sizeof error), "%s", error);
    bz_trace_fini(&back);
    bz_trace_fini(&trace);
    bz_world_destroy(world);
    free(text);
}

/* --- a recording that does not confirm -------------------------------------------------------- */

/* A run violated, and its recording passed, or violated something else. */
Test(record, that_does_not_confirm_a_violation_shows_it) {
    static const char *const oracles[] = {NULL, "fifo"};
    struct bz_violation violation = {
        .oracle = "ownership", .step = 7, .task = 2, .message = "one\npermit"};
    for (size_t index = 0; index < 2; index++) {
        struct bz_trace trace;
        tst_sample(&trace);
        trace.verdict = (struct bz_trace_verdict){.result = "pass", .oracle = oracles[index]};
        trace.digest = 1;
        bz_trace_contradict(&trace, &violation, 0xabc);
        tst_text(trace.verdict.result, "violation");
        tst_text(trace.verdict.oracle, "ownership");
        tst_text(trace.verdict.task, trace.tasks[1]);
        cr_assert_eq(trace.verdict.step, 7);
        cr_assert(strstr(trace.verdict.message, "one permit [not confirmed: ") != NULL);
        cr_assert(strstr(trace.verdict.message, "0000000000000abc") != NULL);
        cr_assert(strstr(trace.verdict.message, index == 0 ? "passes" : "a violation of fifo") !=
                  NULL);
        violation.task = 1000; /* of another run: this one has no such task */
        bz_trace_contradict(&trace, &violation, 0xabc);
        cr_assert_null((void *)trace.verdict.task);
        violation.task = 2;
        bz_trace_fini(&trace);
    }
}

/* --- to a tape -------------------------------------------------------------------------------- */

Test(record, strangers_get_numbers_from_the_far_end) {
    struct bz_trace trace;
    struct bz_tape tape;
    char error[BZ_TRACE_ERROR_BYTES] = "";
    char name[32];
    tst_sample(&trace);
    bz_tape_init(&tape, NULL);
    struct bz_trace_choice choice = trace.choices[1];
    choice.task = "nobody";
    bz_trace_add_choice(&trace, choice);
    choice.task = "no-one";
    bz_trace_add_choice(&trace, choice);
    choice.task = bz_trace_string(&trace, "nobody");
    bz_trace_add_choice(&trace, choice);
    cr_assert(bz_trace_to_tape(&trace, &tape, error, sizeof error), "%s", error);
    cr_assert_eq(tape.count, 8);
    cr_assert_eq(tape.choices[0].owner, 3);
    cr_assert_eq(tape.choices[1].owner, 2);
    cr_assert_eq(tape.choices[2].owner, 0);
    cr_assert_eq(tape.choices[5].owner, UINT32_MAX);
    cr_assert_eq(tape.choices[6].owner, UINT32_MAX - 1);
    cr_assert_eq(tape.choices[7].owner, UINT32_MAX);
    for (unsigned number = 2; number <= BZ_TRACE_STRANGERS_MAX; number++) {
        cr_assert(bz_trace_to_tape(&trace, &tape, error, sizeof error), "%u: %s", number, error);
        snprintf(name, sizeof name, "stranger-%u", number);
        choice.task = bz_trace_string(&trace, name);
        bz_trace_add_choice(&trace, choice);
    }
    cr_assert_not(bz_trace_to_tape(&trace, &tape, error, sizeof error));
    cr_assert_not_null(strstr(error, "too many tasks"), "%s", error);
    bz_tape_fini(&tape);
    bz_trace_fini(&trace);
}

Test(record, choices_that_make_no_sense) {
    const uint64_t no = BZ_TRACE_ABSENT;
    const struct bz_trace_choice bad[] = {
        {.kind = "nxt", .n = 1, .bound = no, .value = no},
        {.kind = NULL, .n = 1, .bound = no, .value = no},
        {.kind = "next", .n = no, .bound = no, .value = no},
        {.kind = "next", .n = 1, .bound = no, .value = 1},
        {.kind = "next", .n = 1, .bound = no, .value = no, .role = "king"},
        {.kind = "next", .n = 1, .bound = no, .value = no, .window = "woken"},
        {.kind = "next", .n = 1, .bound = no, .value = no, .label = "l"},
        {.kind = "next", .n = 1, .bound = no, .value = no, .step = UINT64_C(1) << 32},
        {.kind = "next", .n = UINT64_C(1) << 32, .bound = no, .value = no},
        {.kind = "cancel", .n = 1, .bound = no, .value = no, .window = "woken"},
        {.kind = "cancel", .n = 1, .bound = no, .value = no, .task = "worker-1"},
        {.kind = "cancel", .n = 1, .bound = no, .value = no, .task = "worker-1", .window = "door"},
        {.kind = "cancel",
         .n = 1,
         .bound = no,
         .value = no,
         .task = "worker-1",
         .window = "woken",
         .role = "timer"},
        {.kind = "data", .n = 1, .bound = 8, .value = 8, .label = "l"},
        {.kind = "data", .n = 1, .bound = 8, .value = 1},
        {.kind = "data", .n = no, .bound = 8, .value = 1, .label = "l"},
        {.kind = "data", .n = 1, .bound = no, .value = 1, .label = "l"},
        {.kind = "delay", .n = no, .bound = no, .value = 0},
        {.kind = "delay", .n = no, .bound = no, .value = 1, .task = "worker-1"},
        {.kind = "delay", .n = 1, .bound = 0, .value = 0, .label = "l"},
    };
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        struct bz_trace trace;
        struct bz_tape tape;
        char error[BZ_TRACE_ERROR_BYTES] = "";
        tst_sample(&trace);
        bz_tape_init(&tape, NULL);
        bz_trace_add_choice(&trace, bad[index]);
        cr_assert_not(bz_trace_to_tape(&trace, &tape, error, sizeof error), "case %zu", index);
        cr_assert_eq(strncmp(error, "choices[5]: ", 12), 0, "case %zu: %s", index, error);
        bz_tape_fini(&tape);
        bz_trace_fini(&trace);
    }
}
