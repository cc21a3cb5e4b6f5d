/* buzzer diff: two runs side by side, from where they part. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/program/replay.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/run_argument.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"
#include "tools/show/match_events.h"
#include "traces/text.h"

#define SIDE_COLUMNS 38u /* of each run; four columns between them and the mark */
#define LINES_BEFORE 4u  /* events shown before the first difference */
#define LINES_AFTER 60u  /* and from there on, unless --all is given */
#define EQUAL_MAX 9u     /* more equal events in a row are counted, unless --all is given */
#define EVENT_INDENT 6u  /* of the second line of an event */
#define EVENT_TEXT_BYTES 512u

struct diff {
    const char *inputs[2];
    const char *variant;
    bool is_all;
    bool is_json;
    struct bz_named_run runs[2];
    struct bz_trace record; /* of the lenient replay */
    const struct bz_trace *traces[2];
    size_t first;                  /* the first event that differs; both counts: none */
    struct bz_alignment alignment; /* from there on */
};

static const struct bz_option options[] = {
    {"variant", "V",
     "Compare the run with the run of its choices on another implementation; a choice that does "
     "not fit becomes the default choice",
     BZ_OPTION_TEXT, offsetof(struct diff, variant)},
    {"all", NULL, "Print every event from the first difference on, not only the first 60",
     BZ_OPTION_FLAG, offsetof(struct diff, is_all)},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct diff, is_json)},
    {NULL},
};

static void check_options(void *target) {
    const struct diff *diff = target;
    if (diff->inputs[1] == NULL && diff->variant == NULL) {
        bz_cli_misuse("a second trace or token is missing, or --variant V");
    } else if (diff->inputs[1] != NULL && diff->variant != NULL) {
        bz_cli_misuse("--variant compares one run with itself; give one trace or token");
    } else if (diff->is_json && diff->is_all) {
        bz_cli_misuse("--json contradicts --all; give one of them");
    }
}

/* --- the two runs ----------------------------------------------------------------------------- */

static int load_leniently(struct diff *diff) {
    struct bz_named_run *run = &diff->runs[1];
    int code = bz_named_run_load_for(run, diff->inputs[0], diff->variant);
    diff->traces[1] = &diff->record;
    return code == BZ_EXIT_OK ? bz_named_run_replay_leniently(run, &diff->record) : code;
}

/* A file that does not replay is compared as it is; a token that does not is another run. */
static int load_one(struct diff *diff, unsigned side) {
    struct bz_named_run *run = &diff->runs[side];
    int code = bz_named_run_load(run, diff->inputs[side]);
    if (code != BZ_EXIT_OK || run->report.result == BZ_REPLAY_MATCHED) {
        return code;
    }
    if (run->is_token) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s: its run has %s, so the program has changed since",
                           diff->inputs[side], run->report.got);
    }
    fprintf(stderr, "%s: note: %s does not replay with this program; compared as it was recorded\n",
            bz_cli_prefix, diff->inputs[side]);
    return BZ_EXIT_OK;
}

/* A member that the older of two formats does not have is no difference. */
static void restrict_events(struct bz_trace *trace, unsigned version) {
    for (size_t index = 0; index < trace->event_count; index++) {
        bz_trace_event_restrict(&trace->events[index], version);
    }
}

static int load(struct diff *diff) {
    int code = load_one(diff, 0);
    if (code == BZ_EXIT_OK) {
        code = diff->variant != NULL ? load_leniently(diff) : load_one(diff, 1);
    }
    struct bz_trace *second = diff->variant != NULL ? &diff->record : &diff->runs[1].trace;
    restrict_events(&diff->runs[0].trace, second->version);
    restrict_events(second, diff->runs[0].trace.version);
    return code;
}

/* --- what differs ----------------------------------------------------------------------------- */

static const struct bz_trace_event *event_of(const struct diff *diff, unsigned side, size_t index) {
    const struct bz_trace *trace = diff->traces[side];
    return index < trace->event_count ? &trace->events[index] : NULL;
}

