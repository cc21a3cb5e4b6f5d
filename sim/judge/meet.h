/* States that a program describes itself, for searches of runs that another runtime makes. */
#ifndef BZ_SIM_JUDGE_MEET_H
#define BZ_SIM_JUDGE_MEET_H

#include "sim/judge/judge.h"

/* True if a search has tried what can follow: it depends on the text (`bytes`: a multiple of 8), on
 * what the judge knows, and on choices alone. NULL: there is no such search. */
extern bool (*bz_judge_on_state)(struct bz_judge *judge, const void *text, size_t bytes);

/* Asks, and cuts the run if so. */
void bz_judge_meet(struct bz_judge *judge, const void *text, size_t bytes);

#endif
