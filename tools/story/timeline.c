#include "tools/story/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "traces/lack.h"
#include "traces/text.h"

#define CAUSE_ROWS_MAX 100u /* of a longer one, the nearest causes are shown */
#define TASK_COLUMNS_MAX 20u
#define IDLERS_MAX 8u
#define PERIOD_MAX 16u /* the longest block that is folded, in rows */
#define TIMES_MIN 4u   /* a block that comes less often is not */

static bool is_from_outside(const struct bz_story_line *line) {
    return strncmp(line->text, "is woken from outside", 21) == 0;
}

/* The end of the row that begins with this line: behind the lines of its step. The violation and
 * what happens outside of the loop have rows of their own. */
static size_t end_of_row(const struct bz_story *story, size_t first) {
    size_t end = first + 1;
    while (end < story->line_count && story->lines[end].step == story->lines[first].step &&
           !story->lines[end].is_violation && !is_from_outside(&story->lines[end])) {
        end++;
    }
    return end;
}

/* How near the row is to the violation; BZ_STORY_NONE: it is no cause. */
static uint32_t distance_of_row(const struct bz_story *story, size_t first, size_t end) {
    uint32_t distance = BZ_STORY_NONE;
    for (size_t line = first; line < end; line++) {
        if (story->lines[line].is_cause && story->lines[line].distance < distance) {
            distance = story->lines[line].distance;
        }
    }
    return distance;
}

/* The row belongs to the task of its first line. A line about a slow step may stand before it. */
static uint32_t task_of_row(const struct bz_story *story, size_t first, size_t end) {
    bool has_more = story->lines[first].is_lag && first + 1 < end;
    return story->lines[has_more ? first + 1 : first].task;
}

static void widen(unsigned *columns, size_t needed, unsigned most) {
    *columns = needed > most ? most : needed > *columns ? (unsigned)needed : *columns;
}

static uint64_t step_of(const struct bz_timeline *timeline, const struct bz_timeline_row *row) {
    return timeline->story.lines[row->first].step;
}

/* The text of a line. Whose row it is need not be repeated: "is woken by `actor` (result set)", "is
 * cancelled while waiting, by `actor`". BZ_STORY_NONE: it is repeated. */
static void add_saying(struct bz_timeline *timeline, const char *text, uint32_t actor) {
    char clause[BZ_TRACE_NAME_BYTES_MAX + 16] = "";
    if (actor != BZ_STORY_NONE) {
        snprintf(clause, sizeof clause, " by %s",
                 bz_trace_task_name(timeline->trace, actor, "the loop"));
    }
    size_t length = strlen(clause);
    const char *place = length == 0 ? NULL : strstr(text, clause);
    if (place == NULL || strchr(" ", place[length]) == NULL) {
        bz_text_add(&timeline->text, "%s", text);
    } else { /* without the comma before it */
        bz_text_add(&timeline->text, "%.*s%s", (int)(place - text - (place[-1] == ',')), text,
                    place + length);
    }
}

/* True if the line only says who does what the next one says: "cancels guest-1". */
static bool is_said_again(const struct bz_timeline *timeline, size_t index, size_t end) {
    const struct bz_story_line *line = &timeline->story.lines[index];
    const char *patient =
        index + 1 < end ? bz_trace_task_name(timeline->trace, line[1].task, "loop") : NULL;
    return (strncmp(line->text, "cancels ", 8) == 0 && bz_is(patient, line->text + 8)) ||
           (strncmp(line->text, "wakes ", 6) == 0 && bz_is(patient, line->text + 6));
}

/* "starts; draws patience 5, victim 2; guest-1 is cancelled while waiting, by host" */
static void write_row(struct bz_timeline *timeline, size_t first, size_t end, uint32_t task) {
    const struct bz_story *story = &timeline->story;
    bz_text_clear(&timeline->text);
    for (size_t index = first; index < end; index++) {
        const struct bz_story_line *line = &story->lines[index];
        bool is_draw = strncmp(line->text, "draws ", 6) == 0;
        if (is_said_again(timeline, index, end)) {
            continue;
        }
        bool goes_on = is_draw && index > first && line->task == line[-1].task &&
                       strncmp(line[-1].text, "draws ", 6) == 0;
        bool is_named = line->task != task && !line->is_lag;
        bz_text_add(&timeline->text, "%s%s%s",
                    goes_on                     ? ", "
                    : timeline->text.length > 0 ? "; "
                                                : "",
                    is_named ? bz_trace_task_name(timeline->trace, line->task, "loop") : "",
                    is_named ? " " : "");
        add_saying(timeline, line->text + (goes_on ? 6 : 0), is_named ? task : BZ_STORY_NONE);
    }
}

