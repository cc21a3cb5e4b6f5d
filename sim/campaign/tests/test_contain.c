/* Child processes: how each ends, and that runs in them are the same runs. */
#include "sim/contain/contain.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/campaign/campaign.h"
#include "sim/judge/internal.h"
#include "sim/program/replay.h"
#include "sim/tests/crowd.h"

static const struct bz_contain brief = {.is_on = true, .step_ns = 50000000};
static const struct bz_contain impatient = {.is_on = true, .sleep_ns = 200000000};
static const struct bz_contain narrow = {
    .is_on = true, .step_ns = UINT64_C(20000000000), .memory_bytes = UINT64_C(64) << 20u};

static void returns(void *context) {
    *(int *)context = 7;
}

static void ends(void *context) {
    _exit(*(int *)context);
}

static void crashes(void *context) {
    raise(*(int *)context);
}

static void loops(void *context) {
    volatile int *word = context;
    while (*word != 1000) {
    }
}

static void sleeps(void *context) {
    (void)context;
    for (;;) {
        pause();
    }
}

static void eats(void *context) {
    volatile char *block;
    (void)context;
    while ((block = malloc(1 << 20)) != NULL) {
        for (size_t offset = 0; offset < 1 << 20; offset += 4096) {
            block[offset] = 1; /* memset() and malloc() may be optimized away */
        }
    }
    _exit(99);
}

static void expect_death(const struct bz_contain *contain, void (*run)(void *), int argument,
                         const char *oracle, const char *how) {
    struct bz_death death;
    cr_assert_eq(bz_contain_call(contain, NULL, run, &argument, &death), BZ_CHILD_DIED);
    tst_text(death.oracle, oracle);
    tst_text(death.how, how);
}

Test(contain, names_how_a_child_ends) {
    struct bz_death death;
    int *shared = bz_shared_alloc(sizeof *shared);
    cr_assert_eq(bz_contain_call(&brief, NULL, returns, shared, &death), BZ_CHILD_DONE);
    cr_assert_eq(*shared, 7);
    bz_shared_free(shared, sizeof *shared);
    expect_death(&brief, ends, 0, "exit", "the process ended with status 0");
    expect_death(&brief, ends, 3, "exit", "the process ended with status 3");
    expect_death(&brief, crashes, SIGFPE, "crash", "SIGFPE (division by zero, or the like)");
    expect_death(&brief, crashes, SIGKILL, "crash", "SIGKILL");
    expect_death(&brief, crashes, SIGTERM, "crash", "SIGTERM");
    expect_death(&brief, crashes, SIGHUP, "crash", "SIGHUP");
    expect_death(&brief, loops, 0, "hang", "no end after 50 ms of CPU time");
    expect_death(&impatient, sleeps, 0, "hang", "no end, and no CPU time taken for 200 ms");
    if (!BZ_SAN_ADDRESS) { /* whose memory is larger */
        expect_death(&narrow, eats, 0, "memory", "the process took more than 64 MiB");
    }
}

/* Only of these nobody knows who sent them. */
Test(contain, tells_what_may_have_come_from_outside) {
    static const int numbers[] = {SIGKILL, SIGXCPU, SIGTERM, SIGSEGV};
    for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
        struct bz_death death;
        int number = numbers[index];
        cr_assert_eq(bz_contain_call(&brief, NULL, crashes, &number, &death), BZ_CHILD_DIED);
        cr_assert_eq(death.is_killed, index < 2);
    }
}

/* A signal to all processes of a group is for the parent. */
struct talk {
    int is_ready;
    int is_over;
};

static void waits(void *context) {
    struct talk *talk = context;
    __atomic_store_n(&talk->is_ready, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&talk->is_over, __ATOMIC_ACQUIRE) == 0) {
        bz_child_rest();
    }
}

