/* The status of a long campaign as one file for a browser: no script, nothing loaded from
 * elsewhere. It reloads itself while the campaign runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/session/fuzz/status.h"

#define CHART_WIDTH 720u
#define CHART_HEIGHT 120u

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char style[] =
    "<style>\n"
    ":root{--ink:#1c2024;--faint:#667078;--line:#d8dde2;--back:#fff;--card:#f6f8fa;--bad:#c62828;"
    "--good:#2e7d32;--odd:#b26a00}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--faint:#98a2ab;--line:#343b42;"
    "--back:#14171a;--card:#1c2126;--bad:#ff7b72;--good:#7ee787;--odd:#f2b84b}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);"
    "max-width:72rem;margin:0 auto;padding:1.5rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
    "h3{font-size:.95rem;margin:1.2rem 0 .4rem}\n"
    ".faint{color:var(--faint)}.bad{color:var(--bad)}.good{color:var(--good)}"
    ".odd{color:var(--odd)}\n"
    "dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;"
    "margin:1.25rem 0}\n"
    "dl.facts div{background:var(--card);border:1px solid var(--line);border-radius:6px;"
    "padding:.6rem .8rem}\n"
    "dl.facts dt{font-size:.8rem;color:var(--faint)}"
    "dl.facts dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right;"
    "vertical-align:top;white-space:nowrap}\n"
    "th:first-child,td:first-child,td.text,th.text{text-align:left}"
    "th{font-weight:600;font-size:.85rem}\n"
    "code{font:.85em ui-monospace,monospace;overflow-wrap:anywhere}\n"
    "article{border-left:3px solid var(--bad);padding:.1rem 0 .1rem .9rem;margin:.9rem 0}"
    "article p{margin:.15rem 0}\n"
    "svg{display:block;width:100%;max-width:720px;height:auto;margin:.5rem 0}"
    "svg text{font:11px system-ui,sans-serif;fill:var(--faint)}\n"
    "</style>\n";

/* Text that may come from a plug-in. */
static void add_escaped(struct bz_text *text, const char *words) {
    for (; *words != '\0'; words++) {
        unsigned char byte = (unsigned char)*words;
        switch (byte) {
        case '&':
            bz_text_add(text, "&amp;");
            break;
        case '<':
            bz_text_add(text, "&lt;");
            break;
        case '>':
            bz_text_add(text, "&gt;");
            break;
        case '"':
            bz_text_add(text, "&quot;");
            break;
        default:
            bz_text_add(text, "%c", byte < ' ' || byte == 0x7f ? '?' : byte);
            break;
        }
    }
}

