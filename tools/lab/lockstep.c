/* The program buzzer-lab, with one command. `lockstep` runs the same drawn programs on a reference
 * in C and in the real interpreter, step by step. tools/lab/README.md says what is compared. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli/cli.h"
#include "tools/cli/options.h"
#include "tools/cli/progress.h"
#include "tools/lab/lockstep/partner.h"
#include "tools/lab/lockstep/reference.h"
#include "tools/lab/lockstep/side.h"
#include "tools/report/report.h"
#include "traces/json.h"
#include "traces/lack.h"

#define PROGRAMS_DEFAULT 20000u
#define PROGRAMS_MAX UINT64_C(1000000000000)
#define DUE_MAX 16u /* answers that an interpreter owes */
#define JOBS_MAX 64u

struct lockstep {
    const char *name; /* for messages */
    const char *python;
    const char *variant_name;
    const char *focus_name;
    const struct bz_script_focus *focus; /* NULL: one is drawn for each program */
    uint64_t programs;
    uint64_t seed;
    uint32_t jobs;
    bool is_pure;     /* tasks in Python */
    bool is_complete; /* every window of every operation must be hit */
    bool is_json;
    bool is_quiet;
    struct bz_python version;
    char twisted[32]; /* its version; empty: it is not asked for */
    struct bz_reference reference;
    struct bz_side *side;
    struct bz_partner *partners; /* one for each job; they take turns */
    struct bz_progress progress;
    uint64_t same;
    bool is_interrupted;
    bool has_died;
    bool is_found;
    struct bz_pair found;
    char difference[BZ_PARTNER_REPLY_BYTES];
    double seconds;
};

static const struct bz_option options[] = {
    {"python", "PYTHON", "The interpreter: CPython 3.11 or later", BZ_OPTION_TEXT,
     offsetof(struct lockstep, python)},
    {"programs", "N", "Number of drawn programs (default 20000)", BZ_OPTION_NUMBER,
     offsetof(struct lockstep, programs), .least = 1, .most = PROGRAMS_MAX},
    {"seed", "N", "Number of the first program (default 0)", BZ_OPTION_NUMBER,
     offsetof(struct lockstep, seed), .most = UINT64_MAX},
    {"jobs", "N", "Number of interpreters at a time; it does not change the results (default 1)",
     BZ_OPTION_NUMBER32, offsetof(struct lockstep, jobs), .least = 1, .most = JOBS_MAX},
    {"variant", "asyncio-3.11|asyncio-3.13|twisted",
     "The reference (default: that of the interpreter's version), or twisted", BZ_OPTION_TEXT,
     offsetof(struct lockstep, variant_name)},
    {"focus", "NAME",
     "Draw mostly what this primitive is good for: lock, semaphore, bounded, event, condition, "
     "barrier, queue, join, shutdown, timeout, cancel, group, wait-for, gather, shield, timers "
     "(default: seven programs of "
     "eight have one of these)",
     BZ_OPTION_TEXT, offsetof(struct lockstep, focus_name)},
    {"py-task", NULL, "Use asyncio's tasks and futures in Python, not those in C", BZ_OPTION_FLAG,
     offsetof(struct lockstep, is_pure)},
    {"require-windows", NULL,
     "Exit with 4 unless a cancel struck every operation in each of its windows, and every "
     "operation returned, with every kind of object that has it",
     BZ_OPTION_FLAG, offsetof(struct lockstep, is_complete)},
    {"json", NULL, "Print one JSON document", BZ_OPTION_FLAG, offsetof(struct lockstep, is_json)},
    {"quiet", NULL, "Print no progress and no table", BZ_OPTION_FLAG,
     offsetof(struct lockstep, is_quiet)},
    {NULL},
};

static void check_options(struct bz_parse *state, void *target) {
    struct lockstep *lockstep = target;
    if (lockstep->python == NULL) {
        bz_cli_misuse(state, "--python is missing: name the interpreter");
    }
    for (uint32_t index = 0; lockstep->focus_name != NULL && index < BZ_SCRIPT_FOCUSES; index++) {
        if (strcmp(bz_script_focuses[index].name, lockstep->focus_name) == 0) {
            lockstep->focus = &bz_script_focuses[index];
        }
    }
    if (lockstep->focus_name != NULL && lockstep->focus == NULL) {
        bz_cli_misuse(state, "--focus: there is no '%s'", lockstep->focus_name);
    }
}

