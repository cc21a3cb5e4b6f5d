#include "tools/session/stored_traces.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/cli/cli.h"
#include "tools/plugin/plugins.h"
#include "tools/report/diagnosis.h"
#include "tools/session/transfer.h"

/* Takes over the record of the run: after a strict replay that is the trace. */
static void keep_failed(struct bz_stored *stored, const char *path, struct bz_trace *trace,
                        struct bz_carry *carry) {
    const struct bz_trace_verdict *verdict = carry->verdict;
    if (stored->failed >= BZ_STORED_MAX) {
        return;
    }
    struct bz_stored_failure *failure = &stored->failures[stored->failed];
    *failure = (struct bz_stored_failure){
        .is_as_recorded = carry->result == BZ_CARRY_FAILS,
        .is_same_run = carry->is_strict || (carry->record.digest == trace->digest &&
                                            strcmp(carry->record.variant, trace->variant) == 0),
        .step = verdict->step};
    snprintf(failure->path, sizeof failure->path, "%s", path);
    snprintf(failure->oracle, sizeof failure->oracle, "%s", verdict->oracle);
    snprintf(failure->object, sizeof failure->object, "%s",
             verdict->object != NULL ? verdict->object : "");
    snprintf(failure->message, sizeof failure->message, "%s",
             verdict->message != NULL ? verdict->message : "");
    struct bz_trace *record = carry->is_strict ? trace : &carry->record;
    failure->record = *record; /* with all that it owns */
    bz_trace_init(record);
}

static void count(struct bz_stored *stored, const char *path, struct bz_trace *trace,
                  struct bz_carry *carry) {
    const struct bz_replay_report *report = &carry->report;
    switch (carry->result) {
    case BZ_CARRY_FAILS:
    case BZ_CARRY_FAILS_OTHERWISE:
        keep_failed(stored, path, trace, carry);
        stored->failed++;
        stored->tried++;
        break;
    case BZ_CARRY_PASSES:
        stored->passed++;
        stored->unfit += report->choices_made < report->choices;
        stored->tried++;
        break;
    case BZ_CARRY_CUT_SHORT:
        stored->cut++;
        break;
    default:
        break;
    }
}

