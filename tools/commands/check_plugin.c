/* buzzer check-plugin: does a plug-in keep the contract of sim/variant/README.md?
 *
 * Every scenario that can use the primitive runs, in both loop orders, until it ends or finds
 * something. Then each finding is looked at once more, to tell a fault of the implementation from a
 * fault of what it shows: the same schedules run again without the function that the oracle asked
 * (`view`, `locked`, `queued`). If they find nothing now, callers see nothing wrong, and what the
 * function says is wrong.
 *
 * A leak is memory of the arena that grows with the number of operations, or that fini leaves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/choice/strategy.h"
#include "sim/program/replay.h"
#include "sim/program/token.h"
#include "sim/session/job.h"
#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/plugin/plugins.h"
#include "tools/report/report.h"
#include "tools/report/text_output.h"
#include "tools/story/timeline.h"
#include "traces/lack.h"

#define RUNS_MAX UINT64_C(1000000000)
#define FAULTS_MAX (BZ_ORACLES_MAX + 2u) /* one of each oracle, and two leaks */
#define STORY_ROWS_MAX 12u

/* The topics of the contract, in the order of the report. */
enum topic {
    TOPIC_RUNS,        /* it neither crashes nor hangs */
    TOPIC_STATUSES,    /* operations return what they may */
    TOPIC_DETERMINISM, /* equal seeds, equal runs */
    TOPIC_LEAKS,       /* nothing is left behind */
    TOPIC_VIEW,        /* view, locked and queued say what is */
    TOPIC_BEHAVIOUR,   /* it does what a primitive must do, and what it claims */
};
#define TOPIC_COUNT 6

static const char *const topic_names[TOPIC_COUNT] = {"runs",  "statuses", "determinism",
                                                     "leaks", "view",     "behaviour"};

/* Something that is wrong. */
struct fault {
    enum topic topic;
    const char *oracle; /* NULL: no oracle but a measurement */
    char message[BZ_MESSAGE_BYTES];
    const char *meaning;       /* what it says about the plug-in, as a sentence; NULL: nothing */
    struct bz_program program; /* the first run that shows it, if an oracle found it */
    uint64_t seed, digest;
    uint32_t sessions; /* that found it, of one oracle and one meaning */
};

/* A variant with one of its primitives. */
struct check {
    const struct bz_variant *variant;
    enum bz_primitive primitive;
    uint32_t scenarios;
    uint64_t faulty;                   /* scenarios with a finding, as bits */
    uint64_t schedules, waited, noted; /* where an operation waited, a completion was noted */
    bool is_interrupted, has_counted;  /* the blocks of the arena, in a short run and a long one */
    char hint[BZ_MESSAGE_BYTES];       /* a claim that would make the judge silent; "" */
    uint32_t fault_count;
    struct fault faults[FAULTS_MAX];
};

struct check_plugin {
    const char *file[2];
    uint64_t runs; /* schedules of each scenario and order */
    uint32_t jobs;
    bool is_json;
    struct bz_progress progress;
    uint64_t schedules_before; /* of what ran before this session */
    uint32_t found;
    struct check *checks;
    uint32_t check_count;
};

static const struct bz_option options[] = {
    {"runs", "N", "Number of schedules for each scenario and order (default 1000)",
     BZ_OPTION_NUMBER, offsetof(struct check_plugin, runs), .least = 1, .most = RUNS_MAX},
    {"jobs", "N", "Number of worker processes; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct check_plugin, jobs), .least = 1, .most = BZ_JOBS_MAX},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG,
     offsetof(struct check_plugin, is_json)},
    {NULL},
};

/* --- what a finding is about ------------------------------------------------------------------ */

/* The functions that show an implementation to the judge, and can be left out. */
enum shown { SHOWN_NONE, SHOWN_VIEW, SHOWN_LOCKED };
#define SHOWN_COUNT 3

