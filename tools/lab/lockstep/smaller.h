/* The smallest pair that differs: tasks, operations, objects, timeouts and choices are left out,
 * one after another, for as long as the two sides differ. */
#ifndef BZ_TOOLS_LAB_LOCKSTEP_SMALLER_H
#define BZ_TOOLS_LAB_LOCKSTEP_SMALLER_H

#include "tools/lab/lockstep/side.h"

/* True if the two sides differ on the pair. It may change the pair's tape to that of the run. */
typedef bool bz_differs_fn(void *context, struct bz_pair *pair);

/* Takes out the operation at `index`, with those inside. */
void bz_script_remove(struct bz_script *script, uint32_t index);

/* Takes out an object that no operation uses, and whose lock no other one shares. */
void bz_script_remove_object(struct bz_script *script, uint32_t object);

/* `pair` differs, and is taped. Returns how many pairs were tried. */
uint64_t bz_pair_shrink(struct bz_pair *pair, bz_differs_fn *differs, void *context);

#endif
