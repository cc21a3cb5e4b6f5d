/* buzzer show: a run as a picture, or as a program that makes it again. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/run_argument.h"
#include "tools/show/show.h"
#include "tools/story/story.h"
#include "traces/text.h"

struct show {
    const char *input;
    const char *output;
    uint32_t format_number; /* from 1 on; 0: not given */
    const struct bz_show_format *format;
    struct bz_named_run run;
};

/* "text|html", and "text (the default): lanes of tasks; html: a page". */
static void describe_formats(struct bz_text *words, struct bz_text *help) {
    for (const struct bz_show_format *row = bz_show_formats; row->name != NULL; row++) {
        bool is_first = row == bz_show_formats;
        bz_text_add(words, "%s%s", is_first ? "" : "|", row->name);
        bz_text_add(help, "%s%s%s: %s", is_first ? "" : "; ", row->name,
                    is_first ? " (the default)" : "", row->summary);
    }
}

static void check_options(void *target) {
    struct show *show = target;
    show->format = &bz_show_formats[show->format_number == 0 ? 0 : show->format_number - 1];
    if (show->format->is_for_files && show->output == NULL && isatty(STDOUT_FILENO) == 1) {
        bz_cli_misuse("%s is not for a terminal; give a file with -o FILE", show->format->name);
    }
}

/* A token is run again. Of a trace everything is in the file, so it may be of a program that is not
 * here. */
static int load(struct show *show) {
    char error[BZ_TRACE_ERROR_BYTES];
    struct bz_named_run *run = &show->run;
    bz_trace_init(&run->trace);
    if (!bz_named_run_is_token(show->input)) {
        return bz_trace_read(&run->trace, show->input, error, sizeof error)
                   ? BZ_EXIT_OK
                   : bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    int code = bz_named_run_load(run, show->input);
    const struct bz_replay_report *report = &run->report;
    if (code == BZ_EXIT_OK && report->result == BZ_REPLAY_DIVERGED) {
        code = bz_cli_fail(BZ_EXIT_DIVERGED,
                           "the run of the token diverged at step %" PRIu32 ": expected %s, got %s",
                           report->step, report->expected, report->got);
    }
    return code;
}

static int write_picture(const struct show *show, const struct bz_text *text) {
    if (show->output == NULL) {
        fwrite(text->bytes, 1, text->length, stdout);
        return BZ_EXIT_OK; /* a full stdout is noticed at the end of the program */
    }
    return bz_file_put(show->output, text->bytes, text->length)
               ? BZ_EXIT_OK
               : bz_cli_fail(bz_cli_exit_of_errno(errno), "cannot write '%s': %s", show->output,
                             strerror(errno));
}

static int run_show(struct show *show) {
    int code = load(show);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    struct bz_story story;
    struct bz_text text = {0};
    char reason[BZ_TRACE_ERROR_BYTES];
    bz_story_init(&story, &show->run.trace);
    const struct bz_view view = {.trace = &show->run.trace,
                                 .story = &story,
                                 .token = show->run.is_token ? show->input : NULL};
    if (show->format->refuses != NULL && show->format->refuses(&view, reason, sizeof reason)) {
        code = bz_cli_fail(BZ_EXIT_USAGE,
                           "--format %s cannot show this run: %s; use --format text, or 'buzzer "
                           "replay' with the trace or its token",
                           show->format->name, reason);
    } else {
        show->format->show(&view, &text);
        code = write_picture(show, &text);
    }
    bz_text_fini(&text);
    bz_story_fini(&story);
    return code;
}

int bz_command_show(int argc, char **argv) {
    struct show show = {.input = NULL};
    struct bz_text words = {0};
    struct bz_text help = {0};
    describe_formats(&words, &help);
    const struct bz_option options[] = {
        {"format", words.bytes, help.bytes, BZ_OPTION_WORD, offsetof(struct show, format_number)},
        {"output", "FILE", "Write to FILE, and replace it if it exists", BZ_OPTION_TEXT,
         offsetof(struct show, output), .letter = 'o'},
        {NULL},
    };
    const struct bz_syntax syntax = {
        .options = options,
        .target = &show,
        .args_doc = "TRACE.json|TOKEN",
        .arguments = &show.input,
        .arguments_max = 1,
        .missing = "a trace file or a token",
        .plugins = BZ_PLUGINS_RUN,
        .check = check_options,
        .doc = "Shows one run as a picture, or as a program that repeats it. The program that was "
               "traced need not be here. Exit status: 0 done, 2 bad input, 3 the run of the "
               "token diverged."};
    int code = bz_options_parse(&syntax, argc, argv);
    bz_text_fini(&words);
    bz_text_fini(&help);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    code = run_show(&show);
    bz_named_run_fini(&show.run);
    return code;
}
