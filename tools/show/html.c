/* A page in one file: page.html with its style and its script, and the run as JSON.
 *
 * The page asks for nothing: its content security policy refuses every request, and every script
 * but its own. The JSON has no `<`, so no name of a trace can end its element.
 *
 * Rows of numbers are flat arrays, and every text is there once: a run of 10,000 steps takes well
 * under 3 MiB.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "tools/cli/embedded.h"
#include "tools/show/permit_owners.h"
#include "tools/show/show.h"
#include "traces/lack.h"

#define MARK "BUZZER_RUN"

/* The texts of the page, each once. Slots have a number + 1; 0: free. */
struct texts {
    const char **texts;
    uint32_t count;
    uint32_t *slots;
    uint32_t mask;
};

struct page {
    const struct bz_view *view;
    struct bz_paper *paper;
    struct texts texts;
    struct bz_holds holds;
    bool is_first; /* of an array */
};

/* --- texts ------------------------------------------------------------------------------------ */

/* `most` texts at most; any may be new. */
static void texts_init(struct texts *texts, size_t most) {
    uint32_t slots = 64;
    while (slots < 2 * most) {
        slots *= 2;
    }
    *texts = (struct texts){.mask = slots - 1};
    texts->slots = bz_lack_check(calloc(slots, sizeof *texts->slots), "a picture");
    texts->texts = bz_lack_check(calloc(most + 1, sizeof *texts->texts), "a picture");
}

static void texts_fini(struct texts *texts) {
    free(texts->slots);
    free(texts->texts);
}

/* The number of a text; -1 for NULL. */
static int64_t number_of(struct texts *texts, const char *text) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (text == NULL) {
        return -1;
    }
    for (const char *byte = text; *byte != '\0'; byte++) {
        hash = (hash ^ (unsigned char)*byte) * UINT64_C(0x100000001b3);
    }
    uint32_t slot = (uint32_t)(hash >> 20u) & texts->mask;
    while (texts->slots[slot] != 0) {
        if (strcmp(texts->texts[texts->slots[slot] - 1], text) == 0) {
            return texts->slots[slot] - 1;
        }
        slot = (slot + 1) & texts->mask;
    }
    texts->texts[texts->count++] = text;
    texts->slots[slot] = texts->count;
    return texts->count - 1;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void begin_array(struct page *page, const char *key) {
    bz_paper_printf(page->paper, ",\n\"%s\":[", key);
    page->is_first = true;
}

static void put_number(struct page *page, int64_t number) {
    bz_paper_printf(page->paper, page->is_first ? "%" PRId64 : ",%" PRId64, number);
    page->is_first = false;
}

static void put_member(struct page *page, const char *key, const char *value) {
    bz_paper_printf(page->paper, ",\n\"%s\":", key);
    bz_paper_json(page->paper, value);
}

static void put_lines(struct page *page) {
    begin_array(page, "lines");
    for (size_t index = 0; index < page->view->story->line_count; index++) {
        const struct bz_story_line *line = &page->view->story->lines[index];
        put_number(page, (int64_t)line->step);
        put_number(page, (int64_t)line->time_ns);
        put_number(page, line->task);
        put_number(page, number_of(&page->texts, line->text));
        put_number(page, number_of(&page->texts, line->window));
        put_number(page, (line->is_cause ? 1 : 0) + (line->is_violation ? 2 : 0) +
                             (line->is_injected ? 4 : 0));
    }
    bz_paper_put(page->paper, "]");
}

static void put_spans(struct page *page) {
    begin_array(page, "spans");
    for (size_t index = 0; index < page->view->story->span_count; index++) {
        const struct bz_span *span = &page->view->story->spans[index];
        put_number(page, span->task);
        put_number(page, (int64_t)span->step);
        put_number(page, (int64_t)span->end);
        put_number(page, span->kind);
        put_number(page, number_of(&page->texts, span->object));
        put_number(page, span->is_holding);
    }
    bz_paper_put(page->paper, "]");
}

static void put_arrows(struct page *page) {
    begin_array(page, "arrows");
    for (size_t index = 0; index < page->view->story->arrow_count; index++) {
        const struct bz_arrow *arrow = &page->view->story->arrows[index];
        put_number(page, arrow->from);
        put_number(page, arrow->to);
        put_number(page, arrow->kind);
    }
    bz_paper_put(page->paper, "]");
}

