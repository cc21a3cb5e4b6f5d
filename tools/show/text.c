/* Lanes in columns of text: one line of text for each line of the story.
 *
 *       step  time  g1 g2 g3 ho
 *     >   20     0  w  w  *  |   guest-3  releases 'tables'
 *     >   20     0  <-----o  |   guest-1  is woken (result set)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/show/show.h"
#include "traces/lack.h"

#define WIDTH 80u
#define LANES_MAX 40u    /* more tasks than that get no lanes of their own */
#define LANE_BYTES 6u    /* of a label, with its NUL */
#define TEXT_COLUMNS 24u /* that a text is worth being wrapped for */
#define ROW_BYTES (LANES_MAX * LANE_BYTES + 1)

struct lanes {
    const struct bz_view *view;
    uint32_t *lane_of;         /* by task: 1 is the first lane; 0: none */
    uint32_t tasks[LANES_MAX]; /* by lane - 1 */
    struct bz_ledger ledger;   /* at the line */
    size_t event;              /* the next one that it reads */
    char labels[LANES_MAX][LANE_BYTES];
    unsigned count;
    unsigned pitch; /* columns from one lane to the next */
    int step_width, time_width, task_width;
};

static int wider(int width, const char *text) {
    int columns = (int)bz_wrap_columns(text);
    return columns > width ? columns : width;
}

/* --- which lanes there are -------------------------------------------------------------------- */

/* Tasks in the story; if these are too many, those that the violation depends on. */
static void choose_lanes(struct lanes *lanes, bool is_cause_only) {
    const struct bz_story *story = lanes->view->story;
    size_t tasks = lanes->view->trace->task_count;
    memset(lanes->lane_of, 0, (tasks + 1) * sizeof *lanes->lane_of);
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        if (line->task > 0 && line->task <= tasks && (line->is_cause || !is_cause_only)) {
            lanes->lane_of[line->task] = 1;
        }
    }
    unsigned count = 0;
    for (uint32_t task = 1; task <= tasks; task++) {
        if (lanes->lane_of[task] != 0) {
            count++;
            lanes->lane_of[task] = count <= LANES_MAX ? count : 0;
            if (count <= LANES_MAX) {
                lanes->tasks[count - 1] = task;
            }
        }
    }
    lanes->count = count > LANES_MAX ? LANES_MAX : count;
    if (count > LANES_MAX && !is_cause_only) {
        choose_lanes(lanes, true);
    }
}

/* "g1" of "guest-1", "ho" of "host". False if the name does not lend itself to it. */
static bool abbreviate(const char *name, char label[LANE_BYTES]) {
    size_t length = strlen(name);
    size_t digits = 0;
    while (digits < length && name[length - 1 - digits] >= '0' &&
           name[length - 1 - digits] <= '9') {
        digits++;
    }
    unsigned char first = (unsigned char)name[0];
    unsigned char second = length > 1 ? (unsigned char)name[1] : 'x';
    if (first <= ' ' || first > '~' || second < ' ' || second > '~' || digits > 3) {
        return false;
    }
    if (digits > 0) {
        snprintf(label, LANE_BYTES, "%c%.3s", first, name + length - digits);
    } else {
        snprintf(label, LANE_BYTES, "%.2s", name);
    }
    return true;
}

static bool are_labels_clear(struct lanes *lanes) {
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        if (!abbreviate(bz_trace_task_name(lanes->view->trace, lanes->tasks[lane], "loop"),
                        lanes->labels[lane])) {
            return false;
        }
        for (unsigned other = 0; other < lane; other++) {
            if (strcmp(lanes->labels[other], lanes->labels[lane]) == 0) {
                return false;
            }
        }
    }
    return true;
}

static void label_lanes(struct lanes *lanes) {
    if (!are_labels_clear(lanes)) {
        for (unsigned lane = 0; lane < lanes->count; lane++) {
            snprintf(lanes->labels[lane], LANE_BYTES, "%u", (lane + 1) % 100);
        }
    }
    unsigned longest = 1;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        unsigned length = (unsigned)strlen(lanes->labels[lane]);
        longest = length > longest ? length : longest;
    }
    lanes->pitch = longest + 1;
    size_t others = (size_t)(lanes->step_width + lanes->time_width + lanes->task_width) + 9;
    while (lanes->pitch > 1 &&
           others + (size_t)lanes->count * lanes->pitch + TEXT_COLUMNS > WIDTH) {
        lanes->pitch--; /* labels are then written from top to bottom */
    }
}

