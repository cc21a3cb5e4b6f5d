/* Programs that the setup draws (scenarios/program): other ones with fewer tasks, mixed from what
 * the tasks of the best one do. The needed choice is in the best program, and seldom in one that is
 * drawn again.
 *
 * The draws of the setup end with a block for each task. A block has parts of equal length, for
 * instance operations: the labels repeat. */
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define RUNS_OF_A_MIX 40000u
#define CHANGED 8u /* in one part in so many, a draw changes */
#define CHANGED_BELOW 3u
#define FREE_SHARE 8u /* one run in so many is not in the order of a FIFO loop */

struct mixing {
    struct bz_shrinking *shrinking;
    uint32_t draws;  /* of the best program's setup */
    uint32_t tasks;  /* of the best program, before any task creates others */
    uint32_t blocks; /* of it */
    uint32_t wanted; /* blocks of a mix */
    uint32_t block;  /* draws of each */
    uint32_t length; /* draws of a part */
    uint32_t edits[BZ_EDITS_LOOP_DRAWS_MAX]; /* by draw: its edit in the best run, plus 1 */
    struct bz_pcg32 random;
    struct bz_failing found;
};

/* Runs the trial's program with nothing but zeros drawn. Returns its tasks. */
static uint32_t measure(struct bz_shrinking *shrinking) {
    struct bz_shrink_size size;
    shrinking->board->edits.count = 0;
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
    uint32_t left_out = 2u << bz_pcg32_below(&mixing->random, 3); /* one part in so many */
    uint32_t base = mixing->draws - mixing->blocks * mixing->block;
    mixing->shrinking->board->edits.count = 0;
    if (base > 0) {
        (void)put(mixing, 0, 0, base);
    }
    for (uint32_t task = 0; task < mixing->wanted; task++) {
        uint32_t place = 0;
        for (uint32_t left = 1 + bz_pcg32_below(&mixing->random, 2); left > 0; left--) {
            uint32_t other = bz_pcg32_below(&mixing->random, mixing->blocks);
            for (uint32_t part = 0; part < parts && place < parts; part++) {
                bool is_kept = bz_pcg32_below(&mixing->random, left_out) != 0;
                place += is_kept &&
                         put(mixing, base + other * mixing->block + part * mixing->length,
                             base + task * mixing->block + place * mixing->length, mixing->length);
            }
        }
    }
}

/* Runs mixes. */
static bool try_mixes(struct mixing *mixing) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_board *board = shrinking->board;
    bool is_smaller = false;
    for (uint32_t run = 0; run < RUNS_OF_A_MIX && !is_smaller && bz_shrink_goes_on(shrinking);
         run++) {
        mix(mixing);
        board->is_free = run % FREE_SHARE == 0;
        board->free_after = 0;
        board->free_seed = run;
        bool fails = bz_shrink_try(shrinking, &mixing->found.size);
        board->is_free = false;
        if (fails) {
            bz_edits_copy(&mixing->found.edits, &board->made);
            is_smaller = bz_shrink_other(shrinking, &mixing->found, bz_shrink_choices);
        }
    }
    board->free_seed = 0;
    return is_smaller;
}

/* With another value of a parameter, if it counts tasks. */
static bool mix_with(struct mixing *mixing, uint32_t place, uint32_t value) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_program program = shrinking->result->program;
    mixing->blocks = (uint32_t)program.args.values[place];
    mixing->wanted = value;
    program.args.values[place] = value;
    if (!bz_shrink_enter(shrinking, &program)) {
        return false;
    }
    uint32_t tasks = measure(shrinking);
    uint32_t draws = shrinking->board->loop_draws;
    mixing->block = draws < mixing->draws ? mixing->draws - draws : draws - mixing->draws;
    bool has_blocks = tasks + mixing->blocks == mixing->tasks + value && mixing->block > 0 &&
                      draws <= BZ_EDITS_LOOP_DRAWS_MAX &&
                      mixing->blocks <= mixing->draws / mixing->block &&
                      mixing->block % mixing->length == 0;
    return has_blocks && try_mixes(mixing);
}

/* One block less; or, if there cannot be less, one more in the place of tasks that tasks start. */
static bool mix_blocks(struct mixing *mixing, uint32_t place) {
    const struct bz_program *best = &mixing->shrinking->result->program;
    uint32_t tasks = mixing->shrinking->best->size.tasks;
    const struct bz_param *param = &best->scenario->params[place];
    int64_t value = best->args.values[place];
    bool may_grow = value == param->least && value > 0 && value + 1 < (int64_t)tasks;
    return value > param->least ? mix_with(mixing, place, (uint32_t)value - 1)
                                : may_grow && mix_with(mixing, place, (uint32_t)value + 1);
}

bool bz_shrink_mix(struct bz_shrinking *shrinking) {
    const struct bz_param *params = shrinking->result->program.scenario->params;
    bool is_smaller = false;
    struct mixing *mixing = bz_lack_new(1, sizeof *mixing, "a shrinking run");
    mixing->shrinking = shrinking;
    bz_pcg32_seed(&mixing->random, 0, 0);
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    if (bz_shrink_enter(shrinking, &shrinking->result->program)) {
        mixing->tasks = measure(shrinking);
    }
    mixing->draws = shrinking->board->loop_draws;
    if (mixing->draws > 1 && mixing->draws <= BZ_EDITS_LOOP_DRAWS_MAX) {
        mixing->length = measure_part(shrinking->board);
        note_edits(mixing);
        for (uint32_t index = 0; params[index].name != NULL && !is_smaller; index++) {
            is_smaller = mix_blocks(mixing, index);
        }
    }
    free(mixing);
    return bz_shrink_enter(shrinking, &shrinking->result->program) && is_smaller;
}
