#include "tools/merge_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/judge/record.h"
#include "tools/embedded.h"

#define MARK "<!--BUZZER_REPORT-->"
#define HEATS 4u
#define SPARK_WIDTH 96u
#define SPARK_HEIGHT 24u

/* --- reading documents ------------------------------------------------------------------------ */

static uint64_t number_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = object == NULL ? NULL : bz_json_get(object, key);
    uint64_t number = 0;
    (void)(member != NULL && bz_json_number(member, &number));
    return number;
}

static const char *text_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = object == NULL ? NULL : bz_json_get(object, key);
    const char *text = member == NULL ? NULL : bz_json_string(member);
    return text == NULL ? "" : text;
}

static const struct bz_json *first_of(const struct bz_json *object, const char *key) {
    const struct bz_json *member = object == NULL ? NULL : bz_json_get(object, key);
    return member == NULL ? NULL : bz_json_first(member);
}

static uint64_t length_of(const struct bz_json *object, const char *key) {
    uint64_t length = 0;
    for (const struct bz_json *item = first_of(object, key); item != NULL;
         item = bz_json_next(item)) {
        length++;
    }
    return length;
}

const char *bz_merge_document_fault(const struct bz_json *json, const struct bz_json *like) {
    static const char *const keys[] = {"scenario", "variant", "strategy", "order"};
    static const char *const faults[] = {"has another scenario", "has another variant",
                                         "has another strategy", "has another order"};
    if (!bz_json_is_object(json) || bz_json_get(json, "shards") == NULL ||
        bz_json_get(json, "violations") == NULL || bz_json_get(json, "handoff_orders") == NULL) {
        return "is not a report of 'merge' (report.json)";
    }
    for (size_t index = 0; index < sizeof keys / sizeof keys[0]; index++) {
        if (strcmp(text_of(json, keys[index]), text_of(like, keys[index])) != 0) {
            return faults[index];
        }
    }
    return NULL;
}

/* --- writing HTML ----------------------------------------------------------------------------- */

static void put(struct bz_text *page, const char *html) {
    bz_text_add(page, "%s", html);
}

static void put_text(struct bz_text *page, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            put(page, "&amp;");
            break;
        case '<':
            put(page, "&lt;");
            break;
        case '>':
            put(page, "&gt;");
            break;
        case '"':
            put(page, "&quot;");
            break;
        default:
            bz_text_add(page, "%c", *text);
        }
    }
}

/* With a thin space between groups of three digits. */
static void put_number(struct bz_text *page, uint64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (int index = 0; index < length; index++) {
        bz_text_add(page, "%s%c", index > 0 && (length - index) % 3 == 0 ? "&#8239;" : "",
                    digits[index]);
    }
}

/* `is_exact` NULL: it is no estimate. */
static void put_fact(struct bz_text *page, const char *label, uint64_t number,
                     const struct bz_json *is_exact) {
    bool is_estimate = is_exact != NULL && !bz_json_is_true(is_exact);
    bz_text_add(page, "<div><dt>%s</dt><dd>%s", label, is_estimate ? "about " : "");
    put_number(page, number);
    put(page, "</dd></div>\n");
}

static void put_ppm(struct bz_text *page, uint64_t ppm) {
    bz_text_add(page, "%" PRIu64 ".%03" PRIu64 " %%", ppm / 10000, ppm % 10000 / 10);
}

/* --- the parts of the page -------------------------------------------------------------------- */

static void add_head(struct bz_text *page, const struct bz_json *report) {
    const char *separator = "";
    put(page, "<header><h1>");
    put_text(page, text_of(report, "scenario"));
    put(page, ", variant ");
    put_text(page, text_of(report, "variant"));
    put(page, "</h1>\n<p class=\"settings\">");
    for (const struct bz_json *item = first_of(report, "settings"); item != NULL;
         item = bz_json_next(item)) {
        put(page, separator);
        put_text(page, bz_json_key(item));
        put(page, "=");
        put_text(page, bz_json_string(item) == NULL ? "" : bz_json_string(item));
        separator = " ";
    }
    put(page, "</p>\n<p class=\"settings\">strategy ");
    put_text(page, text_of(report, "strategy"));
    put(page, ", sizes ");
    put_text(page, text_of(report, "sizes"));
    put(page, ", first seed ");
    put_text(page, text_of(report, "seed_first"));
    put(page, ", digest <code>");
    put_text(page, text_of(report, "digest"));
    put(page, "</code></p></header>\n");
}