static void measure(struct lanes *lanes) {
    const struct bz_story *story = lanes->view->story;
    char step[24];
    lanes->step_width = lanes->time_width = lanes->task_width = 4;
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        snprintf(step, sizeof step, "%" PRIu64, line->step);
        lanes->step_width = wider(lanes->step_width, step);
        lanes->time_width = wider(lanes->time_width, bz_cli_time_text(line->time_ns));
        lanes->task_width =
            wider(lanes->task_width, bz_trace_task_name(lanes->view->trace, line->task, "loop"));
    }
}

/* --- a row of lanes --------------------------------------------------------------------------- */

static char mark_of(const struct bz_ledger_task *task) {
    static const char marks[] = {
        [BZ_SPAN_UNSTARTED] = ' ', [BZ_SPAN_READY] = '|', [BZ_SPAN_RUNNING] = '|',
        [BZ_SPAN_WAITING] = 'w',   [BZ_SPAN_WOKEN] = 'r', [BZ_SPAN_STRUCK] = 'c',
        [BZ_SPAN_SLEEPING] = 'z',  [BZ_SPAN_DONE] = ' '};
    char mark = marks[task->span.kind];
    return task->span.is_holding && (mark == '|' || mark == 'z') ? 'h' : mark;
}

/* To the state before the line, in which its own lane has a mark of its own. */
static void move_on(struct lanes *lanes, const struct bz_story_line *line) {
    for (; lanes->event < line->event + line->is_violation; lanes->event++) {
        bz_ledger_read(&lanes->ledger, &lanes->view->trace->events[lanes->event]);
    }
}

/* Draws the arrow from another lane to this one. */
static void draw_arrow(struct lanes *lanes, char *row, const struct bz_arrow *arrow,
                       unsigned lane) {
    uint32_t task = lanes->view->story->lines[arrow->from].task;
    unsigned from = task <= lanes->view->trace->task_count ? lanes->lane_of[task] : 0;
    if (from == 0 || from == lane) {
        return;
    }
    bool is_wake = arrow->kind == BZ_ARROW_WAKE;
    unsigned left = (from < lane ? from : lane) - 1;
    unsigned right = (from < lane ? lane : from) - 1;
    memset(row + left * lanes->pitch, is_wake ? '-' : '~', (right - left) * lanes->pitch);
    row[(from - 1) * lanes->pitch] = 'o';
    row[(lane - 1) * lanes->pitch] = (char)(!is_wake ? 'x' : from < lane ? '>' : '<');
}

static void draw_row(struct lanes *lanes, size_t index, char row[ROW_BYTES]) {
    const struct bz_story_line *line = &lanes->view->story->lines[index];
    size_t length = (size_t)lanes->count * lanes->pitch;
    memset(row, ' ', length);
    row[length] = '\0';
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        row[lane * lanes->pitch] = mark_of(&lanes->ledger.tasks[lanes->tasks[lane]]);
    }
    unsigned own = line->task <= lanes->view->trace->task_count ? lanes->lane_of[line->task] : 0;
    if (own == 0) {
        return;
    }
    row[(own - 1) * lanes->pitch] = line->is_violation ? '!' : '*';
    const struct bz_arrow *arrow = bz_show_arrow(lanes->view->story, (uint32_t)index,
                                                 1u << BZ_ARROW_WAKE | 1u << BZ_ARROW_CANCEL);
    if (arrow != NULL && !line->is_violation) {
        draw_arrow(lanes, row, arrow, own);
    }
}

/* --- the page --------------------------------------------------------------------------------- */

/* Appends a text that begins in column `indent`, wrapped between words. */
static void put_wrapped(struct bz_text *out, const char *text, size_t indent) {
    char part[BZ_WRAP_PART_BYTES];
    unsigned room = indent + TEXT_COLUMNS <= WIDTH ? (unsigned)(WIDTH - indent) : TEXT_COLUMNS;
    do {
        text = bz_wrap_part(text, room, part);
        size_t length = strlen(part);
        while (length > 0 && part[length - 1] == ' ') {
            length--;
        }
        bz_text_put_bytes(out, part, length);
        bz_text_add(out, "\n%*s", *text != '\0' ? (int)indent : 0, "");
    } while (*text != '\0');
}

