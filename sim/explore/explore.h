/* Exhaustive search: every schedule of a program, and every placement of its cancels.
 *
 * A campaign samples schedules; this enumerates them, and can end in a proof. A transition is one
 * step together with all that is chosen before and in it: whether a cancel strikes, and whom;
 * whether the clock jumps; which ready handle runs; what is drawn. Transitions are tried one after
 * the other from a snapshot (sim/native/snapshot.h), so that no prefix is ever run twice, and a
 * state that the search has been at before is not searched again.
 *
 * Rounds. Round r has every schedule in which delays and injected cancels together are at most r:
 * so the first violation found is one of the simplest there are. A delay is an older ready handle
 * that is passed over (Emmi, Qadeer, Rakamaric: Delay-bounded scheduling, POPL 2011), or a clock
 * that jumps though handles are ready. Draws cost nothing: every value is tried. If no bound on the
 * delays was asked for, the rounds are followed by a sweep, which has every schedule whatever its
 * delays; if the sweep finds something, rounds go on until one finds the simplest.
 *
 * Liveness. Starvation means something where the order is fair, and a livelock is a loop of default
 * steps: both are judged in the rounds, and in the sweep of a FIFO loop, not in a sweep of every
 * order, where an unfair order makes anybody wait. All other oracles judge everywhere.
 *
 * What is not searched twice (a reduction), and why that is sound:
 *   states   the same bytes, the same future: a snapshot is canonical, and compared by a 128-bit
 *            fingerprint
 *   queue    sweep under `any`: the order of the ready queue decides nothing, because every handle
 *            may go next; so it is compared as a set
 *   sleep    sweep under `any`: sleep sets (Godefroid, 1996). Of two transitions that touch nothing
 *            in common, one order is enough. What a step touched is known exactly, from its events;
 *            it holds for scenarios whose tasks share nothing else (bz_scenario.is_isolated). Left
 *            out where there is only one object: nearly every step touches it, and keeping track
 *            costs more than it saves
 *
 * Where snapshots do not work (see bz_image_is_supported()), and when they are not wanted, every
 * transition runs its prefix again, and no state is recognized: the same result, much later.
 *
 * Limits, each named when it is hit: states (states_max, and BZ_EXPLORE_TRANSITIONS_PER_STATE times
 * as many transitions), draws of more than BZ_EXPLORE_DRAWS_MAX values (three of them are tried,
 * and the result is no proof), the step limit of the program.
 */
#ifndef BZ_SIM_EXPLORE_EXPLORE_H
#define BZ_SIM_EXPLORE_EXPLORE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/run/campaign.h"
#include "sim/run/program.h"

#define BZ_EXPLORE_UNBOUNDED UINT32_MAX
#define BZ_EXPLORE_DRAWS_MAX 16u
#define BZ_EXPLORE_FINDINGS_MAX 16u
#define BZ_EXPLORE_STATES_MAX_DEFAULT UINT64_C(50000000)
#define BZ_EXPLORE_TRANSITIONS_PER_STATE 100u

/* Reductions, as bits. */
#define BZ_REDUCE_SNAPSHOTS 1u /* go back by snapshots; without, none of the others works */
#define BZ_REDUCE_STATES 2u
#define BZ_REDUCE_QUEUE 4u
#define BZ_REDUCE_SLEEP 8u
#define BZ_REDUCE_ALL 15u
#define BZ_REDUCE_COUNT 4u

/* "snapshots", "states", "queue", "sleep", by number of the bit; NULL for none. */
const char *bz_reduction_name(unsigned index);

enum bz_explore_end {
    BZ_EXPLORE_DONE = 0,        /* all there is within the bounds */
    BZ_EXPLORE_FOUND = 1,       /* stopped at a violation */
    BZ_EXPLORE_INTERRUPTED = 2, /* by `stop` or `poll` */
    BZ_EXPLORE_STATES_MAX = 3,  /* the limit on states */
};

