/* answers: the default choice everywhere, except where a script says otherwise (answers.h). It
 * repeats what a search has found.
 * fifo: no script. It has one run: what a stock loop does without cancels, when every draw is 0. */
#include "sim/choice/answers.h"
#include "sim/choice/rng.h"

#define FIFO_JUMP_GAP 10000u

struct answers_state {
    const struct bz_answers *answers; /* NULL: the default throughout */
    uint32_t question;
    uint32_t cursor;
};

static void answers_begin(void *state, const struct bz_strategy_start *start) {
    *(struct answers_state *)state = (struct answers_state){.answers = start->answers};
}

static void fifo_begin(void *state, const struct bz_strategy_start *start) {
    (void)start;
    *(struct answers_state *)state = (struct answers_state){.answers = NULL};
}

/* An answer out of bounds becomes the default: then the run has another digest. */
static uint64_t reply(void *opaque, uint64_t bound) {
    struct answers_state *state = opaque;
    const struct bz_answers *answers = state->answers;
    state->question++;
    if (answers == NULL || state->cursor == answers->count ||
        answers->entries[state->cursor].question != state->question) {
        return 0;
    }
    uint64_t value = answers->entries[state->cursor++].answer;
    return value < bound ? value : 0;
}

static uint32_t answers_next(void *state, const struct bz_ready *ready, uint32_t count,
                             uint32_t step) {
    (void)ready;
    (void)step;
    return (uint32_t)reply(state, count);
}

static uint32_t fifo_gap(void *state) {
    (void)state;
    return BZ_GAP_NEVER;
}

static uint32_t answers_cancel(void *state, const struct bz_cancel_candidate *candidates,
                               uint32_t count, uint32_t step, uint32_t point) {
    (void)candidates;
    (void)step;
    (void)point;
    return (uint32_t)reply(state, (uint64_t)count + 1);
}

static uint32_t fifo_jump_gap(void *state) {
    (void)state;
    return FIFO_JUMP_GAP;
}

static bool answers_jump(void *state, uint32_t step) {
    (void)step;
    return reply(state, 2) == 1;
}

static uint64_t answers_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                             uint32_t step) {
    (void)kind;
    (void)step;
    return reply(state, draw->bound);
}

/* What the three share. */
#define ANSWERED                                                                                   \
    .state_bytes = sizeof(struct answers_state), .next = answers_next, .cancel = answers_cancel,   \
    .draw = answers_draw

const struct bz_strategy bz_strategy_answers = {
    .name = "answers",
    .summary = "the default choices, except where the setting answers says otherwise: repeats what "
               "explore found",
    .begin = answers_begin,
    .cancel_gap = bz_gap_none,
    .jump_gap = bz_gap_none,
    .jump = answers_jump,
    ANSWERED,
};

const struct bz_strategy bz_strategy_fifo = {
    .name = "fifo",
    .summary = "the oldest handle first, no cancel, every draw 0: the one default run",
    .begin = fifo_begin,
    .cancel_gap = fifo_gap,
    .jump_gap = fifo_gap,
    .jump = answers_jump,
    ANSWERED,
};

const struct bz_strategy bz_strategy_fifo_jumping = {
    .name = "fifo-jumping",
    .summary = "fifo, but the clock jumps now and then",
    .begin = fifo_begin,
    .cancel_gap = fifo_gap,
    .jump_gap = fifo_jump_gap,
    .jump = bz_rng_jump,
    ANSWERED,
};
