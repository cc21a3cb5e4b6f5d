/* Lanes in columns of text, beside the rows of a timeline (tools/story/timeline.h).
 *
 *       step  time  g1 g2 g3 ho  task     what
 *         20     0  <-----o  |   guest-3  releases 'tables'; guest-1 is woken (result set)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/show/show.h"
#include "tools/story/timeline.h"
#include "traces/lack.h"

#define WIDTH 80u
#define LANES_MAX 40u
#define LANE_BYTES 6u    /* of a label, with its NUL */
#define TEXT_COLUMNS 30u /* that stay for the texts */

struct lanes {
    struct bz_timeline timeline;
    uint32_t *lane_of;         /* by task: 1 is the first lane; 0: none */
    uint32_t tasks[LANES_MAX]; /* by lane - 1 */
    struct bz_ledger ledger;   /* before the row */
    size_t event;              /* the next one that it reads */
    char labels[LANES_MAX][LANE_BYTES];
    char heading[WIDTH + 1];
    unsigned count;
    unsigned pitch; /* columns from one lane to the next */
};

static const char *task_name(const struct lanes *lanes, uint32_t task) {
    return bz_trace_task_name(lanes->timeline.trace, task, "loop");
}

/* --- which lanes there are -------------------------------------------------------------------- */

/* Tasks in the story; if there are more than `most`, those that the violation depends on. */
static void choose_lanes(struct lanes *lanes, unsigned most, bool is_cause_only) {
    const struct bz_story *story = &lanes->timeline.story;
    size_t tasks = lanes->timeline.trace->task_count;
    unsigned count = 0;
    memset(lanes->lane_of, 0, (tasks + 1) * sizeof *lanes->lane_of);
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        if (line->task > 0 && line->task <= tasks && (line->is_cause || !is_cause_only)) {
            lanes->lane_of[line->task] = 1;
        }
    }
    for (uint32_t task = 1; task <= tasks; task++) {
        count += lanes->lane_of[task];
        if (lanes->lane_of[task] != 0 && count <= most) {
            lanes->tasks[count - 1] = task;
        }
        lanes->lane_of[task] = lanes->lane_of[task] != 0 && count <= most ? count : 0;
    }
    lanes->count = count < most ? count : most;
    if (count > most && !is_cause_only) {
        choose_lanes(lanes, most, true);
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

/* Labels that are clear, or numbers. */
static void label_lanes(struct lanes *lanes) {
    bool is_clear = true;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        is_clear =
            is_clear && abbreviate(task_name(lanes, lanes->tasks[lane]), lanes->labels[lane]);
        for (unsigned other = 0; is_clear && other < lane; other++) {
            is_clear = strcmp(lanes->labels[other], lanes->labels[lane]) != 0;
        }
    }
    unsigned longest = 1;
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        if (!is_clear) {
            snprintf(lanes->labels[lane], LANE_BYTES, "%u", (lane + 1) % 100);
        }
        unsigned length = (unsigned)strlen(lanes->labels[lane]);
        longest = length > longest ? length : longest;
    }
    lanes->pitch = longest + 1;
}

/* As many lanes as fit beside the texts. */
static void fit_lanes(struct lanes *lanes) {
    const struct bz_timeline *timeline = &lanes->timeline;
    unsigned others = timeline->step_columns + timeline->time_columns + timeline->task_columns + 8;
    unsigned room = others + TEXT_COLUMNS < WIDTH ? WIDTH - others - TEXT_COLUMNS : 0;
    unsigned most = LANES_MAX;
    do {
        choose_lanes(lanes, most, false);
        label_lanes(lanes);
        most = room / lanes->pitch > 1 ? room / lanes->pitch : 1;
    } while (lanes->count > most);
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        size_t used = strlen(lanes->heading);
        snprintf(lanes->heading + used, sizeof lanes->heading - used, "%-*s", (int)lanes->pitch,
                 lanes->labels[lane]);
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

static unsigned lane_of_line(const struct lanes *lanes, uint32_t line) {
    uint32_t task = lanes->timeline.story.lines[line].task;
    return task <= lanes->timeline.trace->task_count ? lanes->lane_of[task] : 0;
}

/* The arrow from another lane to that of the line. */
static void draw_arrow(const struct lanes *lanes, uint32_t index, char *row) {
    const struct bz_arrow *arrow =
        bz_show_arrow(&lanes->timeline.story, index, 1u << BZ_ARROW_WAKE | 1u << BZ_ARROW_CANCEL);
    unsigned lane = lane_of_line(lanes, index);
    unsigned from = arrow == NULL ? 0 : lane_of_line(lanes, arrow->from);
    if (lane != 0 && from != 0 && from != lane) {
        bool is_wake = arrow->kind == BZ_ARROW_WAKE;
        unsigned left = (from < lane ? from : lane) - 1;
        unsigned right = (from < lane ? lane : from) - 1;
        memset(row + left * lanes->pitch, is_wake ? '-' : '~', (right - left) * lanes->pitch);
        row[(from - 1) * lanes->pitch] = 'o';
        row[(lane - 1) * lanes->pitch] = (char)(!is_wake ? 'x' : from < lane ? '>' : '<');
    }
}

static void draw_row(void *context, size_t first, size_t end, char *row) {
    struct lanes *lanes = context;
    const struct bz_story_line *line = &lanes->timeline.story.lines[first];
    for (; lanes->event < line->event + line->is_violation; lanes->event++) {
        bz_ledger_read(&lanes->ledger, &lanes->timeline.trace->events[lanes->event]);
    }
    size_t length = (size_t)lanes->count * lanes->pitch;
    memset(row, ' ', length);
    row[length] = '\0';
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        row[lane * lanes->pitch] = mark_of(&lanes->ledger.tasks[lanes->tasks[lane]]);
    }
    for (size_t index = first; index < end; index++) {
        unsigned own = lane_of_line(lanes, (uint32_t)index);
        if (own != 0) {
            row[(own - 1) * lanes->pitch] = line->is_violation ? '!' : '*';
        }
    }
    for (size_t index = first; index < end && !line->is_violation; index++) {
        draw_arrow(lanes, (uint32_t)index, row);
    }
}

