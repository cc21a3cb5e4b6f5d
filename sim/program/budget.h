/* How far a search after a finding goes: for the smallest run that fails as it does, and for its
 * witness on a FIFO loop.
 *
 * The budget is a number of steps, so the result is the same everywhere. By default it is as
 * many as take about BZ_BUDGET_NS of CPU time, by a table and not by a clock. A limit in time may
 * stop a search before; what is found then depends on the machine, and says so. */
#pragma once

#include <signal.h>

#include "sim/program/program.h"

#define BZ_BUDGET_NS UINT64_C(10000000000)

/* The value of a stop flag, for those who say why. */
enum bz_stop { BZ_STOP_NONE = 0, BZ_STOP_INTERRUPT = 1, BZ_STOP_TIME = 2 };

struct bz_budget {
    uint64_t steps;                    /* 0: as BZ_BUDGET_NS has it */
    const volatile sig_atomic_t *stop; /* not BZ_STOP_NONE: stop; NULL: nothing stops it */
};

/* The steps of a budget for this program. */
static inline uint64_t bz_budget_steps(const struct bz_budget *budget,
                                       const struct bz_program *program) {
    return budget->steps != 0 ? budget->steps : bz_program_steps_in(program, BZ_BUDGET_NS);
}
