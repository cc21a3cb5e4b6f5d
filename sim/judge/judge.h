/* The judge: takes the events of a run, makes its choices, and gives the verdict. It knows no
 * runtime.
 *
 * A source of events is anything that runs tasks: a loop in C, an executor, an interpreter. It owns
 * the code under test and the ready handles. The judge owns the rest: strategy, tape of choices,
 * shadow state, oracles, digest, verdict, trace. sim/judge/tests/example.c is a complete source; it
 * is installed as share/doc/buzzer/example.c.
 *
 * A source is a function that makes one run, in this order:
 *
 *     set-up      bz_judge_add_permits() and others of objects.h, one for each object
 *                 bz_judge_spawn(), one for each task
 *     each step   while bz_judge_goes_on():
 *                     if bz_judge_cancel() names a victim, the step is that cancel
 *                     else bz_judge_next() picks a ready handle, and the step runs it
 *                     else, without a ready handle: bz_judge_clock() to the next timer, or the end
 *                 bz_judge_end_step()
 *     the end     bz_judge_end(), while the objects still exist
 *
 * Inside a step the source reports each event when it happens:
 *
 *     bz_judge_event()    what the runtime does: RESUME when a step of a task begins; SUSPEND or
 *                         EXIT when it ends; WAKE when what a suspended task waits for is done;
 *                         CANCEL when a cancel is requested, before it takes effect
 *     bz_judge_acquire_begin() and others of objects.h
 *                         what the program does: each operation before its call, and after its
 *                         return
 *     bz_judge_draw()     a choice of the program's own
 *
 * Runs of one seed must be equal, so nothing else may differ between two runs: no time of day, no
 * address, no hash order. A handle is named by task, role and number. A task's steps are numbered
 * from 1; its handle of role BZ_ROLE_STEP has the number of the step that it begins.
 *
 * bz_judge_run() makes a run of a seed with such a function; record.h writes and replays traces:
 *
 *     judge = bz_judge_new(&config);
 *     for (seed = 0; end == BZ_RUN_PASSED; seed++) {
 *         end = bz_judge_run(judge, &source, &(struct bz_run_start){.seed = seed});
 *     }
 *     bz_judge_record(judge, &source, NULL, &trace, &report);
 *     bz_judge_destroy(judge);
 *
 * Errors. A source that breaks a rule ends its run with BZ_RUN_BAD_SOURCE, and bz_judge_error()
 * names the rule: an unknown task, object, event or status; a call out of order; an invalid bound.
 * That call returns 0, or the least value that it may return. Later calls of the run do nothing,
 * and the first error is kept. It is no verdict on the code under test.
 *
 * Memory. A run that the judge or the source cannot give what it needs ends with
 * BZ_RUN_NO_RESOURCE, and bz_judge_error() says what ran out. That is no verdict either. The
 * process stops, by bz_lack_stop() (traces/lack.h), where no run can end: when a trace is built,
 * and when a run has more tasks and objects than fit 1 GiB (64 MiB in a process of 32 bits). The
 * tape and the recorded events of a run have 4 GiB (64 MiB).
 *
 * Ownership. A judge belongs to one thread; a process may have many. Names and labels that the
 * source passes must outlive the run and its record. The judge owns what it returns by pointer; it
 * is valid until the next run.
 *
 * Complexity. Every call of a step is O(1), amortized, with these exceptions: bz_judge_next() may
 * be O(count), bz_judge_cancel() is O(tasks) when a cancel is due, and a grant out of order is
 * O(waiters of the object). Steps allocate only while a run is larger than all before it.
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
    const char *demand;  /* the property that has to hold, as a sentence */
};

/* In the order in which they judge a step: what hurts a user first, internal disagreement last. */
extern const struct bz_oracle bz_oracles[];
extern const uint32_t bz_oracle_count;
#define BZ_ORACLES_MAX 64u

/* The demand of the oracle of that name; of some, another sentence for a cancel in that window.
 * NULL: no cancel. */
