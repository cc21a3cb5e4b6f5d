/* The formats of pipelines escape whatever a name or a message holds. */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/report/outcome.h"

/* An outcome of the whole and one finding, whose texts are all `text`. */
static void begin(struct bz_outcome *outcome, const char *text) {
    bz_outcome_init(outcome, "run");
    bz_text_add(&outcome->suite, "s");
    bz_text_add(&outcome->title, "t");
    bz_outcome_property(outcome, "p", "%s", text);
    for (unsigned index = 0; index < 2; index++) {
        struct bz_case *one = bz_outcome_case(outcome, BZ_CASE_FAILED, "fifo");
        bz_text_add(&one->name, "%s", text);
        bz_text_add(&one->message, "%s", text);
        bz_text_add(&one->story, "%s", text);
        bz_text_add(&one->file, "%s", text);
        bz_text_add(&one->command, "%s", text);
        one->line = 7;
    }
}

static char *made(void (*add)(struct bz_text *, const struct bz_outcome *), const char *text) {
    struct bz_outcome outcome;
    struct bz_text out = {0};
    begin(&outcome, text);
    add(&out, &outcome);
    bz_outcome_fini(&outcome);
    return out.bytes;
}

static void has(char *text, const char *part, bool is_wanted) {
    bool is_there = strstr(text, part) != NULL;
    cr_assert(is_there == is_wanted, "'%s' in: %s", part, text);
}

Test(junit, escapes) {
    char *text = made(bz_junit_add, "<a b=\"'&]]>\x01\xff\n\t\r\xef\xbf\xbe\xc3\xa9");
    has(text,
        " message=\"&#60;a b=&#34;&#39;&#38;]]&#62;\xef\xbf\xbd\xef\xbf\xbd&#10;&#9;&#13;"
        "\xef\xbf\xbd\xc3\xa9\"",
        true);
    has(text,
        ">&#60;a b=&#34;&#39;&#38;]]&#62;\xef\xbf\xbd\xef\xbf\xbd\n\t&#13;\xef\xbf\xbd\xc3\xa9<",
        true);
    has(text, "]]>", false);
    free(text);
}

/* No byte but markup and characters that XML has. */
Test(junit, every_byte) {
    for (unsigned byte = 1; byte < 256; byte++) {
        char *text = made(bz_junit_add, (const char[]){'x', (char)byte, 'y', '\0'});
        for (const char *next = text; *next != '\0'; next++) {
            unsigned char one = (unsigned char)*next;
            bool is_replacement = one == 0xef || one == 0xbf || one == 0xbd;
            bool is_ascii = (one >= 0x20 && one < 0x80) || one == '\n' || one == '\t';
            cr_assert(is_ascii || is_replacement, "byte %u gives %u", byte, one);
        }
        free(text);
    }
}

Test(github, annotations) {
    char *text = made(bz_github_add_annotations, "100%: a,b\n::error::\r\x1b");
    cr_assert_str_eq(text, "::error title=buzzer run s%3A 100%25%3A a%2Cb%0A%3A%3Aerror%3A%3A%0D?,"
                           "file=100%25%3A a%2Cb%0A%3A%3Aerror%3A%3A%0D?,line=7::"
                           "100%25: a,b%0A::error::%0D?%0A100%25: a,b%0A::error::%0D?\n");
    free(text);
}

static void summarize(struct bz_text *out, const struct bz_outcome *outcome) {
    bz_github_add_summary(out, outcome, BZ_GITHUB_SUMMARY_BYTES_MAX);
}

Test(github, summary) {
    char *text = made(summarize, "a|b<i>*x*\n# no\n````\n@me");
    has(text, "| p | a&#124;b&#60;i&#62;&#42;x&#42; &#35; no &#96;&#96;&#96;&#96; &#64;me |\n",
        true);
    has(text, "`````text\na|b<i>*x*\n# no\n````\n@me\n`````\n", true); /* a longer fence */
    has(text, "\n````shell", false);
    free(text);
}

Test(outcome, equal_names_differ) {
    struct bz_outcome outcome;
    begin(&outcome, "a");
    bz_outcome_distinguish(&outcome, outcome.cases[1]);
    cr_assert_str_eq(bz_outcome_text(&outcome.cases[1]->name), "a #2");
    struct bz_case *one = bz_outcome_case(&outcome, BZ_CASE_FAILED, "fifo");
    bz_text_add(&one->name, "a");
    bz_outcome_distinguish(&outcome, one);
    cr_assert_str_eq(bz_outcome_text(&one->name), "a #3");
    bz_outcome_fini(&outcome);
}
