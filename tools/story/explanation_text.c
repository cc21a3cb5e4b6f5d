/* An explanation for people, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "sim/program/token.h"
#include "sim/variant/variant.h"
#include "tools/cli/cli.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"
#include "tools/story/explanation.h"
#include "tools/story/timeline.h"

#define BAR_COLUMNS 40u
#define ODDS_ROWS_MAX 30u

static void head(struct bz_wrap *wrap, const char *text) {
    fprintf(wrap->out, "\n");
    bz_wrap_print(wrap, "", text, 0, BZ_COLOUR_ODD);
}

/* --- the parts -------------------------------------------------------------------------------- */

static void print_what(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    const struct bz_shrink_size *before = &explanation->shrunk.before;
    const struct bz_shrink_size *after = &explanation->shrunk.after;
    struct bz_timeline timeline;
    char text[BZ_ERROR_BYTES];
    bz_wrap_printf(wrap, 2, BZ_COLOUR_BAD, "%s: %s", explanation->trace.verdict.oracle,
                   explanation->trace.verdict.message);
    head(wrap, "What happened");
    bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE,
                   "  The smallest run that fails the same way: %" PRIu32 " steps of %" PRIu32
                   " tasks, shrunk from %" PRIu32 " steps of %" PRIu32 " tasks; %s.",
                   after->steps, after->tasks, before->steps, before->tasks,
                   bz_shrink_end_text(&explanation->shrunk, text, sizeof text));
    bz_timeline_init(&timeline, &explanation->trace);
    bz_timeline_print(&timeline, wrap, false);
    bz_timeline_fini(&timeline);
}

static const char *window_text(const char *window) {
    static const char *const texts[][2] = {
        {"unstarted", "before its first step"},
        {"waiting", "while it waits and nothing has been granted to it"},
        {"woken", "after its result was set, before it resumes"},
        {"sleeping", "while it sleeps, yields, or waits for something else"},
        {"holding", "while it holds a permit"},
        {"cancelling", "after an earlier cancel, before it resumes"},
        {"running", "while it runs"},
        {"done", "after its end"},
    };
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        if (strcmp(texts[index][0], window) == 0) {
            return texts[index][1];
        }
    }
    return window;
}

static void print_cancel(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    head(wrap, "The cancel");
    if (explanation->cancel == BZ_STORY_NONE) {
        bz_wrap_print(wrap, "  ", "This failure needs no cancel.", 2, BZ_COLOUR_NONE);
        if (explanation->operation != NULL) {
            bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE, "  The operation is %s, the window '%s'.",
                           explanation->operation, explanation->window);
        }
        return;
    }
    const struct bz_story_line *line = &explanation->story.lines[explanation->cancel];
    bz_wrap_printf(
        wrap, 2, BZ_COLOUR_NONE,
        "  Step %" PRIu64 ": %s is cancelled in the window '%s'%s%s, %s. %s", line->step,
        bz_trace_task_name(&explanation->trace, line->task, "the loop"), line->window,
        line->op != NULL ? " of " : "", line->op != NULL ? line->op : "", window_text(line->window),
        line->is_injected
            ? "Injected by the schedule; without this cancel the run does not fail in the same way."
        : line->is_timeout
            ? "A timeout of its own; the last cancel that the failure depends on."
            : "Requested by the program; the last cancel that the failure depends on.");
}

static void print_due(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    const struct bz_story *story = &explanation->story;
    const char *window = explanation->cancel == BZ_STORY_NONE ? NULL : explanation->window;
    head(wrap, "What was due, and what was done");
    bz_wrap_print(wrap, "  due   ", bz_oracle_demand(explanation->trace.verdict.oracle, window), 8,
                  BZ_COLOUR_NONE);
    bz_wrap_print(wrap, "  done  ", explanation->trace.verdict.message, 8, BZ_COLOUR_NONE);
    struct bz_text holders = {0};
    bz_story_add_holders(story, &holders);
    if (holders.length > 0) {
        bz_wrap_print(wrap, "  held  ", holders.bytes, 8, BZ_COLOUR_NONE);
    }
    bz_text_fini(&holders);
    if (explanation->waits == BZ_STORY_NONE) {
        return;
    }
    const struct bz_story_line *waits = &story->lines[explanation->waits];
    bz_wrap_printf(wrap, 8, BZ_COLOUR_NONE, "  waits %s, for '%s', since step %" PRIu64 ".",
                   bz_trace_task_name(&explanation->trace, waits->task, "the loop"), waits->object,
                   waits->step);
    if (explanation->last_to_act != BZ_STORY_NONE) {
        const struct bz_story_line *act = &story->lines[explanation->last_to_act];
        bz_wrap_printf(wrap, 8, BZ_COLOUR_NONE, "  last  to act there: %s at step %" PRIu64 ", %s.",
                       bz_trace_task_name(&explanation->trace, act->task, "the loop"), act->step,
                       act->text);
    }
}