/* --- begin and end ---------------------------------------------------------------------------- */

/* The first ones. */
static void stop(struct lockstep *lockstep, uint32_t count) {
    for (uint32_t job = 0; job < count; job++) {
        bz_partner_stop(&lockstep->partners[job]);
    }
    free(lockstep->partners);
}

static int begin(struct lockstep *lockstep) {
    char error[BZ_PARTNER_ERROR_BYTES];
    if (!bz_partner_ask(lockstep->python, &lockstep->version, error)) {
        return bz_cli_fail(lockstep->name, BZ_EXIT_USAGE, "%s", error);
    }
    if (!bz_reference_choose(&lockstep->reference, &lockstep->version, lockstep->variant_name,
                             error)) {
        return bz_cli_fail(lockstep->name, BZ_EXIT_USAGE, "%s", error);
    }
    bool is_twisted = bz_reference_is_twisted(&lockstep->reference);
    if (is_twisted && !bz_partner_ask_twisted(lockstep->python, lockstep->twisted,
                                              sizeof lockstep->twisted, error)) {
        return bz_cli_fail(lockstep->name, BZ_EXIT_USAGE, "%s", error);
    }
    lockstep->partners =
        bz_lack_check(calloc(lockstep->jobs, sizeof *lockstep->partners), "the interpreters");
    for (uint32_t job = 0; job < lockstep->jobs; job++) {
        if (!bz_partner_start(&lockstep->partners[job], lockstep->python, lockstep->is_pure,
                              is_twisted, error)) {
            stop(lockstep, job);
            return bz_cli_fail(lockstep->name, BZ_EXIT_USAGE, "%s", error);
        }
    }
    lockstep->side = bz_side_new(&lockstep->reference.variant, is_twisted);
    return BZ_EXIT_OK;
}

/* --- pairs ------------------------------------------------------------------------------------ */

/* The interpreter whose turn it is: with answers in order of number, the results do not depend on
 * how many there are. */
static struct bz_partner *partner_of(struct lockstep *lockstep, uint64_t number) {
    return &lockstep->partners[(number - lockstep->seed) % lockstep->jobs];
}

static bool send(struct lockstep *lockstep, struct bz_pair *pair) {
    size_t length;
    const char *text = bz_side_play(lockstep->side, pair, &length);
    return bz_partner_send(partner_of(lockstep, pair->number), text, length);
}

/* The next answer. False: no further pair is wanted. */
static bool receive(struct lockstep *lockstep) {
    struct bz_partner *partner = partner_of(lockstep, lockstep->seed + lockstep->same);
    switch (bz_partner_receive(partner)) {
    case BZ_REPLY_SAME:
        lockstep->same++;
        return true;
    case BZ_REPLY_DIFFERS:
        lockstep->is_found = true;
        memcpy(lockstep->difference, partner->reply, sizeof lockstep->difference);
        return false;
    case BZ_REPLY_INTERRUPTED:
        lockstep->is_interrupted = true;
        return false;
    default:
        lockstep->has_died = bz_interrupt_requested == 0;
        lockstep->is_interrupted = !lockstep->has_died;
        return false;
    }
}

/* The C side is some programs ahead. The first answer that is no "same" ends it. */
static void run_all(struct lockstep *lockstep) {
    struct bz_pair *pair = bz_lack_check(calloc(1, sizeof *pair), "a program");
    uint64_t ahead = (uint64_t)DUE_MAX * lockstep->jobs;
    uint64_t sent = 0;
    bool goes_on = true;
    while (goes_on && lockstep->same < lockstep->programs) {
        if (sent < lockstep->programs && sent - lockstep->same < ahead) {
            bz_side_draw(lockstep->side, lockstep->seed + sent, lockstep->focus, pair);
            goes_on = send(lockstep, pair) || receive(lockstep);
            sent++;
        } else {
            goes_on = receive(lockstep);
            bz_progress_show(&lockstep->progress, lockstep->same, 0);
        }
        if (bz_interrupt_requested != 0) {
            lockstep->is_interrupted = true;
            goes_on = false;
        }
    }
    for (uint64_t due = lockstep->same + 1; lockstep->is_found && due < sent; due++) {
        /* those behind it do not count */
        (void)bz_partner_receive(partner_of(lockstep, lockstep->seed + due));
    }
    free(pair);
    if (lockstep->is_found) {
        bz_side_draw(lockstep->side, lockstep->seed + lockstep->same, lockstep->focus,
                     &lockstep->found);
    }
}

