/* assertion: the program's own check, which calls bz_judge_violate(). */
#ifndef BZ_SIM_JUDGE_ORACLE_ASSERTION_H
#define BZ_SIM_JUDGE_ORACLE_ASSERTION_H

#include "sim/judge/oracle/oracle.h"

static inline bool assertion_suspects(const struct bz_judge *judge,
                                      const struct bz_moment *moment) {
    (void)judge;
    (void)moment;
    return false;
}

static inline void assertion_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    (void)moment;
}

#endif

ORACLE(assertion, "assertion", "the scenario's own check failed",
       "The assertions of the scenario have to hold.")
