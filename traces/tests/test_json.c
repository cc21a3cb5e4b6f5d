/* The face of the JSON library: what is taken for JSON, and what is printed. */
#include "traces/json.h"
#include "traces/tests/sample.h"

static bool parses(const char *text, size_t length, unsigned depth_max, char *error) {
    error[0] = '\0';
    struct bz_json *json = bz_json_parse(text, length, depth_max, "f", error, 300);
    bz_json_free(json);
    return json != NULL;
}

Test(json, takes_what_the_standard_takes) {
    static const char *const good[] = {
        "0",
        "-0",
        "1.5e+3",
        "-12E-2",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[{}]}}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\"",
        "\"\xf0\x9f\x98\x80 \xed\x9f\xbf \xef\xbf\xbd\"",
        "\t\r\n1\n",
        "{\"\":1}",
    };
    char error[300];
    for (size_t index = 0; index < sizeof good / sizeof good[0]; index++) {
        cr_assert(parses(good[index], strlen(good[index]), 8, error), "%zu: %s", index, error);
    }
}

struct bad {
    const char *text;
    const char *message; /* how it begins */
};

Test(json, says_where_the_text_is_wrong) {
    static const struct bad bad[] = {
        {"", "f:1:1: the text ends where a value"},
        {"  ", "f:1:3: the text ends where a value"},
        {"1 2", "f:1:3: '2' stands where the end of the text"},
        {"{}\n x", "f:2:2: 'x' stands where the end of the text"},
        {"01", "f:1:1: a number with a leading zero"},
        {"-", "f:1:2: the text ends where a digit"},
        {"1.", "f:1:3: the text ends where a digit"},
        {"1e+", "f:1:4: the text ends where a digit"},
        {"+1", "f:1:1: '+' stands where a value"},
        {".5", "f:1:1: '.' stands where a value"},
        {"NaN", "f:1:1: 'N' stands where a value"},
        {"nul", "f:1:1: 'n' stands where a value"},
        {"12345678901234567890123456789012345678901", "f:1:1: a number of more than 40"},
        {"[1,]", "f:1:4: ']' stands where a value"},
        {"[1", "f:1:3: the text ends where ',' or ']'"},
        {"[1}", "f:1:3: '}' stands where ',' or ']'"},
        {"{,}", "f:1:2: ',' stands where a key"},
        {"{\"a\"}", "f:1:5: '}' stands where ':'"},
        {"{\"a\":1,}", "f:1:8: '}' stands where a key"},
        {"{\"a\":1,\n\"b\":2,\n \"a\":3}", "f:3:2: the key \"a\" appears twice"},
        {"{\"\\u0061\":1}", "f:1:3: an escape in a key"},
        {"{a:1}", "f:1:2: 'a' stands where a key"},
        {"'a'", "f:1:1: ''' stands where a value"},
        {"\"a", "f:1:1: this string does not end"},
        {"\"a\nb\"", "f:1:3: control character 0x0a"},
        {"\"\\x\"", "f:1:3: 'x' stands where one of"},
        {"\"\\u12g4\"", "f:1:6: 'g' stands where a hexadecimal digit"},
        {"\"\\u0000\"", "f:1:2: a NUL character"},
        {"\"\\ud800\"", "f:1:2: half of a surrogate pair"},
        {"\"\\ud800\\u0041\"", "f:1:2: half of a surrogate pair"},
        {"\"\\udc00\"", "f:1:2: half of a surrogate pair"},
        {"\"\xc0\x80\"", "f:1:2: byte 0xc0 is not valid UTF-8"},
        {"\"\xe0\x80\x80\"", "f:1:2: byte 0xe0 is not valid UTF-8"},
        {"\"\xed\xa0\x80\"", "f:1:2: byte 0xed is not valid UTF-8"},
        {"\"\xf4\x90\x80\x80\"", "f:1:2: byte 0xf4 is not valid UTF-8"},
        {"\"\xe2\x82\"", "f:1:2: byte 0xe2 is not valid UTF-8"},
        {"\"\xff\"", "f:1:2: byte 0xff is not valid UTF-8"},
        {"\xef\xbb\xbf{}", "f:1:1: byte 0xef stands where a value"},
        {"[[[[[[[[[1]]]]]]]]]", "f:1:9: nested deeper than 8 levels"},
        {"/* c */ 1", "f:1:1: '/' stands where a value"},
    };
    char error[300];
    for (size_t index = 0; index < sizeof bad / sizeof bad[0]; index++) {
        bool is_taken = parses(bad[index].text, strlen(bad[index].text), 8, error);
        cr_assert_not(is_taken, "case %zu was taken", index);
        error[strlen(bad[index].message) < sizeof error ? strlen(bad[index].message) : 0] = '\0';
        tst_text(error, bad[index].message);
    }
}

