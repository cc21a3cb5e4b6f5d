/* The order of locks in the scenario `program`: ranks in a file, and the parameter `lock-order`. */
#include <string.h>

#include "scenarios/program/script.h"
#include "scenarios/tests/seeds.h"

#define OP(verb, object) "{'op': '" verb "', 'object': '" object "'}"
#define FILE_OF(objects, ops)                                                                      \
    "{'format': 'buzzer-program/2', 'objects': [" objects "], 'tasks': ["                          \
    "{'name': 'a', 'ops': [{'op': 'yield'}," IN_ORDER "]}, {'name': 'b', 'ops': [" ops "]}]}"
#define IN_ORDER OP("acquire", "outer") "," OP("acquire", "inner")
#define INVERTED OP("acquire", "inner") "," OP("acquire", "outer")
#define LATER "{'op': 'await', 'task': 'a'},"
#define RANKS                                                                                      \
    "{'name': 'outer', 'kind': 'lock', 'rank': 1},"                                                \
    "{'name': 'inner', 'kind': 'bounded', 'permits': 1, 'rank': 2}"
#define NO_RANKS "{'name': 'outer', 'kind': 'lock'}, {'name': 'inner', 'kind': 'lock'}"

static struct bz_program program_of(const char *text, const char *settings, int order) {
    struct bz_program program =
        tst_program_with(&bz_scenario_program, &bz_variant_buzzer, (enum bz_order)order, settings);
    static struct bz_script script;
    char error[BZ_ERROR_BYTES] = "";
    memset(&script, 0, sizeof script);
    cr_assert(bz_script_read(&script, program.variant, tst_json(text), strlen(text), "x.json",
                             error, sizeof error),
              "%s", error);
    memcpy(program.args.file, &script, sizeof script);
    program.args.file_digest = 1;
    return program;
}

static void expect_found(const char *text, const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(text, settings, order);
        (void)tst_expect_found(&program, 100, "lock-order");
    }
}

static void expect_silence(const char *text, const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(text, settings, order);
        tst_expect_silence(&program, 1000);
    }
}

/* The await keeps the two tasks apart: there is no deadlock, and with ranks the order is wrong. */
Test(lock_order, ranks_of_a_file_are_judged_without_a_deadlock) {
    expect_found(FILE_OF(RANKS, LATER INVERTED), "lock-order=0");
    expect_silence(FILE_OF(RANKS, IN_ORDER), "lock-order=1");
    expect_silence(FILE_OF(RANKS, OP("acquire", "inner") "," OP("try-acquire", "outer")),
                   "lock-order=1");
}

Test(lock_order, of_the_run_is_judged_on_demand) {
    expect_silence(FILE_OF(NO_RANKS, LATER INVERTED), "lock-order=0");
    expect_found(FILE_OF(NO_RANKS, LATER INVERTED), "lock-order=1");
}

/* A drawn program acquires in one order. */
Test(lock_order, of_drawn_programs_is_one) {
    tst_expect_silence_with(&bz_scenario_program, &bz_variant_buzzer,
                            "primitive=lock,lock-order=1,objects=4,kinds=4,more=2", 2000);
}