static const struct {
    const char *oracle;
    enum topic topic;
    enum shown asks; /* it compares what this function says */
    const char *meaning;
} about[] = {
    {"crash", TOPIC_RUNS, SHOWN_NONE, NULL},
    {"stack-overflow", TOPIC_RUNS, SHOWN_NONE, NULL},
    {"hang", TOPIC_RUNS, SHOWN_NONE, NULL},
    {"memory", TOPIC_RUNS, SHOWN_NONE, NULL},
    {"exit", TOPIC_RUNS, SHOWN_NONE, NULL},
    {"status", TOPIC_STATUSES, SHOWN_NONE, NULL},
    {"nondeterminism", TOPIC_DETERMINISM, SHOWN_NONE,
     "Its state must be in the loop's arena (code that calls malloc(): sim/variant/malloc.h), and "
     "nothing may depend on time, addresses, random numbers or threads."},
    {"leak", TOPIC_LEAKS, SHOWN_NONE,
     "Entries stay in its queue, or its `view` or `queued` counts what is not there."},
    {"pool-entry", TOPIC_LEAKS, SHOWN_NONE,
     "It keeps a lock for a key that nobody uses, or its `entries` is wrong."},
    {"permit-conservation", TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"level-bound", TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"queue-partition", TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"ownership", TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"spec", TOPIC_BEHAVIOUR, SHOWN_VIEW, NULL},
    {"locked-definition", TOPIC_BEHAVIOUR, SHOWN_LOCKED, NULL},
    {"assertion", TOPIC_BEHAVIOUR, SHOWN_LOCKED, NULL},
};
#define ABOUT_COUNT (sizeof about / sizeof about[0])

/* ABOUT_COUNT: what every caller sees. */
static size_t about_oracle(const char *oracle) {
    size_t index = 0;
    while (index < ABOUT_COUNT && strcmp(about[index].oracle, oracle) != 0) {
        index++;
    }
    return index;
}

static const char *const wrong_shown[SHOWN_COUNT] = {
    NULL,
    "Without `view`, the same schedules find nothing: callers see nothing wrong, so `view` is "
    "wrong.",
    "Without `locked`, the same schedules find nothing: the right tasks wait, so `locked` is "
    "wrong.",
};

/* --- the faults ------------------------------------------------------------------------------- */

/* Adds the first fault of its kind, or counts it. */
static void add_finding(struct check *check, const struct bz_job *job,
                        const struct bz_finding *finding) {
    size_t kind = about_oracle(finding->violation.oracle);
    bool is_answer = strncmp(finding->violation.message, "is_set() ", 9) == 0;
    enum topic topic = is_answer            ? TOPIC_VIEW
                       : kind < ABOUT_COUNT ? about[kind].topic
                                            : TOPIC_BEHAVIOUR;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        struct fault *fault = &check->faults[index];
        if (fault->oracle != NULL && strcmp(fault->oracle, finding->violation.oracle) == 0) {
            fault->sessions++;
            return;
        }
    }
    struct fault *fault = &check->faults[check->fault_count++];
    *fault = (struct fault){.topic = topic,
                            .oracle = finding->violation.oracle,
                            .meaning = kind < ABOUT_COUNT ? about[kind].meaning : NULL,
                            .seed = finding->seed,
                            .digest = finding->digest,
                            .sessions = 1};
    bz_job_program(job, finding->seed, &fault->program);
    fault->program.variant = check->variant;
    memcpy(fault->message, finding->violation.message, sizeof fault->message);
}

static uint32_t faults_of(const struct check *check, enum topic topic) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        count += check->faults[index].topic == topic;
    }
    return count;
}

/* --- sessions --------------------------------------------------------------------------------- */

/* A pass over all scenarios. */
struct pass {
    struct check_plugin *command;
    struct check *check;
    const struct bz_variant *variant;  /* it may lack what was left out */
    bool has_found, is_trial, is_hint; /* no trial adds a finding; a hint: `faulty` alone */
    uint64_t scenario;                 /* that runs, as a bit by its place in the list */
};

static bool poll_session(void *context, const struct bz_campaign_result *so_far) {
    struct check_plugin *command = context;
    bz_progress_show(&command->progress, command->schedules_before + so_far->runs, command->found);
    return true;
}

static int run_session(struct pass *pass, const struct bz_job *job) {
    static struct bz_campaign_result result;
    struct check *check = pass->check;
    struct bz_campaign_config config = bz_job_campaign(job);
    config.jobs = pass->command->jobs;
    config.stop = &bz_interrupt_requested;
    config.poll = poll_session;
    config.context = pass->command;
    if (!bz_campaign_run(&config, &result)) {
        return bz_cli_fail(BZ_EXIT_INTERNAL, "%s", result.lack);
    }
    check->is_interrupted |= result.is_interrupted;
    check->schedules += result.runs;
    check->waited += result.waited;
    check->noted += result.noted;
    pass->command->schedules_before += result.runs;
    pass->has_found |= result.violations > 0;
    if (!pass->is_trial && !pass->is_hint && result.violations > 0) {
        check->faulty |= pass->scenario;
        add_finding(check, job, &result.findings[0]);
    }
    return BZ_EXIT_OK;
}

