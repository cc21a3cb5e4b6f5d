/* The order of locks in the scenario `program`: ranks in a file, and the parameter `lock-order`. */
#include <string.h>

#include "scenarios/program/script.h"
#include "scenarios/tests/seeds.h"
#include "sim/program/settings.h"

#define OP(verb, object) "{\"op\": \"" verb "\", \"object\": \"" object "\"}"
#define FILE_OF(rank, ops)                                                                         \
    "{\"format\": \"buzzer-program/2\", \"objects\": ["                                            \
    "{\"name\": \"outer\", \"kind\": \"lock\"" rank "},"                                           \
    "{\"name\": \"inner\", \"kind\": \"bounded\", \"permits\": 1" rank "2}], \"tasks\": ["         \
    "{\"name\": \"a\", \"ops\": [" YIELD OP("acquire", "outer") "," OP(                            \
        "acquire", "inner") "]},"                                                                  \
                            "{\"name\": \"b\", \"ops\": [" ops "]}]}"
#define YIELD "{\"op\": \"yield\"},"
#define RANKS ", \"rank\": 1"
#define INVERTED OP("acquire", "inner") "," OP("acquire", "outer")
#define LATER "{\"op\": \"await\", \"task\": \"a\"},"

static struct bz_program program_of(const char *text, const char *settings, enum bz_order order) {
    struct bz_program program = tst_program(&bz_scenario_program, &bz_variant_buzzer, order);
    static struct bz_script script;
    char error[BZ_ERROR_BYTES] = "";
    memset(&script, 0, sizeof script);
    cr_assert(
        bz_script_read(&script, program.variant, text, strlen(text), "x.json", error, sizeof error),
        "%s", error);
    memcpy(program.args.file, &script, sizeof script);
    program.args.file_digest = 1;
    cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
    return program;
}

static void expect_found(const char *text, const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(text, settings, (enum bz_order)order);
        struct tst_seeds result = tst_run_seeds(&program, 100);
        cr_assert_not_null((void *)result.violation.oracle);
        cr_assert_str_eq((char *)result.violation.oracle, (char *)"lock-order");
    }
}

static void expect_silence(const char *text, const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(text, settings, (enum bz_order)order);
        tst_expect_silence(&program, 1000);
    }
}

/* The await keeps the two tasks apart: there is no deadlock, and with ranks the order is wrong. */
Test(lock_order, ranks_of_a_file_are_judged_without_a_deadlock) {
    expect_found(FILE_OF(RANKS, LATER INVERTED), "lock-order=0");
    expect_silence(FILE_OF(RANKS, OP("acquire", "outer") "," OP("acquire", "inner")),
                   "lock-order=1");
    expect_silence(FILE_OF(RANKS, OP("acquire", "inner") "," OP("try-acquire", "outer")),
                   "lock-order=1");
}

#define NO_RANKS                                                                                   \
    "{\"format\": \"buzzer-program/2\", \"objects\": ["                                            \
    "{\"name\": \"outer\", \"kind\": \"lock\"}, {\"name\": \"inner\", \"kind\": \"lock\"}],"       \
    "\"tasks\": [{\"name\": \"a\", \"ops\": [" YIELD OP("acquire", "outer") "," OP(                \
        "acquire", "inner") "]}, {\"name\": \"b\", \"ops\": [" LATER INVERTED "]}]}"

Test(lock_order, of_the_run_is_judged_on_demand) {
    expect_silence(NO_RANKS, "lock-order=0");
    expect_found(NO_RANKS, "lock-order=1");
}

/* A drawn program acquires in one order. */
Test(lock_order, of_drawn_programs_is_one) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        char error[BZ_ERROR_BYTES] = "";
        struct bz_program program =
            tst_program(&bz_scenario_program, &bz_variant_buzzer, (enum bz_order)order);
        program.args.primitive = BZ_PRIMITIVE_LOCK;
        cr_assert(bz_program_set_list(&program, "lock-order=1,objects=4,kinds=4,more=2", error,
                                      sizeof error));
        tst_expect_silence(&program, 2000);
    }
}
