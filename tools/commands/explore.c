/* buzzer explore: searches every schedule of a program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/explore/checkpoint.h"
#include "sim/explore/explore.h"
#include "sim/explore/fixed_addresses.h"
#include "sim/session/stop.h"
#include "sim/session/work_file.h"
#include "tools/cli/cli.h"
#include "tools/cli/exit_report.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "tools/report/cases.h"
#include "tools/report/ci.h"
#include "tools/report/explore_report.h"
#include "tools/report/findings_output.h"
#include "tools/report/text_output.h"
#include "traces/lack.h"
#include "traces/text.h"

#define STATES_LIMIT UINT64_C(1000000000000)
#define NOTHING_PROVED "nothing is proved so far"
#define REDUCTIONS_DEFAULT UINT32_MAX /* not given; not the same as all, given */

struct explore {
    struct bz_options options;
    struct bz_explore_config config;
    const char *out;
    const char *resume;
    struct bz_search_limits search;
    char **command_line;
    bool has_fixed_addresses;
    struct bz_work_file file;
    bool has_file; /* a checkpoint */
    struct bz_explore_checkpoint checkpoint;
    bool is_json;
    bool is_quiet;
    struct bz_ci ci;
    struct bz_progress progress;
    char so_far[160]; /* what is proved, or was found */
    struct bz_kept_findings *findings;
    struct bz_findings_output output;
};

static uint32_t parse_reduction(const char *word) {
    const char *names[BZ_REDUCE_COUNT];
    for (unsigned index = 0; index < BZ_REDUCE_COUNT; index++) {
        names[index] = bz_reduction_name(index);
        if (strcmp(names[index], word) == 0) {
            return 1u << index;
        }
    }
    bz_cli_misuse("--reduce: no reduction '%s'%s (snapshots, states, queue, symmetry, yields)",
                  word, bz_cli_hint(word, names, BZ_REDUCE_COUNT));
    return 0;
}

static void parse_reductions(void *target, const char *option, char *text) {
    struct explore *explore = target;
    (void)option;
    explore->config.reductions = 0;
    if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0) {
        explore->config.reductions = text[0] == 'a' ? BZ_REDUCE_ALL : 0;
        return;
    }
    for (const char *word; (word = strsep(&text, ",")) != NULL;) {
        explore->config.reductions |= parse_reduction(word);
    }
    uint32_t above = explore->config.reductions & ~BZ_REDUCE_SNAPSHOTS;
    uint32_t needs = above & ~BZ_REDUCE_STATES ? BZ_REDUCE_SNAPSHOTS | BZ_REDUCE_STATES
                     : above != 0              ? BZ_REDUCE_SNAPSHOTS
                                               : 0;
    needs |= above & BZ_REDUCE_SYMMETRY ? BZ_REDUCE_QUEUE : 0;
    if ((needs & ~explore->config.reductions) != 0) {
        bz_cli_misuse("--reduce: symmetry needs queue; queue and yields need states; and "
                      "states needs snapshots");
    }
}

/* Also where the program is begun again, before a plug-in is loaded. */
static void check_options(void *target) {
    struct explore *explore = target;
    explore->has_fixed_addresses = (explore->out != NULL || explore->resume != NULL) &&
                                   bz_fixed_addresses(explore->command_line);
}

static const struct bz_option options[] = {
    {"max-delays", "D", "Maximum number of delays in a schedule (default: no limit)",
     BZ_OPTION_NUMBER32, offsetof(struct explore, config.delays_max), .is_stored = true,
     .most = UINT32_MAX - 1},
    {"max-states", "N", "Stop after this many states (default 50000000)", BZ_OPTION_NUMBER,
     offsetof(struct explore, config.states_max), .least = 1, .most = STATES_LIMIT},
    {"reduce", "all|none|LIST",
     "Reductions: all, none, or a list of snapshots, states, queue, symmetry, yields, separated by "
     "commas (default all)",
     BZ_OPTION_PARSED, .is_stored = true, .parse = parse_reductions},
    {"keep-going", NULL, "Continue after a violation", BZ_OPTION_FLAG,
     offsetof(struct explore, config.keep_going), .is_stored = true},
    {"out", "DIR", "Write a trace of each finding and a checkpoint to DIR", BZ_OPTION_TEXT,
     offsetof(struct explore, out), .is_stored = true},
    {"resume", "DIR",
     "Continue the search that was started with --out DIR; nothing is searched twice",
     BZ_OPTION_TEXT, offsetof(struct explore, resume)},
    BZ_SEARCH_OPTIONS(struct explore, search),
    BZ_CI_OPTIONS(struct explore, ci),
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct explore, is_json)},
    {"quiet", NULL, "Print findings, or why the search is not complete", BZ_OPTION_FLAG,
     offsetof(struct explore, is_quiet)},
    {NULL},
};

