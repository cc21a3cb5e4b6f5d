/* A source of events in one file. Copy it to put the code of another runtime before the judge.
 *
 * It has three parts: an event loop with tasks, which is the runtime; a toy semaphore, which is the
 * code under test; and a main() that searches for a fault, prints its token, writes its trace and
 * replays it. It uses nothing of Buzzer but the judge; sim/judge/judge.h is the manual.
 *
 *     cc example.c $(pkg-config --cflags --libs buzzer) && ./a.out
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "sim/judge/record.h"

#define GUESTS 4u
#define MEALS 2u /* of each guest */

struct semaphore {
    bool is_barging;        /* fault: a newcomer may take what a waiter was woken for */
    bool is_forgetful;      /* fault: a waiter that was woken and cancelled wakes nobody else */
    uint32_t free;          /* permits */
    uint32_t queue[GUESTS]; /* tasks that wait, by number, the oldest first */
    uint32_t queued;
};

/* guest_step() is the body of a task: a state machine. */
struct task {
    uint32_t number;   /* the judge's: 1 is the first */
    uint32_t steps;    /* begun so far */
    bool is_waiting;   /* suspended until somebody wakes it */
    bool is_cancelled; /* its next step begins with BZ_CANCELLED */
    bool is_acquiring; /* inside acquire */
    bool is_eating;    /* between acquire and release */
    uint32_t meals;
};

struct loop {
    struct bz_judge *judge;
    struct task tasks[GUESTS + 1]; /* by number; there is no task 0 */
    struct bz_ready ready[GUESTS]; /* steps that can run, the oldest first: one of each task */
    uint32_t ready_count;
    struct semaphore semaphore;
    uint32_t object; /* the semaphore's number */
};

/* --- the runtime: an event loop --------------------------------------------------------------- */

/* A handle is named by its task, its role and its number. Never by an address, and never by a place
 * in a queue: the name must mean the same in another schedule. */
static void make_ready(struct loop *loop, const struct task *task) {
    loop->ready[loop->ready_count++] =
        (struct bz_ready){.owner = task->number, .nth = task->steps + 1, .role = BZ_ROLE_STEP};
}

static void spawn(struct loop *loop, uint32_t index) {
    uint32_t number = bz_judge_spawn(loop->judge, "guest", index);
    loop->tasks[number].number = number;
    make_ready(loop, &loop->tasks[number]);
}

static void suspend(struct loop *loop, struct task *task, enum bz_wait wait) {
    bz_judge_event(loop->judge, BZ_EVENT_SUSPEND, task->number, BZ_OK, wait);
    task->is_waiting = wait == BZ_WAIT_FUTURE;
    if (wait == BZ_WAIT_YIELD) {
        make_ready(loop, task);
    }
}

static void wake(struct loop *loop, struct task *task, enum bz_status status) {
    bz_judge_event(loop->judge, BZ_EVENT_WAKE, task->number, status, 0);
    task->is_waiting = false;
    make_ready(loop, task);
}

static void cancel(struct loop *loop, struct task *task) {
    bz_judge_event(loop->judge, BZ_EVENT_CANCEL, task->number, BZ_OK, 0);
    task->is_cancelled = true;
    if (task->is_waiting) {
        wake(loop, task, BZ_CANCELLED);
    }
}

static bool guest_step(struct loop *loop, struct task *task, enum bz_status status);

static void run_step(struct loop *loop, uint32_t index) {
    struct task *task = &loop->tasks[loop->ready[index].owner];
    enum bz_status status = task->is_cancelled ? BZ_CANCELLED : BZ_OK;
    loop->ready_count--;
    memmove(&loop->ready[index], &loop->ready[index + 1],
            (loop->ready_count - index) * sizeof loop->ready[0]);
    task->is_cancelled = false;
    task->steps++;
    bz_judge_event(loop->judge, BZ_EVENT_RESUME, task->number, status, task->steps);
    if (guest_step(loop, task, status)) {
        bz_judge_event(loop->judge, BZ_EVENT_EXIT, task->number, status, 0);
        bz_judge_event(loop->judge, BZ_EVENT_FREE, task->number, BZ_OK, 0);
    }
}

/* One run. A loop with timers also calls bz_judge_jump() and bz_judge_clock(). */
static void run(void *context, struct bz_judge *judge) {
    struct loop loop = {.judge = judge, .semaphore = *(const struct semaphore *)context};
    loop.object = bz_judge_add_permits(judge, "tables", BZ_PRIMITIVE_SEMAPHORE, BZ_CLAIM_FIFO,
                                       loop.semaphore.free, NULL);
    for (uint32_t index = 1; index <= GUESTS; index++) {
        spawn(&loop, index);
    }
    while (bz_judge_goes_on(judge)) {
        uint32_t victim = bz_judge_cancel(judge);
        if (victim != 0) {
            cancel(&loop, &loop.tasks[victim]);
        } else if (loop.ready_count > 0) {
            run_step(&loop, bz_judge_next(judge, loop.ready, loop.ready_count));
        } else {
            break;
        }
        bz_judge_end_step(judge);
    }
    bz_judge_end(judge);
}

/* --- the code under test: a semaphore --------------------------------------------------------- */

/* False: the task is in the queue, and is to be suspended. */
static bool semaphore_acquire(struct semaphore *semaphore, uint32_t task) {
    if (semaphore->free > 0 && (semaphore->queued == 0 || semaphore->is_barging)) {
        semaphore->free--;
        return true;
    }
    semaphore->queue[semaphore->queued++] = task;
    return false;
}

