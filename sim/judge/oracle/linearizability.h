/* linearizability: no order of the sequential model explains the history of the run
 * (sim/model/history.h). The keeper of the history calls bz_judge_violate(). */
#ifndef BZ_SIM_JUDGE_ORACLE_LINEARIZABILITY_H
#define BZ_SIM_JUDGE_ORACLE_LINEARIZABILITY_H

#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_FROM_OUTSIDE(linearizability)

#endif

ORACLE(linearizability, "linearizability",
       "no order of the sequential model explains what the operations returned",
       "Each operation has to take effect between its call and its return, at one moment or at "
       "the two that its model names, and to answer as the model does. A cancelled one may "
       "leave no effect, or the one that the model allows.")