const char *bz_oracle_demand(const char *name, const char *window);

/* The index of the oracle of that name; bz_oracle_count if there is none. */
uint32_t bz_oracle_index(const char *name);

/* The name as the table has it, which lies at the same place in every child process: a violation
 * has this one. `name` itself if no oracle is called so. */
const char *bz_oracle_name(const char *name);

/* True if the oracle is one of those of bz_judge_died(). */
bool bz_oracle_ends_process(const char *name);

/* --- a judge ---------------------------------------------------------------------------------- */

#define BZ_STEPS_MAX_DEFAULT 100000u
#define BZ_STEPS_LIMIT 100000000u /* the largest steps_max that settings accept */
#define BZ_TASKS_MAX 1048576u     /* a run has fewer */
#define BZ_TASKS_MAX_TEXT "1048576"
#define BZ_CANCELS_MAX_DEFAULT 2u
#define BZ_STARVATION_BOUND_DEFAULT 64u
#define BZ_TIME_MAX_NS ((UINT64_C(1) << 53) - 1) /* what a JSON number can hold exactly */
#define BZ_LAG_MAX_DEFAULT_NS UINT64_C(99000000) /* below 0.1 s, a common delay */
#define BZ_SPIN_STEPS 10000u
#define BZ_LAG_MAX_ANY_NS BZ_TIME_MAX_NS /* no bound */
#define BZ_LAG_MAX_NONE_NS UINT64_MAX    /* a timer never fires before ready work */

/* The choices that older programs did not have. Each level is also without those of the levels
 * before it, so that a token of such a program repeats. */
enum bz_older {
    BZ_OLDER_NOT = 0,
    BZ_OLDER_NEVER_RETIMES = 1,   /* bz_judge_retimes() is false */
    BZ_OLDER_PICKS_THE_FIRST = 2, /* bz_judge_pick() is 0 */
    BZ_OLDER_WAKES_ON_TIME = 3,   /* order fifo: an idle loop never wakes late, and cancels from
                                     outside come between turns alone */
    BZ_OLDER_FAVOURS_NOTHING = 4, /* bz_judge_draw_favoured() is bz_judge_draw() */
};

/* All zeros is a valid configuration: portfolio, any order, no cancels. */
struct bz_judge_config {
    const char *program; /* names for tokens and traces; NULL: "program", "variant" */
    const char *variant;
    const struct bz_strategy *strategy; /* NULL: portfolio */
    enum bz_order order;                /* in which the source runs handles */
    uint32_t cancel_windows;            /* bit mask of 1 << enum bz_window that cancels may hit */
    uint32_t cancels_max;               /* injected cancels of one run */
    uint32_t steps_max;                 /* 0: BZ_STEPS_MAX_DEFAULT */
    uint32_t starvation_bound;          /* overtakings that a waiter must accept; 0: default */
    uint64_t lag_max_ns;                /* that the steps of a run take, in sum; 0: default */
    enum bz_older older;                /* repeats the run of an older program */
    bool ignores_starvation;            /* for a search: some orders starve a task */
    uint64_t oracles_off;               /* bit mask of indices in bz_oracles */
    const struct bz_profile *profile;   /* for strategies that need one: copied; NULL: measured */
    const struct bz_answers *answers;   /* for the strategy `answers`; NULL */
    /* True if a callback is ready, which may still wake a waiter; whether the code under test
     * itself has a callback ready or a timer armed. Called only before a verdict. NULL: never. */
    bool (*callback_is_ready)(void *source);
    bool (*variant_is_busy)(void *source);
    /* When the last of its timers fires that are armed now. 0: it is not busy; UINT64_MAX: it has
     * more under way. NULL: there is no telling. */
    uint64_t (*variant_until_ns)(void *source);
    /* True if the system or a limit has refused memory to the code under test in this run; only
     * then may an operation return BZ_NO_MEMORY. NULL: it never does. */
    bool (*memory_was_refused)(void *source);
    /* While so many tasks wait, an operation may return it, too; 0: no number is enough. */
    uint32_t waiters_max;
    /* A task that was woken and then cancelled resumes with its result, and its next wait is
     * cancelled (BZ_WOKEN_KEEPS_RESULT in primitives/runtime/rules.h). */
    bool keeps_result;
    /* A number for the state of the source: two equal numbers promise that from both states it does
     * the same, given the same choices. It may clear what no later step can see. False: the source
     * cannot tell. Called only after the step limit, between two steps, to prove a livelock. NULL:
     * no run is a livelock. */
    bool (*fingerprint)(void *source, uint64_t *fingerprint);
    void *source; /* argument of these functions */
};