/* --- reports ---------------------------------------------------------------------------------- */

#define HIT(window) (1u << BZ_WINDOW_##window)

/* The windows that an operation of a drawn program has; --require-windows demands them all. */
static const uint32_t demanded[BZ_OP_COUNT] = {
    [BZ_OP_START] = HIT(UNSTARTED) | HIT(CANCELLING),
    [BZ_OP_YIELD] = HIT(SLEEPING) | HIT(HOLDING) | HIT(CANCELLING),
    [BZ_OP_SLEEP] = HIT(SLEEPING) | HIT(HOLDING) | HIT(CANCELLING),
    [BZ_OP_JOIN] = HIT(WAITING) | HIT(WOKEN) | HIT(HOLDING) | HIT(CANCELLING),
    [BZ_OP_AWAIT] = HIT(WAITING) | HIT(WOKEN) | HIT(HOLDING) | HIT(CANCELLING),
    [BZ_OP_RUN] = HIT(DONE) | HIT(RUNNING),
    [BZ_OP_ACQUIRE] = HIT(WAITING) | HIT(WOKEN) | HIT(CANCELLING),
    [BZ_OP_WAIT] = HIT(WAITING) | HIT(WOKEN) | HIT(CANCELLING),
    [BZ_OP_PUT] = HIT(WAITING) | HIT(WOKEN) | HIT(CANCELLING),
    [BZ_OP_GET] = HIT(WAITING) | HIT(WOKEN) | HIT(CANCELLING),
};

/* Counts what was never hit; prints it or adds it to a list, too. */
struct missed {
    uint32_t count;
    bool is_printed;
    struct bz_json *list;
};

static void miss(struct missed *missed, const char *text) {
    missed->count++;
    if (missed->is_printed) {
        printf("never hit: %s\n", text);
    }
    if (missed->list != NULL) {
        bz_json_append_string(missed->list, text);
    }
}

static void find_missed_windows(const struct lockstep *lockstep, struct missed *missed) {
    const struct bz_run_stats *stats = bz_side_stats(lockstep->side);
    char text[80];
    for (uint32_t op = 0; op < BZ_OP_COUNT; op++) {
        bool is_there = op != BZ_OP_WAIT || lockstep->reference.variant.event != NULL;
        for (uint32_t window = 0; window < BZ_WINDOW_COUNT; window++) {
            if (is_there && (demanded[op] >> window & 1u) != 0 && stats->windows[op][window] == 0) {
                snprintf(text, sizeof text, "%s in window %s", bz_op_name((enum bz_op)op),
                         bz_window_name((enum bz_window)window));
                miss(missed, text);
            }
        }
    }
}

/* True if drawn programs have the verb, of objects of that kind. */
static bool is_drawn(const struct lockstep *lockstep, uint32_t verb, uint32_t primitive) {
    const struct bz_script_verb_info *info = &bz_script_verbs[verb];
    if (info->name == NULL || info->primitives == 0) {
        return info->name != NULL && primitive == 0;
    }
    return (info->primitives >> primitive & 1u) != 0 &&
           bz_variant_offers(&lockstep->reference.variant, (enum bz_primitive)primitive);
}

static void find_missed_verbs(const struct lockstep *lockstep, struct missed *missed) {
    const struct bz_verb_counts *verbs = bz_side_verbs(lockstep->side);
    char text[80];
    for (uint32_t verb = 0; verb < BZ_VERB_COUNT; verb++) {
        bool has_object = bz_script_verbs[verb].primitives != 0;
        for (uint32_t primitive = 0; primitive < BZ_SCRIPT_PRIMITIVES; primitive++) {
            if (is_drawn(lockstep, verb, primitive) && verbs->counts[verb][primitive] == 0) {
                snprintf(text, sizeof text, "return of %s%s%s", bz_script_verbs[verb].name,
                         has_object ? " of " : "",
                         has_object ? bz_primitive_name((enum bz_primitive)primitive) : "");
                miss(missed, text);
            }
        }
    }
}

