/* The table of a build without mutants. */
#include "scenarios/mutants/mutants.h"

const struct bz_mutant bz_mutants[] = {{0}};
