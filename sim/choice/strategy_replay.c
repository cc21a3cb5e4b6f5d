#include "sim/choice/strategy_replay.h"

#include <string.h>

#include "primitives/runtime/check.h"

static void lenient_begin(void *state, const struct bz_strategy_start *start) {
    *(struct bz_replay_state *)state =
        (struct bz_replay_state){.tape = start->tape, .made = start->context};
    BZ_CHECK(start->tape != NULL);
}

static void strict_begin(void *state, const struct bz_strategy_start *start) {
    lenient_begin(state, start);
    ((struct bz_replay_state *)state)->is_strict = true;
}

static void diverge(struct bz_replay_state *state, const struct bz_choice *entry, uint32_t step) {
    if (!state->is_diverged) {
        state->is_diverged = true;
        state->diverged_entry = (size_t)(entry - state->tape->choices);
        state->diverged_step = step;
    }
}

static void note_made(struct bz_replay_state *state, const struct bz_choice *entry) {
    if (state->made != NULL) {
        state->made[entry - state->tape->choices] = 1;
    }
}

/* Strict: the entry that must fit next; NULL after the last one. */
static const struct bz_choice *next_entry(const struct bz_replay_state *state) {
    return state->cursor < state->tape->count ? &state->tape->choices[state->cursor] : NULL;
}

/* The entry for a choice at this step, other than a draw, with this value (0: any); NULL: the
 * default. Entries are in the order of the run: strict looks at one. */
static const struct bz_choice *entry_at_step(struct bz_replay_state *state,
                                             enum bz_choice_kind kind, uint32_t step,
                                             uint64_t value) {
    const struct bz_tape *tape = state->tape;
    if (state->is_strict) {
        const struct bz_choice *entry = next_entry(state);
        if (entry != NULL && entry->kind == kind && entry->step == step && entry->label == NULL &&
            (value == 0 || entry->value == value)) {
            state->cursor++;
            return entry;
        }
        if (entry != NULL && entry->step < step) {
            diverge(state, entry, step); /* its place has passed */
        }
        return NULL;
    }
    for (size_t index = state->cursor; index < tape->count; index++) {
        const struct bz_choice *entry = &tape->choices[index];
        if (entry->kind == kind && entry->label == NULL && entry->step >= step &&
            (entry->step > step || value == 0 || entry->value == value)) {
            return entry->step == step ? entry : NULL;
        }
    }
    return NULL;
}

static uint32_t find_next(struct bz_replay_state *state, const struct bz_ready *ready,
                          uint32_t count, uint32_t step) {
    const struct bz_choice *entry = entry_at_step(state, BZ_CHOICE_NEXT, step, 0);
    if (entry == NULL) {
        return 0;
    }
    for (uint32_t index = 0; index < count; index++) {
        const struct bz_ready *handle = &ready[index];
        if (handle->owner == entry->owner && handle->nth == entry->nth &&
            handle->role == entry->role) {
            note_made(state, entry);
            return index;
        }
    }
    diverge(state, entry, step);
    return 0;
}

static uint32_t replay_next(void *opaque, const struct bz_ready *ready, uint32_t count,
                            uint32_t step) {
    const struct bz_replay_listener *listener = ((struct bz_replay_state *)opaque)->listener;
    uint32_t chosen = find_next(opaque, ready, count, step);
    if (listener != NULL) {
        listener->next(listener->context, ready, count, chosen, step);
    }
    return chosen;
}

/* A cancel's place is a cancel point of a step. At an earlier point of the step it waits. */
static const struct bz_choice *cancel_entry(struct bz_replay_state *state, uint32_t step,
                                            uint32_t point) {
    size_t cursor = state->cursor;
    const struct bz_choice *entry = entry_at_step(state, BZ_CHOICE_CANCEL, step, 0);
    if (entry != NULL && entry->value > point) {
        state->cursor = cursor;
        return NULL;
    }
    if (entry != NULL && entry->value < point && state->is_strict) {
        diverge(state, entry, step); /* its point has passed */
    }
    return entry;
}

static uint32_t replay_cancel(void *opaque, const struct bz_cancel_candidate *candidates,
                              uint32_t count, uint32_t step, uint32_t point) {
    struct bz_replay_state *state = opaque;
    const struct bz_choice *entry = cancel_entry(state, step, point);
    if (entry == NULL) {
        return 0;
    }
    for (uint32_t index = 0; index < count; index++) {
        bool is_same_place = !state->is_strict || (candidates[index].nth == entry->nth &&
                                                   candidates[index].window == entry->window);
        if (candidates[index].task == entry->owner && is_same_place) {
            note_made(state, entry);
            return index + 1;
        }
    }
    diverge(state, entry, step);
    return 0;
}

static bool replay_retime(void *opaque, uint32_t step, uint32_t value) {
    struct bz_replay_state *state = opaque;
    const struct bz_choice *entry = entry_at_step(state, BZ_CHOICE_DELAY, step, value);
    if (entry != NULL) {
        note_made(state, entry);
    }
    return entry != NULL;
}

static bool replay_jump(void *state, uint32_t step) {
    return replay_retime(state, step, BZ_CHOICE_LAG);
}

static bool is_draw_entry(const struct bz_choice *entry, enum bz_choice_kind kind,
                          const struct bz_draw *draw) {
    return entry->kind == kind && entry->label != NULL && entry->owner == draw->owner &&
           entry->nth == draw->nth && strcmp(entry->label, draw->label) == 0;
}

static uint64_t strict_draw(struct bz_replay_state *state, enum bz_choice_kind kind,
                            const struct bz_draw *draw, uint32_t step) {
    const struct bz_choice *entry = next_entry(state);
    if (entry == NULL || !is_draw_entry(entry, kind, draw) || entry->step != step) {
        return 0;
    }
    if (entry->bound == draw->bound && entry->value != 0 && entry->value < draw->bound) {
        state->cursor++;
        return entry->value;
    }
    diverge(state, entry, step);
    return 0;
}

static uint64_t replay_draw(void *opaque, enum bz_choice_kind kind, const struct bz_draw *draw,
                            uint32_t step) {
    struct bz_replay_state *state = opaque;
    if (state->is_strict) {
        return strict_draw(state, kind, draw, step);
    }
    for (size_t index = 0; index < state->tape->count; index++) {
        const struct bz_choice *entry = &state->tape->choices[index];
        if (is_draw_entry(entry, kind, draw)) {
            if (entry->value < draw->bound) {
                note_made(state, entry);
            }
            return entry->value < draw->bound ? entry->value : draw->bound - 1;
        }
    }
    return 0;
}

bool bz_replay_state_finish(struct bz_replay_state *state, uint32_t last_step) {
    if (state->is_strict && next_entry(state) != NULL) {
        diverge(state, next_entry(state), last_step); /* its place was never reached */
    }
    return !state->is_diverged;
}

#define REPLAYS                                                                                    \
    .reads_ready = true, .state_bytes = sizeof(struct bz_replay_state), .next = replay_next,       \
    .cancel_gap = bz_gap_none, .cancel = replay_cancel, .jump_gap = bz_gap_none,                   \
    .jump = replay_jump, .retime = replay_retime, .draw = replay_draw

const struct bz_strategy bz_strategy_replay_strict = {
    .name = "replay-strict",
    .summary = "choices from a tape whose entries must all fit",
    .begin = strict_begin,
    REPLAYS,
};

const struct bz_strategy bz_strategy_replay_lenient = {
    .name = "replay-lenient",
    .summary = "choices from a tape; skips what does not fit",
    .begin = lenient_begin,
    REPLAYS,
};
