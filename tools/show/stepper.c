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
#include "sim/choice/strategy_replay.h"
#include "sim/judge/inspect.h"
#include "sim/native/inspect.h"
#include "sim/program/replay.h"
#include "tools/cli/cli.h"
#include "tools/report/text_output.h"
#include "traces/lack.h"
#include "traces/ledger.h"
#include "traces/text.h"

#define ESCAPE_MS 50 /* the bytes of one key come together */
#define ESCAPE 27
#define CTRL(letter) ((letter)&0x1f)
#define WORD_BYTES 64u
#define COLUMNS_MAX 250 /* of a line */
#define READY_MAX 256u  /* later handles cannot be chosen */

/* The clock after a step, and what can be next. In memory that child processes share: contained
 * code runs there. */
struct look {
    bool is_there; /* false: the process of the run ended before */
    uint64_t now_ns;
    uint64_t deadline_ns; /* of the next timer; BZ_TIME_NEVER */
    uint32_t count;       /* of ready handles, the oldest first */
    uint32_t chosen;      /* the one that goes next; any other number: none does */
    struct bz_ready ready[READY_MAX];
};

struct ui {
    const struct bz_named_run *given;
    struct bz_trace run; /* the whole run: choices, events, verdict */
    struct bz_replay_report report;
    struct bz_ledger ledger; /* after `step` */
    struct look *look;       /* likewise */
    uint32_t step;
    bool is_other;           /* another choice was made */
    char sought[WORD_BYTES]; /* of the last search */
    char message[BZ_ERROR_BYTES];
    bool is_done;
};

__attribute__((format(printf, 2, 3))) static void say(struct ui *ui, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ui->message, sizeof ui->message, format, arguments);
    va_end(arguments);
}

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

/* --- a step of the run ------------------------------------------------------------------------ */

/* The task that an injected cancel strikes in the step; 0: the step is no cancel. */
static uint32_t victim_of(const struct bz_trace *run, uint64_t step) {
    for (size_t index = 0; index < run->event_count; index++) {
        const struct bz_trace_event *event = &run->events[index];
        if (event->step == step && bz_is(event->event, "inject")) {
            return bz_trace_find_task(run, event->task);
        }
    }
    return 0;
}

static void take_ready(struct look *look, const struct bz_ready *ready, uint32_t count,
                       uint32_t chosen) {
    look->count = count < READY_MAX ? count : READY_MAX;
    look->chosen = chosen;
    memmove(look->ready, ready, look->count * sizeof *ready);
}

/* Among these the run chose: timers that came due are with them. */
static void hear_next(void *context, const struct bz_ready *ready, uint32_t count, uint32_t chosen,
                      uint32_t step) {
    const struct ui *ui = context;
    if (step == ui->step + 1) {
        take_ready(ui->look, ready, count, chosen);
    }
}

static void begin(void *context, struct bz_world *world) {
    static struct bz_replay_listener listener;
    listener = (struct bz_replay_listener){.next = hear_next, .context = context};
    bz_judge_listen(world->judge, &listener);
}

static void take_look(void *context, struct bz_world *world) {
    const struct ui *ui = context;
    struct look *look = ui->look;
    uint64_t next = (uint64_t)ui->step + 1;
    if (!look->is_there) {
        uint32_t count = bz_look_ready(world, look->ready, READY_MAX);
        bool is_handle = next <= ui->report.steps && victim_of(&ui->run, next) == 0;
        take_ready(look, look->ready, count, is_handle ? 0 : UINT32_MAX);
        look->now_ns = bz_loop_now_ns(world->loop);
        look->deadline_ns = bz_look_deadline_ns(world);
        look->is_there = true;
    }
}

/* The step behind the one that is shown is made, too: it is asked which handle goes. */
static bool before_step(void *context, struct bz_world *world, uint32_t step) {
    const struct ui *ui = context;
    if (step > ui->step) {
        take_look(context, world);
    }
    return step <= ui->step + 1;
}

/* Goes to a step, the last one if there are fewer. False with a message. */
static bool go(struct ui *ui, uint32_t step) {
    struct bz_trace record;
    struct bz_replay_report report;
    const struct bz_world_watch watch = {
        .begin = begin, .before_step = before_step, .after_last = take_look, .context = ui};
    ui->step = step < ui->report.steps ? step : ui->report.steps;
    memset(ui->look, 0, sizeof *ui->look);
    bz_ledger_fini(&ui->ledger);
    bz_ledger_init(&ui->ledger, &ui->run);
    for (size_t index = 0; index < ui->run.event_count; index++) {
        if (ui->run.events[index].step <= ui->step) {
            bz_ledger_read(&ui->ledger, &ui->run.events[index]);
        }
    }
    bz_trace_init(&record);
    bool is_ok = bz_replay_lenient(&ui->run, &ui->given->program, &watch, &record, &report,
                                   ui->message, sizeof ui->message);
    bz_trace_fini(&record);
    return is_ok;
}

