/* Why a run fails: which of its choices matter, when it is lost, and what passes beside it.
 *
 * All answers come from further runs. The run is a program with the strategy `answers`, as
 * bz_shrink() gives it.
 *
 *   - A choice is essential if no other choice in its place fails in the same way. At most
 *     BZ_WHY_OTHERS_MAX others are tried.
 *   - The odds after step s: how many of BZ_WHY_SAMPLES runs fail in the same way that make the
 *     same choices up to step s, and any afterwards: each ready handle and each value of a draw is
 *     equally likely, and a cancel or a clock jump comes at one of BZ_EDITS_RARE points.
 *   - The point of no return is the step at which the odds rise most, if by a tenth at least, and
 * do not fall below that again.
 *   - The nearest passing run differs in one choice, the last one possible.
 */
#ifndef BZ_SIM_SHRINK_WHY_H
#define BZ_SIM_SHRINK_WHY_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/run/program.h"
#include "sim/shrink/edits.h"

#define BZ_WHY_SAMPLES 200u
#define BZ_WHY_SAMPLES_CONTAINED 8u /* a process each */
#define BZ_WHY_OTHERS_MAX 32u
#define BZ_WHY_COST_MAX                                                                            \
    4000000u /* of all runs for the odds: fewer samples, and then fewer prefixes */
#define BZ_WHY_SAMPLES_LEAST 20u
#define BZ_WHY_STEPS_MAX 240u /* of a longer run, so many prefixes are looked at */

struct bz_why_choice {
    struct bz_edit edit; /* what was chosen, at edit.step */
    uint32_t others;     /* other choices that were tried in its place, the default among them */
    uint32_t failing;    /* of these, so many fail in the same way; 0: it is essential */
    bool fails_without;  /* the default does */
};

struct bz_why {
    struct bz_violation violation;
    uint32_t steps;
    uint32_t choice_count;
    struct bz_why_choice choices[BZ_ANSWERS_ENTRIES_MAX];
    /* The odds after `odds_step[i]` steps: `odds[i]` of `samples` runs failed. */
    uint32_t samples;
    uint32_t odds_count;
    uint32_t odds_step[BZ_WHY_STEPS_MAX + 2];
    uint32_t odds[BZ_WHY_STEPS_MAX + 2];
    uint32_t turning_step;  /* the point of no return; 0: there is none */
    uint32_t turning_after; /* the last step before it that was looked at */
    uint32_t turning_from;  /* the odds before it, and after it */
    uint32_t turning_to;
    /* A run that passes: the program, and which choice it differs in. */
    bool has_passing;
    uint32_t passing_choice;
    bool passing_is_default; /* which it does not make; else it makes another one there */
    struct bz_program passing;
    uint64_t passing_digest;
    uint64_t runs; /* made for all of this */
    char lack[BZ_LACK_BYTES];
};

/* False if the run does not fail, memory ran out (`lack`), or `stop` was set. */
bool bz_why_find(const struct bz_program *program, const volatile sig_atomic_t *stop,
                 struct bz_why *why);

#endif