static void add_verdict(struct bz_text *page, const struct bz_json *report) {
    const struct bz_json *shards = bz_json_get(report, "shards");
    uint64_t missing = number_of(shards, "count") - number_of(shards, "complete");
    uint64_t failed = number_of(report, "violations_total");
    uint64_t code = number_of(report, "exit_code");
    bz_text_add(page, "<p class=\"verdict %s\">",
                failed > 0  ? "bad"
                : code != 0 ? "unsure"
                            : "good");
    if (failed > 0) {
        put_number(page, failed);
        put(page, " of ");
        put_number(page, number_of(report, "runs"));
        put(page, " runs violated");
    } else {
        put(page, "no violation found");
    }
    if (missing > 0) {
        bz_text_add(page, "; incomplete: %" PRIu64 " of %" PRIu64 " shards missing", missing,
                    number_of(shards, "count"));
    } else if (number_of(report, "out_of_steps") > 0) {
        bz_text_add(page, "; %" PRIu64 " runs hit the step limit",
                    number_of(report, "out_of_steps"));
    } else if (code == 4) {
        put(page, "; nothing proved: a required window was never hit, or see the warnings");
    }
    put(page, "</p>\n");
}

static void add_facts(struct bz_text *page, const struct bz_json *report) {
    const struct bz_json *orders = bz_json_get(report, "handoff_orders");
    const struct bz_json *is_exact = bz_json_get(orders, "is_exact");
    put(page, "<h2>Runs</h2>\n<dl>\n");
    put_fact(page, "runs", number_of(report, "runs"), NULL);
    put_fact(page, "steps", number_of(report, "steps"), NULL);
    put_fact(page, "injected cancels", number_of(report, "injected"), NULL);
    put_fact(page, "distinct schedules", number_of(report, "distinct"),
             bz_json_get(report, "distinct_is_exact"));
    put_fact(page, "hand-off orders", number_of(orders, "distinct"), is_exact);
    put_fact(page, "of these, seen once", number_of(orders, "seen_once"), is_exact);
    put(page, "<div><dt>chance of a new order</dt><dd>");
    put_ppm(page, number_of(orders, "new_ppm"));
    put(page, "</dd></div>\n</dl>\n");
}

/* Shards side by side; those with nothing missing between two missing ones are one rectangle. */
static void add_shards(struct bz_text *page, const struct bz_json *report) {
    const struct bz_json *shards = bz_json_get(report, "shards");
    uint64_t count = number_of(shards, "count");
    uint64_t listed = 0;
    bz_text_add(page,
                "<h2>Shards: %" PRIu64 " of %" PRIu64 " complete</h2>\n"
                "<svg class=\"bar\" viewBox=\"0 0 %" PRIu64
                " 1\" preserveAspectRatio=\"none\" role=\"img\">"
                "<rect class=\"done\" width=\"%" PRIu64 "\" height=\"1\"/>",
                number_of(shards, "complete"), count, count, count);
    for (const struct bz_json *item = first_of(shards, "missing"); item != NULL;
         item = bz_json_next(item)) {
        bz_text_add(page, "<rect class=\"missing\" x=\"%" PRIu64 "\" width=\"1\" height=\"1\"/>",
                    number_of(item, "shard") - 1);
    }
    put(page, "</svg>\n");
    for (const struct bz_json *item = first_of(shards, "missing"); item != NULL && listed < 20;
         item = bz_json_next(item), listed++) {
        uint64_t first = 0;
        uint64_t runs = 0;
        (void)(bz_parse_u64(text_of(item, "first_run"), &first) &&
               bz_parse_u64(text_of(item, "runs"), &runs));
        bz_text_add(page, "<p class=\"note\">shard %" PRIu64 " lacks ", number_of(item, "shard"));
        put_number(page, runs);
        put(page, " runs, from run ");
        put_number(page, first);
        put(page, " on</p>\n");
    }
}

static void add_code(struct bz_text *page, const char *label, const char *code) {
    if (code[0] != '\0') {
        bz_text_add(page, "<p>%s <code>", label);
        put_text(page, code);
        put(page, "</code></p>\n");
    }
}

static void add_findings(struct bz_text *page, const struct bz_json *report) {
    const struct bz_json *same = first_of(report, "same_smallest_run");
    uint64_t place = 0;
    if (length_of(report, "violations") > 0) {
        put(page, "<h2>Findings</h2>\n");
    }
    for (const struct bz_json *item = first_of(report, "violations"); item != NULL;
         item = bz_json_next(item), place++) {
        const struct bz_json *shrunk = bz_json_get(item, "shrunk");
        uint64_t first = place;
        (void)(same != NULL && bz_json_number(same, &first));
        same = same == NULL ? NULL : bz_json_next(same);
        bz_text_add(page, "<article><h3>%" PRIu64 ". ", place + 1);
        put_text(page, text_of(item, "oracle"));
        put(page, "</h3>\n<p>");
        put_text(page, text_of(item, "message"));
        put(page, "</p>\n<p class=\"note\">");
        put_number(page, number_of(item, "count"));
        put(page, " runs; operation ");
        put_text(page, text_of(item, "operation"));
        put(page, ", window ");
        put_text(page, text_of(item, "window"));
        put(page, "; first by seed ");
        put_text(page, text_of(item, "seed"));
        if (first != place) {
            bz_text_add(page, "; the smallest run is that of finding %" PRIu64, first + 1);
        }
        put(page, "</p>\n");
        add_code(page, "smallest run", text_of(shrunk, "token"));
        add_code(page, "on a FIFO loop", text_of(item, "fifo_token"));
        add_code(page, "as found", text_of(item, "token"));
        put(page, "</article>\n");
    }
}

