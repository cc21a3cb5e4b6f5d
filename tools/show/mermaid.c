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
static void put_text(struct bz_paper *paper, const char *text) {
    bz_paper_escape(paper, text, "#;<>&\"'`:%\\{}[]|@$*_~", "#", ";");
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

static void put_participants(struct diagram *diagram, struct bz_paper *paper) {
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
            bz_paper_printf(paper, "    participant t%" PRIu32 " as ", task);
            put_text(paper, bz_show_task(diagram->view->trace, task));
            bz_paper_put(paper, "\n");
        }
    }
}

static void put_arrow_line(const struct diagram *diagram, struct bz_paper *paper, size_t index,
                           const struct bz_arrow *arrow) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    bz_paper_printf(paper, "    t%" PRIu32 "%st%" PRIu32 ": %" PRIu64 " ",
                    diagram->view->story->lines[arrow->from].task,
                    arrow->kind == BZ_ARROW_CANCEL ? "-x"
                    : arrow->kind == BZ_ARROW_WAKE ? "-)"
                                                   : "-->>",
                    line->task, line->step);
    put_text(paper, line->text);
    bz_paper_put(paper, "\n");
}

static bool is_note(const struct diagram *diagram, size_t index) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    return !line->is_violation && line->window == NULL && arrow_of(diagram, index) == NULL;
}

/* A note of the lines of one task in one step. Returns the last one. */
static size_t put_note(const struct diagram *diagram, struct bz_paper *paper, size_t index) {
    const struct bz_story *story = diagram->view->story;
    const struct bz_story_line *line = &story->lines[index];
    bz_paper_printf(paper, "    Note over t%" PRIu32 ": %" PRIu64 " ", line->task, line->step);
    put_text(paper, line->text);
    while (index + 1 < story->line_count && story->lines[index + 1].task == line->task &&
           story->lines[index + 1].step == line->step && is_shown(diagram, index + 1) &&
           is_note(diagram, index) && is_note(diagram, index + 1)) {
        index++;
        bz_paper_put(paper, "<br/>");
        put_text(paper, story->lines[index].text);
    }
    bz_paper_put(paper, "\n");
    return index;
}

/* Returns the last line that was put. */
static size_t put_line(const struct diagram *diagram, struct bz_paper *paper, size_t index) {
    const struct bz_story_line *line = &diagram->view->story->lines[index];
    const struct bz_arrow *arrow = arrow_of(diagram, index);
    if (arrow == NULL || line->is_violation) {
        index = put_note(diagram, paper, index);
    } else {
        put_arrow_line(diagram, paper, index, arrow);
    }
    if (line->window != NULL) {
        bz_paper_printf(paper, "    Note right of t%" PRIu32 ": window ", line->task);
        put_text(paper, line->window);
        bz_paper_put(paper, line->is_injected ? ", injected\n" : "\n");
    }
    return index;
}

static void put_violation(const struct diagram *diagram, struct bz_paper *paper, size_t index) {
    const struct bz_trace_verdict *verdict = &diagram->view->trace->verdict;
    bz_paper_put(paper, "    rect rgba(220, 38, 38, 0.25)\n    ");
    put_line(diagram, paper, index);
    if (verdict->message != NULL) {
        bz_paper_printf(paper, "        Note over t%" PRIu32 ": ",
                        diagram->view->story->lines[index].task);
        put_text(paper, verdict->message);
        bz_paper_put(paper, "\n");
    }
    bz_paper_put(paper, "    end\n");
}

static size_t put_diagram(struct diagram *diagram, struct bz_paper *paper) {
    const struct bz_story *story = diagram->view->story;
    const struct bz_trace *trace = diagram->view->trace;
    size_t left_out = 0;
    uint64_t time_ns = 0;
    bz_paper_put(paper, "sequenceDiagram\n");
    bz_paper_put(paper, "    accTitle: ");
    put_text(paper, trace->scenario);
    bz_paper_put(paper, ", variant ");
    put_text(paper, trace->variant);
    bz_paper_printf(paper, ", seed 0x%" PRIx64 "\n", trace->seed);
    put_participants(diagram, paper);
    for (size_t index = 0; index < story->line_count; index++) {
        const struct bz_story_line *line = &story->lines[index];
        left_out += !is_shown(diagram, index);
        if (!is_shown(diagram, index)) {
            continue;
        }
        if (line->time_ns != time_ns) {
            bz_paper_printf(paper, "    Note left of t%" PRIu32 ": clock %s\n", line->task,
                            bz_cli_time_text(line->time_ns));
            time_ns = line->time_ns;
        }
        if (line->is_violation) {
            put_violation(diagram, paper, index);
        } else {
            index = put_line(diagram, paper, index);
        }
    }
    if (left_out > 0) {
        bz_paper_printf(paper, "    %%%% %zu of %zu lines are left out%s\n", left_out,
                        story->line_count,
                        diagram->is_cause_only ? ": the violation does not depend on them, or "
                                                 "they are too many"
                                               : "");
    }
    return paper->length;
}

void bz_show_mermaid(const struct bz_view *view, struct bz_paper *paper) {
    struct diagram diagram = {.view = view};
    diagram.has_lane = bz_lack_check(calloc(view->trace->task_count + 1, 1), "a picture");
    size_t length = put_diagram(&diagram, paper);
    for (unsigned attempt = 0; length > BYTES_MAX && attempt < 40; attempt++) {
        /* Then the causes alone; then half of the lines that are left, again and again. */
        if (diagram.is_cause_only) {
            diagram.first += (view->story->line_count - diagram.first + 1) / 2;
        }
        diagram.is_cause_only = true;
        paper->length = 0;
        length = put_diagram(&diagram, paper);
    }
    free(diagram.has_lane);
}
