/* A contained program is shrunk and explained in one child process, which is much faster than one
 * for each run. If a run ends it, nothing is lost but time. */
#include <string.h>

#include "sim/judge/internal.h"
#include "sim/shrink/internal.h"
#include "traces/text.h"

#define STOP_LOOKS_MAX 8u
#define STEPS_OF_A_RUN 30u /* that take their time */

/* --- one child for many runs ------------------------------------------------------------------ */

static uint64_t sum_of(const struct bz_apart *apart) {
    return bz_checksum(apart->report, apart->report_bytes) | 1u;
}

void bz_apart_seal(const struct bz_apart *apart) {
    __atomic_store_n(&apart->signs->sum, sum_of(apart), __ATOMIC_RELEASE);
}

static enum bz_child_state wait_for(const struct bz_apart *apart, struct bz_child *child) {
    const struct bz_shrink_config *config = apart->config;
    struct bz_child *const children[] = {child};
    struct bz_death death;
    uint32_t looks = 0;
    for (;;) {
        enum bz_child_state state = bz_child_look(child, &death);
        if (state != BZ_CHILD_RUNS) {
            return state;
        }
        if (config->on_progress != NULL) {
            const struct bz_shrink_size best = apart->signs->best;
            config->on_progress(config->context, *apart->runs, &best);
        }
        apart->signs->stop = config->budget.stop != NULL ? *config->budget.stop : BZ_STOP_NONE;
        looks += apart->signs->stop != BZ_STOP_NONE;
        if (looks == STOP_LOOKS_MAX) {
            bz_child_kill(child);
            return BZ_CHILD_DIED;
        }
        bz_child_wait(children, 1);
    }
}

bool bz_apart_make(const struct bz_apart *apart) {
    struct bz_child child;
    struct bz_contain contain = apart->config->program->contain;
    contain.is_quiet = true;
    if (!bz_child_start(&child, &contain, NULL, apart->work, apart->context)) {
        return false;
    }
    child.counter = apart->runs;
    child.contain.step_ns *= STEPS_OF_A_RUN; /* it sees runs, and no steps */
    return wait_for(apart, &child) == BZ_CHILD_DONE && apart->signs->sum == sum_of(apart);
}

/* The child's report of the smallest run. Nothing in it is a pointer. */
struct report {
    enum bz_shrink_end end;
    uint64_t runs;
    uint64_t runs_max;
    uint64_t steps_max;
    struct bz_shrink_size before;
    struct bz_shrink_size after;
    uint64_t digest;
    int64_t values[BZ_PARAMS_MAX]; /* of the program, as are the next ones */
    uint32_t program_steps_max;
    uint32_t starvation_bound;
    uint64_t lag_max_ns;
    struct bz_answers answers;
};

/* Shared with the child, whose code may write over it. */
struct shared {
    struct bz_shrink_result result; /* of the child; the parent reads its `runs` alone, a hint */
    struct bz_apart_signs signs;
    struct report report;
};

/* Of the child. */
struct work {
    struct bz_shrink_config config;
    struct bz_program program;
    struct shared *shared;
    struct bz_apart apart;
};

/* --- in the child ----------------------------------------------------------------------------- */

static void note_progress(void *context, uint64_t runs, const struct bz_shrink_size *best) {
    struct shared *shared = context;
    (void)runs;
    shared->signs.best = *best;
    bz_child_tell();
}

static void shrink_in_child(void *context) {
    const struct work *work = context;
    struct report *report = &work->shared->report;
    struct bz_shrink_result *result = &work->shared->result;
    if (!bz_shrink_here(&work->config, result) || !result->has_answers) {
        return;
    }
    report->end = result->end;
    report->runs = result->runs;
    report->runs_max = result->runs_max;
    report->steps_max = result->steps_max;
    report->before = result->before;
    report->after = result->after;
    report->digest = result->digest;
    memcpy(report->values, result->program.args.values, sizeof report->values);
    report->program_steps_max = result->program.steps_max;
    report->starvation_bound = result->program.starvation_bound;
    report->lag_max_ns = result->program.lag_max_ns;
    report->answers = result->program.answers;
    bz_apart_seal(&work->apart);
}

/* --- in the parent ---------------------------------------------------------------------------- */

