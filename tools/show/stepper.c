#include "tools/show/stepper.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/timer.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"
#include "tools/show/stepper_model.h"
#include "traces/text.h"

#define EVENT_ROWS 7u
#define READY_ROWS 3u
#define FOOT_ROWS 3u
#define INPUT_BYTES 64u

enum mode {
    MODE_STEPS = 0,
    MODE_CHOOSE, /* what the next step is instead */
    MODE_TYPE,   /* a word is typed: `asks` says what for */
    MODE_HELP,
};

struct ui {
    struct bz_stepper stepper;
    struct bz_alternative alternatives[BZ_ALTERNATIVES_MAX];
    uint32_t alternative_count;
    uint32_t cursor; /* in MODE_CHOOSE */
    bool keeps_rest;
    enum mode mode;
    const char *asks;
    bool (*typed)(struct ui *ui); /* what to do with the word */
    char choice[INPUT_BYTES];     /* what a number is typed for */
    char word[INPUT_BYTES];
    char sought[INPUT_BYTES]; /* of the last search */
    char message[256];
    bool is_done;
    struct bz_page page;
};

/* --- the page --------------------------------------------------------------------------------- */

static void draw_title(struct ui *ui) {
    const struct bz_stepper *stepper = &ui->stepper;
    const struct bz_trace *run = &stepper->run;
    bz_page_add(&ui->page, "%.40s:%.40s  step %" PRIu32 " of %" PRIu32 "  time %s  order %s%s",
                run->scenario, stepper->program->variant->name, stepper->step, stepper->steps,
                bz_cli_time_text(stepper->state->now_ns), run->order,
                stepper->is_original ? "" : "  [another run]");
    bz_page_mark(&ui->page);
}

/* In as many rows as it takes, broken at blanks. */
static void draw_violation(struct ui *ui, const struct bz_trace_verdict *verdict) {
    char text[BZ_TRACE_TEXT_BYTES_MAX + BZ_TRACE_NAME_BYTES_MAX + 16];
    snprintf(text, sizeof text, "*** %s: %s", verdict->oracle,
             verdict->message != NULL ? verdict->message : "");
    const char *rest = text;
    while (*rest != '\0' && bz_page_left(&ui->page, FOOT_ROWS) > 0) {
        size_t length = strlen(rest);
        size_t most = ui->page.columns - 1;
        size_t end = length < most ? length : most;
        while (end < length && end > 0 && rest[end] != ' ') {
            end--;
        }
        end = end == 0 ? most : end;
        bz_page_add(&ui->page, "%.*s", (int)end, rest);
        bz_page_mark(&ui->page);
        rest += end + (rest[end] == ' ');
    }
}

static void draw_events(struct ui *ui) {
    const struct bz_trace *run = &ui->stepper.run;
    uint32_t step = ui->stepper.step;
    uint32_t count = 0;
    char text[BZ_SCREEN_COLUMNS_MAX + 1];
    bz_page_add(&ui->page, step == 0 ? "events of the set-up" : "events of step %" PRIu32, step);
    for (size_t index = 0; index < run->event_count; index++) {
        if (run->events[index].step == step && ++count < EVENT_ROWS) {
            bz_page_add(&ui->page, "  %s",
                        bz_trace_event_text(&run->events[index], text, sizeof text));
        }
    }
    if (count >= EVENT_ROWS) {
        bz_page_add(&ui->page, "  ... and %" PRIu32 " more", count - EVENT_ROWS + 1);
    }
    const struct bz_trace_verdict *verdict = &run->verdict;
    if (verdict->oracle != NULL && verdict->step == step) {
        draw_violation(ui, verdict);
    } else if (step == ui->stepper.steps) {
        bz_page_add(&ui->page, "the run ends here%s",
                    ui->stepper.report.end == BZ_RUN_OUT_OF_STEPS ? ": the step limit" : "");
    }
}

