/* A source of events that breaks a rule: its run ends with a message, and nothing worse happens. */
#include <string.h>

#include <criterion/criterion.h>

#include "sim/choice/pcg.h"
#include "sim/judge/internal.h"
#include "sim/judge/record.h"

static struct bz_judge *new_judge(void) {
    struct bz_judge *judge = bz_judge_new(&(struct bz_judge_config){
        .strategy = &bz_strategy_random, .cancel_windows = BZ_WINDOWS_ALL, .cancels_max = 2});
    cr_assert_not_null(judge);
    return judge;
}

/* A run with object 1, "permits", and tasks 1 and 2, of which 1 runs. */
static void begin(struct bz_judge *judge) {
    struct bz_ready ready = {.owner = 1, .nth = 1, .role = BZ_ROLE_STEP};
    bz_judge_begin(judge, &(struct bz_run_start){.seed = 1});
    bz_judge_add_permits(judge, "permits", BZ_PRIMITIVE_SEMAPHORE, 0, 1, NULL);
    bz_judge_spawn(judge, "worker", 1);
    bz_judge_spawn(judge, "worker", 2);
    bz_judge_next(judge, &ready, 1);
    bz_judge_event(judge, BZ_EVENT_RESUME, 1, BZ_OK, 1);
    cr_assert(bz_judge_error(judge) == NULL);
}

static void end(struct bz_judge *judge, const char *message, int line) {
    const char *error = bz_judge_error(judge);
    bz_judge_end(judge);
    cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_BAD_SOURCE, "line %d", line);
    cr_assert_eq(strncmp(error, "the source of events: ", 22), 0, "line %d: %s", line, error);
    cr_assert(strstr(error, message) != NULL, "line %d: %s", line, error);
    cr_assert_not(bz_judge_goes_on(judge), "line %d", line);
    cr_assert(bz_judge_violation(judge)->oracle == NULL, "line %d", line);
}

/* The statements are refused with this message, in a run of their own. */
#define REFUSED(message, ...)                                                                      \
    do {                                                                                           \
        begin(judge);                                                                              \
        __VA_ARGS__;                                                                               \
        end(judge, message, __LINE__);                                                             \
    } while (0)

static void event(struct bz_judge *judge, unsigned kind, uint32_t task, unsigned status,
                  uint32_t arg) {
    bz_judge_event(judge, (enum bz_event_kind)kind, task, (enum bz_status)status, arg);
}

static void suspend(struct bz_judge *judge) {
    event(judge, BZ_EVENT_SUSPEND, 1, BZ_OK, BZ_WAIT_FUTURE);
}

static void next(struct bz_judge *judge, uint32_t owner, uint32_t nth, uint32_t role) {
    struct bz_ready ready = {.owner = owner, .nth = nth, .role = (uint8_t)role};
    cr_assert_eq(bz_judge_next(judge, &ready, 1), 0);
}

Test(source, events_that_do_not_exist) {
    struct bz_judge *judge = new_judge();
    REFUSED("event 4 (wake) of task 3 (unknown), status 0, argument 0; there are 2 tasks",
            event(judge, BZ_EVENT_WAKE, 3, 0, 0));
    REFUSED("event 7 (exit) of task 0 (the loop)", event(judge, BZ_EVENT_EXIT, 0, 0, 0));
    REFUSED("event 7 (exit) of task 1 (running), status 77", event(judge, BZ_EVENT_EXIT, 1, 77, 0));
    REFUSED("event 3 (suspend) of task 1 (running), status 0, argument 0",
            event(judge, BZ_EVENT_SUSPEND, 1, 0, 0));
    REFUSED("event 3 (suspend) of task 1 (running), status 0, argument 9",
            event(judge, BZ_EVENT_SUSPEND, 1, 0, 9));
    REFUSED("event 8 (callback) of task 0 (the loop), status 0, argument 3",
            event(judge, BZ_EVENT_CALLBACK, 0, 0, 3));
    REFUSED("event 1 (spawn)", event(judge, BZ_EVENT_SPAWN, 1, 0, 0));
    REFUSED("event 16 (unknown)", event(judge, BZ_EVENT_CALL, 1, 0, 0));
    REFUSED("event 1000 (unknown)", event(judge, 1000, 1, 0, 0));
    REFUSED("event 2 (resume) of task 1 (suspended), status 99",
            (suspend(judge), event(judge, BZ_EVENT_RESUME, 1, 99, 2)));
    bz_judge_destroy(judge);
}

