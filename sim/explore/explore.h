/* Exhaustive search: every schedule of a program, and every placement of its cancels.
 *
 * A campaign samples schedules; this enumerates them, and can end in a proof. A transition is one
 * step, with every choice made before and in it: a cancel and its victim, a clock jump, the next
 * ready handle, draws. The search tries the transitions of a state one after another, from a
 * snapshot of it (sim/native/snapshot.h), and does not search a state again that it has visited.
 *
 * Round r has every schedule with at most r deviations, which are delays, injected cancels, and
 * draws of another value than the first: so the first violation found is a simplest one. A delay is
 * an older ready handle that is passed over (Emmi, Qadeer, Rakamaric, "Delay-Bounded Scheduling",
 * POPL 2011), or a clock jump while handles are ready. A sweep of every schedule within the bound
 * on delays follows three rounds; if it finds a violation, more rounds look for a simplest one. A
 * sweep that takes long is put off until one more round has ended, and then begins again.
 * sim/README.md says how a search works and why the reductions lose no violation.
 *
 * Starvation and livelock are judged in the rounds, and in a sweep of order `fifo` or of bounded
 * delays. A sweep of order `any` does not count how often a task is overtaken, because an unfair
 * order alone can starve it. In a round, a livelock is a loop of default choices without progress,
 * and without a draw or a pending timer. All other oracles judge everywhere. A complete search
 * judges schedules that never end, by fair cycles of states: see enum bz_liveness and cycles.h.
 *
 * A snapshot has the state that lies in the world's memory. A variant that keeps some elsewhere (in
 * malloc's memory, in a static variable) is noticed by visiting paths a second time, from the
 * set-up on; the search then begins again without snapshots. A contained program is searched in a
 * child process (sim/contain/contain.h), and more of its paths are visited. If the same choices
 * lead to two different runs even so, that is the finding (`nondeterminism`).
 *
 * A scenario of another runtime (struct bz_runtime) makes whole runs: each is a transition, made
 * from the set-up on, without snapshots, states and sweeps. Its rounds end when the bounds on
 * delays and cancels leave nothing more, and the search is complete within these.
 *
 * Limits, each named in the result when it is hit: states_max, memory_max_bytes, and
 * BZ_EXPLORE_TRANSITIONS_PER_STATE times as many transitions; draws of more than
 * BZ_EXPLORE_DRAWS_MAX values, of which three are tried; the step limit of the program. A result
 * under a limit is no proof.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/campaign/campaign.h"
#include "sim/judge/record.h"
#include "sim/program/program.h"

#define BZ_EXPLORE_UNBOUNDED UINT32_MAX
#define BZ_EXPLORE_DRAWS_MAX 16u
#define BZ_EXPLORE_FINDINGS_MAX 16u
#define BZ_EXPLORE_STATES_MAX_DEFAULT UINT64_C(50000000)
#define BZ_EXPLORE_TRANSITIONS_PER_STATE 100u

/* Reductions, as bits. Without snapshots, every transition runs its prefix again, and the others
 * are off, too: the result is the same, much later. */
#define BZ_REDUCE_SNAPSHOTS 1u /* see bz_image_is_supported() */
#define BZ_REDUCE_STATES 2u    /* a state that was visited is not searched again */
#define BZ_REDUCE_QUEUE 4u     /* sweep under `any`: the ready queue is compared as a set */
/* Sweep under `any`: states are compared up to a permutation of the tasks that the scenario calls
 * interchangeable; needs `queue`. */
#define BZ_REDUCE_SYMMETRY 8u
/* Sweep under `any`: one yield stands for more in a row, in a program that arms no timer. */
#define BZ_REDUCE_YIELDS 16u
#define BZ_REDUCE_ALL 31u
#define BZ_REDUCE_COUNT 5u
/* Not to be chosen, and beside `states` always: states that differ in the lag that is left are one,
 * because no clock jump was refused. After the first refusal the search begins again without. */
#define BZ_REDUCE_LAG 32u

/* "snapshots", "states", "queue", "symmetry", "yields", by number of the bit; NULL for none. */
const char *bz_reduction_name(unsigned index);

enum bz_explore_end {
    BZ_EXPLORE_DONE = 0,           /* everything within the bounds was searched */
    BZ_EXPLORE_FOUND = 1,          /* stopped at a violation */
    BZ_EXPLORE_INTERRUPTED = 2,    /* by `stop` or `poll` */
    BZ_EXPLORE_STATES_MAX = 3,     /* the limit on states */
    BZ_EXPLORE_NONDETERMINISM = 4, /* the same choices led to two runs: the only finding says so */
    BZ_EXPLORE_NO_RESOURCE = 5,    /* memory ran out */
    BZ_EXPLORE_MEMORY_MAX = 6,     /* the limit on memory */
    BZ_EXPLORE_LOST = 7,           /* config->from has no use here: `lack` says why */
};

/* Of a schedule from the default one. */
struct bz_deviations {
    uint32_t delays;
    uint32_t cancels; /* injected */
    uint32_t draws;   /* of another value than the first */
};

static inline uint32_t bz_deviations_sum(const struct bz_deviations *deviations) {
    return deviations->delays + deviations->cancels + deviations->draws;
}

struct bz_explore_finding {
    struct bz_violation violation;
    struct bz_answers answers; /* repeat it, with the strategy `answers` */
    bool has_answers;          /* false: they would be too many */
    struct bz_deviations deviations;
};

/* The result of a complete search for schedules that never end (liveness.c). */
enum bz_liveness {
    BZ_LIVENESS_UNJUDGED = 0, /* nothing: starvation and livelock were judged in the rounds only */
    BZ_LIVENESS_ENDS = 1,     /* there are none, not even unfair ones */
    BZ_LIVENESS_FAIR = 2,     /* in those that are fair, there is progress again and again, and
                                 nobody is overtaken without end */
    BZ_LIVENESS_OPEN = 3,     /* in some that is fair, this is not so; but no ordinary run shows it,
                                 because other orders lead out of it: no verdict */
};