/* The ready handles, the oldest first, in a few rows. */
static void draw_ready(struct ui *ui) {
    const struct bz_stepper_state *state = ui->stepper.state;
    char line[BZ_SCREEN_COLUMNS_MAX + 1] = "ready   ";
    size_t used = 8;
    uint32_t rows = 1;
    for (uint32_t index = 0; index < state->ready_count && index < BZ_STEPPER_READY; index++) {
        char name[160];
        char text[168];
        const struct bz_ready *handle = &state->ready[index];
        int bytes = snprintf(text, sizeof text, "%s%s%s",
                             bz_stepper_is_next(&ui->stepper, handle) ? "*" : "",
                             bz_stepper_handle_text(&ui->stepper, handle, name, sizeof name),
                             index + 1 < state->ready_count ? " | " : "");
        if (used > 8 && used + (size_t)bytes >= ui->page.columns) {
            if (++rows > READY_ROWS) {
                snprintf(line + used - 3, sizeof line - used + 3, "and %" PRIu32 " more",
                         state->ready_count - index);
                break;
            }
            bz_page_add(&ui->page, "%s", line);
            used = (size_t)snprintf(line, sizeof line, "        ");
        }
        used += (size_t)snprintf(line + used, sizeof line - used, "%s", text);
        used = used < sizeof line ? used : sizeof line - 1;
    }
    bz_page_add(&ui->page, "%s%s", line, state->ready_count == 0 ? "nothing" : "");
    if (state->deadline_ns != BZ_TIME_NEVER) {
        bz_page_add(&ui->page, "timer   %s", bz_cli_time_text(state->deadline_ns));
    }
}

static void draw_object(struct ui *ui, const struct bz_stepper_object *object) {
    const struct bz_stepper_state *state = ui->stepper.state;
    char holders[BZ_SCREEN_COLUMNS_MAX + 1];
    char line[BZ_SCREEN_COLUMNS_MAX + 1] = "";
    size_t used = 0;
    for (uint32_t place = 0; place < object->line_count && used + 1 < sizeof line; place++) {
        uint32_t task = object->line[place];
        bool is_shown = task <= state->task_count && task <= BZ_STEPPER_TASKS;
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used > 0 ? ", " : "",
                                 is_shown ? state->tasks[task - 1].name : "?");
    }
    bz_stepper_holders(&ui->stepper, object->name, holders, sizeof holders);
    bz_page_add(&ui->page,
                "'%s'  %" PRIu64 " of %" PRIu64 " out  W %" PRIu32 "  R %" PRIu32 "  C %" PRIu32
                "  holders: %s",
                object->name, object->view.holders, object->view.permits, object->view.waiting,
                object->view.woken, object->view.cancelled, holders[0] != '\0' ? holders : "none");
    if (object->line_count > 0) {
        bz_page_add(&ui->page, "    in line: %s", line);
    }
}

static void draw_tasks(struct ui *ui) {
    const struct bz_stepper_state *state = ui->stepper.state;
    uint32_t known = state->task_count < BZ_STEPPER_TASKS ? state->task_count : BZ_STEPPER_TASKS;
    uint32_t rows = bz_page_left(&ui->page, FOOT_ROWS);
    bz_page_add(&ui->page, "%-20s %-11s %-8s %-16s %s", "task", "state", "in", "of", "owns");
    for (uint32_t task = 0; task < known && rows > 1; task++) {
        const struct bz_task_view *view = &state->tasks[task];
        if (task + 2 >= rows && task + 1 < state->task_count) {
            bz_page_add(&ui->page, "... and %" PRIu32 " more", state->task_count - task);
            return;
        }
        bz_page_add(&ui->page, "%-20s %-11s %-8s %-16s %-4" PRIu32 "%s", view->name, view->state,
                    view->op != BZ_OP_NONE ? bz_op_name(view->op) : "",
                    view->op != BZ_OP_NONE ? state->task_objects[task] : "", view->holdings,
                    view->is_cancel_pending ? " cancel pending" : "");
    }
}

static void draw_state(struct ui *ui) {
    const struct bz_stepper_state *state = ui->stepper.state;
    if (!state->is_there) {
        bz_page_add(&ui->page, "no state: the process of this run ended in this step");
        return;
    }
    draw_ready(ui);
    for (uint32_t index = 0; index < state->object_count && index < BZ_STEPPER_OBJECTS &&
                             bz_page_left(&ui->page, FOOT_ROWS) > 5;
         index++) {
        draw_object(ui, &state->objects[index]);
    }
    draw_tasks(ui);
}

