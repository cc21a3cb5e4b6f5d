#include "tools/show/stepper.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/timer.h"
#include "tools/cli/cli.h"
#include "tools/report/text_output.h"
#include "tools/show/stepper_model.h"
#include "traces/lack.h"
#include "traces/text.h"

#define ESCAPE_MS 50 /* the bytes of one key come together */
#define ESCAPE 27
#define CTRL(letter) ((letter)&0x1f)
#define WORD_BYTES 64u
#define COLUMNS_MAX 250 /* of a line */
#define READY_SHOWN 9u

struct ui {
    struct bz_stepper stepper;
    bool keeps_rest;         /* of the choices, behind another one */
    char sought[WORD_BYTES]; /* of the last search */
    char message[256];
    bool is_done;
};

/* --- the terminal ----------------------------------------------------------------------------- */

static bz_lack_fn *lack_before;

static void on_lack(const char *sentence) {
    endwin();
    lack_before(sentence);
}

static void on_end(int number) {
    endwin();
    signal(number, SIG_DFL);
    raise(number);
}

static bool open_terminal(void) {
    static const int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGSEGV, SIGABRT, SIGBUS};
    fflush(stdout);
    if (newterm(NULL, stdout, stdin) == NULL) {
        return false;
    }
    for (size_t index = 0; index < sizeof ends / sizeof ends[0]; index++) {
        signal(ends[index], on_end);
    }
    lack_before = bz_lack_handler;
    bz_lack_handler = on_lack;
    raw(); /* Ctrl-C is a key */
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
    return true;
}

static int read_key(struct ui *ui) {
    int key = getch();
    if (key == ERR || key == CTRL('c') || key == CTRL('d')) {
        ui->is_done = true;
        return ESCAPE;
    }
    return key == '\r' || key == KEY_ENTER            ? '\n'
           : key == KEY_BACKSPACE || key == CTRL('h') ? 0x7f
                                                      : key;
}

/* Prints a line above the two last rows, in as many rows as it takes. '?' stands for what is not
 * ASCII. */
__attribute__((format(printf, 2, 3))) static void put(attr_t attributes, const char *format, ...) {
    char text[4096];
    char part[BZ_WRAP_PART_BYTES];
    unsigned columns = COLS > COLUMNS_MAX ? COLUMNS_MAX : COLS > 1 ? (unsigned)COLS - 1 : 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *next = text; *next != '\0'; next++) {
        *next = *next >= ' ' && *next <= '~' ? *next : '?';
    }
    const char *rest = text;
    do {
        int row = getcury(stdscr);
        if (row >= LINES - 2) { /* there is no more room */
            mvaddstr(LINES - 3, 0, "...");
            clrtoeol();
            move(LINES - 2, 0);
            return;
        }
        rest = bz_wrap_part(rest, columns, part);
        attrset(attributes);
        addstr(part);
        attrset(A_NORMAL);
        move(row + 1, 0);
    } while (*rest != '\0');
}

/* --- the page --------------------------------------------------------------------------------- */

static void draw_events(const struct bz_stepper *stepper) {
    const struct bz_trace *run = &stepper->run;
    const struct bz_trace_verdict *verdict = &run->verdict;
    char text[512];
    put(A_NORMAL, stepper->step == 0 ? "events of the set-up" : "events of step %" PRIu32,
        stepper->step);
    for (size_t index = 0; index < run->event_count; index++) {
        if (run->events[index].step == stepper->step) {
            put(A_NORMAL, "  %s", bz_trace_event_text(&run->events[index], text, sizeof text));
        }
    }
    if (verdict->oracle != NULL && verdict->step == stepper->step) {
        put(A_REVERSE, "*** %s: %s", verdict->oracle,
            verdict->message != NULL ? verdict->message : "");
    } else if (stepper->step == stepper->report.steps) {
        put(A_NORMAL, "the run ends here%s",
            stepper->report.end == BZ_RUN_OUT_OF_STEPS ? ": the step limit" : "");
    }
}

static void draw_ready(const struct bz_stepper_state *state) {
    struct bz_text line = {0};
    for (uint32_t index = 0; index < state->handles && index < READY_SHOWN; index++) {
        bz_text_add(&line, "%s%s%s", index > 0 ? " | " : "", state->list[index].is_taken ? "*" : "",
                    state->list[index].text);
    }
    put(A_NORMAL, "ready   %s%s", state->handles == 0 ? "nothing" : line.bytes,
        state->handles > READY_SHOWN ? " | ..." : "");
    bz_text_fini(&line);
    if (state->deadline_ns != BZ_TIME_NEVER) {
        put(A_NORMAL, "timer   %s", bz_cli_time_text(state->deadline_ns));
    }
}