/* Whether the schedule can be one of the campaign's. Else its failure says nothing of them. */
static bool may_come(struct bz_stored *stored, const struct bz_trace *trace,
                     const struct bz_program *program) {
    bool is_other =
        program->order == BZ_ORDER_FIFO && strcmp(trace->order, bz_order_name(BZ_ORDER_FIFO)) != 0;
    uint64_t lag_max_ns = program->lag_max_ns == BZ_LAG_MAX_NONE_NS ? 0 : program->lag_max_ns;
    bool is_slower = !is_other && bz_trace_lag_ns(trace) > lag_max_ns;
    stored->other += is_other;
    stored->slower += is_slower;
    return !is_other && !is_slower;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* Own: of a violation that a campaign of this scenario and variant has kept. */
static bool is_wanted(const struct bz_stored *stored, const struct bz_trace *trace,
                      const struct bz_program *program) {
    return strcmp(trace->scenario, program->scenario->name) == 0 &&
           (!stored->is_own ||
            (trace->verdict.oracle != NULL && strcmp(trace->variant, program->variant->name) == 0));
}

static int try_trace(struct bz_stored *stored, const char *name, const char *path,
                     struct bz_trace *trace, const struct bz_program *program) {
    const char *option = stored->is_own ? "" : "--corpus: ";
    struct bz_carry carry;
    int code = BZ_EXIT_OK;
    bz_carry(&carry, trace, stored->is_own ? NULL : program->variant);
    if (carry.result == BZ_CARRY_LACKS || (carry.result == BZ_CARRY_REFUSED && !stored->is_own)) {
        code = bz_cli_fail(name, carry.result == BZ_CARRY_LACKS ? BZ_EXIT_INTERNAL : BZ_EXIT_USAGE,
                           "%s%s: %s", option, path, carry.message);
    }
    count(stored, path, trace, &carry);
    bz_carry_fini(&carry);
    return code;
}

static int try_file(struct bz_stored *stored, const char *name, const char *path,
                    const struct bz_program *program) {
    char error[BZ_ERROR_BYTES];
    struct bz_trace trace;
    int code = BZ_EXIT_OK;
    bz_trace_init(&trace);
    if (!bz_trace_read(&trace, path, error, sizeof error)) {
        code = stored->is_own ? code : bz_cli_fail(name, BZ_EXIT_USAGE, "--corpus: %s", error);
    } else if (is_wanted(stored, &trace, program) && may_come(stored, &trace, program)) {
        stored->is_cut_off = stored->is_own && stored->tried + stored->cut >= BZ_STORED_OWN_MAX;
        code = stored->is_cut_off ? code : try_trace(stored, name, path, &trace, program);
    }
    bz_trace_fini(&trace);
    return code;
}

int bz_stored_try(struct bz_stored *stored, const char *name, const char *folder,
                  const struct bz_program *program, bool is_own) {
    struct dirent **entries;
    char path[PATH_MAX];
    int files = bz_carry_list(folder, &entries);
    int code = BZ_EXIT_OK;
    stored->is_own = is_own;
    if (files < 0) { /* an own one can be written to, if not read */
        return is_own ? code
                      : bz_cli_fail(name, bz_cli_exit_of_errno(errno),
                                    "--corpus: cannot read the folder '%s': %s", folder,
                                    strerror(errno));
    }
    for (int index = 0; index < files; index++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[index]->d_name);
        if (code == BZ_EXIT_OK && bz_interrupt_requested == 0 && !stored->is_cut_off) {
            code =
                length > 0 && (size_t)length < sizeof path
                    ? try_file(stored, name, path, program)
                    : bz_cli_fail(name, BZ_EXIT_USAGE, "a path in '%.64s...' is too long", folder);
        }
        free(entries[index]);
    }
    free(entries);
    return code;
}

