/* Containment: code that was not built in runs in child processes. It may crash, hang, exit or eat
 * memory there; the judge, whose memory is shared, outlives it and gives the verdict.
 *
 *     bz_child_start(&child, &contain, judge, run, context)     forks; the child calls run(context)
 *     while (bz_child_look(&child, &death) == BZ_CHILD_RUNS)    never blocks
 *         bz_child_wait()                                       at most BZ_CHILD_LOOK_MS
 *
 * Writes of the child outside of shared memory are lost. In the child, standard output
 * goes to standard error, so that a report on standard output stays whole.
 *
 * A hang is a step in which the child takes `step_ns` of CPU time, or sleeps for `sleep_ns`. CPU
 * time, so a busy machine accuses no code; and a time in which the parent was also stopped
 * (Ctrl-Z), or in which no task reads standard error (a pager), is no sleep. Between steps (in a
 * set-up, a view, a callback) every event is progress.
 *
 * Inherited settings decide no verdict: a child blocks and ignores no signal. Those from
 * outside are for the parent: a child takes no notice of SIGINT, SIGTERM and SIGHUP that it has not
 * raised itself, nor of a SIGPIPE of the system. SIGKILL and SIGXCPU cannot be told apart from
 * those of the code under test: the system sends them when memory or CPU time runs out. See
 * `is_killed`.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/native/world.h"
#include "traces/lack.h"

#define BZ_CHILD_LOOK_MS 50
#define BZ_CHILD_STEP_NS_DEFAULT UINT64_C(1000000000)
#define BZ_CHILD_SLEEP_NS_DEFAULT UINT64_C(10000000000)
#define BZ_CHILD_MEMORY_BYTES_DEFAULT (UINT64_C(1536) << 20) /* the loop's memory fits */

/* The limits of a child. */
struct bz_contain {
    bool is_on;
    bool is_program_foreign;           /* a rule of the judge that is broken is the program's error,
                                          and not that of the variant: no verdict */
    uint64_t step_ns;                  /* CPU time of one step; 0: the default */
    uint64_t sleep_ns;                 /* time without CPU time in one step; 0: the default */
    uint64_t memory_bytes;             /* resident, beyond its parent's; 0: the default */
    bool is_impatient;                 /* a tenth of `sleep_ns` is enough: for variations of a run
                                          that has hung, if a patient run confirms what they find */
    bool is_quiet;                     /* what it prints goes nowhere: the run is a repetition */
    const volatile sig_atomic_t *stop; /* not 0 stops bz_contain_call(); NULL: nothing does */
};

enum bz_child_state {
    BZ_CHILD_RUNS = 0,
    BZ_CHILD_DONE = 1,  /* its function has returned */
    BZ_CHILD_DIED = 2,  /* it ended in any other way, or was stopped */
    BZ_CHILD_LACKS = 3, /* it ended because a resource ran out: no verdict */
};

/* How a child died, for bz_judge_died(). */
struct bz_death {
    const char *oracle; /* crash, stack-overflow, hang, memory, exit; NULL: a resource ran out */
    char how[BZ_LACK_BYTES]; /* or which one */
    bool is_killed;          /* SIGKILL or SIGXCPU: only if it happens again in the same run is the
                                code to blame */
};

/* Of code that has written over what children share with their parent. */
extern const struct bz_death bz_death_overwritten;

/* The message if a kill does not happen again. */
#define BZ_KILLED_TEXT                                                                             \
    "a process of the simulation was killed from outside (SIGKILL or SIGXCPU); if the system ran " \
    "out of memory, use fewer --jobs"

struct bz_child_page;
struct bz_judge_before;

struct bz_child {
    pid_t pid; /* 0: none */
    int fd;    /* readable, or closed at its other end, when there is something to look at */
    struct bz_contain contain;
    struct bz_child_page *page; /* shared */
    struct bz_judge *judge;
    struct bz_judge_before *before; /* of the judge, before the child could write over it */
    uint64_t memory_before_bytes;   /* of the parent: the child begins with the same pages */
    const uint64_t *counter; /* of progress, where there is no judge, or one that goes back and
                                forth in a search; NULL. Set right after the start */
    /* The last look that saw progress. */
    uint64_t progress;
    uint64_t cpu_ns;
    uint64_t wall_ns;
    uint64_t looked_ns;     /* when it was last watched */
    const char *killed_for; /* an oracle: it was stopped */
    bool has_slept;         /* it hung without taking CPU time */
    bool is_traced;         /* it let itself be traced, and was stopped */
    bool may_sleep;         /* it has nothing to do; the parent sets it before each look */
};

/* Memory that children share, zeroed; NULL without memory. */
void *bz_shared_alloc(size_t bytes);
void bz_shared_free(void *block, size_t bytes);

/* True if children that start from now on have it at all. A new block: they do. */
void bz_shared_inherit(void *block, size_t bytes, bool is_inherited);

/* Starts a child. The judge of `world` is watched for progress; NULL: the whole call is one step,
 * unless the child gets a counter. False without a process, memory or file descriptor. */
bool bz_child_start(struct bz_child *child, const struct bz_contain *contain,
                    const struct bz_world *world, void (*run)(void *context), void *context);

/* True if this process is a child, which signals from outside do not reach. */
bool bz_child_is_this(void);

/* In a child that waits for another one: sleeps for a millisecond. */
void bz_child_rest(void);

/* In the child: wakes the process that waits for it. */
void bz_child_tell(void);

/* In the child: ends it, because the code under test has written over memory of the simulation. */
_Noreturn void bz_child_is_overwritten(void);

/* In the child: ends it with the finding `crash`, because the code under test gives up, as the text
 * says: a panic in Rust. In another process it aborts. */
_Noreturn void bz_child_panic(const char *text);

/* In the child: where the code under test is, as FILE:LINE, for the message about its end. */
#define BZ_CHILD_PLACE_BYTES 160u
void bz_child_note_place(const char *place);

/* In the child: what a signal handler calls before the child is stopped, because it hangs or takes
 * too much memory. bz_child_note_place() may follow within BZ_CHILD_ASK_MS. If it has not followed
 * in half of that, a child that sleeps is asked again. Elsewhere than in a child it does nothing.
 */
#define BZ_CHILD_ASK_MS 300
void bz_child_on_ask(void (*ask)(void));

/* True if it has ended; fills `death` if it died or lacked something. Stops a child that hangs or
 * takes too much memory. After anything but BZ_CHILD_RUNS the child is gone and may be started
 * again. */
enum bz_child_state bz_child_look(struct bz_child *child, struct bz_death *death);

/* Waits until a child of the list has something to tell, a signal comes, or it is time to look. */
void bz_child_wait(struct bz_child *const *children, size_t count);

/* Stops it, if there is one. */
void bz_child_kill(struct bz_child *child);

/* Calls run(context) in a child and waits for it. BZ_CHILD_LACKS also if there is no process for
 * one, BZ_CHILD_RUNS if it was stopped. */
enum bz_child_state bz_contain_call(const struct bz_contain *contain, const struct bz_world *world,
                                    void (*run)(void *context), void *context,
                                    struct bz_death *death);
