/* The scenario `model`. Every entry of the zoo that it can run is found by the model of its
 * primitive, within four times the schedules that the oracles need which look into it; or
 * models/README.md says why not. The table there is written by this test when BUZZER_UPDATE=1. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/tests/seeds.h"

#define FINDINGS 8u    /* how often each entry is found */
#define RUNS_MAX 8000u /* in which the model must find it so often */
#define TIMES 4u

/* The settings that an entry needs besides the defaults, or why the model does not find it. */
static const struct {
    const char *entry;
    const char *settings; /* NULL: the defaults */
    const char *why_not;  /* NULL: it is found */
} rows[] = {
    {"zoo/aiodataloader-44", "tasks=6,cancels=6,operations=5,pause=3", NULL},
    {"zoo/an-1075", "pause=0,operations=8,cancels=12,tasks=8", NULL},
    {"zoo/an-646", "capacity=2", NULL},
    {"zoo/cond-cancel-relock", "cancels=3", NULL},
    {"zoo/cond-notify-lost", "pause=0,operations=5", NULL},
    {"zoo/an-728", "pause=0", NULL},
    {"zoo/cats-effect-3215", "tasks=6", NULL},
    {"zoo/cats-effect-3998", "tasks=6,operations=5,pause=0", NULL},
    {"zoo/embassy-2766", "capacity=2", NULL},
    {"zoo/mb-160-queue", "capacity=0", NULL},
    {"zoo/neco-chan", "pause=0", NULL},
    {"zoo/neco-cond", "pause=0,operations=5", NULL},
    {"zoo/q-handoff-lost", "pause=0", NULL},
    {"zoo/q-putter-lost", "operations=4", NULL},
    {"zoo/sem-flag-stuck", "capacity=2", NULL},
    {"zoo/sem-noncancel-exit", "operations=5", NULL},

    {"zoo/al-23", NULL, "starvation: every order of service is right without a claim"},
    {"zoo/dn-4267", NULL, "starvation: every order of service is right without a claim"},
    {"zoo/fr-2071", NULL, "starvation: every order of service is right without a claim"},
    {"zoo/am-54", NULL, "`locked()` is no operation of the model"},
    {"zoo/lock-locked-window", NULL, "`locked()` is no operation of the model"},
    {"zoo/sem-locked-window", NULL, "`locked()` is no operation of the model"},
    {"zoo/sem-stale-flag", NULL, "`locked()` is no operation of the model"},
    {"zoo/an-728-reroute", NULL, "the model cannot tell an item that is put back from one in hand"},
    {"zoo/an-728-swallow", NULL, "`cancel-delivered` finds it first, in every scenario"},
    {"zoo/go-63615", NULL, "`cancel-delivered` finds it first, in every scenario"},
    {"zoo/tw-inline-nocancel", NULL, "`cancel-delivered` finds it first, in every scenario"},
    {"zoo/wf-swallow", NULL, "`cancel-delivered` finds it first, in every scenario"},
    {"zoo/bar-dup-index", NULL, "who leaves a barrier with which index is not in the model"},
    {"zoo/dn-64078", NULL, "`status` finds it first, in every scenario"},
    {"zoo/cond-swallow", NULL, "`cancel-delivered` finds it first, in every scenario"},
    {"zoo/ap-467", NULL, "it needs a time limit that expires, and no call has one"},
    {"zoo/wf-timeout-drops", NULL, "it needs a time limit that expires, and no call has one"},
    {"zoo/q-dead-getters", NULL, "a leak changes no answer"},
    {"zoo/q-dead-putters", NULL, "a leak changes no answer"},
    {"zoo/q-deferred-set", NULL,
     "found too late: it needs a `put` that must not wait, or 9 times as many schedules"},
    {"zoo/q-taskcount", NULL, "`join` is no operation of the model"},
    {"zoo/rustfs-4498", NULL, "`join` is no operation of the model"},
    {"zoo/lean4-8052", NULL, "`try_get` is no operation of the model"},
    {"zoo/asio-1318", NULL, "`shutdown` is no operation of the model"},
    {"zoo/tmc-219", NULL, "`shutdown` is no operation of the model"},
    {"zoo/sem-one-wake", NULL, "it needs two permits released in one step"},
    {"zoo/embassy-1922", "max-steps=500",
     "two that wake each other never come to rest: `livelock`"},
    {"zoo/toy-poll", "max-steps=10000", NULL},
    {"zoo/tw-overrelease", NULL, "no program releases what it does not hold"},
};

