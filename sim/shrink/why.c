#include "sim/shrink/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define PLAN_SAMPLES 4u
#define POINTS_MAX 1024u /* choice points that are looked at, the last ones */

struct asking {
    struct bz_why *why;
    struct bz_program program;
    struct bz_world *world;
    struct bz_board *board;
    struct bz_board *shared; /* of contained runs; NULL: they are not */
    bool is_frugal;          /* a run may need a process of its own */
    uint64_t cost;
    /* The choice points of the run: how many, the number of the first, and their answers. */
    uint32_t point_count;
    uint32_t point_first;
    uint64_t answers[POINTS_MAX];
    const volatile sig_atomic_t *stop;
    char object[BZ_TRACE_NAME_BYTES_MAX + 1];
};

static bool goes_on(const struct asking *asking) {
    return (asking->stop == NULL || *asking->stop == 0) && asking->why->lack[0] == '\0';
}

static const char *object_name(const struct asking *asking, uint32_t object) {
    const char *name = bz_judge_object_name(asking->world->judge, object);
    return name == NULL ? "" : name;
}

/* One run of the script on the board. */
static enum bz_run_end run(struct asking *asking, uint64_t seed) {
    struct bz_judge *judge = asking->world->judge;
    struct bz_run_start start = {
        .seed = seed, .strategy = &bz_strategy_edits, .context = asking->board};
    enum bz_run_end end = bz_board_run(&asking->program, asking->world, &start, asking->shared);
    asking->why->runs++;
    asking->cost += bz_edits_cost(asking->board, bz_judge_steps(judge));
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_lack_copy(asking->why->lack, bz_judge_error(judge));
    }
    return end;
}

static bool fails_likewise(struct asking *asking, uint64_t seed) {
    return run(asking, seed) == BZ_RUN_VIOLATED &&
           bz_fails_likewise(&asking->why->violation, asking->object, asking->world->judge);
}

/* --- the choices ------------------------------------------------------------------------------ */

/* The choices, but for the one at this choice point; there, the answer is another one. */
static void put_answer(struct asking *asking, uint32_t question, uint64_t answer) {
    const struct bz_why *why = asking->why;
    struct bz_board *board = asking->board;
    board->source = BZ_EDIT_BY_EDITS;
    board->edits.count = 0;
    for (uint32_t index = 0; index < why->choice_count; index++) {
        if (why->choices[index].edit.question != question) {
            board->edits.items[board->edits.count++] = why->choices[index].edit;
        }
    }
    board->forced_question = question;
    board->forced_answer = answer;
}

/* Keeps the last run as one that passes, if it does and can be named. `edit`: the choice that it
 * changes. */
static bool keep_passing(struct asking *asking, enum bz_why_change change,
                         const struct bz_edit *edit) {
    struct bz_why *why = asking->why;
    const struct bz_board *board = asking->board;
    struct bz_answers script;
    if (asking->world->judge->end != BZ_RUN_PASSED || board->is_full ||
        !bz_edits_script(&board->made, &script)) {
        return false;
    }
    why->has_passing = true;
    why->passing_change = change;
    why->passing_edit = *edit;
    why->passing = asking->program;
    why->passing.answers = script;
    why->passing_digest = bz_judge_digest(asking->world->judge);
    return true;
}

/* The answers of a choice point of the run that are tried: those below it. */
static uint64_t answers_worth(const struct asking *asking, uint32_t index) {
    uint64_t answers = asking->answers[index];
    return answers < BZ_WHY_OTHERS_MAX ? answers : BZ_WHY_OTHERS_MAX;
}

static void try_others(struct asking *asking, struct bz_why_choice *choice, uint64_t answers) {
    bool has_passed = false;
    for (uint64_t answer = 0; answer < answers && goes_on(asking); answer++) {
        if (answer == choice->edit.answer) {
            continue;
        }
        put_answer(asking, choice->edit.question, answer);
        choice->others++;
        bool fails = fails_likewise(asking, 0);
        choice->failing += fails;
        choice->cut += asking->world->judge->end == BZ_RUN_OUT_OF_STEPS;
        choice->fails_without |= fails && answer == 0;
        has_passed =
            has_passed ||
            keep_passing(asking, answer == 0 ? BZ_WHY_LEFT_OUT : BZ_WHY_REPLACED, &choice->edit);
    }
}

