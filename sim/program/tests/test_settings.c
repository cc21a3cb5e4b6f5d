/* Settings and tokens: what is written is read again, and every error names the culprit. */
#include "sim/program/settings.h"

#include "sim/program/token.h"
#include "sim/tests/crowd.h"

static void find(struct bz_program *program) {
    char error[BZ_ERROR_BYTES];
    cr_assert(
        bz_program_find(program, &crowd_catalog, "crowd", "crowd_sound", NULL, error, sizeof error),
        "%s", error);
}

static void expect_error(bool is_ok, const char *error, const char *culprit) {
    cr_assert_not(is_ok, "accepted: %s", culprit);
    cr_assert_not_null(strstr(error, culprit), "'%s' does not name '%s'", error, culprit);
}

Test(settings, unknown_names_are_named_with_the_nearest) {
    static const char *const words[][4] = {{"croud", "crowd_sound", "random", "'croud'"},
                                           {"croud", "crowd_sound", "random", "'crowd'"},
                                           {"crowd", "crowd_sond", "random", "'crowd_sond'"},
                                           {"crowd", "crowd_sond", "random", "'crowd_sound'"},
                                           {"crowd", "crowd_sound", "randon", "'randon'"},
                                           {"crowd", "crowd_sound", "randon", "'random'"}};
    for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
        struct bz_program program;
        char error[BZ_ERROR_BYTES] = "";
        bool is_ok = bz_program_find(&program, &crowd_catalog, words[index][0], words[index][1],
                                     words[index][2], error, sizeof error);
        expect_error(is_ok, error, words[index][3]);
    }
}

Test(settings, refuse_what_makes_no_sense_and_change_nothing) {
    static const char *const bad[][3] = {{"order", "lifo", "lifo"},
                                         {"cancel", "wokken", "woken"},
                                         {"cancel", "", "window"},
                                         {"cancel", "woken,", "window"},
                                         {"cancel", "running", "running"},
                                         {"max-cancels", "-1", "-1"},
                                         {"max-steps", "0", "max-steps"},
                                         {"max-steps", "1e3", "1e3"},
                                         {"permits", "0", "permits"},
                                         {"permits", "1001", "1001"},
                                         {"permits", "two", "two"},
                                         {"permits", "", "permits"},
                                         {"primitive", "bounded", "bounded"},
                                         {"permit", "1", "permits"},
                                         {"max-lag", "", "max-lag"},
                                         {"max-lag", "5", "'5'"},
                                         {"max-lag", "1.5ms", "1.5ms"},
                                         {"max-lag", "-1ns", "-1ns"},
                                         {"max-lag", "ms", "'ms'"},
                                         {"max-lag", "1 ms", "1 ms"},
                                         {"max-lag", "none", "none"},
                                         {"max-lag", "9007199254740991ns", "9007199254740991ns"},
                                         {"max-lag", "99999999999999999999s", "max-lag"},
                                         {"max-steps", "4294967296", "4294967296"}};
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        struct bz_program program;
        char error[BZ_ERROR_BYTES] = "";
        find(&program);
        struct bz_program before = program;
        bool is_ok = bz_program_set(&program, bad[index][0], bad[index][1], error, sizeof error);
        expect_error(is_ok, error, bad[index][2]);
        cr_assert_eq(memcmp(&program, &before, sizeof program), 0, "%s", bad[index][0]);
    }
}

static void expect_round_trip(const struct bz_program *program, uint64_t seed, uint64_t digest) {
    char token[BZ_TOKEN_BYTES];
    char again[BZ_TOKEN_BYTES];
    char error[BZ_ERROR_BYTES] = "";
    struct bz_program parsed;
    uint64_t parsed_seed;
    uint64_t parsed_digest;
    bz_token_format(program, seed, digest, token, sizeof token);
    cr_assert(bz_token_looks_like(token));
    cr_assert(bz_token_parse(token, &crowd_catalog, &parsed, &parsed_seed, &parsed_digest, error,
                             sizeof error),
              "%s: %s", token, error);
    cr_assert_eq(parsed_seed, seed);
    cr_assert_eq(parsed_digest, digest);
    tst_text(bz_token_format(&parsed, seed, digest, again, sizeof again), token);
    cr_assert_eq(parsed.cancel_windows, program->cancel_windows, "%s", token);
    cr_assert_eq(parsed.order, program->order, "%s", token);
    cr_assert_eq(parsed.args.values[CROWD_GUESTS], program->args.values[CROWD_GUESTS]);
    cr_assert_eq((void *)parsed.variant, (void *)program->variant);
    cr_assert_eq((void *)parsed.strategy, (void *)program->strategy);
}

