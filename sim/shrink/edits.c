#include "sim/shrink/edits.h"

#include <string.h>

#include "primitives/runtime/check.h"
#include "sim/choice/pcg.h"

#define NONE UINT32_MAX

/* --- the table of edits ----------------------------------------------------------------------- */

static bool is_same_choice(const struct bz_edit *a, const struct bz_edit *b) {
    bool is_same_label = a->label == NULL || b->label == NULL ? a->label == b->label
                                                              : strcmp(a->label, b->label) == 0;
    return a->kind == b->kind && a->part == b->part && a->owner == b->owner && a->nth == b->nth &&
           is_same_label;
}

static uint32_t place_of(const struct bz_board *board, const struct bz_edit *edit) {
    uint64_t word = (uint64_t)edit->owner << 32u | edit->nth;
    uint64_t hash = bz_seed_mix(word ^ (uint64_t)edit->kind << 56u ^ (uint64_t)edit->part << 48u ^
                                bz_seed_mix_text(edit->label));
    return (uint32_t)hash & board->table_mask;
}

static void fill_table(struct bz_board *board) {
    uint32_t capacity = 4;
    while (capacity < 2 * board->edits.count) {
        capacity *= 2;
    }
    board->table_mask = capacity - 1;
    memset(board->table, 0, capacity * sizeof board->table[0]);
    memset(board->is_used, 0, board->edits.count * sizeof board->is_used[0]);
    for (uint32_t index = 0; index < board->edits.count; index++) {
        uint32_t place = place_of(board, &board->edits.items[index]);
        while (board->table[place] != 0) {
            place = (place + 1) & board->table_mask;
        }
        board->table[place] = index + 1;
    }
}

/* The first unused edit of this choice, or NONE. O(1). */
static uint32_t find(const struct bz_board *board, const struct bz_edit *choice) {
    if (board->source != BZ_EDIT_BY_EDITS) {
        return NONE;
    }
    uint32_t found = NONE;
    for (uint32_t place = place_of(board, choice); board->table[place] != 0;
         place = (place + 1) & board->table_mask) {
        uint32_t index = board->table[place] - 1;
        if (index < found && !board->is_used[index] &&
            is_same_choice(&board->edits.items[index], choice)) {
            found = index;
        }
    }
    return found;
}

/* --- notes ------------------------------------------------------------------------------------ */

/* A new choice point. Returns whether its answer is given, by the script or as the forced one, and
 * which: below `bound`. */
static bool ask_script(struct bz_board *board, struct bz_edit_point point, uint64_t bound,
                       uint64_t *answer) {
    const struct bz_answers *script = &board->script;
    if (board->point_count < BZ_EDITS_POINTS_MAX) {
        board->points[board->point_count++] = point;
    }
    board->question++;
    *answer = 0;
    if (board->source == BZ_EDIT_BY_EDITS && board->question == board->forced_question) {
        *answer = board->forced_answer < bound ? board->forced_answer : 0;
        return true;
    }
    if (board->source != BZ_EDIT_BY_SCRIPT) {
        return false;
    }
    if (board->script_cursor < script->count &&
        script->entries[board->script_cursor].question == board->question) {
        *answer = script->entries[board->script_cursor++].answer;
        *answer = *answer < bound ? *answer : 0;
    }
    return true;
}

static void note(struct bz_board *board, struct bz_edit made, uint64_t answer, uint32_t step) {
    if (answer == 0) {
        return;
    }
    made.step = step;
    made.question = board->question;
    made.answer = answer;
    if (board->made.count == BZ_EDITS_MAX) {
        board->is_full = true;
    } else {
        board->made.items[board->made.count++] = made;
    }
}

/* The known facts of a choice that is there now. */
static struct bz_edit_seen *look_at(struct bz_board *board, struct bz_edit_seen *seen,
                                    const struct bz_edit *choice) {
    if (seen->run != board->run || seen->nth != choice->nth) {
        *seen = (struct bz_edit_seen){.run = board->run, .nth = choice->nth, .part = UINT8_MAX};
    }
    if (seen->part != choice->part) { /* the window of a cancel may change and come back */
        seen->part = choice->part;
        seen->item = find(board, choice);
    }
    return seen;
}