static void add_fact(struct bz_text *text, const char *name, const char *value) {
    bz_text_add(text, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void add_facts(const struct bz_fuzz_status *status, struct bz_text *text) {
    const struct bz_fuzz *fuzz = status->fuzz;
    char value[BZ_COUNT_BYTES];
    bz_text_add(text, "<dl class=\"facts\">\n");
    add_fact(text, "time", bz_fuzz_time_text(status->order->spent_ms, value));
    add_fact(text, "schedules", bz_fuzz_count_text(fuzz->runs, value));
    add_fact(text, "schedules a second", bz_fuzz_count_text(bz_fuzz_rate(status), value));
    add_fact(text, "slices", bz_fuzz_count_text(fuzz->slices, value));
    add_fact(text, "schedules that failed", bz_fuzz_count_text(fuzz->violations, value));
    add_fact(text, "findings", bz_fuzz_count_text(fuzz->finding_count, value));
    add_fact(text, "traces in the corpus", bz_fuzz_count_text(status->examples, value));
    if (fuzz->out_of_steps > 0) {
        add_fact(text, "cut by the step limit", bz_fuzz_count_text(fuzz->out_of_steps, value));
    }
    bz_text_add(text, "</dl>\n");
}

/* --- the chart -------------------------------------------------------------------------------- */

static uint64_t scaled(uint64_t value, uint64_t most, uint64_t size) {
    return most == 0 ? 0 : (uint64_t)((double)value * (double)size / (double)most);
}

/* One member of the samples over time, as steps up to the right edge. */
static void add_curve(const struct bz_fuzz *fuzz, size_t offset, const char *colour,
                      struct bz_text *text) {
    const struct bz_fuzz_sample *last = &fuzz->samples[fuzz->sample_count - 1];
    uint64_t most;
    memcpy(&most, (const char *)last + offset, sizeof most);
    bz_text_add(text, "<polyline fill=\"none\" stroke=\"var(--%s)\" stroke-width=\"1.5\" points=\"",
                colour);
    for (uint32_t index = 0; index < fuzz->sample_count; index++) {
        uint64_t value;
        memcpy(&value, (const char *)&fuzz->samples[index] + offset, sizeof value);
        bz_text_add(text, "%s%" PRIu64 ",%" PRIu64, index == 0 ? "" : " ",
                    scaled(fuzz->samples[index].spent_ms, last->spent_ms, CHART_WIDTH),
                    4 + CHART_HEIGHT - scaled(value, most, CHART_HEIGHT));
    }
    bz_text_add(text, "\"/>\n");
}

static void add_chart(const struct bz_fuzz *fuzz, struct bz_text *text) {
    char spent[BZ_COUNT_BYTES];
    if (fuzz->sample_count < 2) {
        return;
    }
    const struct bz_fuzz_sample *last = &fuzz->samples[fuzz->sample_count - 1];
    bz_text_add(text,
                "<h2>Over time</h2>\n<p class=\"faint\">Situations <span class=\"good\">(green, "
                "%" PRIu64 " now)</span> and findings <span class=\"bad\">(red, %" PRIu64
                " now)</span>, each as a share of what there is now.</p>\n",
                last->situations, last->findings);
    bz_text_add(
        text,
        "<svg viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"Situations and findings over "
        "time\">\n<rect x=\"0\" y=\"4\" width=\"%u\" height=\"%u\" fill=\"var(--card)\"/>\n",
        CHART_WIDTH, CHART_HEIGHT + 24, CHART_WIDTH, CHART_HEIGHT);
    add_curve(fuzz, offsetof(struct bz_fuzz_sample, situations), "good", text);
    if (last->findings > 0) {
        add_curve(fuzz, offsetof(struct bz_fuzz_sample, findings), "bad", text);
    }
    bz_text_add(text,
                "<text x=\"0\" y=\"%u\">0</text><text x=\"%u\" y=\"%u\" "
                "text-anchor=\"end\">%s</text>\n</svg>\n",
                CHART_HEIGHT + 18, CHART_WIDTH, CHART_HEIGHT + 18,
                bz_fuzz_time_text(last->spent_ms, spent));
}

/* --- findings --------------------------------------------------------------------------------- */

static void add_token(struct bz_text *text, const char *name, const char *token) {
    if (token[0] != '\0') {
        bz_text_add(text, "<p>%s <code>", name);
        add_escaped(text, token);
        bz_text_add(text, "</code></p>\n");
    }
}

static void add_findings(const struct bz_fuzz *fuzz, struct bz_text *text) {
    char words[BZ_WORDS_BYTES];
    char spent[BZ_COUNT_BYTES];
    bz_text_add(text, "<h2>Findings</h2>\n");
    if (fuzz->finding_count == 0) {
        bz_text_add(text, "<p class=\"good\">None so far.</p>\n");
    }
    for (uint32_t index = 0; index < fuzz->finding_count; index++) {
        const struct bz_fuzz_finding *finding = &fuzz->findings[index];
        const struct bz_program *program = &fuzz->targets[finding->target]->program;
        bz_text_add(text, "<article><p><strong class=\"bad\">%s</strong>, ",
                    bz_fuzz_finding_words(finding, words));
        add_escaped(text, program->scenario->name);
        bz_text_add(text, " ");
        add_escaped(text, program->variant->name);
        bz_text_add(text, "</p>\n<p>");
        add_escaped(text, finding->finding.violation.message);
        bz_text_add(text,
                    "</p>\n<p class=\"faint\">arm %s, seed 0x%" PRIx64 ", slice %" PRIu64
                    ", after %s and %" PRIu64 " schedules; %" PRIu64 " failed so</p>\n",
                    fuzz->arms[finding->arm].name, finding->finding.seed, finding->slice,
                    bz_fuzz_time_text(finding->spent_ms, spent), finding->runs,
                    finding->finding.count);
        add_token(text, "token", finding->token);
        add_token(text, "shrunk", finding->small_token);
        bz_text_add(text, "</article>\n");
    }
}

/* --- targets ---------------------------------------------------------------------------------- */

static void add_windows(const struct bz_fuzz_target *target, struct bz_text *text) {
    char count[BZ_COUNT_BYTES];
    bz_text_add(text, "<h3>Cancels that struck, by operation and window</h3>\n"
                      "<div class=\"wide\"><table>\n<tr><th></th>");
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        bz_text_add(text, "<th>%s</th>", bz_window_name(window));
    }
    bz_text_add(text, "</tr>\n");
    for (unsigned op = 1; op < BZ_OP_COUNT; op++) {
        bool has_row = false;
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            has_row |= bz_fuzz_may_strike(target, op, window);
        }
        if (!has_row) {
            continue;
        }
        bz_text_add(text, "<tr><td>%s</td>", bz_op_name(op));
        for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
            uint64_t hits = target->windows[op][window];
            bool may = bz_fuzz_may_strike(target, op, window);
            bz_text_add(text, "<td%s>%s</td>",
                        hits > 0 ? ""
                        : may    ? " class=\"odd\""
                                 : " class=\"faint\"",
                        hits > 0 ? bz_fuzz_count_text(hits, count)
                        : may    ? "never"
                                 : "&middot;");
        }
        bz_text_add(text, "</tr>\n");
    }
    bz_text_add(text, "</table></div>\n");
}