static void put_choice(const struct bz_explanation *explanation, const struct bz_edit *edit,
                       struct bz_text *text) {
    const char *name = bz_trace_task_name(&explanation->trace, edit->owner, "the loop");
    bz_text_clear(text);
    if (edit->label != NULL) {
        bz_text_add(text, "%s draws %s %" PRIu64, name, edit->label, edit->value);
    } else if (edit->kind == BZ_CHOICE_CANCEL) {
        bz_text_add(text, "%s is cancelled (%s)", name, bz_window_name((enum bz_window)edit->part));
    } else if (edit->kind == BZ_CHOICE_NEXT) {
        bz_text_add(text, "%s runs out of turn%s", name,
                    edit->part == BZ_ROLE_STEP ? "" : ", with a timer or a callback");
    } else {
        uint64_t lag_ns = bz_trace_lag_before_ns(&explanation->trace, edit->step);
        bz_text_add(text, "%s%s", lag_ns > 0 ? "the step before takes " : "",
                    lag_ns > 0 ? bz_cli_time_text(lag_ns)
                               : "a timer comes at another moment of its instant");
    }
}

static void print_choices(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    const struct bz_why *why = &explanation->why;
    struct bz_text text = {0};
    head(wrap, "The choices of the schedule");
    if (why->choice_count == 0) {
        bz_wrap_print(
            wrap, "  ",
            "None: this run fails on a plain FIFO loop, without a cancel from outside, with "
            "every draw 0.",
            2, BZ_COLOUR_NONE);
    }
    for (uint32_t index = 0; index < why->choice_count; index++) {
        const struct bz_why_choice *choice = &why->choices[index];
        put_choice(explanation, &choice->edit, &text);
        if (choice->fails_without) {
            bz_text_add(&text, ": not essential; a larger run fails the same way without it");
        } else if (choice->failing == 0 && choice->cut > 0) {
            bz_text_add(&text,
                        ": no other choice there fails the same way (%" PRIu32
                        " tried), but %" PRIu32 " did not end (max-steps)",
                        choice->others, choice->cut);
        } else if (choice->failing == 0) {
            bz_text_add(&text,
                        ": essential; no other choice there fails the same way (%" PRIu32 " tried)",
                        choice->others);
        } else {
            bz_text_add(&text,
                        ": not essential; %" PRIu32 " of %" PRIu32
                        " other choice%s there fail%s the same way",
                        choice->failing, choice->others, choice->others == 1 ? "" : "s",
                        choice->failing == 1 ? "s" : "");
        }
        bz_wrap_printf(wrap, 8, BZ_COLOUR_NONE, "  step %" PRIu32 ": %s.", choice->edit.step,
                       text.bytes);
    }
    bz_text_fini(&text);
}

static unsigned percent(uint32_t part, uint32_t whole) {
    return whole == 0 ? 0 : (200 * part + whole) / (2 * whole);
}

