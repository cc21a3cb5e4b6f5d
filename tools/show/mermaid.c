/* A Mermaid sequence diagram, as GitHub draws it in a block ```mermaid of Markdown.
 *
 * GitHub refuses diagrams of more than 50,000 characters. A larger one has only the lines that the
 * violation depends on, and if it must be, only the last ones; a comment says what is left out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/show/show.h"
#include "traces/lack.h"

#define BYTES_MAX 48000u

/* Entities are the only escape that Mermaid has: #59; is a semicolon. */
static void put_text(struct bz_text *out, const char *text) {
    static const struct bz_escapes escapes = {"#;<>&\"'`:%\\{}[]|@$*_~", "#", "", " "};
    bz_text_put_escaped(out, text, &escapes);
}

struct diagram {
    const struct bz_view *view;
    bool is_cause_only;
    size_t first;   /* earlier lines are left out */
    bool *has_lane; /* by task */
};

static bool is_shown(const struct diagram *diagram, size_t index) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    return index >= diagram->first && (line->is_cause || !diagram->is_cause_only);
}

/* The line that an arrow of the diagram comes from. */
static const struct bz_arrow *arrow_of(const struct diagram *diagram, size_t index) {
    const struct bz_story *story = diagram->view->story;
    const struct bz_arrow *arrow = bz_show_arrow(
        story, (uint32_t)index, 1u << BZ_ARROW_WAKE | 1u << BZ_ARROW_CANCEL | 1u << BZ_ARROW_SPAWN);
    return arrow != NULL && story->lines[arrow->from].task != story->lines[index].task ? arrow
                                                                                       : NULL;
}

static void put_participants(struct diagram *diagram, struct bz_text *out) {
    const struct bz_story *story = diagram->view->story;
    size_t tasks = diagram->view->trace->task_count;
    memset(diagram->has_lane, 0, tasks + 1);
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_arrow *arrow = is_shown(diagram, index) ? arrow_of(diagram, index) : NULL;
        if (is_shown(diagram, index)) {
            diagram->has_lane[story->lines[index].task] = true;
        }
        if (arrow != NULL) {
            diagram->has_lane[story->lines[arrow->from].task] = true;
        }
    }
    for (uint32_t task = 0; task <= tasks; task++) {
        if (diagram->has_lane[task]) {
            bz_text_add(out, "    participant t%" PRIu32 " as ", task);
            put_text(out, bz_trace_task_name(diagram->view->trace, task, "loop"));
            bz_text_put(out, "\n");
        }
    }
}

static void put_arrow_line(const struct diagram *diagram, struct bz_text *out, size_t index,
                           const struct bz_arrow *arrow) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    bz_text_add(out, "    t%" PRIu32 "%st%" PRIu32 ": %" PRIu64 " ",
                diagram->view->story->lines[arrow->from].task,
                arrow->kind == BZ_ARROW_CANCEL ? "-x"
                : arrow->kind == BZ_ARROW_WAKE ? "-)"
                                               : "-->>",
                line->task, line->step);
    put_text(out, line->text);
    bz_text_put(out, "\n");
}

static bool is_note(const struct diagram *diagram, size_t index) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    return !line->is_violation && line->window == NULL && arrow_of(diagram, index) == NULL;
}

/* A note of the lines of one task in one step. Returns the last of them. */
static size_t put_note(const struct diagram *diagram, struct bz_text *out, size_t index) {
    const struct bz_story *story = diagram->view->story;
    const struct bz_story_line *line = &story->lines[index];
    bz_text_add(out, "    Note over t%" PRIu32 ": %" PRIu64 " ", line->task, line->step);
    put_text(out, line->text);
    while (index + 1 < story->line_count && story->lines[index + 1].task == line->task &&
           story->lines[index + 1].step == line->step && is_shown(diagram, index + 1) &&
           is_note(diagram, index) && is_note(diagram, index + 1)) {
        index++;
        bz_text_put(out, "<br/>");
        put_text(out, story->lines[index].text);
    }
    bz_text_put(out, "\n");
    return index;
}

/* Returns the last line that was put. */
static size_t put_line(const struct diagram *diagram, struct bz_text *out, size_t index) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    const struct bz_arrow *arrow = arrow_of(diagram, index);
    if (arrow == NULL || line->is_violation) {
        index = put_note(diagram, out, index);
    } else {
        put_arrow_line(diagram, out, index, arrow);
    }
    if (line->window != NULL) {
        bz_text_add(out, "    Note right of t%" PRIu32 ": window ", line->task);
        put_text(out, line->window);
        bz_text_put(out, line->is_injected ? ", injected\n" : "\n");
    }
    return index;
}

static void put_violation(const struct diagram *diagram, struct bz_text *out, size_t index) {
    const struct bz_trace_verdict *verdict = &diagram->view->trace->verdict;
    bz_text_put(out, "    rect rgba(220, 38, 38, 0.25)\n    ");
    put_line(diagram, out, index);
    if (verdict->message != NULL) {
        bz_text_add(out, "        Note over t%" PRIu32 ": ",
                    diagram->view->story->lines[index].task);
        put_text(out, verdict->message);
        bz_text_put(out, "\n");
    }
    bz_text_put(out, "    end\n");
}

static size_t put_diagram(struct diagram *diagram, struct bz_text *out) {
    const struct bz_story *story = diagram->view->story;
    const struct bz_trace *trace = diagram->view->trace;
    size_t left_out = 0;
    uint64_t time_ns = 0;
    bz_text_put(out, "sequenceDiagram\n");
    bz_text_put(out, "    accTitle: ");
    put_text(out, trace->scenario);
    bz_text_put(out, ", variant ");
    put_text(out, trace->variant);
    bz_text_add(out, ", seed 0x%" PRIx64 "\n", trace->seed);
    put_participants(diagram, out);
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        left_out += !is_shown(diagram, index);
        if (!is_shown(diagram, index)) {
            continue;
        }
        if (line->time_ns != time_ns) {
            bz_text_add(out, "    Note left of t%" PRIu32 ": clock %s\n", line->task,
                        bz_cli_time_text(line->time_ns));
            time_ns = line->time_ns;
        }
        if (line->is_violation) {
            put_violation(diagram, out, index);
        } else {
            index = put_line(diagram, out, index);
        }
    }
    if (left_out > 0) {
        bz_text_add(out, "    %%%% %zu of %zu lines are left out%s\n", left_out, story->line_count,
                    diagram->is_cause_only ? ": the violation does not depend on them, or "
                                             "they are too many"
                                           : "");
    }
    return out->length;
}

void bz_show_mermaid(const struct bz_view *view, struct bz_text *out) {
    struct diagram diagram = {.view = view};
    diagram.has_lane = bz_lack_new(view->trace->task_count + 1, 1, "a picture");
    size_t length = put_diagram(&diagram, out);
    for (unsigned attempt = 0; length > BYTES_MAX && attempt < 40; attempt++) {
        /* Then the causes alone; then half of the lines that are left, again and again. */
        if (diagram.is_cause_only) {
            diagram.first += (view->story->line_count - diagram.first + 1) / 2;
        }
        diagram.is_cause_only = true;
        out->length = 0;
        length = put_diagram(&diagram, out);
    }
    free(diagram.has_lane);
}