/* `config` is copied; what it points to must live as long as the judge. The caller destroys the
 * judge. NULL without memory. */
struct bz_judge *bz_judge_new(const struct bz_judge_config *config);
void bz_judge_destroy(struct bz_judge *judge);

/* --- what the source asks --------------------------------------------------------------------- */

/* In which order the source is to run handles. */
enum bz_order bz_judge_order(const struct bz_judge *judge);

/* False: the run has ended, by a violation, the step limit, a stop or an error. At the step limit
 * of a source with a fingerprint, it continues for a while in the default order, without a record,
 * to tell a livelock from a run that was cut short. */
bool bz_judge_goes_on(struct bz_judge *judge);

/* The task that a cancel strikes now, as a step of its own; 0: none. Called before every step
 * (order fifo: once a turn, where events from outside come). The source requests the cancel and
 * reports it with BZ_EVENT_CANCEL. The victim may be done, unless BZ_EVENT_FREE was reported. */
uint32_t bz_judge_cancel(struct bz_judge *judge);

/* Begins a step: returns the index of the ready handle that runs now. `ready` lists the oldest
 * first; `count` is at least 1. */
uint32_t bz_judge_next(struct bz_judge *judge, const struct bz_ready *ready, uint32_t count);

/* True if the clock jumps to the next timer, by `lag_ns`, although handles are ready: the last step
 * took so long. The sum over a run is at most config.lag_max_ns: a real loop is not slow without
 * end, and a program may rely on that. But after BZ_SPIN_STEPS steps without progress, in which the
 * clock stood still, it polls, and then any jump is allowed and does not count. Called before a
 * step while a timer is pending. */
bool bz_judge_jump(struct bz_judge *judge, uint64_t lag_ns);

/* True after so many steps without progress, in which the clock stood still. */
bool bz_judge_polls(const struct bz_judge *judge, uint32_t steps);

enum bz_polls {
    BZ_POLLS_ANY,     /* by yields or sleeps */
    BZ_POLLS_VAIN,    /* likewise; none can succeed */
    BZ_POLLS_VAIN_NOW /* by yields; none can succeed before a timer fires */
};

/* How many tasks poll so inside operations; 0 if another task can run, or a poll is of another
 * kind. Tasks of the code under test do not count. O(tasks). */
uint32_t bz_judge_only_polls(const struct bz_judge *judge, enum bz_polls kind);

/* True if a timer comes at another moment of its instant than by default, as a real clock and a
 * real selector allow: no step is slow. Called before a step. */
bool bz_judge_retimes(struct bz_judge *judge);

/* True if the run has the choices that programs of this level lack. */
bool bz_judge_is_newer(const struct bz_judge *judge, enum bz_older older);

/* Draws a number below `bound` (1 to 2^53 - 1), or a virtual delay in [least, most], for the
 * running task. `label` is a literal that names the purpose. */
uint64_t bz_judge_draw(struct bz_judge *judge, const char *label, uint64_t bound);
/* The same for what the program leaves open: which of several comes next. 0 is no event. */
uint64_t bz_judge_pick(struct bz_judge *judge, const char *label, uint64_t bound);
uint64_t bz_judge_draw_delay_ns(struct bz_judge *judge, const char *label, uint64_t least_ns,
                                uint64_t most_ns);