static uint32_t find_missed(const struct lockstep *lockstep, bool is_printed,
                            struct bz_json *list) {
    struct missed missed = {.is_printed = is_printed, .list = list};
    find_missed_windows(lockstep, &missed);
    find_missed_verbs(lockstep, &missed);
    return missed.count;
}

static void print_steps(struct lockstep *lockstep, uint64_t last) {
    size_t length;
    const char *line = bz_side_play(lockstep->side, &lockstep->found, &length);
    line = strchr(strchr(line, '\n') + 1, '\n') + 1;
    printf("\n  step  %-24s the record of the C side\n", "");
    for (uint64_t step = 0; step <= last && strncmp(line, "end\n", 4) != 0; step++) {
        int words = (int)strcspn(line, "\t");
        const char *happened = line + words + 1;
        printf("%6" PRIu64 "  %-24.*s %.*s\n", step, words, line, (int)strcspn(happened, "\t"),
               happened);
        line = strchr(line, '\n') + 1;
    }
}

static const char *member(const struct bz_json *root, const char *key) {
    const char *text = root == NULL ? NULL : bz_json_string(bz_json_get(root, key));
    return text != NULL ? text : "";
}

static void print_difference(struct lockstep *lockstep) {
    static char program[BZ_FILE_BYTES_MAX];
    char error[BZ_ERROR_BYTES];
    struct bz_json *root = bz_json_parse(lockstep->difference, strlen(lockstep->difference), 4,
                                         "the answer", error, sizeof error);
    uint64_t step = 0;
    (void)(root != NULL && bz_json_number(bz_json_get(root, "step"), &step));
    printf("program %" PRIu64 " differs, order %s: %s, step %" PRIu64 "\n", lockstep->found.number,
           bz_order_name(lockstep->found.order), member(root, "what"), step);
    printf("  C       %s\n  Python  %s\n", member(root, "c"), member(root, "python"));
    printf("\n");
    bz_script_print(&lockstep->found.script, program, sizeof program);
    fputs(program, stdout);
    print_steps(lockstep, step);
    bz_json_free(root);
}

static void print_text(struct lockstep *lockstep) {
    const unsigned *version = lockstep->version.version;
    printf("%s %u.%u.%u%s%s (tasks in %s) beside %s, programs from %" PRIu64 "\n",
           lockstep->version.implementation, version[0], version[1], version[2],
           lockstep->twisted[0] != '\0' ? ", Twisted " : "", lockstep->twisted,
           lockstep->is_pure ? "Python" : "C", lockstep->reference.variant.name, lockstep->seed);
    if (lockstep->is_found) {
        print_difference(lockstep);
    }
    printf("%" PRIu64 " of %" PRIu64 " programs: the same in every step\n", lockstep->same,
           lockstep->programs);
    if (!lockstep->is_quiet) {
        bz_run_report_print_windows(bz_side_stats(lockstep->side));
    }
    if (lockstep->is_complete) {
        (void)find_missed(lockstep, true, NULL);
    }
}