bool bz_stored_is_same_folder(const char *a, const char *b) {
    struct stat left;
    struct stat right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

/* --- what became of them ---------------------------------------------------------------------- */

/* "2 stored traces of contended pass now" */
static void say(const char *name, uint64_t number, const struct bz_program *program,
                const char *singular, const char *plural) {
    if (number > 0) {
        (void)bz_cli_fail(name, BZ_EXIT_OK, "%" PRIu64 " stored trace%s of %s %s", number,
                          number == 1 ? "" : "s", program->scenario->name,
                          number == 1 ? singular : plural);
    }
}

void bz_stored_say_own(const struct bz_stored *stored, const char *name,
                       const struct bz_program *program, bool is_quiet) {
    if (stored->failed > 0) {
        const struct bz_stored_failure *first = &stored->failures[0];
        (void)bz_cli_fail(name, BZ_EXIT_OK,
                          "%" PRIu64 " stored trace%s of %s still fail%s: %s, step %" PRIu64
                          " of '%s'%s",
                          stored->failed, stored->failed == 1 ? "" : "s", program->scenario->name,
                          stored->failed == 1 ? "s" : "", first->oracle, first->step, first->path,
                          stored->failed == 1 ? "" : " is the first");
    }
    if (is_quiet) {
        return;
    }
    say(name, stored->passed - stored->unfit, program, "passes now", "pass now");
    say(name, stored->unfit, program, "diverges: some of its choices no longer fit; it passes",
        "diverge: some of their choices no longer fit; they pass");
    say(name, stored->cut, program, "was cut short by its step limit, and proves nothing",
        "were cut short by their step limit, and prove nothing");
    say(name, stored->other, program, "is of the order any, and was not tried",
        "are of the order any, and were not tried");
    say(name, stored->slower, program, "has more lag than --max-lag allows, and was not tried",
        "have more lag than --max-lag allows, and were not tried");
    if (stored->is_cut_off) {
        (void)bz_cli_fail(name, BZ_EXIT_OK, "more than %u stored traces: the rest was not tried",
                          BZ_STORED_OWN_MAX);
    }
}

static uint64_t kept(const struct bz_stored *stored) {
    return stored->failed < BZ_STORED_MAX ? stored->failed : BZ_STORED_MAX;
}

void bz_stored_add_command(struct bz_text *text, const struct bz_stored_failure *failure,
                           const struct bz_program *program) {
    char quoted[4 * PATH_MAX];
    bz_text_add(text, "%s", bz_cli_replay);
    bz_plugins_add_options(text, program->scenario, program->variant);
    bool is_program = strncmp(bz_cli_replay, bz_cli_program, strlen(bz_cli_program)) == 0;
    if (is_program && !failure->is_same_run) { /* else it is no command of the program */
        bz_text_add(text, " --variant %s", program->variant->name);
    }
    bool is_variable = bz_cli_replay[strlen(bz_cli_replay) - 1] == '=';
    bz_text_add(text, "%s%s%s", is_variable ? "" : " ",
                bz_cli_quoted(failure->path, quoted, sizeof quoted), bz_cli_replay_after);
}

/* `has_timeline`: else the message alone. */
static void print_failure(const struct bz_stored_failure *failure, const struct bz_program *program,
                          bool has_timeline) {
    struct bz_text command = {0};
    bool has_object = failure->object[0] != '\0';
    printf("stored trace %s fails%s: %s%s%s%s at step %" PRIu64 "\n", failure->path,
           failure->is_as_recorded ? " as recorded" : "", failure->oracle,
           has_object ? " of '" : "", failure->object, has_object ? "'" : "", failure->step);
    if (has_timeline) {
        printf("\n");
        bz_diagnosis_print(
            stdout, &(struct bz_diagnosis){.trace = &failure->record, .variant = program->variant});
    } else {
        printf("  %s\n", failure->message);
    }
    bz_stored_add_command(&command, failure, program);
    printf("  replay  %s\n\n", command.bytes);
    bz_text_fini(&command);
}

/* The first one has its timeline: the others are often the same run, made smaller. */
void bz_stored_print(const struct bz_stored *stored, const struct bz_program *program,
                     bool is_quiet) {
    for (uint64_t index = 0; index < kept(stored); index++) {
        print_failure(&stored->failures[index], program, index == 0);
    }
    if (!is_quiet) {
        printf("stored traces: %" PRIu64 " tried, %" PRIu64 " failed\n", stored->tried,
               stored->failed);
        if (stored->unfit > 0) {
            printf("  of those that passed, %" PRIu64 " diverged: some choices did not fit\n",
                   stored->unfit);
        }
        if (stored->other > 0) {
            printf("  %" PRIu64 " of order any: not tried, because this campaign's order is fifo\n",
                   stored->other);
        }
        printf("\n");
    }
}

void bz_stored_add_json(const struct bz_stored *stored, struct bz_json *object, const char *key) {
    struct bz_json *root = bz_json_add_object(object, key);
    bz_json_add_number(root, "tried", stored->tried);
    bz_json_add_number(root, "failed", stored->failed);
    bz_json_add_number(root, "passed", stored->passed);
    bz_json_add_number(root, "unfit", stored->unfit);
    bz_json_add_number(root, "cut_short", stored->cut);
    bz_json_add_number(root, "other_order", stored->other);
    bz_json_add_number(root, "more_lag", stored->slower);
    struct bz_json *array = bz_json_add_array(root, "failures");
    for (uint64_t index = 0; index < kept(stored); index++) {
        const struct bz_stored_failure *failure = &stored->failures[index];
        struct bz_json *item = bz_json_append_object(array);
        bz_json_add_string(item, "trace", failure->path);
        bz_json_add_bool(item, "as_recorded", failure->is_as_recorded);
        bz_json_add_string(item, "oracle", failure->oracle);
        bz_json_add_string(item, "object", failure->object[0] != '\0' ? failure->object : NULL);
        bz_json_add_number(item, "step", failure->step);
        bz_json_add_string(item, "message", failure->message);
    }
}
