/* crash, stack-overflow, hang, memory, exit: the code under test ended the process of its run, or
 * had to be stopped there. Nothing inside that process can judge this: the process that started it
 * calls bz_judge_died() (sim/contain/contain.h). */
#ifndef BZ_SIM_JUDGE_ORACLE_DIED_H
#define BZ_SIM_JUDGE_ORACLE_DIED_H

#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_FROM_OUTSIDE(crash)
BZ_ORACLE_FROM_OUTSIDE(stack_overflow)
BZ_ORACLE_FROM_OUTSIDE(hang)
BZ_ORACLE_FROM_OUTSIDE(memory)
BZ_ORACLE_FROM_OUTSIDE(exit)

#endif

ORACLE(crash, "crash", "a signal or a failed check ends the process",
       "The code must not end its process.")
ORACLE(stack_overflow, "stack-overflow", "a task runs off the end of its stack",
       "A task has to stay within its stack.")
ORACLE(hang, "hang", "a step does not end", "A step has to end.")
ORACLE(memory, "memory", "the process takes more memory than it may",
       "The code must not take memory without bound.")
ORACLE(exit, "exit", "the code under test ends the process", "The code must not end its process.")