static void draw_choices(struct ui *ui) {
    uint32_t rows = bz_page_left(&ui->page, FOOT_ROWS + 2);
    uint32_t first = ui->cursor < rows ? 0 : ui->cursor - rows + 1;
    bz_page_add(&ui->page, "what step %" PRIu32 " is (* now), and then %s:", ui->stepper.step + 1,
                ui->keeps_rest ? "the rest of the choices, where they fit" : "default choices");
    for (uint32_t index = first; index < ui->alternative_count && index < first + rows; index++) {
        const struct bz_alternative *alternative = &ui->alternatives[index];
        bz_page_add(&ui->page, "%s %s %s", index == ui->cursor ? ">" : " ",
                    alternative->is_taken ? "*" : " ", alternative->text);
        if (index == ui->cursor) {
            bz_page_mark(&ui->page);
        }
    }
}

static void draw_help(struct ui *ui) {
    static const char *const lines[] = {
        "right, l, Enter, Space  one step forward    left, h, Backspace  one step back",
        "Home, 0  before the first step              End, $  the last step",
        "v  the violation                            g  to a step",
        "/  the next step with an event of a task or an object",
        "n, N  the next such step, the one before",
        "c  choose another: what the next step is instead, a handle or a cancel;",
        "   how long the step before takes; the value of what it draws",
        "   up, down: which one; Enter: take it; Tab: then default choices, or the rest",
        "u  back to the run that was given           s  save this run as a trace",
        "q, Ctrl-C  leave",
        "",
        "W waits, R was woken and has not resumed, C was cancelled and has not resumed",
        "* the ready handle that goes next"};
    for (size_t index = 0; index < sizeof lines / sizeof lines[0]; index++) {
        bz_page_add(&ui->page, "%s", lines[index]);
    }
}

static void draw_foot(struct ui *ui) {
    bz_page_put(&ui->page, 1, "%s", ui->message);
    if (ui->mode == MODE_TYPE) {
        bz_page_put(&ui->page, 0, "%s: %s_", ui->asks, ui->word);
    } else if (ui->mode == MODE_CHOOSE) {
        bz_page_put(&ui->page, 0,
                    "up down  Enter: take it  Tab: what follows  Esc: back  (%" PRIu32
                    " of %" PRIu32 ")",
                    ui->cursor + 1, ui->alternative_count);
    } else {
        bz_page_put(&ui->page, 0,
                    "<- -> step  g to  v violation  / n N find  c choose another  "
                    "s save  ? help  q");
    }
}

static void draw(struct ui *ui) {
    bz_page_begin(&ui->page);
    draw_title(ui);
    if (ui->mode == MODE_HELP) {
        draw_help(ui);
    } else if (ui->mode == MODE_CHOOSE) {
        draw_choices(ui);
    } else {
        draw_events(ui);
        draw_state(ui);
    }
    draw_foot(ui);
    bz_page_draw(&ui->page);
}

/* --- what keys do ----------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(struct ui *ui, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->message, sizeof ui->message, format, arguments);
    va_end(arguments);
}

static void go(struct ui *ui, uint32_t step) {
    if (!bz_stepper_go(&ui->stepper, step)) {
        say(ui, "%.200s", ui->stepper.error);
    }
}

static bool go_to_typed(struct ui *ui) {
    uint64_t step;
    if (!bz_parse_u64(ui->word, &step) || step > ui->stepper.steps) {
        say(ui, "no step '%s': there are %" PRIu32, ui->word, ui->stepper.steps);
        return false;
    }
    go(ui, (uint32_t)step);
    return true;
}

static bool find(struct ui *ui, bool is_backward) {
    uint32_t step = bz_stepper_find(&ui->stepper, ui->sought, is_backward);
    if (step == 0) {
        say(ui, "no %s event of '%s'", is_backward ? "earlier" : "later", ui->sought);
        return false;
    }
    go(ui, step);
    return true;
}

static bool find_typed(struct ui *ui) {
    memcpy(ui->sought, ui->word, sizeof ui->sought);
    return find(ui, false);
}

/* Never writes over a file. */
static bool save_typed(struct ui *ui) {
    char *text = bz_trace_print(&ui->stepper.run);
    bool is_saved = bz_file_create(ui->word, text, strlen(text));
    int number = errno;
    free(text);
    if (is_saved) {
        say(ui, "saved as %s", ui->word);
    } else {
        say(ui, "cannot write '%s': %s", ui->word, strerror(number));
    }
    return is_saved;
}

