/* Oracles that nothing inside a step calls: who finds the violation calls bz_judge_violate(),
 * bz_judge_overrule() or bz_judge_died().
 *
 * assertion        the program's own check
 * linearizability  the keeper of a history: no order of the sequential model explains it
 *                  (sim/model/history.h)
 * timer            the source for the C runtime: its timers, its clock, the end of a sleep
 *                  (sim/native/loop_oracles.c)
 * nondeterminism   bz_judge_record() compares two runs of one tape
 * crash, stack-overflow, hang, memory, exit
 *                  the code under test ended the process of its run, or had to be stopped there;
 *                  the process that started it says so (sim/contain/contain.h)
 */
#ifndef BZ_SIM_JUDGE_ORACLE_OUTSIDE_H
#define BZ_SIM_JUDGE_ORACLE_OUTSIDE_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_FROM_OUTSIDE(assertion)
BZ_ORACLE_FROM_OUTSIDE(linearizability)
BZ_ORACLE_FROM_OUTSIDE(timer)
BZ_ORACLE_FROM_OUTSIDE(nondeterminism)
BZ_ORACLE_FROM_OUTSIDE(crash)
BZ_ORACLE_FROM_OUTSIDE(stack_overflow)
BZ_ORACLE_FROM_OUTSIDE(hang)
BZ_ORACLE_FROM_OUTSIDE(memory)
BZ_ORACLE_FROM_OUTSIDE(exit)

#endif

ORACLE(assertion, "assertion", "the scenario's own check failed",
       "The assertions of the scenario have to hold.")
ORACLE(linearizability, "linearizability",
       "no order of the sequential model explains what the operations returned",
       "Each operation has to take effect between its call and its return, at one moment or at "
       "the two that its model names, and to answer as the model does. A cancelled one may "
       "leave no effect, or the one that the model allows.")
ORACLE(timer, "timer", "a timer fires early, late or out of order, or not at all",
       "A timer has to fire when the clock shows its time, before any later one, and timers of one "
       "time in the order in which they were armed. The clock must not pass one.")
ORACLE(nondeterminism, "nondeterminism", "the same tape gave two different runs",
       "The same choices have to lead to the same run: nothing else may decide, such as an "
       "address, the time or a static variable.")
ORACLE(crash, "crash", "a signal or a failed check ends the process",
       "The code must not end its process.")
ORACLE(stack_overflow, "stack-overflow", "a task runs off the end of its stack",
       "A task has to stay within its stack.")
ORACLE(hang, "hang", "a step does not end", "A step has to end.")
ORACLE(memory, "memory", "the process takes more memory than it may",
       "The code must not take memory without bound.")
ORACLE(exit, "exit", "the code under test ends the process", "The code must not end its process.")