static void print_odds(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    const struct bz_why *why = &explanation->why;
    head(wrap, "The point of no return");
    if (why->turning_step == 0) {
        bz_wrap_printf(
            wrap, 2, BZ_COLOUR_NONE,
            "  None: no step changes the odds by a tenth for good. Of random runs, %u%% fail "
            "the same way.",
            percent(why->odds_count == 0 ? 0 : why->odds[0], why->samples));
        return;
    }
    if (why->turning_step > why->turning_after + 1) {
        bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE, "  After step %" PRIu32 ":", why->turning_after);
    }
    bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE,
                   "  Step %" PRIu32 ". Of %" PRIu32
                   " random completions, %u%% fail the same way before this step, and %u%% after "
                   "it.",
                   why->turning_step, why->samples, percent(why->turning_from, why->samples),
                   percent(why->turning_to, why->samples));
    uint32_t stride = 1 + why->odds_count / ODDS_ROWS_MAX;
    for (uint32_t index = 0; index < why->odds_count; index++) {
        bool is_turning = why->odds_step[index] == why->turning_step;
        if (index % stride != 0 && !is_turning && index + 1 != why->odds_count) {
            continue;
        }
        char bar[BAR_COLUMNS + 1];
        uint32_t length = why->odds[index] * BAR_COLUMNS / why->samples;
        memset(bar, '#', length);
        bar[length] = '\0';
        bz_wrap_printf(wrap, 2, is_turning ? BZ_COLOUR_BAD : BZ_COLOUR_NONE,
                       "%s %6" PRIu32 "  %3u %%%s%s", is_turning ? "  >" : "   ",
                       why->odds_step[index], percent(why->odds[index], why->samples),
                       length > 0 ? "  " : "", bar);
    }
}

static void print_passing(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    static const char *const changes[] = {[BZ_WHY_LEFT_OUT] = "without this choice",
                                          [BZ_WHY_REPLACED] = "with another choice than",
                                          [BZ_WHY_ADDED] = "with one more choice"};
    const struct bz_why *why = &explanation->why;
    char token[BZ_TOKEN_BYTES];
    struct bz_text text = {0};
    head(wrap, "The nearest run that passes");
    if (!why->has_passing) {
        bz_wrap_print(wrap, "  ",
                      why->has_tried_all ? "No run that differs in one choice passes."
                                         : "Some of the runs that differ in one choice were "
                                           "tried; none passes.",
                      2, BZ_COLOUR_NONE);
        return;
    }
    put_choice(explanation, &why->passing_edit, &text);
    bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE, "  The same up to step %" PRIu32 ", then %s: %s.",
                   why->passing_edit.step, changes[why->passing_change], text.bytes);
    bz_wrap_whole(wrap, "  ",
                  bz_token_format(&why->passing, 0, why->passing_digest, token, sizeof token));
    bz_text_fini(&text);
}

static void print_resemblance(const struct bz_explanation *explanation, struct bz_wrap *wrap) {
    head(wrap, "What it resembles");
    if (!explanation->shrunk.has_answers) {
        bz_wrap_print(wrap, "  ",
                      "Unknown: the smallest run has more choices than a token can name, so no "
                      "other variant was tried.",
                      2, BZ_COLOUR_NONE);
    } else if (explanation->is_program) {
        bz_wrap_print(
            wrap, "  ",
            "No known fault: the primitive that ships (buzzer) fails the same way with these "
            "choices. The program or its settings are at fault.",
            2, BZ_COLOUR_NONE);
    } else if (explanation->resembles_count == 0) {
        bz_wrap_print(wrap, "  ", "No known fault fails the same way with these choices.", 2,
                      BZ_COLOUR_NONE);
    }
    for (uint32_t index = 0; index < explanation->resembles_count; index++) {
        const struct bz_fault *fault = explanation->resembles[index].fault;
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE, "  %s, %s: %s (%s)%s",
                       explanation->resembles[index].variant, fault->project, fault->summary,
                       fault->issue,
                       explanation->resembles[index].is_same ? "; event by event" : "");
    }
    if (explanation->resembles_more > 0) {
        bz_wrap_printf(wrap, 2, BZ_COLOUR_FAINT, "  and %" PRIu32 " more",
                       explanation->resembles_more);
    }
}