/* The same, if the program knows which values below 64 matter most, as bits: a strategy may draw
 * one of these more often. */
uint64_t bz_judge_draw_favoured(struct bz_judge *judge, const char *label, uint64_t bound,
                                uint64_t favoured);

/* --- what the source reports ------------------------------------------------------------------ */

/* The running task, or the loop, has created a task. Returns its number: 1 is the first, and each
 * is one more than the last. Its name is `name`, followed by "-index" if `index` is not 0. */
uint32_t bz_judge_spawn(struct bz_judge *judge, const char *name, uint32_t index);

/* True if a task is a helper: the code under test has created it, and the program does not know of
 * it. No cancel is injected into a helper, it may wait forever, and `lost-wakeup` waits while it
 * can run or sleeps, except for objects with BZ_CLAIM_UNAIDED. At first no task is a helper. */
void bz_judge_set_helper(struct bz_judge *judge, uint32_t task, bool is_helper);

/* No task of the program ends with one of these statuses, bits 1 << enum bz_status: its bodies do
 * not return them. The oracle `status` judges that, and BZ_NO_MEMORY in any case. In the set-up. */
void bz_judge_refuse_ends(struct bz_judge *judge, uint32_t statuses);

/* No cancel is injected into the task: an outside cancel would make no sense there. */
void bz_judge_protect(struct bz_judge *judge, uint32_t task);

/* The task has another name from now on, which outlives the run and its record. */
void bz_judge_rename(struct bz_judge *judge, uint32_t task, const char *name);

/* Any other event of the runtime; kind, task, status and arg as in primitives/runtime/observe.h. */
void bz_judge_event(struct bz_judge *judge, enum bz_event_kind kind, uint32_t task,
                    enum bz_status status, uint32_t arg);

/* The task waits on although its cancel was requested, because its wait cannot be cancelled: it
 * keeps its place in the line, and no rest is a deadlock while it waits, for the program may rely
 * on the end of that wait. Called after BZ_EVENT_CANCEL, or after BZ_EVENT_SUSPEND of a task with
 * an undelivered request, or one that it has learned of earlier in the same operation. */
void bz_judge_waits_on(struct bz_judge *judge, uint32_t task);

/* True if the events of the run become a trace. Texts for people are worth their cost then. */
bool bz_judge_is_recorded(const struct bz_judge *judge);

/* The line of the program, "pool.py:12", at which the next BZ_EVENT_SUSPEND suspends its task: for
 * the trace alone. It outlives the run and its record. */
void bz_judge_where(struct bz_judge *judge, const char *where);

/* The value that the program made of its latest draws, with its name, "items [1, 2]": of the
 * event of the last one, for the trace alone. It outlives the run and its record. */
void bz_judge_say_draw(struct bz_judge *judge, const char *text);

/* The operation that begins next, or has just ended, in the words of the program: "acquire(2)". Of
 * the event of its call or its return, for the trace alone; copied, and cut to BZ_SAID_BYTES. NULL:
 * no words. */
void bz_judge_say(struct bz_judge *judge, const char *text);

/* The clock advances, before the step that it belongs to. It never goes back; at most
 * BZ_TIME_MAX_NS. */
void bz_judge_clock(struct bz_judge *judge, uint64_t now_ns);

/* The same in the middle of a step, which takes so long because the program wants it. */
void bz_judge_sleep(struct bz_judge *judge, uint64_t now_ns);

/* Nothing can run before the clock shows `until_ns`, to which bz_judge_clock() will set it, unless
 * tasks poll in vain until then. Objects that a model with a clock judges say whether a waiter
 * should be woken earlier, and whether tasks poll that could never go on. The run may have ended
 * then. */
void bz_judge_idle(struct bz_judge *judge, uint64_t until_ns);

/* A note of the program, for the trace. */
void bz_judge_note(struct bz_judge *judge, uint32_t number);

