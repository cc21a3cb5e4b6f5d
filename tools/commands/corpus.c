/* buzzer corpus: replays every trace of a folder, or carries them over to other code. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/program/replay.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "tools/report/cases.h"
#include "tools/report/ci.h"
#include "tools/report/report.h"
#include "tools/report/stored_report.h"

/* As the words of --expect. */
enum expect { EXPECT_RECORD = 0, EXPECT_PASS = 1, EXPECT_FAIL = 2 };

struct corpus {
    const char *folder;
    const char *variant_name;
    const struct bz_variant *variant; /* to carry the schedules over to; NULL: the recorded one */
    uint32_t expect;                  /* enum expect */
    bool allows_empty;
    bool is_json;
    struct bz_ci ci;
    struct bz_outcome outcome;
    struct bz_progress progress; /* for its clock */
    struct bz_json *root;
    struct bz_json *results;
    uint64_t matched;
    uint64_t diverged;
    uint64_t unreadable;
    uint64_t carried[BZ_CARRY_COUNT];
    uint64_t unexpected;
    bool is_out;         /* of memory: the rest was not replayed */
    uint64_t of_plugins; /* traces of their variants */
};

static const struct bz_option options[] = {
    {"variant", "V",
     "Play every schedule on this implementation; a choice that does not fit becomes the default "
     "choice",
     BZ_OPTION_TEXT, offsetof(struct corpus, variant_name)},
    {"expect", "pass|fail",
     "Result that every schedule must have (with --variant: pass). Without --variant, a schedule "
     "whose strict replay diverges is played on the recorded variant as it is now",
     BZ_OPTION_WORD, offsetof(struct corpus, expect)},
    {"allow-empty", NULL, "Accept a folder without traces", BZ_OPTION_FLAG,
     offsetof(struct corpus, allows_empty)},
    BZ_CI_OPTIONS(struct corpus, ci),
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct corpus, is_json)},
    {NULL},
};

/* The corpus of the source tree, or else the one installed with the program. */
static const char *default_folder(char *buffer, size_t size_bytes) {
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (access("traces/corpus", F_OK) == 0 || length <= 0) {
        return "traces/corpus";
    }
    program[length] = '\0';
    for (int level = 0; level < 2; level++) { /* PREFIX/bin/buzzer */
        char *slash = strrchr(program, '/');
        if (slash != NULL) {
            *slash = '\0';
        }
    }
    int written = snprintf(buffer, size_bytes, "%s/share/buzzer/corpus", program);
    bool is_there = written > 0 && (size_t)written < size_bytes && access(buffer, F_OK) == 0;
    return is_there ? buffer : "traces/corpus";
}

/* The line without the blanks that align it. */
static void add_squeezed(struct bz_text *text, const char *line) {
    for (; *line != '\0'; line++) {
        if (line[0] != ' ' || line[1] != ' ') {
            bz_text_add(text, "%c", *line);
        }
    }
}