/* The choice that was made at a choice point; NULL: the default. */
static const struct bz_edit *made_at(const struct bz_board *board, uint32_t question) {
    for (uint32_t place = 0; place < board->made.count; place++) {
        if (board->made.items[place].question == question) {
            return &board->made.items[place];
        }
    }
    return NULL;
}

/* Looks for a run that passes with one choice more, the last one possible. */
static void try_more(struct asking *asking) {
    struct bz_why *why = asking->why;
    uint64_t last = why->runs + (asking->is_frugal ? BZ_WHY_ADDED_CONTAINED : BZ_WHY_ADDED_MAX);
    for (uint32_t index = asking->point_count; index-- > 0;) {
        uint32_t question = asking->point_first + index;
        for (uint64_t answer = 1; answer < answers_worth(asking, index); answer++) {
            if (why->runs == last || asking->cost > BZ_WHY_COST_MAX || !goes_on(asking)) {
                why->has_tried_all = false;
                return;
            }
            put_answer(asking, question, answer);
            (void)run(asking, 0);
            const struct bz_edit *made = made_at(asking->board, question);
            if (made != NULL && keep_passing(asking, BZ_WHY_ADDED, made)) {
                return;
            }
        }
    }
}

/* The choices and the choice points of the run on the board. */
static void note_run(struct asking *asking) {
    struct bz_why *why = asking->why;
    const struct bz_board *board = asking->board;
    uint32_t count = board->point_count;
    why->choice_count = board->made.count;
    for (uint32_t place = 0; place < why->choice_count; place++) {
        why->choices[place].edit = board->made.items[place];
    }
    asking->point_count = count < POINTS_MAX ? count : POINTS_MAX;
    asking->point_first = count - asking->point_count + 1;
    why->has_tried_all = count < POINTS_MAX;
    for (uint32_t index = 0; index < asking->point_count; index++) {
        asking->answers[index] = board->points[asking->point_first - 1 + index].answers;
        why->has_tried_all &= asking->answers[index] <= BZ_WHY_OTHERS_MAX;
    }
}

/* In the order of the run, so that the last one that can pass is kept. */
static void weigh_choices(struct asking *asking) {
    struct bz_why *why = asking->why;
    for (uint32_t place = 0; place < why->choice_count; place++) {
        struct bz_why_choice *choice = &why->choices[place];
        uint32_t question = choice->edit.question;
        bool is_noted =
            question >= asking->point_first && question - asking->point_first < asking->point_count;
        try_others(asking, choice,
                   is_noted ? answers_worth(asking, question - asking->point_first)
                            : choice->edit.answer + 1);
    }
    if (!why->has_passing) {
        try_more(asking);
    }
    asking->board->source = BZ_EDIT_BY_SCRIPT;
}

/* --- the odds --------------------------------------------------------------------------------- */

static uint32_t odds_after(struct asking *asking, const struct bz_answers *whole, uint32_t step) {
    uint32_t failed = 0;
    asking->board->script = *whole;
    asking->board->is_free = true;
    asking->board->free_after = step;
    for (uint32_t seed = 0; seed < asking->why->samples && goes_on(asking); seed++) {
        failed += fails_likewise(asking, seed);
    }
    asking->board->is_free = false;
    return failed;
}

/* The prefixes and samples that the budget allows, by the cost of a few runs. Returns the distance
 * of two prefixes. */