static bool is_same_event(const struct diff *diff, size_t index) {
    const struct bz_trace_event *a = event_of(diff, 0, index);
    const struct bz_trace_event *b = event_of(diff, 1, index);
    return a != NULL && b != NULL && bz_trace_event_equal(a, b);
}

static size_t event_count(const struct diff *diff) {
    size_t a = diff->traces[0]->event_count;
    size_t b = diff->traces[1]->event_count;
    return a > b ? a : b;
}

static bool is_same_verdict(const struct diff *diff) {
    const struct bz_trace_verdict *a = &diff->traces[0]->verdict;
    const struct bz_trace_verdict *b = &diff->traces[1]->verdict;
    return bz_is(a->oracle, b->oracle) && a->step == b->step && bz_is(a->task, b->task) &&
           bz_is(a->object, b->object);
}

/* The runs themselves; their settings may differ. */
static bool is_equal(const struct diff *diff) {
    return diff->first == event_count(diff) && is_same_verdict(diff);
}

/* A setting of a trace by number: those with members of their own come first. NULL: no more. */
static const char *setting(const struct bz_trace *trace, size_t index, const char **value) {
    const struct {
        const char *name;
        const char *value;
    } own[] = {{"scenario", trace->scenario},
               {"variant", trace->variant},
               {"strategy", trace->strategy},
               {"order", trace->order},
               {"cancel", trace->cancel}};
    size_t own_count = sizeof own / sizeof own[0];
    if (index < own_count) {
        *value = own[index].value;
        return own[index].name;
    }
    if (index - own_count >= trace->param_count) {
        return NULL;
    }
    *value = trace->params[index - own_count].value;
    return trace->params[index - own_count].name;
}

static const char *value_of(const struct bz_trace *trace, const char *name) {
    const char *value;
    const char *other;
    for (size_t index = 0; (other = setting(trace, index, &value)) != NULL; index++) {
        if (strcmp(other, name) == 0) {
            return value;
        }
    }
    return NULL;
}

/* --- for people ------------------------------------------------------------------------------- */

/* The next line of a side; later ones are indented. Returns the rest of the text. */
static const char *next_part(const char *text, bool is_first, char *part) {
    unsigned indent = is_first ? 0 : EVENT_INDENT;
    memset(part, ' ', indent);
    return bz_wrap_part(text, SIDE_COLUMNS - indent, part + indent);
}

/* Two texts side by side, on as many lines as they need. The mark stands between them; a blank:
 * they are equal. */
static void put_sides(const struct bz_wrap *wrap, const char *a, const char *b, char mark) {
    char left[BZ_WRAP_PART_BYTES + EVENT_INDENT];
    char right[BZ_WRAP_PART_BYTES + EVENT_INDENT];
    bool is_colour = wrap->is_colour && mark != ' ';
    bool is_first = true;
    do {
        a = next_part(a, is_first, left);
        b = next_part(b, is_first, right);
        is_first = false;
        size_t length = strlen(right);
        while (length > 0 && right[length - 1] == ' ') {
            right[--length] = '\0'; /* no blanks at the end of a line */
        }
        printf("%s%s %c%s%s%s\n", is_colour ? "\033[33m" : "", left, mark, length > 0 ? "  " : "",
               right, is_colour ? "\033[0m" : "");
    } while (*a != '\0' || *b != '\0');
}

/* "  12  worker-1 resume ok n=3", with the time if the other one has another time. */
static const char *event_text(const struct bz_trace_event *event,
                              const struct bz_trace_event *other, char *text) {
    char what[EVENT_TEXT_BYTES - 96];
    if (event == NULL) {
        text[0] = '\0';
        return text;
    }
    bool has_time = other != NULL && other->time_ns != event->time_ns;
    snprintf(text, EVENT_TEXT_BYTES, "%4" PRIu64 "  %s%s%s%s", event->step,
             bz_trace_event_text(event, what, sizeof what), has_time ? " (at " : "",
             has_time ? bz_cli_time_text(event->time_ns) : "", has_time ? ")" : "");
    return text;
}

