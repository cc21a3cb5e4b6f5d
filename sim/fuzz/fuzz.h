/* A campaign of weeks: many programs, in slices, each way to run them in turn.
 *
 * A target is a scenario and a variant. An arm is one way to run a target: a strategy, an order of
 * ready handles, how many cancels, whether sizes are drawn. An arm gives each of its runs the next
 * seed, from 0 on, so nothing runs twice.
 *
 * Time is cut into slices of about `slice_steps` steps of one arm, so each costs about the same,
 * and arms have their slices in turn; no clock decides. So a campaign is the same every time, with
 * any number of workers, and one that was interrupted continues as if it had not been: state.h.
 *
 * Coverage is that of the target: hand-off orders (sim/judge/shadow.h), and situations, in which a
 * cancel strikes (bz_judge_strikes()). For each situation the shortest run that passed is kept as
 * an example; bz_fuzz_cover() selects a few that have all situations.
 *
 * Memory grows with targets, arms, situations and findings, each limited, and not with runs. */
#ifndef BZ_SIM_FUZZ_FUZZ_H
#define BZ_SIM_FUZZ_FUZZ_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/judge/record.h"
#include "sim/program/program.h"
#include "sim/program/sizes.h"
#include "sim/session/campaign.h"

#define BZ_FUZZ_TARGETS_MAX 256u
#define BZ_FUZZ_ARMS_MAX (BZ_FUZZ_TARGETS_MAX * 16)
#define BZ_FUZZ_FINDINGS_MAX 256u
#define BZ_FUZZ_FINDINGS_OF_TARGET_MAX BZ_FINDINGS_MAX
#define BZ_FUZZ_SITUATIONS_MAX 512u /* of a target */
#define BZ_FUZZ_HANDOFFS_KEPT 4096u /* of a target; the error of an estimate is about 2 % */
#define BZ_FUZZ_SLICE_STEPS 500000u
#define BZ_FUZZ_SAMPLES_MAX 256u
#define BZ_FUZZ_SAMPLE_MS 1000u /* between two samples, at first */

/* A run that has a situation. Its strikes are also situations. */
struct bz_fuzz_example {
    uint64_t seed;
    uint64_t digest;
    uint32_t arm;
    uint32_t steps;
    uint32_t strike_count; /* 0: there is no example */
    uint16_t strikes[BZ_STRIKES_MAX];
};

struct bz_fuzz_situation {
    uint16_t number; /* see bz_situation_of() */
    uint64_t count;  /* strikes */
    struct bz_fuzz_example shortest;
};

struct bz_fuzz_target {
    struct bz_program program; /* with the settings that all its arms share */
    uint64_t runs, steps, violations, out_of_steps;
    uint64_t windows[BZ_OP_COUNT][BZ_WINDOW_COUNT]; /* cancels that struck */
    struct bz_distinct handoffs;                    /* hand-off orders */
    uint64_t strikes; /* of situations, also of those without a place */
    uint32_t situation_count;
    struct bz_fuzz_situation situations[BZ_FUZZ_SITUATIONS_MAX]; /* in order of appearance */
    uint16_t places[BZ_SITUATIONS]; /* index in `situations`, plus 1, by number; 0: none */
    uint32_t finding_count;         /* of those that are kept */
    uint64_t findings_dropped;      /* violations of others */
};

struct bz_fuzz_arm {
    const char *name; /* of what makes it an arm: "delay", "order fifo" */
    uint32_t target;
    bool draws_sizes;
    struct bz_program program;
    struct bz_measured_draws *draws;                /* NULL until a slice needs them */
    uint64_t runs, steps, violations, out_of_steps; /* `runs` is its next seed */
    uint64_t slices;
    uint64_t new_situations; /* that it was first to strike */
    uint64_t new_handoffs;   /* the same for hand-off orders; estimated */
    uint64_t findings;       /* that it was first to find */
};

/* The slice that is being run, or none. */
struct bz_fuzz_slice {
    bool is_open;
    uint32_t arm;
    uint64_t runs_wanted, runs_done;
    uint64_t new_situations, new_handoffs, new_findings;
};

#define BZ_FUZZ_FILE_BYTES 256u