Test(contain, leaves_signals_from_outside_to_its_parent) {
    struct bz_child child;
    struct bz_child *const children[] = {&child};
    struct bz_death death;
    enum bz_child_state state = BZ_CHILD_RUNS;
    struct talk *talk = bz_shared_alloc(sizeof *talk);
    cr_assert(talk != NULL && bz_child_start(&child, &brief, NULL, waits, talk));
    while (__atomic_load_n(&talk->is_ready, __ATOMIC_ACQUIRE) == 0) {
        bz_child_rest();
    }
    cr_assert_eq(kill(child.pid, SIGTERM), 0);
    cr_assert_eq(kill(child.pid, SIGHUP), 0);
    __atomic_store_n(&talk->is_over, 1, __ATOMIC_RELEASE);
    while ((state = bz_child_look(&child, &death)) == BZ_CHILD_RUNS) {
        bz_child_wait(children, 1);
    }
    cr_assert_eq(state, BZ_CHILD_DONE);
    bz_shared_free(talk, sizeof *talk);
}

static void takes_time(void *context) {
    volatile uint64_t *count = context;
    while (*count < UINT64_C(1) << 26) { /* until it was looked at */
        ++*count;
    }
}

/* Memory that its parent has taken is not the child's: a program that was large before it ran a
 * test. */
Test(contain, child_of_a_large_process_is_not_large) {
    size_t bytes = (size_t)128 << 20;
    struct bz_death death;
    volatile char *block = malloc(bytes);
    uint64_t *count = bz_shared_alloc(sizeof *count);
    cr_assert(block != NULL && count != NULL);
    for (size_t offset = 0; offset < bytes; offset += 4096) {
        block[offset] = 1;
    }
    cr_assert_eq(bz_contain_call(&narrow, NULL, takes_time, count, &death), BZ_CHILD_DONE);
    if (!BZ_SAN_ADDRESS) {
        expect_death(&narrow, eats, 0, "memory", "the process took more than 64 MiB");
    }
    bz_shared_free(count, sizeof *count);
    free((void *)block);
}

/* A child that takes its time, and makes progress all the while, does not hang. */
static void makes_progress(void *context) {
    struct bz_judge *judge = context;
    struct timespec used = {0, 0};
    bz_judge_begin(judge, &(struct bz_run_start){.seed = 1});
    for (uint32_t number = 0; used.tv_sec == 0 && used.tv_nsec < 400000000; number++) {
        bz_judge_note(judge, number);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    }
}

Test(contain, progress_is_no_hang) {
    struct bz_program program;
    struct bz_death death;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_eq(bz_contain_call(&brief, world, makes_progress, world->judge, &death),
                 BZ_CHILD_DONE);
    bz_world_destroy(world);
}

/* Code that waits for a reader of its output does not hang. Code that waits for nothing does. */
static void prints(void *context) {
    static const char text[1000];
    for (int line = 0; line < 1000; line++) {
        (void)!write(STDERR_FILENO, text, sizeof text);
    }
    sleeps(context);
}

Test(contain, a_reader_that_takes_its_time_is_no_hang) {
    int ends[2];
    char text[10000];
    struct bz_death death;
    struct bz_child child;
    struct bz_child *const children[] = {&child};
    size_t got = 0;
    cr_assert(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    cr_assert(dup2(ends[1], STDERR_FILENO) >= 0);
    cr_assert(bz_child_start(&child, &impatient, NULL, prints, NULL));
    enum bz_child_state state = BZ_CHILD_RUNS;
    for (int look = 0; state == BZ_CHILD_RUNS; look++) {
        bz_child_wait(children, 1);
        state = bz_child_look(&child, &death);
        for (ssize_t part = 0; look >= 12 && (part = read(ends[0], text, sizeof text)) > 0;) {
            got += (size_t)part; /* after twelve looks of 50 ms */
        }
    }
    cr_assert_eq(state, BZ_CHILD_DIED);
    tst_text(death.how, "no end, and no CPU time taken for 200 ms");
    cr_assert_eq(got, 1000 * 1000);
}

/* A step that ends never is a hang, whatever happens in it; and so is a set-up that sleeps. */
static void reports_for_ever(void *context) {
    struct bz_world *world = context;
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 1});
    uint32_t task = bz_judge_spawn(world->judge, "task", 0);
    bz_judge_event(world->judge, BZ_EVENT_RESUME, task, BZ_OK, 0);
    for (uint32_t number = 0;; number++) {
        bz_judge_note(world->judge, number);
    }
}