static void print_settings(const struct diff *diff, struct bz_wrap *wrap) {
    for (unsigned side = 0; side < 2; side++) {
        const char *value;
        const char *name;
        for (size_t index = 0; (name = setting(diff->traces[side], index, &value)) != NULL;
             index++) {
            const char *other = value_of(diff->traces[1 - side], name);
            if (bz_is(value, other) || (side == 1 && other != NULL)) {
                continue;
            }
            const char *a = side == 0 ? value : other;
            const char *b = side == 0 ? other : value;
            bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE, "  %s: %s and %s", name,
                           a != NULL ? a : "(none)", b != NULL ? b : "(none)");
        }
    }
    if (diff->traces[0]->seed != diff->traces[1]->seed) {
        bz_wrap_printf(wrap, 4, BZ_COLOUR_NONE, "  seed: 0x%" PRIx64 " and 0x%" PRIx64,
                       diff->traces[0]->seed, diff->traces[1]->seed);
    }
}

/* A file of an older program also says "pass" of a run that was cut short: if it replays, the run
 * says which. */
static const char *end_text(const struct diff *diff, unsigned side) {
    const struct bz_trace_verdict *verdict = &diff->traces[side]->verdict;
    const struct bz_replay_report *report = &diff->runs[side].report;
    return verdict->oracle != NULL ? verdict->oracle
           : strcmp(verdict->result, "cut") == 0 && verdict->message != NULL
               ? "cut short by the limit of a check"
           : strcmp(verdict->result, "cut") == 0 ? "cut short by its step limit"
           : report->result == BZ_REPLAY_MATCHED ? bz_replay_verdict(report)
                                                 : "pass, or cut short";
}

static const char *verdict_text(const struct diff *diff, unsigned side, char *text, size_t bytes) {
    const struct bz_trace_verdict *verdict = &diff->traces[side]->verdict;
    snprintf(text, bytes, "%s%s%s", end_text(diff, side), verdict->message != NULL ? ": " : "",
             verdict->message != NULL ? verdict->message : "");
    return text;
}

static void print_verdicts(const struct diff *diff, struct bz_wrap *wrap) {
    for (unsigned side = 0; side < 2; side++) {
        const struct bz_trace_verdict *verdict = &diff->traces[side]->verdict;
        static char text[BZ_TRACE_TEXT_BYTES_MAX + 256];
        bz_wrap_printf(wrap, 4, verdict->oracle != NULL ? BZ_COLOUR_BAD : BZ_COLOUR_NONE,
                       "%c: step %" PRIu64 ", %s", side == 0 ? 'A' : 'B', verdict->step,
                       verdict_text(diff, side, text, sizeof text));
    }
}

static void print_row(const struct bz_align_row *row, const struct bz_wrap *wrap) {
    char texts[2][EVENT_TEXT_BYTES];
    const struct bz_trace_event *a = row->events[0];
    const struct bz_trace_event *b = row->events[1];
    put_sides(wrap, event_text(a, b, texts[0]), event_text(b, a, texts[1]),
              !row->differs ? ' '
              : a == NULL   ? '>'
              : b == NULL   ? '<'
                            : '|');
}

static void print_more(const struct diff *diff, size_t index) {
    size_t more[2] = {0, 0};
    for (; index < diff->alignment.count; index++) {
        const struct bz_align_row *row = &diff->alignment.rows[index];
        more[0] += row->events[0] != NULL;
        more[1] += row->events[1] != NULL;
    }
    printf("      (%zu more events of A, %zu of B; --all prints them)\n", more[0], more[1]);
}

/* The end of the equal rows that begin here. */
static size_t end_of_equal(const struct bz_alignment *alignment, size_t index) {
    while (index < alignment->count && !alignment->rows[index].differs) {
        index++;
    }
    return index;
}