/* --- while it continues ----------------------------------------------------------------------- */

static bool poll(void *context, const struct bz_explore_progress *progress) {
    struct explore *explore = context;
    char line[160];
    char what[32];
    snprintf(what, sizeof what, progress->is_sweep ? "sweep" : "round %u", progress->round);
    snprintf(line, sizeof line, "%s: %" PRIu64 " states, %" PRIu64 " transitions so far", what,
             progress->states, progress->transitions);
    bz_progress_show_line(&explore->progress, line);
    return bz_interrupt_requested == 0;
}

static void note_proved(struct explore *explore, const struct bz_explore_result *so_far) {
    snprintf(explore->so_far, sizeof explore->so_far,
             "proved so far: no schedule with at most %u deviations fails", so_far->rounds - 1);
    bz_cli_set_lack(BZ_EXIT_INTERRUPTED, explore->so_far);
}

static void on_round(void *context, const struct bz_explore_result *so_far, bool is_sweep) {
    struct explore *explore = context;
    note_proved(explore, so_far);
    if (explore->is_json || explore->is_quiet) {
        return;
    }
    (void)bz_progress_end(&explore->progress);
    bz_explore_report_print_round(so_far, is_sweep);
}

static void on_outside_state(void *context) {
    (void)context;
    bz_cli_note("the variant keeps state outside of the simulation's memory (malloc, static "
                "variables), which snapshots do not have; searching without them, which is "
                "much slower");
}

/* --- what was found --------------------------------------------------------------------------- */

/* As a finding of code that runs otherwise when its choices are repeated. */
static struct bz_explore_finding unrepeatable(const struct bz_explore_finding *finding) {
    struct bz_explore_finding other = *finding;
    other.violation.oracle = "nondeterminism";
    snprintf(other.violation.message, sizeof other.violation.message,
             "the search came to a violation of %s, and another run with the same choices does "
             "not; something besides the choices decides, such as a static variable, memory of "
             "malloc(), or an address: %.200s",
             finding->violation.oracle, finding->violation.message);
    return other;
}

static void note_code(struct explore *explore, int code) {
    explore->output.code = code > explore->output.code ? code : explore->output.code;
}

/* Records it as an ordinary run. */
static void on_finding(void *context, uint32_t place, const struct bz_explore_finding *finding) {
    struct explore *explore = context;
    const struct bz_program *program = explore->config.program;
    struct bz_kept_findings *kept = explore->findings;
    struct bz_program repeat;
    struct bz_finding found;
    snprintf(explore->so_far, sizeof explore->so_far, "found: %s: %.100s",
             finding->violation.oracle, finding->violation.message);
    bz_cli_set_lack(BZ_EXIT_INTERRUPTED, explore->so_far);
    if (!finding->has_answers) {
        note_code(explore,
                  bz_cli_fail(BZ_EXIT_INTERNAL,
                              "%s was violated, on a schedule with more than %u choices other than "
                              "the default, which cannot be recorded: %s",
                              finding->violation.oracle, BZ_ANSWERS_ENTRIES_MAX,
                              finding->violation.message));
        return;
    }
    bool is_repeated = bz_explore_repeat(program, finding, &repeat, &found);
    bool is_lack =
        !is_repeated && found.violation.oracle == NULL && found.violation.message[0] != '\0';
    if (!is_repeated && !is_lack && program->contain.is_on) {
        struct bz_explore_finding other = unrepeatable(finding);
        is_repeated = bz_explore_repeat(program, &other, &repeat, &found);
    }
    if (is_lack) {
        note_code(explore, bz_cli_fail(BZ_EXIT_INTERRUPTED, "%s: %s", explore->so_far,
                                       found.violation.message));
    } else if (!is_repeated) {
        note_code(explore,
                  bz_cli_fail(BZ_EXIT_INTERNAL,
                              "%s was violated, but an ordinary run does not repeat it: %s",
                              finding->violation.oracle, finding->violation.message));
    } else {
        place = place < kept->count ? place : kept->count;
        (void)bz_findings_keep(kept, place, &repeat, &found);
    }
}

/* Searches witnesses. */
static int finish_findings(struct explore *explore, const struct bz_explore_result *result) {
    struct bz_kept_findings *kept = explore->findings;
    if (kept->count > result->finding_count) { /* of a sweep that rounds made simpler */
        bz_findings_truncate(kept, result->finding_count);
    }
    for (uint32_t index = 0; index < kept->count; index++) {
        bz_findings_announce(&explore->output, kept, index);
        bz_findings_search_witness(kept, index);
    }
    return explore->output.code;
}