/* A trial asks only if anything is found. */
static bool is_answered(const struct pass *pass) {
    return pass->check->is_interrupted || (pass->has_found && (pass->is_trial || pass->is_hint));
}

/* Every scenario that can use the primitive, in both orders. */
static int run_pass(struct pass *pass) {
    static struct bz_job job;
    struct check *check = pass->check;
    int code = BZ_EXIT_OK;
    check->scenarios = 0;
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        unsigned order = bz_scenario_uses(*next, check->primitive) ? 0 : BZ_ORDER_COUNT;
        check->scenarios += order == 0;
        pass->scenario = UINT64_C(1) << (next - bz_cli_catalog.scenarios) % 64;
        order = pass->is_hint && (check->faulty & pass->scenario) == 0 ? BZ_ORDER_COUNT : order;
        for (; order < BZ_ORDER_COUNT && code == BZ_EXIT_OK && !is_answered(pass); order++) {
            job = (struct bz_job){.runs = pass->command->runs, .draws_sizes = true};
            bz_program_init(&job.program, *next, pass->variant, &bz_strategy_portfolio);
            bz_program_use(&job.program, check->primitive);
            job.program.order = (enum bz_order)order;
            job.program.contain = bz_cli_catalog.contain;
            job.program.contain.is_on = job.program.contain.is_quiet = true;
            (void)bz_program_measure(&job.program); /* a lack shows in the campaign */
            code = run_session(pass, &job);
        }
    }
    return code;
}

/* --- what a function shows, or what the implementation does? ---------------------------------- */

static bool is_about(const struct fault *fault, enum shown shown) {
    size_t kind = fault->oracle == NULL ? ABOUT_COUNT : about_oracle(fault->oracle);
    return kind < ABOUT_COUNT && about[kind].asks == shown;
}

/* Runs all sessions without the function. If they are silent, the function is what is wrong. */
static int try_without(struct check_plugin *command, struct check *check, enum shown shown) {
    struct bz_variant variant = *check->variant;
    struct bz_permit_ops ops;
    bool is_asked = false;
    for (uint32_t index = 0; index < check->fault_count; index++) {
        is_asked |= is_about(&check->faults[index], shown);
    }
    if (!is_asked || check->primitive >= BZ_PERMIT_PRIMITIVES) {
        return BZ_EXIT_OK;
    }
    ops = *variant.permits[check->primitive];
    if (shown == SHOWN_VIEW) {
        ops.view = NULL;
    } else {
        ops.locked = NULL;
    }
    variant.permits[check->primitive] = &ops;
    struct pass pass = {.command = command, .check = check, .variant = &variant, .is_trial = true};
    int code = run_pass(&pass);
    bool is_silent = code == BZ_EXIT_OK && !pass.has_found && !check->is_interrupted;
    for (uint32_t index = 0; is_silent && index < check->fault_count; index++) {
        struct fault *fault = &check->faults[index];
        bool is_compared = shown == SHOWN_VIEW && is_about(fault, SHOWN_LOCKED);
        if (fault->topic == TOPIC_BEHAVIOUR && fault->oracle != NULL) {
            fault->topic = TOPIC_VIEW;
            fault->meaning = is_compared ? "This compares `locked` with `view`, which is wrong."
                                         : wrong_shown[shown];
        }
    }
    return code;
}

/* Which claim would explain all that is wrong, if one would: its author may not know of it. */
static int try_claims(struct check_plugin *command, struct check *check) {
    struct bz_variant tried;
    struct pass pass = {.command = command, .check = check, .variant = &tried, .is_hint = true};
    uint32_t explained = faults_of(check, TOPIC_BEHAVIOUR) + faults_of(check, TOPIC_RUNS);
    int code = BZ_EXIT_OK;
    size_t next = 0;
    pass.has_found = check->fault_count > 0 && explained == check->fault_count;
    while (pass.has_found && code == BZ_EXIT_OK && !check->is_interrupted &&
           bz_plugin_next_trial(check->variant, check->primitive, &next, &tried, check->hint,
                                sizeof check->hint)) {
        pass.has_found = false;
        code = run_pass(&pass);
    }
    check->hint[0] = pass.has_found || check->is_interrupted ? '\0' : check->hint[0];
    return code;
}

/* --- leaks ------------------------------------------------------------------------------------ */