static bool is_due(const struct bz_board *board, const struct bz_edit_seen *seen) {
    return seen->item != NONE && seen->seen >= board->edits.items[seen->item].value;
}

/* --- free choices ----------------------------------------------------------------------------- */

static bool is_free(const struct bz_board *board, uint32_t step) {
    return board->is_free && step > board->free_after;
}

static bool is_rare(struct bz_board *board, enum bz_choice_kind kind) {
    return bz_pcg32_below(&board->free.streams[kind], BZ_EDITS_RARE) == 0;
}

/* --- the strategy ----------------------------------------------------------------------------- */

static void edits_begin(void *state, const struct bz_strategy_start *start) {
    struct bz_board *board = start->context;
    *(struct bz_board **)state = board;
    board->made.count = 0;
    board->is_full = false;
    board->point_count = 0;
    board->run++;
    board->question = 0;
    board->looked = 0;
    board->loop_draws = 0;
    board->script_cursor = 0;
    board->jumps = 0;
    bz_rng_seed(&board->free, start->seed ^ board->free_seed);
    board->jump_seen = 0;
    if (board->source == BZ_EDIT_BY_TAPE) {
        struct bz_strategy_start own = *start;
        own.context = NULL;
        bz_strategy_replay_strict.begin(&board->replay, &own);
    } else if (board->source == BZ_EDIT_BY_EDITS) {
        fill_table(board);
    }
}

static struct bz_edit_seen *seen_of(struct bz_board *board, const struct bz_ready *handle) {
    return &board->handles[handle->owner][handle->role][handle->nth % BZ_EDITS_AT_ONCE];
}

static struct bz_edit edit_of_handle(const struct bz_ready *handle) {
    return (struct bz_edit){
        .kind = BZ_CHOICE_NEXT, .part = handle->role, .owner = handle->owner, .nth = handle->nth};
}