static void put_head(struct lanes *lanes, struct bz_text *out) {
    const struct bz_trace *trace = lanes->view->trace;
    bz_text_add(out, "%s, variant %s, order %s, seed 0x%" PRIx64 "\n%s", trace->scenario,
                trace->variant, trace->order, trace->seed, bz_show_verdict(trace));
    if (strcmp(trace->verdict.result, "cut") != 0 || trace->verdict.message != NULL) {
        bz_text_add(out, " at step %" PRIu64, trace->verdict.step);
    }
    bz_text_put(out, "\n");
    if (trace->verdict.message != NULL) {
        bz_text_put(out, "  ");
        put_wrapped(out, trace->verdict.message, 2);
    }
    bz_text_put(out, "\n");
    size_t column = 0;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        const char *name = bz_trace_task_name(trace, lanes->tasks[lane], "loop");
        size_t width = strlen(lanes->labels[lane]) + 1 + (size_t)bz_wrap_columns(name) + 3;
        if (column > 0 && column + width > WIDTH) {
            bz_text_put(out, "\n");
            column = 0;
        }
        bool is_last = lane + 1 == lanes->count;
        bz_text_add(out, "%s%s %s", column > 0 ? "   " : "", lanes->labels[lane], name);
        column += width;
        bz_text_put(out, is_last ? "\n" : "");
    }
    if (trace->task_count > lanes->count) {
        bz_text_add(out, "%zu of %zu tasks have a lane\n", (size_t)lanes->count, trace->task_count);
    }
}

/* The row of labels; labels that do not fit are written from top to bottom. */
static void put_labels(struct lanes *lanes, struct bz_text *out) {
    size_t longest = 1;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        size_t length = strlen(lanes->labels[lane]);
        longest = length > longest ? length : longest;
    }
    size_t rows = longest < lanes->pitch ? 1 : longest;
    size_t columns = longest < lanes->pitch ? longest : 1;
    for (size_t row = 0; row < rows; row++) {
        bool is_last = row + 1 == rows;
        bz_text_add(out, "  %*s  %*s  ", lanes->step_width, is_last ? "step" : "",
                    lanes->time_width, is_last ? "time" : "");
        for (unsigned lane = 0; lane < lanes->count; lane++) {
            const char *label = lanes->labels[lane];
            size_t length = strlen(label);
            const char *piece = row * columns < length ? label + row * columns : "";
            bz_text_add(out, "%-*.*s", (int)lanes->pitch, (int)columns, piece);
        }
        bz_text_put(out, is_last ? " task\n" : "\n");
    }
}

static void put_line(struct lanes *lanes, struct bz_text *out, size_t index) {
    const struct bz_story *story = lanes->view->story;
    const struct bz_story_line *line = &story->lines[index];
    bool is_failed = lanes->view->trace->verdict.oracle != NULL;
    char row[ROW_BYTES];
    char step[24] = "";
    if (index == 0 || story->lines[index - 1].step != line->step) {
        snprintf(step, sizeof step, "%" PRIu64, line->step);
    }
    const char *name = bz_trace_task_name(lanes->view->trace, line->task, "loop");
    move_on(lanes, line);
    draw_row(lanes, index, row);
    size_t start = out->length;
    bz_text_add(out, "%c %*s  %*s  %s ",
                line->is_violation            ? '!'
                : line->is_cause && is_failed ? '>'
                                              : ' ',
                lanes->step_width, step, lanes->time_width,
                step[0] != '\0' ? bz_cli_time_text(line->time_ns) : "", row);
    size_t indent = out->length - start + (size_t)lanes->task_width + 2;
    bz_text_add(out, "%s%*s", name, lanes->task_width + 2 - (int)bz_wrap_columns(name), "");
    put_wrapped(out, line->text, indent);
}

static void put_legend(const struct bz_view *view, struct bz_text *out) {
    bz_text_put(out, "\n"
                     "  lanes: * this line, o the task that wakes (o--->) or cancels (o~~~x), "
                     "w waits,\n"
                     "         r woken, c cancelled, z sleeps, h holds a permit, | ready or "
                     "running\n");
    if (view->trace->verdict.oracle != NULL) {
        bz_text_put(out, "  margin: ! the violation, > it depends on this line\n");
    }
    if (view->token != NULL) {
        bz_text_add(out, "\ntoken   %s\n", view->token);
    }
}

void bz_show_text(const struct bz_view *view, struct bz_text *out) {
    struct lanes lanes = {.view = view};
    lanes.lane_of = bz_lack_new(view->trace->task_count + 1, sizeof *lanes.lane_of, "a picture");
    choose_lanes(&lanes, false);
    measure(&lanes);
    label_lanes(&lanes);
    bz_ledger_init(&lanes.ledger, view->trace);
    put_head(&lanes, out);
    bz_text_put(out, "\n");
    put_labels(&lanes, out);
    for (size_t index = 0; index < view->story->line_count; index++) {
        put_line(&lanes, out, index);
    }
    put_legend(view, out);
    bz_ledger_fini(&lanes.ledger);
    free(lanes.lane_of);
}