Test(contain, events_in_a_step_are_no_progress) {
    struct bz_program program;
    struct bz_death death;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_eq(bz_contain_call(&brief, world, reports_for_ever, world, &death), BZ_CHILD_DIED);
    tst_text(death.oracle, "hang");
    bz_world_destroy(world);
    world = bz_program_new_world(&program);
    cr_assert_eq(bz_contain_call(&impatient, world, sleeps, NULL, &death), BZ_CHILD_DIED);
    tst_text(death.how, "no end, and no CPU time taken for 200 ms");
    bz_world_destroy(world);
}

/* The judge outlives a child that writes over it. */
static void writes_over_judge(void *context) {
    struct bz_world *world = context;
    struct bz_shadow *shadow = &world->judge->shadow;
    bz_judge_begin(world->judge, &(struct bz_run_start){.seed = 1});
    memset(world->judge->mem, 0xee, 128);
    memset(shadow->mem, 0xee, 128);
    memset(shadow, 0xee, sizeof *shadow);
    abort();
}

Test(contain, what_was_written_over_is_a_crash) {
    struct bz_program program;
    struct bz_death death;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_eq(bz_contain_call(&brief, world, writes_over_judge, world, &death), BZ_CHILD_DIED);
    bz_judge_died(world->judge, death.oracle, death.how);
    cr_assert_eq(bz_judge_verdict(world->judge), BZ_RUN_VIOLATED);
    tst_text(bz_judge_violation(world->judge)->oracle, "crash");
    (void)bz_judge_log_events(world->judge); /* allocates */
    cr_assert_eq(bz_program_run(&program, world, 1), BZ_RUN_PASSED);
    bz_world_destroy(world);
}

/* The same runs, traces and campaigns, contained or not. */
Test(contain, changes_no_run) {
    static const struct bz_variant *const variants[] = {&crowd_sound, &crowd_drops};
    for (int which = 0; which < 2; which++) {
        struct bz_program program;
        crowd_program(&program, variants[which], BZ_ORDER_ANY);
        program.strategy = bz_strategy_find("portfolio"); /* which needs a profile */
        struct bz_program contained = program;
        contained.contain.is_on = true;
        struct bz_world *world = bz_program_new_world(&program);
        struct bz_world *other = bz_program_new_world(&contained);
        for (uint64_t seed = 0; seed < 20; seed++) {
            cr_assert_eq(bz_program_run(&program, world, seed),
                         bz_program_run(&contained, other, seed));
            cr_assert_eq(bz_judge_digest(world->judge), bz_judge_digest(other->judge));
            cr_assert_eq(bz_judge_steps(world->judge), bz_judge_steps(other->judge));
        }
        bz_world_destroy(world);
        bz_world_destroy(other);
        struct bz_trace traces[2];
        struct bz_replay_report report;
        char *texts[2];
        for (int index = 0; index < 2; index++) {
            bz_trace_init(&traces[index]);
            cr_assert(bz_record(index == 0 ? &program : &contained, 4, &traces[index], &report));
            cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
            texts[index] = bz_trace_print(&traces[index]);
        }
        tst_text(texts[0], texts[1]);
        char error[BZ_TRACE_ERROR_BYTES];
        cr_assert(bz_replay_trace(&traces[0], &contained, &report, error, sizeof error));
        cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
        for (int index = 0; index < 2; index++) {
            free(texts[index]);
            bz_trace_fini(&traces[index]);
        }
    }
}

/* A variant whose process ends in some runs: these are findings, and the others are run. */
static enum bz_status ends_acquire(void *instance) {
    enum bz_status status = bz_zoo_ops_sem_woken_cancel.acquire(instance);
    if (status == BZ_CANCELLED) {
        _exit(0);
    }
    return status;
}