static uint32_t plan_odds(struct asking *asking, const struct bz_answers *whole) {
    struct bz_why *why = asking->why;
    uint32_t samples = why->samples;
    uint64_t cost = asking->cost;
    why->samples = PLAN_SAMPLES;
    (void)odds_after(asking, whole, 0);
    uint64_t runs = BZ_WHY_COST_MAX / (1 + (asking->cost - cost) / PLAN_SAMPLES);
    uint64_t prefixes = 1 + (why->steps < BZ_WHY_STEPS_MAX ? why->steps : BZ_WHY_STEPS_MAX);
    if (samples > BZ_WHY_SAMPLES_LEAST && runs < prefixes * samples) {
        samples = (uint32_t)(runs / prefixes);
        samples = samples < BZ_WHY_SAMPLES_LEAST ? BZ_WHY_SAMPLES_LEAST : samples;
    }
    if (runs < prefixes * samples) {
        prefixes = runs / samples < 2 ? 2 : runs / samples;
    }
    why->samples = samples;
    return (uint32_t)((why->steps + prefixes - 1) / prefixes) + (why->steps == 0);
}

static void find_turn(struct bz_why *why) {
    uint32_t most = 0;
    uint32_t turn = 0;
    for (uint32_t place = 1; place < why->odds_count; place++) {
        uint32_t before = why->odds[place - 1];
        if (why->odds[place] > before && why->odds[place] - before > most) {
            most = why->odds[place] - before;
            turn = place;
        }
    }
    for (uint32_t place = turn; place < why->odds_count; place++) {
        if (why->odds[place] + why->samples / 10 < why->odds[turn]) {
            most = 0; /* there was a way back */
        }
    }
    if (most > 1 && most >= why->samples / 10) {
        why->turning_step = why->odds_step[turn];
        why->turning_after = why->odds_step[turn - 1];
        why->turning_from = why->odds[turn - 1];
        why->turning_to = why->odds[turn];
    }
}

static void estimate_odds(struct asking *asking, const struct bz_answers *whole) {
    struct bz_why *why = asking->why;
    uint32_t stride = plan_odds(asking, whole);
    for (uint32_t step = 0; goes_on(asking); step += stride) {
        step = step < why->steps ? step : why->steps;
        why->odds_step[why->odds_count] = step;
        why->odds[why->odds_count++] = odds_after(asking, whole, step);
        if (step == why->steps) {
            break;
        }
    }
    find_turn(why);
}

/* --- in a child, if the program is contained -------------------------------------------------- */

struct shared {
    struct bz_apart_signs signs;
    struct bz_why why; /* its pointers are the child's */
};

struct errand {
    struct asking asking;
    struct bz_apart apart;
};

static bool find(struct asking *asking);

static void find_in_child(void *context) {
    struct errand *errand = context;
    if (find(&errand->asking)) {
        bz_apart_seal(&errand->apart);
    }
}

/* Makes the passing run again, from its script. */
static bool keep_passing_of(struct asking *asking, const struct bz_why *got) {
    struct bz_why *why = asking->why;
    asking->board->script = got->passing.answers;
    (void)run(asking, 0);
    const struct bz_edit *edit = made_at(asking->board, got->passing_edit.question);
    for (uint32_t place = 0; place < why->choice_count; place++) {
        bool is_it = why->choices[place].edit.question == got->passing_edit.question;
        edit = is_it ? &why->choices[place].edit : edit;
    }
    return edit != NULL && keep_passing(asking, got->passing_change, edit) &&
           why->passing_digest == got->passing_digest;
}

/* Takes over what has no pointer. False: it makes no sense. */
static bool adopt(struct asking *asking, const struct bz_why *got) {
    struct bz_why *why = asking->why;
    bool is_sound = got->digest == why->digest && got->choice_count == why->choice_count &&
                    got->odds_count <= BZ_WHY_STEPS_MAX + 2 && got->samples > 0 &&
                    got->samples <= why->samples &&
                    got->passing.answers.count <= BZ_ANSWERS_ENTRIES_MAX &&
                    (!got->has_passing || keep_passing_of(asking, got));
    for (uint32_t place = 0; is_sound && place < got->odds_count; place++) {
        is_sound = got->odds[place] <= got->samples;
    }
    for (uint32_t place = 0; is_sound && place < why->choice_count; place++) {
        const struct bz_edit edit = why->choices[place].edit;
        why->choices[place] = got->choices[place];
        why->choices[place].edit = edit;
    }
    for (uint32_t place = 0; is_sound && place < got->odds_count; place++) {
        why->odds_step[place] = got->odds_step[place];
        why->odds[place] = got->odds[place];
    }
    if (is_sound) {
        why->samples = got->samples;
        why->odds_count = got->odds_count;
        why->has_tried_all = got->has_tried_all;
        why->runs += got->runs;
        find_turn(why);
    }
    return is_sound;
}