Test(json, a_nul_byte_is_no_end) {
    char error[300];
    cr_assert_not(parses("1\0002", 3, 8, error));
    cr_assert_not(parses("\"a\0b\"", 5, 8, error));
    cr_assert_not(parses("[1]\0", 4, 8, error));
    cr_assert(parses("[1]x", 3, 8, error), "the length counts: %s", error);
}

Test(json, deep_nesting_is_refused_before_it_costs) {
    char error[300];
    size_t length = 1 << 22;
    char *text = malloc(length);
    memset(text, '[', length);
    cr_assert_not(parses(text, length, UINT32_MAX, error));
    cr_assert_not_null(strstr(error, "deeper than 64"), "%s", error);
    free(text);
}

Test(json, an_object_has_a_limit) {
    char text[8192] = "{";
    char error[300];
    for (unsigned members = 1; members <= BZ_JSON_MEMBERS_MAX + 1; members++) {
        size_t length = strlen(text);
        text[members == 1 ? length : length - 1] = members == 1 ? '\0' : ',';
        length = strlen(text);
        snprintf(text + length, sizeof text - length, "\"%u\":0}", members);
        bool is_taken = parses(text, strlen(text), 8, error);
        cr_assert_eq(is_taken, members <= BZ_JSON_MEMBERS_MAX, "%u: %s", members, error);
    }
}

Test(json, whole_numbers_only) {
    static const struct {
        const char *text;
        bool is_whole;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"9007199254740991", true, BZ_TRACE_NUMBER_MAX},
        {"9007199254740992", false, 0},
        {"1e400", false, 0},
        {"-1", false, 0},
        {"0.5", false, 0},
        {"\"1\"", false, 0},
        {"null", false, 0},
        {"[1]", false, 0},
        {"1e3", true, 1000},
    };
    char error[300];
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        const char *text = cases[index].text;
        struct bz_json *json = bz_json_parse(text, strlen(text), 4, "f", error, sizeof error);
        uint64_t value = 0;
        cr_assert_not_null(json, "%s", error);
        cr_assert_eq(bz_json_number(json, &value), cases[index].is_whole, "%s", text);
        cr_assert_eq(value, cases[index].value, "%s", text);
        bz_json_free(json);
    }
    uint64_t value;
    cr_assert_not(bz_json_number(NULL, &value));
    cr_assert_null((void *)bz_json_string(NULL));
}

Test(json, prints_what_was_built) {
    struct bz_json *root = bz_json_new_object();
    bz_json_add_string(root, "text", "a\"\n\xff");
    bz_json_add_string(root, "nothing", NULL);
    bz_json_add_number(root, "exact", BZ_TRACE_NUMBER_MAX);
    bz_json_add_number(root, "near", BZ_TRACE_NUMBER_MAX - 1);
    bz_json_add_decimal(root, "decimal", 0.25);
    bz_json_add_bool(root, "yes", true);
    bz_json_add_hex(root, "hex", UINT64_MAX);
    bz_json_add_number(bz_json_add_object(root, "in"), "n", 1);
    struct bz_json *list = bz_json_add_array(root, "list");
    bz_json_append_string(list, "x");
    bz_json_append_number(list, BZ_TRACE_NUMBER_MAX);
    bz_json_add_bool(bz_json_append_object(list), "no", false);
    char *text = bz_json_print(root, false);
    tst_text(text, "{\"text\":\"a\\\"\\n\xef\xbf\xbd\",\"nothing\":null,\"exact\":9007199254740991,"
                   "\"near\":9007199254740990,\"decimal\":0.25,\"yes\":true,"
                   "\"hex\":\"0xffffffffffffffff\",\"in\":{\"n\":1},\"list\":[\"x\","
                   "9007199254740991,{\"no\":false}]}");
    char error[300];
    struct bz_json *again = bz_json_parse(text, strlen(text), 4, "f", error, sizeof error);
    uint64_t value = 0;
    cr_assert_not_null(again, "%s", error);
    cr_assert(bz_json_number(bz_json_get(again, "exact"), &value));
    cr_assert_eq(value, BZ_TRACE_NUMBER_MAX);
    tst_text(bz_json_string(bz_json_first(bz_json_get(again, "list"))), "x");
    tst_text(bz_json_key(bz_json_next(bz_json_first(again))), "nothing");
    cr_assert_null((void *)bz_json_get(again, "TEXT"));
    cr_assert(bz_json_is_object(again));
    cr_assert(bz_json_is_array(bz_json_get(again, "list")));
    cr_assert_not(bz_json_is_array(again));
    char *pretty = bz_json_print(root, true);
    struct bz_json *third = bz_json_parse(pretty, strlen(pretty), 4, "f", error, sizeof error);
    cr_assert_not_null(third, "%s", error);
    bz_json_free(third);
    bz_json_free(again);
    bz_json_free(root);
    free(pretty);
    free(text);
}
