/* Graphviz: the lines of the story as nodes, the tasks as columns, and what follows from what as
 * edges. `dot -Tsvg` draws it.
 *
 * Of a long run, only the lines that the violation depends on are drawn: dot needs minutes for
 * thousands of nodes, and nobody could read them. The label says so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/show/show.h"
#include "traces/lack.h"

#define LINES_MAX 400u
#define LABEL_COLUMNS 26u

/* The inside of a string in quotes. A label has escapes of its own (\n, \N): no backslash stays. */
static void put_text(struct bz_paper *paper, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            bz_paper_put(paper, "\\");
        }
        if (*text == '&') {
            bz_paper_put(paper, "&amp;"); /* or it begins an entity */
        } else {
            bz_paper_add(paper, text, 1);
        }
    }
}

/* The same, wrapped between words. */
static void put_wrapped(struct bz_paper *paper, const char *text) {
    char word[2 * BZ_STORY_TEXT_BYTES];
    size_t column = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        size_t kept = length < sizeof word - 1 ? length : sizeof word - 1;
        memcpy(word, text, kept);
        word[kept] = '\0';
        if (column > 0) {
            bool is_full = column + 1 + length > LABEL_COLUMNS;
            bz_paper_put(paper, is_full ? "\\n" : " ");
            column = is_full ? 0 : column + 1;
        }
        put_text(paper, word);
        column += length;
        text += kept;
        text += *text == ' ';
    }
}

static bool is_shown(const struct bz_view *view, const struct bz_story_line *line) {
    return line->is_cause || view->story->line_count <= LINES_MAX;
}

static void put_node(const struct bz_view *view, struct bz_paper *paper, size_t index) {
    const struct bz_story_line *line = &view->story->lines[index];
    bool is_emphasised = line->is_cause && view->trace->verdict.oracle != NULL;
    bz_paper_printf(paper, "    n%zu [label=\"%" PRIu64, index, line->step);
    if (line->time_ns > 0) {
        bz_paper_printf(paper, " (%s)", bz_cli_time_text(line->time_ns));
    }
    bz_paper_put(paper, "\\n");
    put_wrapped(paper, line->text);
    bz_paper_put(paper, "\"");
    if (line->is_violation) {
        bz_paper_put(paper, ", color=\"#b91c1c\", fillcolor=\"#fecaca\", penwidth=3");
    } else if (line->window != NULL) {
        bz_paper_put(paper, ", color=\"#b45309\", fillcolor=\"#fef3c7\", penwidth=2");
    } else if (is_emphasised) {
        bz_paper_put(paper, ", color=\"#1e3a8a\", fillcolor=\"#dbeafe\", penwidth=2");
    }
    bz_paper_put(paper, "];\n");
}

/* The nodes of each task, in a column of their own: the lines are sorted by task. */
static void put_tasks(const struct bz_view *view, struct bz_paper *paper) {
    const struct bz_story *story = view->story;
    size_t tasks = view->trace->task_count + 1;
    size_t *ends = bz_lack_check(calloc(tasks + 1, sizeof *ends), "a picture");
    size_t *sorted = bz_lack_check(calloc(story->line_count + 1, sizeof *sorted), "a picture");
    for (size_t index = 0; index < story->line_count; index++) {
        ends[story->lines[index].task + 1] += is_shown(view, &story->lines[index]);
    }
    for (size_t task = 0; task < tasks; task++) {
        ends[task + 1] += ends[task];
    }
    for (size_t index = 0; index < story->line_count; index++) {
        if (is_shown(view, &story->lines[index])) {
            sorted[ends[story->lines[index].task]++] = index;
        }
    }
    size_t at = 0;
    for (uint32_t task = 0; task < tasks; task++) {
        if (at == ends[task]) {
            continue;
        }
        bz_paper_printf(paper, "  subgraph cluster_%" PRIu32 " {\n    label=\"", task);
        put_text(paper, bz_show_task(view->trace, task));
        bz_paper_put(paper, "\";\n");
        for (; at < ends[task]; at++) {
            put_node(view, paper, sorted[at]);
        }
        bz_paper_put(paper, "  }\n");
    }
    free(sorted);
    free(ends);
}