static void print_json(struct lockstep *lockstep) {
    static char program[BZ_FILE_BYTES_MAX];
    struct bz_json *root = bz_json_new_object();
    char version[64];
    snprintf(version, sizeof version, "%u.%u.%u", lockstep->version.version[0],
             lockstep->version.version[1], lockstep->version.version[2]);
    bz_json_add_string(root, "implementation", lockstep->version.implementation);
    bz_json_add_string(root, "version", version);
    bz_json_add_string(root, "tasks", lockstep->is_pure ? "python" : "c");
    if (lockstep->twisted[0] != '\0') {
        bz_json_add_string(root, "twisted", lockstep->twisted);
    }
    bz_json_add_string(root, "variant", lockstep->reference.variant.name);
    bz_json_add_hex(root, "seed", lockstep->seed);
    bz_json_add_number(root, "programs", lockstep->programs);
    bz_json_add_number(root, "same", lockstep->same);
    bz_json_add_decimal(root, "seconds", lockstep->seconds);
    bz_json_add_windows(root, bz_side_stats(lockstep->side));
    (void)find_missed(lockstep, false, bz_json_add_array(root, "never_hit"));
    struct bz_json *differences = bz_json_add_array(root, "differences");
    if (lockstep->is_found) {
        char error[BZ_ERROR_BYTES];
        struct bz_json *answer = bz_json_parse(lockstep->difference, strlen(lockstep->difference),
                                               4, "the answer", error, sizeof error);
        struct bz_json *item = bz_json_append_object(differences);
        uint64_t step = 0;
        (void)(answer != NULL && bz_json_number(bz_json_get(answer, "step"), &step));
        bz_script_print(&lockstep->found.script, program, sizeof program);
        bz_json_add_hex(item, "number", lockstep->found.number);
        bz_json_add_string(item, "order", bz_order_name(lockstep->found.order));
        bz_json_add_number(item, "step", step);
        bz_json_add_string(item, "what", member(answer, "what"));
        bz_json_add_string(item, "c", member(answer, "c"));
        bz_json_add_string(item, "python", member(answer, "python"));
        bz_json_add_string(item, "program", program);
        bz_json_free(answer);
    }
    bz_json_put(root);
}

static int finish(struct lockstep *lockstep) {
    if (lockstep->has_died) {
        return bz_cli_fail(lockstep->name, BZ_EXIT_INTERNAL,
                           "the player in '%s' ended or stopped answering after %" PRIu64
                           " programs",
                           lockstep->python, lockstep->same);
    }
    (lockstep->is_json ? print_json : print_text)(lockstep);
    if (lockstep->is_found) {
        return BZ_EXIT_VIOLATION;
    }
    if (lockstep->is_interrupted) {
        return BZ_EXIT_INTERRUPTED;
    }
    return lockstep->is_complete && find_missed(lockstep, false, NULL) > 0 ? BZ_EXIT_UNPROVED
                                                                           : BZ_EXIT_OK;
}

static int command_lockstep(int argc, char **argv) {
    struct lockstep *lockstep = bz_lack_check(calloc(1, sizeof *lockstep), "the command");
    const struct bz_syntax syntax = {
        .options = options,
        .target = lockstep,
        .check = check_options,
        .doc =
            "Runs drawn programs on a reference in C (asyncio-3.11, asyncio-3.13, twisted) and in "
            "the real interpreter, under the same choices, and compares every step: the handle "
            "that runs, its events, the ready queue, the timers, every task, and every waiter of "
            "every primitive. Shows both sides of the first difference. "
            "Exit status: 0 no difference; 1 a difference: it is a finding about the reference; "
            "2 no such interpreter, no Python, no reference for its version, or no Twisted; 4 a "
            "window was never hit, or an operation never returned; 5 interrupted; 70 the "
            "interpreter died."};
    lockstep->name = argv[0];
    lockstep->programs = PROGRAMS_DEFAULT;
    lockstep->jobs = 1;
    int code = bz_options_parse(&syntax, argc, argv);
    code = code != BZ_EXIT_OK ? code : begin(lockstep);
    if (code == BZ_EXIT_OK) {
        signal(SIGPIPE, SIG_IGN); /* an interpreter that ends is noticed by its silence */
        bz_interrupt_catch();
        bz_progress_begin(&lockstep->progress, lockstep->is_quiet, lockstep->programs, 0);
        lockstep->progress.unit = "programs";
        run_all(lockstep);
        lockstep->seconds = bz_progress_end(&lockstep->progress);
        code = finish(lockstep);
        stop(lockstep, lockstep->jobs);
        bz_side_free(lockstep->side);
    }
    free(lockstep);
    return code;
}

static const struct bz_command commands[] = {
    {"lockstep", "compare a reference with the real interpreter, step by step", command_lockstep},
    {0},
};

int main(int argc, char **argv) {
    bz_commands = commands;
    bz_caller.program = "buzzer-lab";
    return bz_cli_main(argc, argv);
}