/* --- rows that repeat themselves -------------------------------------------------------------- */

/* Folds a block that comes again and again from this row on: it is printed once, the last time.
 * Returns how many rows are done. */
static size_t fold_block(struct bz_timeline *timeline, const uint32_t *told, size_t left,
                         bool is_whole) {
    struct bz_timeline_row *rows = timeline->rows;
    for (size_t period = 1; period <= PERIOD_MAX && period * TIMES_MIN <= left; period++) {
        size_t alike = 0; /* rows that come again one block later */
        while (alike + period < left && rows[told[alike]].key == rows[told[alike + period]].key &&
               (!is_whole || rows[told[alike]].gap == rows[told[alike + period]].gap)) {
            alike++;
        }
        size_t folded = alike / period * period;
        if (folded < (TIMES_MIN - 1) * period) {
            continue;
        }
        struct bz_timeline_row *head = &rows[told[folded]];
        head->times = folded / period;
        head->period = period;
        head->since = step_of(timeline, &rows[told[0]]);
        head->until = step_of(timeline, &rows[told[folded - 1]]);
        for (size_t index = 0; index < folded; index++) {
            rows[told[index]].is_folded = true;
        }
        for (size_t index = 1; !is_whole && index < period; index++) { /* all of it, or nothing */
            struct bz_timeline_row *row = &rows[told[folded + index]];
            head->distance = row->distance < head->distance ? row->distance : head->distance;
        }
        for (size_t index = 1; !is_whole && index < period; index++) {
            rows[told[folded + index]].distance = head->distance;
        }
        return folded + period;
    }
    return 1;
}

/* Of all rows, or of those that the violation depends on. Lanes show each row. */
static void fold(struct bz_timeline *timeline, bool is_whole) {
    uint32_t *told = bz_lack_new(timeline->row_count + 1, sizeof *told, "a diagnosis");
    size_t count = 0;
    for (size_t index = 0; index < timeline->row_count; index++) {
        struct bz_timeline_row *row = &timeline->rows[index];
        row->is_folded = false;
        row->times = 0;
        if (timeline->lanes.heading == NULL && (is_whole || row->distance != BZ_STORY_NONE)) {
            told[count++] = (uint32_t)index;
        }
    }
    for (size_t at = 0; at < count;) {
        at += fold_block(timeline, told + at, count - at, is_whole);
    }
    free(told);
}

/* "(steps 10 to 108: the next 3 lines, 33 times)" */
static void print_fold(const struct bz_timeline_row *row, struct bz_wrap *wrap) {
    if (row->times > 0 && row->period == 1) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_FAINT,
                       "    (steps %" PRIu64 " to %" PRIu64 ": the next line, %zu times)",
                       row->since, row->until, row->times);
    } else if (row->times > 0) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_FAINT,
                       "    (steps %" PRIu64 " to %" PRIu64 ": the next %zu lines, %zu times)",
                       row->since, row->until, row->period, row->times);
    }
}

/* --- the timeline ----------------------------------------------------------------------------- */

/* Of all that is printed of the row but its step and time. */
static uint64_t key_of(const struct bz_timeline *timeline, uint32_t task) {
    uint64_t key = UINT64_C(0xcbf29ce484222325) ^ task; /* FNV-1a */
    for (size_t index = 0; index < timeline->text.length; index++) {
        key = (key ^ (unsigned char)timeline->text.bytes[index]) * UINT64_C(0x100000001b3);
    }
    return key;
}

void bz_timeline_limit(struct bz_timeline *timeline, size_t rows_max) {
    size_t count = timeline->story.line_count;
    uint32_t *rows = bz_lack_new(count + 1, sizeof *rows, "a diagnosis");
    fold(timeline, false);
    for (size_t index = 0; index < timeline->row_count; index++) {
        const struct bz_timeline_row *row = &timeline->rows[index];
        if (row->distance != BZ_STORY_NONE) {
            rows[row->distance] += !row->is_folded;
        }
    }
    size_t shown = 0;
    timeline->distance_max = 0;
    for (uint32_t distance = 0; distance <= count; distance++) {
        shown += rows[distance];
        if (shown > rows_max && distance > 0) {
            break;
        }
        timeline->distance_max = distance;
    }
    free(rows);
}

