#include "sim/explore/search.h"

/* --- the strategy ----------------------------------------------------------------------------- */

struct bz_choice_point *bz_search_add_point(struct bz_search *search,
                                            const struct bz_choice_point *point) {
    if (search->point_count == search->point_capacity) {
        uint32_t capacity = search->point_capacity == 0 ? 1024 : 2 * search->point_count;
        struct bz_choice_point *larger =
            bz_mem_grow(search->world->judge->mem, search->points,
                        search->point_capacity * sizeof *larger, capacity * sizeof *larger);
        if (larger == NULL) {
            bz_judge_lacks(search->world->judge, NULL, "the choice points of a search");
            return NULL;
        }
        search->points = larger;
        search->point_capacity = capacity;
    }
    search->points[search->point_count] = *point;
    return &search->points[search->point_count++];
}

/* A new choice point of a path that continues from a record. */
static void revive(struct bz_search *search, const struct bz_choice_point *point) {
    const struct bz_choice_point *kept = &search->points[search->point_count];
    if (kept->kind != point->kind || kept->bound != point->bound) {
        search->is_unrepeatable = true;
        return;
    }
    if (++search->point_count == search->revived_max) {
        search->revived_max = 0;
    }
}

static const struct bz_choice_point *point_of(struct bz_search *search, enum bz_choice_kind kind,
                                              uint64_t bound) {
    if (search->is_merged) { /* in what is left of the step */
        search->spare = (struct bz_choice_point){.bound = bound, .kind = (uint8_t)kind};
        return &search->spare;
    }
    if (search->cursor == search->point_count && !search->is_repeating) {
        bool is_yields = search->world->draws_yields && bz_search_has(search, BZ_REDUCE_YIELDS);
        bool is_sampled = kind == BZ_CHOICE_DATA && bound > BZ_EXPLORE_DRAWS_MAX && !is_yields;
        struct bz_choice_point new_point = {.bound = bound,
                                            .kind = (uint8_t)kind,
                                            .is_sampled = is_sampled,
                                            .is_yields = is_yields};
        if (search->revived_max > 0) {
            revive(search, &new_point);
        } else if (bz_search_add_point(search, &new_point) == NULL) {
            search->spare = (struct bz_choice_point){.bound = bound, .kind = (uint8_t)kind};
            return &search->spare;
        }
    }
    const struct bz_choice_point *point = &search->points[search->cursor];
    if (search->cursor == search->point_count || point->bound != bound || point->kind != kind) {
        search->is_unrepeatable = true; /* the same prefix led elsewhere before */
        search->spare = (struct bz_choice_point){.bound = bound, .kind = (uint8_t)kind};
        return &search->spare;
    }
    search->cursor++;
    return point;
}

static void begin(void *state, const struct bz_strategy_start *start) {
    struct bz_search *search = start->context;
    *(struct bz_search **)state = search;
    if (bz_search_has_whole_runs(search)) {
        search->cursor = 0; /* the judge may make a run twice */
        search->is_merged = false;
    }
}

static uint64_t choose(void *state, enum bz_choice_kind kind, uint64_t bound, const char *label) {
    struct bz_search *search = *(struct bz_search **)state;
    const struct bz_choice_point *point = point_of(search, kind, bound);
    if (point->is_sampled) {
        search->result->sampled_draw = label;
    }
    return point->chosen;
}

static uint32_t choose_next(void *state, const struct bz_ready *ready, uint32_t count,
                            uint32_t step) {
    (void)ready;
    (void)step;
    return (uint32_t)choose(state, BZ_CHOICE_NEXT, count, NULL);
}

/* A cancel of a task that has ended uses up a cancel and changes nothing else. They come last. */
static uint32_t choose_cancel(void *state, const struct bz_cancel_candidate *candidates,
                              uint32_t count, uint32_t step, uint32_t cancel_point) {
    (void)step;
    (void)cancel_point;
    while (count > 0 && candidates[count - 1].window == BZ_WINDOW_DONE) {
        count--;
    }
    return (uint32_t)choose(state, BZ_CHOICE_CANCEL, (uint64_t)count + 1, NULL);
}