/* --- the checkpoint --------------------------------------------------------------------------- */

static bool is_due(void *context) {
    return bz_work_file_is_due(&((struct explore *)context)->file);
}

struct writing {
    const struct bz_explore_checkpoint *checkpoint;
    const struct bz_search *search;
};

static bool write_content(void *context, FILE *file) {
    const struct writing *writing = context;
    return bz_explore_checkpoint_write(writing->checkpoint, writing->search, file);
}

static void keep(void *context, const struct bz_search *search) {
    struct explore *explore = context;
    char error[BZ_ERROR_BYTES];
    struct writing writing = {&explore->checkpoint, search};
    explore->checkpoint.spent_ms = bz_work_file_spent_ms(&explore->file);
    if (!bz_work_file_write(&explore->file, write_content, &writing, error, sizeof error) &&
        error[0] != '\0') {
        bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
}

static void on_begun_again(void *context, const char *why, bool is_sweep) {
    struct explore *explore = context;
    struct bz_text note = {0};
    bz_text_add(&note, "the search cannot continue from its place: %s. ", why);
    bz_text_add(&note, "The %s begins again; %s", is_sweep ? "sweep" : "round",
                explore->so_far[0] == '\0' ? NOTHING_PROVED : explore->so_far);
    if (bz_work_file_set_aside(&explore->file)) {
        bz_text_add(&note, "; the checkpoint also stays as %s" BZ_WORK_ASIDE, explore->file.path);
    }
    bz_cli_note(note.bytes);
    bz_text_fini(&note);
}

static void keep_with(struct explore *explore) {
    explore->has_file = true;
    explore->config.keep = keep;
    explore->config.is_due = is_due;
    explore->config.on_begun_again = on_begun_again;
}

/* Takes over what was found: it is recorded again, and its files are there. */
static void begin_where_it_was(struct explore *explore) {
    struct bz_explore_checkpoint *from = explore->config.from;
    const struct bz_explore_result *found = bz_explore_checkpoint_found(from);
    const struct bz_explore_result *so_far = bz_explore_checkpoint_result(from);
    struct bz_text note = {0};
    if (so_far->rounds > 0) {
        note_proved(explore, so_far);
    }
    for (uint32_t place = 0; place < found->finding_count; place++) {
        on_finding(explore, place, &found->findings[place]);
    }
    bz_text_add(&note, "%s continues after %" PRIu64 " transitions; %s", explore->file.path,
                so_far->transitions_total + so_far->transitions,
                explore->so_far[0] == '\0' ? NOTHING_PROVED : explore->so_far);
    if (!explore->is_quiet) {
        bz_cli_note(note.bytes);
    }
    bz_text_fini(&note);
}

static bool is_over(const struct bz_explore_result *result, bool is_ok) {
    return is_ok && !result->can_go_on && result->end != BZ_EXPLORE_INTERRUPTED;
}

/* After the report: nothing else has it if the program is killed before. */
static void finish_file(struct explore *explore, bool is_over) {
    struct bz_work_file *file = &explore->file;
    struct bz_text plugins = {0};
    if (explore->has_file && is_over) {
        bz_work_file_remove(file);
    } else if (explore->has_file && file->path[0] != '\0') {
        bz_plugins_add_options(&plugins, explore->config.program->scenario,
                               explore->config.program->variant);
        bz_findings_print_resume("explore", bz_work_file_is_only(file) ? file->folder : file->path,
                                 &plugins);
        bz_text_fini(&plugins);
    }
}

static int exit_code_of(const struct bz_explore_result *result) {
    if (result->finding_count > 0) {
        return BZ_EXIT_VIOLATION;
    }
    if (result->end == BZ_EXPLORE_NO_RESOURCE && bz_cli_has_refused()) {
        return BZ_EXIT_USAGE;
    }
    return bz_explore_is_complete(result) ? BZ_EXIT_OK : BZ_EXIT_INTERRUPTED;
}

static int prepare(struct explore *explore, struct bz_program *program) {
    if (explore->config.states_max == 0) {
        explore->config.states_max = BZ_EXPLORE_STATES_MAX_DEFAULT;
    }
    if (bz_options_setting(&explore->options, "strategy") != NULL) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--strategy does not apply: explore tries every choice");
    }
    int code = bz_options_program(&explore->options, program);
    char error[BZ_ERROR_BYTES];
    if (code == BZ_EXIT_OK && explore->out != NULL &&
        !bz_folder_prepare(explore->out, error, sizeof error)) {
        code = bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    if (code != BZ_EXIT_OK || explore->out == NULL) {
        return code;
    }
    if (!explore->has_fixed_addresses) {
        bz_cli_note("the system does not let a program switch off the randomization "
                    "of addresses (personality), so this search cannot be continued "
                    "later: it leaves no checkpoint");
        return BZ_EXIT_OK;
    }
    const struct bz_explore_config *config = &explore->config;
    const char *files[BZ_EXPLORE_PLUGINS_MAX];
    explore->checkpoint = (struct bz_explore_checkpoint){.program = *program,
                                                         .delays_max = config->delays_max,
                                                         .reductions = config->reductions,
                                                         .keep_going = config->keep_going,
                                                         .states_max = config->states_max};
    uint32_t count = bz_plugins_files(program->scenario, program->variant, files);
    bz_explore_checkpoint_set_code(&explore->checkpoint, files, count);
    snprintf(explore->file.folder, sizeof explore->file.folder, "%s", explore->out);
    bz_work_file_begin(&explore->file, 0);
    keep_with(explore);
    return BZ_EXIT_OK;
}

static int open_checkpoint(struct explore *explore) {
    char error[BZ_ERROR_BYTES];
    const char *files[BZ_EXPLORE_PLUGINS_MAX];
    uint32_t count;
    if (!bz_work_file_find(&explore->file, explore->resume, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    FILE *content = bz_work_file_open(&explore->file, error, sizeof error);
    if (content == NULL ||
        !bz_explore_checkpoint_open(&explore->checkpoint, content, &bz_cli_catalog,
                                    explore->file.path, error, sizeof error)) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--resume: %s", error);
    }
    const struct bz_program *program = &explore->checkpoint.program;
    count = bz_plugins_files(program->scenario, program->variant, files);
    if (!bz_explore_checkpoint_check_code(&explore->checkpoint, files, count, explore->file.path,
                                          error, sizeof error)) {
        bz_explore_checkpoint_close(&explore->checkpoint);
        return bz_cli_fail(BZ_EXIT_USAGE, "--resume: %s", error);
    }
    return BZ_EXIT_OK;
}

/* One that continues. */
static int resume(struct explore *explore, struct bz_program *program) {
    struct bz_explore_config *config = &explore->config;
    struct bz_explore_checkpoint *from = &explore->checkpoint;
    if (!explore->has_fixed_addresses) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "--resume: the system does not let a program switch off the "
                           "randomization of addresses (personality), and states depend on them");
    }
    int code = open_checkpoint(explore);
    if (code != BZ_EXIT_OK) {
        return code;
    }
    *program = from->program;
    from->states_max = config->states_max != 0 ? config->states_max : from->states_max;
    config->delays_max = from->delays_max;
    config->reductions = from->reductions;
    config->keep_going = from->keep_going;
    config->states_max = from->states_max;
    config->from = from;
    explore->out = explore->file.folder;
    bz_work_file_begin(&explore->file, from->spent_ms);
    keep_with(explore);
    return BZ_EXIT_OK;
}