/* Makes the run of these choices. False with a message, and the run before it stays. */
static bool make_run(struct ui *ui, const struct bz_trace *choices, uint64_t cancel_step,
                     uint32_t victim) {
    struct bz_trace record;
    struct bz_replay_report report;
    bz_trace_init(&record);
    bool is_ok = bz_replay_lenient(choices, &ui->given->program, NULL, &record, &report,
                                   ui->message, sizeof ui->message);
    if (is_ok && victim != 0 && victim_of(&record, cancel_step) != victim) {
        say(ui, "no cancel of this task can strike here: see --cancel and max-cancels%s",
            ui->given->program.order == BZ_ORDER_FIFO ? "; fifo takes them between two turns" : "");
        is_ok = false;
    }
    if (is_ok) {
        bz_trace_fini(&ui->run);
        ui->run = record;
        ui->report = report;
    } else {
        bz_trace_fini(&record);
    }
    return is_ok;
}

/* Back to the run that was given. */
static bool reset(struct ui *ui) {
    ui->is_other = false;
    return make_run(ui, &ui->given->trace, 0, 0) && go(ui, ui->step);
}

/* Makes the run with another choice: the same up to its step, and later where the choices fit. A
 * new cancel is a step of its own, which moves the later ones; anything else takes the place of the
 * handle or the cancel that was there. */
static void make_other(struct ui *ui, const struct bz_trace_choice *new) {
    char verdict[BZ_TRACE_NAME_BYTES_MAX + 1];
    const struct bz_trace *run = &ui->run;
    struct bz_trace edited = *run; /* a shallow copy with choices of its own */
    bool is_cancel = bz_is(new->kind, "cancel");
    bool is_moved = is_cancel && victim_of(run, new->step) == 0;
    size_t before = 0;
    edited.choices = NULL;
    edited.choice_count = edited.choice_capacity = 0;
    while (before < run->choice_count && run->choices[before].step < new->step) {
        bz_trace_add_choice(&edited, run->choices[before++]);
    }
    bz_trace_add_choice(&edited, *new);
    for (size_t index = before; index < run->choice_count; index++) {
        struct bz_trace_choice choice = run->choices[index];
        bool is_instead = !is_moved && choice.step == new->step &&
                          (bz_is(choice.kind, "next") || bz_is(choice.kind, "cancel"));
        choice.step += is_moved;
        if (!is_instead) {
            bz_trace_add_choice(&edited, choice);
        }
    }
    uint32_t victim = is_cancel ? bz_trace_find_task(run, new->task) : 0;
    if (make_run(ui, &edited, new->step, victim)) {
        ui->is_other = true;
        if (go(ui, (uint32_t) new->step)) {
            say(ui, "another run: %s; s saves it, u goes back",
                bz_trace_verdict_text(&ui->run.verdict, verdict, sizeof verdict));
        }
    }
    free(edited.choices);
}

/* --- the page --------------------------------------------------------------------------------- */

static const char *task_name(const struct ui *ui, uint32_t task) {
    return bz_trace_task_name(&ui->run, task, "the loop");
}

static void draw_events(const struct ui *ui) {
    const struct bz_trace_verdict *verdict = &ui->run.verdict;
    char text[512];
    put(A_NORMAL, ui->step == 0 ? "events of the set-up" : "events of step %" PRIu32, ui->step);
    for (size_t index = 0; index < ui->run.event_count; index++) {
        if (ui->run.events[index].step == ui->step) {
            put(A_NORMAL, "  %s", bz_trace_event_text(&ui->run.events[index], text, sizeof text));
        }
    }
    if (verdict->oracle != NULL && verdict->step == ui->step) {
        put(A_REVERSE, "*** %s: %s", verdict->oracle, bz_or(verdict->message, ""));
    } else if (ui->step == ui->report.steps) {
        put(A_NORMAL, "the run ends here%s",
            ui->report.end == BZ_RUN_OUT_OF_STEPS ? ": the step limit" : "");
    }
}