Test(source, events_out_of_order) {
    struct bz_judge *judge = new_judge();
    REFUSED("(resume) of task 2 (unstarted)", event(judge, BZ_EVENT_RESUME, 2, 0, 1));
    REFUSED("(suspend) of task 2 (unstarted)", event(judge, BZ_EVENT_SUSPEND, 2, 0, 1));
    REFUSED("(exit) of task 2 (unstarted)", event(judge, BZ_EVENT_EXIT, 2, 0, 0));
    REFUSED("(free) of task 1 (running)", event(judge, BZ_EVENT_FREE, 1, 0, 0));
    REFUSED("(wake) of task 1 (running)", event(judge, BZ_EVENT_WAKE, 1, 0, 0));
    REFUSED(
        "(wake) of task 1 (suspended, woken), status 0, argument 0; there are 2 tasks, and task 0",
        (suspend(judge), event(judge, BZ_EVENT_WAKE, 1, 0, 0),
         event(judge, BZ_EVENT_WAKE, 1, 0, 0)));
    REFUSED("(resume) of task 1 (done)",
            (event(judge, BZ_EVENT_EXIT, 1, 0, 0), event(judge, BZ_EVENT_RESUME, 1, 0, 2)));
    REFUSED("(exit) of task 1 (running, in acquire of 'permits')",
            (bz_judge_acquire_begin(judge, 1), event(judge, BZ_EVENT_EXIT, 1, 0, 0)));
    REFUSED("the clock goes from 5 to 4 ns", (bz_judge_clock(judge, 5), bz_judge_clock(judge, 4)));
    REFUSED("the clock goes from 0 to 18446744073709551615 ns", bz_judge_clock(judge, UINT64_MAX));
    bz_judge_destroy(judge);
}

Test(source, handles_and_draws) {
    struct bz_judge *judge = new_judge();
    REFUSED("bz_judge_next() of 1 handles, while task 1 is running",
            next(judge, 2, 1, BZ_ROLE_STEP));
    REFUSED("bz_judge_next() of 0 handles, while task 0 is running",
            (suspend(judge), bz_judge_next(judge, NULL, 0)));
    REFUSED("handle 1 of role 0 of task 3", (suspend(judge), next(judge, 3, 1, BZ_ROLE_STEP)));
    REFUSED("handle 1 of role 3 of task 2", (suspend(judge), next(judge, 2, 1, 3)));
    REFUSED("handle 1 of role 0 of task 1, which is not its next one",
            (suspend(judge), next(judge, 1, 1, 0)));
    REFUSED("a draw 'x' below 0", bz_judge_draw(judge, "x", 0));
    REFUSED("a draw '' below 2", bz_judge_draw(judge, NULL, 2));
    REFUSED("a draw 'x' below 0", bz_judge_draw_delay_ns(judge, "x", 2, 1));
    REFUSED("a task needs a name", bz_judge_spawn(judge, NULL, 0));
    REFUSED("bz_judge_set_helper() of task 3 of 2", bz_judge_set_helper(judge, 3, true));
    REFUSED("the name of an oracle", bz_judge_violate(judge, NULL, 0, 0, "x"));
    bz_judge_destroy(judge);
}

/* Code under test may have written over the names. */
Test(source, names_that_are_gone) {
    struct bz_judge *judge = new_judge();
    char name[8];
    begin(judge);
    judge->shadow.tasks[1].name_base = NULL;
    judge->shadow.objects[1].name = NULL;
    bz_judge_task_name(judge, 1, name, sizeof name);
    cr_expect(strcmp(name, "?-1") == 0);
    cr_expect(strcmp(bz_judge_object_name(judge, 1), "?") == 0);
    cr_expect(strcmp(bz_judge_label(judge, 1).text, "?") == 0);
    bz_judge_died(judge, "crash", "SIGSEGV");
    cr_expect(strcmp(bz_judge_violation(judge)->message, "SIGSEGV, in a step of ?-1") == 0);
    bz_judge_destroy(judge);
}

