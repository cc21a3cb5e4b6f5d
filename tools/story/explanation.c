#include "tools/story/explanation.h"

#include <string.h>

#include "sim/program/token.h"
#include "sim/session/findings.h"
#include "tools/cli/cli.h"
#include "traces/text.h"

/* --- the smallest run ------------------------------------------------------------------------- */

static int shrink(struct bz_explanation *explanation) {
    struct bz_shrink_config config = {.program = &explanation->run->program,
                                      .trace = &explanation->run->trace,
                                      .budget =
                                          bz_search_limits_begin(&(struct bz_search_limits){0})};
    struct bz_shrink_result *shrunk = &explanation->shrunk;
    char text[BZ_ERROR_BYTES];
    bool is_ok = bz_shrink(&config, shrunk);
    (void)bz_time_limit_end();
    if (!is_ok) {
        int code = shrunk->end == BZ_SHRINK_NO_RESOURCE ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE;
        return bz_cli_fail(code, "%s", bz_shrink_end_text(shrunk, text, sizeof text));
    }
    if (!bz_shrink_record(shrunk, &explanation->trace, text, sizeof text)) {
        int code = shrunk->lack[0] != '\0' ? BZ_EXIT_INTERNAL : BZ_EXIT_DIVERGED;
        return bz_cli_fail(code, "%s", text);
    }
    if (shrunk->has_answers) {
        bz_token_format(&shrunk->program, explanation->trace.seed, shrunk->digest,
                        explanation->token, sizeof explanation->token);
    }
    return BZ_EXIT_OK;
}

/* --- the cancel that matters ------------------------------------------------------------------ */

/* True if it does not fail without this cancel, if the schedule put it in; others always count. */
static bool is_needed(const struct bz_explanation *explanation, const struct bz_story_line *line) {
    const struct bz_why *why = &explanation->why;
    for (uint32_t index = 0; line->is_injected && index < why->choice_count; index++) {
        const struct bz_why_choice *choice = &why->choices[index];
        if (choice->edit.kind == BZ_CHOICE_CANCEL && choice->edit.step == line->step) {
            return !choice->fails_without;
        }
    }
    return true;
}

/* The last one that the violation depends on. An injected one without which the run does not fail
 * in the same way is needed, whatever the order of the events says. */
static void find_cancel(struct bz_explanation *explanation) {
    const struct bz_story *story = &explanation->story;
    const struct bz_violation *violation = &explanation->shrunk.violation;
    uint32_t injected = BZ_STORY_NONE;
    explanation->cancel = BZ_STORY_NONE;
    for (uint32_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        if (line->window == NULL || !is_needed(explanation, line)) {
            continue;
        }
        injected = line->is_injected ? index : injected;
        explanation->cancel = line->is_cause ? index : explanation->cancel;
    }
    if (explanation->cancel == BZ_STORY_NONE) {
        explanation->cancel = injected;
    }
    if (explanation->cancel != BZ_STORY_NONE) {
        const struct bz_story_line *line = &story->lines[explanation->cancel];
        explanation->operation = line->op;
        explanation->window = line->window;
    } else if (violation->op != BZ_OP_NONE) {
        explanation->operation = bz_op_name(violation->op);
        explanation->window = bz_window_name(violation->window);
    }
}

/* --- who still waits -------------------------------------------------------------------------- */

/* True if the line is something that the task did, and not something that happened to it. */
static bool is_deed(const struct bz_story_line *line) {
    static const char *const others[] = {"waits ", "is woken ", "starts",
                                         "yields", "sleeps",    "resumes"};
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++) {
        if (strncmp(line->text, others[index], strlen(others[index])) == 0) {
            return false;
        }
    }
    return line->window == NULL && !line->is_violation;
}

/* The last line of a task up to the one at which it began to wait. */
static uint32_t line_of_wait(const struct bz_story *story, const struct bz_place *place,
                             const char *object) {
    uint32_t found = BZ_STORY_NONE;
    for (uint32_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        bool is_it = line->task == place->task && !line->is_violation &&
                     line->step <= place->step && bz_is(line->object, object);
        found = is_it ? index : found;
    }
    return found;
}

static void find_waiter(struct bz_explanation *explanation) {
    const struct bz_story *story = &explanation->story;
    explanation->waits = BZ_STORY_NONE;
    explanation->last_to_act = BZ_STORY_NONE;
    uint32_t task = bz_trace_find_task(&explanation->trace, explanation->trace.verdict.task);
    const struct bz_place *place = &story->ledger.tasks[task].place;
    if (place->kind != BZ_SPAN_WAITING) {
        return;
    }
    const char *object = explanation->trace.objects[place->object - 1].name;
    explanation->waits = line_of_wait(story, place, object);
    for (uint32_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        bool is_there = line->task != task || index < explanation->waits;
        bool is_act = is_there && line->task != 0 && line->is_cause && is_deed(line) &&
                      bz_is(line->object, object);
        explanation->last_to_act = is_act ? index : explanation->last_to_act;
    }
}