void bz_timeline_init(struct bz_timeline *timeline, const struct bz_trace *trace) {
    *timeline = (struct bz_timeline){.trace = trace, .time_columns = 4, .task_columns = 4};
    struct bz_story *story = &timeline->story;
    bz_story_init(story, trace);
    timeline->step_columns = (unsigned)snprintf(NULL, 0, "%4" PRIu64, trace->verdict.step);
    timeline->rows = bz_lack_new(story->line_count + 1, sizeof *timeline->rows, "a diagnosis");
    for (size_t line = 0, end; line < story->line_count; line = end) {
        end = end_of_row(story, line);
        uint32_t task = task_of_row(story, line, end);
        struct bz_timeline_row *row = &timeline->rows[timeline->row_count];
        *row = (struct bz_timeline_row){
            .first = line, .end = end, .distance = distance_of_row(story, line, end)};
        row->gap =
            timeline->row_count == 0 ? 0 : step_of(timeline, row) - step_of(timeline, row - 1);
        write_row(timeline, line, end, task);
        row->key = key_of(timeline, task);
        timeline->row_count++;
        timeline->cause_count += row->distance != BZ_STORY_NONE;
        widen(&timeline->time_columns, strlen(bz_cli_time_text(story->lines[line].time_ns)), 30);
        widen(&timeline->task_columns,
              bz_wrap_columns(bz_trace_task_name(timeline->trace, task, "loop")), TASK_COLUMNS_MAX);
    }
    bz_timeline_limit(timeline, CAUSE_ROWS_MAX);
}

void bz_timeline_fini(struct bz_timeline *timeline) {
    free(timeline->rows);
    bz_text_fini(&timeline->text);
    bz_story_fini(&timeline->story);
}

/* A name that is wider than the column gets a line of its own. */
static void print_row(struct bz_timeline *timeline, struct bz_wrap *wrap, size_t first,
                      size_t end) {
    const struct bz_story_line *line = &timeline->story.lines[first];
    uint32_t task = task_of_row(&timeline->story, first, end);
    const char *name = bz_trace_task_name(timeline->trace, task, "loop");
    char prefix[BZ_WRAP_COLUMNS * 4 + 200];
    bool is_wide = bz_wrap_columns(name) > timeline->task_columns;
    bool has_failed = strcmp(timeline->trace->verdict.result, "pass") != 0;
    enum bz_colour colour = line->is_violation ? BZ_COLOUR_BAD : BZ_COLOUR_NONE;
    for (size_t index = first; index < end; index++) {
        bool is_cancel = timeline->story.lines[index].window != NULL;
        colour = is_cancel ? BZ_COLOUR_ODD : colour;
    }
    int used = snprintf(prefix, sizeof prefix, "%c %*" PRIu64 "  %*s  ",
                        has_failed && line->step == timeline->trace->verdict.step ? '>' : ' ',
                        (int)timeline->step_columns, line->step, (int)timeline->time_columns,
                        bz_cli_time_text(line->time_ns));
    if (timeline->lanes.heading != NULL) {
        timeline->lanes.draw(timeline->lanes.context, first, end, prefix + used);
        used += snprintf(prefix + used + strlen(prefix + used), 3, "  ") +
                (int)strlen(timeline->lanes.heading);
    }
    unsigned name_at = (unsigned)used;
    unsigned indent = name_at + timeline->task_columns + 2;
    if (is_wide) {
        bz_wrap_print(wrap, prefix, name, name_at, BZ_COLOUR_NONE);
        snprintf(prefix, sizeof prefix, "%*s", (int)indent, "");
    } else {
        snprintf(prefix + used, sizeof prefix - (size_t)used, "%s%*s", name,
                 (int)(indent - name_at - bz_wrap_columns(name)), "");
    }
    write_row(timeline, first, end, task);
    bz_wrap_print(wrap, prefix, timeline->text.bytes, indent, colour);
}

/* The tasks that ran in the steps between two rows, each once: "host, a callback". */
static void add_idlers(struct bz_timeline *timeline, uint64_t after, uint64_t before) {
    const struct bz_trace *trace = timeline->trace;
    const char *names[IDLERS_MAX];
    size_t count = 0;
    for (size_t index = 0; index < trace->event_count && trace->events[index].step < before;
         index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_step = bz_is(event->event, "resume");
        const char *name = is_step ? event->task : "a callback";
        size_t known = 0;
        if (event->step <= after || (!is_step && !bz_is(event->event, "callback"))) {
            continue;
        }
        while (known < count && !bz_is(names[known], name)) {
            known++;
        }
        if (known == IDLERS_MAX) {
            bz_text_add(&timeline->text, ", ...");
            return;
        }
        if (known == count && name != NULL) {
            bz_text_add(&timeline->text, "%s%s", count == 0 ? " " : ", ", name);
            names[count++] = name;
        }
    }
}