/* In one child for all runs. False: a run has ended it, or the run does not repeat there. */
static bool ask_in_child(struct asking *asking) {
    struct shared *shared = bz_shared_alloc(sizeof *shared);
    struct bz_shrink_config config = {.program = &asking->program, .budget.stop = asking->stop};
    struct errand errand = {.asking = {.program = asking->program, .is_frugal = true}};
    if (shared == NULL) {
        return false;
    }
    errand.asking.program.contain.is_on = false; /* in the child */
    errand.asking.why = &shared->why;
    errand.asking.stop = &shared->signs.stop;
    errand.apart = (struct bz_apart){.config = &config,
                                     .work = find_in_child,
                                     .context = &errand,
                                     .signs = &shared->signs,
                                     .runs = &shared->why.runs,
                                     .report = &shared->why,
                                     .report_bytes = sizeof shared->why};
    bool is_ok = bz_apart_make(&errand.apart) && adopt(asking, &shared->why);
    bz_shared_free(shared, sizeof *shared);
    return is_ok;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The run itself. */
static bool run_whole(struct asking *asking) {
    asking->board->source = BZ_EDIT_BY_SCRIPT;
    asking->board->script = asking->program.answers;
    return run(asking, 0) == BZ_RUN_VIOLATED && !asking->board->is_full;
}

static bool ask(struct asking *asking) {
    struct bz_why *why = asking->why;
    const struct bz_answers whole = asking->program.answers;
    bool is_contained = asking->program.contain.is_on;
    if (!run_whole(asking)) {
        return false;
    }
    why->digest = bz_judge_digest(asking->world->judge);
    why->violation = *bz_judge_violation(asking->world->judge);
    why->steps = bz_judge_steps(asking->world->judge);
    snprintf(asking->object, sizeof asking->object, "%s",
             object_name(asking, why->violation.object));
    note_run(asking);
    if (is_contained && ask_in_child(asking)) {
        return goes_on(asking);
    }
    why->has_passing = false;
    weigh_choices(asking);
    estimate_odds(asking, &whole);
    bool is_in_child = asking->is_frugal && !is_contained;
    return goes_on(asking) &&
           (!is_in_child ||
            (run_whole(asking) && bz_judge_digest(asking->world->judge) == why->digest));
}

static bool find(struct asking *asking) {
    struct bz_why *why = asking->why;
    *why =
        (struct bz_why){.samples = asking->is_frugal ? BZ_WHY_SAMPLES_CONTAINED : BZ_WHY_SAMPLES};
    asking->world = bz_program_new_world(&asking->program);
    asking->board = calloc(1, sizeof *asking->board);
    bool has_shared = bz_board_share(&asking->program, &asking->shared);
    bool is_ok = false;
    if (asking->world == NULL || asking->board == NULL || !has_shared) {
        bz_lack_text(why->lack, sizeof why->lack, NULL, "an explanation");
    } else {
        is_ok = ask(asking);
    }
    bz_world_destroy(asking->world);
    bz_shared_free(asking->shared, sizeof *asking->shared);
    free(asking->board);
    return is_ok;
}

bool bz_why_find(const struct bz_program *program, const volatile sig_atomic_t *stop,
                 struct bz_why *why) {
    struct asking asking = {
        .why = why, .program = *program, .stop = stop, .is_frugal = program->contain.is_on};
    asking.program.contain.is_quiet = true;
    return find(&asking);
}