/* "ready   *1 worker-1, step 2 | 2 timer 1 of worker-2" */
static void draw_ready(const struct ui *ui) {
    const struct look *look = ui->look;
    struct bz_text line = {0};
    for (uint32_t index = 0; index < look->count; index++) {
        const struct bz_ready *handle = &look->ready[index];
        const char *owner = task_name(ui, handle->owner);
        bz_text_add(&line, "%s%s%" PRIu32 " ", index > 0 ? " | " : "",
                    index == look->chosen ? "*" : "", index + 1);
        if (handle->role == BZ_ROLE_STEP) {
            bz_text_add(&line, "%s, step %" PRIu32, owner, handle->nth);
        } else {
            bz_text_add(&line, "%s %" PRIu32 " of %s", bz_role_name(handle->role), handle->nth,
                        owner);
        }
    }
    put(A_NORMAL, "ready   %s",
        look->is_there ? bz_or(line.bytes, "nothing")
                       : "unknown: the process of this run ended in this step");
    if (look->is_there && look->deadline_ns != BZ_TIME_NEVER) {
        put(A_NORMAL, "timer   %s", bz_cli_time_text(look->deadline_ns));
    }
    bz_text_fini(&line);
}

/* Its holders, and W, R and C in the order of arrival. */
static void draw_object(const struct ui *ui, uint32_t number) {
    static const char *const letters[] = {
        [BZ_SPAN_WAITING] = "  W:", [BZ_SPAN_WOKEN] = "  R:", [BZ_SPAN_STRUCK] = "  C:"};
    const struct bz_ledger *ledger = &ui->ledger;
    const struct bz_trace_object *object = &ui->run.objects[number - 1];
    const char *before = "  holders:";
    struct bz_text line = {0};
    bz_text_add(&line, "'%s'  %" PRIu32, object->name, ledger->objects[number].count);
    if (object->size != BZ_TRACE_ABSENT) {
        bz_text_add(&line, " of %" PRIu64, object->size);
    }
    bz_text_add(&line, " out");
    for (uint32_t hold = ledger->objects[number].oldest; hold != 0; before = ",") {
        bz_text_add(&line, "%s %s", before, task_name(ui, ledger->holds[hold].task));
        hold = ledger->holds[hold].newer;
    }
    uint32_t first = ledger->objects[number].last;
    while (ledger->tasks[first].before != 0) {
        first = ledger->tasks[first].before;
    }
    for (unsigned kind = BZ_SPAN_WAITING; kind <= BZ_SPAN_STRUCK; kind++) {
        before = letters[kind];
        for (uint32_t task = first; task != 0; task = ledger->tasks[task].after) {
            const struct bz_place *place = &ledger->tasks[task].place;
            if (place->kind == kind) {
                bz_text_add(&line, "%s %s%s", before, task_name(ui, task),
                            place->was_woken ? " (after it was woken)" : "");
                before = ",";
            }
        }
    }
    put(A_NORMAL, "%s", line.bytes);
    bz_text_fini(&line);
}

static void draw_task(const struct ui *ui, uint32_t number) {
    static const char *const states[] = {"not started", "ready",     "running",  "waiting",
                                         "woken",       "cancelled", "sleeping", "done"};
    const struct bz_ledger_task *task = &ui->ledger.tasks[number];
    unsigned owned = 0;
    for (uint32_t hold = task->hold; hold != 0; hold = ui->ledger.holds[hold].below) {
        owned++;
    }
    put(A_NORMAL, "%-20s %-16s %-8s %-16s %u%s", ui->run.tasks[number - 1],
        task->is_struck && task->was_woken ? "woken, cancelled" : states[task->span.kind],
        bz_or(task->op, ""),
        task->op != NULL && task->object != 0 ? ui->run.objects[task->object - 1].name : "", owned,
        task->is_struck && task->span.kind == BZ_SPAN_RUNNING ? "  cancelled" : "");
}

static void draw(const struct ui *ui) {
    erase();
    move(0, 0);
    put(A_REVERSE, "%s:%s  step %" PRIu32 " of %" PRIu32 "  time %s  order %s%s", ui->run.scenario,
        ui->given->program.variant->name, ui->step, ui->report.steps,
        bz_cli_time_text(ui->look->now_ns), ui->run.order, ui->is_other ? "  [another run]" : "");
    draw_events(ui);
    draw_ready(ui);
    for (uint32_t number = 1; number <= ui->run.object_count; number++) {
        draw_object(ui, number);
    }
    put(A_NORMAL, "%-20s %-16s %-8s %-16s %s", "task", "state", "in", "of", "owns");
    for (uint32_t number = 1; number <= ui->run.task_count; number++) {
        draw_task(ui, number);
    }
    mvaddnstr(LINES - 2, 0, ui->message, COLS - 1);
    mvaddnstr(LINES - 1, 0,
              "<- -> step  g to  v violation  / n N find  c choose another  s save  ? help  q",
              COLS - 1);
    refresh();
}

