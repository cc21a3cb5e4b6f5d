/* random: every ready handle is equally likely, at every step (a random walk).
 *
 * Each kind of choice has a PCG stream of its own, so that one more draw of data leaves the
 * schedule alone. Cancels and clock jumps come after gaps whose length is drawn log-uniformly, up
 * to 2^GAP_LOG2_MAX points: short and long runs get their share without knowing how long a run is.
 * The victim is drawn window first, then task, so that rare windows are as likely as crowded ones.
 *
 * Guarantee: a given schedule of k steps with at most n ready handles is hit with probability at
 * least n^-k; fair with probability 1.
 */
#include "sim/choice/pcg.h"
#include "sim/choice/strategy.h"

#define GAP_LOG2_MIN 3u
#define GAP_LOG2_MAX 9u
#define JUMP_GAP_LOG2_MIN 2u
#define JUMP_GAP_LOG2_MAX 10u

struct random_state {
    struct bz_pcg32 streams[BZ_CHOICE_KIND_COUNT];
};

static void random_begin(void *state, const struct bz_strategy_start *start) {
    struct random_state *random = state;
    uint64_t mixed = bz_seed_mix(start->seed);
    for (unsigned kind = 0; kind < BZ_CHOICE_KIND_COUNT; kind++) {
        bz_pcg32_seed(&random->streams[kind], mixed, kind);
    }
}

static uint32_t random_next(void *state, const struct bz_loop *loop, uint32_t count,
                            uint32_t step) {
    struct random_state *random = state;
    (void)loop;
    (void)step;
    return bz_pcg32_below(&random->streams[BZ_CHOICE_NEXT], count);
}

static uint32_t log_uniform_gap(struct bz_pcg32 *stream, uint32_t log2_min, uint32_t log2_max) {
    uint32_t log2 = log2_min + bz_pcg32_below(stream, log2_max - log2_min + 1);
    return bz_pcg32_next(stream) >> (32u - log2);
}

static uint32_t random_cancel_gap(void *state) {
    struct random_state *random = state;
    return log_uniform_gap(&random->streams[BZ_CHOICE_CANCEL], GAP_LOG2_MIN, GAP_LOG2_MAX);
}

static uint32_t random_cancel(void *state, const struct bz_loop *loop,
                              const struct bz_cancel_candidate *candidates, uint32_t count,
                              uint32_t step, uint32_t point) {
    struct random_state *random = state;
    struct bz_pcg32 *stream = &random->streams[BZ_CHOICE_CANCEL];
    uint32_t windows = 0;
    (void)loop;
    (void)step;
    (void)point;
    for (uint32_t index = 0; index < count; index++) {
        windows += index == 0 || candidates[index].window != candidates[index - 1].window;
    }
    uint32_t window = bz_pcg32_below(stream, windows);
    uint32_t first = 0;
    uint32_t next = 0;
    for (;;) { /* [first, next) becomes the run of candidates of the window drawn */
        while (next < count && candidates[next].window == candidates[first].window) {
            next++;
        }
        if (window-- == 0) {
            break;
        }
        first = next;
    }
    return 1 + first + bz_pcg32_below(stream, next - first);
}

static uint32_t random_jump_gap(void *state) {
    struct random_state *random = state;
    return log_uniform_gap(&random->streams[BZ_CHOICE_DELAY], JUMP_GAP_LOG2_MIN, JUMP_GAP_LOG2_MAX);
}

static bool random_jump(void *state, uint32_t step) {
    (void)state;
    (void)step;
    return true;
}

static uint64_t random_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                            uint32_t step) {
    struct random_state *random = state;
    (void)step;
    return bz_pcg32_below64(&random->streams[kind], draw->bound);
}

const struct bz_strategy bz_strategy_random = {
    .name = "random",
    .summary = "every ready handle equally likely at every step, cancels after log-uniform gaps",
    .is_fair = true,
    .state_bytes = sizeof(struct random_state),
    .begin = random_begin,
    .next = random_next,
    .cancel_gap = random_cancel_gap,
    .cancel = random_cancel,
    .jump_gap = random_jump_gap,
    .jump = random_jump,
    .draw = random_draw,
};