/* The steps between two rows, in which tasks only yield, or nothing came of a callback. */
static void print_gap(struct bz_timeline *timeline, struct bz_wrap *wrap, uint64_t after,
                      uint64_t before) {
    char prefix[64];
    uint64_t count = before > after + 1 ? before - after - 1 : 0;
    if (count == 0) {
        return;
    }
    bz_text_clear(&timeline->text);
    bz_text_add(&timeline->text, "(%" PRIu64 " step%s in which nothing happens:", count,
                count == 1 ? "" : "s");
    add_idlers(timeline, after, before);
    bz_text_add(&timeline->text, ")");
    unsigned indent =
        (unsigned)snprintf(prefix, sizeof prefix, "  %*s  %*s  ", (int)timeline->step_columns, "",
                           (int)timeline->time_columns, "");
    bz_wrap_print(wrap, prefix, timeline->text.bytes, indent, BZ_COLOUR_FAINT);
}

static void print_heading(const struct bz_timeline *timeline, struct bz_wrap *wrap) {
    bz_wrap_whole(wrap, "", "");
    const char *lanes = timeline->lanes.heading;
    bz_wrap_printf(wrap, 2, BZ_COLOUR_FAINT, "  %*s  %*s  %s%s%-*s  what",
                   (int)timeline->step_columns, "step", (int)timeline->time_columns, "time",
                   lanes != NULL ? lanes : "", lanes != NULL ? "  " : "",
                   (int)timeline->task_columns, "task");
}

/* The rows, and how many are missing. */
void bz_timeline_print(struct bz_timeline *timeline, struct bz_wrap *wrap, bool is_whole) {
    uint64_t last = 0;
    size_t shown = 0;
    size_t folded = 0;
    fold(timeline, is_whole);
    print_heading(timeline, wrap);
    for (size_t index = 0; index < timeline->row_count; index++) {
        const struct bz_timeline_row *row = &timeline->rows[index];
        bool is_cause = row->distance != BZ_STORY_NONE;
        folded = row->is_folded || row->times > 0 ? folded + (row->is_folded && is_cause) : 0;
        if (!row->is_folded &&
            (is_whole || (is_cause && row->distance <= timeline->distance_max))) {
            print_fold(row, wrap);
            print_gap(timeline, wrap, is_whole ? last : step_of(timeline, row),
                      step_of(timeline, row));
            print_row(timeline, wrap, row->first, row->end);
            shown += is_cause + folded;
            folded = 0;
        }
        last = step_of(timeline, row);
    }
    size_t left_out = is_whole ? 0 : timeline->row_count - timeline->cause_count;
    size_t remote = timeline->cause_count - shown;
    if (left_out + remote > 0) {
        bz_text_clear(&timeline->text);
        if (left_out > 0) {
            bz_text_add(&timeline->text, "%zu line%s that the violation does not depend on%s",
                        left_out, left_out == 1 ? "" : "s", remote > 0 ? ", " : "");
        }
        if (remote > 0) {
            bz_text_add(&timeline->text, "%zu line%s further back that it depends on", remote,
                        remote == 1 ? "" : "s");
        }
        bz_wrap_printf(wrap, 4, BZ_COLOUR_FAINT, "  (left out: %s)", timeline->text.bytes);
    }
    bz_wrap_whole(wrap, "", "");
}

void bz_timeline_print_end(struct bz_timeline *timeline, struct bz_wrap *wrap, size_t rows_max) {
    const struct bz_timeline_row *rows = timeline->rows;
    size_t first = timeline->row_count;
    fold(timeline, true);
    for (size_t shown = 0; first > 0 && shown < rows_max; first--) {
        shown += !rows[first - 1].is_folded;
    }
    while (first < timeline->row_count && rows[first].is_folded) {
        first++;
    }
    print_heading(timeline, wrap);
    size_t left_out =
        first < timeline->row_count ? first - rows[first].times * rows[first].period : first;
    if (left_out > 0) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_FAINT, "  (left out: %zu line%s before these)", left_out,
                       left_out == 1 ? "" : "s");
    }
    uint64_t last = first > 0 ? step_of(timeline, &rows[first - 1]) : 0;
    for (const struct bz_timeline_row *row = rows + first; row < rows + timeline->row_count;
         row++) {
        if (!row->is_folded) {
            print_fold(row, wrap);
            print_gap(timeline, wrap, last, step_of(timeline, row));
            print_row(timeline, wrap, row->first, row->end);
        }
        last = step_of(timeline, row);
    }
    print_gap(timeline, wrap, last, timeline->trace->verdict.step + 1);
    bz_wrap_whole(wrap, "", "");
}
