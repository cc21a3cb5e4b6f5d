/* A program: everything that a run depends on besides the seed. The same program and seed give the
 * same events on every machine. */
#pragma once

#include <signal.h>

#include "sim/choice/answers.h"
#include "sim/contain/contain.h"
#include "sim/native/world.h"
#include "sim/program/scenario.h"

struct bz_program {
    const struct bz_scenario *scenario;
    const struct bz_variant *variant;
    const struct bz_strategy *strategy;
    enum bz_order order;
    uint32_t cancel_windows;
    bool is_uncancelled; /* no window, and no cancel or timeout of the scenario's own */
    uint32_t cancels_max;
    uint32_t steps_max;
    uint32_t starvation_bound;
    uint64_t lag_max_ns;          /* as in struct bz_judge_config, but never 0 */
    enum bz_older older;          /* the same */
    struct bz_contain contain;    /* whether its runs need a process of their own */
    struct bz_scenario_args args; /* compared up to `file_name`, see scenario.h */
    struct bz_answers answers;    /* for the strategy `answers` */
    struct bz_profile profile;    /* steps 0: not measured */
    uint32_t pinned;              /* parameters that were set, as bits: never drawn (sizes.h) */
};

/* The program with default settings. */
void bz_program_init(struct bz_program *program, const struct bz_scenario *scenario,
                     const struct bz_variant *variant, const struct bz_strategy *strategy);

/* Sets the primitive, which the scenario uses and the variant offers. The size, unless it was set,
 * is the one nearest to its default that the variant offers. */
void bz_program_use(struct bz_program *program, enum bz_primitive primitive);

/* True if the parameter of that index may have the value: the size of the object may be what the
 * variant offers. The second: the nearest such value. */
bool bz_program_offers(const struct bz_program *program, uint32_t index, int64_t value);
int64_t bz_program_offered(const struct bz_program *program, uint32_t index, int64_t value);

/* True if the variant offers the size that the program has. */
bool bz_program_is_offered(const struct bz_program *program);

/* The values of the parameter that are offered, as text, cut to fit: "1", "0 to 1000", "2 to 8,
 * 16", "none". O(range of the parameter). */
void bz_program_offered_text(const struct bz_program *program, uint32_t index, char *text,
                             size_t text_bytes);

/* A world for the program's runs. The program must outlive it. NULL without memory. */
struct bz_world *bz_program_new_world(const struct bz_program *program);

/* Measures the program's profile once for all worlds, if the strategy needs it and there is none;
 * called after the last setting. Otherwise each world measures before its first run. False without
 * memory. */
bool bz_program_measure(struct bz_program *program);

/* The same; on false with a sentence in `lack`, BZ_LACK_BYTES (traces/lack.h), or with an empty one
 * if it was stopped. The second measures in `*world`, which bz_program_enter() prepares; NULL: it
 * creates one, and the caller destroys it. For `stop` see bz_judge_watch_stop(). */
bool bz_program_measure_or(struct bz_program *program, char *lack);
bool bz_program_measure_in(struct bz_program *program, struct bz_world **world,
                           const volatile sig_atomic_t *stop, char *lack);

/* Measures contained programs in one child process: to start one takes longer than many runs.
 * program(context, index) gives each in the child. They fit into `world`, as bz_program_enter()
 * wants it, and have the limits of `contain`. False if the child did not come to its end, or wrote
 * over what it had measured: the world is not to be used then, and bz_program_measure_in() of each
 * says why. A profile that is still missing has steps 0. */
struct bz_measuring {
    const struct bz_program *(*program)(void *context, uint32_t index);
    void *context;
    uint32_t count;
    struct bz_profile *profiles; /* `count` */
};
bool bz_program_measure_together(const struct bz_measuring *measuring, struct bz_world *world,
                                 const struct bz_contain *contain);

/* Runs it from setup to verdict; the result is in world->judge. A contained program runs in a child
 * process, a new one for each run; bz_campaign_run() needs fewer. */
enum bz_run_end bz_program_run(const struct bz_program *program, struct bz_world *world,
                               uint64_t seed);

/* The same with another strategy than the program's, a tape, or a sink. */
enum bz_run_end bz_program_run_from(const struct bz_program *program, struct bz_world *world,
                                    const struct bz_run_start *start);

/* Between two runs: the world continues with this program, which differs from the one before in
 * parameters, strategy, profile and starvation bound alone. */
void bz_program_enter(const struct bz_program *program, struct bz_world *world);

/* About how many steps of its runs take so long: by a table, so the number is the same everywhere.
 */
uint64_t bz_program_steps_in(const struct bz_program *program, uint64_t time_ns);

/* A program in a world, and its source of events for the judge. The source points to `place`. */
struct bz_program_place {
    const struct bz_program *program;
    struct bz_world *world;
};
struct bz_source bz_program_source(struct bz_program_place *place);