static void put_edge(const struct bz_view *view, struct bz_paper *paper, size_t from, size_t to,
                     const char *attributes) {
    const struct bz_story_line *lines = view->story->lines;
    bool is_emphasised =
        view->trace->verdict.oracle != NULL && lines[from].is_cause && lines[to].is_cause;
    bz_paper_printf(paper, "  n%zu -> n%zu [%s%s];\n", from, to, attributes,
                    is_emphasised ? ", penwidth=2" : "");
}

static void put_arrows(const struct bz_view *view, struct bz_paper *paper) {
    static const char *const attributes[BZ_ARROW_KIND_COUNT] = {
        [BZ_ARROW_SPAWN] = "style=dotted",
        [BZ_ARROW_WAKE] = "color=\"#15803d\", fontcolor=\"#15803d\", label=\"wakes\"",
        [BZ_ARROW_CANCEL] =
            "color=\"#b91c1c\", fontcolor=\"#b91c1c\", label=\"cancels\", style=dashed",
        [BZ_ARROW_TAKES] = "color=\"#1d4ed8\"",
        [BZ_ARROW_BLOCKS] = "color=\"#b45309\", fontcolor=\"#b45309\", label=\"blocks\", "
                            "style=dotted",
        [BZ_ARROW_QUEUE] = "color=\"#6b7280\", fontcolor=\"#6b7280\", label=\"behind\", "
                           "style=dotted",
    };
    const struct bz_story *story = view->story;
    for (size_t index = 0; index < story->line_count; index++) {
        uint32_t before = story->lines[index].before;
        /* Of the lines that are shown, the next one before it. */
        while (before != BZ_STORY_NONE && !is_shown(view, &story->lines[before])) {
            before = story->lines[before].before;
        }
        if (is_shown(view, &story->lines[index]) && before != BZ_STORY_NONE) {
            put_edge(view, paper, before, index, "weight=8");
        }
    }
    for (size_t index = 0; index < story->arrow_count; index++) {
        const struct bz_arrow *arrow = &story->arrows[index];
        if (is_shown(view, &story->lines[arrow->from]) &&
            is_shown(view, &story->lines[arrow->to])) {
            put_edge(view, paper, arrow->from, arrow->to, attributes[arrow->kind]);
        }
    }
}

void bz_show_dot(const struct bz_view *view, struct bz_paper *paper) {
    const struct bz_trace *trace = view->trace;
    size_t shown = 0;
    for (size_t index = 0; index < view->story->line_count; index++) {
        shown += is_shown(view, &view->story->lines[index]);
    }
    bz_paper_put(paper, "digraph run {\n  label=\"");
    put_text(paper, trace->scenario);
    bz_paper_put(paper, ", variant ");
    put_text(paper, trace->variant);
    bz_paper_printf(paper, ", seed 0x%" PRIx64 ": ", trace->seed);
    put_text(paper, bz_show_verdict(trace));
    if (shown < view->story->line_count) {
        bz_paper_printf(paper, "\\n%zu of %zu lines: those that the violation depends on", shown,
                        view->story->line_count);
    }
    bz_paper_put(paper,
                 "\";\n"
                 "  labelloc=t;\n"
                 "  fontname=\"Helvetica,Arial,sans-serif\";\n"
                 "  color=\"#d1d5db\";\n"
                 "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f9fafb\", "
                 "color=\"#9ca3af\", fontname=\"Helvetica,Arial,sans-serif\", fontsize=11];\n"
                 "  edge [color=\"#9ca3af\", fontname=\"Helvetica,Arial,sans-serif\", "
                 "fontsize=9];\n");
    put_tasks(view, paper);
    put_arrows(view, paper);
    bz_paper_put(paper, "}\n");
}
