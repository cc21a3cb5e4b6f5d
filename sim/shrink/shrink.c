#include "sim/shrink/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/program/replay.h"
#include "sim/shrink/internal.h"
#include "traces/text.h"

#define RUNS_BETWEEN_REPORTS 256u
#define LONG_RUN 500u /* steps */
/* CPU time that a run takes besides its steps, mostly to be set up and to write its violation. */
#define RUN_NS UINT64_C(4000)
#define PROCESS_NS UINT64_C(10000000) /* in a process of its own */
#define DYING_NS UINT64_C(50000000)   /* in one that ends with it */

/* --- sizes ------------------------------------------------------------------------------------ */

int bz_shrink_compare(const struct bz_shrink_size *a, const struct bz_edits *a_edits,
                      const struct bz_shrink_size *b, const struct bz_edits *b_edits) {
    const uint64_t pairs[][2] = {{a->is_longer, b->is_longer},
                                 {a->deviations, b->deviations},
                                 {a->cancels, b->cancels},
                                 {a->tasks, b->tasks},
                                 {a->helpers, b->helpers},
                                 {a->params, b->params},
                                 {a->params_sum, b->params_sum},
                                 {a->draws, b->draws},
                                 {a->steps, b->steps},
                                 {a->weight, b->weight},
                                 {a_edits->count, b_edits->count}};
    int order = bz_compare_pairs(pairs, sizeof pairs / sizeof pairs[0]);
    for (uint32_t index = 0; index < a_edits->count && order == 0; index++) {
        order = bz_edit_compare(&a_edits->items[index], &b_edits->items[index]);
    }
    return order;
}

static void measure_choices(const struct bz_edits *edits, struct bz_shrink_size *size) {
    for (uint32_t index = 0; index < edits->count; index++) {
        const struct bz_edit *edit = &edits->items[index];
        size->draws += edit->label != NULL;
        size->deviations += edit->label == NULL && edit->kind != BZ_CHOICE_CANCEL;
        size->weight += edit->value;
    }
}

static void measure_params(const struct bz_program *program, struct bz_shrink_size *size) {
    const struct bz_param *param = program->scenario->params;
    for (uint32_t index = 0; param[index].name != NULL; index++) {
        uint64_t above = (uint64_t)(program->args.values[index] - param[index].least);
        size->params += above > 0;
        size->params_sum += above;
    }
}

static uint32_t count_cancels(const struct bz_run_stats *stats) {
    uint64_t sum = 0;
    for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
        for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
            sum += stats->windows[op][window];
        }
    }
    return (uint32_t)sum;
}

uint32_t bz_shrink_tasks_of(const struct bz_judge *judge) {
    uint32_t helpers = 0;
    for (uint32_t task = 1; task <= judge->shadow.task_count; task++) {
        helpers += judge->shadow.tasks[task].is_helper;
    }
    return judge->shadow.task_count - helpers;
}

/* --- one run ---------------------------------------------------------------------------------- */

static bool is_stopped(const struct bz_shrinking *shrinking) {
    const volatile sig_atomic_t *stop = shrinking->config->budget.stop;
    return (stop != NULL && *stop != 0) || shrinking->result->lack[0] != '\0';
}

bool bz_shrink_goes_on(const struct bz_shrinking *shrinking) {
    return !is_stopped(shrinking) && shrinking->result->runs < shrinking->result->runs_max &&
           shrinking->cost < shrinking->cost_max;
}

static void report_progress(const struct bz_shrinking *shrinking) {
    const struct bz_shrink_config *config = shrinking->config;
    if (config->on_progress != NULL && shrinking->result->runs % RUNS_BETWEEN_REPORTS == 0) {
        config->on_progress(config->context, shrinking->result->runs, &shrinking->best->size);
    }
}