static int find_leaks(struct check *check) {
    struct bz_leaks leaks = {.variant = check->variant, .primitive = check->primitive};
    struct bz_death death;
    enum bz_child_state state = bz_leaks_count(&leaks, &death);
    check->has_counted = leaks.is_done;
    for (uint32_t index = 0; index < leaks.message_count; index++) {
        struct fault *fault = &check->faults[check->fault_count++];
        *fault = (struct fault){.topic = TOPIC_LEAKS, .sessions = 1};
        memcpy(fault->message, leaks.messages[index], sizeof fault->message);
    }
    return state == BZ_CHILD_LACKS ? bz_cli_fail(BZ_EXIT_INTERNAL, "%s", death.how) : BZ_EXIT_OK;
}

/* --- the checks ------------------------------------------------------------------------------- */

/* Every variant of the file with each primitive that it offers. */
static void collect(struct check_plugin *command) {
    for (const struct bz_variant *const *next = bz_cli_catalog.variants; *next != NULL; next++) {
        for (int primitive = 0; bz_plugins_is_foreign(*next) && primitive < BZ_PRIMITIVE_COUNT;
             primitive++) {
            if (bz_variant_offers(*next, (enum bz_primitive)primitive)) {
                size_t bytes = (command->check_count + 1) * sizeof *command->checks;
                command->checks = bz_lack_check(realloc(command->checks, bytes), "the checks");
                command->checks[command->check_count++] =
                    (struct check){.variant = *next, .primitive = (enum bz_primitive)primitive};
            }
        }
    }
}

static int run_check(struct check_plugin *command, struct check *check) {
    struct pass pass = {.command = command, .check = check, .variant = check->variant};
    int code = run_pass(&pass);
    for (unsigned shown = SHOWN_VIEW;
         code == BZ_EXIT_OK && !check->is_interrupted && shown < SHOWN_COUNT; shown++) {
        code = try_without(command, check, (enum shown)shown);
    }
    code = code == BZ_EXIT_OK && !check->is_interrupted ? try_claims(command, check) : code;
    return code == BZ_EXIT_OK && !check->is_interrupted ? find_leaks(check) : code;
}

static int run_all(struct check_plugin *command) {
    int code = BZ_EXIT_OK;
    bz_interrupt_catch();
    bz_progress_begin(&command->progress, false, 0, 0);
    for (uint32_t index = 0; code == BZ_EXIT_OK && index < command->check_count; index++) {
        struct check *check = &command->checks[index];
        code = run_check(command, check);
        command->found += check->fault_count;
        if (check->is_interrupted) {
            command->check_count = index + 1;
        }
    }
    (void)bz_progress_end(&command->progress);
    return code;
}

static int exit_code_of(const struct check_plugin *command) {
    bool is_wrong = false;
    bool is_interrupted = false;
    bool is_empty = false;
    for (uint32_t index = 0; index < command->check_count; index++) {
        const struct check *check = &command->checks[index];
        is_wrong |= check->fault_count > 0;
        is_interrupted |= check->is_interrupted;
        is_empty |= check->waited == 0;
    }
    return is_wrong         ? BZ_EXIT_VIOLATION
           : is_interrupted ? BZ_EXIT_INTERRUPTED
           : is_empty       ? BZ_EXIT_UNPROVED
                            : BZ_EXIT_OK;
}

/* Why the topic could not be judged; NULL: it was. */
static const char *gap_of(const struct check *check, enum topic topic) {
    switch (topic) {
    case TOPIC_LEAKS:
        return check->has_counted ? NULL : "the long run that would show it does not pass";
    case TOPIC_VIEW:
        for (uint32_t index = 0; index < check->fault_count; index++) {
            const struct fault *fault = &check->faults[index];
            if (fault->topic == TOPIC_BEHAVIOUR &&
                (is_about(fault, SHOWN_VIEW) || is_about(fault, SHOWN_LOCKED))) {
                return "it was compared with a behaviour that is wrong";
            }
        }
        return bz_plugin_lacks_view(check->variant, check->primitive);
    case TOPIC_BEHAVIOUR:
        return check->waited == 0 ? "no operation ever waited" : NULL;
    default:
        return NULL;
    }
}

/* --- for people ------------------------------------------------------------------------------- */

static const char *token_of(const struct fault *fault, char *token, size_t token_bytes) {
    return bz_token_format(&fault->program, fault->seed, fault->digest, token, token_bytes);
}

