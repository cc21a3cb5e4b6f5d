#include "sim/shrink/why.h"

#include <stdio.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"

#define PLAN_SAMPLES 4u

struct asking {
    struct bz_why *why;
    const struct bz_program *program;
    struct bz_world *world;
    struct bz_board *board; /* shared with child processes */
    uint64_t cost;
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
    enum bz_run_end end = bz_program_run_from(asking->program, asking->world, &start);
    asking->why->runs++;
    asking->cost += bz_edits_cost(asking->board, bz_judge_steps(judge));
    if (end == BZ_RUN_NO_RESOURCE) {
        snprintf(asking->why->lack, sizeof asking->why->lack, "%.*s",
                 (int)sizeof asking->why->lack - 1, bz_judge_error(judge));
    }
    return end;
}

static bool fails_likewise(struct asking *asking, uint64_t seed) {
    return run(asking, seed) == BZ_RUN_VIOLATED &&
           bz_fails_likewise(&asking->why->violation, asking->object, asking->world->judge);
}

/* --- the choices ------------------------------------------------------------------------------ */

/* The script with another answer to one of its questions; 0: the default. */
static void put_answer(struct bz_answers *script, const struct bz_answers *whole, uint32_t place,
                       uint64_t answer) {
    script->count = 0;
    for (uint32_t index = 0; index < whole->count; index++) {
        uint64_t value = index == place ? answer : whole->entries[index].answer;
        if (value != 0) {
            (void)bz_answers_add(script, whole->entries[index].question, value);
        }
    }
}

static void note_passing(struct asking *asking, uint32_t place, bool is_default) {
    struct bz_why *why = asking->why;
    why->has_passing = true;
    why->passing_choice = place;
    why->passing_is_default = is_default;
    why->passing = *asking->program;
    why->passing.answers = asking->board->script;
    why->passing_digest = bz_judge_digest(asking->world->judge);
}

static void try_others(struct asking *asking, const struct bz_answers *whole, uint32_t place,
                       uint64_t answers) {
    struct bz_why_choice *choice = &asking->why->choices[place];
    uint64_t most = answers < BZ_WHY_OTHERS_MAX ? answers : BZ_WHY_OTHERS_MAX;
    bool has_passed = false;
    for (uint64_t answer = 0; answer < most && goes_on(asking); answer++) {
        if (answer == whole->entries[place].answer) {
            continue;
        }
        put_answer(&asking->board->script, whole, place, answer);
        choice->others++;
        bool fails = fails_likewise(asking, 0);
        choice->failing += fails;
        choice->fails_without |= fails && answer == 0;
        if (!has_passed && asking->world->judge->end == BZ_RUN_PASSED) {
            has_passed = true;
            note_passing(asking, place, answer == 0);
        }
    }
}

/* In the order of the run, so that the last one that can pass is kept. */
static void weigh_choices(struct asking *asking, const struct bz_answers *whole) {
    struct bz_board *board = asking->board;
    uint64_t answers[BZ_ANSWERS_ENTRIES_MAX];
    for (uint32_t place = 0; place < board->made.count; place++) {
        const struct bz_edit *made = &board->made.items[place];
        asking->why->choices[asking->why->choice_count++].edit = *made;
        bool is_noted = made->question <= board->point_count;
        answers[place] = is_noted ? board->points[made->question - 1].answers : made->answer + 1;
    }
    for (uint32_t place = 0; place < asking->why->choice_count; place++) {
        try_others(asking, whole, place, answers[place]);
    }
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

/* --- the whole -------------------------------------------------------------------------------- */

static bool ask(struct asking *asking) {
    struct bz_why *why = asking->why;
    const struct bz_answers whole = asking->program->answers;
    asking->board->source = BZ_EDIT_BY_SCRIPT;
    asking->board->script = whole;
    if (run(asking, 0) != BZ_RUN_VIOLATED || asking->board->is_full) {
        return false;
    }
    why->violation = *bz_judge_violation(asking->world->judge);
    why->steps = bz_judge_steps(asking->world->judge);
    snprintf(asking->object, sizeof asking->object, "%s",
             object_name(asking, why->violation.object));
    weigh_choices(asking, &whole);
    estimate_odds(asking, &whole);
    return goes_on(asking);
}

bool bz_why_find(const struct bz_program *program, const volatile sig_atomic_t *stop,
                 struct bz_why *why) {
    struct bz_program own = *program;
    struct asking asking = {.why = why, .program = &own, .stop = stop};
    *why = (struct bz_why){.samples =
                               program->contain.is_on ? BZ_WHY_SAMPLES_CONTAINED : BZ_WHY_SAMPLES};
    asking.world = bz_program_new_world(&own);
    asking.board = bz_shared_alloc(sizeof *asking.board);
    bool is_ok = false;
    if (asking.world == NULL || asking.board == NULL) {
        bz_lack_text(why->lack, sizeof why->lack, NULL, "an explanation");
    } else {
        is_ok = ask(&asking);
    }
    bz_world_destroy(asking.world);
    bz_shared_free(asking.board, sizeof *asking.board);
    return is_ok;
}