Test(contain, a_campaign_goes_on_after_a_death) {
    struct bz_permit_ops ops = bz_zoo_ops_sem_woken_cancel;
    struct bz_variant variant = crowd_drops;
    ops.acquire = ends_acquire;
    variant.permits[BZ_PRIMITIVE_SEMAPHORE] = &ops;
    struct bz_program program;
    crowd_program(&program, &variant, BZ_ORDER_ANY);
    program.contain.is_on = true;
    struct bz_campaign_result results[2];
    for (uint32_t index = 0; index < 2; index++) {
        struct bz_campaign_config config = {
            .program = &program, .runs = 60, .jobs = 1 + 2 * index, .keep_going = true};
        cr_assert(bz_campaign_run(&config, &results[index]));
        cr_assert_eq(results[index].runs, 60);
        cr_assert_lt(0, results[index].by_oracle[bz_oracle_index("exit")]);
        cr_assert_lt(results[index].violations, 60);
    }
    cr_assert_eq(results[0].digest, results[1].digest);
    cr_assert_eq(results[0].stats.steps, results[1].stats.steps);
    struct bz_trace trace;
    struct bz_replay_report report;
    char error[BZ_TRACE_ERROR_BYTES];
    const struct bz_finding *finding = &results[0].findings[0];
    bz_trace_init(&trace);
    cr_assert(bz_record(&program, finding->seed, &trace, &report));
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
    cr_assert_eq(report.digest, finding->digest);
    tst_text(trace.verdict.oracle, finding->violation.oracle);
    cr_assert(bz_replay_trace(&trace, &program, &report, error, sizeof error));
    cr_assert_eq(report.result, BZ_REPLAY_MATCHED);
    bz_trace_fini(&trace);
}

static bool exits_instead; /* and naps do not take their time */

/* Behind the instance of the original. */
static struct bz_loop **loop_of(void *instance) {
    return (struct bz_loop **)(void *)((char *)instance +
                                       bz_zoo_ops_sem_woken_cancel.instance_bytes);
}

/* A cancelled acquire takes a nap, which is shorter than a hang, or sleeps for ever: which of them
 * is up to the schedule. */
static enum bz_status sleeps_after_cancel(void *instance) {
    static const struct timespec nap = {.tv_nsec = 100000000};
    enum bz_status status = bz_zoo_ops_sem_woken_cancel.acquire(instance);
    bool is_for_ever = bz_loop_now_ns(*loop_of(instance)) > 15;
    if (status == BZ_CANCELLED && exits_instead) {
        is_for_ever ? _exit(0) : (void)0;
    } else if (status == BZ_CANCELLED) {
        nanosleep(&nap, NULL);
        while (is_for_ever) {
            pause();
        }
    }
    return status;
}

static enum bz_status keeps_loop(void *instance, struct bz_loop *loop, uint32_t permits) {
    *loop_of(instance) = loop;
    return bz_zoo_ops_sem_woken_cancel.init(instance, loop, permits);
}

/* The digest and the verdict of each run. */
static void note_verdict(void *context, const struct bz_run_mark *mark) {
    uint64_t *verdicts = context;
    verdicts[mark->seed] = mark->digest ^ mark->has_passed;
}

#define SLEEPERS 40u

static void campaign_of_sleepers(const struct bz_program *program, uint64_t first, uint64_t runs,
                                 uint32_t jobs, uint64_t *verdicts,
                                 struct bz_campaign_result *result) {
    struct bz_campaign_config config = {.program = program,
                                        .seed_first = first,
                                        .runs = runs,
                                        .jobs = jobs,
                                        .keep_going = true,
                                        .on_run = note_verdict,
                                        .context = verdicts};
    cr_assert(bz_campaign_run(&config, result));
    cr_assert_eq(result->runs, runs);
}

