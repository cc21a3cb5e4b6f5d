/* The replaying strategies: they answer from a tape. Not for users to name.
 *
 * replay_strict: entries must fit one after the other. An entry that does not fit its place, or is
 * never reached, is a divergence; the first is kept in the state.
 * replay_lenient: an entry that does not fit is skipped; what has no entry gets the default answer.
 */
#ifndef BZ_SIM_CHOICE_STRATEGY_REPLAY_H
#define BZ_SIM_CHOICE_STRATEGY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/choice/strategy.h"
#include "sim/choice/tape.h"

/* The state of either, as bz_world.strategy_state. */
struct bz_replay_state {
    const struct bz_tape *tape;
    size_t cursor; /* strict: entries before it were used */
    bool is_strict;
    bool is_diverged;
    size_t diverged_entry;  /* index of the entry that did not fit */
    uint32_t diverged_step; /* where */
};

extern const struct bz_strategy bz_strategy_replay_strict;
extern const struct bz_strategy bz_strategy_replay_lenient;

/* After a run: true if every entry was used and fitted. */
bool bz_replay_state_finish(struct bz_replay_state *state, uint32_t last_step);

#endif