/* How it comes to that: not of runs that differ when they are repeated. */
static void print_story(struct bz_wrap *wrap, const struct fault *fault) {
    struct bz_trace trace;
    struct bz_replay_report report;
    bz_trace_init(&trace);
    if (fault->topic != TOPIC_DETERMINISM &&
        bz_record(&fault->program, fault->seed, &trace, &report) && trace.verdict.oracle != NULL) {
        struct bz_timeline timeline;
        bz_timeline_init(&timeline, &trace);
        bz_timeline_limit(&timeline, STORY_ROWS_MAX);
        bz_timeline_print(&timeline, wrap, false);
        bz_timeline_fini(&timeline);
    }
    bz_trace_fini(&trace);
}

static void print_fault(const struct check_plugin *command, struct bz_wrap *wrap,
                        const struct fault *fault) {
    char token[BZ_TOKEN_BYTES];
    char quoted[BZ_TOKEN_BYTES + 8];
    char line[BZ_MESSAGE_BYTES + 64];
    snprintf(line, sizeof line, "%s%s%s", fault->oracle == NULL ? "" : fault->oracle,
             fault->oracle == NULL ? "" : ": ", fault->message);
    bz_wrap_print(wrap, "    - ", line, 6, BZ_COLOUR_BAD);
    if (fault->meaning != NULL) {
        bz_wrap_print(wrap, "      ", fault->meaning, 6, BZ_COLOUR_NONE);
    }
    if (fault->oracle != NULL) {
        print_story(wrap, fault);
        printf("      %s replay --plugin %s", bz_caller.program,
               bz_cli_quoted(command->file[0], quoted, sizeof quoted));
        printf(" %s\n", bz_cli_quoted(token_of(fault, token, sizeof token), quoted, sizeof quoted));
    }
}

static void print_topic(const struct check_plugin *command, struct bz_wrap *wrap,
                        const struct check *check, enum topic topic) {
    char prefix[32];
    const char *gap = gap_of(check, topic);
    uint32_t faults = faults_of(check, topic);
    snprintf(prefix, sizeof prefix, "  %-11s  %s", topic_names[topic],
             faults == 0 && gap != NULL ? "not judged: " : "");
    bz_wrap_print(wrap, prefix,
                  faults > 0                         ? "WRONG"
                  : gap != NULL                      ? gap
                  : faults_of(check, TOPIC_RUNS) > 0 ? "ok, as far as the runs came"
                                                     : "ok",
                  15, faults > 0 ? BZ_COLOUR_BAD : BZ_COLOUR_NONE);
    for (uint32_t place = 0; place < check->fault_count; place++) {
        if (check->faults[place].topic == topic) {
            print_fault(command, wrap, &check->faults[place]);
        }
    }
}

static void print_scenarios(struct bz_wrap *wrap, enum bz_primitive primitive) {
    struct bz_text names = {0};
    for (const struct bz_scenario *const *next = bz_cli_catalog.scenarios; *next != NULL; next++) {
        if (bz_scenario_uses(*next, primitive)) {
            bz_text_add(&names, "%s%s", names.length > 0 ? ", " : "", (*next)->name);
        }
    }
    bz_wrap_print(wrap, "  scenarios    ", names.bytes, 15, BZ_COLOUR_NONE);
    bz_text_fini(&names);
}

static void print_check(const struct check_plugin *command, const struct check *check) {
    struct bz_text idle = {0};
    const char *claim;
    struct bz_wrap wrap = {.out = stdout, .is_colour = bz_wrap_has_colour(stdout)};
    printf("%s, %s: %" PRIu32 " %s in both orders, %" PRIu64 " schedules\n", check->variant->name,
           bz_primitive_name(check->primitive), check->scenarios,
           check->scenarios == 1 ? "scenario" : "scenarios", check->schedules);
    print_scenarios(&wrap, check->primitive);
    for (size_t next = 0; (claim = bz_plugin_next_idle_claim(check->variant, &next)) != NULL;) {
        bz_text_add(&idle, "%s%s", idle.length > 0 ? ", " : "", claim);
    }
    if (idle.length > 0) {
        bz_wrap_print(&wrap, "  claims       without effect here: ", idle.bytes, 15,
                      BZ_COLOUR_NONE);
    }
    bz_text_fini(&idle);
    if (check->noted > 0) {
        bz_wrap_print(&wrap, "  completions  ", bz_plugin_note, 15, BZ_COLOUR_NONE);
    }
    for (int topic = 0; topic < TOPIC_COUNT; topic++) {
        print_topic(command, &wrap, check, (enum topic)topic);
    }
    if (check->hint[0] != '\0') {
        bz_wrap_print(&wrap, "  hint         ", check->hint, 15, BZ_COLOUR_NONE);
    }
    printf("%s\n", check->is_interrupted ? "  interrupted: not all schedules ran\n" : "");
}