static int begin(struct explore *explore, struct bz_program *program) {
    struct bz_explore_config *config = &explore->config;
    if (config->reductions == REDUCTIONS_DEFAULT) {
        config->reductions = BZ_REDUCE_ALL;
    }
    return explore->resume != NULL ? resume(explore, program) : prepare(explore, program);
}

struct searching {
    const struct bz_explore_config *config;
    struct bz_explore_result *result;
    bool is_ok;
};

static void search(void *context) {
    struct searching *searching = context;
    searching->is_ok = bz_explore(searching->config, searching->result);
}

/* bz_explore(), and a message if it runs out of memory. */
static bool run_search(const struct explore *explore, struct bz_explore_result *result) {
    struct searching searching = {.config = &explore->config, .result = result};
    if (explore->has_file) {
        bz_fixed_guard(search, &searching);
    } else {
        search(&searching);
    }
    if (!searching.is_ok) {
        bz_cli_fail(BZ_EXIT_INTERRUPTED, "%s", result->lack);
    }
    return searching.is_ok;
}

static void report_all(struct explore *explore, struct bz_explore_report *report) {
    if (!explore->is_json) {
        bz_explore_report_print(report, explore->is_quiet);
    }
    if (bz_ci_is_wanted(&explore->ci)) {
        struct bz_outcome outcome;
        bz_cases_of_explore(&outcome, report);
        int code = bz_ci_end(&outcome);
        report->exit_code = code != BZ_EXIT_OK ? code : report->exit_code;
        bz_outcome_fini(&outcome);
    }
    if (explore->is_json) {
        bz_json_put(bz_explore_report_json(report));
    }
}

