/* Programs that the setup draws (scenarios/program): other ones with fewer tasks, mixed from the
 * parts of the best one. A part is what is drawn again and again, for instance an operation: it
 * begins where a label comes back. What is needed is in the best program, and seldom in one that is
 * drawn anew. */
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define PARTS_MAX BZ_EDITS_LOOP_DRAWS_MAX
#define RUNS_OF_A_MIX 6000u
#define ROUNDS 3u
#define CHANGED_SHARE 4u /* in one part of so many, a draw changes */
#define CHANGED_BELOW 3u

struct part {
    uint32_t first; /* of its draws, from 0 */
    uint32_t length;
    const char *label; /* of the first */
};

/* The draws of a setup. */
struct layout {
    uint32_t tasks;
    uint32_t draws;
    uint32_t count;
    struct part parts[PARTS_MAX];
};

struct mixing {
    struct bz_shrinking *shrinking;
    struct layout best;
    struct layout less;
    uint32_t used[PARTS_MAX]; /* parts of the best program in which something is drawn */
    uint32_t used_count;
    uint32_t edits[BZ_EDITS_LOOP_DRAWS_MAX]; /* by draw: its edit in the best run, plus 1 */
    struct bz_pcg32 random;
    struct bz_failing found;
};

/* Runs the edits of the best run in the trial's program. False: nothing to mix. */
static bool lay_out(struct bz_shrinking *shrinking, struct layout *layout) {
    const struct bz_board *board = shrinking->board;
    struct bz_shrink_size size;
    bz_edits_copy(&shrinking->board->edits, &shrinking->best->edits);
    (void)bz_shrink_try(shrinking, &size);
    layout->tasks = bz_shrink_tasks_of(shrinking->trial->world->judge);
    layout->draws = board->loop_draws;
    layout->count = 0;
    for (uint32_t draw = 0; draw < layout->draws && draw < BZ_EDITS_LOOP_DRAWS_MAX; draw++) {
        struct part *part = &layout->parts[layout->count - (layout->count > 0)];
        bool is_back = layout->count == 0;
        for (uint32_t index = 0; !is_back && index < part->length; index++) {
            is_back = strcmp(board->loop_labels[part->first + index], board->loop_labels[draw]) == 0;
        }
        if (is_back) {
            layout->parts[layout->count++] =
                (struct part){.first = draw, .label = board->loop_labels[draw]};
        }
        layout->parts[layout->count - 1].length++;
    }
    return layout->count > 1 && layout->draws <= BZ_EDITS_LOOP_DRAWS_MAX;
}

static void note_parts(struct mixing *mixing) {
    const struct bz_edits *best = &mixing->shrinking->best->edits;
    for (uint32_t index = 0; index < best->count; index++) {
        const struct bz_edit *edit = &best->items[index];
        if (edit->owner == 0 && edit->label != NULL && edit->nth <= mixing->best.draws) {
            mixing->edits[edit->nth - 1] = index + 1;
        }
    }
    for (uint32_t place = 0; place < mixing->best.count; place++) {
        const struct part *part = &mixing->best.parts[place];
        bool is_used = false;
        for (uint32_t index = 0; index < part->length; index++) {
            is_used |= mixing->edits[part->first + index] != 0;
        }
        if (is_used) {
            mixing->used[mixing->used_count++] = place;
        }
    }
}

static void put_part(struct mixing *mixing, const struct part *from, const struct part *to) {
    struct bz_edits *edits = &mixing->shrinking->board->edits;
    uint32_t changed = bz_pcg32_below(&mixing->random, CHANGED_SHARE * to->length);
    for (uint32_t index = 0; index < to->length; index++) {
        uint32_t number = mixing->edits[from->first + index];
        if (number != 0) {
            struct bz_edit edit = mixing->shrinking->best->edits.items[number - 1];
            edit.nth = to->first + index + 1;
            edit.value = index == changed ? bz_pcg32_below(&mixing->random, CHANGED_BELOW)
                                          : edit.value;
            edits->items[edits->count++] = edit;
        }
    }
}

/* Puts a mix on the board: no more is drawn in it than in the best program, or about so. The first part is
 * what comes before the tasks, and stays. */
static void mix(struct mixing *mixing) {
    uint32_t wanted = 1 + bz_pcg32_below(&mixing->random, mixing->used_count);
    mixing->shrinking->board->edits.count = 0;
    put_part(mixing, &mixing->best.parts[0], &mixing->less.parts[0]);
    for (uint32_t place = 1; place < mixing->less.count; place++) {
        const struct part *to = &mixing->less.parts[place];
        uint32_t used = mixing->used[bz_pcg32_below(&mixing->random, mixing->used_count)];
        const struct part *from = &mixing->best.parts[used];
        bool is_wanted = bz_pcg32_below(&mixing->random, mixing->less.count) < wanted;
        if (is_wanted && from->length == to->length && strcmp(from->label, to->label) == 0) {
            put_part(mixing, from, to);
        }
    }
}

/* Runs mixes, half of them in the order of a FIFO loop. */
static bool try_mixes(struct mixing *mixing, uint32_t round) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_board *board = shrinking->board;
    bool is_smaller = false;
    for (uint32_t run = 0; run < RUNS_OF_A_MIX && !is_smaller && bz_shrink_goes_on(shrinking);
         run++) {
        mix(mixing);
        board->is_free = run % 2 == 1;
        board->free_after = 0;
        board->free_seed = (uint64_t)round << 32u | run;
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
static bool mix_with(struct mixing *mixing, uint32_t place, uint32_t round) {
    struct bz_shrinking *shrinking = mixing->shrinking;
    struct bz_program program = shrinking->result->program;
    program.args.values[place]--;
    return bz_shrink_enter(shrinking, &program) && lay_out(shrinking, &mixing->less) &&
           mixing->less.tasks < mixing->best.tasks && mixing->less.draws < mixing->best.draws &&
           try_mixes(mixing, round);
}

bool bz_shrink_mix(struct bz_shrinking *shrinking) {
    const struct bz_program *best = &shrinking->result->program;
    const struct bz_param *params = best->scenario->params;
    bool is_smaller = false;
    struct mixing *mixing = calloc(1, sizeof *mixing);
    if (mixing == NULL) {
        bz_lack_text(shrinking->result->lack, BZ_LACK_BYTES, NULL, "a shrinking run");
        return false;
    }
    mixing->shrinking = shrinking;
    bz_pcg32_seed(&mixing->random, 0, 0);
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    if (bz_shrink_enter(shrinking, best) && lay_out(shrinking, &mixing->best)) {
        note_parts(mixing);
        for (uint32_t round = 0; round < ROUNDS && mixing->used_count > 0; round++) {
            for (uint32_t index = 0; params[index].name != NULL && !is_smaller; index++) {
                is_smaller = best->args.values[index] > params[index].least &&
                             mix_with(mixing, index, round);
            }
        }
    }
    free(mixing);
    return bz_shrink_enter(shrinking, &shrinking->result->program) && is_smaller;
}
