/* The judge: takes the events of a run, makes its choices, and gives the verdict. It knows no
 * runtime.
 *
 * A source of events is anything that runs tasks: a loop in C, an executor, an interpreter. It owns
 * the code under test and the handles that are ready to run. The judge owns the rest: the strategy,
 * the tape of choices, the shadow state of tasks and objects, the oracles, the digest, the verdict,
 * the trace. sim/judge/tests/example.c is a complete source; it is installed beside the licence.
 *
 * A source is a function that makes one run, in this order:
 *
 *     set-up      bz_judge_add_permits() and others of objects.h, one for each object
 *                 bz_judge_spawn(), one for each task
 *     each step   while bz_judge_goes_on():
 *                     bz_judge_cancel() names a victim: the step is that cancel
 *                     else bz_judge_next() picks a ready handle: the step runs it
 *                     else, without a ready handle: bz_judge_clock() to the next timer, or the end
 *                 bz_judge_end_step()
 *     the end     bz_judge_end(), while the objects still exist
 *
 * Inside a step the source reports what happens, when it happens:
 *
 *     bz_judge_event()    what the runtime does: RESUME when a step of a task begins; SUSPEND or
 *                         EXIT when it ends; WAKE when what a suspended task waits for is done;
 *                         CANCEL when a cancel is requested, before it takes effect
 *     bz_judge_acquires() and others of objects.h
 *                         what the program does: each operation before its call, and after its
 *                         return
 *     bz_judge_draw()     a choice of the program's own
 *
 * Runs of one seed must be equal. So nothing else may differ between two runs: no time of day, no
 * address, no hash order. A handle is named by task, role and number. A task's steps are numbered
 * from 1; its handle of role BZ_ROLE_STEP has the number of the step that it would begin.
 *
 * The rest works on such a function: bz_judge_run() makes a run of a seed; record.h writes and
 * replays traces.
 *
 *     judge = bz_judge_new(&config);
 *     for (seed = 0; end == BZ_RUN_PASSED; seed++) {
 *         end = bz_judge_run(judge, &source, &(struct bz_run_start){.seed = seed});
 *     }
 *     bz_judge_record(judge, &source, NULL, &trace, &report);
 *     bz_judge_destroy(judge);
 *
 * Errors. A source that breaks these rules ends its run with BZ_RUN_BAD_SOURCE, and
 * bz_judge_error() says which rule: an unknown task, object, event or status; a call out of order;
 * a bound that does not exist. The call that broke it returns 0, or the least that it may return.
 * Later calls of that run are harmless, and the first error stands. It is no verdict on the code
 * under test. The process stops only when memory runs out.
 *
 * Ownership. A judge belongs to one thread; a process may have many. Names and labels that the
 * source passes must outlive the run, and the record of it. What the judge returns by pointer is
 * its own and lasts until its next run.
 *
 * Complexity. Every call of a step is O(1), amortized, with these exceptions: bz_judge_next() may
 * be O(count), bz_judge_cancel() is O(tasks) when a cancel is due, and a grant out of order is
 * O(waiters of the object). Nothing on the path of a step allocates, once the largest run has been
 * seen.
 */
#ifndef BZ_SIM_JUDGE_JUDGE_H
#define BZ_SIM_JUDGE_JUDGE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/choice/strategy.h"
#include "sim/judge/event.h"
#include "sim/judge/objects.h"

BZ_BEGIN_DECLS

struct bz_judge;
struct bz_tape;
struct bz_answers;

/* --- oracles ---------------------------------------------------------------------------------- */

struct bz_oracle {
    const char *name;
    const char *summary; /* "violated when ..." */
};

/* In the order in which they judge a step: what hurts a user comes first, what merely shows that
 * the shadow state disagrees comes last. */
extern const struct bz_oracle bz_oracles[];
extern const uint32_t bz_oracle_count;
#define BZ_ORACLES_MAX 32u

/* The index of the oracle of that name; bz_oracle_count if there is none. */
uint32_t bz_oracle_index(const char *name);

/* --- life ------------------------------------------------------------------------------------- */

#define BZ_STEPS_MAX_DEFAULT 100000u
#define BZ_STEPS_LIMIT 100000000u /* the largest steps_max that settings accept */
#define BZ_TASKS_MAX 1000000u     /* of one run */
#define BZ_CANCELS_MAX_DEFAULT 2u
#define BZ_STARVATION_BOUND_DEFAULT 64u
#define BZ_TIME_MAX_NS ((UINT64_C(1) << 53) - 1) /* what a JSON number can hold exactly */