/* An object that the program creates while it runs is judged as any other. */
Test(source, late_object) {
    struct bz_judge *judge = new_judge();
    begin(judge);
    uint32_t late = bz_judge_add_permits(judge, "late", BZ_PRIMITIVE_LOCK, 0, 1, NULL);
    bz_judge_acquire_begin(judge, late);
    bz_judge_acquire_end(judge, late, BZ_OK);
    cr_expect_eq(bz_judge_verdict(judge), BZ_RUN_PASSED);
    bz_judge_acquire_begin(judge, late);
    bz_judge_acquire_end(judge, late, BZ_OK);
    cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_VIOLATED);
    cr_expect(strcmp(bz_judge_violation(judge)->oracle, "mutual-exclusion") == 0);
    bz_judge_destroy(judge);
}

/* A callback of the loop puts an item, which wakes a getter before the put returns. It cannot wait
 * itself. */
Test(source, the_loop_calls) {
    struct bz_judge *judge = new_judge();
    struct bz_judged_queue queue;
    for (int waits = 0; waits < 2; waits++) {
        begin(judge);
        bz_judge_add_queue(judge, &queue, "items", "slots", BZ_QUEUE_ORDER_FIFO, 1, 0, NULL, NULL);
        bz_judge_get_begin(&queue);
        suspend(judge);
        bz_judge_end_step(judge);
        next(judge, 0, 1, BZ_ROLE_CALLBACK);
        event(judge, BZ_EVENT_CALLBACK, 0, BZ_OK, BZ_ROLE_CALLBACK);
        uint32_t item = bz_judge_put_begin(&queue, 0);
        event(judge, BZ_EVENT_WAKE, 1, BZ_OK, 0);
        if (waits) {
            bz_judge_end_step(judge);
            next(judge, 2, 1, BZ_ROLE_STEP);
            event(judge, BZ_EVENT_RESUME, 2, BZ_OK, 1);
        }
        bz_judge_put_end(&queue, item, BZ_OK);
        if (waits) {
            end(judge, "call of put", __LINE__);
            continue;
        }
        bz_judge_end_step(judge);
        next(judge, 1, 2, BZ_ROLE_STEP);
        event(judge, BZ_EVENT_RESUME, 1, BZ_OK, 2);
        bz_judge_get_end(&queue, item, BZ_OK);
        cr_expect_eq(bz_judge_verdict(judge), BZ_RUN_PASSED, "%s", bz_judge_error(judge));
    }
    bz_judge_destroy(judge);
}

/* A name may be given late; a protected task is never a victim. */
Test(source, rename_and_protect) {
    struct bz_judge *judge = new_judge();
    char name[32];
    begin(judge);
    bz_judge_rename(judge, 1, "other");
    bz_judge_protect(judge, 1);
    bz_judge_protect(judge, 2);
    cr_expect(strcmp(bz_judge_task_name(judge, 1, name, sizeof name), "other") == 0);
    suspend(judge);
    for (unsigned point = 0; point < 1000; point++) {
        cr_assert_eq(bz_judge_cancel(judge), 0);
    }
    REFUSED("bz_judge_protect() of task 9 of 2", bz_judge_protect(judge, 9));
    REFUSED("bz_judge_rename() of task 0 of 2", bz_judge_rename(judge, 0, "loop"));
    bz_judge_destroy(judge);
}

/* Task 1 is cancelled so often inside an acquire, takes one request back there, may be cancelled
 * again, and gets BZ_OK. Returns whether cancel-delivered objects. */
static bool objects_to_answer(unsigned requests, bool is_cancelled_again) {
    struct bz_judge *judge = new_judge();
    begin(judge);
    bz_judge_acquire_begin(judge, 1);
    suspend(judge);
    for (unsigned index = 0; index < requests; index++) {
        event(judge, BZ_EVENT_CANCEL, 1, BZ_OK, 2);
    }
    event(judge, BZ_EVENT_WAKE, 1, BZ_CANCELLED, 0);
    next(judge, 1, 2, BZ_ROLE_STEP);
    event(judge, BZ_EVENT_RESUME, 1, BZ_CANCELLED, 2);
    event(judge, BZ_EVENT_UNCANCEL, 1, BZ_OK, requests - 1);
    if (is_cancelled_again) {
        event(judge, BZ_EVENT_CANCEL, 1, BZ_OK, 2);
    }
    bz_judge_acquire_end(judge, 1, BZ_OK);
    const char *oracle = bz_judge_violation(judge)->oracle;
    bool has_objected = oracle != NULL && strcmp(oracle, "cancel-delivered") == 0;
    cr_assert(bz_judge_error(judge) == NULL);
    bz_judge_destroy(judge);
    return has_objected;
}

