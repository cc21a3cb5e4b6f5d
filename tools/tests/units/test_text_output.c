/* Text in 80 columns. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/text_output.h"

#define tst_text(actual, expected) cr_assert_str_eq((char *)(actual), (char *)(expected))

static char printed[4096];

static size_t print(const char *prefix, const char *text, unsigned indent) {
    struct bz_wrap wrap = {.out = tmpfile()};
    struct bz_wrap counted = {0};
    cr_assert(wrap.out != NULL);
    bz_wrap_print(&wrap, prefix, text, indent, BZ_COLOUR_BAD);
    bz_wrap_print(&counted, prefix, text, indent, BZ_COLOUR_BAD);
    cr_assert_eq(wrap.lines, counted.lines);
    rewind(wrap.out);
    size_t length = fread(printed, 1, sizeof printed - 1, wrap.out);
    printed[length] = '\0';
    fclose(wrap.out);
    for (char *line = strtok(strdup(printed), "\n"); line != NULL; line = strtok(NULL, "\n")) {
        cr_assert_leq(bz_wrap_columns(line), BZ_WRAP_COLUMNS, "%s", line);
    }
    return counted.lines;
}

Test(wrap, breaks_at_blanks_and_indents) {
    cr_assert_eq(print("a: ", "short", 4), 1);
    tst_text(printed, "a: short\n");
    cr_assert_eq(print("", "", 4), 1);
    tst_text(printed, "\n");
    cr_assert_eq(print("",
                       "1234567 1234567 1234567 1234567 1234567 1234567 1234567 1234567 "
                       "1234567 12345678 x",
                       4),
                 2);
    tst_text(printed, "1234567 1234567 1234567 1234567 1234567 1234567 1234567 1234567 1234567 "
                      "12345678\n    x\n");
}

Test(wrap, breaks_a_word_that_is_too_long) {
    char word[201];
    memset(word, 'x', 200);
    word[200] = '\0';
    cr_assert_eq(print("", word, 10), 3); /* 80 + 70 + 50 */
}

Test(wrap, counts_columns_and_escapes_what_a_terminal_obeys) {
    cr_assert_eq(bz_wrap_columns("caf\xc3\xa9"), 4);
    cr_assert_eq(bz_wrap_columns("\xe6\xbc\xa2"), 2);
    cr_assert_eq(bz_wrap_columns("e\xcc\x81"), 1);
    print("", "a\033[31m\xe2\x80\xae\xff", 0);
    tst_text(printed, "a\\u001b[31m\\u202e?\n");
}

Test(wrap, fills_a_part_up) {
    char part[BZ_WRAP_PART_BYTES];
    const char *rest = bz_wrap_part("one two three", 8, part);
    tst_text(part, "one two ");
    tst_text(rest, "three");
    rest = bz_wrap_part(rest, 8, part);
    tst_text(part, "three   ");
    tst_text(rest, "");
    (void)bz_wrap_part("", 4, part);
    tst_text(part, "    ");
}

Test(wrap, grows_a_text) {
    struct bz_text text = {0};
    for (int index = 0; index < 1000; index++) {
        bz_text_add(&text, "%d,", index % 10);
    }
    cr_assert_eq(text.length, 2000);
    cr_assert_eq(strlen(text.bytes), 2000);
    bz_text_clear(&text);
    tst_text(text.bytes, "");
    bz_text_fini(&text);
}