/* All zeros is a valid configuration: portfolio, any order, no cancels. */
struct bz_judge_config {
    const char *program; /* names for tokens and traces; NULL: "program", "variant" */
    const char *variant;
    const struct bz_strategy *strategy; /* NULL: portfolio */
    enum bz_order order;                /* in which the source runs handles */
    uint32_t cancel_windows;            /* bit mask of 1 << enum bz_window that cancels may hit */
    uint32_t cancels_max;               /* injected cancels of one run */
    uint32_t steps_max;                 /* 0: BZ_STEPS_MAX_DEFAULT */
    uint32_t starvation_bound;          /* overtakings that a waiter must put up with; 0: default */
    bool ignores_starvation;            /* every order is tried, and some starve a task */
    uint32_t oracles_off;               /* bit mask of indices in bz_oracles */
    const struct bz_profile *profile;   /* for strategies that need one: copied; NULL: measured */
    const struct bz_answers *answers;   /* for the strategy `answers`; NULL */
    /* Whether a callback is ready to run, which may wake a waiter that seems to be forgotten. Asked
     * only when one does. NULL: never. */
    bool (*callback_is_ready)(void *source);
    void *source; /* what callback_is_ready is called with */
};

/* `config` is copied; what it points to must live as long as the judge. The caller destroys the
 * judge. NULL without memory. */
struct bz_judge *bz_judge_new(const struct bz_judge_config *config);
void bz_judge_destroy(struct bz_judge *judge);

/* --- what the source asks --------------------------------------------------------------------- */

/* False: the run has ended, by a violation, the step limit, a stop or an error. */
bool bz_judge_goes_on(struct bz_judge *judge);

/* Asked before every step (order fifo: once a turn, when events from outside may come): the task
 * that a cancel strikes now, as a step of its own; 0: none. The source requests the cancel, and
 * reports it with BZ_EVENT_CANCEL. A victim may have ended, unless BZ_EVENT_FREE was reported. */
uint32_t bz_judge_cancel(struct bz_judge *judge);

/* Begins a step: which of the ready handles, the oldest first, runs now. Returns its index. `count`
 * is at least 1. */
uint32_t bz_judge_next(struct bz_judge *judge, const struct bz_ready *ready, uint32_t count);

/* Asked before a step while handles are ready and a timer is pending: whether the clock jumps to
 * that timer all the same, because the loop was busy. */
bool bz_judge_jump(struct bz_judge *judge);

/* What the running task draws below `bound` (1 to 2^53 - 1); a virtual delay in [least, most].
 * `label` is a literal that says what for. */
uint64_t bz_judge_draw(struct bz_judge *judge, const char *label, uint64_t bound);
uint64_t bz_judge_draw_delay_ns(struct bz_judge *judge, const char *label, uint64_t least_ns,
                                uint64_t most_ns);

/* --- what the source says --------------------------------------------------------------------- */

/* The next task is created, by the running one or by the loop. Returns its number, which is one
 * more than the last one's; 1 is the first. It is called `name`, followed by "-index" if `index` is
 * not 0. */
uint32_t bz_judge_spawn(struct bz_judge *judge, const char *name, uint32_t index);

/* Any other event of the runtime, in the order in which they happen: kind, task, status, arg as
 * primitives/runtime/observe.h says. */
void bz_judge_event(struct bz_judge *judge, enum bz_event_kind kind, uint32_t task,
                    enum bz_status status, uint32_t arg);

/* The clock moves on, before the step that it belongs to. Never back; at most BZ_TIME_MAX_NS. */
void bz_judge_clock(struct bz_judge *judge, uint64_t now_ns);

/* The program says something for the trace. */
void bz_judge_note(struct bz_judge *judge, uint32_t number);

/* The program's own check has failed (oracle `assertion`), or another oracle objects: the first
 * objection is the run's violation. */
