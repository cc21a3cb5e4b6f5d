/* JUnit's XML, as Jenkins, GitLab and the reporters for GitHub read it.
 *
 *     <testsuites> <testsuite name="buzzer run contended" tests failures errors skipped time>
 *         <properties> ... </properties>
 *         <testcase classname="buzzer.run.contended" name="buzzer order=fifo" time>
 *         <testcase ... name="buzzer order=fifo: lost-wakeup of 'permits' (acquire, woken)">
 *             <failure type="lost-wakeup" message="...">the story, and the command</failure>
 *
 * The text is XML 1.0 whatever the names and messages hold: characters that XML does not have, and
 * bytes that are no UTF-8, become U+FFFD. */
#include "tools/report/outcome.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* Line breaks and tabs of an attribute would become blanks. */
static const struct bz_escapes in_attribute = {"<>&\"'\r\n\t", "&#", "", REPLACEMENT};
static const struct bz_escapes in_element = {"<>&\"'\r", "&#", "\n\t", REPLACEMENT};

static void add_attribute(struct bz_text *out, const char *name, const char *value) {
    bz_text_add(out, " %s=\"", name);
    bz_text_put_escaped(out, value, &in_attribute);
    bz_text_add(out, "\"");
}

/* The element of a case that did not pass. */
static void add_result(struct bz_text *out, const struct bz_case *one) {
    static const char *const elements[] = {
        [BZ_CASE_FAILED] = "failure", [BZ_CASE_ERROR] = "error", [BZ_CASE_SKIPPED] = "skipped"};
    const char *element = elements[one->result];
    bz_text_add(out, "      <%s", element);
    if (one->result != BZ_CASE_SKIPPED) { /* which has no type */
        add_attribute(out, "type", one->type);
    }
    add_attribute(out, "message", bz_outcome_text(&one->message));
    bz_text_add(out, ">");
    bz_text_put_escaped(out, bz_outcome_text(&one->story), &in_element);
    bz_text_add(out, "</%s>\n", element);
}

static void add_case(struct bz_text *out, const struct bz_outcome *outcome,
                     const struct bz_case *one, double seconds) {
    struct bz_text name = {0};
    bz_text_add(&name, "buzzer.%s.%s", outcome->command, bz_outcome_text(&outcome->suite));
    bz_text_add(out, "    <testcase");
    add_attribute(out, "classname", bz_outcome_text(&name));
    add_attribute(out, "name", bz_outcome_text(&one->name));
    if (one->file.length > 0) { /* GitLab links it */
        add_attribute(out, "file", bz_outcome_text(&one->file));
    }
    bz_text_add(out, " time=\"%.3f\">\n", seconds);
    if (one->result != BZ_CASE_PASSED) {
        add_result(out, one);
    }
    if (one->trace.length > 0) { /* Jenkins and GitLab keep the file with the case */
        bz_text_add(out, "      <system-out>[[ATTACHMENT|");
        bz_text_put_escaped(out, bz_outcome_text(&one->trace), &in_element);
        bz_text_add(out, "]]</system-out>\n");
    }
    bz_text_add(out, "    </testcase>\n");
    bz_text_fini(&name);
}

/* Attributes that testsuites and testsuite share. */
static void add_counts(struct bz_text *out, const struct bz_outcome *outcome) {
    bz_text_add(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", outcome->case_count,
                bz_outcome_count(outcome, BZ_CASE_FAILED),
                bz_outcome_count(outcome, BZ_CASE_ERROR));
}

void bz_junit_add(struct bz_text *out, const struct bz_outcome *outcome) {
    struct bz_text name = {0};
    bz_text_add(&name, "buzzer %s %s", outcome->command, bz_outcome_text(&outcome->suite));
    bz_text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    add_counts(out, outcome);
    bz_text_add(out, " time=\"%.3f\">\n  <testsuite", outcome->seconds);
    add_attribute(out, "name", bz_outcome_text(&name));
    add_counts(out, outcome);
    bz_text_add(out, " skipped=\"%zu\" time=\"%.3f\">\n    <properties>\n",
                bz_outcome_count(outcome, BZ_CASE_SKIPPED), outcome->seconds);
    for (size_t index = 0; index < outcome->property_count; index++) {
        bz_text_add(out, "      <property");
        add_attribute(out, "name", outcome->properties[index].name);
        add_attribute(out, "value", bz_outcome_text(&outcome->properties[index].value));
        bz_text_add(out, "/>\n");
    }
    bz_text_add(out, "    </properties>\n");
    for (size_t index = 0; index < outcome->case_count; index++) {
        add_case(out, outcome, outcome->cases[index], index == 0 ? outcome->seconds : 0.0);
    }
    if (outcome->warnings.length > 0) {
        bz_text_add(out, "    <system-err>");
        bz_text_put_escaped(out, bz_outcome_text(&outcome->warnings), &in_element);
        bz_text_add(out, "</system-err>\n");
    }
    bz_text_add(out, "  </testsuite>\n</testsuites>\n");
    bz_text_fini(&name);
}