static void show_help(struct ui *ui) {
    static const char *const lines[] = {
        "right, l, Enter, Space  one step forward    left, h, Backspace  one step back",
        "Home, 0  before the first step              End, $  the last step",
        "v  the violation                            g  to a step",
        "/  the next step with an event of a task or an object",
        "n, N  the next such step, the one before",
        "c  choose another: the number of a ready handle, which goes next instead, or the",
        "   name of a task, which is cancelled; the later choices stay where they fit",
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

/* --- keys ------------------------------------------------------------------------------------- */

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

static void go_to_typed(struct ui *ui) {
    char word[WORD_BYTES];
    uint64_t step;
    if (!ask(ui, "to step", word)) {
        return;
    }
    if (bz_parse_u64(word, &step) && step <= ui->report.steps) {
        go(ui, (uint32_t)step);
    } else {
        say(ui, "no step '%s': there are %" PRIu32, word, ui->report.steps);
    }
}

/* To the next step with an event of a task or an object of that name, or to the last one before. */
static void find(struct ui *ui, int key) {
    uint64_t found = 0;
    if ((key == '/' || ui->sought[0] == '\0') &&
        !ask(ui, "next event of task or object", ui->sought)) {
        return;
    }
    for (size_t index = 0; index < ui->run.event_count; index++) {
        const struct bz_trace_event *event = &ui->run.events[index];
        bool is_there = key == 'N' ? event->step < ui->step : event->step > ui->step && found == 0;
        if (is_there && (bz_is(event->task, ui->sought) || bz_is(event->object, ui->sought))) {
            found = event->step;
        }
    }
    if (found == 0) {
        say(ui, "no %s event of '%s'", key == 'N' ? "earlier" : "later", ui->sought);
    } else {
        go(ui, (uint32_t)found);
    }
}

/* Never writes over a file. */
static void save(struct ui *ui) {
    char path[WORD_BYTES];
    if (ask(ui, "save as", path)) {
        char *text = bz_trace_print(&ui->run);
        bool is_saved = bz_file_create(path, text, strlen(text));
        say(ui, is_saved ? "saved as %s" : "cannot write '%s': %s", path, strerror(errno));
        free(text);
    }
}

/* Another handle goes next, or a task is cancelled. A replay takes a cancel of the task in any
 * window. */
static void choose(struct ui *ui) {
    char word[WORD_BYTES];
    uint64_t number;
    struct bz_trace_choice choice = {.kind = "cancel",
                                     .window = bz_window_name(BZ_WINDOW_WAITING),
                                     .step = (uint64_t)ui->step + 1,
                                     .bound = BZ_TRACE_ABSENT,
                                     .value = BZ_TRACE_ABSENT};
    if (ui->step == ui->report.steps) {
        say(ui, "the run ends here: go back to choose another step");
        return;
    }
    if (!ask(ui, "number of a ready handle, or name of a task to cancel", word)) {
        return;
    }
    choice.task = bz_trace_task_name(&ui->run, bz_trace_find_task(&ui->run, word), NULL);
    if (choice.task == NULL && ui->given->program.order == BZ_ORDER_FIFO) {
        say(ui, "no task '%s'; in fifo the oldest handle goes", word);
    } else if (choice.task != NULL) {
        make_other(ui, &choice);
    } else if (!bz_parse_u64(word, &number) || number == 0 || number > ui->look->count) {
        say(ui, "no ready handle and no task '%s'", word);
    } else {
        const struct bz_ready *handle = &ui->look->ready[number - 1];
        choice.kind = "next";
        choice.window = NULL;
        choice.task = bz_trace_task_name(&ui->run, handle->owner, NULL);
        choice.role = handle->role == BZ_ROLE_STEP ? NULL : bz_role_name(handle->role);
        choice.n = handle->nth;
        make_other(ui, &choice);
    }
}

static void move_on(struct ui *ui, int key) {
    const struct bz_trace_verdict *verdict = &ui->run.verdict;
    uint32_t step = ui->step;
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
        if (reset(ui)) { /* else it has a message */
            say(ui, "the run that was given");
        }
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

int bz_stepper_run(const struct bz_named_run *run) {
    static struct ui ui;
    ui = (struct ui){.given = run};
    bz_trace_init(&ui.run);
    ui.look = bz_lack_check(bz_shared_alloc(sizeof *ui.look), "the state of a stepper");
    bool is_ok = reset(&ui);
    if (!is_ok) {
        bz_cli_fail(BZ_EXIT_USAGE, "%s", ui.message);
    } else if (!open_terminal()) {
        is_ok = false;
        bz_cli_fail(BZ_EXIT_USAGE, "--step: the terminal refuses single keys");
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
    bz_ledger_fini(&ui.ledger);
    bz_trace_fini(&ui.run);
    bz_shared_free(ui.look, sizeof *ui.look);
    return is_ok ? BZ_EXIT_OK : BZ_EXIT_USAGE;
}