/* Any run of the trial, which counts against the budget. */
static enum bz_run_end run(struct bz_shrinking *shrinking, const struct bz_run_start *start) {
    struct bz_judge *judge = shrinking->trial->world->judge;
    *bz_judge_stats(judge) = (struct bz_run_stats){.runs = 0};
    enum bz_run_end end =
        bz_board_run(&shrinking->trial->program, shrinking->trial->world, start, shrinking->shared);
    shrinking->result->runs++;
    shrinking->cost += shrinking->run_cost + bz_edits_cost(shrinking->board, bz_judge_steps(judge));
    if (end == BZ_RUN_NO_RESOURCE) {
        bz_lack_copy(shrinking->result->lack, bz_judge_error(judge));
    }
    report_progress(shrinking);
    return end;
}

bool bz_shrink_try(struct bz_shrinking *shrinking, struct bz_shrink_size *size) {
    struct bz_board *board = shrinking->board;
    struct bz_judge *judge = shrinking->trial->world->judge;
    struct bz_run_start start = {
        .strategy = &bz_strategy_edits, .tape = &shrinking->tape, .context = board};
    if (run(shrinking, &start) != BZ_RUN_VIOLATED || board->is_full ||
        !bz_fails_likewise(&shrinking->wanted, shrinking->wanted_object, judge)) {
        return false;
    }
    *size = (struct bz_shrink_size){.is_longer = bz_judge_steps(judge) > shrinking->steps_max,
                                    .cancels = count_cancels(bz_judge_stats(judge)),
                                    .tasks = bz_shrink_tasks_of(judge),
                                    .helpers = judge->shadow.task_count - bz_shrink_tasks_of(judge),
                                    .steps = bz_judge_steps(judge)};
    measure_choices(&board->made, size);
    measure_params(&shrinking->trial->program, size);
    return true;
}

