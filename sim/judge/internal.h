/* Shared by the files of sim/judge; sim/native and sim/explore use it on the path of a step. Not
 * installed. */
#pragma once

#include "primitives/runtime/check.h"
#include "primitives/runtime/mem.h"
#include "sim/choice/tape.h"
#include "sim/judge/judge.h"
#include "sim/judge/shadow/shadow.h"

#define BZ_STEPS_BETWEEN_LOOKS 65536u /* at the stop flag */

/* The address space of a judge, without its shadow state: for the tape of a run and its
 * recorded events. A tape of 3 * 10^7 choices fits. */
#if SIZE_MAX > UINT32_MAX
#define BZ_RECORD_BYTES ((size_t)1 << 32)
#define BZ_RECORD_TEXT "4 GiB"
#else
#define BZ_RECORD_BYTES ((size_t)1 << 26)
#define BZ_RECORD_TEXT "64 MiB"
#endif

/* Both arenas of a judge lie in one range, which child processes share: that of the shadow, then
 * that of the record, whose first block is the judge. So their places follow from that of the
 * judge, whatever code under test has written there. */
#define BZ_SHADOW_BYTES BZ_MEM_LIMIT_BYTES_DEFAULT
#define BZ_JUDGE_PAGE_BYTES ((uintptr_t)4096)

/* An Enqueue that the executable specification does not allow (sim/spec/guards.h). */
struct bz_refusal {
    struct bz_spec_counts counts; /* the state before it */
    uint32_t task;
    uint32_t object;
    uint8_t guards; /* those that fail; 0: nothing was refused */
};

/* A task was notified, then cancelled, and has left the wait of a condition: a wake-up is due from
 * it. It is judged at the end of the step, because the program may pass the notification on itself.
 * It may also do so in a later step: while the lock is held, or while the task waits for the lock
 * again. That is granted only to a source whose states are not compared: no state has the debt. */
struct bz_debt {
    uint32_t task; /* 0: none */
    uint32_t object;
    uint32_t lock;
    uint32_t wakes; /* of the object, once the debt is paid */
    bool is_late;   /* it was notified when it had been cancelled, and had not left */
    enum bz_op op;  /* those of struct bz_violation, when the task left */
    enum bz_window window;
};

/* The steps after the step limit (overtime.c). */
struct bz_overtime {
    bool is_on;
    bool has_been;    /* in this run */
    bool is_livelock; /* the state repeats, without progress */
    bool has_mark;
    bool is_closed; /* a state came twice */
    bool may_jump;  /* a timer was pending since the mark */
    bool will_jump; /* at the next chance */
    bool progresses;
    bool was_helped; /* the code under test has had something under way */
    bool in_vain;    /* it is one because tasks poll, and one could go on */
    uint32_t turns_left;
    uint32_t steps_left;
    uint32_t turn_left; /* steps until the next look at the state */
    uint32_t lap; /* Brent's search of a cycle: turns since the mark, and until the next one */
    uint32_t lap_end;
    uint64_t mark;  /* the state with which later ones are compared */
    uint64_t draws; /* up to its beginning */
    /* Of the run, at the limit. */
    uint32_t step;
    uint32_t progress_step;
    uint64_t digest;
    uint64_t now_ns;
    uint64_t handoffs;
    const struct bz_strategy *strategy;
    struct bz_run_stats stats;
};

/* The sums over the runs that measure a profile, so far. */
struct bz_sums {
    struct bz_event_sink sink; /* first: it is found by it */
    uint64_t runs;
    uint64_t steps;
    uint64_t tasks;
    uint64_t points;
    uint64_t task_steps[BZ_PROFILE_TASKS_MAX];
    uint64_t cancellers;
    const struct bz_judge *judge;
    struct bz_sums *shown; /* the judge's; the code under test may write over them */
    /* Before them. */
    struct bz_judge_config config;
    struct bz_run_stats stats;
};

struct bz_judge {
    struct bz_shadow shadow;