static uint32_t edits_next(void *state, const struct bz_ready *ready, uint32_t count,
                           uint32_t step) {
    struct bz_board *board = *(struct bz_board **)state;
    uint64_t answer;
    bool is_answered =
        ask_script(board, (struct bz_edit_point){count, BZ_CHOICE_NEXT}, count, &answer);
    if (board->source == BZ_EDIT_BY_TAPE) {
        answer = bz_strategy_replay_strict.next(&board->replay, ready, count, step);
        is_answered = true;
    } else if (is_free(board, step)) {
        answer = bz_rng_next(&board->free, ready, count, step);
    }
    uint32_t first_item = NONE;
    board->looked += count;
    for (uint32_t index = 0; index < count; index++) {
        if (ready[index].owner >= BZ_EDITS_TASKS_MAX) {
            board->is_full = true;
            return 0;
        }
        struct bz_edit choice = edit_of_handle(&ready[index]);
        struct bz_edit_seen *seen = look_at(board, seen_of(board, &ready[index]), &choice);
        if (!is_answered && is_due(board, seen) && seen->item < first_item) {
            first_item = seen->item;
            answer = index;
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        struct bz_edit_seen *seen = seen_of(board, &ready[index]);
        if (index == answer) {
            struct bz_edit made = edit_of_handle(&ready[index]);
            made.value = seen->seen;
            note(board, made, answer, step);
        } else {
            seen->seen++;
        }
    }
    if (first_item != NONE) {
        board->is_used[first_item] = true;
    }
    return (uint32_t)answer;
}

/* Candidates that have ended come last: a cancel of one changes nothing. */
static uint32_t worth_a_cancel(const struct bz_cancel_candidate *candidates, uint32_t count) {
    while (count > 0 && candidates[count - 1].window == BZ_WINDOW_DONE) {
        count--;
    }
    return count;
}

static struct bz_edit edit_of_victim(const struct bz_cancel_candidate *candidate) {
    return (struct bz_edit){.kind = BZ_CHOICE_CANCEL,
                            .part = candidate->window,
                            .owner = candidate->task,
                            .nth = candidate->nth};
}

static uint32_t edits_cancel(void *state, const struct bz_cancel_candidate *candidates,
                             uint32_t count, uint32_t step, uint32_t point) {
    struct bz_board *board = *(struct bz_board **)state;
    uint64_t answer;
    struct bz_edit_point asked = {(uint64_t)worth_a_cancel(candidates, count) + 1,
                                  BZ_CHOICE_CANCEL};
    bool is_answered = ask_script(board, asked, (uint64_t)count + 1, &answer);
    if (board->source == BZ_EDIT_BY_TAPE) {
        answer = bz_strategy_replay_strict.cancel(&board->replay, candidates, count, step, point);
        is_answered = true;
    } else if (is_free(board, step)) {
        answer = is_rare(board, BZ_CHOICE_CANCEL)
                     ? bz_rng_cancel(&board->free, candidates, count, step, point)
                     : 0;
    }
    uint32_t first_item = NONE;
    board->looked += count;
    for (uint32_t index = 0; index < count; index++) {
        if (candidates[index].task >= BZ_EDITS_TASKS_MAX) {
            board->is_full = true;
            return 0;
        }
        struct bz_edit choice = edit_of_victim(&candidates[index]);
        const struct bz_edit_seen *seen = look_at(board, &board->victims[choice.owner], &choice);
        if (!is_answered && is_due(board, seen) && seen->item < first_item) {
            first_item = seen->item;
            answer = (uint64_t)index + 1;
        }
    }
    for (uint32_t index = 0; index < count; index++) {
        struct bz_edit_seen *seen = &board->victims[candidates[index].task];
        if (index + 1 == answer) {
            struct bz_edit made = edit_of_victim(&candidates[index]);
            made.value = seen->seen;
            note(board, made, answer, step);
            seen->part = UINT8_MAX; /* there may be another one */
        }
        seen->seen++;
    }
    if (first_item != NONE) {
        board->is_used[first_item] = true;
    }
    return (uint32_t)answer;
}

static bool edits_retime(void *state, uint32_t step, uint32_t value) {
    struct bz_board *board = *(struct bz_board **)state;
    uint64_t answer;
    struct bz_edit choice = {
        .kind = BZ_CHOICE_DELAY, .nth = board->jumps + 1, .value = board->jump_seen};
    bool is_answered = ask_script(board, (struct bz_edit_point){2, BZ_CHOICE_DELAY}, 2, &answer);
    if (board->source == BZ_EDIT_BY_TAPE) {
        answer = bz_strategy_replay_strict.retime(&board->replay, step, value);
    } else if (is_free(board, step)) {
        answer = is_rare(board, BZ_CHOICE_DELAY);
    } else if (!is_answered) {
        uint32_t item = find(board, &choice);
        answer = item != NONE && board->jump_seen >= board->edits.items[item].value;
    }
    note(board, choice, answer, step);
    board->jump_seen = answer == 0 ? board->jump_seen + 1 : 0;
    board->jumps += answer != 0;
    return answer != 0;
}

static bool edits_jump(void *state, uint32_t step) {
    return edits_retime(state, step, BZ_CHOICE_LAG);
}

static uint64_t edits_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                           uint32_t step) {
    struct bz_board *board = *(struct bz_board **)state;
    uint64_t answer;
    struct bz_edit choice = {.kind = (uint8_t)kind,
                             .label = draw->label,
                             .owner = draw->owner,
                             .nth = draw->nth,
                             .bound = draw->bound};
    bool is_answered = ask_script(board, (struct bz_edit_point){draw->bound, BZ_CHOICE_DATA},
                                  draw->bound, &answer);
    if (draw->owner == 0 && board->loop_draws < BZ_EDITS_LOOP_DRAWS_MAX) {
        board->loop_labels[board->loop_draws] = draw->label;
    }
    board->loop_draws += draw->owner == 0;
    if (board->source == BZ_EDIT_BY_TAPE) {
        answer = bz_strategy_replay_strict.draw(&board->replay, kind, draw, step);
    } else if (is_free(board, step)) {
        answer = bz_rng_draw(&board->free, kind, draw, step);
    } else if (!is_answered) {
        uint32_t item = find(board, &choice);
        answer = item == NONE ? 0 : board->edits.items[item].value;
        answer = answer < draw->bound ? answer : draw->bound - 1;
    }
    choice.value = answer;
    note(board, choice, answer, step);
    return answer;
}