void bz_explanation_print(const struct bz_explanation *explanation) {
    struct bz_wrap wrap = {.out = stdout, .is_colour = bz_wrap_has_colour(stdout)};
    print_what(explanation, &wrap);
    print_cancel(explanation, &wrap);
    print_due(explanation, &wrap);
    if (explanation->has_why) {
        print_choices(explanation, &wrap);
        print_odds(explanation, &wrap);
        print_passing(explanation, &wrap);
    } else {
        head(&wrap, "The choices of the schedule, and the point of no return");
        bz_wrap_print(&wrap, "  ", explanation->why_not, 2, BZ_COLOUR_NONE);
    }
    print_resemblance(explanation, &wrap);
    if (explanation->token[0] != '\0') {
        fprintf(wrap.out, "\n");
        bz_wrap_whole(&wrap, "token   ", explanation->token);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_choices(struct bz_json *root, const struct bz_explanation *explanation) {
    const struct bz_why *why = &explanation->why;
    struct bz_json *essential = bz_json_add_array(root, "essential");
    struct bz_json *choices = bz_json_add_array(root, "choices");
    struct bz_text text = {0};
    for (uint32_t index = 0; index < why->choice_count; index++) {
        const struct bz_why_choice *choice = &why->choices[index];
        put_choice(explanation, &choice->edit, &text);
        if (bz_why_is_essential(choice)) {
            bz_json_append_string(essential, text.bytes);
        }
        struct bz_json *item = bz_json_append_object(choices);
        bz_json_add_number(item, "step", choice->edit.step);
        bz_json_add_string(item, "choice", text.bytes);
        bz_json_add_number(item, "others", choice->others);
        bz_json_add_number(item, "failing", choice->failing);
        bz_json_add_number(item, "cut_short", choice->cut);
    }
    bz_text_fini(&text);
}

static void add_odds(struct bz_json *root, const struct bz_why *why) {
    struct bz_json *odds = bz_json_add_array(root, "odds");
    for (uint32_t index = 0; index < why->odds_count; index++) {
        struct bz_json *item = bz_json_append_object(odds);
        bz_json_add_number(item, "step", why->odds_step[index]);
        bz_json_add_number(item, "failing", why->odds[index]);
        bz_json_add_number(item, "of", why->samples);
    }
}

static void add_resemblances(struct bz_json *root, const struct bz_explanation *explanation) {
    struct bz_json *resembles = bz_json_add_array(root, "resembles");
    for (uint32_t index = 0; index < explanation->resembles_count; index++) {
        struct bz_json *item = bz_json_append_object(resembles);
        bz_json_add_string(item, "variant", explanation->resembles[index].variant);
        bz_json_add_string(item, "issue", explanation->resembles[index].fault->issue);
        bz_json_add_bool(item, "same_events", explanation->resembles[index].is_same);
    }
}

void bz_explanation_print_json(const struct bz_explanation *explanation, int exit_code) {
    const struct bz_why *why = &explanation->why;
    char token[BZ_TOKEN_BYTES];
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "input", explanation->run->input);
    bz_json_add_program(root, &explanation->shrunk.program);
    bz_json_add_string(root, "oracle", explanation->trace.verdict.oracle);
    bz_json_add_string(root, "message", explanation->trace.verdict.message);
    bz_json_add_string(root, "operation", explanation->operation);
    bz_json_add_string(root, "window", explanation->window);
    bz_json_add_bool(root, "needs_cancel", explanation->cancel != BZ_STORY_NONE);
    bz_json_add_string(
        root, "due",
        bz_oracle_demand(explanation->trace.verdict.oracle,
                         explanation->cancel == BZ_STORY_NONE ? NULL : explanation->window));
    bz_json_add_size(root, &explanation->shrunk.after);
    bz_json_add_known(root, "point_of_no_return", explanation->has_why && why->turning_step != 0,
                      why->turning_step);
    if (explanation->has_why) {
        add_choices(root, explanation);
        add_odds(root, why);
    } else {
        bz_json_add_string(root, "essential", NULL);
        bz_json_add_string(root, "choices", NULL);
        bz_json_add_string(root, "odds", NULL);
    }
    bz_json_add_string(root, "not_weighed", explanation->why_not);
    bz_json_add_string(root, "passing_token",
                       why->has_passing ? bz_token_format(&why->passing, 0, why->passing_digest,
                                                          token, sizeof token)
                                        : NULL);
    if (explanation->shrunk.has_answers) {
        bz_json_add_bool(root, "program_at_fault", explanation->is_program);
        add_resemblances(root, explanation);
    } else {
        bz_json_add_string(root, "program_at_fault", NULL);
        bz_json_add_string(root, "resembles", NULL);
    }
    bz_json_add_text(root, "token", explanation->token);
    bz_json_add_number(root, "exit_code", (uint64_t)exit_code);
    bz_json_put(root);
}