/* --- what it resembles ------------------------------------------------------------------------ */

/* How a variant fails with these choices: 0: not so, 1: in the same way, 2: event by event. */
static unsigned likeness(const struct bz_explanation *explanation,
                         const struct bz_variant *variant) {
    char error[BZ_ERROR_BYTES];
    struct bz_program program;
    const struct bz_violation *wanted = &explanation->shrunk.violation;
    struct bz_trace named = explanation->trace; /* a shallow copy */
    named.variant = variant->name;
    if (!bz_trace_program(&named, &bz_cli_catalog, &program, error, sizeof error)) {
        return 0;
    }
    struct bz_world *world = bz_program_new_world(&program);
    if (world == NULL) {
        return 0;
    }
    const struct bz_violation *got = bz_judge_violation(world->judge);
    bool is_like = bz_program_run(&program, world, explanation->trace.seed) == BZ_RUN_VIOLATED &&
                   bz_is(got->oracle, wanted->oracle) && got->op == wanted->op &&
                   got->window == wanted->window &&
                   bz_is(bz_judge_object_name(world->judge, got->object),
                         bz_judge_object_name(world->judge, wanted->object));
    bool is_equal = is_like && bz_judge_digest(world->judge) == explanation->shrunk.digest;
    bz_world_destroy(world);
    return is_equal ? 2 : is_like;
}

static void note_resemblance(struct bz_explanation *explanation, const struct bz_variant *variant,
                             bool is_equal) {
    if (explanation->resembles_count == BZ_RESEMBLES_MAX) {
        explanation->resembles_more++;
        return;
    }
    uint32_t place = explanation->resembles_count++;
    explanation->resembles[place].fault = variant->fault;
    explanation->resembles[place].variant = variant->name;
    explanation->resembles[place].is_same = is_equal;
}

static void find_resemblances(struct bz_explanation *explanation) {
    const struct bz_variant *own = explanation->run->program.variant;
    const struct bz_variant *const *variants = bz_cli_catalog.variants;
    if (!explanation->shrunk.has_answers) {
        return;
    }
    const struct bz_variant *ships = bz_catalog_variant(&bz_cli_catalog, "buzzer");
    explanation->is_program = ships != NULL && ships != own && likeness(explanation, ships) > 0;
    if (explanation->is_program) {
        return;
    }
    if (own->fault != NULL) {
        note_resemblance(explanation, own, true);
    }
    for (unsigned wanted = 2; wanted > 0; wanted--) {
        for (unsigned index = 0; variants[index] != NULL && bz_interrupt_requested == 0; index++) {
            const struct bz_variant *variant = variants[index];
            bool is_foreign =
                bz_cli_catalog.is_foreign != NULL && bz_cli_catalog.is_foreign(variant);
            if (variant->fault != NULL && variant != own && !is_foreign &&
                likeness(explanation, variant) == wanted) {
                note_resemblance(explanation, variant, wanted == 2);
            }
        }
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Which choices matter, and when it is lost; or why that is not known. */
static void weigh(struct bz_explanation *explanation) {
    const struct bz_program *program = &explanation->run->program;
    if (program->contain.is_on && bz_oracle_ends_process(explanation->shrunk.violation.oracle)) {
        explanation->why_not = "The code ends its process, so no other schedules were tried: no "
                               "choice was weighed, and no passing run was sought.";
    } else if (!explanation->shrunk.has_answers) {
        explanation->why_not = "The smallest run has more choices than a token can name, so no "
                               "other schedules were tried: no choice was weighed.";
    } else {
        explanation->has_why =
            bz_why_find(&explanation->shrunk.program, &bz_interrupt_requested, &explanation->why);
        explanation->why_not = explanation->has_why
                                   ? NULL
                                   : "The token of the smallest run does not lead to it, so no "
                                     "other schedules were tried: no choice was weighed.";
    }
}

int bz_explanation_make(struct bz_explanation *explanation, const struct bz_named_run *run) {
    *explanation = (struct bz_explanation){.run = run};
    bz_trace_init(&explanation->trace);
    int code = shrink(explanation);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_story_init(&explanation->story, &explanation->trace);
    weigh(explanation);
    if (explanation->why.lack[0] != '\0') {
        return bz_cli_fail(BZ_EXIT_INTERNAL, "%s", explanation->why.lack);
    }
    find_cancel(explanation);
    find_waiter(explanation);
    find_resemblances(explanation);
    return bz_interrupt_requested == 0 ? BZ_EXIT_OK
                                       : bz_cli_fail(BZ_EXIT_INTERRUPTED, "interrupted");
}

void bz_explanation_fini(struct bz_explanation *explanation) {
    bz_story_fini(&explanation->story);
    bz_trace_fini(&explanation->trace);
    bz_shrink_fini(&explanation->shrunk);
}
