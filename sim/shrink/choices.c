/* The pass over the choices of the best run: each is left out, or comes earlier, or gets smaller.
 */
#include "sim/shrink/internal.h"

enum group { GROUP_DEVIATIONS, GROUP_CANCELS, GROUP_DRAWS };
#define GROUP_COUNT 3u

static bool is_in(const struct bz_edit *edit, enum group group) {
    enum group own = edit->label != NULL              ? GROUP_DRAWS
                     : edit->kind == BZ_CHOICE_CANCEL ? GROUP_CANCELS
                                                      : GROUP_DEVIATIONS;
    return own == group;
}

static uint32_t count_of(const struct bz_edits *edits, enum group group) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < edits->count; index++) {
        count += is_in(&edits->items[index], group);
    }
    return count;
}

/* The best run on the board, without `length` choices of a group from its `first` on. */
static void put_without(struct bz_shrinking *shrinking, enum group group, uint32_t first,
                        uint32_t length) {
    const struct bz_edits *best = &shrinking->best->edits;
    struct bz_edits *edits = &shrinking->board->edits;
    uint32_t place = 0;
    edits->count = 0;
    for (uint32_t index = 0; index < best->count; index++) {
        bool is_member = is_in(&best->items[index], group);
        if (!is_member || place < first || place - first >= length) {
            edits->items[edits->count++] = best->items[index];
        }
        place += is_member;
    }
}

/* Leaves choices of a group out: half of them at once, then a quarter, down to each alone. */
static bool leave_out(struct bz_shrinking *shrinking, enum group group) {
    bool has_improved = false;
    uint32_t length = count_of(&shrinking->best->edits, group);
    for (; length > 0; length = length == 1 ? 0 : (length + 1) / 2) {
        uint32_t first = 0;
        while (first < count_of(&shrinking->best->edits, group) && bz_shrink_goes_on(shrinking)) {
            put_without(shrinking, group, first, length);
            if (bz_shrink_improve(shrinking)) {
                has_improved = true;
            } else {
                first += length;
            }
        }
    }
    return has_improved;
}

/* Tries another value for one choice of the best run. */
static bool try_value(struct bz_shrinking *shrinking, uint32_t index, uint64_t value) {
    struct bz_edits *edits = &shrinking->board->edits;
    bz_edits_copy(edits, &shrinking->best->edits);
    edits->items[index].value = value;
    return bz_shrink_goes_on(shrinking) && bz_shrink_improve(shrinking);
}

/* The least value, or by bisection the least that is reached from above. */
static bool lower(struct bz_shrinking *shrinking) {
    bool has_improved = false;
    for (uint32_t index = 0; index < shrinking->best->edits.count; index++) {
        const struct bz_edit *edit = &shrinking->best->edits.items[index];
        uint64_t least = edit->label != NULL;
        if (edit->value > least && try_value(shrinking, index, least)) {
            has_improved = true;
            continue;
        }
        uint64_t low = least; /* does not fail */
        while (index < shrinking->best->edits.count &&
               shrinking->best->edits.items[index].value > low + 1 &&
               bz_shrink_goes_on(shrinking)) {
            uint64_t high = shrinking->best->edits.items[index].value;
            uint64_t middle = low + (high - low) / 2;
            if (try_value(shrinking, index, middle)) {
                has_improved = true;
            } else {
                low = middle;
            }
        }
    }
    return has_improved;
}

/* Leaves out two choices at once, which may depend on each other. */
static bool leave_out_pairs(struct bz_shrinking *shrinking) {
    const struct bz_edits *best = &shrinking->best->edits;
    struct bz_edits *edits = &shrinking->board->edits;
    for (uint32_t one = 0; one < best->count && best->count <= 32; one++) {
        for (uint32_t other = one + 1; other < best->count; other++) {
            if (!bz_shrink_goes_on(shrinking)) {
                return false;
            }
            edits->count = 0;
            for (uint32_t index = 0; index < best->count; index++) {
                if (index != one && index != other) {
                    edits->items[edits->count++] = best->items[index];
                }
            }
            if (bz_shrink_improve(shrinking)) {
                return true;
            }
        }
    }
    return false;
}

bool bz_shrink_choices(struct bz_shrinking *shrinking) {
    bool has_improved = false;
    bool goes_on = true;
    shrinking->board->source = BZ_EDIT_BY_EDITS;
    while (goes_on && bz_shrink_goes_on(shrinking)) {
        goes_on = false;
        for (enum group group = GROUP_DEVIATIONS; group < GROUP_COUNT; group++) {
            goes_on |= leave_out(shrinking, group);
        }
        goes_on |= lower(shrinking);
        goes_on = goes_on || leave_out_pairs(shrinking);
        has_improved |= goes_on;
    }
    return has_improved;
}
