/* The output for GitHub Actions: annotations, and a part of the job summary. */
#include "tools/report/outcome.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_MAX 100u /* of the table of cases */

static bool is_bad(const struct bz_case *one) {
    return one->result == BZ_CASE_FAILED || one->result == BZ_CASE_ERROR;
}

/* The case of the whole says the same as those of its findings. */
static size_t first_bad(const struct bz_outcome *outcome) {
    bool has_findings = false;
    for (size_t index = 1; index < outcome->case_count; index++) {
        has_findings |= is_bad(outcome->cases[index]);
    }
    return has_findings && outcome->cases[0]->result == BZ_CASE_FAILED ? 1 : 0;
}

/* --- annotations ------------------------------------------------------------------------------ */

/* `special`: what the place does not take as it is. */
static void add_escaped(struct bz_text *out, const char *text, const char *special) {
    for (; *text != '\0'; text++) {
        unsigned byte = (unsigned char)*text;
        bool is_other_control = byte < 0x20 && strchr("\r\n\t", *text) == NULL;
        if (strchr(special, *text) != NULL) {
            bz_text_add(out, "%%%02X", byte);
        } else {
            bz_text_add(out, "%c", is_other_control ? '?' : *text);
        }
    }
}

static void add_command(struct bz_text *out, const char *kind, const char *title) {
    bz_text_add(out, "::%s ", kind);
    bz_text_add(out, "title=");
    add_escaped(out, title, "%\r\n:,");
}

static void annotate(struct bz_text *out, const struct bz_outcome *outcome,
                     const struct bz_case *one) {
    struct bz_text title = {0};
    bz_text_add(&title, "buzzer %s %s: %s", outcome->command, bz_outcome_text(&outcome->suite),
                bz_outcome_text(&one->name));
    add_command(out, "error", title.bytes);
    if (one->file.length > 0) {
        bz_text_add(out, ",file=");
        add_escaped(out, bz_outcome_text(&one->file), "%\r\n:,");
        bz_text_add(out, ",line=%" PRIu64, one->line);
    }
    bz_text_add(out, "::");
    add_escaped(out, bz_outcome_text(&one->message), "%\r\n");
    if (one->command.length > 0) {
        bz_text_add(out, "%%0A");
        add_escaped(out, bz_outcome_text(&one->command), "%\r\n");
    }
    bz_text_add(out, "\n");
    bz_text_fini(&title);
}

static void annotate_warnings(struct bz_text *out, const struct bz_outcome *outcome) {
    struct bz_text line = {0};
    const char *next = bz_outcome_text(&outcome->warnings);
    for (unsigned number = 0; *next != '\0' && number < BZ_GITHUB_ANNOTATIONS_MAX; number++) {
        size_t length = strcspn(next, "\n");
        bz_text_clear(&line);
        bz_text_add(&line, "%.*s", (int)length, next);
        add_command(out, "warning", bz_outcome_text(&outcome->title));
        bz_text_add(out, "::");
        add_escaped(out, line.bytes, "%\r\n");
        bz_text_add(out, "\n");
        next += length + (next[length] == '\n');
    }
    bz_text_fini(&line);
}

void bz_github_add_annotations(struct bz_text *out, const struct bz_outcome *outcome) {
    size_t first = first_bad(outcome);
    size_t total = 0;
    size_t done = 0;
    for (size_t index = first; index < outcome->case_count; index++) {
        total += is_bad(outcome->cases[index]);
    }
    size_t most = total > BZ_GITHUB_ANNOTATIONS_MAX ? BZ_GITHUB_ANNOTATIONS_MAX - 1 : total;
    for (size_t index = first; done < most; index++) {
        if (is_bad(outcome->cases[index])) {
            annotate(out, outcome, outcome->cases[index]);
            done++;
        }
    }
    if (done < total) {
        add_command(out, "error", bz_outcome_text(&outcome->title));
        bz_text_add(out, "::%zu more are in the log and in the job summary\n", total - done);
    }
    annotate_warnings(out, outcome);
}

/* --- the summary ------------------------------------------------------------------------------ */

/* Text that is nothing but text, in one line. */
static void add_markdown(struct bz_text *out, const char *text) {
    static const struct bz_escapes escapes = {"\\`*_[]<>#|&~@$:", "&#", "", " "};
    bz_text_put_escaped(out, text, &escapes);
}