static void semaphore_wake_first(struct loop *loop) {
    const struct semaphore *semaphore = &loop->semaphore;
    struct task *first = &loop->tasks[semaphore->queue[0]];
    if (semaphore->queued > 0 && semaphore->free > 0 && first->is_waiting) {
        wake(loop, first, BZ_OK);
    }
}

/* A waiter has resumed: it leaves the queue. False: it waits again. */
static bool semaphore_resume(struct loop *loop, uint32_t task, enum bz_status status) {
    struct semaphore *semaphore = &loop->semaphore;
    uint32_t kept = 0;
    for (uint32_t index = 0; index < semaphore->queued; index++) {
        semaphore->queue[kept] = semaphore->queue[index];
        kept += semaphore->queue[index] != task;
    }
    semaphore->queued = kept;
    if (status == BZ_OK && semaphore->free == 0) { /* a newcomer was faster */
        return semaphore_acquire(semaphore, task);
    }
    semaphore->free -= status == BZ_OK;
    if (status == BZ_OK || !semaphore->is_forgetful) {
        semaphore_wake_first(loop);
    }
    return true;
}

/* A guest acquires, eats for a step, releases, twice. Each operation is announced before it is
 * called and after it has returned. Returns whether the task has ended. */
static bool guest_step(struct loop *loop, struct task *task, enum bz_status status) {
    if (task->is_eating) {
        task->is_eating = false;
        bz_judge_release_begin(loop->judge, loop->object);
        loop->semaphore.free++;
        semaphore_wake_first(loop);
        bz_judge_release_end(loop->judge, loop->object, BZ_OK);
    }
    bool has_returned;
    if (task->is_acquiring) {
        has_returned = semaphore_resume(loop, task->number, status);
    } else if (status == BZ_CANCELLED || task->meals == MEALS) {
        return true;
    } else {
        task->is_acquiring = true;
        bz_judge_acquire_begin(loop->judge, loop->object);
        has_returned = semaphore_acquire(&loop->semaphore, task->number);
    }
    if (has_returned) {
        task->is_acquiring = false;
        bz_judge_acquire_end(loop->judge, loop->object, status);
        if (status == BZ_CANCELLED) {
            return true;
        }
        task->is_eating = true;
        task->meals++;
    }
    suspend(loop, task, has_returned ? BZ_WAIT_YIELD : BZ_WAIT_FUTURE);
    return false;
}

/* --- the search ------------------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

/* Writes the run that the judge has just made to a file, reads it back, and replays it. */
static bool record_and_replay(struct bz_judge *judge, const struct bz_source *source) {
    const char *path = "example-trace.json";
    const char *oracle = bz_judge_violation(judge)->oracle;
    char error[BZ_TRACE_ERROR_BYTES];
    struct bz_replay_report report;
    struct bz_trace trace;
    bz_trace_init(&trace);
    bz_judge_record(judge, source, NULL, &trace, &report);
    CHECK(report.result == BZ_REPLAY_MATCHED && bz_trace_write(&trace, path, error, sizeof error));
    bz_trace_fini(&trace);

    CHECK(bz_trace_read(&trace, path, error, sizeof error));
    CHECK(bz_judge_replay(judge, source, &trace, &report, error, sizeof error));
    CHECK(report.result == BZ_REPLAY_MATCHED && report.digest == trace.digest);
    CHECK(strcmp(report.violation.oracle, oracle) == 0);
    bz_trace_fini(&trace);
    return true;
}

/* Runs seed after seed until an oracle objects. `expected`: which one; NULL: none does. */
static bool search(const char *variant, struct semaphore semaphore, const char *expected) {
    struct bz_source source = {.run = run, .context = &semaphore};
    struct bz_judge *judge =
        bz_judge_new(&(struct bz_judge_config){.program = "example",
                                               .variant = variant,
                                               .strategy = &bz_strategy_portfolio,
                                               .cancel_windows = BZ_WINDOWS_ALL,
                                               .cancels_max = BZ_CANCELS_MAX_DEFAULT});
    enum bz_run_end end = BZ_RUN_PASSED;
    for (uint64_t seed = 0; seed < 10000 && end == BZ_RUN_PASSED; seed++) {
        end = bz_judge_run(judge, &source, &(struct bz_run_start){.seed = seed});
    }
    CHECK(bz_judge_error(judge) == NULL); /* the loop above keeps the rules of judge.h */
    CHECK((end == BZ_RUN_VIOLATED) == (expected != NULL));
    if (end == BZ_RUN_VIOLATED) {
        char token[BZ_TOKEN_BYTES];
        const struct bz_violation *violation = bz_judge_violation(judge);
        printf("%s: %s\n%s\n", violation->oracle, violation->message,
               bz_judge_token(judge, token, sizeof token));
        CHECK(strcmp(violation->oracle, expected) == 0 && record_and_replay(judge, &source));
    }
    bz_judge_destroy(judge);
    return true;
}

int main(void) {
    bool is_right =
        search("correct", (struct semaphore){.free = 1}, NULL) &&
        search("barging", (struct semaphore){.free = 1, .is_barging = true}, "fifo") &&
        search("forgetful", (struct semaphore){.free = 1, .is_forgetful = true}, "lost-wakeup");
    return is_right ? 0 : 1;
}