/* The exit code of the search, of its findings, or of the files that it leaves. */
static int finish(struct explore *explore, struct bz_explore_report *report, bool is_ok) {
    report->exit_code = exit_code_of(report->result);
    int code = finish_findings(explore, report->result);
    bool has_failed = explore->has_file && explore->file.has_failed;
    int file_code = has_failed && !is_over(report->result, is_ok) ? BZ_EXIT_USAGE : BZ_EXIT_OK;
    code = code == BZ_EXIT_OK ? file_code : code;
    return code != BZ_EXIT_OK ? code : report->exit_code;
}

static int search_and_report(struct explore *explore, const struct bz_program *program) {
    static struct bz_explore_result result;
    static struct bz_kept_findings findings;
    explore->config.program = program;
    explore->config.memory_max_bytes = bz_cli_catalog.contain.memory_bytes;
    explore->config.context = explore;
    explore->findings = &findings;
    findings.limits = explore->search;
    findings.folder = explore->out;
    explore->output = (struct bz_findings_output){.is_quiet = explore->is_quiet,
                                                  .lack_code = BZ_EXIT_INTERRUPTED};
    bz_findings_output_begin(&explore->output, &findings);
    bz_cli_set_lack(BZ_EXIT_INTERRUPTED, "nothing is proved");
    bz_interrupt_catch();
    struct bz_explore_report report = {
        .program = program, .config = &explore->config, .result = &result, .findings = &findings};
    if (!explore->is_json && !explore->is_quiet) {
        bz_explore_report_print_head(&report);
    }
    if (explore->config.from != NULL) {
        begin_where_it_was(explore);
    }
    bz_progress_begin(&explore->progress, explore->is_quiet, 0, 0);
    bool is_ok = run_search(explore, &result);
    report.seconds = bz_progress_end(&explore->progress);
    if (result.end == BZ_EXPLORE_LOST) {
        return bz_cli_fail(BZ_EXIT_USAGE, "--resume: %s: %s", explore->file.path, result.lack);
    }
    report.seconds += (double)explore->file.before_ms / 1000;
    report.exit_code = finish(explore, &report, is_ok);
    report_all(explore, &report);
    bz_explore_report_warn(&report);
    (void)fflush(stdout);
    finish_file(explore, is_over(&result, is_ok));
    bz_findings_truncate(&findings, 0);
    return report.exit_code;
}

/* The words, which the parser changes. If they lack memory, a program that asked for a document
 * gets one. */
static char **words_of(int argc, char **argv) {
    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--json") == 0) {
            bz_ending_want_json();
        }
    }
    return bz_command_line();
}

int bz_command_explore(int argc, char **argv) {
    static struct explore explore;
    explore = (struct explore){.file.kind = BZ_EXPLORE_CHECKPOINT_KIND,
                               .command_line = words_of(argc, argv),
                               .config = {.delays_max = BZ_EXPLORE_UNBOUNDED,
                                          .reductions = REDUCTIONS_DEFAULT,
                                          .stop = &bz_interrupt_requested,
                                          .poll = poll,
                                          .on_round = on_round,
                                          .on_outside_state = on_outside_state,
                                          .on_finding = on_finding}};
    struct bz_program program;
    const struct bz_syntax syntax = {
        .options = options,
        .target = &explore,
        .args_doc = "SCENARIO",
        .arguments = &explore.options.scenario,
        .arguments_max = 1,
        .plugins = BZ_PLUGINS_RUN,
        .memory_help =
            "Memory limit for the table of states, in MiB (default: none), and as much "
            "again for plug-in code; the search ends there, and --resume continues it with more",
        .program = &explore.options,
        .tries_every_choice = true,
        .check = check_options,
        .doc = "Searches every schedule of a scenario, and every placement of its cancels, the "
               "simplest first. Exit status: 0 complete and nothing found, 1 a violation, 2 usage, "
               "5 interrupted, or a limit was reached before the search was complete."};
    int code = bz_options_parse(&syntax, argc, argv);
    explore.ci.has_json = explore.is_json;
    code = bz_ci_begin(&explore.ci, code, explore.options.scenario, explore.options.variant);
    code = code == BZ_EXIT_OK ? begin(&explore, &program) : code;
    code = code == BZ_EXIT_OK ? bz_cases_name(&explore.ci, &program, false) : code;
    return code == BZ_EXIT_OK ? search_and_report(&explore, &program) : code;
}
