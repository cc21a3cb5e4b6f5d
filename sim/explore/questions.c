#include <stdlib.h>

#include "sim/explore/path.h"

/* --- answering the world ---------------------------------------------------------------------- */

static struct bz_question *ask(struct bz_search *search, enum bz_question_kind kind,
                               uint64_t bound) {
    if (search->cursor == search->question_count) {
        if (search->question_count == search->question_capacity) {
            uint32_t capacity = search->question_capacity == 0 ? 1024 : 2 * search->question_count;
            struct bz_question *larger =
                realloc(search->questions, capacity * sizeof *search->questions);
            BZ_CHECK(larger != NULL);
            search->questions = larger;
            search->question_capacity = capacity;
        }
        bool is_sampled = kind == BZ_QUESTION_DRAW && bound > BZ_EXPLORE_DRAWS_MAX;
        search->questions[search->question_count++] =
            (struct bz_question){.bound = bound, .kind = (uint8_t)kind, .is_sampled = is_sampled};
    }
    return &search->questions[search->cursor++];
}

static struct bz_search *search_of(void *state) {
    return *(struct bz_search **)state;
}

static void search_begin(void *state, const struct bz_strategy_start *start) {
    *(struct bz_search **)state = start->context;
}

static uint32_t search_next(void *state, const struct bz_ready *ready, uint32_t count,
                            uint32_t step) {
    struct bz_search *search = search_of(state);
    struct bz_question *question = ask(search, BZ_QUESTION_NEXT, count);
    (void)step;
    bool may_skip = bz_search_has(search, BZ_REDUCE_SLEEP) && !search->has_jumped;
    for (; may_skip && question->answer < count; question->answer++) {
        const struct bz_ready *handle = &ready[question->answer];
        uint64_t transition =
            handle->role == BZ_ROLE_STEP ? bz_transition_step(handle->owner) : BZ_TRANSITION_NONE;
        if (!bz_search_is_skipped(search, transition)) {
            break;
        }
    }
    search->is_blocked |= question->answer == count;
    return question->answer == count ? 0 : (uint32_t)question->answer;
}

static uint32_t search_gap(void *state) {
    (void)state;
    return 0;
}

/* A cancel of a task that has ended changes nothing but the number of cancels that are left. */
static uint32_t search_cancel(void *state, const struct bz_cancel_candidate *candidates,
                              uint32_t count, uint32_t step, uint32_t point) {
    struct bz_search *search = search_of(state);
    (void)step;
    (void)point;
    while (count > 0 && candidates[count - 1].window == BZ_WINDOW_DONE) {
        count--;
    }
    struct bz_question *question = ask(search, BZ_QUESTION_CANCEL, (uint64_t)count + 1);
    for (; bz_search_has(search, BZ_REDUCE_SLEEP) && question->answer - 1 < count;
         question->answer++) {
        uint32_t task = candidates[question->answer - 1].task;
        if (!bz_search_is_skipped(search, bz_transition_cancel(task))) {
            break;
        }
    }
    search->is_blocked |= question->answer > count;
    return question->answer > count ? 0 : (uint32_t)question->answer;
}

static bool search_jump(void *state, uint32_t step) {
    struct bz_search *search = search_of(state);
    (void)step;
    search->has_jumped = ask(search, BZ_QUESTION_JUMP, 2)->answer != 0;
    return search->has_jumped;
}

static uint64_t search_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                            uint32_t step) {
    struct bz_search *search = search_of(state);
    (void)kind;
    (void)step;
    const struct bz_question *question = ask(search, BZ_QUESTION_DRAW, draw->bound);
    if (question->is_sampled) {
        search->result->sampled_draw = draw->label;
    }
    return question->answer;
}

const struct bz_strategy bz_search_strategy = {
    .name = "explore",
    .summary = "every answer, one after the other",
    .reads_ready = true,
    .state_bytes = sizeof(struct bz_search *),
    .begin = search_begin,
    .next = search_next,
    .cancel_gap = search_gap,
    .cancel = search_cancel,
    .jump_gap = search_gap,
    .jump = search_jump,
    .draw = search_draw,
};

/* --- the next combination of answers ---------------------------------------------------------- */

uint32_t bz_question_delays(const struct bz_question *question) {
    bool is_delay = question->kind == BZ_QUESTION_NEXT || question->kind == BZ_QUESTION_JUMP;
    return is_delay ? (uint32_t)question->answer : 0;
}

uint32_t bz_question_cancels(const struct bz_question *question) {
    return question->kind == BZ_QUESTION_CANCEL && question->answer != 0;
}

static uint64_t answer_after(const struct bz_question *question) {
    if (!question->is_sampled) {
        return question->answer + 1;
    }
    uint64_t last = question->bound - 1;
    return question->answer == 0 ? last / 2 : question->answer < last ? last : question->bound;
}

static bool is_within_bounds(const struct bz_search *search, const struct bz_frame *frame) {
    if (search->bounds.is_sweep) {
        return true;
    }
    uint64_t delays = frame->delays;
    uint64_t cancels = bz_search_cancels_max(search->config) - frame->cancels_left;
    for (uint32_t index = 0; index < frame->question_count; index++) {
        delays += bz_question_delays(&search->questions[frame->first_question + index]);
        cancels += bz_question_cancels(&search->questions[frame->first_question + index]);
    }
    return delays <= search->bounds.delays && delays + cancels <= search->bounds.deviations;
}

bool bz_search_next_transition(struct bz_search *search) {
    struct bz_frame *frame = bz_search_top(search);
    if (!frame->has_begun) {
        frame->has_begun = true;
        return true;
    }
    for (; frame->question_count > 0; frame->question_count--) {
        search->question_count = frame->first_question + frame->question_count;
        struct bz_question *last = &search->questions[search->question_count - 1];
        last->answer = answer_after(last);
        if (last->answer < last->bound && is_within_bounds(search, frame)) {
            return true;
        }
        search->is_cut |= last->answer < last->bound; /* larger answers cost no less */
    }
    search->question_count = frame->first_question;
    return false;
}

bool bz_search_answers(const struct bz_search *search, struct bz_answers *answers) {
    *answers = (struct bz_answers){.count = 0};
    for (uint32_t index = 0; index < search->question_count; index++) {
        uint64_t answer = search->questions[index].answer;
        if (answer != 0 && !bz_answers_add(answers, index + 1, answer)) {
            return false;
        }
    }
    return true;
}
