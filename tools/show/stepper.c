#include "tools/show/stepper.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/show/stepper_model.h"
#include "traces/lack.h"
#include "traces/text.h"

#define ESCAPE_MS 50 /* the bytes of one key come together */
#define ESCAPE 27
#define CTRL(letter) ((letter)&0x1f)
#define WORD_BYTES 64u

struct ui {
    struct bz_stepper stepper;
    bool is_choosing; /* the page shows what the next step can be */
    bool keeps_rest;
    uint32_t cursor;         /* among these */
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

/* Prints a line above the two last rows, in as many rows as it takes, broken at blanks. '?' stands
 * for what is not ASCII. */
__attribute__((format(printf, 2, 3))) static void put(attr_t attributes, const char *format, ...) {
    char text[4096];
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
        size_t length = strlen(rest);
        size_t most = COLS > 1 ? (size_t)COLS - 1 : 1;
        size_t end = length < most ? length : most;
        if (row >= LINES - 2) { /* there is no more room */
            mvaddstr(LINES - 3, 0, "...");
            clrtoeol();
            move(LINES - 2, 0);
            return;
        }
        while (end < length && end > 0 && rest[end] != ' ') {
            end--;
        }
        end = end == 0 && length > 0 ? most : end;
        attrset(attributes);
        addnstr(rest, (int)end);
        attrset(A_NORMAL);
        move(row + 1, 0);
        rest += end + (rest[end] == ' ');
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

static void draw_state(const struct bz_stepper_state *state) {
    if (!state->is_there) {
        put(A_NORMAL, "no state: the process of this run ended in this step");
    }
    for (const char *line = state->text; *line != '\0';) {
        int length = (int)strcspn(line, "\n");
        put(A_NORMAL, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
}

static void draw_choices(const struct ui *ui) {
    const struct bz_stepper_state *state = ui->stepper.state;
    put(A_NORMAL, "what step %" PRIu32 " is (* now), and then %s:", ui->stepper.step + 1,
        ui->keeps_rest ? "the rest of the choices, where they fit" : "default choices");
    int rows = LINES - 2 - getcury(stdscr);
    uint32_t first = rows > 0 && ui->cursor >= (uint32_t)rows ? ui->cursor - (uint32_t)rows + 1 : 0;
    for (uint32_t index = first; index < state->count && getcury(stdscr) < LINES - 2; index++) {
        put(index == ui->cursor ? A_REVERSE : A_NORMAL, "%s %s %.*s",
            index == ui->cursor ? ">" : " ", state->list[index].is_taken ? "*" : " ",
            COLS > 6 ? COLS - 6 : 0, state->list[index].text);
    }
}

static void draw(const struct ui *ui) {
    const struct bz_stepper *stepper = &ui->stepper;
    erase();
    move(0, 0);
    put(A_REVERSE, "%s:%s  step %" PRIu32 " of %" PRIu32 "  time %s  order %s%s",
        stepper->run.scenario, stepper->program->variant->name, stepper->step,
        stepper->report.steps, bz_cli_time_text(stepper->state->now_ns), stepper->run.order,
        stepper->is_original ? "" : "  [another run]");
    if (ui->is_choosing) {
        draw_choices(ui);
    } else {
        draw_events(stepper);
        draw_state(stepper->state);
    }
    mvaddnstr(LINES - 2, 0, ui->message, COLS - 1);
    move(LINES - 1, 0);
    if (ui->is_choosing) {
        printw("up down  Enter: take it  Tab: what follows  Esc: back  (%" PRIu32 " of %" PRIu32
               ")",
               ui->cursor + 1, stepper->state->count);
    } else {
        addnstr("<- -> step  g to  v violation  / n N find  c choose another  s save  ? help  q",
                COLS - 1);
    }
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

static void choose(struct ui *ui) {
    struct bz_alternative alternative = ui->stepper.state->list[ui->cursor];
    char word[WORD_BYTES];
    char what[96];
    ui->is_choosing = false;
    if (alternative.is_typed) {
        uint64_t most = alternative.choice.bound - 1;
        snprintf(what, sizeof what, "'%.30s', 0..%" PRIu64, alternative.label, most);
        if (!ask(ui, what, word)) {
            return;
        }
        if (!bz_parse_u64(word, &alternative.choice.value) || alternative.choice.value > most) {
            say(ui, "'%s' is none of 0..%" PRIu64, word, most);
            return;
        }
    }
    if (bz_stepper_choose(&ui->stepper, alternative, ui->keeps_rest)) {
        char verdict[BZ_TRACE_NAME_BYTES_MAX + 1];
        say(ui, "another run: %s; s saves it, u goes back",
            bz_trace_verdict_text(&ui->stepper.run.verdict, verdict, sizeof verdict));
    } else {
        say(ui, "%.200s", ui->stepper.error);
    }
}

static void begin_choice(struct ui *ui) {
    const struct bz_stepper_state *state = ui->stepper.state;
    if (ui->stepper.step == ui->stepper.report.steps || state->count == 0) {
        say(ui, state->count == 0 ? "there is nothing to choose here"
                                  : "the run ends here: go back to choose another step");
        return;
    }
    ui->is_choosing = true;
    ui->cursor = 0;
    while (ui->cursor + 1 < state->count && !state->list[ui->cursor].is_taken) {
        ui->cursor++;
    }
    ui->cursor = state->list[ui->cursor].is_taken ? ui->cursor : 0;
}

static void take_key_of_choice(struct ui *ui, int key) {
    uint32_t last = ui->stepper.state->count - 1;
    switch (key) {
    case KEY_UP:
    case 'k':
        ui->cursor -= ui->cursor > 0;
        break;
    case KEY_DOWN:
    case 'j':
        ui->cursor += ui->cursor < last;
        break;
    case KEY_HOME:
    case KEY_END:
        ui->cursor = key == KEY_HOME ? 0 : last;
        break;
    case '\t':
        ui->keeps_rest = !ui->keeps_rest;
        break;
    case '\n':
        choose(ui);
        break;
    default:
        ui->is_choosing = key != ESCAPE && key != 'q';
        break;
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
    if (ui->is_choosing) {
        take_key_of_choice(ui, key);
    } else if (key == 'g') {
        go_to_typed(ui);
    } else if (key == '/' || key == 'n' || key == 'N') {
        find(ui, key);
    } else if (key == 'c') {
        begin_choice(ui);
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
