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
#include "traces/text.h"

#define PROGRAMS_DEFAULT 20000u
#define PROGRAMS_MAX UINT64_C(1000000000000)
#define ANSWER_BYTES 65536u

struct lockstep {
    const char *python;
    const char *variant_name;
    uint64_t programs;
    uint64_t seed;
    bool is_pure;     /* tasks in Python */
    bool is_complete; /* every window of every operation must be hit */
    bool is_json;
    bool is_quiet;
    struct bz_python version;
    char twisted[32]; /* its version; empty: it is not asked for */
    struct bz_reference reference;
    struct bz_side *side;
    struct bz_partner partner;
    struct bz_progress progress;
    struct bz_pair pair;
    struct bz_json *answer; /* of the interpreter; NULL: it died */
    uint64_t same;
    bool is_found; /* a difference: `pair` has it, and the answer both sides */
    double seconds;
};

static const struct bz_option options[] = {
    {"python", "PYTHON", "The interpreter: CPython 3.11 or later", BZ_OPTION_TEXT,
     offsetof(struct lockstep, python)},
    {"programs", "N", "Number of drawn programs (default 20000)", BZ_OPTION_NUMBER,
     offsetof(struct lockstep, programs), .least = 1, .most = PROGRAMS_MAX},
    {"seed", "N", "Number of the first program (default 0)", BZ_OPTION_NUMBER,
     offsetof(struct lockstep, seed), .most = UINT64_MAX},
    {"variant", "asyncio-3.11|asyncio-3.13|twisted",
     "The reference (default: that of the interpreter's version), or twisted", BZ_OPTION_TEXT,
     offsetof(struct lockstep, variant_name)},
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

static void check_options(void *target) {
    struct lockstep *lockstep = target;
    if (lockstep->python == NULL) {
        bz_cli_misuse("--python is missing: name the interpreter");
    }
}

/* --- begin and end ---------------------------------------------------------------------------- */

static int begin(struct lockstep *lockstep) {
    char error[BZ_PARTNER_ERROR_BYTES];
    bool is_ok = bz_partner_ask(lockstep->python, &lockstep->version, error) &&
                 bz_reference_choose(&lockstep->reference, &lockstep->version,
                                     lockstep->variant_name, error);
    bool is_twisted = is_ok && bz_reference_is_twisted(&lockstep->reference);
    is_ok = is_ok &&
            (!is_twisted || bz_partner_ask_twisted(lockstep->python, lockstep->twisted,
                                                   sizeof lockstep->twisted, error)) &&
            bz_partner_start(&lockstep->partner, lockstep->python, lockstep->is_pure, is_twisted,
                             error);
    if (!is_ok) {
        return bz_cli_fail(BZ_EXIT_USAGE, "%s", error);
    }
    lockstep->side = bz_side_new(&lockstep->reference.variant, is_twisted);
    return BZ_EXIT_OK;
}

/* The interpreter ends at the first difference; the C side is some programs ahead of it. */
static void play_all(struct lockstep *lockstep) {
    static char answer[ANSWER_BYTES];
    char error[BZ_ERROR_BYTES];
    bool goes_on = true;
    for (uint64_t sent = 0; goes_on && sent < lockstep->programs; sent++) {
        size_t length;
        bz_side_draw(lockstep->side, lockstep->seed + sent, &lockstep->pair);
        const char *text = bz_side_play(lockstep->side, &lockstep->pair, &length);
        goes_on = bz_partner_send(&lockstep->partner, text, length) && bz_interrupt_requested == 0;
        bz_progress_show(&lockstep->progress, sent, 0);
    }
    bz_partner_end(&lockstep->partner, answer, sizeof answer);
    lockstep->answer = bz_json_parse(answer, strlen(answer), 4, "the answer", error, sizeof error);
    if (lockstep->answer != NULL) {
        (void)bz_json_number(bz_json_get(lockstep->answer, "same"), &lockstep->same);
        lockstep->is_found = bz_json_get(lockstep->answer, "what") != NULL;
    }
    if (lockstep->is_found) {
        bz_side_draw(lockstep->side, lockstep->seed + lockstep->same, &lockstep->pair);
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
    const char *line = bz_side_play(lockstep->side, &lockstep->pair, &length);
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

static const char *member(const struct lockstep *lockstep, const char *key) {
    return bz_or(bz_json_string(bz_json_get(lockstep->answer, key)), "");
}

static uint64_t step_of(const struct lockstep *lockstep) {
    uint64_t step = 0;
    (void)bz_json_number(bz_json_get(lockstep->answer, "step"), &step);
    return step;
}

static void print_difference(struct lockstep *lockstep) {
    static char program[BZ_FILE_BYTES_MAX];
    uint64_t step = step_of(lockstep);
    printf("program %" PRIu64 " differs, order %s: %s, step %" PRIu64 "\n", lockstep->pair.number,
           bz_order_name(lockstep->pair.order), member(lockstep, "what"), step);
    printf("  C       %s\n  Python  %s\n", member(lockstep, "c"), member(lockstep, "python"));
    printf("\n");
    bz_script_print(&lockstep->pair.script, program, sizeof program);
    fputs(program, stdout);
    print_steps(lockstep, step);
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
        struct bz_json *item = bz_json_append_object(differences);
        bz_script_print(&lockstep->pair.script, program, sizeof program);
        bz_json_add_hex(item, "number", lockstep->pair.number);
        bz_json_add_string(item, "order", bz_order_name(lockstep->pair.order));
        bz_json_add_number(item, "step", step_of(lockstep));
        bz_json_add_string(item, "what", member(lockstep, "what"));
        bz_json_add_string(item, "c", member(lockstep, "c"));
        bz_json_add_string(item, "python", member(lockstep, "python"));
        bz_json_add_string(item, "program", program);
    }
    bz_json_put(root);
}

static int finish(struct lockstep *lockstep) {
    if (lockstep->answer == NULL) {
        return bz_cli_fail(BZ_EXIT_INTERNAL,
                           "the player in '%s' ended or stopped without an answer",
                           lockstep->python);
    }
    (lockstep->is_json ? print_json : print_text)(lockstep);
    if (lockstep->is_found) {
        return BZ_EXIT_VIOLATION;
    }
    if (bz_interrupt_requested != 0) {
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
    lockstep->programs = PROGRAMS_DEFAULT;
    int code = bz_options_parse(&syntax, argc, argv);
    code = code != BZ_EXIT_OK ? code : begin(lockstep);
    if (code == BZ_EXIT_OK) {
        signal(SIGPIPE, SIG_IGN); /* an interpreter that ends is noticed by its silence */
        bz_interrupt_catch();
        bz_progress_begin(&lockstep->progress, lockstep->is_quiet, lockstep->programs, 0);
        lockstep->progress.unit = "programs";
        play_all(lockstep);
        lockstep->seconds = bz_progress_end(&lockstep->progress);
        code = finish(lockstep);
        bz_json_free(lockstep->answer);
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