Test(token, is_read_as_it_was_written) {
    struct bz_program program;
    find(&program);
    for (uint32_t windows = 0; windows <= BZ_WINDOWS_ALL; windows += 2) {
        program.cancel_windows = windows;
        program.args.values[CROWD_GUESTS] = 1 + (int64_t)windows;
        program.order = windows % 4 == 0 ? BZ_ORDER_FIFO : BZ_ORDER_ANY;
        expect_round_trip(&program, windows == 0 ? 0 : UINT64_MAX / windows, UINT64_MAX - windows);
    }
}

Test(token, leaves_defaults_out) {
    struct bz_program program;
    char token[BZ_TOKEN_BYTES];
    find(&program);
    char expected[BZ_TOKEN_BYTES];
    snprintf(expected, sizeof expected, "crowd:crowd_sound:portfolio:0x2a#000000000000001f@%s",
             bz_engine_version());
    tst_text(bz_token_format(&program, 42, 0x1f, token, sizeof token), expected);
    program.order = BZ_ORDER_FIFO;
    program.args.values[CROWD_GUESTS] = 3;
    bz_token_format(&program, 42, 0x1f, token, sizeof token);
    cr_assert_not_null(strstr(token, "order=fifo"), "%s", token);
    cr_assert_not_null(strstr(token, "guests=3"), "%s", token);
    cr_assert_null(strstr(token, "permits"), "%s", token);
}

/* Older programs print no version; later ones may print any. */
Test(token, of_any_version_is_read) {
    const char *const versions[][3] = {
        {"", "", "unknown"}, {"@", bz_engine_version(), "code"}, {"@", "12.0-rc_1+x", "version"}};
    for (size_t index = 0; index < sizeof versions / sizeof versions[0]; index++) {
        char text[BZ_TOKEN_BYTES];
        struct bz_program program;
        struct bz_token token;
        uint64_t seed;
        uint64_t digest;
        char error[BZ_ERROR_BYTES] = "";
        char cause[BZ_CAUSE_BYTES];
        snprintf(text, sizeof text, "crowd:crowd_sound:random:1#000000000000001f%s%s",
                 versions[index][0], versions[index][1]);
        cr_assert(
            bz_token_parse(text, &crowd_catalog, &program, &seed, &digest, error, sizeof error),
            "%s", error);
        cr_assert_eq(digest, 0x1f);
        cr_assert(bz_token_split(&token, text, error, sizeof error));
        tst_text(bz_cause_name(bz_token_cause(&token, cause, sizeof cause)), versions[index][2]);
        cr_assert_not_null(strstr(cause, versions[index][1]), "%s", cause);
    }
}

/* As many as there can be, and as long as they can be as text: explore prints such tokens. */
Test(token, with_the_longest_answers_is_read_as_it_was_written) {
    struct bz_program program;
    char error[BZ_ERROR_BYTES];
    find(&program);
    program.strategy = &bz_strategy_answers;
    for (uint32_t question = 1; bz_answers_add(&program.answers, question, 7); question++) {
    }
    cr_assert_eq(program.answers.count, BZ_ANSWERS_ENTRIES_MAX);
    expect_round_trip(&program, 1, 2);
    program.answers.count = 0;
    for (uint32_t question = UINT32_MAX - 100; bz_answers_add(&program.answers, question, 1000000);
         question++) {
    }
    cr_assert_lt(program.answers.count, BZ_ANSWERS_ENTRIES_MAX);
    expect_round_trip(&program, 1, 2);
    char text[BZ_ANSWERS_TEXT_BYTES + 64] = "answers=";
    memset(text + strlen(text), '1', BZ_ANSWERS_TEXT_BYTES);
    expect_error(bz_program_set_list(&program, text, error, sizeof error), error, "ascending");
}