/* A request that the operation takes back is its own; one of somebody else is due. */
Test(source, requests_inside_an_operation) {
    cr_expect_not(objects_to_answer(1, false));
    cr_expect(objects_to_answer(2, false));
    cr_expect(objects_to_answer(1, true));
}

Test(source, operations) {
    struct bz_judge *judge = new_judge();
    struct bz_judged_barrier barrier;
    struct bz_judged_wakes wakes = {.due = 0};
    REFUSED("call of acquire of object 2 (unknown) by task 1 (running)",
            bz_judge_acquire_begin(judge, 2));
    REFUSED("call of acquire of object 0 (unknown)", bz_judge_acquire_begin(judge, 0));
    REFUSED("return of acquire of object 7 (unknown)", bz_judge_acquire_end(judge, 7, BZ_OK));
    REFUSED("return of acquire of object 1 (permits) by task 1 (running)",
            bz_judge_acquire_end(judge, 1, BZ_OK));
    REFUSED("return of wait of object 1 (permits) by task 1 (running, in acquire of 'permits')",
            (bz_judge_acquire_begin(judge, 1), bz_judge_note(judge, 1),
             bz_judge_wait_end(judge, 1, BZ_OK)));
    REFUSED("call of acquire of object 1 (permits) by task 1 (running, in acquire of 'permits')",
            (bz_judge_acquire_begin(judge, 1), bz_judge_acquire_begin(judge, 1)));
    REFUSED("call of acquire of object 1 (permits) by task 0 (the loop)",
            (suspend(judge), bz_judge_acquire_begin(judge, 1), bz_judge_note(judge, 1)));
    REFUSED("call of release of object 3 (unknown)", bz_judge_release_begin(judge, 3));
    REFUSED("return of release of object 3 (unknown)", bz_judge_release_end(judge, 3, BZ_NOT_HELD));
    REFUSED("call of set of object 5 (unknown)", bz_judge_set_begin(judge, 5));
    REFUSED("object 5 (unknown)", bz_judge_set_end(judge, 5, wakes));
    REFUSED("call of clear of object 5 (unknown)", bz_judge_clear(judge, 5));
    REFUSED("object 5 (unknown)", bz_judge_pool_keep(judge, 5, 1));
    REFUSED("without a name", bz_judge_add_event(judge, NULL, 0, NULL));
    begin(judge);
    bz_judge_add_barrier(judge, &barrier, "barrier", 65, 0, NULL);
    end(judge, "a barrier for 65 parties", __LINE__);
    bz_judge_destroy(judge);
}

Test(source, a_run_that_ended_before_keeps_its_verdict) {
    struct bz_judge *judge = new_judge();
    begin(judge);
    bz_judge_violate(judge, "assertion", 1, 0, "seen");
    bz_judge_acquire_begin(judge, 9);
    cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_VIOLATED);
    cr_assert_eq(strcmp(bz_judge_violation(judge)->message, "seen"), 0);
    bz_judge_destroy(judge);
}

static void returns_early(void *context, struct bz_judge *judge) {
    (void)context;
    begin(judge);
}

Test(source, has_tokens_that_name_what_is_not_usual) {
    struct bz_judge *judge = bz_judge_new(
        &(struct bz_judge_config){.variant = "other",
                                  .strategy = &bz_strategy_random,
                                  .order = BZ_ORDER_FIFO,
                                  .cancel_windows = 1u << BZ_WINDOW_WAITING | 1u << BZ_WINDOW_WOKEN,
                                  .cancels_max = 1,
                                  .steps_max = 7});
    char text[BZ_TOKEN_BYTES];
    char error[BZ_MESSAGE_BYTES];
    struct bz_token token;
    begin(judge);
    bz_judge_token(judge, text, sizeof text);
    cr_assert(bz_token_split(&token, text, error, sizeof error), "%s", error);
    cr_assert_eq(strncmp(text, "program:other:random:0x1:", 25), 0, "%s", text);
    cr_assert_eq(
        strcmp(token.settings, "order=fifo,cancel=waiting+woken,max-cancels=1,max-steps=7"), 0,
        "%s", text);
    cr_assert_eq(token.digest, bz_judge_digest(judge));
    bz_judge_destroy(judge);
}