static void print_text(const struct check_plugin *command) {
    uint32_t wrong = 0;
    for (uint32_t index = 0; index < command->check_count; index++) {
        print_check(command, &command->checks[index]);
        wrong += command->checks[index].fault_count > 0;
    }
    printf("%" PRIu32 " of %" PRIu32 " keep the contract\n", command->check_count - wrong,
           command->check_count);
}

/* --- for programs ----------------------------------------------------------------------------- */

static void add_fault(struct bz_json *faults, const struct fault *fault) {
    char token[BZ_TOKEN_BYTES];
    struct bz_json *item = bz_json_append_object(faults);
    bz_json_add_string(item, "topic", topic_names[fault->topic]);
    bz_json_add_string(item, "oracle", fault->oracle);
    bz_json_add_string(item, "message", fault->message);
    bz_json_add_string(item, "meaning", fault->meaning);
    bz_json_add_number(item, "sessions", fault->sessions);
    bz_json_add_string(item, "token",
                       fault->oracle == NULL ? NULL : token_of(fault, token, sizeof token));
}

static void print_json(const struct check_plugin *command, int code) {
    struct bz_json *root = bz_json_new_object();
    struct bz_json *checks = bz_json_add_array(root, "checks");
    for (uint32_t index = 0; index < command->check_count; index++) {
        const struct check *check = &command->checks[index];
        struct bz_json *item = bz_json_append_object(checks);
        bz_json_add_string(item, "variant", check->variant->name);
        bz_json_add_string(item, "primitive", bz_primitive_name(check->primitive));
        bz_json_add_number(item, "scenarios", check->scenarios);
        bz_json_add_number(item, "schedules", check->schedules);
        bz_json_add_number(item, "waited", check->waited);
        bz_json_add_bool(item, "interrupted", check->is_interrupted);
        bz_json_add_number(item, "noted", check->noted);
        bz_json_add_string(item, "hint", check->hint[0] == '\0' ? NULL : check->hint);
        struct bz_json *idle = bz_json_add_array(item, "idle_claims");
        const char *claim;
        for (size_t next = 0; (claim = bz_plugin_next_idle_claim(check->variant, &next)) != NULL;) {
            bz_json_append_string(idle, claim);
        }
        struct bz_json *topics = bz_json_add_object(item, "topics");
        for (int topic = 0; topic < TOPIC_COUNT; topic++) {
            bz_json_add_string(topics, topic_names[topic],
                               faults_of(check, (enum topic)topic) > 0    ? "wrong"
                               : gap_of(check, (enum topic)topic) != NULL ? "not judged"
                                                                          : "ok");
        }
        struct bz_json *faults = bz_json_add_array(item, "faults");
        for (uint32_t place = 0; place < check->fault_count; place++) {
            add_fault(faults, &check->faults[place]);
        }
    }
    bz_json_add_number(root, "exit_code", (uint64_t)code);
    bz_json_put(root);
}

/* --- the command ------------------------------------------------------------------------------ */

int bz_command_check_plugin(int argc, char **argv) {
    static struct check_plugin command;
    command = (struct check_plugin){.runs = 1000, .jobs = 1};
    const struct bz_syntax syntax = {
        .options = options,
        .target = &command,
        .args_doc = "FILE.so",
        .arguments = command.file,
        .arguments_max = 1,
        .missing = "the file of a plug-in",
        .doc = "Checks whether a plug-in keeps the contract of a variant: runs every scenario that "
               "can use it, in both orders, and reports what breaks the contract. Exit status: 0 "
               "nothing does, 1 something does, 2 usage, 4 no operation ever waited, 5 "
               "interrupted."};
    int code = bz_options_parse(&syntax, argc, argv);
    code = code == BZ_EXIT_OK ? bz_plugins_load(command.file[0]) : code;
    if (code != BZ_EXIT_OK) {
        return code;
    }
    collect(&command);
    if (command.check_count == 0) {
        return bz_cli_fail(BZ_EXIT_USAGE,
                           "'%.512s' has no variants to check; 'buzzer run' runs its scenarios",
                           command.file[0]);
    }
    code = run_all(&command);
    if (code == BZ_EXIT_OK) {
        code = exit_code_of(&command);
        command.is_json ? print_json(&command, code) : print_text(&command);
    }
    free(command.checks);
    return code;
}
