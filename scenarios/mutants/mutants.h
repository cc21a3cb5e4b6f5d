/* Mutants: copies of the primitives that ship, each with one fault that a programmer might make.
 *
 * The catalogues, *.mut, say what is changed; the build makes the copies with mutate.py. The code
 * that ships is compiled from its own source. `buzzer-lab mutants` reports which oracle notices
 * each mutant. One that no oracle notices is a hole in the oracles or in the scenarios.
 */
#ifndef BZ_SCENARIOS_MUTANTS_H
#define BZ_SCENARIOS_MUTANTS_H

#include <stdint.h>

#include "sim/variant/variant.h"

struct bz_mutant {
    const char *name;
    const char *source;   /* the file that was changed, from the root of the repository */
    uint32_t line;        /* where the change begins */
    const char *change;   /* lines that stay, go ("- ") and come ("+ ") */
    const char *settings; /* "SCENARIO name=value,...;SCENARIO ..." also tried; NULL: none */
    uint32_t primitives;  /* that the fault may show in, as bits 1 << enum bz_primitive */
    const struct bz_variant *variant;
};

/* In the order of the catalogues; the last one has no name. */
extern const struct bz_mutant bz_mutants[];

#endif
