/* Drawn sizes: a campaign also runs its scenario in other sizes and modes.
 *
 * A fault that needs six tasks, 64 acquires or a shutdown is never found by a scenario with three
 * tasks that shuts nothing down. So one seed of BZ_SIZES_EVERY draws the parameters in
 * scenario->sizes (swarm testing, see sim/choice/strategy_swarm.c): each is uniform from `least` to
 * `most`, small, so that the run stays short. One draw of BZ_SIZES_LARGE_EVERY is large: many tasks
 * for many rounds.
 *
 * The seed alone decides the draw. A run with drawn parameters is a run of the program that has
 * them set: its token names them. A parameter that the user has set is never drawn. If it is more
 * than what would be drawn, or if the step limit is below its default, nothing is drawn above its
 * default: runs must come to their end. The bound of starvation grows with large parameters, unless
 * the user has set it.
 *
 * The long tail: one run of BZ_SIZES_TAIL_EVERY is up to ten times as long as a usual one, and one
 * of BZ_SIZES_RARE_EVERY of these up to a hundred times, in the parameters that have a second row.
 * Each such seed has a draw of its own: some of these parameters grow together, and the others stay
 * small. Numbers next to powers of two are likely. The length is estimated: it is in proportion to
 * each parameter that has a `large` value. Such a run has the strategy `random`, unless the given
 * one needs no profile.
 *
 * A variant may limit how many tasks wait (waiters_max of struct bz_variant): no more are drawn,
 * but never fewer than `least` says. If it does not offer a drawn size (`offers`), the nearest one
 * that it offers is taken.
 *
 * Seeds next to each other share a draw, and draws come again for a while: a new program costs the
 * runs that measure its profile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/program/program.h"

#define BZ_SIZES_EVERY 4u
#define BZ_SIZES_AT 2u
#define BZ_SIZES_LARGE_EVERY 16u
#define BZ_SIZES_SHARED 5u  /* seeds that draw, one after another, with the same draw */
#define BZ_SIZES_DRAWS 64u  /* different draws, one after another; then they come again */
#define BZ_SIZES_PASSES 50u /* as often; then there are others */
#define BZ_SIZES_TAIL_EVERY 64u
#define BZ_SIZES_TAIL_AT 62u /* a seed that draws */
#define BZ_SIZES_RARE_EVERY 4u
#define BZ_SIZES_BESIDE 4 /* tasks of a scenario that wait, and that no drawn parameter counts */
#define BZ_SIZES_SEEDS (BZ_SIZES_EVERY * BZ_SIZES_SHARED) /* of a draw, the others included */

/* True if scenario->sizes fits its parameters. False with a message: "has ...". */
bool bz_sizes_check(const struct bz_scenario *scenario, char *error, size_t error_bytes);

/* The values to draw from for the parameter of that index; NULL: it is not drawn. */
const struct bz_size *bz_sizes_of(const struct bz_scenario *scenario, uint32_t index);

/* True if the run of this seed has drawn parameters. */
bool bz_sizes_are_drawn(const struct bz_program *program, uint64_t seed);

/* True if such a run belongs to the long tail: its program needs no profile. */
bool bz_sizes_are_tail(const struct bz_program *program, uint64_t seed);

/* The number of the draw of a seed: equal for equal draws of one program. */
uint64_t bz_sizes_number(const struct bz_program *program, uint64_t seed);

/* The program of this seed in a campaign that draws. Its profile is not measured, unless it is the
 * program itself. */
void bz_sizes_draw(const struct bz_program *program, uint64_t seed, struct bz_program *drawn);

/* The program of the draw with that number, which is not in the long tail. */
void bz_sizes_draw_number(const struct bz_program *program, uint64_t number,
                          struct bz_program *drawn);