/* --- the page --------------------------------------------------------------------------------- */

static void print_head(const struct lanes *lanes, struct bz_wrap *wrap) {
    const struct bz_trace *trace = lanes->timeline.trace;
    struct bz_text text = {0};
    bool has_ended = strcmp(trace->verdict.result, "cut") != 0 || trace->verdict.message != NULL;
    bz_wrap_printf(wrap, 2, BZ_COLOUR_NONE, "%s, variant %s, order %s, seed 0x%" PRIx64,
                   trace->scenario, trace->variant, trace->order, trace->seed);
    bz_text_add(&text, "%s", bz_show_verdict(trace));
    if (has_ended) {
        bz_text_add(&text, " at step %" PRIu64, trace->verdict.step);
    }
    bz_wrap_print(wrap, "", text.bytes, 2, BZ_COLOUR_NONE);
    if (trace->verdict.message != NULL) {
        bz_wrap_print(wrap, "  ", trace->verdict.message, 2, BZ_COLOUR_NONE);
    }
    bz_text_clear(&text);
    for (unsigned lane = 0; lane < lanes->count; lane++) {
        bz_text_add(&text, "%s%s %s", lane > 0 ? ", " : "", lanes->labels[lane],
                    task_name(lanes, lanes->tasks[lane]));
    }
    bz_wrap_whole(wrap, "", "");
    bz_wrap_print(wrap, "tasks: ", text.bytes, 7, BZ_COLOUR_NONE);
    if (trace->task_count > lanes->count) {
        bz_wrap_printf(wrap, 0, BZ_COLOUR_NONE, "%zu of %zu tasks have a lane",
                       (size_t)lanes->count, trace->task_count);
    }
    bz_text_fini(&text);
}

void bz_show_text(const struct bz_view *view, struct bz_text *out) {
    struct lanes lanes = {.count = 0};
    char *bytes = NULL;
    size_t length;
    struct bz_wrap wrap = {.out = bz_lack_check(open_memstream(&bytes, &length), "a picture")};
    bz_timeline_init(&lanes.timeline, view->trace);
    bz_ledger_init(&lanes.ledger, view->trace);
    lanes.lane_of = bz_lack_new(view->trace->task_count + 1, sizeof *lanes.lane_of, "a picture");
    fit_lanes(&lanes);
    lanes.timeline.lanes =
        (struct bz_timeline_lanes){.heading = lanes.heading, .draw = draw_row, .context = &lanes};
    print_head(&lanes, &wrap);
    bz_timeline_print(&lanes.timeline, &wrap, true);
    bz_wrap_print(&wrap, "lanes: ",
                  "* acts, o wakes (o--->) or cancels (o~~~x), w waits, r woken, c cancelled, z "
                  "sleeps, h holds a permit, | ready or running, ! the violation",
                  7, BZ_COLOUR_NONE);
    if (view->token != NULL) {
        bz_wrap_whole(&wrap, "", "");
        bz_wrap_whole(&wrap, "token   ", view->token);
    }
    bz_lack_check(fclose(wrap.out) == 0 ? bytes : NULL, "a picture");
    bz_text_put(out, bytes);
    free(bytes);
    free(lanes.lane_of);
    bz_ledger_fini(&lanes.ledger);
    bz_timeline_fini(&lanes.timeline);
}