static void ask(struct ui *ui, const char *asks, bool (*typed)(struct ui *ui)) {
    ui->mode = MODE_TYPE;
    ui->asks = asks;
    ui->typed = typed;
    ui->word[0] = '\0';
}

static void begin_choice(struct ui *ui) {
    ui->alternative_count =
        bz_stepper_alternatives(&ui->stepper, ui->alternatives, BZ_ALTERNATIVES_MAX);
    if (ui->stepper.step == ui->stepper.steps || ui->alternative_count == 0) {
        say(ui, ui->alternative_count == 0 ? "there is nothing to choose here"
                                           : "the run ends here: go back to choose another step");
        return;
    }
    ui->mode = MODE_CHOOSE;
    ui->cursor = 0;
    while (ui->cursor + 1 < ui->alternative_count && !ui->alternatives[ui->cursor].is_taken) {
        ui->cursor++;
    }
    if (!ui->alternatives[ui->cursor].is_taken) {
        ui->cursor = 0;
    }
}

static bool choose(struct ui *ui, const struct bz_alternative *alternative) {
    bool is_chosen = bz_stepper_choose(&ui->stepper, alternative, ui->keeps_rest);
    if (is_chosen) {
        char verdict[BZ_TRACE_NAME_BYTES_MAX + 1];
        say(ui, "another run: %s; s saves it, u goes back",
            bz_trace_verdict_text(&ui->stepper.run.verdict, verdict, sizeof verdict));
    } else {
        say(ui, "%.200s", ui->stepper.error);
    }
    return is_chosen;
}

static bool choose_typed(struct ui *ui) {
    struct bz_alternative alternative = ui->alternatives[ui->cursor];
    uint64_t most = ui->stepper.state->asked.draws[alternative.draw].bound - 1;
    if (!bz_parse_u64(ui->word, &alternative.value) || alternative.value > most) {
        say(ui, "'%s' is none of 0..%" PRIu64, ui->word, most);
        return false;
    }
    return choose(ui, &alternative);
}

static void take_alternative(struct ui *ui) {
    const struct bz_alternative *alternative = &ui->alternatives[ui->cursor];
    if (alternative->is_typed) {
        const struct bz_stepper_draw *draw = &ui->stepper.state->asked.draws[alternative->draw];
        snprintf(ui->choice, sizeof ui->choice, "'%.30s', 0..%" PRIu64, draw->label,
                 draw->bound - 1);
        ask(ui, ui->choice, choose_typed);
    } else {
        ui->mode = MODE_STEPS;
        (void)choose(ui, alternative);
    }
}

static void key_of_choice(struct ui *ui, int key) {
    switch (key) {
    case BZ_KEY_UP:
    case 'k':
        ui->cursor -= ui->cursor > 0;
        break;
    case BZ_KEY_DOWN:
    case 'j':
        ui->cursor += ui->cursor + 1 < ui->alternative_count;
        break;
    case BZ_KEY_HOME:
        ui->cursor = 0;
        break;
    case BZ_KEY_END:
        ui->cursor = ui->alternative_count - 1;
        break;
    case '\t':
        ui->keeps_rest = !ui->keeps_rest;
        break;
    case '\r':
    case '\n':
        take_alternative(ui);
        break;
    case '\033':
    case 'q':
        ui->mode = MODE_STEPS;
        break;
    default:
        break;
    }
}