const struct bz_strategy bz_strategy_edits = {
    .name = "edits",
    .summary = "choices that a shrinking run tries",
    .reads_ready = true,
    .state_bytes = sizeof(struct bz_board *),
    .begin = edits_begin,
    .next = edits_next,
    .cancel_gap = bz_gap_none,
    .cancel = edits_cancel,
    .jump_gap = bz_gap_none,
    .jump = edits_jump,
    .retime = edits_retime,
    .draw = edits_draw,
};

/* --- lists of edits --------------------------------------------------------------------------- */

bool bz_edits_script(const struct bz_edits *made, struct bz_answers *script) {
    script->count = 0;
    for (uint32_t index = 0; index < made->count; index++) {
        if (!bz_answers_add(script, made->items[index].question, made->items[index].answer)) {
            return false;
        }
    }
    return true;
}

int bz_compare_pairs(const uint64_t (*pairs)[2], size_t count) {
    size_t index = 0;
    while (index < count && pairs[index][0] == pairs[index][1]) {
        index++;
    }
    return index == count ? 0 : pairs[index][0] < pairs[index][1] ? -1 : 1;
}

int bz_edit_compare(const struct bz_edit *a, const struct bz_edit *b) {
    const uint64_t pairs[][2] = {{a->kind, b->kind},   {a->question, b->question},
                                 {a->owner, b->owner}, {a->nth, b->nth},
                                 {a->part, b->part},   {a->value, b->value}};
    return bz_compare_pairs(pairs, sizeof pairs / sizeof pairs[0]);
}

/* --- a board that a child process shares ------------------------------------------------------ */

void bz_edits_copy(struct bz_edits *to, const struct bz_edits *from) {
    memcpy(to->items, from->items, from->count * sizeof from->items[0]);
    to->count = from->count;
}

void bz_board_give(struct bz_board *shared, const struct bz_board *own) {
    shared->source = own->source;
    bz_edits_copy(&shared->edits, &own->edits);
    shared->forced_question = own->forced_question;
    shared->forced_answer = own->forced_answer;
    shared->script = own->script;
    shared->is_free = own->is_free;
    shared->free_after = own->free_after;
    shared->free_seed = own->free_seed;
}

/* True if an edit of the run is what the tape has at its place. */
static bool is_on_tape(const struct bz_edit *edit, const struct bz_choice *choice) {
    bool is_draw = choice->label != NULL;
    return edit->label == choice->label && edit->kind == choice->kind &&
           edit->step == choice->step && (!is_draw || edit->value == choice->value) &&
           edit->bound == choice->bound;
}

bool bz_board_take(struct bz_board *own, const struct bz_board *shared,
                   const struct bz_tape *tape) {
    uint32_t count = shared->made.count;
    uint32_t point_count = shared->point_count;
    unsigned char is_full; /* a byte of any value */
    memcpy(&is_full, &shared->is_full, 1);
    own->looked = shared->looked < UINT32_MAX ? shared->looked : 0;
    own->loop_draws = 0; /* their labels are pointers */
    own->made.count = 0;
    own->point_count = 0;
    own->is_full = true;
    own->is_harmed = is_full == 0;
    if (is_full != 0 || count > BZ_EDITS_MAX || count != tape->count ||
        point_count > BZ_EDITS_POINTS_MAX) {
        return false;
    }
    memcpy(own->points, shared->points, point_count * sizeof own->points[0]);
    for (uint32_t index = 0; index < count; index++) {
        own->made.items[index] = shared->made.items[index];
        if (!is_on_tape(&own->made.items[index], &tape->choices[index])) {
            return false;
        }
    }
    own->made.count = count;
    own->point_count = point_count;
    own->is_full = false;
    own->is_harmed = false;
    return true;
}
