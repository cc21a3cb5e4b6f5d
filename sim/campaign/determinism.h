/* The check that the seed alone decides a run: it is run again in another world, at other
 * addresses, from its set-up on. State that a variant keeps outside of the world (a static
 * variable), or takes from outside (an address, the time), makes the two runs differ. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/program/program.h"

/* The runs of a campaign that are repeated: the first ones, for faults that show at once, and then
 * too few to cost time. */
#define BZ_DETERMINISM_FIRST 50u
#define BZ_DETERMINISM_EVERY 8192u

static inline bool bz_determinism_is_due(uint64_t index) {
    return index < BZ_DETERMINISM_FIRST || index % BZ_DETERMINISM_EVERY == 0;
}

/* Repeats the run that the world has just made. If the two differ, overrules its verdict with
 * `nondeterminism`: the step, the task, and the two events there, if further runs show them. Does
 * nothing after `stop`. Without memory, the run has none either (BZ_RUN_NO_RESOURCE).
 *
 * `*other` is the world of the repetitions; NULL before the first one, which creates it. The caller
 * destroys it. For each of the first BZ_DETERMINISM_PLACES runs by `index`, its loop moves to
 * addresses that depend on the index: so code that looks at addresses is noticed. */
#define BZ_DETERMINISM_PLACES 16u
void bz_determinism_judge(const struct bz_program *program, struct bz_world *world,
                          struct bz_world **other, uint64_t index,
                          const volatile sig_atomic_t *stop);