/* `program`: NULL: not known. */
static void add_command(struct bz_text *text, const struct corpus *corpus, const char *file,
                        const struct bz_program *program) {
    char path[2 * PATH_MAX];
    char quoted[8 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", corpus->folder, file);
    bz_text_add(text, "%s", bz_caller.replay);
    if (program != NULL) {
        bz_plugins_add_options(text, program->scenario, program->variant);
    }
    bz_text_add(text, "%s%s %s", corpus->variant != NULL ? " --variant " : "",
                corpus->variant != NULL ? corpus->variant_name : "",
                bz_cli_quoted(path, quoted, sizeof quoted));
}

/* Says what became of a file, in a line, which is released. Returns its case. */
static struct bz_case *note(struct corpus *corpus, const char *file, enum bz_case_result result,
                            const char *type, struct bz_text *line) {
    struct bz_case *one = bz_outcome_case(&corpus->outcome, result, type);
    if (!corpus->is_json) {
        /* a file may have any name */
        bz_wrap_whole(&(struct bz_wrap){.out = stdout}, "", line->bytes);
    }
    bz_text_add(&one->name, "%s%s%s", file, corpus->variant != NULL ? " on " : "",
                corpus->variant != NULL ? corpus->variant_name : "");
    add_squeezed(&one->message, line->bytes);
    bz_text_fini(line);
    return one;
}

static void note_unreadable(struct corpus *corpus, const char *file, const char *error) {
    struct bz_text line = {0};
    corpus->unreadable++;
    bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    if (corpus->is_json) {
        struct bz_json *item = bz_json_append_object(corpus->results);
        bz_json_add_string(item, "file", file);
        bz_json_add_string(item, "result", "unreadable");
        bz_json_add_string(item, "message", error);
    }
    bz_text_add(&line, "%-10s %s", "unreadable", file);
    struct bz_case *one = note(corpus, file, BZ_CASE_ERROR, "unreadable", &line);
    bz_text_add(&one->message, ": %s", error);
}

static void note_replayed(struct corpus *corpus, const char *file, const struct bz_trace *trace,
                          const struct bz_program *program, const struct bz_replay_report *report) {
    char text[BZ_CAUSE_BYTES];
    enum bz_cause cause = BZ_CAUSE_UNKNOWN;
    struct bz_text line = {0};
    bool is_matched = report->result == BZ_REPLAY_MATCHED;
    corpus->matched += is_matched;
    corpus->diverged += !is_matched;
    if (!is_matched) {
        cause = bz_trace_cause(trace, text, sizeof text);
    }
    if (corpus->is_json) {
        struct bz_json *item = bz_json_append_object(corpus->results);
        bz_json_add_string(item, "file", file);
        bz_json_add_replay(item, report);
        if (!is_matched) {
            bz_json_add_cause(item, cause, text);
        }
    }
    if (is_matched) {
        bz_text_add(&line, "%-10s %s: %" PRIu32 " steps, %s", "matched", file, report->steps,
                    bz_replay_verdict(report));
        (void)note(corpus, file, BZ_CASE_PASSED, "matched", &line);
    } else {
        bz_text_add(&line, "%-10s %s: step %" PRIu32 ", expected %s, got %s; cause: %s", "diverged",
                    file, report->step, report->expected, report->got, text);
        struct bz_case *one = note(corpus, file, BZ_CASE_FAILED, "diverged", &line);
        add_command(&one->command, corpus, file, program);
    }
}

/* --- carried over ----------------------------------------------------------------------------- */

static bool is_carried(const struct corpus *corpus) {
    return corpus->expect != EXPECT_RECORD;
}

static const char *expect_text(const struct corpus *corpus) {
    return corpus->expect == EXPECT_PASS ? "pass" : "fail";
}

static bool is_unexpected(const struct corpus *corpus, enum bz_carry_result result) {
    return corpus->expect == EXPECT_PASS ? bz_carry_is_failure(result) : result == BZ_CARRY_PASSES;
}

static void note_carried(struct corpus *corpus, const char *file, const struct bz_trace *trace,
                         const struct bz_carry *carry) {
    struct bz_text line = {0};
    bool is_wrong = carry->verdict != NULL && is_unexpected(corpus, carry->result);
    const char *oracle = carry->verdict != NULL ? carry->verdict->oracle : NULL;
    bz_carry_add_line(&line, file, trace, carry);
    if (is_wrong) {
        bz_text_add(&line, " (expected: %s)", expect_text(corpus));
    }
    struct bz_case *one = note(corpus, file,
                               is_wrong                                   ? BZ_CASE_FAILED
                               : carry->result == BZ_CARRY_CUT_SHORT      ? BZ_CASE_ERROR
                               : carry->result == BZ_CARRY_NOT_APPLICABLE ? BZ_CASE_SKIPPED
                                                                          : BZ_CASE_PASSED,
                               oracle != NULL ? oracle : bz_carry_name(carry->result), &line);
    if (is_wrong) {
        add_command(&one->command, corpus, file, &carry->program);
    }
    if (is_wrong && oracle != NULL && bz_ci_is_wanted(&corpus->ci)) {
        /* a run that is strict was not recorded again */
        bz_cases_add_run(one, carry->is_strict ? trace : &carry->record, carry->program.variant);
    }
}

static void carry_trace(struct corpus *corpus, const char *file, const char *path,
                        const struct bz_trace *trace) {
    struct bz_carry carry;
    char message[BZ_ERROR_BYTES + PATH_MAX + 2];
    bz_carry(&carry, trace, &bz_cli_catalog, corpus->variant);
    snprintf(message, sizeof message, "%s: %s", path, carry.message);
    if (carry.result == BZ_CARRY_LACKS) {
        corpus->is_out = true;
        bz_cli_fail(BZ_EXIT_INTERNAL, "%s", message);
    } else if (carry.result == BZ_CARRY_REFUSED) {
        note_unreadable(corpus, file, message);
    } else {
        corpus->carried[carry.result]++;
        corpus->unexpected += is_unexpected(corpus, carry.result);
        corpus->of_plugins += carry.verdict != NULL && bz_plugins_have(&carry.program);
        if (corpus->is_json) {
            bz_carry_add_json(bz_json_append_object(corpus->results), file, trace, &carry,
                              !is_unexpected(corpus, carry.result));
        }
        note_carried(corpus, file, trace, &carry);
    }
    bz_carry_fini(&carry);
}

/* --- a file ----------------------------------------------------------------------------------- */

static void replay_trace(struct corpus *corpus, const char *file, const char *path,
                         const struct bz_trace *trace) {
    char error[BZ_ERROR_BYTES];
    char message[BZ_ERROR_BYTES + PATH_MAX + 2];
    struct bz_program program;
    struct bz_replay_report report = {.lack = ""};
    if (!bz_trace_program(trace, &bz_cli_catalog, &program, error, sizeof error) ||
        !bz_replay_trace(trace, &program, &report, error, sizeof error)) {
        snprintf(message, sizeof message, "%s: %s", path, error);
        corpus->is_out = report.lack[0] != '\0';
        if (corpus->is_out) {
            bz_cli_fail(BZ_EXIT_INTERNAL, "%s", message);
        } else {
            note_unreadable(corpus, file, message);
        }
    } else {
        corpus->of_plugins += bz_plugins_have(&program);
        note_replayed(corpus, file, trace, &program, &report);
    }
}

static void replay_file(struct corpus *corpus, const char *file) {
    char path[PATH_MAX];
    char error[BZ_ERROR_BYTES];
    struct bz_trace trace;
    bz_trace_init(&trace);
    int length = snprintf(path, sizeof path, "%s/%s", corpus->folder, file);
    if (length < 0 || (size_t)length >= sizeof path) {
        note_unreadable(corpus, file, "the path is too long");
    } else if (!bz_trace_read(&trace, path, error, sizeof error)) {
        note_unreadable(corpus, file, error); /* the message names the file */
    } else if (is_carried(corpus)) {
        carry_trace(corpus, file, path, &trace);
    } else {
        replay_trace(corpus, file, path, &trace);
    }
    bz_trace_fini(&trace);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void add_totals_text(struct bz_text *text, const struct corpus *corpus, uint64_t total) {
    if (total == 0) {
        bz_text_add(text, "no *.json in '%s': nothing was replayed, which --allow-empty accepts\n",
                    corpus->folder);
        return;
    }
    if (!is_carried(corpus)) {
        bz_text_add(text,
                    "%" PRIu64 " traces: %" PRIu64 " matched, %" PRIu64 " diverged, %" PRIu64
                    " unreadable\n",
                    total, corpus->matched, corpus->diverged, corpus->unreadable);
        return;
    }
    const uint64_t *carried = corpus->carried;
    bz_text_add(
        text,
        "%" PRIu64 " traces: %" PRIu64 " fail as recorded, %" PRIu64 " fail otherwise, %" PRIu64
        " pass, %" PRIu64 " cut short, %" PRIu64 " not applicable, %" PRIu64 " unreadable\n",
        total, carried[BZ_CARRY_FAILS], carried[BZ_CARRY_FAILS_OTHERWISE], carried[BZ_CARRY_PASSES],
        carried[BZ_CARRY_CUT_SHORT], carried[BZ_CARRY_NOT_APPLICABLE], corpus->unreadable);
    if (corpus->unexpected > 0) {
        bz_text_add(text, "%" PRIu64 " of them should %s and %s\n", corpus->unexpected,
                    expect_text(corpus), corpus->expect == EXPECT_PASS ? "did not" : "passed");
    }
}

static void add_totals(const struct corpus *corpus, uint64_t total, int code) {
    bz_json_add_number(corpus->root, "total", total);
    if (is_carried(corpus)) {
        static const char *const keys[] = {"fails_as_recorded", "fails_otherwise", "passes",
                                           "cut_short", "not_applicable"};
        for (size_t result = 0; result < sizeof keys / sizeof keys[0]; result++) {
            bz_json_add_number(corpus->root, keys[result], corpus->carried[result]);
        }
        bz_json_add_number(corpus->root, "unexpected", corpus->unexpected);
    } else {
        bz_json_add_number(corpus->root, "matched", corpus->matched);
        bz_json_add_number(corpus->root, "diverged", corpus->diverged);
    }
    bz_json_add_number(corpus->root, "unreadable", corpus->unreadable);
    bz_json_add_number(corpus->root, "exit_code", (uint64_t)code);
    bz_json_put(corpus->root);
}

static int exit_code_of(const struct corpus *corpus, uint64_t total) {
    if (corpus->is_out) {
        return BZ_EXIT_INTERRUPTED;
    }
    if (corpus->unexpected > 0) {
        return BZ_EXIT_VIOLATION;
    }
    if (corpus->diverged > 0 || corpus->unreadable > 0) {
        return corpus->diverged > 0 ? BZ_EXIT_DIVERGED : BZ_EXIT_USAGE;
    }
    if (corpus->carried[BZ_CARRY_CUT_SHORT] > 0) {
        return BZ_EXIT_INTERRUPTED;
    }
    if (total > 0 && corpus->carried[BZ_CARRY_NOT_APPLICABLE] == total) {
        return bz_cli_fail(BZ_EXIT_UNPROVED, "nothing was proved: no trace of '%s' is applicable",
                           corpus->folder);
    }
    if (total > 0 && corpus->of_plugins == 0 && bz_options_has_plugins()) {
        return bz_cli_fail(
            BZ_EXIT_UNPROVED,
            "the plug-in is not tested: no trace of '%s' uses a variant of this plug-in",
            corpus->folder);
    }
    return BZ_EXIT_OK;
}

/* The case of the whole is the first; it is known last. */
static int end_outcome(struct corpus *corpus, const char *totals, int code) {
    struct bz_case *whole = corpus->outcome.cases[0];
    whole->result = code == BZ_EXIT_OK                                      ? BZ_CASE_PASSED
                    : code == BZ_EXIT_VIOLATION || code == BZ_EXIT_DIVERGED ? BZ_CASE_FAILED
                                                                            : BZ_CASE_ERROR;
    bz_text_add(&whole->message, "%.*s", (int)strcspn(totals, "\n"), totals);
    bz_text_add(&whole->story, "%s", totals);
    bz_outcome_property(&corpus->outcome, "folder", "%s", corpus->folder);
    if (is_carried(corpus)) {
        bz_outcome_property(&corpus->outcome, "expect", "%s", expect_text(corpus));
    }
    bz_outcome_property(&corpus->outcome, "exit_code", "%d", code);
    corpus->outcome.seconds = bz_progress_end(&corpus->progress);
    int written = bz_ci_end(&corpus->outcome);
    return written != BZ_EXIT_OK ? written : code;
}

static int finish(struct corpus *corpus) {
    uint64_t total = corpus->matched + corpus->diverged + corpus->unreadable;
    struct bz_text totals = {0};
    for (size_t result = 0; result < BZ_CARRY_COUNT; result++) {
        total += corpus->carried[result];
    }
    int code = exit_code_of(corpus, total);
    add_totals_text(&totals, corpus, total);
    if (!corpus->is_json) {
        printf("%s", totals.bytes);
    }
    code = end_outcome(corpus, totals.bytes, code);
    if (corpus->is_json) {
        add_totals(corpus, total, code);
    }
    bz_text_fini(&totals);
    return code;
}

/* With --variant, what must hold is that nothing fails, unless the command line says otherwise. */
static int choose_variant(struct corpus *corpus) {
    if (corpus->variant_name == NULL) {
        return BZ_EXIT_OK;
    }
    corpus->variant = bz_catalog_variant(&bz_cli_catalog, corpus->variant_name);
    if (corpus->variant == NULL) {
        char error[BZ_ERROR_BYTES];
        struct bz_program program;
        (void)bz_program_find(&program, &bz_cli_catalog, bz_cli_catalog.scenarios[0]->name,
                              corpus->variant_name, NULL, error, sizeof error);
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    corpus->expect = corpus->expect == EXPECT_RECORD ? EXPECT_PASS : corpus->expect;
    return BZ_EXIT_OK;
}

static void begin_json(struct corpus *corpus) {
    corpus->root = bz_json_new_object();
    bz_json_add_string(corpus->root, "folder", corpus->folder);
    if (is_carried(corpus)) {
        bz_json_add_string(corpus->root, "variant", corpus->variant_name);
        bz_json_add_string(corpus->root, "expect", expect_text(corpus));
    }
    corpus->results = bz_json_add_array(corpus->root, "results");
}

static void begin_outcome(struct corpus *corpus) {
    bz_progress_begin(&corpus->progress, true, 0, 0);
    bz_text_add(&corpus->outcome.suite, "%s", corpus->folder);
    bz_text_add(&corpus->outcome.title, "all traces%s%s", corpus->variant != NULL ? " on " : "",
                corpus->variant != NULL ? corpus->variant_name : "");
    struct bz_case *whole = bz_outcome_case(&corpus->outcome, BZ_CASE_PASSED, "traces");
    bz_text_add(&whole->name, "%s", corpus->outcome.title.bytes);
}

static int run_corpus(struct corpus *corpus) {
    struct dirent **entries;
    int count = bz_carry_list(corpus->folder, &entries);
    if (count < 0) {
        return bz_cli_fail(bz_cli_exit_of_errno(errno), "cannot read the folder '%s': %s",
                           corpus->folder, strerror(errno));
    }
    if (count == 0 && !corpus->allows_empty) {
        free(entries);
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "no *.json in '%s': nothing was replayed (--allow-empty accepts that)",
                           corpus->folder);
    }
    if (corpus->is_json) {
        begin_json(corpus);
    }
    begin_outcome(corpus);
    for (int index = 0; index < count; index++) {
        if (!corpus->is_out) {
            replay_file(corpus, entries[index]->d_name);
        }
        free(entries[index]);
    }
    free(entries);
    return finish(corpus);
}

int bz_command_corpus(int argc, char **argv) {
    struct corpus corpus = {.folder = NULL};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &corpus,
        .args_doc = "[DIR]",
        .arguments = &corpus.folder,
        .arguments_max = 1,
        .plugins = BZ_PLUGINS_RUN,
        .doc = "Replays every *.json of a folder (default: traces/corpus). With --variant or "
               "--expect, plays the schedules on the code as it is now. Exit status: 0 every trace "
               "matched, or did as expected, 1 one did not, 2 one is unreadable, or there is none, "
               "3 one diverged, 4 no trace uses a primitive of the variant, or a variant of the "
               "plug-ins, 5 one hit its step limit."};
    char folder[PATH_MAX];
    int code = bz_options_parse(&syntax, argc, argv);
    if (corpus.folder == NULL) {
        corpus.folder = default_folder(folder, sizeof folder);
    }
    corpus.ci.has_json = corpus.is_json;
    code = bz_ci_begin(&corpus.ci, code, corpus.folder, "all traces");
    code = code == BZ_EXIT_OK ? choose_variant(&corpus) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_outcome_init(&corpus.outcome, "corpus");
    code = run_corpus(&corpus);
    bz_outcome_fini(&corpus.outcome);
    return code;
}