static void add_arms(const struct bz_fuzz *fuzz, uint32_t target, struct bz_text *text) {
    char counts[4][BZ_COUNT_BYTES];
    bz_text_add(text, "<h3>Arms</h3>\n<div class=\"wide\"><table>\n<tr><th>arm</th>"
                      "<th>schedules</th><th>slices</th><th>new orders</th>"
                      "<th>new situations</th><th>findings</th></tr>\n");
    for (uint32_t index = 0; index < fuzz->arm_count; index++) {
        const struct bz_fuzz_arm *arm = &fuzz->arms[index];
        if (arm->target == target) {
            bz_text_add(text,
                        "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%" PRIu64
                        "</td></tr>\n",
                        arm->name, bz_fuzz_count_text(arm->runs, counts[0]),
                        bz_fuzz_count_text(arm->slices, counts[1]),
                        bz_fuzz_count_text(arm->new_handoffs, counts[2]),
                        bz_fuzz_count_text(arm->new_situations, counts[3]), arm->findings);
        }
    }
    bz_text_add(text, "</table></div>\n");
}

static void add_chance(struct bz_text *text, uint32_t ppm) {
    bz_text_add(text, "%" PRIu32 ".%04" PRIu32 " %%", ppm / 10000, ppm % 10000);
}

static void add_target(const struct bz_fuzz *fuzz, uint32_t index, struct bz_text *text) {
    const struct bz_fuzz_target *target = fuzz->targets[index];
    bz_text_add(text, "<h2>");
    add_escaped(text, target->program.scenario->name);
    bz_text_add(text, " ");
    add_escaped(text, target->program.variant->name);
    bz_text_add(text,
                "</h2>\n<p>%" PRIu64 " schedules, %" PRIu64 " failed. Hand-off orders: %s%" PRIu64
                "; the next run shows a new one with a chance of ",
                target->runs, target->violations,
                bz_distinct_is_exact(&target->handoffs) ? "" : "about ",
                bz_distinct_count(&target->handoffs));
    add_chance(text, bz_distinct_new_ppm(&target->handoffs));
    bz_text_add(text, ". Situations: %" PRIu32 "; the next cancel strikes a new one with ",
                target->situation_count);
    add_chance(text, bz_fuzz_new_situation_ppm(target));
    bz_text_add(text, " (Good-Turing).</p>\n");
    add_windows(target, text);
    char words[BZ_WORDS_BYTES];
    for (uint32_t missed = 0; bz_fuzz_missed(target, missed, words); missed++) {
        bz_text_add(text, "%s<code>%s</code>",
                    missed == 0 ? "<p class=\"odd\">Never struck: " : ", ", words);
    }
    bz_text_add(text, bz_fuzz_missed(target, 0, words) ? "</p>\n" : "");
    add_arms(fuzz, index, text);
}

void bz_fuzz_status_html(const struct bz_fuzz_status *status, struct bz_text *text) {
    const struct bz_fuzz *fuzz = status->fuzz;
    bool is_running = strcmp(status->state, "running") == 0;
    bz_text_add(text, "%s%s<title>buzzer fuzz: %s</title>\n%s</head>\n<body>\n", head,
                is_running ? "<meta http-equiv=\"refresh\" content=\"10\">\n" : "", status->state,
                style);
    bz_text_add(text,
                "<h1>buzzer fuzz: <span class=\"%s\">%s</span></h1>\n<p class=\"faint\">version "
                "%s; %" PRIu32 " arms of %" PRIu32 " target%s</p>\n",
                is_running ? "good" : "faint", status->state, bz_engine_version(), fuzz->arm_count,
                fuzz->target_count, fuzz->target_count == 1 ? "" : "s");
    add_facts(status, text);
    add_chart(fuzz, text);
    add_findings(fuzz, text);
    for (uint32_t index = 0; index < fuzz->target_count; index++) {
        add_target(fuzz, index, text);
    }
    bz_text_add(text, "</body>\n</html>\n");
}