/* A block that nothing in the text can end. */
static void add_block(struct bz_text *out, const char *language, const char *text) {
    size_t longest = 2;
    for (const char *next = text; *next != '\0';) {
        size_t ticks = strspn(next, "`");
        longest = ticks > longest ? ticks : longest;
        next += ticks + strcspn(next + ticks, "`");
    }
    for (unsigned fence = 0; fence < 2; fence++) {
        for (size_t tick = 0; tick <= longest; tick++) {
            bz_text_add(out, "`");
        }
        bz_text_add(out, "%s\n", fence == 0 ? language : "");
        if (fence == 0) {
            size_t length = strlen(text);
            bz_text_add(out, "%s%s", text, length > 0 && text[length - 1] == '\n' ? "" : "\n");
        }
    }
    bz_text_add(out, "\n");
}

static const char *result_name(enum bz_case_result result) {
    static const char *const names[] = {[BZ_CASE_PASSED] = "passed",
                                        [BZ_CASE_FAILED] = "failed",
                                        [BZ_CASE_ERROR] = "nothing proved",
                                        [BZ_CASE_SKIPPED] = "skipped"};
    return names[result];
}

static void add_cases(struct bz_text *out, const struct bz_outcome *outcome) {
    size_t rows = 0;
    size_t hidden = 0;
    bz_text_add(out, "| | result | |\n| --- | --- | --- |\n");
    for (size_t index = 0; index < outcome->case_count; index++) {
        const struct bz_case *one = outcome->cases[index];
        bool is_shown = (index == 0 || is_bad(one)) && rows < ROWS_MAX;
        rows += is_shown;
        hidden += !is_shown;
        if (is_shown) {
            bz_text_add(out, "| ");
            add_markdown(out, bz_outcome_text(&one->name));
            bz_text_add(out, " | %s | ", result_name(one->result));
            add_markdown(out, bz_outcome_text(&one->message));
            bz_text_add(out, " |\n");
        }
    }
    bz_text_add(out, "\n");
    if (hidden > 0) {
        bz_text_add(out, "%zu of %zu are not listed.\n\n", hidden, outcome->case_count);
    }
}

static void add_properties(struct bz_text *out, const struct bz_outcome *outcome) {
    bz_text_add(out, "<details><summary>Settings and counts</summary>\n\n| | |\n| --- | --- |\n");
    for (size_t index = 0; index < outcome->property_count; index++) {
        bz_text_add(out, "| ");
        add_markdown(out, outcome->properties[index].name);
        bz_text_add(out, " | ");
        add_markdown(out, bz_outcome_text(&outcome->properties[index].value));
        bz_text_add(out, " |\n");
    }
    bz_text_add(out, "\n</details>\n\n");
}

static void add_finding(struct bz_text *out, const struct bz_case *one) {
    bz_text_add(out, "#### ");
    add_markdown(out, bz_outcome_text(&one->name));
    bz_text_add(out, "\n\n");
    add_markdown(out, bz_outcome_text(&one->message));
    bz_text_add(out, "\n\n");
    if (one->picture.length > 0) {
        add_block(out, "mermaid", one->picture.bytes);
    }
    if (one->story.length > 0) {
        bz_text_add(out, "<details><summary>Step by step</summary>\n\n");
        add_block(out, "text", one->story.bytes);
        bz_text_add(out, "</details>\n\n");
    }
    if (one->command.length > 0) {
        add_block(out, "shell", one->command.bytes);
    }
}

void bz_github_add_summary(struct bz_text *out, const struct bz_outcome *outcome,
                           size_t bytes_max) {
    size_t left_out = 0;
    struct bz_text finding = {0};
    bz_text_add(out, "### buzzer %s ", outcome->command);
    add_markdown(out, bz_outcome_text(&outcome->suite));
    bz_text_add(out, ": %s\n\n", result_name(outcome->cases[0]->result));
    add_cases(out, outcome);
    if (outcome->warnings.length > 0) {
        bz_text_add(out, "Warning: ");
        add_markdown(out, outcome->warnings.bytes);
        bz_text_add(out, "\n\n");
    }
    if (outcome->property_count > 0) {
        add_properties(out, outcome);
    }
    for (size_t index = first_bad(outcome); index < outcome->case_count; index++) {
        const struct bz_case *one = outcome->cases[index];
        if (is_bad(one) && one->command.length > 0) { /* else the table says it all */
            bz_text_clear(&finding);
            add_finding(&finding, one);
            bool fits = out->length + finding.length < bytes_max;
            left_out += !fits;
            bz_text_add(out, "%s", fits ? finding.bytes : "");
        }
    }
    if (left_out > 0) {
        bz_text_add(out, "%zu are left out here: a job summary has at most 1 MiB.\n\n", left_out);
    }
    bz_text_fini(&finding);
}