    /* Of a run: it begins with 0 in all of these, from `call` to before `config`. */
    struct bz_event call; /* the call that is held back, see judge.c; kind 0: none */
    uint32_t loop_calls;  /* the object of a call by the loop that was noted; 0: none */
    uint8_t over;         /* enum bz_op: it has returned at once, and is being judged */
    uint64_t digest;
    uint64_t now_ns;
    uint32_t step;
    uint32_t progress_step; /* the last step in which an operation returned or a task ended */
    struct bz_event_sink *sink;
    const char *where;         /* of the next suspend */
    char said[BZ_SAID_BYTES];  /* of the next call or return */
    struct bz_refusal refused; /* the first of this step that holds, or the last */
    struct bz_debt debt;
    uint64_t seed;
    uint32_t cancel_gap; /* points that pass before the next cancel() */
    uint32_t cancels_left;
    uint32_t jump_gap;
    uint32_t clock_step; /* the last step before which the clock advanced */
    uint64_t lag_ns;     /* of all jumps so far */
    uint32_t point;      /* cancel points since step point_step - 1 */
    uint32_t point_step;
    uint32_t picked;  /* calls of bz_judge_pick() */
    uint32_t retimes; /* asked since step retimes_step - 1, less 1 */
    uint32_t retimes_step;
    uint32_t last_woken;    /* task; 0: none */
    uint32_t injected_step; /* the step of the last injected cancel; 0: none */
    bool has_spun;          /* a jump counted for no lag, because the program polls */
    bool is_lag_refused;    /* a jump did not come, because of lag_max_ns */
    bool is_setup_fixed;    /* no draw and no cancel since the run began */
    bool has_choice;        /* see bz_judge_has_choice() */
    bool strategy_reads;    /* the names of ready handles, in this run */
    bool is_stopped;
    bool is_ended; /* by bz_judge_end() */
    bool is_cut;   /* by bz_judge_cut() */
    enum bz_run_end end;
    uint32_t pause_at; /* the last step before bz_judge_goes_on(); 0 when the run has stopped */
    uint32_t strike_count;
    uint16_t strikes[BZ_STRIKES_MAX]; /* see bz_judge_strikes() */

    /* Of all runs. */
    struct bz_judge_config config;
    struct bz_violation violation; /* of the last run */
    struct bz_sums *sums; /* of the runs that measure a profile, until it is there; else NULL */
    bool measures_twice;  /* each of them: code in this process may write anywhere */
    bool is_void;         /* by bz_judge_void(): the run is made again, or has been */
    const struct bz_strategy *strategy; /* of this run */
    void *strategy_state;
    size_t strategy_bytes;
    struct bz_tape tape;
    uint32_t *draws; /* draws so far, by task */
    uint32_t draws_capacity;
    uint32_t candidates_capacity;
    struct bz_cancel_candidate *candidates;
    uint32_t last_candidate;   /* the number of a task, minus 1: see has_candidate() */
    struct bz_profile profile; /* what config.profile points to, once there is one */
    const volatile sig_atomic_t *stop;
    struct bz_run_stats stats;
    struct bz_overtime overtime;

    /* All of the judge but its shadow state lies here, this struct included. The mapping is shared
     * with child processes, so the judge outlives code that it judges there (bz_judge_died()). */
    struct bz_mem *mem;
    struct bz_event_log *log; /* NULL before the first recording */
};

/* From here on, polls are counted anew. */
__attribute__((noinline, cold)) void bz_judge_forget_polls(struct bz_judge *judge);

/* Yields do not count: in a search, they would tell states apart. */
static inline bool bz_judge_counts_poll(const struct bz_shadow_task *task) {
    return (task->wait == BZ_WAIT_SLEEP) & (task->op != BZ_OP_NONE) & !task->is_helper;
}

/* The run ends after this step. */
static inline void bz_judge_stop(struct bz_judge *judge, enum bz_run_end end) {
    judge->is_stopped = true;
    judge->pause_at = 0;
    judge->end = end;
}