Test(contain, what_ran_before_decides_no_verdict) {
    struct bz_permit_ops ops = bz_zoo_ops_sem_woken_cancel;
    struct bz_variant variant = crowd_drops;
    ops.instance_bytes += sizeof(struct bz_loop *);
    ops.acquire = sleeps_after_cancel;
    ops.init = keeps_loop;
    variant.permits[BZ_PRIMITIVE_SEMAPHORE] = &ops;
    struct bz_program program;
    crowd_program(&program, &variant, BZ_ORDER_ANY);
    program.contain = impatient;
    program.contain.sleep_ns = 400000000;
    struct bz_campaign_result *result = calloc(1, sizeof *result);
    uint64_t wanted[SLEEPERS];
    uint64_t verdicts[SLEEPERS];
    exits_instead = true;
    campaign_of_sleepers(&program, 0, SLEEPERS, 1, wanted, result);
    uint64_t hangs = result->by_oracle[bz_oracle_index("exit")];
    exits_instead = false;
    for (uint32_t jobs = 1; jobs <= 2; jobs++) {
        memset(verdicts, 0, sizeof verdicts);
        campaign_of_sleepers(&program, 0, SLEEPERS, jobs, verdicts, result);
        cr_assert_eq(memcmp(wanted, verdicts, sizeof wanted), 0);
        cr_assert_eq(result->by_oracle[bz_oracle_index("hang")], hangs);
    }
    memset(verdicts, 0, sizeof verdicts);
    for (uint64_t seed = SLEEPERS; seed-- > 0;) { /* alone, and in another order */
        campaign_of_sleepers(&program, seed, 1, 1, verdicts, result);
    }
    cr_assert_eq(memcmp(wanted, verdicts, sizeof wanted), 0);
    cr_assert_leq(2, hangs);
    free(result);
}

/* Memory that a run does not give back is not what a later one is accused of. */
static enum bz_status leaks(void *instance, struct bz_loop *loop, uint32_t permits) {
    volatile char *block = malloc(4 << 20);
    for (size_t offset = 0; block != NULL && offset < 4 << 20; offset += 4096) {
        block[offset] = 1;
    }
    return bz_zoo_ops_sem_woken_cancel.init(instance, loop, permits);
}

Test(contain, memory_of_earlier_runs_decides_no_verdict) {
    struct bz_permit_ops ops = bz_zoo_ops_sem_woken_cancel;
    struct bz_variant variant = crowd_drops;
    ops.init = leaks;
    variant.permits[BZ_PRIMITIVE_SEMAPHORE] = &ops;
    struct bz_program program;
    struct bz_campaign_result *result = calloc(1, sizeof *result);
    crowd_program(&program, &variant, BZ_ORDER_ANY);
    program.contain = narrow;
    struct bz_campaign_config config = {.program = &program, .runs = 60, .keep_going = true};
    cr_assert(bz_campaign_run(&config, result));
    cr_assert_eq(result->runs, 60);
    cr_assert_eq(result->by_oracle[bz_oracle_index("memory")], 0);
    free(result);
}

/* Without /proc, too, a step that sleeps hangs. */
Test(contain, needs_no_proc_to_see_a_sleep) {
    if (syscall(SYS_unshare, CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        cr_skip_test("no right to hide /proc");
    }
    cr_assert_neq(access("/proc/self/stat", F_OK), 0);
    struct bz_death death;
    cr_assert_eq(bz_contain_call(&impatient, NULL, sleeps, NULL, &death), BZ_CHILD_DIED);
    tst_text(death.how, "no end, and no CPU time taken for 200 ms");
}

/* A second process, by whatever call. Threads are none. */
static void forks(void *context) {
    (void)context;
    _exit(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0 ? 0 : 1);
}

static void *in_thread(void *word) {
    *(int *)word = 1;
    return NULL;
}

static void starts_thread(void *word) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_thread, word) != 0 || pthread_join(thread, NULL) != 0) {
        abort();
    }
}

Test(contain, stays_one_process, .disabled = BZ_SAN_ADDRESS || BZ_SAN_THREAD) {
    struct bz_death death;
    int *word = bz_shared_alloc(sizeof *word);
    cr_assert_eq(bz_contain_call(&brief, NULL, forks, NULL, &death), BZ_CHILD_DIED);
    tst_text(death.oracle, "crash");
    tst_text(death.how, "a call of fork(): a simulation is one process");
    cr_assert_eq(bz_contain_call(&brief, NULL, starts_thread, word, &death), BZ_CHILD_DONE);
    cr_assert_eq(*word, 1);
    bz_shared_free(word, sizeof *word);
}