static void add_name(struct bz_text *line, const struct bz_trace *run, uint32_t task) {
    bz_text_add(line, "%s%s", line->length > 0 ? ", " : "", bz_trace_task_name(run, task, "loop"));
}

static void draw_object(const struct bz_stepper *stepper, uint32_t number) {
    const struct bz_ledger *ledger = &stepper->ledger;
    const struct bz_trace_object *object = &stepper->run.objects[number - 1];
    unsigned counts[BZ_SPAN_DONE + 1] = {0};
    uint32_t first = ledger->objects[number].last;
    struct bz_text holders = {0};
    struct bz_text line = {0};
    char size[32] = "";
    if (object->size != BZ_TRACE_ABSENT) {
        snprintf(size, sizeof size, " of %" PRIu64, object->size);
    }
    for (uint32_t task = 1; task <= stepper->run.task_count; task++) {
        const struct bz_place *place = &ledger->tasks[task].place;
        counts[place->object == number ? place->kind : 0]++;
    }
    for (uint32_t hold = ledger->objects[number].oldest; hold != 0;
         hold = ledger->holds[hold].newer) {
        add_name(&holders, &stepper->run, ledger->holds[hold].task);
    }
    put(A_NORMAL, "'%s'  %" PRIu32 "%s out  W %u  R %u  C %u  holders: %s", object->name,
        ledger->objects[number].count, size, counts[BZ_SPAN_WAITING], counts[BZ_SPAN_WOKEN],
        counts[BZ_SPAN_STRUCK], holders.length > 0 ? holders.bytes : "none");
    while (first != 0 && ledger->tasks[first].before != 0) {
        first = ledger->tasks[first].before;
    }
    for (uint32_t task = first; task != 0; task = ledger->tasks[task].after) {
        if (ledger->tasks[task].place.kind == BZ_SPAN_WAITING) {
            add_name(&line, &stepper->run, task);
        }
    }
    if (line.length > 0) {
        put(A_NORMAL, "    in line: %s", line.bytes);
    }
    bz_text_fini(&holders);
    bz_text_fini(&line);
}

static void draw_task(const struct bz_stepper *stepper, uint32_t number) {
    static const char *const states[] = {"not started", "ready",     "running",  "waiting",
                                         "woken",       "cancelled", "sleeping", "done"};
    const struct bz_ledger *ledger = &stepper->ledger;
    const struct bz_ledger_task *task = &ledger->tasks[number];
    unsigned owned = 0;
    for (uint32_t hold = task->hold; hold != 0; hold = ledger->holds[hold].below) {
        owned++;
    }
    put(A_NORMAL, "%-20s %-11s %-8s %-16s %-4u%s", stepper->run.tasks[number - 1],
        states[task->span.kind], bz_or(task->op, ""),
        task->op != NULL && task->object != 0 ? stepper->run.objects[task->object - 1].name : "",
        owned, task->is_struck ? " cancel pending" : "");
}

static void draw_state(const struct bz_stepper *stepper) {
    if (stepper->state->is_there) {
        draw_ready(stepper->state);
    } else {
        put(A_NORMAL, "the process of this run ended in this step");
    }
    for (uint32_t number = 1; number <= stepper->run.object_count; number++) {
        draw_object(stepper, number);
    }
    put(A_NORMAL, "%-20s %-11s %-8s %-16s %s", "task", "state", "in", "of", "owns");
    for (uint32_t number = 1; number <= stepper->run.task_count; number++) {
        draw_task(stepper, number);
    }
}

static void draw_head(const struct bz_stepper *stepper) {
    erase();
    move(0, 0);
    put(A_REVERSE, "%s:%s  step %" PRIu32 " of %" PRIu32 "  time %s  order %s%s",
        stepper->run.scenario, stepper->program->variant->name, stepper->step,
        stepper->report.steps, bz_cli_time_text(stepper->state->now_ns), stepper->run.order,
        stepper->is_original ? "" : "  [another run]");
}

static void draw(const struct ui *ui) {
    draw_head(&ui->stepper);
    draw_events(&ui->stepper);
    draw_state(&ui->stepper);
    mvaddnstr(LINES - 2, 0, ui->message, COLS - 1);
    mvaddnstr(LINES - 1, 0,
              "<- -> step  g to  v violation  / n N find  c choose another  s save  ? help  q",
              COLS - 1);
    refresh();
}