/* Begins a run: bz_judge_run() without the source. The second begins only its choices, for a shadow
 * state that is restored from a copy. */
void bz_judge_begin(struct bz_judge *judge, const struct bz_run_start *start);
void bz_judge_begin_choices(struct bz_judge *judge, const struct bz_run_start *start);

/* Counts a run, which is the last one that began in this process; so is each transition of a
 * search, which begins somewhere in a run. */
void bz_judge_note_begun(struct bz_judge *judge);

/* For a search, which goes back and forth in runs: the cancels that are left, and whether it tries
 * orders that starve a task. The end, as after an overtime that found a livelock. */
void bz_judge_search(struct bz_judge *judge, uint32_t cancels_left, bool ignores_starvation);
void bz_judge_exhaust(struct bz_judge *judge);

/* --- after the step limit (overtime.c) -------------------------------------------------------- */
/* The run is over. To tell a livelock from a run that was cut short, the source continues for a
 * while in the default order: first in, first out, no cancel, every draw 0. Nothing is recorded. A
 * state that repeats, without progress and without a draw in between, is a livelock. If a timer was
 * pending, the clock jumps first. */

/* At the limit. False: there is no overtime. */
bool bz_overtime_begin(struct bz_judge *judge);

/* Before each such step. False: it is over. */
bool bz_overtime_goes_on(struct bz_judge *judge);

/* True if the clock jumps to the next timer. */
bool bz_overtime_jumps(struct bz_judge *judge);

/* The judge is again as it was at the limit. */
void bz_overtime_end(struct bz_judge *judge);

static inline char *bz_judge_range(const struct bz_judge *judge) {
    return (char *)((uintptr_t)judge & ~(BZ_JUDGE_PAGE_BYTES - 1)) - BZ_SHADOW_BYTES;
}

static inline struct bz_mem *bz_judge_shadow_mem(const struct bz_judge *judge) {
    return (struct bz_mem *)(void *)bz_judge_range(judge);
}

static inline struct bz_mem *bz_judge_mem(const struct bz_judge *judge) {
    return (struct bz_mem *)(void *)(bz_judge_range(judge) + BZ_SHADOW_BYTES);
}

/* bz_judge_destroy() and bz_judge_new() in one, in the same memory: of both arenas so much is
 * mapped as in a room at first (primitives/runtime/room.h). */
struct bz_judge *bz_judge_renew(struct bz_judge *judge, const struct bz_judge_config *config);

/* --- child processes (adopt.c) ---------------------------------------------------------------- */
/* Code under test in a child may write over the judge. The parent must not follow a pointer that it
 * has not seen followed:
 *
 *     before the fork               bz_judge_keep_before(judge, &before)
 *     in the child, after its work  bz_judge_can_be_read(judge)
 *     in the parent, if it can      bz_judge_adopt(judge, &before)
 *     if not, or nothing is known   bz_judge_give_back(judge, &before)
 */

struct bz_judge_before {
    struct bz_judge judge;
    struct bz_judge_config config; /* of runs that measure no profile */
    size_t mem_bytes;              /* in use */
    size_t shadow_mem_bytes;
};

void bz_judge_keep_before(const struct bz_judge *judge, struct bz_judge_before *before);

/* Reads all that others read of a judge whose run is over. False if it makes no sense; a process
 * that cannot read it at all dies. */
bool bz_judge_can_be_read(const struct bz_judge *judge);

/* True if children that start from now on have the judge at all. A new judge: they do. */
void bz_judge_inherit(struct bz_judge *judge, bool is_inherited);

/* In the child, between runs: whether all have had the settings of the judge, and their
 * sums make sense. `is_adapted`: each has its own profile (bz_judge_adapt()). */
bool bz_judge_is_unharmed(const struct bz_judge *judge, const struct bz_judge_before *before,
                          bool is_adapted);

/* After a child process has used the judge: it can be read, and used again. A sanitizer of this
 * process learns which of its memory is in use. False: it cannot, for its arrays make no sense. */
bool bz_judge_adopt(struct bz_judge *judge, const struct bz_judge_before *before);