static void runs_nothing(void *context, struct bz_judge *judge) {
    (void)context;
    (void)judge;
}

Test(source, must_end_its_run) {
    struct bz_judge *judge = new_judge();
    struct bz_source source = {.run = runs_nothing};
    struct bz_run_start start = {.seed = 1};
    cr_assert_eq(bz_judge_run(judge, &source, &start), BZ_RUN_BAD_SOURCE);
    source.run = returns_early;
    cr_assert_eq(bz_judge_run(judge, &source, &start), BZ_RUN_BAD_SOURCE);
    cr_assert(strstr(bz_judge_error(judge), "bz_judge_end()") != NULL);
    bz_judge_destroy(judge);
}

/* A lack of memory comes before any other end of the run, and the next run knows nothing of it. */
Test(source, that_lacks_memory_gets_no_verdict) {
    struct bz_judge *judge = new_judge();
    for (int other = 0; other < 3; other++) {
        begin(judge);
        if (other == 1) {
            bz_judge_violate(judge, "assertion", 1, 0, "because of the lack");
        } else if (other == 2) {
            bz_judge_give_up(judge);
        }
        bz_judge_lacks(judge, "buffers", "a test");
        bz_judge_lacks(judge, NULL, "another one");
        bz_judge_violate(judge, "assertion", 1, 0, "because of the lack");
        event(judge, BZ_EVENT_FREE, 7, BZ_OK, 0);
        cr_assert_not(bz_judge_goes_on(judge));
        bz_judge_end(judge);
        cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_NO_RESOURCE);
        cr_assert(bz_judge_violation(judge)->oracle == NULL);
        const char *error = bz_judge_error(judge);
        cr_assert_eq(strncmp(error, "out of buffers for a test; ", 27), 0, "%s", error);
    }
    begin(judge);
    bz_judge_destroy(judge);
}

/* The sum of all jumps of a run has a bound. A jump that does not fit is not asked. */
Test(source, lag_has_a_bound) {
    static const uint64_t bounds[][2] = {/* of the judge, and what fits */
                                         {0, BZ_LAG_MAX_DEFAULT_NS},
                                         {1000, 1000},
                                         {BZ_LAG_MAX_NONE_NS, 0},
                                         {BZ_LAG_MAX_ANY_NS, BZ_LAG_MAX_ANY_NS}};
    for (size_t index = 0; index < sizeof bounds / sizeof bounds[0]; index++) {
        struct bz_judge *judge = bz_judge_new(&(struct bz_judge_config){
            .strategy = &bz_strategy_random, .lag_max_ns = bounds[index][0]});
        uint64_t fits_ns = bounds[index][1];
        for (uint64_t seed = 1; seed <= 2; seed++) { /* each run has its own */
            uint64_t sum_ns = 0;
            bz_judge_begin(judge, &(struct bz_run_start){.seed = seed});
            for (uint32_t point = 0; point < 2000; point++) {
                uint64_t lag_ns = point % 2 == 0 ? fits_ns / 3 + 1 : fits_ns + 1;
                sum_ns += bz_judge_jump(judge, lag_ns) ? lag_ns : 0;
            }
            cr_assert_eq(sum_ns, fits_ns == 0 ? 0 : 2 * (fits_ns / 3 + 1));
            cr_assert_eq(bz_judge_lag_ns(judge), sum_ns);
            cr_assert_eq(judge->tape.count, fits_ns == 0 ? 0 : 2);
        }
        bz_judge_destroy(judge);
    }
}

/* Which of several comes first was no choice in older programs: their traces have no event of it.
 */
Test(source, a_pick_of_the_first_is_no_event) {
    uint64_t digests[3];
    for (uint32_t run = 0; run < 3; run++) {
        struct bz_judge_config config = {
            .strategy = run == 2 ? &bz_strategy_random : &bz_strategy_fifo,
            .older = run == 0 ? BZ_OLDER_PICKS_THE_FIRST : BZ_OLDER_NOT};
        struct bz_judge *judge = bz_judge_new(&config);
        bz_judge_begin(judge, &(struct bz_run_start){.seed = 1});
        uint64_t picked = 0;
        for (uint32_t count = 0; count < 64; count++) {
            picked += bz_judge_pick(judge, "order", 2);
        }
        cr_assert_eq(picked > 0, run == 2);
        digests[run] = judge->digest;
        bz_judge_destroy(judge);
    }
    cr_assert_eq(digests[0], digests[1]);
    cr_assert_neq(digests[0], digests[2]);
}