static void put_holds(struct page *page, uint64_t last) {
    begin_array(page, "holds");
    for (size_t index = 0; index < page->holds.count; index++) {
        const struct bz_hold *hold = &page->holds.holds[index];
        put_number(page, hold->task);
        put_number(page, number_of(&page->texts, hold->object));
        put_number(page, (int64_t)hold->step);
        put_number(page, (int64_t)(hold->end == UINT64_MAX ? last + 1 : hold->end));
    }
    bz_paper_put(page->paper, "]");
    begin_array(page, "finals");
    for (size_t index = 0; index < page->holds.pending_count; index++) {
        put_number(page, page->holds.pending[index].task);
        put_number(page, number_of(&page->texts, page->holds.pending[index].object));
    }
    bz_paper_put(page->paper, "]");
}

/* Objects of operations, in the order in which they are first used. */
static void put_objects(struct page *page) {
    const struct bz_trace *trace = page->view->trace;
    uint8_t *is_listed = bz_lack_check(calloc(page->texts.mask + 1, 1), "a picture");
    begin_array(page, "objects");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        int64_t number = event->op != NULL ? number_of(&page->texts, event->object) : -1;
        if (number >= 0 && !is_listed[number]) {
            is_listed[number] = 1;
            put_number(page, number);
        }
    }
    bz_paper_put(page->paper, "]");
    bz_paper_printf(page->paper, ",\n\"object\":%" PRId64,
                    number_of(&page->texts, trace->verdict.object));
    free(is_listed);
}

static void put_curve(struct page *page) {
    begin_array(page, "curve");
    for (size_t index = 0; index < page->view->curve_count; index++) {
        const struct bz_curve_point *point = &page->view->curve[index];
        bz_paper_printf(page->paper, "%s[%" PRIu64 ",%" PRIu32 ",%" PRIu32 "]",
                        index > 0 ? "," : "", point->step, point->failed, point->runs);
    }
    bz_paper_put(page->paper, "]");
}

static void put_strings(struct page *page, const char *key, const char *const *strings,
                        size_t count, const char *first) {
    begin_array(page, key);
    if (first != NULL) {
        bz_paper_json(page->paper, first);
    }
    for (size_t index = 0; index < count; index++) {
        bz_paper_put(page->paper, index > 0 || first != NULL ? "," : "");
        bz_paper_json(page->paper, strings[index]);
    }
    bz_paper_put(page->paper, "]");
}

static void put_run(struct page *page) {
    const struct bz_trace *trace = page->view->trace;
    const struct bz_story *story = page->view->story;
    uint64_t last = trace->verdict.step;
    for (size_t index = 0; index < story->line_count; index++) {
        last = story->lines[index].step > last ? story->lines[index].step : last;
    }
    bz_paper_printf(page->paper,
                    "{\"last\":%" PRIu64 ",\"injected\":%" PRIu32 ",\"own\":%" PRIu32
                    ",\"seed\":\"0x%" PRIx64 "\"",
                    last, story->injected, story->own_cancels, trace->seed);
    put_member(page, "scenario", trace->scenario);
    put_member(page, "variant", trace->variant);
    put_member(page, "order", trace->order);
    put_member(page, "verdict", bz_show_verdict(trace));
    put_member(page, "oracle", trace->verdict.oracle);
    put_member(page, "message", trace->verdict.message);
    put_member(page, "token", page->view->token);
    put_strings(page, "tasks", trace->tasks, trace->task_count, "loop");
    put_lines(page);
    put_spans(page);
    put_arrows(page);
    put_holds(page, last);
    put_objects(page);
    put_curve(page);
    put_strings(page, "strings", page->texts.texts, page->texts.count, NULL);
    bz_paper_put(page->paper, "}");
}

void bz_show_html(const struct bz_view *view, struct bz_paper *paper) {
    const char *template = bz_embedded_text(bz_show_templates, "page.html");
    const char *mark = template != NULL ? strstr(template, MARK) : NULL;
    struct page page = {.view = view, .paper = paper};
    BZ_CHECK(mark != NULL);
    /* Each line has a text, a window and an object; each event has an object. */
    texts_init(&page.texts, 2 * view->story->line_count + view->trace->event_count + 1);
    bz_holds_init(&page.holds, view->trace);
    bz_paper_add(paper, template, (size_t)(mark - template));
    put_run(&page);
    bz_paper_put(paper, mark + strlen(MARK));
    bz_holds_fini(&page.holds);
    texts_fini(&page.texts);
}
