/* nondeterminism: bz_judge_record() compares two runs of one tape. */
#ifndef BZ_SIM_JUDGE_ORACLE_NONDETERMINISM_H
#define BZ_SIM_JUDGE_ORACLE_NONDETERMINISM_H

#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_FROM_OUTSIDE(nondeterminism)

#endif

ORACLE(nondeterminism, "nondeterminism", "the same tape gave two different runs",
       "The same choices have to lead to the same run: nothing else may decide, such as an "
       "address, the time or a static variable.")