/* The judge is as it was before, in a run without tasks, objects and events. */
void bz_judge_give_back(struct bz_judge *judge, const struct bz_judge_before *before);

/* True if the recorded events lie where they should. */
bool bz_judge_is_log_sound(const struct bz_judge *judge,
                           bool (*holds)(const struct bz_mem *mem, const void *array,
                                         uint64_t count, size_t item_bytes));

/* In a child process that is to run by itself: see bz_mem_make_private(). */
bool bz_judge_make_private(const struct bz_judge *judge);

/* --- the path of a step ----------------------------------------------------------------------- */

/* False: ask bz_judge_goes_on() whether the run continues. */
static inline bool bz_judge_may_step(const struct bz_judge *judge) {
    return judge->step < judge->pause_at;
}

/* The strategy's replacement for the handle that it chose; see strategy.h. */
static inline uint64_t bz_judge_instead(struct bz_judge *judge, const struct bz_ready *chosen) {
    const struct bz_strategy *strategy = judge->strategy;
    return strategy->instead == NULL
               ? 0
               : strategy->instead(judge->strategy_state, chosen, judge->step + 1);
}

/* Counts a point at which a cancel could strike; true: one is due. */
static inline bool bz_judge_cancel_is_due(struct bz_judge *judge) {
    if (judge->cancel_gap > 0) {
        judge->cancel_gap -= judge->cancel_gap != BZ_GAP_NEVER;
        return false;
    }
    return judge->cancels_left > 0;
}

/* How far the clock may still jump in this run. */
static inline uint64_t bz_judge_lag_left_ns(const struct bz_judge *judge) {
    uint64_t most_ns =
        judge->config.lag_max_ns == BZ_LAG_MAX_NONE_NS ? 0 : judge->config.lag_max_ns;
    return most_ns - judge->lag_ns;
}

/* True if a handle that was due then must have run by now: while one is ready, no more time passes
 * than the lag. */
static inline bool bz_judge_is_late(const struct bz_judge *judge, uint64_t due_ns) {
    return judge->now_ns > due_ns && judge->now_ns - due_ns > judge->lag_ns && !judge->has_spun &&
           !judge->overtime.is_on;
}

/* Injects one; see bz_judge_cancel(). */
uint32_t bz_judge_inject(struct bz_judge *judge);

/* Makes room on the tape for one more choice. Without memory, the run ends, and the last choice is
 * dropped. */
void bz_judge_grow_tape(struct bz_judge *judge);

/* The place of the next choice. */
static inline struct bz_choice *bz_judge_next_choice(struct bz_judge *judge) {
    if (__builtin_expect(judge->tape.count == judge->tape.capacity, 0)) {
        bz_judge_grow_tape(judge);
    }
    return &judge->tape.choices[judge->tape.count];
}

/* Begins a step, which runs the index-th ready handle, `chosen`. */
static inline __attribute__((always_inline)) void
bz_judge_begin_step(struct bz_judge *judge, uint32_t index, struct bz_ready chosen) {
    judge->step++;
    *bz_judge_next_choice(judge) = (struct bz_choice){.kind = BZ_CHOICE_NEXT,
                                                      .step = judge->step,
                                                      .owner = chosen.owner,
                                                      .nth = chosen.nth,
                                                      .role = chosen.role};
    judge->tape.count += index != 0; /* the default is overwritten by the next choice */
}

/* --- a step inside another one ------------------------------------------------------------------
 */
/* A task was woken in place: its step runs inside a call of another one, which has reported that it
 * suspends (BZ_WAIT_INSIDE), or of the loop (task 0). No choice comes before it. The objects may be
 * in the middle of that call: the oracles judge them when the outermost step has ended. */

struct bz_outer_step {
    struct bz_event call; /* of the loop: see loop_calls */
    uint32_t loop_calls;
};

void bz_judge_begin_inside(struct bz_judge *judge, struct bz_outer_step *outer, uint32_t task);
void bz_judge_end_inside(struct bz_judge *judge, const struct bz_outer_step *outer);