struct found {
    uint64_t runs; /* all that it took */
    uint64_t by_model;
    uint64_t by_others;
    const char *oracle; /* the last one */
};

static bool is_of_model(const char *oracle) {
    return strcmp(oracle, "linearizability") == 0 || strcmp(oracle, "fifo") == 0 ||
           strcmp(oracle, "lost-wakeup") == 0;
}

/* Runs seeds from 0 on until something was found so often; `by_model`: by the model. */
static struct found find(const struct bz_program *program, bool by_model, uint64_t runs_max) {
    struct found found = {.oracle = "-"};
    struct bz_world *world = bz_program_new_world(program);
    while (found.by_model + (by_model ? 0 : found.by_others) < FINDINGS && found.runs < runs_max) {
        if (bz_program_run(program, world, found.runs) == BZ_RUN_VIOLATED) {
            const char *oracle = bz_judge_violation(world->judge)->oracle;
            found.oracle = is_of_model(oracle) ? oracle : found.oracle;
            found.by_model += is_of_model(oracle);
            found.by_others += !is_of_model(oracle);
        }
        found.runs++;
    }
    bz_world_destroy(world);
    return found;
}

static enum bz_primitive modelled_primitive(const struct bz_variant *entry) {
    for (uint32_t index = 0; index < bz_scenario_model.primitive_count; index++) {
        if (bz_variant_offers(entry, bz_scenario_model.primitives[index])) {
            return bz_scenario_model.primitives[index];
        }
    }
    return BZ_PRIMITIVE_COUNT;
}

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static size_t row_of(const struct bz_variant *entry) {
    size_t row = 0;
    while (row < ROW_COUNT && strcmp(rows[row].entry, entry->name) != 0) {
        row++;
    }
    return row;
}

static char table[65536];

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...) {
    size_t used = strlen(table);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(table + used, sizeof table - used, format, arguments);
    va_end(arguments);
}

/* The rows of those that are found, or of the others. */
static void judge_entry(const struct bz_variant *entry, bool is_of_found) {
    size_t row = row_of(entry);
    const char *why_not = row < ROW_COUNT ? rows[row].why_not : NULL;
    const char *settings = row < ROW_COUNT ? rows[row].settings : NULL;
    struct bz_program model = tst_program(&bz_scenario_model, entry, BZ_ORDER_ANY);
    tst_set(&model, settings);
    if (why_not != NULL && !is_of_found) {
        struct found found = find(&model, true, RUNS_MAX / 8);
        cr_assert_lt(found.by_model, FINDINGS, "%s is found, and listed as not", entry->name);
        say("| `%s` | %s |\n", entry->name + strlen("zoo/"), why_not);
    } else if (why_not == NULL && is_of_found) {
        const struct bz_scenario *scenario = tst_scenario(entry->fault->scenario);
        struct bz_program white = tst_program(scenario, entry, BZ_ORDER_ANY);
        tst_set(&white, entry->fault->settings);
        struct found due = find(&white, false, RUNS_MAX);
        struct found found = find(&model, true, RUNS_MAX);
        cr_assert_eq(found.by_model, FINDINGS, "%s", entry->name);
        cr_assert_leq(found.runs, TIMES * due.runs, "%s", entry->name);
        if (scenario == &bz_scenario_model) {
            return; /* the table compares scenarios */
        }
        say("| `%s` | %s | %llu | %s | %llu | %s%s%s |\n", entry->name + strlen("zoo/"),
            entry->fault->oracle, (unsigned long long)due.runs, found.oracle,
            (unsigned long long)found.runs, settings == NULL ? "" : "`",
            settings == NULL ? "" : settings, settings == NULL ? "" : "`");
    }
}