struct bz_explore_finding {
    struct bz_violation violation;
    struct bz_answers answers; /* what repeats it, with the strategy `answers` */
    bool has_answers;          /* false: the script would be too long */
    uint32_t delays;
    uint32_t cancels; /* injected */
};

struct bz_explore_result {
    enum bz_explore_end end;
    uint32_t reductions;      /* those in force in the last search */
    bool is_minimal;          /* the first finding is one of the simplest */
    uint32_t rounds;          /* finished: 0 to rounds - 1 */
    bool is_sweep_done;       /* every order was searched */
    bool is_whole;            /* no schedule is left out by a bound on delays or rounds */
    const char *sampled_draw; /* label of a draw that has too many values: no proof; or NULL */
    bool is_out_of_steps;     /* some schedule hit the program's step limit: no proof */
    bool has_cycles;          /* some state can come back: the schedules are infinitely many */
    /* Of the sweep, or else of the last round: distinct states, transitions tried, schedules to the
     * end (with sleep sets, up to the order of independent steps; saturating), distinct outcomes
     * (how every task ended, what became of every object), the longest schedule. */
    uint64_t states;
    uint64_t transitions;
    uint64_t schedules;
    uint64_t outcomes;
    uint32_t depth;
    uint64_t transitions_total; /* of all rounds */
    uint64_t outcomes_digest;   /* of the set of outcomes, whatever their order */
    uint64_t violations_digest; /* of the set of (oracle, object) that were found */
    uint32_t finding_count;
    struct bz_explore_finding
        findings[BZ_EXPLORE_FINDINGS_MAX]; /* one for each oracle and object */
};

struct bz_explore_progress {
    bool is_sweep;
    uint32_t round;
    uint64_t states;
    uint64_t transitions;
    uint32_t done_permille; /* of this round, estimated by the weight of what was finished */
};

struct bz_explore_config {
    const struct bz_program *program; /* its cancels_max and cancel_windows bound the cancels */
    uint32_t delays_max;              /* or BZ_EXPLORE_UNBOUNDED */
    uint32_t reductions;              /* wanted; those that cannot be had are left out */
    bool sleeps_anyway;               /* sleep sets even where they do not pay */
    uint32_t rounds_before_sweep;     /* 0: BZ_EXPLORE_ROUNDS_DEFAULT */
    bool keep_going;                  /* the whole of the space, whatever is found */
    uint64_t states_max;              /* 0: BZ_EXPLORE_STATES_MAX_DEFAULT */
    const volatile sig_atomic_t *stop;
    bool (*poll)(void *context, const struct bz_explore_progress *progress); /* false: stop */
    /* After every round and the sweep, with the numbers of it. NULL: nobody wants to know. */
    void (*on_round)(void *context, const struct bz_explore_result *so_far, bool is_sweep);
    void *context;
};

#define BZ_EXPLORE_ROUNDS_DEFAULT 3u

/* Searches. False without memory. */
bool bz_explore(const struct bz_explore_config *config, struct bz_explore_result *result);

/* Whether everything that was asked for was searched: then what was not found, is not there. */
bool bz_explore_is_complete(const struct bz_explore_config *config,
                            const struct bz_explore_result *result);

/* Repeats a finding as an ordinary run: `repeat` becomes the program, with its answers, and
 * `violation` and `digest` what the run gave. False if it has no answers, without memory, or if the
 * run does not fail by the same oracle: then the search and the run have not seen the same program,
 * which is a fault of the harness, or of a scenario that keeps state where it must not. */
bool bz_explore_repeat(const struct bz_program *program, const struct bz_explore_finding *finding,
                       struct bz_program *repeat, struct bz_finding *found);

/* How many schedules there are, estimated by `probes` random descents, each of which counts as many
 * as its choices had alternatives (Knuth, 1975): as a power of two. 0 without memory. */
uint32_t bz_explore_estimate_log2(const struct bz_program *program, uint32_t probes);

#endif