/* --- moments ---------------------------------------------------------------------------------- */

/* When the oracles are called. Each begins with the kinds that concern it. */
enum bz_moment_kind {
    BZ_MOMENT_CANCEL,    /* task resumes cancelled, or with an undelivered request, with `status`;
                            the shadow state is that before the event */
    BZ_MOMENT_SUSPENDS,  /* task's operation on object did not return at once */
    BZ_MOMENT_OVERTAKES, /* task was woken for object, and passed over `overtaking` */
    BZ_MOMENT_RETURN,    /* task's operation on object returned `status`; `is_at_once`; `overtaking`
                            if it passed over a waiter */
    BZ_MOMENT_STEP,      /* a step that named object has ended */
    BZ_MOMENT_STEP_END,  /* after BZ_MOMENT_STEP for all its objects */
    BZ_MOMENT_NOTIFIED, /* task told object to wake numbers[1] waiters, and numbers[0] were woken */
    BZ_MOMENT_OWES, /* task can no longer pay its struct bz_debt to condition object; numbers[0]:
                       the wakes that are due */
    BZ_MOMENT_RELOCKED, /* it has returned; numbers[0]: another task holds the lock, numbers[1]:
                           the lock's locked() */
    BZ_MOMENT_USED,     /* task used condition object and got `status`; numbers[0]: no task held
                           the lock */
    BZ_MOMENT_PASSED,   /* task passed `barrier` with index numbers[0]; numbers[1]: an abort or a
                           reset has failed its wait */
    BZ_MOMENT_ANSWERED, /* an operation without BZ_MOMENT_RETURN has returned `status`; numbers[0]:
                           what it may return, as bits; numbers[1]: enum bz_op */
    BZ_MOMENT_PUT_FAILED, /* the put of item numbers[0] into `queue` returned `status` */
    BZ_MOMENT_GET_FAILED, /* task's get from `queue` returned `status` */
    BZ_MOMENT_NO_EFFECT, /* a put or get failed, numbers[0]: enum bz_op; the ledger is up to date */
    BZ_MOMENT_GOT,       /* task got item numbers[0] from `queue`; the ledger is that before it */
    BZ_MOMENT_SIZED,     /* a put or get succeeded; the ledger is up to date */
    BZ_MOMENT_SAID_DONE, /* task's task_done on `queue` returned `status` */
    BZ_MOMENT_LEFT_OVER, /* at the end item numbers[0] of `queue` is missing */
    BZ_MOMENT_SCOPE,     /* task left a timeout scope as `scope` says */
    BZ_MOMENT_POOL,      /* no key of pool object is in use; it keeps numbers[0] locks */
    BZ_MOMENT_END,       /* nothing can run any more, or the step limit was hit */
};

/* How a task left a timeout scope. */
struct bz_scope_exit {
    enum bz_status body;   /* of the body */
    enum bz_status status; /* that the exit returned */
    uint32_t requests;     /* to the task since entry, less those that inner scopes took back */
    uint32_t due;          /* the count of requests if the scope took nothing back */
    uint32_t count;        /* the task's count */
    bool is_early;         /* the deadline has not come */
    bool is_late;          /* it came, and was not moved; the timer must have fired */
    bool was_pending;      /* a request was undelivered at entry */
    bool is_pending;       /* one is still undelivered */
};

struct bz_moment {
    enum bz_moment_kind kind;
    uint32_t task;
    uint32_t object;
    enum bz_status status;
    bool is_at_once;
    uint64_t numbers[2];
    const struct bz_overtaking *overtaking; /* NULL: no waiter was passed over */
    const struct bz_judged_barrier *barrier;
    const struct bz_judged_queue *queue;
    const struct bz_scope_exit *scope;
};

/* Calls all oracles, in order. */
void bz_judge_moment(struct bz_judge *judge, struct bz_moment moment);

/* The bit of an oracle in violation.also; 0: the table has no such oracle. */
uint64_t bz_oracle_bit(const char *oracle);

