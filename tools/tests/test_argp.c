/* The part of argp for C libraries without it, in place of this one's. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/argp/argp.h"

const char *argp_program_version = "program 7";

static char seen[256];

static error_t note(int key, char *arg, struct argp_state *state) {
    size_t length = strlen(seen);
    if (key == ARGP_KEY_ARG && strcmp(arg, "last") == 0) {
        state->next = state->argc;
    }
    if (key == ARGP_KEY_NO_ARGS) {
        argp_error(state, "no words");
    }
    snprintf(seen + length, sizeof seen - length, "%x=%s ", (unsigned)key, arg == NULL ? "" : arg);
    return 0;
}

static void parse(int argc, const char *const *words) {
    static const struct argp_option options[] = {
        {"runs", 0x101, "N", 0, "How many runs of all that there are to be, in words that wrap", 0},
        {"run-first", 0x102, "N", 0, "The first", 0},
        {"json", 0x103, NULL, 0, "Print one document", 0},
        {NULL, 0, NULL, 0, "More:", 1},
        {"output", 'o', "FILE", 0, "A file", 1},
        {"out", 0x104, "DIR", 0, "Where", 1},
        {NULL, 0, NULL, 0, NULL, 0}};
    static const struct argp argp = {
        .options = options, .parser = note, .args_doc = "WORD...", .doc = "Does it.\vAt the end."};
    static char texts[12][32];
    char *argv[13] = {NULL};
    argp_err_exit_status = 2;
    for (int index = 0; index < argc; index++) {
        snprintf(texts[index], sizeof texts[index], "%s", words[index]);
        argv[index] = texts[index];
    }
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
}

#define PARSE(...)                                                                                 \
    parse((int)(sizeof((const char *[]){"it", __VA_ARGS__}) / sizeof(char *)),                     \
          (const char *[]){"it", __VA_ARGS__})

Test(argp, takes_options_before_words_wherever_they_stand) {
    PARSE("one", "--runs", "5", "two", "--json", "--out=-d", "--", "--json");
    cr_assert(eq(str, seen, (char *)"101=5 103= 104=-d 0=one 0=two 0=--json 1000001= "));
}

Test(argp, takes_abbreviations_and_stops_where_it_is_told) {
    PARSE("--out", "d", "--runs=", "-", "last", "more");
    cr_assert(eq(str, seen, (char *)"104=d 101= 0=- 0=last 1000001= "));
}

Test(argp, takes_short_options_with_a_value) {
    PARSE("-o", "d", "word", "-of");
    cr_assert(eq(str, seen, (char *)"6f=d 6f=f 0=word 1000001= "));
}

Test(argp, refuses_a_short_option_without_its_value, .exit_code = 2) {
    PARSE("x", "-o");
}

Test(argp, refuses_an_abbreviation_of_two_options, .exit_code = 2) {
    PARSE("--run", "1", "x");
}

Test(argp, refuses_an_unknown_option, .exit_code = 2) {
    PARSE("--what", "x");
}

Test(argp, refuses_a_value_of_a_flag, .exit_code = 2) {
    PARSE("--json=1", "x");
}

Test(argp, refuses_an_option_without_its_value, .exit_code = 2) {
    PARSE("x", "--out");
}

Test(argp, refuses_a_command_line_without_words, .exit_code = 2) {
    PARSE("--out", "x");
}

Test(argp, ends_after_its_help, .exit_code = 0) {
    PARSE("--help", "--what");
    exit(1);
}
