/* What a drawn program may call. */
#ifndef BZ_SIM_FRAMES_TESTS_DRAWN_PAUSES_H
#define BZ_SIM_FRAMES_TESTS_DRAWN_PAUSES_H

#include <stdint.h>

/* Suspends the program, and returns a drawn number when it goes on. */
uint64_t pause_here(void);

/* Two runs are the same if they note the same values. */
void note(uint64_t value);

#endif