static void judge_all(bool is_of_found) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        if ((*next)->fault != NULL && modelled_primitive(*next) != BZ_PRIMITIVE_COUNT) {
            judge_entry(*next, is_of_found);
        }
    }
}

#define README TST_SCENARIOS_FOLDER "/models/README.md"
#define BEGIN "<!-- test_model.c: begin -->\n"
#define END "<!-- test_model.c: end -->\n"

/* The text of README.md, and the part of it between the marks. */
static char readme[sizeof table];

static char *read_table(size_t *length) {
    FILE *file = fopen(README, "r");
    cr_assert(file != NULL);
    readme[fread(readme, 1, sizeof readme - 1, file)] = '\0';
    fclose(file);
    char *begin = strstr(readme, BEGIN);
    char *end = strstr(readme, END);
    cr_assert(begin != NULL && end != NULL);
    begin += strlen(BEGIN);
    *length = (size_t)(end - begin);
    return begin;
}

static void write_table(const char *begin, size_t length) {
    FILE *file = fopen(README, "w");
    cr_assert(file != NULL);
    fprintf(file, "%.*s%s%s", (int)(begin - readme), readme, table, begin + length);
    cr_assert(fclose(file) == 0);
}

Test(model, finds_the_zoo) {
    size_t length;
    say("| entry of the zoo | oracle that looks into it | schedules | found by | schedules | "
        "settings |\n"
        "| --- | --- | --- | --- | --- | --- |\n");
    judge_all(true);
    say("\n| entry | why the model does not find it |\n| --- | --- |\n");
    judge_all(false);
    char *begin = read_table(&length);
    bool is_up_to_date = strlen(table) == length && strncmp(table, begin, length) == 0;
    if (!is_up_to_date && getenv("BUZZER_UPDATE") != NULL) {
        write_table(begin, length);
        return;
    }
    cr_assert(is_up_to_date, "models/README.md is out of date: run this test with BUZZER_UPDATE=1");
}

/* Correct code is not accused: larger programs, and more cancels than anybody plans for. */
Test(model, is_silent_in_larger_programs) {
    static const char *const settings[] = {"capacity=2", "capacity=3,tasks=6,operations=5",
                                           "max-cancels=20,cancels=10,pause=3"};
    for (size_t which = 0; which < sizeof settings / sizeof settings[0]; which++) {
        for (uint32_t index = 0; index < bz_scenario_model.primitive_count; index++) {
            struct bz_program program =
                tst_program(&bz_scenario_model, &bz_variant_buzzer, BZ_ORDER_ANY);
            program.args.primitive = bz_scenario_model.primitives[index];
            tst_set(&program, settings[which]);
            if (bz_variant_offers(program.variant, program.args.primitive)) {
                tst_expect_silence(&program, 1000);
            }
        }
    }
}

/* A check that cannot follow is no verdict: the run counts as cut short. */
Test(model, does_not_judge_beyond_its_limit) {
    struct bz_program program = tst_program(&bz_scenario_model, &bz_variant_buzzer, BZ_ORDER_ANY);
    tst_set(&program, "primitive=queue,configurations=1");
    struct bz_world *world = bz_program_new_world(&program);
    uint64_t cut = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        enum bz_run_end end = bz_program_run(&program, world, seed);
        cr_assert(end == BZ_RUN_PASSED || end == BZ_RUN_OUT_OF_STEPS);
        cr_assert_eq(end == BZ_RUN_OUT_OF_STEPS, bz_judge_cut_reason(world->judge) != NULL);
        cut += end == BZ_RUN_OUT_OF_STEPS;
    }
    cr_assert_lt(0, cut);
    bz_world_destroy(world);
}
