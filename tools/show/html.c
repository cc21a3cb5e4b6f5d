/* A page in one file: page.html with its style and its script, and the run as JSON.
 *
 * The page asks for nothing: its content security policy refuses every request, and every script
 * but its own. The JSON has no `<`, so no name of a trace can end its element.
 *
 * Rows of numbers are flat arrays, and every text is there once: a run of 10,000 steps takes well
 * under 3 MiB.
 */
#include <inttypes.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "tools/cli/embedded.h"
#include "tools/show/show.h"

#define MARK "BUZZER_RUN"

struct page {
    const struct bz_view *view;
    struct bz_text *out;
    struct bz_trace texts; /* each once, as the names of tasks: a trace finds names by a hash */
    uint64_t last;         /* step */
    bool is_first;         /* of an array */
};

/* The number of a text, from 0 on. */
static uint32_t number_of(struct page *page, const char *text) {
    if (bz_trace_find_task(&page->texts, text) == 0) {
        bz_trace_add_task(&page->texts, text);
    }
    return bz_trace_find_task(&page->texts, text) - 1;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void begin_array(struct page *page, const char *key) {
    bz_text_add(page->out, ",\n\"%s\":[", key);
    page->is_first = true;
}

/* Some numbers more of an array. */
static void put_row(struct page *page, size_t count, const uint64_t *numbers) {
    for (size_t index = 0; index < count; index++) {
        bz_text_add(page->out, page->is_first ? "%" PRIu64 : ",%" PRIu64, numbers[index]);
        page->is_first = false;
    }
}

static void put_member(struct page *page, const char *key, const char *value) {
    bz_text_add(page->out, ",\n\"%s\":", key);
    bz_text_put_json(page->out, value);
}

static void put_lines(struct page *page) {
    begin_array(page, "lines");
    for (size_t index = 0; index < page->view->story->line_count; index++) {
        const struct bz_story_line *line = &page->view->story->lines[index];
        uint64_t flags = (line->is_cause ? 1u : 0u) + (line->is_violation ? 2u : 0u);
        put_row(page, 5,
                (uint64_t[]){line->step, line->time_ns, line->task, number_of(page, line->text),
                             flags});
    }
    bz_text_put(page->out, "]");
}

static void put_spans(struct page *page) {
    const struct bz_ledger *ledger = &page->view->story->ledger;
    begin_array(page, "spans");
    for (size_t index = 0; index < ledger->span_count; index++) {
        const struct bz_span *span = &ledger->spans[index];
        put_row(page, 5, (uint64_t[]){span->task, span->step, span->end, span->kind, span->object});
    }
    bz_text_put(page->out, "]");
}

static void put_arrows(struct page *page) {
    begin_array(page, "arrows");
    for (size_t index = 0; index < page->view->story->arrow_count; index++) {
        const struct bz_arrow *arrow = &page->view->story->arrows[index];
        put_row(page, 3, (uint64_t[]){arrow->from, arrow->to, arrow->kind});
    }
    bz_text_put(page->out, "]");
}

static uint64_t end_in_run(const struct page *page, uint64_t end) {
    return end < page->last + 1 ? end : page->last + 1;
}

/* Owners and waiters of each object, after each step. */
static void put_queues(struct page *page) {
    const struct bz_ledger *ledger = &page->view->story->ledger;
    begin_array(page, "holds");
    for (size_t number = 1; number < ledger->hold_count; number++) {
        const struct bz_hold *hold = &ledger->holds[number];
        put_row(page, 4,
                (uint64_t[]){hold->task, hold->object, hold->step, end_in_run(page, hold->end)});
    }
    bz_text_put(page->out, "]");
    begin_array(page, "places");
    for (size_t index = 0; index < ledger->place_count; index++) {
        const struct bz_place *place = &ledger->places[index];
        put_row(page, 7,
                (uint64_t[]){place->task, place->object, place->step, end_in_run(page, place->end),
                             place->kind, place->since, place->was_woken});
    }
    bz_text_put(page->out, "]");
}

static void put_objects(struct page *page) {
    const struct bz_trace *trace = page->view->trace;
    begin_array(page, "objects");
    for (size_t index = 0; index < trace->object_count; index++) {
        bz_text_put(page->out, index > 0 ? "," : "");
        bz_text_put_json(page->out, trace->objects[index].name);
    }
    bz_text_put(page->out, "]");
    bz_text_add(page->out, ",\n\"object\":%" PRIu32,
                bz_trace_find_object(trace, trace->verdict.object));
}

static void put_strings(struct page *page, const char *key, const char *const *strings,
                        size_t count, const char *first) {
    begin_array(page, key);
    if (first != NULL) {
        bz_text_put_json(page->out, first);
    }
    for (size_t index = 0; index < count; index++) {
        bz_text_put(page->out, index > 0 || first != NULL ? "," : "");
        bz_text_put_json(page->out, strings[index]);
    }
    bz_text_put(page->out, "]");
}

static void put_run(struct page *page) {
    const struct bz_trace *trace = page->view->trace;
    const struct bz_story *story = page->view->story;
    page->last = trace->verdict.step;
    for (size_t index = 0; index < story->line_count; index++) {
        page->last = story->lines[index].step > page->last ? story->lines[index].step : page->last;
    }
    bz_text_add(page->out,
                "{\"last\":%" PRIu64 ",\"injected\":%" PRIu32 ",\"own\":%" PRIu32
                ",\"seed\":\"0x%" PRIx64 "\"",
                page->last, story->injected, story->own_cancels, trace->seed);
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
    put_queues(page);
    put_objects(page);
    put_strings(page, "strings", page->texts.tasks, page->texts.task_count, NULL);
    bz_text_put(page->out, "}");
}

void bz_show_html(const struct bz_view *view, struct bz_text *out) {
    const char *template = bz_embedded_text(bz_show_templates, "page.html");
    const char *mark = template != NULL ? strstr(template, MARK) : NULL;
    struct page page = {.view = view, .out = out};
    BZ_CHECK(mark != NULL);
    bz_trace_init(&page.texts);
    bz_text_put_bytes(out, template, (size_t)(mark - template));
    put_run(&page);
    bz_text_put(out, mark + strlen(MARK));
    bz_trace_fini(&page.texts);
}
