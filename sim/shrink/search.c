/* The search: every schedule of the program with as few choices other than the default as the best
 * run has, or one more, with no more deviations and no more cancels. First all with one choice,
 * then all with two, and so on. Its result depends on the program alone, and not on the run that
 * was given. */
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define DEPTH_MAX 8u
#define BUDGET_SHARE 3u /* at most one part in so many of what is left */
#define DRAWS_TRIED 5u

/* The choice points of a run whose script is a prefix. */
struct level {
    uint32_t point_count;
    struct bz_edit_point points[BZ_EDITS_POINTS_MAX];
};

struct searching {
    struct bz_shrinking *shrinking;
    struct level *levels;
    const struct bz_shrink_limits *limits;
    uint64_t runs_max; /* this search stops then */
    uint64_t cost_max;
    uint32_t deviations; /* of the script */
    uint32_t cancels;
    bool is_cut;
    bool skips_draws; /* a draw has more values than are tried */
    bool has_improved;
};

static bool goes_on(struct searching *searching) {
    const struct bz_shrinking *shrinking = searching->shrinking;
    searching->is_cut |= !bz_shrink_goes_on(shrinking) ||
                         shrinking->result->runs >= searching->runs_max ||
                         shrinking->cost >= searching->cost_max;
    return !searching->is_cut;
}

/* The values of a draw that are tried; the number of them. */
static uint32_t draws_of(uint64_t bound, uint64_t values[DRAWS_TRIED]) {
    const uint64_t wanted[DRAWS_TRIED] = {1, 2, 3, bound / 2, bound - 1};
    uint32_t count = 0;
    for (uint32_t index = 0; index < DRAWS_TRIED; index++) {
        uint64_t value = wanted[index];
        if (value < bound && value > (count == 0 ? 0 : values[count - 1])) {
            values[count++] = value;
        }
    }
    return count;
}

static void search_from(struct searching *searching, uint32_t depth, uint32_t left);

/* One more choice at the end of the script. */
static void choose(struct searching *searching, uint32_t depth, uint32_t left, uint32_t question,
                   uint64_t answer) {
    struct bz_answers *script = &searching->shrinking->board->script;
    if (!goes_on(searching)) {
        return;
    }
    if (!bz_answers_add(script, question, answer)) {
        searching->is_cut = true;
        return;
    }
    search_from(searching, depth + 1, left - 1);
    script->count--;
}

static void choose_all(struct searching *searching, uint32_t depth, uint32_t left,
                       uint32_t question, const struct bz_edit_point *point) {
    uint64_t values[DRAWS_TRIED];
    if (point->kind == BZ_CHOICE_DATA) {
        uint32_t count = draws_of(point->answers, values);
        searching->skips_draws |= point->answers > (uint64_t)count + 1;
        for (uint32_t index = 0; index < count; index++) {
            choose(searching, depth, left, question, values[index]);
        }
        return;
    }
    const struct bz_shrink_size *best = &searching->shrinking->best->size;
    const struct bz_shrink_limits *limits = searching->limits;
    bool is_cancel = point->kind == BZ_CHOICE_CANCEL;
    uint32_t *spent = is_cancel ? &searching->cancels : &searching->deviations;
    uint32_t limit = is_cancel ? limits->cancels : limits->deviations;
    if (*spent >= limit || *spent >= (is_cancel ? best->cancels : best->deviations)) {
        return;
    }
    ++*spent;
    for (uint64_t answer = 1; answer < point->answers && !searching->is_cut; answer++) {
        choose(searching, depth, left, question, answer);
    }
    --*spent;
}

/* Runs the script; then all scripts that have `left` choices more. */
static void search_from(struct searching *searching, uint32_t depth, uint32_t left) {
    struct bz_shrinking *shrinking = searching->shrinking;
    struct bz_board *board = shrinking->board;
    struct bz_shrink_size size;
    if (left == 0) {
        searching->has_improved |= bz_shrink_improve(shrinking);
        return;
    }
    (void)bz_shrink_try(shrinking, &size);
    struct level *level = &searching->levels[depth];
    level->point_count = board->point_count;
    memcpy(level->points, board->points, board->point_count * sizeof board->points[0]);
    searching->is_cut |= board->point_count == BZ_EDITS_POINTS_MAX;
    uint32_t asked =
        board->script.count == 0 ? 0 : board->script.entries[board->script.count - 1].question;
    for (uint32_t index = asked; index < level->point_count && !searching->is_cut; index++) {
        choose_all(searching, depth, left, index + 1, &level->points[index]);
    }
}

bool bz_shrink_search_within(struct bz_shrinking *shrinking,
                             const struct bz_shrink_limits *limits) {
    struct searching searching = {
        .shrinking = shrinking,
        .limits = limits,
        .levels = bz_lack_check(malloc((DEPTH_MAX + 1) * sizeof(struct level)), "a search"),
        .runs_max =
            limits->runs != UINT64_MAX ? shrinking->result->runs + limits->runs : UINT64_MAX,
        .cost_max = shrinking->cost + (shrinking->cost_max - shrinking->cost) / BUDGET_SHARE};
    const struct bz_edits *best = &shrinking->best->edits;
    uint32_t count = 0;
    shrinking->board->source = BZ_EDIT_BY_SCRIPT;
    while (count <= (limits->choices > 0 ? limits->choices : best->count + 1) &&
           count <= DEPTH_MAX && goes_on(&searching)) {
        shrinking->board->script.count = 0;
        search_from(&searching, 0, count);
        count += !searching.is_cut;
    }
    shrinking->is_searched = count > best->count && !searching.skips_draws;
    free(searching.levels);
    return searching.has_improved;
}

bool bz_shrink_search(struct bz_shrinking *shrinking) {
    const struct bz_shrink_limits limits = {
        .deviations = UINT32_MAX, .cancels = UINT32_MAX, .runs = UINT64_MAX};
    return bz_shrink_search_within(shrinking, &limits);
}