/* What the next step can be, from `first` on. */
static void draw_choices(const struct ui *ui, uint32_t first, uint32_t cursor) {
    const struct bz_stepper_state *state = ui->stepper.state;
    draw_head(&ui->stepper);
    put(A_NORMAL, "what step %" PRIu32 " is (* now), and then %s:", ui->stepper.step + 1,
        ui->keeps_rest ? "the rest of the choices, where they fit" : "default choices");
    int rows = LINES - 2 - getcury(stdscr);
    uint32_t top =
        rows > 0 && cursor >= first + (uint32_t)rows ? cursor + 1 - (uint32_t)rows : first;
    for (uint32_t index = top; index < state->count && getcury(stdscr) < LINES - 2; index++) {
        put(index == cursor ? A_REVERSE : A_NORMAL, "%s %s %.*s", index == cursor ? ">" : " ",
            state->list[index].is_taken ? "*" : " ", COLS > 6 ? COLS - 6 : 0,
            state->list[index].text);
    }
    move(LINES - 1, 0);
    printw("up down  Enter: take it  Tab: what follows  Esc: back  (%" PRIu32 " of %" PRIu32 ")",
           cursor + 1 - first, state->count - first);
    refresh();
}

static void show_help(struct ui *ui) {
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
    erase();
    move(0, 0);
    for (size_t index = 0; index < sizeof lines / sizeof lines[0]; index++) {
        put(A_NORMAL, "%s", lines[index]);
    }
    (void)read_key(ui);
}

/* --- what keys do ----------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void say(struct ui *ui, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->message, sizeof ui->message, format, arguments);
    va_end(arguments);
}

/* Reads a word in the last row. False: none was typed. */
static bool ask(struct ui *ui, const char *what, char word[WORD_BYTES]) {
    size_t length = 0;
    while (true) {
        word[length] = '\0';
        draw(ui);
        mvprintw(LINES - 1, 0, "%s: %s_", what, word);
        clrtoeol();
        int key = read_key(ui);
        if (key == '\n' || key == ESCAPE) {
            return key == '\n' && length > 0;
        }
        if (key == 0x7f) {
            length -= length > 0;
        } else if (key >= ' ' && key <= '~' && length + 1 < WORD_BYTES) {
            word[length++] = (char)key;
        }
    }
}

static void go(struct ui *ui, uint32_t step) {
    if (!bz_stepper_go(&ui->stepper, step)) {
        say(ui, "%.200s", ui->stepper.error);
    }
}

static void go_to_typed(struct ui *ui) {
    char word[WORD_BYTES];
    uint64_t step;
    if (!ask(ui, "to step", word)) {
        return;
    }
    if (bz_parse_u64(word, &step) && step <= ui->stepper.report.steps) {
        go(ui, (uint32_t)step);
    } else {
        say(ui, "no step '%s': there are %" PRIu32, word, ui->stepper.report.steps);
    }
}

static void find(struct ui *ui, int key) {
    if ((key == '/' || ui->sought[0] == '\0') &&
        !ask(ui, "next event of task or object", ui->sought)) {
        return;
    }
    uint32_t step = bz_stepper_find(&ui->stepper, ui->sought, key == 'N');
    if (step == 0) {
        say(ui, "no %s event of '%s'", key == 'N' ? "earlier" : "later", ui->sought);
    } else {
        go(ui, step);
    }
}

/* Never writes over a file. */
static void save(struct ui *ui) {
    char path[WORD_BYTES];
    if (ask(ui, "save as", path)) {
        char *text = bz_trace_print(&ui->stepper.run);
        bool is_saved = bz_file_create(path, text, strlen(text));
        say(ui, is_saved ? "saved as %s" : "cannot write '%s': %s", path, strerror(errno));
        free(text);
    }
}

/* Lets one of the alternatives be picked. False: none was. */
static bool pick(struct ui *ui, uint32_t first, uint32_t *cursor) {
    uint32_t last = ui->stepper.state->count - 1;
    while (true) {
        draw_choices(ui, first, *cursor);
        int key = read_key(ui);
        if (key == '\n' || key == ESCAPE || key == 'q') {
            return key == '\n';
        }
        if (key == KEY_UP || key == 'k') {
            *cursor -= *cursor > first;
        } else if (key == KEY_DOWN || key == 'j') {
            *cursor += *cursor < last;
        } else if (key == KEY_HOME || key == KEY_END) {
            *cursor = key == KEY_HOME ? first : last;
        } else if (key == '\t') {
            ui->keeps_rest = !ui->keeps_rest;
        }
    }
}