static void add_warnings(struct bz_text *page, const struct bz_json *report) {
    for (const struct bz_json *item = first_of(report, "warnings"); item != NULL;
         item = bz_json_next(item)) {
        put(page, "<p class=\"note\">warning: ");
        put_text(page, text_of(item, "message"));
        put(page, "</p>\n");
    }
}

/* Cells are shaded by the number of digits, because counts span orders of magnitude. */
static unsigned heat_of(uint64_t number) {
    unsigned digits = 0;
    for (; number > 0; number /= 10) {
        digits++;
    }
    return digits == 0 ? 0 : digits <= 2 ? 1 : digits <= 4 ? 2 : digits <= 6 ? 3 : HEATS;
}

static void add_windows(struct bz_text *page, const struct bz_json *report) {
    put(page, "<h2>Cancels that struck, by operation and window</h2>\n"
              "<div class=\"scroll\"><table><tr><th></th>");
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        bz_text_add(page, "<th>%s</th>", bz_window_name((enum bz_window)window));
    }
    put(page, "</tr>\n");
    for (const struct bz_json *row = first_of(report, "windows"); row != NULL;
         row = bz_json_next(row)) {
        put(page, "<tr><td>");
        put_text(page, bz_json_key(row));
        put(page, "</td>");
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            uint64_t hits = number_of(row, bz_window_name((enum bz_window)window));
            bz_text_add(page, "<td class=\"h%u\">", heat_of(hits));
            put_number(page, hits);
            put(page, "</td>");
        }
        put(page, "</tr>\n");
    }
    put(page, "</table></div>\n");
}

/* --- the trend -------------------------------------------------------------------------------- */

static uint64_t trend_value(const struct bz_json *report, unsigned column) {
    const struct bz_json *orders = bz_json_get(report, "handoff_orders");
    switch (column) {
    case 0:
        return number_of(report, "runs");
    case 1:
        return number_of(report, "distinct");
    case 2:
        return number_of(orders, "distinct");
    case 3:
        return number_of(orders, "new_ppm");
    case 4:
        return number_of(report, "violations_total");
    default:
        return length_of(report, "violations");
    }
}

static void add_spark(struct bz_text *page, const struct bz_merge_document *documents, size_t count,
                      unsigned column) {
    uint64_t most = 1;
    for (size_t index = 0; index < count; index++) {
        uint64_t value = trend_value(documents[index].json, column);
        most = value > most ? value : most;
    }
    bz_text_add(page, "<svg class=\"spark\" viewBox=\"0 0 %u %u\"><polyline points=\"", SPARK_WIDTH,
                SPARK_HEIGHT);
    for (size_t index = 0; index < count; index++) {
        uint64_t value = trend_value(documents[index].json, column);
        double height = (double)value / (double)most * (SPARK_HEIGHT - 4);
        bz_text_add(page, "%u,%.1f ", (unsigned)(2 + index * (SPARK_WIDTH - 4) / (count - 1)),
                    SPARK_HEIGHT - 2 - height);
    }
    put(page, "\"/></svg>");
}

static void add_trend(struct bz_text *page, const struct bz_merge_document *documents,
                      size_t count) {
    static const char *const columns[] = {
        "runs",    "distinct schedules", "hand-off orders", "chance of a new order", "failed runs",
        "findings"};
    enum { COLUMNS = sizeof columns / sizeof columns[0], CHANCE = 3 };
    put(page, "<h2>Trend</h2>\n<div class=\"scroll\"><table><tr><th></th>");
    for (unsigned column = 0; column < COLUMNS; column++) {
        bz_text_add(page, "<th>%s", columns[column]);
        add_spark(page, documents, count, column);
        put(page, "</th>");
    }
    put(page, "</tr>\n");
    for (size_t index = 0; index < count; index++) {
        put(page, "<tr><td>");
        put_text(page, documents[index].name);
        put(page, "</td>");
        for (unsigned column = 0; column < COLUMNS; column++) {
            uint64_t value = trend_value(documents[index].json, column);
            put(page, "<td>");
            column == CHANCE ? put_ppm(page, value) : put_number(page, value);
            put(page, "</td>");
        }
        put(page, "</tr>\n");
    }
    put(page, "</table></div>\n");
}

void bz_merge_page(const struct bz_merge_document *documents, size_t count, struct bz_text *page) {
    const char *template = bz_embedded_text(bz_merge_templates, "merge_page.html");
    const char *mark = strstr(template, MARK);
    const struct bz_json *report = documents[count - 1].json;
    bz_text_add(page, "%.*s", (int)(mark - template), template);
    add_head(page, report);
    add_verdict(page, report);
    add_warnings(page, report);
    add_facts(page, report);
    if (count > 1) {
        add_trend(page, documents, count);
    }
    add_findings(page, report);
    add_windows(page, report);
    add_shards(page, report);
    put(page, mark + sizeof MARK - 1);
}