struct bz_fuzz_finding {
    uint32_t target;
    uint32_t arm;
    struct bz_finding finding; /* the first run with it */
    uint64_t slice;            /* from 1 */
    uint64_t runs;             /* of the whole campaign before that slice */
    uint64_t spent_ms;         /* when it was found; for people */
    /* Written by the caller (tools/session/fuzz); empty: nothing. */
    char token[BZ_TOKEN_BYTES];
    char small_token[BZ_TOKEN_BYTES];
    char file[BZ_FUZZ_FILE_BYTES];
    char small_file[BZ_FUZZ_FILE_BYTES];
};

/* The findings by then; for people. */
struct bz_fuzz_sample {
    uint64_t spent_ms, runs, steps, situations, findings;
};

struct bz_fuzz {
    uint64_t slice_steps;
    uint64_t slices; /* completed */
    uint64_t runs, steps, violations, out_of_steps;
    struct bz_fuzz_slice slice;
    uint32_t target_count;
    struct bz_fuzz_target *targets[BZ_FUZZ_TARGETS_MAX];
    uint32_t arm_count;
    struct bz_fuzz_arm *arms; /* BZ_FUZZ_ARMS_MAX */
    uint32_t finding_count;
    struct bz_fuzz_finding *findings; /* BZ_FUZZ_FINDINGS_MAX */
    uint32_t sample_count;
    uint64_t sample_every_ms; /* it doubles */
    struct bz_fuzz_sample samples[BZ_FUZZ_SAMPLES_MAX];
};

/* False without memory. */
bool bz_fuzz_init(struct bz_fuzz *fuzz);
void bz_fuzz_fini(struct bz_fuzz *fuzz);

/* Settings that the user has fixed for all arms. */
struct bz_fuzz_fixed {
    bool strategy, order, cancels, sizes;
    bool has_default_sizes; /* with `sizes` */
};

/* Adds a target: the program with the settings of the user. False without memory, or after
 * BZ_FUZZ_TARGETS_MAX. */
bool bz_fuzz_add_target(struct bz_fuzz *fuzz, const struct bz_program *program);

/* Makes the arms of all targets. The first kind of all targets comes first. */
void bz_fuzz_make_arms(struct bz_fuzz *fuzz, const struct bz_fuzz_fixed *fixed);

struct bz_fuzz_config {
    uint64_t runs_max; /* of the whole campaign */
    uint32_t jobs;
    const volatile sig_atomic_t *stop; /* as in a campaign */
    /* Called every few hundred runs; false stops. NULL: never. */
    bool (*poll)(void *context, uint64_t runs);
    /* A finding is new, at this index of fuzz->findings. NULL: never. */
    void (*on_finding)(void *context, uint32_t index);
    /* After each slice; false stops. NULL: never. */
    bool (*on_slice)(void *context);
    void *context;
};

/* Runs slices until `runs_max`, or until it is stopped. The runs that were completed count, and the
 * slice stays open for the next call. False with a sentence in `lack` (BZ_LACK_BYTES) if a resource
 * ran out.
 */
bool bz_fuzz_run(struct bz_fuzz *fuzz, const struct bz_fuzz_config *config, char *lack);

/* The program of a run of an arm. */
void bz_fuzz_program(const struct bz_fuzz *fuzz, uint32_t arm, uint64_t seed,
                     struct bz_program *program);

/* The examples of the target that together have all situations that have an example: their indices
 * in `situations`, by a greedy choice of the run that adds most, the shorter one of two. At most
 * BZ_FUZZ_SITUATIONS_MAX; returns how many. */
uint32_t bz_fuzz_cover(const struct bz_fuzz_target *target, uint32_t *chosen);

/* Situations struck once, by Good-Turing the chance in a million that the next strike is a new one.
 */
uint64_t bz_fuzz_situations_once(const struct bz_fuzz_target *target);
uint32_t bz_fuzz_new_situation_ppm(const struct bz_fuzz_target *target);

/* Takes a sample if one is due. Their number is limited: when there is no room, every other one
 * goes, and they are taken half as often. */
void bz_fuzz_sample(struct bz_fuzz *fuzz, uint64_t spent_ms);

#endif
