/* Programs that the setup draws (scenarios/program): other ones with fewer tasks, mixed from what
 * the tasks of the best one do. What is needed is in the best program, and seldom in one that is
 * drawn anew.
 *
 * The draws of the setup end with a block for each task. A block has parts of equal length, for
 * instance operations: the labels repeat. */
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define RUNS_OF_A_MIX 20000u
#define LEFT_OUT 4u /* one part in so many */
#define CHANGED 8u  /* in one part in so many, a draw changes */
#define CHANGED_BELOW 3u

struct mixing {
    struct bz_shrinking *shrinking;
    uint32_t draws;  /* of the best program's setup */
    uint32_t tasks;  /* blocks */
    uint32_t block;  /* draws of each */
    uint32_t length; /* draws of a part */
    uint32_t edits[BZ_EDITS_LOOP_DRAWS_MAX]; /* by draw: its edit in the best run, plus 1 */
    struct bz_pcg32 random;
    struct bz_failing found;
};

/* Runs the edits of the best run in the trial's program. Returns the tasks. */
static uint32_t measure(struct bz_shrinking *shrinking) {
    struct bz_shrink_size size;
    bz_edits_copy(&shrinking->board->edits, &shrinking->best->edits);
    (void)bz_shrink_try(shrinking, &size);
    return bz_shrink_tasks_of(shrinking->trial->world->judge);
}

/* After how many draws the label of the last one comes back. */
static uint32_t measure_part(const struct bz_board *board) {
    uint32_t last = board->loop_draws - 1;
    uint32_t length = 1;
    while (length <= last &&
           strcmp(board->loop_labels[last - length], board->loop_labels[last]) != 0) {
        length++;
    }
    return length;
}

static void note_edits(struct mixing *mixing) {
    const struct bz_edits *best = &mixing->shrinking->best->edits;
    for (uint32_t index = 0; index < best->count; index++) {
        const struct bz_edit *edit = &best->items[index];
        if (edit->owner == 0 && edit->label != NULL && edit->nth <= mixing->draws) {
            mixing->edits[edit->nth - 1] = index + 1;
        }
    }
}

/* Copies draws of the best program. False: they are all 0. */
static bool put(struct mixing *mixing, uint32_t from, uint32_t to, uint32_t length) {
    struct bz_edits *edits = &mixing->shrinking->board->edits;
    uint32_t before = edits->count;
    uint32_t changed = bz_pcg32_below(&mixing->random, CHANGED * length);
    for (uint32_t index = 0; index < length; index++) {
        uint32_t number = mixing->edits[from + index];
        if (number != 0) {
            struct bz_edit edit = mixing->shrinking->best->edits.items[number - 1];
            edit.nth = to + index + 1;
            if (index == changed) {
                edit.value = bz_pcg32_below(&mixing->random, CHANGED_BELOW);
            }
            edits->items[edits->count++] = edit;
        }
    }
    return edits->count > before;
}

/* Puts a mix on the board: each task does a part of what one or two others did. */
static void mix(struct mixing *mixing) {
    uint32_t parts = mixing->block / mixing->length;
    uint32_t base = mixing->draws - mixing->tasks * mixing->block;
    mixing->shrinking->board->edits.count = 0;
    if (base > 0) {
        (void)put(mixing, 0, 0, base);
    }
    for (uint32_t task = 0; task + 1 < mixing->tasks; task++) {
        uint32_t place = 0;
        for (uint32_t left = 1 + bz_pcg32_below(&mixing->random, 2); left > 0; left--) {
            uint32_t other = bz_pcg32_below(&mixing->random, mixing->tasks);
            for (uint32_t part = 0; part < parts && place < parts; part++) {
                bool is_kept = bz_pcg32_below(&mixing->random, LEFT_OUT) != 0;
                place += is_kept &&
                         put(mixing, base + other * mixing->block + part * mixing->length,
                             base + task * mixing->block + place * mixing->length, mixing->length);
            }
        }
    }
}

/* Runs mixes, half of them in the order of a FIFO loop. */
static bool try_mixes(struct mixing *mixing) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_board *board = shrinking->board;
    bool is_smaller = false;
    for (uint32_t run = 0; run < RUNS_OF_A_MIX && !is_smaller && bz_shrink_goes_on(shrinking);
         run++) {
        mix(mixing);
        board->is_free = run % 2 == 1;
        board->free_after = 0;
        board->free_seed = run;
        bool fails = bz_shrink_try(shrinking, &mixing->found.size);
        board->is_free = false;
        if (fails) {
            bz_edits_copy(&mixing->found.edits, &board->made);
            is_smaller = bz_shrink_other(shrinking, &mixing->found, bz_shrink_choices);
        }
    }
    return is_smaller;
}

/* With a lower parameter that counts tasks. */
static bool mix_with(struct mixing *mixing, uint32_t place, uint32_t tasks) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_program program = shrinking->result->program;
    mixing->tasks = (uint32_t)program.args.values[place]--;
    if (!bz_shrink_enter(shrinking, &program) || measure(shrinking) >= tasks ||
        shrinking->board->loop_draws >= mixing->draws) {
        return false;
    }
    mixing->block = mixing->draws - shrinking->board->loop_draws;
    bool has_blocks = mixing->tasks <= mixing->draws / mixing->block &&
                      mixing->block % mixing->length == 0;
    return has_blocks && try_mixes(mixing);
}

bool bz_shrink_mix(struct bz_shrinking *shrinking) {
    const struct bz_program best = shrinking->result->program;
    const struct bz_param *params = best.scenario->params;
    bool is_smaller = false;
    struct mixing *mixing = calloc(1, sizeof *mixing);
    if (mixing == NULL) {
        bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a shrinking run");
        return false;
    }
    mixing->shrinking = shrinking;
    bz_pcg32_seed(&mixing->random, 0, 0);
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    uint32_t tasks = bz_shrink_enter(shrinking, &best) ? measure(shrinking) : 0;
    mixing->draws = shrinking->board->loop_draws;
    if (mixing->draws > 1 && mixing->draws <= BZ_EDITS_LOOP_DRAWS_MAX) {
        mixing->length = measure_part(shrinking->board);
        note_edits(mixing);
        for (uint32_t index = 0; params[index].name != NULL && !is_smaller; index++) {
            is_smaller = best.args.values[index] > params[index].least &&
                         mix_with(mixing, index, tasks);
        }
    }
    free(mixing);
    return bz_shrink_enter(shrinking, &shrinking->result->program) && is_smaller;
}
