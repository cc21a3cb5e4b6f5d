/* buzzer explain: why a run fails, in plain words. */
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/story/explanation.h"

struct explain {
    const char *input;
    bool is_json;
};

static const struct bz_option options[] = {
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct explain, is_json)},
    {NULL},
};

int bz_command_explain(int argc, char **argv) {
    struct explain explain = {.input = NULL};
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
    code = bz_named_run_load_failing(&run, explain.input);
    if (code == BZ_EXIT_OK) {
        code = bz_explanation_make(&explanation, &run);
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
