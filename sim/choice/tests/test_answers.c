/* Scripts as text: the round trip, what is refused, and how long a script may be. */
#include "sim/choice/answers.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_text(const struct bz_answers *answers, const char *expected) {
    char text[BZ_ANSWERS_TEXT_BYTES];
    cr_assert_str_eq((char *)bz_answers_format(answers, text, sizeof text), (char *)expected);
}

static void expect_round_trip(const char *text, uint32_t count) {
    struct bz_answers answers;
    cr_assert(bz_answers_parse(&answers, text), "%s", text);
    cr_assert_eq(answers.count, count, "%s", text);
    expect_text(&answers, text);
}

Test(answers, are_the_same_there_and_back) {
    expect_round_trip("0", 0);
    expect_round_trip("1-1", 1);
    expect_round_trip("5-1+12-3", 2);
    expect_round_trip("4294967295-18446744073709551615", 1);
    expect_round_trip("1-9+2-10+3-99+10-100", 4);
}

Test(answers, are_what_the_text_says) {
    struct bz_answers answers;
    cr_assert(bz_answers_parse(&answers, "5-1+12-3"));
    cr_assert_eq(answers.entries[0].question, 5);
    cr_assert_eq(answers.entries[0].answer, 1);
    cr_assert_eq(answers.entries[1].question, 12);
    cr_assert_eq(answers.entries[1].answer, 3);
}

Test(answers, malformed_texts_are_refused) {
    static const char *const texts[] = {
        "",
        "-",
        "+",
        "1",
        "1-",
        "-1",
        "0-1",
        "1-0",
        "1-1+",
        "+1-1",
        "1-1++2-1",
        "2-1+1-1",
        "1-1+1-2",
        "1-1 ",
        " 1-1",
        "1--1",
        "1-1,2",
        "a-1",
        "1-a",
        "0x1-1",
        "4294967296-1",
        "00",
        "1-18446744073709551616",
        "1-1-1",
        "1-1+0",
        "0+1-1",
        "1-+1",
    };
    struct bz_answers answers;
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        cr_assert_eq(bz_answers_parse(&answers, texts[index]), false, "'%s'", texts[index]);
    }
}

Test(answers, so_many_and_not_one_more) {
    struct bz_answers answers = {.count = 0};
    struct bz_answers again;
    char text[2 * BZ_ANSWERS_TEXT_BYTES];
    for (uint32_t question = 1; question <= BZ_ANSWERS_ENTRIES_MAX; question++) {
        cr_assert(bz_answers_add(&answers, question, 1));
    }
    cr_assert_eq(bz_answers_add(&answers, 1000, 1), false);
    cr_assert_eq(answers.count, BZ_ANSWERS_ENTRIES_MAX);
    bz_answers_format(&answers, text, sizeof text);
    cr_assert(bz_answers_parse(&again, text));
    cr_assert_eq(again.count, BZ_ANSWERS_ENTRIES_MAX);
    strcat(text, "+1000-1");
    cr_assert_eq(bz_answers_parse(&again, text), false);
}

/* Long numbers fill the text sooner. Every entry is complete. */
Test(answers, what_the_text_has_no_room_for_is_refused) {
    struct bz_answers answers = {.count = 0};
    struct bz_answers again;
    char text[BZ_ANSWERS_TEXT_BYTES];
    uint32_t count = 0;
    while (bz_answers_add(&answers, UINT32_MAX - 100 + count, UINT64_MAX)) {
        count++;
    }
    cr_assert_eq(count, BZ_ANSWERS_TEXT_BYTES / 32);
    bz_answers_format(&answers, text, sizeof text);
    cr_assert_eq(strlen(text), (size_t)count * 32 - 1);
    cr_assert(bz_answers_parse(&again, text));
    cr_assert_eq(again.count, count);
}
