/* Shared by the strategies that draw random numbers. The state of such a strategy begins with a
 * struct bz_rng, so that its table can hold the functions below.
 *
 * Cancels are planned per seed. A cancel point is a place where one could be injected. The first
 * cancel comes at a point drawn uniformly below 2n, n, n/2, n/4 or n/8, where a run has n points by
 * its profile; a point beyond the end means no cancel. With probability 1/2, a later one comes soon
 * after the one before, because faults that need two cancels often need them close together; else
 * it comes anywhere. The judge limits the number of cancels. In a third of the seeds, cancels are
 * aimed: one that is due waits until a task is in the window `woken`, for a few points at most.
 *
 * Strategies that say so hold woken tasks back in half of the seeds, one at a time: when the task
 * that was woken last is about to resume, the handle behind it runs instead, for a number of steps
 * that is a power of two, or until it is cancelled. Then comes a pause of a few steps. So the
 * window between a wake-up and the resume stays open for long, and others run in it.
 *
 * The other half of the seeds aims cancels that the program makes itself. From a wake-up until the
 * woken task resumes, tasks that cancel others by the profile go first, for a few steps at most.
 * Once in a run, a step of such a task is put off because no waiter is woken (not under `delay`).
 * Runs of programs without such tasks are not changed.
 *
 * A program may say which values of a draw matter most: its canceller favours the tasks that were
 * woken. Three of four seeds draw one of these, also under `random`.
 *
 * The rate of clock jumps is also drawn per seed. After DENSE_JUMPS jumps, they are as rare as
 * under `random`: if the clock ran ahead forever, timeouts would expire before any task had moved,
 * which is not fair. In 3 of 8 seeds, draws of data and delays are biased.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sim/choice/pcg.h"
#include "sim/choice/strategy.h"

/* One stream for each kind of choice, and one for the plan: one more draw of data leaves the
 * schedule alone. */
#define BZ_RNG_PLAN BZ_CHOICE_KIND_COUNT
#define BZ_RNG_STREAMS (BZ_CHOICE_KIND_COUNT + 1)

/* The bias of draws, in a whole run. */
enum bz_bias {
    BZ_BIAS_NONE = 0,
    BZ_BIAS_SMALL = 1, /* the smaller of two */
    BZ_BIAS_LARGE = 2, /* the larger of two */
    BZ_BIAS_SAME = 3,  /* always the same share of the bound */
};
#define BZ_BIAS_COUNT 4u

struct bz_rng {
    struct bz_pcg32 streams[BZ_RNG_STREAMS];
    uint32_t points;      /* cancel points of a run, by the profile */
    uint32_t first_bound; /* the first cancel passes fewer points than this */
    uint32_t jump_log2;   /* of the longest gap between clock jumps, while they are dense */
    uint32_t dense_jumps; /* to come */
    bool has_struck;      /* the gap before the first cancel was drawn */
    enum bz_bias bias;
    bool favours;      /* draws what the program favours */
    uint32_t share;    /* BZ_BIAS_SAME: of the bound, in units of 2^-32 */
    bool is_aimed;     /* at the window `woken` */
    uint32_t patience; /* points for which an aimed cancel that is due still waits */
    bool (*is_woken)(const void *judge, uint32_t task); /* with last_woken, as in the start */
    const void *judge;
    const uint32_t *last_woken;
    bool holds;         /* woken tasks back */
    uint32_t held;      /* a task; 0: none, this is a pause */
    uint32_t until;     /* the first step after the hold, or after the pause */
    uint64_t rushed;    /* tasks that go first while a task is woken, as bits; 0: none */
    uint32_t rush_of_4; /* how often they do so, of 4 steps */
    uint32_t rush_left; /* for so many steps, until no waiter is woken again */
    bool has_put_off;   /* a step of such a task */
};

/* Starts all streams except that of the plan, for a strategy without a plan. */
void bz_rng_seed(struct bz_rng *rng, uint64_t seed);

/* Starts all streams, and plans cancels, jumps and bias by the profile of `start`. */
void bz_rng_begin(struct bz_rng *rng, const struct bz_strategy_start *start);

/* A gap below 2^n, where n is drawn uniformly in [log2_min, log2_max]; log2_min >= 1. */
static inline uint32_t bz_rng_log_gap(struct bz_pcg32 *stream, uint32_t log2_min,
                                      uint32_t log2_max) {
    uint32_t log2 = log2_min + bz_pcg32_below(stream, log2_max - log2_min + 1);
    return bz_pcg32_next(stream) >> (32u - log2);
}

/* Draws a window, then a victim in it, so that rare windows are as likely as crowded ones. Returns
 * the victim's index plus 1; 0 if no candidate is in one of `windows` (a bit mask). */
uint32_t bz_rng_victim(struct bz_pcg32 *stream, const struct bz_cancel_candidate *candidates,
                       uint32_t count, uint32_t windows);

/* The smaller, or the larger, of a drawn number and another one. */
static inline uint64_t bz_rng_of_two(struct bz_pcg32 *stream, uint64_t bound, uint64_t drawn,
                                     bool is_smaller) {
    uint64_t other = bz_pcg32_below64(stream, bound);
    return (drawn < other) == is_smaller ? drawn : other;
}

/* For tables: every ready handle is equally likely; the gaps between cancels as planned; a victim
 * in any window; the gaps between clock jumps of `random`, and as planned; draws. */
uint32_t bz_rng_next(void *state, const struct bz_ready *ready, uint32_t count, uint32_t step);
uint32_t bz_rng_spread_gap(void *state);
uint64_t bz_rng_instead(void *state, const struct bz_ready *chosen, uint32_t step);
bool bz_rng_passes(void *state);
uint32_t bz_rng_cancel(void *state, const struct bz_cancel_candidate *candidates, uint32_t count,
                       uint32_t step, uint32_t point);
uint32_t bz_rng_rare_jump_gap(void *state);
uint32_t bz_rng_jump_gap(void *state);
bool bz_rng_jump(void *state, uint32_t step);
uint64_t bz_rng_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                     uint32_t step);

/* measure: the random walk that takes a profile. Users cannot name it. It counts the cancel points
 * of a run, and injects at most one cancel. */
struct bz_measure_state {
    struct bz_rng rng;
    uint32_t points;       /* of this run so far */
    uint32_t strike_point; /* where the cancel strikes */
};

extern const struct bz_strategy bz_strategy_measure;

/* In the table of a strategy that chooses the next handle by the profile, and the rest as planned.
 */
#define BZ_RNG_PLANNED                                                                             \
    .needs_profile = true, .cancel_gap = bz_rng_spread_gap, .passes = bz_rng_passes,               \
    .cancel = bz_rng_cancel, .jump_gap = bz_rng_jump_gap, .jump = bz_rng_jump, .draw = bz_rng_draw
