/* answers: a list of answers, and the default everywhere else. What a search has found is repeated
 * so: see answers.h. Every question is asked, at every point. */
#include "sim/choice/answers.h"
#include "sim/choice/strategy.h"

struct answers_state {
    const struct bz_answers *answers; /* NULL: default throughout */
    uint32_t question;
    uint32_t cursor;
};

static void answers_begin(void *opaque, const struct bz_strategy_start *start) {
    *(struct answers_state *)opaque = (struct answers_state){.answers = start->answers};
}

/* An answer that does not fit is taken back to the default one: the run is another one then, which
 * its digest tells. */
static uint64_t reply(struct answers_state *state, uint64_t bound) {
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

static uint32_t answers_gap(void *state) {
    (void)state;
    return 0;
}

static uint32_t answers_cancel(void *state, const struct bz_cancel_candidate *candidates,
                               uint32_t count, uint32_t step, uint32_t point) {
    (void)candidates;
    (void)step;
    (void)point;
    return (uint32_t)reply(state, (uint64_t)count + 1);
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

const struct bz_strategy bz_strategy_answers = {
    .name = "answers",
    .summary =
        "the setting answers says which questions are not answered by default: what explore found",
    .state_bytes = sizeof(struct answers_state),
    .begin = answers_begin,
    .next = answers_next,
    .cancel_gap = answers_gap,
    .cancel = answers_cancel,
    .jump_gap = answers_gap,
    .jump = answers_jump,
    .draw = answers_draw,
};