void bz_judge_object(struct bz_judge *judge, const char *oracle, uint32_t task, uint32_t object,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* After every step: the oracles look at the objects that it concerned. */
void bz_judge_end_step(struct bz_judge *judge);

/* When nothing can run any more: the oracles look at what is left. Once a run. */
void bz_judge_end(struct bz_judge *judge);

/* Gives the run up after this step, without a verdict (BZ_RUN_GIVEN_UP). */
void bz_judge_give_up(struct bz_judge *judge);

/* The verdict of a run that is over is another one: this oracle is violated, by what several runs
 * show and no run alone does. */
void bz_judge_overrule(struct bz_judge *judge, const char *oracle, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- what came of it -------------------------------------------------------------------------- */

enum bz_run_end {
    BZ_RUN_PASSED = 0,
    BZ_RUN_VIOLATED = 1,
    BZ_RUN_OUT_OF_STEPS = 2, /* the step limit, with progress until the end */
    BZ_RUN_GIVEN_UP = 3,     /* without a verdict */
    BZ_RUN_BAD_SOURCE = 4,   /* without a verdict: see bz_judge_error() */
};

enum bz_run_end bz_judge_verdict(const struct bz_judge *judge);

/* Which rule the source broke, "the source of events: ..."; NULL: none. */
const char *bz_judge_error(const struct bz_judge *judge);

#define BZ_MESSAGE_BYTES 512u

struct bz_violation {
    const char *oracle; /* NULL: none */
    uint32_t also;      /* other oracles that objected in the same step, as bits by index */
    uint32_t step;
    uint32_t task;
    uint32_t object;
    uint64_t time_ns;
    char message[BZ_MESSAGE_BYTES];
};

/* Hits of cancels per operation and window, and sizes, added up over runs. */
struct bz_run_stats {
    uint64_t runs;
    uint64_t steps;
    uint64_t injected;                              /* cancels by the judge */
    uint64_t windows[BZ_OP_COUNT][BZ_WINDOW_COUNT]; /* all cancels, whoever asked */
};

const struct bz_violation *bz_judge_violation(const struct bz_judge *judge);
uint64_t bz_judge_digest(const struct bz_judge *judge);
uint64_t bz_judge_seed(const struct bz_judge *judge);
uint32_t bz_judge_steps(const struct bz_judge *judge); /* the one that runs, or ran last */
struct bz_run_stats *bz_judge_stats(struct bz_judge *judge);

/* The running task, 0 between tasks; how many tasks have not ended. */
uint32_t bz_judge_running(const struct bz_judge *judge);
uint32_t bz_judge_unfinished(const struct bz_judge *judge);

/* A fingerprint of the order in which objects went from task to task. O(objects). */
uint64_t bz_judge_handoffs(const struct bz_judge *judge);

/* Name of a task for messages, "loop" for 0, cut to fit; returns `buffer`. Name of an object; NULL
 * for no object. */
const char *bz_judge_task_name(const struct bz_judge *judge, uint32_t task, char *buffer,
                               size_t size_bytes);
const char *bz_judge_object_name(const struct bz_judge *judge, uint32_t object);

/* --- runs of a source ------------------------------------------------------------------------- */

typedef void bz_source_fn(void *context, struct bz_judge *judge);

struct bz_source {
    bz_source_fn *run;
    void *context;
};

/* How a run begins. */
struct bz_run_start {
    uint64_t seed;
    const struct bz_strategy *strategy; /* NULL: the judge's */
    const struct bz_tape *tape;         /* for strategies that replay; never the judge's own */
    struct bz_event_sink *sink;         /* gets every event; NULL: none */
    void *context;                      /* for strategies that need one; NULL */
};

/* One run, from the set-up to bz_judge_end(): nothing is left of the one before. */
enum bz_run_end bz_judge_run(struct bz_judge *judge, const struct bz_source *source,
                             const struct bz_run_start *start);

/* Not 0 in `*stop` gives a run up, as bz_judge_give_up() does; looked at every 65,536 steps. May be
 * set by a signal handler. NULL: none. */
void bz_judge_watch_stop(struct bz_judge *judge, const volatile sig_atomic_t *stop);

/* Measures how long runs of the source tend to be, in a few of them; the judge keeps a copy. The
 * same for every seed, so that a seed alone repeats a run. bz_judge_run() does it by itself before
 * the first run under a strategy that needs a profile, if the judge has none. */
void bz_judge_measure(struct bz_judge *judge, const struct bz_source *source,
                      struct bz_profile *profile);

BZ_END_DECLS

#endif