/* Reports a violation of `oracle`: `assertion` for the program's own checks. The first violation of
 * a run is its verdict. */
void bz_judge_violate(struct bz_judge *judge, const char *oracle, uint32_t task, uint32_t object,
                      const char *format, ...) __attribute__((__format__(__printf__, 5, 6)));

/* After every step: the oracles judge the objects of the step. */
void bz_judge_end_step(struct bz_judge *judge);

/* When nothing can run any more: the oracles judge what is left. Once a run. */
void bz_judge_end(struct bz_judge *judge);

/* Stops the run after this step, without a verdict (BZ_RUN_GIVEN_UP). */
void bz_judge_give_up(struct bz_judge *judge);

/* Ends the run after this step as the step limit does (BZ_RUN_OUT_OF_STEPS), because a check cannot
 * follow it any further: `why` is a sentence for people. Nothing of the rest is judged. */
void bz_judge_cut(struct bz_judge *judge, const char *why);

/* Why bz_judge_cut() ended the run; NULL: it did not. */
const char *bz_judge_cut_reason(const struct bz_judge *judge);

/* Ends the run, because `resource` ran out for `purpose` (BZ_RUN_NO_RESOURCE; see traces/lack.h for
 * both). It takes precedence over any other end, a violation included, and what the run has done
 * since is void. Between the first event of a run and the next run. */
void bz_judge_lacks(struct bz_judge *judge, const char *resource, const char *purpose);

/* Replaces the verdict of a finished run, for an oracle that compares several runs. */
void bz_judge_overrule(struct bz_judge *judge, const char *oracle, const char *format, ...)
    __attribute__((__format__(__printf__, 3, 4)));

/* The code under test has ended the process that made the run: it crashed, hung or exited there.
 * The judge's memory is shared with child processes, so the run may be in a child of the process
 * that created the judge, which calls this afterwards. Ends the run, with a violation of `oracle`
 * at its last step; `how` begins the message: "SIGSEGV". `oracle` NULL: a resource ran out, as
 * the sentence `how` says (BZ_RUN_NO_RESOURCE). Both NULL: it was stopped (BZ_RUN_GIVEN_UP). */
void bz_judge_died(struct bz_judge *judge, const char *oracle, const char *how);

/* --- results ---------------------------------------------------------------------------------- */

enum bz_run_end {
    BZ_RUN_PASSED = 0,
    BZ_RUN_VIOLATED = 1,
    BZ_RUN_OUT_OF_STEPS = 2, /* cut short by the step limit; nothing was proved */
    BZ_RUN_GIVEN_UP = 3,     /* without a verdict */
    BZ_RUN_BAD_SOURCE = 4,   /* without a verdict: see bz_judge_error() */
    BZ_RUN_NO_RESOURCE = 5,  /* the same */
};

enum bz_run_end bz_judge_verdict(const struct bz_judge *judge);

/* The rule that the source broke, or the resource that ran out, as a message; NULL: none. */
const char *bz_judge_error(const struct bz_judge *judge);

#define BZ_MESSAGE_BYTES 512u

struct bz_violation {
    const char *oracle; /* NULL: none */
    uint64_t also;      /* other oracles that objected in the same step, as bits by index */
    uint32_t step;
    uint32_t task;
    uint32_t object;
    enum bz_op op;         /* that the task was in; BZ_OP_NONE for the loop */
    enum bz_window window; /* in which a cancel would have struck it; likewise */
    uint64_t time_ns;
    char message[BZ_MESSAGE_BYTES];
};

/* Sums over runs: sizes, and where cancels struck. */
struct bz_run_stats {
    uint64_t runs;
    uint64_t steps;
    uint64_t injected;                              /* cancels by the judge */
    uint64_t windows[BZ_OP_COUNT][BZ_WINDOW_COUNT]; /* all cancels */
};