static void key_of_word(struct ui *ui, int key) {
    size_t length = strlen(ui->word);
    if (key == '\r' || key == '\n') {
        ui->mode = MODE_STEPS;
        if (length > 0) {
            (void)ui->typed(ui);
        }
    } else if (key == '\033') {
        ui->mode = MODE_STEPS;
    } else if (key == 0x7f || key == '\b') {
        ui->word[length > 0 ? length - 1 : 0] = '\0';
    } else if (key >= ' ' && key <= '~' && length + 1 < sizeof ui->word) {
        ui->word[length] = (char)key;
        ui->word[length + 1] = '\0';
    }
}

static void go_to_violation(struct ui *ui) {
    const struct bz_trace_verdict *verdict = &ui->stepper.run.verdict;
    if (verdict->oracle == NULL) {
        say(ui, "this run passes");
    } else {
        go(ui, (uint32_t)verdict->step);
    }
}

static void key_of_motion(struct ui *ui, int key) {
    uint32_t step = ui->stepper.step;
    switch (key) {
    case BZ_KEY_RIGHT:
    case 'l':
    case '\r':
    case '\n':
    case ' ':
        if (step == ui->stepper.steps) {
            say(ui, "the run ends here");
        } else {
            go(ui, step + 1);
        }
        break;
    case BZ_KEY_LEFT:
    case 'h':
    case 0x7f:
    case '\b':
        go(ui, step > 0 ? step - 1 : 0);
        break;
    case BZ_KEY_HOME:
    case '0':
        go(ui, 0);
        break;
    case BZ_KEY_END:
    case '$':
        go(ui, UINT32_MAX);
        break;
    case 'v':
        go_to_violation(ui);
        break;
    default:
        break;
    }
}

static void key_of_step(struct ui *ui, int key) {
    switch (key) {
    case 'g':
        ask(ui, "to step", go_to_typed);
        break;
    case '/':
        ask(ui, "next event of task or object", find_typed);
        break;
    case 'n':
    case 'N':
        if (ui->sought[0] != '\0') {
            (void)find(ui, key == 'N');
        } else {
            ask(ui, "next event of task or object", find_typed);
        }
        break;
    case 'c':
        begin_choice(ui);
        break;
    case 'u':
        if (bz_stepper_reset(&ui->stepper)) {
            say(ui, "the run that was given");
        }
        break;
    case 's':
        ask(ui, "save as", save_typed);
        break;
    case '?':
        ui->mode = MODE_HELP;
        break;
    case 'q':
        ui->is_done = true;
        break;
    default:
        key_of_motion(ui, key);
        break;
    }
}

static void take_key(struct ui *ui, int key) {
    if (key == BZ_KEY_RESIZE) {
        return;
    }
    ui->message[0] = '\0';
    if (key == BZ_KEY_END_OF_INPUT || key == 3 || key == 4) { /* Ctrl-C, Ctrl-D */
        ui->is_done = true;
    } else if (ui->mode == MODE_HELP) {
        ui->mode = MODE_STEPS;
    } else if (ui->mode == MODE_CHOOSE) {
        key_of_choice(ui, key);
    } else if (ui->mode == MODE_TYPE) {
        key_of_word(ui, key);
    } else {
        key_of_step(ui, key);
    }
}

int bz_stepper_run(const char *name, const struct bz_named_run *run) {
    static struct ui ui;
    ui = (struct ui){.mode = MODE_STEPS};
    if (!bz_stepper_init(&ui.stepper, &run->trace, &run->program)) {
        bz_cli_fail(name, BZ_EXIT_USAGE, "%s", ui.stepper.error);
        bz_stepper_fini(&ui.stepper);
        return BZ_EXIT_USAGE;
    }
    if (run->report.result == BZ_REPLAY_DIVERGED) {
        say(&ui, "the replay diverges at step %" PRIu32 ": what does not fit is the default",
            run->report.step);
    }
    bool is_open = bz_screen_open();
    while (is_open && !ui.is_done) {
        draw(&ui);
        take_key(&ui, bz_screen_key());
    }
    bz_screen_close();
    bz_stepper_fini(&ui.stepper);
    return is_open ? BZ_EXIT_OK
                   : bz_cli_fail(name, BZ_EXIT_USAGE, "--step: the terminal refuses single keys");
}