/* Nothing but time lets a program get further that polls. */
Test(source, a_program_that_polls_may_be_late_by_any_time) {
    struct bz_judge *judge =
        bz_judge_new(&(struct bz_judge_config){.strategy = &bz_strategy_random});
    const uint64_t far_ns = 10 * BZ_LAG_MAX_DEFAULT_NS;
    uint32_t jumps = 0;
    bz_judge_begin(judge, &(struct bz_run_start){.seed = 1});
    for (uint32_t step = 1; step < 4 * BZ_SPIN_STEPS; step++) {
        judge->step = step;
        if (bz_judge_jump(judge, far_ns)) {
            jumps++;
            cr_assert_leq(jumps * BZ_SPIN_STEPS, step);
            bz_judge_clock(judge, jumps * far_ns);
        }
    }
    cr_assert_leq(1, jumps);
    cr_assert_eq(bz_judge_lag_ns(judge), 0);
    bz_judge_destroy(judge);
}

Test(source, calls_outside_of_a_run_are_refused) {
    struct bz_judge *judge = new_judge();
    next(judge, 1, 1, BZ_ROLE_STEP);
    cr_assert_eq(bz_judge_verdict(judge), BZ_RUN_BAD_SOURCE);
    cr_assert_not(bz_judge_jump(judge, 1));
    cr_assert_eq(bz_judge_cancel(judge), 0);
    cr_assert_eq(bz_judge_draw(judge, "x", 2), 0);
    bz_judge_destroy(judge);
}

/* Calls at random, with numbers that are mostly near those that exist: whatever comes, no crash. */
static void call_at_random(struct bz_judge *judge, struct bz_pcg32 *rng) {
    uint32_t task = bz_pcg32_below(rng, 5);
    uint32_t object = bz_pcg32_below(rng, 4);
    unsigned status = bz_pcg32_below(rng, BZ_STATUS_COUNT + 1);
    uint32_t running = bz_judge_running(judge);
    switch (bz_pcg32_below(rng, 16)) {
    case 0:
        next(judge, task, bz_pcg32_below(rng, 4), bz_pcg32_below(rng, 4));
        break;
    case 1:
        bz_judge_acquire_begin(judge, object);
        break;
    case 2:
        bz_judge_acquire_end(judge, object, (enum bz_status)status);
        break;
    case 3:
        bz_judge_release_begin(judge, object);
        break;
    case 4:
        bz_judge_release_end(judge, object, (enum bz_status)status);
        break;
    case 5:
        bz_judge_wait_begin(judge, object);
        break;
    case 6:
        bz_judge_wait_end(judge, object, (enum bz_status)status);
        break;
    case 7:
        bz_judge_set_end(judge, object, bz_judge_set_begin(judge, object));
        break;
    case 8:
        bz_judge_end_step(judge);
        break;
    case 9:
        (void)bz_judge_cancel(judge);
        break;
    case 10:
        event(judge, BZ_EVENT_SUSPEND, running, BZ_OK, bz_pcg32_below(rng, 6));
        break;
    default:
        event(judge, bz_pcg32_below(rng, 10), bz_pcg32_below(rng, 2) == 0 ? running : task, status,
              bz_pcg32_below(rng, 5));
    }
}

Test(source, that_calls_at_random_crashes_nothing) {
    struct bz_judge *judge = new_judge();
    uint32_t refused = 0;
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct bz_pcg32 rng;
        bz_pcg32_seed(&rng, seed, 1);
        bz_judge_begin(judge, &(struct bz_run_start){.seed = seed});
        bz_judge_add_permits(judge, "permits", BZ_PRIMITIVE_LOCK, BZ_CLAIM_FIFO, 1, NULL);
        bz_judge_add_event(judge, "event", 0, NULL);
        for (uint32_t task = 0; task < 3; task++) {
            bz_judge_spawn(judge, "worker", task);
        }
        for (uint32_t call = 0; call < 60; call++) { /* also after the end */
            call_at_random(judge, &rng);
        }
        bz_judge_end(judge);
        refused += bz_judge_verdict(judge) == BZ_RUN_BAD_SOURCE;
    }
    cr_assert_lt(10000, refused);
    bz_judge_destroy(judge);
}