/* --- for the files of this folder ------------------------------------------------------------- */

/* Report choices as events. */
void bz_judge_note_draw(struct bz_judge *judge, enum bz_choice_kind kind, uint64_t value);
void bz_judge_note_inject(struct bz_judge *judge, uint32_t task);

/* Reports the call that is held back, if there is one. */
void bz_judge_settle(struct bz_judge *judge);

/* bz_judge_event() for a source that keeps the rules: unchecked, and inlined into its caller.
 */
void bz_judge_report(struct bz_judge *judge, enum bz_event_kind kind, uint32_t task,
                     enum bz_status status, uint32_t arg);

/* False: no source that keeps the rules reports this event now. */
bool bz_judge_may_happen(const struct bz_judge *judge, enum bz_event_kind kind, uint32_t id,
                         enum bz_status status, uint32_t arg);

/* Before and after an operation that may wait; right before one that never does (false: it was
 * refused). */
void bz_judge_call_begin(struct bz_judge *judge, uint32_t object, enum bz_op op);
void bz_judge_call_end(struct bz_judge *judge, uint32_t object, enum bz_op op,
                       enum bz_status status);
bool bz_judge_does(struct bz_judge *judge, uint32_t object, enum bz_op op, uint32_t arg);

/* An operation that reports no return has returned `status`; `allowed`: the statuses that it may
 * return, as bits. BZ_NO_MEMORY is excused by the oracle. */
void bz_judge_answers(struct bz_judge *judge, uint32_t object, enum bz_op op, enum bz_status status,
                      uint32_t allowed);

/* Of the running task, at the call of a wait that has no line. After its return: BZ_CANCELLED as a
 * bit, if a cancel was requested. */
static inline struct bz_judged_join bz_judge_requests(const struct bz_judge *judge) {
    const struct bz_shadow_task *task = &judge->shadow.tasks[judge->shadow.running];
    return (struct bz_judged_join){.cancels = task->cancels, .was_pending = task->cancel_pending};
}

static inline uint32_t bz_judge_excuse_cancel(const struct bz_judge *judge,
                                              struct bz_judged_join join) {
    bool is_asked =
        join.was_pending || judge->shadow.tasks[judge->shadow.running].cancels != join.cancels;
    return is_asked ? 1u << BZ_CANCELLED : 0;
}

/* Added to the permits of a pool of resources that is closed: it can answer everyone. */
#define BZ_PERMITS_CLOSED (UINT64_C(1) << 40)

/* bz_judge_call_end() of an operation that may also return `excused`. */
void bz_judge_call_end_or(struct bz_judge *judge, uint32_t object, enum bz_op op,
                          enum bz_status status, uint32_t excused);

/* The source breaks a rule: the run ends with this message, unless it has ended already. The second
 * one is about the "call" or "return" of an operation. */
__attribute__((cold, format(printf, 2, 3))) void bz_judge_refuse(struct bz_judge *judge,
                                                                 const char *format, ...);
__attribute__((cold)) void bz_judge_refuse_call(struct bz_judge *judge, const char *what,
                                                enum bz_op op, uint32_t object, unsigned status);

/* True if the object exists; refuses the source if not. */
bool bz_judge_knows(struct bz_judge *judge, uint32_t object);

/* As bz_shadow_add_object(), but refuses an object without a name. `look` NULL: not shown. */
uint32_t bz_judge_add_object(struct bz_judge *judge, const struct bz_introspection *look,
                             struct bz_shadow_object object);

/* An object's name in a message, as a trace has it: "key#2" if an earlier object is also 'key'. ""
 * for 0. O(objects). */
#define BZ_LABEL_NAME_MAX 128u
struct bz_label {
    char text[BZ_LABEL_NAME_MAX + 16];
};
struct bz_label bz_judge_label(const struct bz_judge *judge, uint32_t object);

static inline struct bz_shadow_object *bz_judge_shadow_object(const struct bz_judge *judge,
                                                              uint32_t number) {
    return &judge->shadow.objects[number];
}
