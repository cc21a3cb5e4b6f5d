/* Why a run fails: which of its choices matter, when it is lost, and what passes beside it.
 *
 * All answers come from further runs. The run is a program with the strategy `answers`, as
 * bz_shrink() gives it.
 *
 *   - A choice is essential if no other choice in its place fails in the same way. At most
 *     BZ_WHY_OTHERS_MAX others are tried. The later choices are kept as edits (edits.h), by what is
 *     chosen and not by number, as a shrinking run keeps them.
 *   - The odds after step s: how many of BZ_WHY_SAMPLES runs fail in the same way that make the
 *     same choices up to step s, and any afterwards: each ready handle and each value of a draw is
 *     equally likely, and a cancel or a clock jump comes at one of BZ_EDITS_RARE points.
 *   - The point of no return is the step at which the odds rise most, if by a tenth at least, and
 * do not fall below that again.
 *   - The nearest passing run differs in one of these choices, the last one possible. If none of
 *     those passes, it makes one choice more, the last one possible.
 *
 * The runs of a contained program are made in one child process. If one ends that, or the run does
 * not repeat in it, each gets a process of its own. The run, and the one that passes, are alone in
 * any case.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/program/program.h"
#include "sim/shrink/edits.h"

#define BZ_WHY_SAMPLES 200u
#define BZ_WHY_SAMPLES_CONTAINED 8u /* each may need a process of its own */
#define BZ_WHY_OTHERS_MAX 32u
#define BZ_WHY_ADDED_MAX 400u /* runs with one more choice */
#define BZ_WHY_ADDED_CONTAINED 40u
#define BZ_WHY_COST_MAX                                                                            \
    4000000u /* of all runs for the odds: fewer samples, and then fewer prefixes */
#define BZ_WHY_SAMPLES_LEAST 20u
#define BZ_WHY_STEPS_MAX 240u /* of a longer run, so many prefixes are looked at */

struct bz_why_choice {
    struct bz_edit edit; /* what was chosen, at edit.step */
    uint32_t others;     /* other choices that were tried in its place, the default among them */
    uint32_t failing;    /* of these, so many fail in the same way */
    uint32_t cut;        /* and so many were cut by the step limit, and prove nothing */
    bool fails_without;  /* the default does; without it, the choice could have been left out */
};

static inline bool bz_why_is_essential(const struct bz_why_choice *choice) {
    return choice->failing == 0 && choice->cut == 0;
}

/* A choice is left out, there is another one in its place, or there is one more. */
enum bz_why_change { BZ_WHY_LEFT_OUT = 0, BZ_WHY_REPLACED = 1, BZ_WHY_ADDED = 2 };

struct bz_why {
    struct bz_violation violation;
    uint64_t digest;
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
    bool has_tried_all; /* changes of one choice, for a run that passes */
    /* A run that passes: the program, and which choice it differs in. */
    bool has_passing;
    enum bz_why_change passing_change;
    struct bz_edit passing_edit; /* the choice of the run, or the additional one */
    struct bz_program passing;
    uint64_t passing_digest;
    uint64_t runs; /* made for all of this */
    char lack[BZ_LACK_BYTES];
};

/* False if the run does not fail, memory ran out (`lack`), or `stop` was set. */
bool bz_why_find(const struct bz_program *program, const volatile sig_atomic_t *stop,
                 struct bz_why *why);
