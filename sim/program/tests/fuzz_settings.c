/* Settings of a scenario and a variant: refused with a message, or printed as they were given. */
#include "sim/tests/fuzz.h"

static size_t count_of(const void *const *list) {
    size_t count = 0;
    while (list[count] != NULL) {
        count++;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bz_program program;
    static struct bz_program again;
    char error[BZ_ERROR_BYTES] = "";
    char first[4096];
    char second[4096];
    if (size < 3) {
        return 0;
    }
    const struct bz_scenario *scenario =
        bz_scenarios[data[0] % count_of((const void *const *)bz_scenarios)];
    const struct bz_variant *variant =
        bz_variants[data[1] % count_of((const void *const *)bz_variants)];
    const char *strategy = data[2] % 4 == 0 ? "answers" : NULL;
    if (!bz_program_find(&program, &fuzz_catalog, scenario->name, variant->name, strategy, error,
                         sizeof error)) {
        return 0;
    }
    again = program;
    char *text = fuzz_text(data + 3, size - 3);
    if (!bz_program_set_list(&program, text, error, sizeof error)) {
        fuzz_check_message(error);
    } else {
        fuzz_print_settings(&program, first, sizeof first);
        FUZZ_CHECK(bz_program_set_list(&again, first, error, sizeof error), "%s: %s", first, error);
        fuzz_print_settings(&again, second, sizeof second);
        FUZZ_CHECK(strcmp(first, second) == 0, "%s and %s", first, second);
    }
    free(text);
    return 0;
}