bool bz_shrink_improve(struct bz_shrinking *shrinking) {
    struct bz_board *board = shrinking->board;
    struct bz_failing *best = shrinking->best;
    const struct bz_judge *judge = shrinking->trial->world->judge;
    struct bz_shrink_size size;
    if (!bz_shrink_try(shrinking, &size) ||
        bz_shrink_compare(&size, &board->made, &best->size, &best->edits) >= 0) {
        return false;
    }
    uint64_t digest = bz_judge_digest(judge);
    enum bz_edit_source source = board->source;
    bz_shrink_copy_tape(&shrinking->tape, &judge->tape);
    board->source = BZ_EDIT_BY_TAPE;
    bool is_again = bz_shrink_try(shrinking, &size) && bz_judge_digest(judge) == digest;
    board->source = source;
    if (is_again) {
        bz_shrink_copy_tape(&shrinking->best_tape, &judge->tape);
        best->size = size;
        best->digest = digest;
        bz_edits_copy(&best->edits, &board->made);
        shrinking->result->program = shrinking->trial->program;
        shrinking->result->violation = *bz_judge_violation(judge);
    }
    return is_again;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The first run: the tape of the trace. */
static bool play_trace(struct bz_shrinking *shrinking) {
    char error[BZ_TRACE_ERROR_BYTES];
    const struct bz_trace *trace = shrinking->config->trace;
    struct bz_shrink_result *result = shrinking->result;
    struct bz_judge *judge = shrinking->trial->world->judge;
    struct bz_run_start start = {.seed = trace->seed,
                                 .strategy = &bz_strategy_edits,
                                 .tape = &shrinking->tape,
                                 .context = shrinking->board};
    result->end = BZ_SHRINK_UNREPEATABLE;
    if (!bz_trace_to_tape(trace, &shrinking->tape, error, sizeof error)) {
        return false;
    }
    shrinking->board->source = BZ_EDIT_BY_TAPE;
    enum bz_run_end end = run(shrinking, &start);
    if (shrinking->board->is_full) {
        result->end = shrinking->board->is_harmed ? BZ_SHRINK_UNREPEATABLE : BZ_SHRINK_TOO_LARGE;
        return false;
    }
    if (end != BZ_RUN_VIOLATED || bz_judge_digest(judge) != trace->digest) {
        return false;
    }
    shrinking->wanted = *bz_judge_violation(judge);
    const char *object = bz_judge_object_name(judge, shrinking->wanted.object);
    snprintf(shrinking->wanted_object, sizeof shrinking->wanted_object, "%s",
             object == NULL ? "" : object);
    shrinking->best->size.is_longer = true;
    shrinking->steps_given = bz_judge_steps(judge);
    shrinking->steps_max = shrinking->steps_given;
    bool is_made = bz_shrink_improve(shrinking);
    result->end = shrinking->board->is_full && !shrinking->board->is_harmed
                      ? BZ_SHRINK_TOO_LARGE
                      : BZ_SHRINK_UNREPEATABLE;
    return is_made;
}

uint64_t bz_shrink_key(const struct bz_shrinking *shrinking) {
    const struct bz_program *program = &shrinking->result->program;
    uint64_t words[BZ_PARAMS_MAX + 2] = {program->steps_max, shrinking->best->digest};
    memcpy(&words[2], program->args.values, sizeof program->args.values);
    return bz_checksum((const char *)words, sizeof words) | 1u;
}

/* NULL: it is not known to lead nowhere. */
static const struct bz_done *find_done(const struct bz_shrinking *shrinking, uint64_t key) {
    const struct bz_done *found = NULL;
    for (uint32_t index = 0; index < BZ_SHRINK_DONE && found == NULL; index++) {
        found = shrinking->done[index].key == key ? &shrinking->done[index] : NULL;
    }
    return found;
}

/* Notes that it leads nowhere, unless a budget has ended it. */
static void note_done(struct bz_shrinking *shrinking, uint64_t key) {
    if (bz_shrink_goes_on(shrinking)) {
        shrinking->done[shrinking->done_count++ % BZ_SHRINK_DONE] =
            (struct bz_done){.key = key, .is_searched = shrinking->is_searched};
    }
}

static bool is_known(struct bz_shrinking *shrinking) {
    const struct bz_done *done = find_done(shrinking, bz_shrink_key(shrinking));
    if (done != NULL) {
        shrinking->is_settled = true;
        shrinking->is_searched = done->is_searched;
    }
    return done != NULL;
}

bool bz_shrink_passes(struct bz_shrinking *shrinking) {
    bool (*const passes[])(struct bz_shrinking *) = {bz_shrink_choices, bz_shrink_params,
                                                     bz_shrink_tasks, bz_shrink_search};
    bool has_changed = true;
    if (shrinking->best->size.steps > LONG_RUN) {
        (void)bz_shrink_params(shrinking); /* all else costs less in a smaller program */
    }
    while (has_changed && bz_shrink_goes_on(shrinking)) {
        has_changed = false;
        for (uint32_t pass = 0; pass < sizeof passes / sizeof passes[0]; pass++) {
            if (is_known(shrinking)) {
                return true;
            }
            has_changed |= passes[pass](shrinking) && pass > 0;
        }
    }
    shrinking->is_settled = !has_changed && bz_shrink_goes_on(shrinking);
    if (shrinking->is_settled) {
        note_done(shrinking, bz_shrink_key(shrinking));
    }
    return shrinking->is_settled;
}

bool bz_shrink_leaps(struct bz_shrinking *shrinking) {
    bool is_done = false;
    while (!is_done && bz_shrink_goes_on(shrinking)) {
        uint64_t key = ~bz_shrink_key(shrinking) | 1u; /* not that of the passes */
        is_done = find_done(shrinking, key) != NULL;
        if (!is_done && (bz_shrink_leap(shrinking) || bz_shrink_mix(shrinking))) {
            (void)bz_shrink_passes(shrinking);
        } else if (!is_done) {
            note_done(shrinking, key);
        }
    }
    return bz_shrink_goes_on(shrinking);
}

/* A local minimum depends on where the search began. So it begins again with other runs of the
 * given program, which do not depend on the given run. */
static bool begin_elsewhere(struct bz_shrinking *shrinking) {
    struct bz_failing *others = bz_lack_new(BZ_SHRINK_OTHERS, sizeof *others, "a shrinking run");
    if (bz_shrink_enter(shrinking, shrinking->config->program)) {
        uint32_t count = bz_shrink_find(shrinking, others);
        for (uint32_t index = 0; index < count && bz_shrink_goes_on(shrinking); index++) {
            if (bz_shrink_enter(shrinking, shrinking->config->program)) {
                (void)bz_shrink_other(shrinking, &others[index], bz_shrink_passes);
            }
        }
    }
    free(others);
    return bz_shrink_goes_on(shrinking);
}

/* True if the trial makes the best run again, by its tape. */
static bool repeats_best(struct bz_shrinking *shrinking) {
    struct bz_shrink_size size;
    shrinking->board->source = BZ_EDIT_BY_TAPE;
    bz_shrink_copy_tape(&shrinking->tape, &shrinking->best_tape);
    return bz_shrink_try(shrinking, &size) &&
           bz_judge_digest(shrinking->trial->world->judge) == shrinking->best->digest;
}

/* True if every other run is larger: the best one makes no choice and no cancel, and any other has
 * a choice that counts, as none of its choices is a draw, and nothing else can be changed. */
static bool is_least(struct bz_shrinking *shrinking) {
    const struct bz_board *board = shrinking->board;
    const struct bz_failing *best = shrinking->best;
    const struct bz_program program = shrinking->result->program;
    bool is_least = best->edits.count == 0 && best->size.cancels == 0 && !best->size.is_longer &&
                    program.scenario->params[0].name == NULL &&
                    bz_shrink_enter(shrinking, &program) && repeats_best(shrinking) &&
                    board->point_count < BZ_EDITS_POINTS_MAX;
    for (uint32_t index = 0; is_least && index < board->point_count; index++) {
        is_least = board->points[index].kind != BZ_CHOICE_DATA;
    }
    return is_least;
}

/* The result of a given run may be smaller than the common one, or shorter. Then other
 * runs of its program may lead further. */
static bool go_elsewhere(struct bz_shrinking *shrinking) {
    return bz_shrink_key(shrinking) == shrinking->common || is_least(shrinking) ||
           (begin_elsewhere(shrinking) && bz_shrink_leaps(shrinking) &&
            bz_shrink_shorter(shrinking));
}

static enum bz_shrink_end end_of(const struct bz_shrinking *shrinking, bool is_cut) {
    const volatile sig_atomic_t *stop = shrinking->config->budget.stop;
    if (is_stopped(shrinking)) {
        return stop != NULL && *stop == BZ_STOP_TIME ? BZ_SHRINK_OUT_OF_TIME
                                                     : BZ_SHRINK_INTERRUPTED;
    }
    return is_cut || !shrinking->is_settled                ? BZ_SHRINK_OUT_OF_BUDGET
           : bz_shrink_key(shrinking) == shrinking->common ? BZ_SHRINK_MINIMAL
                                                           : BZ_SHRINK_ONE_MINIMAL;
}

/* The search for the common run may always spend as much. So what comes of it does not depend on
 * what was spent before. */
static void shrink(struct bz_shrinking *shrinking) {
    static bool (*const phases[])(struct bz_shrinking *) = {bz_shrink_passes, bz_shrink_leaps,
                                                            bz_shrink_common, go_elsewhere};
    uint64_t most = shrinking->cost_max;
    bool is_cut = false;
    for (uint32_t phase = 0; phase < sizeof phases / sizeof phases[0]; phase++) {
        const uint64_t limits[] = {most / 4, most / 8 * 3, shrinking->cost + most / 2, most};
        shrinking->cost_max = limits[phase];
        is_cut |= !phases[phase](shrinking);
    }
    shrinking->result->end = end_of(shrinking, is_cut);
}

/* A best run with slow steps is allowed no more lag than it needs, so that its token says how much
 * that is. Then fewer points are asked for lag, so the choices have other numbers. */
static void lower_lag(struct bz_shrinking *shrinking) {
    struct bz_program program = shrinking->result->program;
    if (!bz_shrink_enter(shrinking, &program) || !repeats_best(shrinking) ||
        bz_judge_lag_ns(shrinking->trial->world->judge) == 0) {
        return;
    }
    program.lag_max_ns = bz_judge_lag_ns(shrinking->trial->world->judge);
    if (bz_shrink_enter(shrinking, &program) && repeats_best(shrinking)) {
        shrinking->result->program = program;
        bz_edits_copy(&shrinking->best->edits, &shrinking->board->made);
    }
}

static bool has_jump(const struct bz_edits *edits) {
    bool has_one = false;
    for (uint32_t index = 0; index < edits->count; index++) {
        has_one |= edits->items[index].kind == BZ_CHOICE_DELAY && edits->items[index].label == NULL;
    }
    return has_one;
}

/* The best run as a program, and as a tape, also if the search was stopped. */
static void conclude(struct bz_shrinking *shrinking) {
    struct bz_shrink_result *result = shrinking->result;
    result->program.contain.stop = NULL;
    if (has_jump(&shrinking->best->edits)) {
        lower_lag(shrinking);
    }
    result->after = shrinking->best->size;
    result->digest = shrinking->best->digest;
    result->has_answers = bz_edits_script(&shrinking->best->edits, &result->program.answers);
    if (result->has_answers) {
        result->program.strategy = &bz_strategy_answers;
    }
    result->program.profile.steps = 0;
    if (bz_shrink_enter(shrinking, &result->program) && repeats_best(shrinking)) {
        bz_shrink_copy_tape(&result->tape, &shrinking->trial->world->judge->tape);
    } else if (result->lack[0] == '\0') {
        result->end = BZ_SHRINK_UNREPEATABLE;
    }
}

static void set_budget(struct bz_shrinking *shrinking) {
    const struct bz_shrink_config *config = shrinking->config;
    const char *oracle = config->trace->verdict.oracle;
    bool is_dying = oracle != NULL && bz_oracle_ends_process(oracle);
    uint64_t run_ns = !config->program->contain.is_on ? RUN_NS : is_dying ? DYING_NS : PROCESS_NS;
    shrinking->run_cost = bz_program_steps_in(config->program, run_ns);
    shrinking->cost_max = bz_budget_steps(&config->budget, config->program);
    shrinking->result->steps_max = shrinking->cost_max;
    shrinking->result->run_cost = config->program->contain.is_on ? shrinking->run_cost : 0;
    shrinking->result->runs_max = config->runs_max != 0 ? config->runs_max : UINT64_MAX;
}

bool bz_shrink_here(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    struct bz_trial trial = {.program = *config->program};
    struct bz_shrinking shrinking = {.config = config, .result = result, .trial = &trial};
    *result = (struct bz_shrink_result){.end = BZ_SHRINK_NO_RESOURCE};
    bz_tape_init(&result->tape, NULL);
    bz_tape_init(&shrinking.tape, NULL);
    bz_tape_init(&shrinking.best_tape, NULL);
    set_budget(&shrinking);
    trial.world = bz_program_new_world(&trial.program);
    shrinking.board = calloc(1, sizeof *shrinking.board);
    shrinking.best = calloc(1, sizeof *shrinking.best);
    bool has_shared = bz_board_share(config->program, &shrinking.shared);
    if (trial.world == NULL || shrinking.board == NULL || shrinking.best == NULL || !has_shared) {
        bz_lack_text(result->lack, sizeof result->lack, NULL, "a shrinking run");
    } else if (play_trace(&shrinking)) {
        result->before = shrinking.best->size;
        shrink(&shrinking);
        conclude(&shrinking);
    }
    if (result->lack[0] != '\0') {
        result->end = BZ_SHRINK_NO_RESOURCE;
    }
    bz_world_destroy(trial.world);
    bz_shared_free(shrinking.shared, sizeof *shrinking.shared);
    free(shrinking.best);
    free(shrinking.board);
    bz_tape_fini(&shrinking.best_tape);
    bz_tape_fini(&shrinking.tape);
    return result->end <= BZ_SHRINK_INTERRUPTED;
}

/* Variations of a run that hangs are impatient. bz_shrink_record() is not. */
static bool shrink_in_turn(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    const char *oracle = config->trace->verdict.oracle;
    struct bz_program program = *config->program;
    struct bz_shrink_config own = *config;
    own.program = &program;
    program.contain.is_quiet = true;
    program.contain.is_impatient = oracle != NULL && strcmp(oracle, "hang") == 0;
    bool is_ok = bz_shrink_here(&own, result);
    result->program.contain = config->program->contain;
    return is_ok;
}

bool bz_shrink(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    const char *oracle = config->trace->verdict.oracle;
    bool may_share =
        config->program->contain.is_on && (oracle == NULL || !bz_oracle_ends_process(oracle));
    return (may_share && bz_shrink_in_child(config, result)) || shrink_in_turn(config, result);
}

void bz_shrink_fini(struct bz_shrink_result *result) {
    bz_tape_fini(&result->tape);
}

/* --- afterwards ------------------------------------------------------------------------------- */

bool bz_shrink_record(struct bz_shrink_result *result, struct bz_trace *trace, char *error,
                      size_t error_bytes) {
    struct bz_replay_report report;
    struct bz_kept_run run = {.digest = result->digest,
                              .steps = result->after.steps,
                              .violation = result->violation,
                              .tape = result->tape};
    if (!bz_record_kept(&result->program, &run, trace, &report)) {
        memcpy(result->lack, report.lack, sizeof result->lack);
        snprintf(error, error_bytes, "%s", report.lack);
        return false;
    }
    bool is_same = report.result == BZ_REPLAY_MATCHED && trace->digest == result->digest &&
                   trace->verdict.oracle != NULL &&
                   strcmp(trace->verdict.oracle, result->violation.oracle) == 0;
    if (!is_same) {
        snprintf(error, error_bytes, "the recording does not confirm the shrunk run");
    }
    return is_same;
}

/* Why it may get smaller still. */
static void cut_text(const struct bz_shrink_result *result, char *text, size_t bytes) {
    if (result->end == BZ_SHRINK_OUT_OF_TIME) {
        snprintf(text, bytes, "not minimal: the time was over (--shrink-time)");
    } else if (result->end == BZ_SHRINK_INTERRUPTED) {
        snprintf(text, bytes, "not minimal: it was interrupted");
    } else if (result->runs >= result->runs_max) {
        snprintf(text, bytes, "not minimal: the budget of %" PRIu64 " runs was spent (--max-runs)",
                 result->runs_max);
    } else {
        size_t used = (size_t)snprintf(
            text, bytes, "not minimal: the budget of %" PRIu64 " steps was spent (--shrink-steps)",
            result->steps_max);
        if (result->run_cost > 0) {
            snprintf(text + used, bytes - used,
                     "; a run in a process of its own counts as %" PRIu64 " steps",
                     result->run_cost);
        }
    }
}

const char *bz_shrink_end_text(const struct bz_shrink_result *result, char *text, size_t bytes) {
    static const char *const texts[] = {
        [BZ_SHRINK_MINIMAL] = "minimal: all schedules with as few choices were tried",
        [BZ_SHRINK_ONE_MINIMAL] = "1-minimal: no choice can be left out, and no parameter lowered",
        [BZ_SHRINK_TOO_LARGE] = "not shrunk: it has more tasks or choices than can be edited",
        [BZ_SHRINK_UNREPEATABLE] = "not shrunk: its choices do not lead to the violation again",
        [BZ_SHRINK_NO_RESOURCE] = "not shrunk",
    };
    char cut[BZ_LACK_BYTES];
    const char *why = texts[result->end];
    if (why == NULL) {
        cut_text(result, cut, sizeof cut);
        why = cut;
    }
    snprintf(text, bytes, "%s (%" PRIu64 " run%s)%s%s", why, result->runs,
             result->runs == 1 ? "" : "s", result->lack[0] == '\0' ? "" : ": ", result->lack);
    return text;
}