/* Reads the value of a draw. False: none was typed that it can have. */
static bool ask_value(struct ui *ui, struct bz_alternative *alternative) {
    char word[WORD_BYTES];
    char what[96];
    uint64_t most = alternative->choice.bound - 1;
    snprintf(what, sizeof what, "'%.30s', 0..%" PRIu64, alternative->label, most);
    if (!ask(ui, what, word)) {
        return false;
    }
    if (!bz_parse_u64(word, &alternative->choice.value) || alternative->choice.value > most) {
        say(ui, "'%s' is none of 0..%" PRIu64, word, most);
        return false;
    }
    return true;
}

static void choose(struct ui *ui) {
    struct bz_stepper *stepper = &ui->stepper;
    const struct bz_stepper_state *state = stepper->state;
    bool is_fifo = stepper->program->order == BZ_ORDER_FIFO; /* the oldest handle goes */
    uint32_t first = is_fifo ? state->handles : 0;
    uint32_t cursor = first;
    if (stepper->step == stepper->report.steps || state->count == first) {
        say(ui, state->count == first ? "there is nothing to choose here"
                                      : "the run ends here: go back to choose another step");
        return;
    }
    for (uint32_t index = state->count; index-- > first;) {
        cursor = state->list[index].is_taken ? index : cursor;
    }
    if (!pick(ui, first, &cursor)) {
        return;
    }
    struct bz_alternative alternative = state->list[cursor];
    if (bz_alternative_is_typed(&alternative) && !ask_value(ui, &alternative)) {
        return;
    }
    if (bz_stepper_choose(stepper, alternative, ui->keeps_rest)) {
        char verdict[BZ_TRACE_NAME_BYTES_MAX + 1];
        say(ui, "another run: %s; s saves it, u goes back",
            bz_trace_verdict_text(&stepper->run.verdict, verdict, sizeof verdict));
    } else {
        say(ui, "%.200s", stepper->error);
    }
}

static void move_on(struct ui *ui, int key) {
    const struct bz_trace_verdict *verdict = &ui->stepper.run.verdict;
    uint32_t step = ui->stepper.step;
    if (strchr("l\n ", key) != NULL || key == KEY_RIGHT) {
        step++;
    } else if (key == 'h' || key == 0x7f || key == KEY_LEFT) {
        step -= step > 0;
    } else if (key == '0' || key == KEY_HOME) {
        step = 0;
    } else if (key == '$' || key == KEY_END) {
        step = UINT32_MAX;
    } else if (key == 'v') {
        step = verdict->oracle != NULL ? (uint32_t)verdict->step : step;
        say(ui, "%s", verdict->oracle != NULL ? "" : "this run passes");
    } else {
        return;
    }
    go(ui, step);
}

static void take_key(struct ui *ui, int key) {
    ui->message[0] = '\0';
    if (key == 'g') {
        go_to_typed(ui);
    } else if (key == '/' || key == 'n' || key == 'N') {
        find(ui, key);
    } else if (key == 'c') {
        choose(ui);
    } else if (key == 'u') {
        say(ui, "%s", bz_stepper_reset(&ui->stepper) ? "the run that was given" : "");
    } else if (key == 's') {
        save(ui);
    } else if (key == '?') {
        show_help(ui);
    } else if (key == 'q') {
        ui->is_done = true;
    } else {
        move_on(ui, key);
    }
}

int bz_stepper_run(const char *name, const struct bz_named_run *run) {
    static struct ui ui;
    ui = (struct ui){.is_done = false};
    bool is_ok = bz_stepper_init(&ui.stepper, &run->trace, &run->program);
    if (!is_ok) {
        bz_cli_fail(name, BZ_EXIT_USAGE, "%s", ui.stepper.error);
    } else if (!open_terminal()) {
        is_ok = false;
        bz_cli_fail(name, BZ_EXIT_USAGE, "--step: the terminal refuses single keys");
    }
    if (run->report.result == BZ_REPLAY_DIVERGED) {
        say(&ui, "the replay diverges at step %" PRIu32 ": what does not fit is the default",
            run->report.step);
    }
    for (; is_ok && !ui.is_done; take_key(&ui, read_key(&ui))) {
        draw(&ui);
    }
    if (is_ok) {
        endwin();
        bz_lack_handler = lack_before;
    }
    bz_stepper_fini(&ui.stepper);
    return is_ok ? BZ_EXIT_OK : BZ_EXIT_USAGE;
}
