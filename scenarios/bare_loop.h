/* The baseline of `buzzer bench`: the scenario `contended` at its defaults, without the
 * simulator.
 *
 * The same runtime, the same semaphore, the same tasks, and the same schedules as those of the
 * strategy `random` without injected cancels: each seed gives the same steps. In each run it resets
 * the loop, creates the tasks again, takes a random handle from the ready queue and steps it, until
 * none is left. It has no judge, no oracles, no shadow state, no digest, no tape, no trace, no
 * strategy, no clock, and no observer of the loop. So it finds nothing, and repeats nothing but
 * its seed. */
#ifndef BZ_SCENARIOS_BARE_LOOP_H
#define BZ_SCENARIOS_BARE_LOOP_H

#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

struct bz_bare;

/* NULL without memory. */
struct bz_bare *bz_bare_new(void);
void bz_bare_destroy(struct bz_bare *bare);

/* One schedule. Returns its steps; 0 without memory. */
uint32_t bz_bare_run(struct bz_bare *bare, uint64_t seed);

BZ_END_DECLS

#endif