/* The rows from the first difference on. Of many equal ones in a row, those next to a difference.
 */
static void print_rows(const struct diff *diff, const struct bz_wrap *wrap) {
    const struct bz_alignment *alignment = &diff->alignment;
    size_t lines = 0;
    size_t hidden_from = SIZE_MAX;
    size_t hidden_to = 0;
    size_t end = 0; /* of equal rows */
    for (size_t index = diff->first - alignment->begin; index < alignment->count; lines++) {
        if (index >= end && !alignment->rows[index].differs) {
            end = end_of_equal(alignment, index);
            bool is_long = !diff->is_all && end - index > EQUAL_MAX;
            hidden_from = is_long ? index + LINES_BEFORE : SIZE_MAX;
            hidden_to = end - (end < alignment->count ? LINES_BEFORE : 0);
        }
        if (lines == LINES_AFTER && !diff->is_all) {
            print_more(diff, index);
            return;
        }
        if (index == hidden_from) {
            printf("      (%zu equal events)\n", hidden_to - hidden_from);
            index = hidden_to;
        } else {
            print_row(&alignment->rows[index++], wrap);
        }
    }
}

/* The last equal events, and both runs from the first difference on. */
static void print_events(const struct diff *diff, const struct bz_wrap *wrap) {
    const size_t *unmatched = diff->alignment.unmatched;
    size_t begin = diff->first > LINES_BEFORE ? diff->first - LINES_BEFORE : 0;
    printf("\n");
    put_sides(wrap, "A", "B", ' ');
    if (begin > 0) {
        printf("      (%zu equal event%s)\n", begin, begin == 1 ? "" : "s");
    }
    for (size_t index = begin; index < diff->first; index++) {
        print_row(
            &(struct bz_align_row){.events = {event_of(diff, 0, index), event_of(diff, 1, index)}},
            wrap);
    }
    print_rows(diff, wrap);
    if (unmatched[0] + unmatched[1] > 0) {
        printf("unmatched steps: %zu of A, %zu of B\n", unmatched[0], unmatched[1]);
    }
    printf("\n");
}

