/* The replaying strategies: they choose by a tape. Users cannot name them.
 *
 * replay_strict: every entry must fit, one after another. An entry that does not fit at its place,
 * or whose place is never reached, is a divergence; the state keeps the first.
 * replay_lenient: an entry that does not fit is skipped. A place without an entry gets the default.
 * The run's `context`, if it is not NULL, is an array with a byte for each entry: it becomes 1 when
 * the entry was made as it stands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/choice/strategy.h"
#include "sim/choice/tape.h"

/* Hears which handles a lenient replay chooses from, for people who look at one run. */
struct bz_replay_listener {
    void (*next)(void *context, const struct bz_ready *ready, uint32_t count, uint32_t chosen,
                 uint32_t step);
    void *context;
};

struct bz_replay_state {
    const struct bz_tape *tape;
    size_t cursor; /* strict: the entries before it were used */
    bool is_strict;
    bool is_diverged;
    size_t diverged_entry; /* index of the entry that did not fit */
    uint32_t diverged_step;
    uint8_t *made;                             /* lenient: by entry; NULL: not asked for */
    const struct bz_replay_listener *listener; /* lenient; NULL: no listener */
};

extern const struct bz_strategy bz_strategy_replay_strict;
extern const struct bz_strategy bz_strategy_replay_lenient;

/* After a run: true if every entry was used and fitted. */
bool bz_replay_state_finish(struct bz_replay_state *state, uint32_t last_step);
