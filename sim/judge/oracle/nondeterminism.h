/* nondeterminism: bz_judge_record() compares two runs of one tape. */
#ifndef BZ_SIM_JUDGE_ORACLE_NONDETERMINISM_H
#define BZ_SIM_JUDGE_ORACLE_NONDETERMINISM_H

#include "sim/judge/oracle/oracle.h"

static inline bool nondeterminism_suspects(const struct bz_judge *judge,
                                           const struct bz_moment *moment) {
    (void)judge;
    (void)moment;
    return false;
}

static inline void nondeterminism_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    (void)moment;
}

#endif

ORACLE(nondeterminism, "nondeterminism", "the same tape gave two different runs")