static bool choose_jump(void *state, uint32_t step) {
    (void)step;
    return choose(state, BZ_CHOICE_DELAY, 2, NULL) != 0;
}

static uint64_t choose_draw(void *state, enum bz_choice_kind kind, const struct bz_draw *draw,
                            uint32_t step) {
    (void)kind;
    (void)step;
    return choose(state, BZ_CHOICE_DATA, draw->bound, draw->label);
}

const struct bz_strategy bz_search_strategy = {
    .name = "explore",
    .summary = "every choice, one after the other",
    .state_bytes = sizeof(struct bz_search *),
    .begin = begin,
    .next = choose_next,
    .cancel_gap = bz_gap_none,
    .cancel = choose_cancel,
    .jump_gap = bz_gap_none,
    .jump = choose_jump,
    .draw = choose_draw,
};

/* --- the next combination of choices ---------------------------------------------------------- */

struct bz_deviations bz_search_cost(const struct bz_search *search, uint32_t first,
                                    uint32_t count) {
    struct bz_deviations cost = {0};
    for (const struct bz_choice_point *point = &search->points[first]; count > 0;
         point++, count--) {
        bool is_delay = point->kind == BZ_CHOICE_NEXT || point->kind == BZ_CHOICE_DELAY;
        cost.delays += is_delay ? (uint32_t)point->chosen : 0;
        cost.cancels += point->kind == BZ_CHOICE_CANCEL && point->chosen != 0;
        cost.draws += point->kind == BZ_CHOICE_DATA && point->chosen != 0;
    }
    return cost;
}

static uint64_t choice_after(const struct bz_choice_point *point) {
    if (point->is_yields && point->chosen == 1) {
        return point->bound;
    }
    if (!point->is_sampled) {
        return point->chosen + 1;
    }
    uint64_t last = point->bound - 1;
    return point->chosen == 0 ? last / 2 : point->chosen < last ? last : point->bound;
}

/* Notes which bound the present combination of choices exceeds, if it does. */
static bool is_within_bounds(struct bz_search *search, const struct bz_frame *frame) {
    struct bz_deviations cost = bz_search_cost(search, frame->first_point, frame->point_count);
    uint64_t delays = (uint64_t)frame->delays + cost.delays;
    uint64_t cancels = (uint64_t)bz_search_cancels_max(search->config) - frame->cancels_left;
    uint64_t draws = (uint64_t)frame->draws + cost.draws;
    if (delays > search->at.bounds.delays) {
        search->at.is_cut = true;
        return false;
    }
    if (delays + cancels + cost.cancels + draws > search->at.bounds.deviations) {
        search->at.is_short = true;
        return false;
    }
    return true;
}

bool bz_search_next_transition(struct bz_search *search) {
    struct bz_frame *frame = search->top;
    if (!frame->has_begun) {
        frame->has_begun = true;
        return true;
    }
    for (; frame->point_count > 0; frame->point_count--) {
        search->point_count = frame->first_point + frame->point_count;
        struct bz_choice_point *last = &search->points[search->point_count - 1];
        last->chosen = choice_after(last);
        if (last->chosen < last->bound && is_within_bounds(search, frame)) {
            return true; /* if not, a larger choice is not, either */
        }
    }
    search->point_count = frame->first_point;
    return false;
}

bool bz_search_answers(const struct bz_search *search, struct bz_answers *answers) {
    answers->count = 0;
    for (uint32_t index = 0; index < search->point_count; index++) {
        uint64_t answer = search->points[index].chosen;
        if (answer != 0 && !bz_answers_add(answers, index + 1, answer)) {
            return false;
        }
    }
    return true;
}
