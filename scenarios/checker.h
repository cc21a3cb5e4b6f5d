/* The last guest: a task that comes when all others have gone, and takes every permit once.
 *
 * Whatever happened before, the permits must be there. If one is missing, the checker waits for it
 * and nobody will come: the oracles say so. If acquire answers anything but OK to a task that
 * nobody cancelled, the scenario's own check does.
 */
#ifndef BZ_SCENARIOS_CHECKER_H
#define BZ_SCENARIOS_CHECKER_H

#include <stdint.h>

#include "primitives/runtime/status.h"
#include "sim/native/sut.h"

struct bz_task;

struct bz_checker {
    struct bz_world *world;
    struct bz_sut_permits *sut;
    struct bz_task *const *tasks; /* whom it waits for; not to be freed before the run ends */
    uint32_t task_count;
    uint32_t permits;
    struct bz_task *task; /* the checker's own */
};

/* Creates the task "checker"; the fields above it must be set. */
void bz_checker_spawn(struct bz_checker *checker);

#endif
