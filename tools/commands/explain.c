/* buzzer explain: why a run fails, in plain words. */
#include <errno.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/show/show.h"
#include "tools/story/explanation.h"
#include "traces/text.h"

struct explain {
    const char *name;
    const char *input;
    const char *output;
    bool is_json;
};

static const struct bz_option options[] = {
    {"output", "FILE", "Write a page for a browser: the smallest run, with the odds",
     BZ_OPTION_TEXT, offsetof(struct explain, output), .is_once = true, .letter = 'o'},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct explain, is_json)},
    {NULL},
};

/* The page of `show --format html`, with the curve of the odds. */
static int write_page(const struct explain *explain, const struct bz_explanation *explanation) {
    const struct bz_why *why = &explanation->why;
    struct bz_curve_point curve[BZ_WHY_STEPS_MAX + 2];
    struct bz_text page = {0};
    for (uint32_t index = 0; index < why->odds_count; index++) {
        curve[index] = (struct bz_curve_point){
            .step = why->odds_step[index], .failed = why->odds[index], .runs = why->samples};
    }
    struct bz_view view = {.trace = &explanation->trace,
                           .story = &explanation->story,
                           .token = explanation->token[0] != '\0' ? explanation->token : NULL,
                           .curve = explanation->has_why ? curve : NULL,
                           .curve_count = explanation->has_why ? why->odds_count : 0};
    bz_show_html(&view, &page);
    bool is_written = bz_file_put(explain->output, page.bytes, page.length);
    bz_text_fini(&page);
    return is_written ? BZ_EXIT_OK
                      : bz_cli_fail(explain->name, bz_cli_exit_of_errno(errno),
                                    "cannot write '%s': %s", explain->output, strerror(errno));
}

int bz_command_explain(int argc, char **argv) {
    struct explain explain = {.name = argv[0]};
    static struct bz_named_run run;
    static struct bz_explanation explanation;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &explain,
        .args_doc = "TRACE.json|TOKEN",
        .arguments = &explain.input,
        .arguments_max = 1,
        .missing = "a trace file or a token",
        .plugins = BZ_PLUGINS_RUN,
        .doc = "Explains a run that fails: what happened, what was due, which choices matter, when "
               "it was lost, which similar run passes, and which known fault it resembles. Exit "
               "status: 0 done, 2 bad input, or nothing to explain, 3 it does not replay, 5 "
               "interrupted."};
    int code = bz_options_parse(&syntax, argc, argv);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    bz_interrupt_catch();
    code = bz_named_run_load_failing(&run, explain.name, explain.input);
    if (code == BZ_EXIT_OK) {
        code = bz_explanation_make(&explanation, explain.name, &run);
        if (code == BZ_EXIT_OK && explain.output != NULL) {
            code = write_page(&explain, &explanation);
        }
        if (code == BZ_EXIT_OK && explain.is_json) {
            bz_explanation_print_json(&explanation, code);
        } else if (code == BZ_EXIT_OK) {
            bz_explanation_print(&explanation);
        }
        bz_explanation_fini(&explanation);
    }
    bz_named_run_fini(&run);
    return code;
}