bool bz_board_share(const struct bz_program *program, struct bz_board **shared) {
    *shared = program->contain.is_on ? bz_shared_alloc(sizeof **shared) : NULL;
    return !program->contain.is_on || *shared != NULL;
}

enum bz_run_end bz_board_run(const struct bz_program *program, struct bz_world *world,
                             const struct bz_run_start *start, struct bz_board *shared) {
    struct bz_board *board = start->context;
    struct bz_run_start own = *start;
    if (shared != NULL) {
        bz_board_give(shared, board);
        own.context = shared;
    }
    enum bz_run_end end = bz_program_run_from(program, world, &own);
    if (shared != NULL) {
        (void)bz_board_take(board, shared, &world->judge->tape);
    }
    return end;
}

/* False: it makes no sense. */
static bool read_report(const struct bz_shrink_config *config, const struct report *shared,
                        struct bz_shrink_result *result) {
    struct report report;
    const struct bz_param *params = config->program->scenario->params;
    memcpy(&report, shared, sizeof report);
    bool is_sound =
        report.end <= BZ_SHRINK_INTERRUPTED && report.answers.count <= BZ_ANSWERS_ENTRIES_MAX;
    for (uint32_t index = 0; is_sound && params[index].name != NULL; index++) {
        is_sound = report.values[index] >= params[index].least &&
                   report.values[index] <= params[index].most;
    }
    *result = (struct bz_shrink_result){.end = report.end,
                                        .runs = report.runs,
                                        .runs_max = report.runs_max,
                                        .steps_max = report.steps_max,
                                        .before = report.before,
                                        .after = report.after,
                                        .digest = report.digest,
                                        .program = *config->program,
                                        .has_answers = true};
    struct bz_program *program = &result->program;
    memcpy(program->args.values, report.values, sizeof report.values);
    program->strategy = &bz_strategy_answers;
    program->steps_max = report.program_steps_max;
    program->starvation_bound = report.starvation_bound;
    program->lag_max_ns = report.lag_max_ns;
    program->answers = report.answers;
    program->profile.steps = 0;
    return is_sound;
}

/* The violation and the tape of the smallest run, from a run in a process of its own, also if the
 * search was stopped. It must be the same run, and violate the same oracle. */
static bool confirm(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    const char *oracle = config->trace->verdict.oracle;
    struct bz_program unstopped = result->program;
    unstopped.contain.stop = NULL;
    unstopped.contain.is_quiet = true;
    struct bz_world *world = bz_program_new_world(&unstopped);
    bool is_same = world != NULL && oracle != NULL &&
                   bz_program_run(&unstopped, world, 0) == BZ_RUN_VIOLATED &&
                   strcmp(bz_judge_violation(world->judge)->oracle, oracle) == 0 &&
                   bz_judge_digest(world->judge) == result->digest &&
                   bz_tape_copy(&result->tape, &world->judge->tape);
    if (is_same) {
        result->violation = *bz_judge_violation(world->judge);
    }
    bz_world_destroy(world);
    return is_same;
}

bool bz_shrink_in_child(const struct bz_shrink_config *config, struct bz_shrink_result *result) {
    struct shared *shared = bz_shared_alloc(sizeof *shared);
    struct work work = {.config = *config, .program = *config->program, .shared = shared};
    if (shared == NULL) {
        return false;
    }
    work.program.contain.is_on = false; /* in the child */
    work.config.program = &work.program;
    work.config.budget.stop = &shared->signs.stop;
    work.config.on_progress = note_progress;
    work.config.context = shared;
    work.apart = (struct bz_apart){.config = config,
                                   .work = shrink_in_child,
                                   .context = &work,
                                   .signs = &shared->signs,
                                   .runs = &shared->result.runs,
                                   .report = &shared->report,
                                   .report_bytes = sizeof shared->report};
    bool is_ok = bz_apart_make(&work.apart) && read_report(config, &shared->report, result);
    if (is_ok) {
        bz_tape_init(&result->tape, NULL);
        is_ok = confirm(config, result);
        if (!is_ok) {
            bz_tape_fini(&result->tape);
        }
    }
    bz_shared_free(shared, sizeof *shared);
    return is_ok;
}