Test(settings, lag_is_read_and_written) {
    static const struct {
        const char *text;
        uint64_t lag_max_ns;
        const char *again;
    } lags[] = {{"99ms", BZ_LAG_MAX_DEFAULT_NS, "99ms"},
                {"0", BZ_LAG_MAX_NONE_NS, "0"},
                {"0s", BZ_LAG_MAX_NONE_NS, "0"},
                {"any", BZ_LAG_MAX_ANY_NS, "any"},
                {"1ns", 1, "1ns"},
                {"40us", 40000, "40us"},
                {"1500ms", 1500000000, "1500ms"},
                {"2000ms", 2000000000, "2s"},
                {"9007199254740990ns", BZ_LAG_MAX_ANY_NS - 1, "9007199254740990ns"}};
    for (size_t index = 0; index < sizeof lags / sizeof lags[0]; index++) {
        struct bz_program program;
        char error[BZ_ERROR_BYTES];
        char text[BZ_LAG_BYTES];
        find(&program);
        cr_assert(bz_program_set(&program, "max-lag", lags[index].text, error, sizeof error), "%s",
                  error);
        cr_assert_eq(program.lag_max_ns, lags[index].lag_max_ns);
        tst_text(bz_lag_text(program.lag_max_ns, text), lags[index].again);
        expect_round_trip(&program, 1, 2);
    }
}

Test(token, errors_name_the_culprit) {
    static const char *const bad[][2] = {
        {"crowd:crowd_sound:random:0x2a#1f", "digest"},
        {"crowd:crowd_sound:random:0x2a", "digest"},
        {"crowd:crowd_sound#000000000000001f", "fewer"},
        {"crowd:crowd_sound:random:0x1ffffffffffffffff#000000000000001f", "seed"},
        {"crowd:crowd_sound:random:-1#000000000000001f", "seed"},
        {"croud:crowd_sound:random:1#000000000000001f", "croud"},
        {"crowd:crowd_sound:random:1:guests=0#000000000000001f", "guests"},
        {"crowd:crowd_sound:random:1:guests#000000000000001f", "guests"},
        {"crowd:crowd_sound:random:1#000000000000001f@", "version"},
        {"crowd:crowd_sound:random:1#000000000000001f@1.0@2", "version"},
        {"crowd:crowd_sound:random:1#000000000000001f@1.0 ", "version"},
        {"crowd:crowd_sound:random:1#000000000000001f@12345678901234567890123456789012", "version"},
        {"crowd:crowd_sound:random:1#1f@1.0", "digest"},
        {"", "token"}};
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        struct bz_program program;
        uint64_t seed;
        uint64_t digest;
        char error[BZ_ERROR_BYTES] = "";
        bool is_ok = bz_token_parse(bad[index][0], &crowd_catalog, &program, &seed, &digest, error,
                                    sizeof error);
        expect_error(is_ok, error, bad[index][1]);
    }
    cr_assert_not(bz_token_looks_like("a:b#c.json"));
    cr_assert_not(bz_token_looks_like("trace"));
}

Test(numbers, are_read_whole_or_not_at_all) {
    uint64_t value;
    cr_assert(bz_parse_u64("18446744073709551615", &value) && value == UINT64_MAX);
    cr_assert(bz_parse_u64("0xFFFFFFFFFFFFFFFF", &value) && value == UINT64_MAX);
    cr_assert(bz_parse_u64("0", &value) && value == 0);
    static const char *const bad[] = {"",
                                      "0x",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0xg",
                                      "ten",
                                      "18446744073709551616",
                                      "0x10000000000000000"};
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        cr_assert_not(bz_parse_u64(bad[index], &value), "%s", bad[index]);
    }
}