static void print_text(const struct diff *diff) {
    struct bz_wrap wrap = {.out = stdout, .is_colour = bz_wrap_has_colour(stdout)};
    bool is_same = diff->first == event_count(diff);
    const char *second = diff->variant != NULL ? diff->inputs[0] : diff->inputs[1];
    bz_wrap_whole(&wrap, "A: ", diff->inputs[0]);
    bz_wrap_whole(&wrap, "B: ", second);
    if (diff->variant != NULL) {
        bz_wrap_printf(&wrap, 3, BZ_COLOUR_NONE, "   its choices on variant %s", diff->variant);
    }
    print_settings(diff, &wrap);
    if (is_same) {
        printf("the same %zu event%s\n", event_count(diff), event_count(diff) == 1 ? "" : "s");
    } else {
        const struct bz_trace_event *event = event_of(diff, 0, diff->first);
        event = event != NULL ? event : event_of(diff, 1, diff->first);
        printf("first difference: step %" PRIu64 "\n", event->step);
        print_events(diff, &wrap);
    }
    print_verdicts(diff, &wrap);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_side(const struct diff *diff, unsigned side, struct bz_json *root) {
    const struct bz_trace *trace = diff->traces[side];
    const struct bz_replay_report *report = &diff->runs[side].report;
    struct bz_json *object = bz_json_add_object(root, side == 0 ? "a" : "b");
    struct bz_json *settings;
    const char *name;
    const char *value;
    bz_json_add_string(object, "input",
                       side == 0 || diff->variant != NULL ? diff->inputs[0] : diff->inputs[1]);
    bz_json_add_hex(object, "seed", trace->seed);
    bz_json_add_number(object, "events", trace->event_count);
    bz_json_add_digest(object, "digest", trace->digest);
    bz_json_add_string(object, "oracle", trace->verdict.oracle);
    bool is_cut = strcmp(trace->verdict.result, "cut") == 0;
    if (is_cut || trace->verdict.oracle != NULL || report->result == BZ_REPLAY_MATCHED) {
        bool is_told = trace->verdict.oracle == NULL && bz_replay_is_cut(report);
        bz_json_add_bool(object, "cut_short", is_cut || is_told);
    } else {
        bz_json_add_string(object, "cut_short", NULL);
    }
    bz_json_add_number(object, "step", trace->verdict.step);
    bz_json_add_string(object, "task", trace->verdict.task);
    bz_json_add_string(object, "object", trace->verdict.object);
    bz_json_add_string(object, "message", trace->verdict.message);
    settings = bz_json_add_object(object, "settings");
    for (size_t index = 0; (name = setting(trace, index, &value)) != NULL; index++) {
        if (bz_is(value_of(trace, name), value)) { /* a param cannot repeat a key */
            bz_json_add_string(settings, name, value);
        }
    }
}

static void print_json(const struct diff *diff, int code) {
    char text[EVENT_TEXT_BYTES];
    struct bz_json *root = bz_json_new_object();
    const struct bz_trace_event *events[] = {event_of(diff, 0, diff->first),
                                             event_of(diff, 1, diff->first)};
    const struct bz_trace_event *event = events[0] != NULL ? events[0] : events[1];
    bz_json_add_bool(root, "equal", is_equal(diff));
    bz_json_add_known(root, "step", event != NULL, event != NULL ? event->step : 0);
    bz_json_add_known(root, "index", event != NULL, diff->first);
    add_side(diff, 0, root);
    add_side(diff, 1, root);
    struct bz_json *first = bz_json_add_object(root, "first");
    for (unsigned side = 0; side < 2; side++) {
        bz_json_add_string(
            first, side == 0 ? "a" : "b",
            events[side] == NULL ? NULL : bz_trace_event_text(events[side], text, sizeof text));
    }
    struct bz_json *unmatched = bz_json_add_object(root, "unmatched_steps");
    bz_json_add_number(unmatched, "a", diff->alignment.unmatched[0]);
    bz_json_add_number(unmatched, "b", diff->alignment.unmatched[1]);
    bz_json_add_number(root, "exit_code", (uint64_t)code);
    bz_json_put(root);
}

static int compare(struct diff *diff) {
    int code = load(diff);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    while (diff->first < event_count(diff) && is_same_event(diff, diff->first)) {
        diff->first++;
    }
    bz_align(&diff->alignment, diff->traces[0], diff->traces[1], diff->first);
    code = is_equal(diff) ? BZ_EXIT_OK : BZ_EXIT_VIOLATION;
    if (diff->is_json) {
        print_json(diff, code);
    } else {
        print_text(diff);
    }
    return code;
}

int bz_command_diff(int argc, char **argv) {
    struct diff diff = {.is_all = false};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &diff,
        .args_doc = "TRACE.json|TOKEN [TRACE.json|TOKEN]",
        .arguments = diff.inputs,
        .arguments_max = 2,
        .missing = "a trace file or a token",
        .plugins = BZ_PLUGINS_RUN,
        .check = check_options,
        .doc = "Compares two runs, or with --variant one run on two variants, and prints them side "
               "by side from the first difference. Exit status: 0 they are equal, 1 they differ, 2 "
               "bad input."};
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_trace_init(&diff.record);
    for (unsigned side = 0; side < 2; side++) {
        bz_trace_init(&diff.runs[side].trace);
        diff.traces[side] = &diff.runs[side].trace;
    }
    code = compare(&diff);
    bz_alignment_fini(&diff.alignment);
    bz_trace_fini(&diff.record);
    bz_named_run_fini(&diff.runs[0]);
    bz_named_run_fini(&diff.runs[1]);
    return code;
}