/* "unjudged", "ends", "fair", "open". */
const char *bz_liveness_name(enum bz_liveness liveness);

struct bz_explore_result {
    enum bz_explore_end end;
    uint32_t reductions;      /* those in force in the last search */
    bool is_minimal;          /* the first finding is a simplest one */
    uint32_t rounds;          /* finished: 0 to rounds - 1 */
    bool is_sweep_done;       /* everything within the bound on delays was searched at once */
    bool is_all;              /* everything within the bound on delays was searched */
    bool is_whole;            /* and that bound left out no schedule */
    const char *sampled_draw; /* label of a draw with too many values; NULL: none */
    bool is_out_of_steps;     /* some schedule hit the program's step limit */
    bool has_cycles;          /* some state can recur: there are infinitely many schedules */
    bool has_waited;          /* in some schedule an operation waited: bz_judge_has_waited() */
    bool has_outside_state; /* the variant keeps state that snapshots do not have: none was used */
    uint32_t unsound;       /* reductions that the program has turned out not to allow */
    /* Of the sweep, or else of the last round. */
    uint64_t states;            /* distinct */
    uint64_t transitions;       /* tried */
    uint64_t schedules;         /* complete; saturating */
    uint64_t outcomes;          /* distinct: how each task ended, what became of each object; those
                                   that differ in the order of interchangeable tasks count once. 0:
                                   of whole runs, which another runtime makes */
    uint32_t depth;             /* steps of the longest schedule */
    uint64_t transitions_total; /* of all rounds and the sweep */
    uint64_t outcomes_digest;   /* of the set of outcomes */
    enum bz_liveness liveness;
    char liveness_text[BZ_MESSAGE_BYTES]; /* UNJUDGED: why, or empty if the search is not complete;
                                             OPEN: what can run for ever */
    char liveness_token[BZ_TOKEN_BYTES];  /* OPEN: of a run that comes there; or empty */
    uint64_t violations_digest;           /* of the set of (oracle, object) in the findings */
    char lack[BZ_LACK_BYTES];             /* BZ_EXPLORE_NO_RESOURCE: what ran out */
    bool can_go_on; /* what config->keep() has written last continues from here */
    uint32_t finding_count;
    uint32_t told; /* the places of those that on_finding() was called for, as bits */
    struct bz_explore_finding findings[BZ_EXPLORE_FINDINGS_MAX]; /* each fails in a way of its own:
                                                                    see sim/judge/failure.h */
};

struct bz_explore_progress {
    bool is_sweep;
    uint32_t round;
    uint64_t states;
    uint64_t transitions;
};

struct bz_search;
struct bz_explore_checkpoint;

struct bz_explore_config {
    const struct bz_program *program; /* its cancels_max and cancel_windows bound the cancels */
    uint32_t delays_max;              /* or BZ_EXPLORE_UNBOUNDED */
    uint32_t reductions;              /* wanted; those that do not apply are left out */
    uint32_t rounds_before_sweep;     /* the first; 0: BZ_EXPLORE_ROUNDS_DEFAULT */
    bool keep_going;                  /* after a violation */
    uint64_t states_max;              /* 0: BZ_EXPLORE_STATES_MAX_DEFAULT */
    uint64_t memory_max_bytes;        /* of the table of states; 0: no limit */
    const volatile sig_atomic_t *stop;
    bool (*poll)(void *context, const struct bz_explore_progress *progress); /* false: stop */
    /* After every round and the sweep, with its counts. NULL: not called. */
    void (*on_round)(void *context, const struct bz_explore_result *so_far, bool is_sweep);
    /* When the search begins again without snapshots. NULL: not called. */
    void (*on_outside_state)(void *context);
    /* For each finding, at once, with its place in result->findings: the rounds after a sweep begin
     * again with the first. Of a contained program: if an ordinary run repeats it; else when the
     * search has ended. NULL: not called. */
    void (*on_finding)(void *context, uint32_t place, const struct bz_explore_finding *finding);
    /* Called when the search has stopped before its end, by `stop`, `poll`, is_due() or a limit:
     * bz_explore_checkpoint_write() writes what it has so far. NULL: nothing is kept. */
    void (*keep)(void *context, const struct bz_search *search);
    bool (*is_due)(void *context);      /* stop for keep(), and continue at once. NULL: never */
    struct bz_explore_checkpoint *from; /* an open one; NULL: from the beginning */
    /* When the present round or sweep begins again, because it cannot continue from its place.
     * Earlier rounds and what was found stay. NULL: not called. */
    void (*on_begun_again)(void *context, const char *why, bool is_sweep);
    void *context;
};

#define BZ_EXPLORE_ROUNDS_DEFAULT 3u

/* False if memory runs out (BZ_EXPLORE_NO_RESOURCE). The result says how far the search came. */
bool bz_explore(const struct bz_explore_config *config, struct bz_explore_result *result);

/* True if the search is a proof: everything within the configured bounds was searched. */
bool bz_explore_is_complete(const struct bz_explore_result *result);

/* Repeats a finding as an ordinary run: `repeat` becomes the program with the finding's answers,
 * and `found` what the run led to. False if the finding has no answers, or if the run does not
 * violate the same oracle, which is a fault of the harness. False without memory, too: then the
 * violation in `found` has no oracle and a message that says what ran out. */
bool bz_explore_repeat(const struct bz_program *program, const struct bz_explore_finding *finding,
                       struct bz_program *repeat, struct bz_finding *found);