/* The situation that a cancel strikes: operation, window, whether the object has a free permit (an
 * item, a slot), and how many tasks are inside its operation: none, one, or more that wait; the
 * same for those that were woken and have not resumed; none, or some that were cancelled and have
 * not resumed. The victim counts. Fewer than BZ_SITUATIONS numbers. */
#define BZ_SITUATIONS 32768u

/* Those of the last run's cancels that were accepted, in order: the first BZ_STRIKES_MAX. Returns
 * how many. */
#define BZ_STRIKES_MAX 6u
uint32_t bz_judge_strikes(const struct bz_judge *judge, const uint16_t **situations);

const struct bz_violation *bz_judge_violation(const struct bz_judge *judge);
uint64_t bz_judge_digest(const struct bz_judge *judge);
uint64_t bz_judge_seed(const struct bz_judge *judge);
uint32_t bz_judge_steps(const struct bz_judge *judge);  /* number of the last step */
uint64_t bz_judge_lag_ns(const struct bz_judge *judge); /* how far the clock has jumped, in sum */
struct bz_run_stats *bz_judge_stats(struct bz_judge *judge);

/* The running task, 0 between tasks; the number of tasks that have not ended, without helpers. */
uint32_t bz_judge_running(const struct bz_judge *judge);
uint32_t bz_judge_unfinished(const struct bz_judge *judge);

/* A fingerprint of the hand-off order (shadow.h). O(objects). */
uint64_t bz_judge_handoffs(const struct bz_judge *judge);

/* True if an operation has waited in this run: something else happened between its call and its
 * return. True in a run without objects, where nothing tells. O(objects). */
bool bz_judge_has_waited(const struct bz_judge *judge);

/* False: the run offered no choice, and allowed no cancel. So every seed makes this run. */
bool bz_judge_has_choice(const struct bz_judge *judge);

/* A task's name, "loop" for 0, cut to fit; returns `buffer`. An object's name; NULL for 0. */
const char *bz_judge_task_name(const struct bz_judge *judge, uint32_t task, char *buffer,
                               size_t size_bytes);
const char *bz_judge_object_name(const struct bz_judge *judge, uint32_t object);

/* The reaction of a process whose code may write anywhere when a source breaks a rule, with the
 * rule in words; it must not return. NULL: the run ends with BZ_RUN_BAD_SOURCE. */
extern void (*bz_judge_on_refusal)(const char *rule);

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

/* Makes one run, from the set-up to bz_judge_end(). Nothing of the run before is left. */
enum bz_run_end bz_judge_run(struct bz_judge *judge, const struct bz_source *source,
                             const struct bz_run_start *start);

/* In a source, which then returns without bz_judge_end(): what ended the run may have come from
 * outside, so it counts for nothing, and bz_judge_run() makes it again. False: it is the second
 * time, and the code under test is to blame. */
bool bz_judge_void(struct bz_judge *judge);

/* A value other than 0 in `*stop` stops a run, as bz_judge_give_up() does. It is read every 65,536
 * steps, and a signal handler may set it. NULL: none. */
void bz_judge_watch_stop(struct bz_judge *judge, const volatile sig_atomic_t *stop);

/* Between two runs: another profile, which the judge copies (NULL: it has none), and
 * another starvation bound. */
void bz_judge_adapt(struct bz_judge *judge, const struct bz_profile *profile,
                    uint32_t starvation_bound);

/* Measures how long runs of the source tend to be, in a few runs, the same for every seed. The
 * judge keeps a copy. bz_judge_run() does this before the first run if the strategy needs a profile
 * and there is none. Without memory (BZ_RUN_NO_RESOURCE) there is no profile: its `steps` are 0. */
void bz_judge_measure(struct bz_judge *judge, const struct bz_source *source,
                      struct bz_profile *profile);

/* The profile that a child process has measured with a shared judge. If it died while it did
 * so, bz_judge_died() comes first; then these are the runs so far, and the last one. */
void bz_judge_measured(struct bz_judge *judge, struct bz_profile *profile);

BZ_END_DECLS

#endif
