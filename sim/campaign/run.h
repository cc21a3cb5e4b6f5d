/* One run: a program, a seed, and what came of it.
 *
 * A program is everything that a run depends on besides the seed. The same program and the same
 * seed give the same events, on every machine.
 */
#ifndef BZ_SIM_CAMPAIGN_RUN_H
#define BZ_SIM_CAMPAIGN_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/campaign/scenario.h"
#include "sim/choice/answers.h"
#include "sim/world/world.h"

struct bz_program {
    const struct bz_scenario *scenario;
    const struct bz_variant *variant;
    const struct bz_strategy *strategy;
    enum bz_order order;
    uint32_t cancel_windows;
    uint32_t cancels_max;
    uint32_t steps_max;
    uint32_t starvation_bound;
    struct bz_scenario_args args; /* from the end of it on, nothing is compared: see scenario.h */
    struct bz_answers answers;    /* for the strategy `answers` */
};

/* The program with every setting at its default: order any, cancels into every window. */
void bz_program_init(struct bz_program *program, const struct bz_scenario *scenario,
                     const struct bz_variant *variant, const struct bz_strategy *strategy);

/* A world that the program's runs can take place in, with every oracle. The program must outlive
 * it. `strategy` replaces the program's own, for replays; NULL keeps it. NULL without memory. */
struct bz_world *bz_program_new_world(const struct bz_program *program,
                                      const struct bz_strategy *strategy);

/* Runs it from setup to verdict; the result is in `world`. `tape` and `sink`: bz_world_begin(). */
enum bz_run_end bz_program_run(const struct bz_program *program, struct bz_world *world,
                               uint64_t seed, const struct bz_tape *tape,
                               struct bz_event_sink *sink);

#endif
