/* A token is refused with a message, or names a program; written again, it is the same program. */
#include "sim/program/token.h"
#include "sim/tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct bz_program program;
    static struct bz_program again;
    char error[BZ_ERROR_BYTES] = "";
    char first[BZ_TOKEN_BYTES];
    char second[BZ_TOKEN_BYTES];
    uint64_t seed;
    uint64_t digest;
    char *text = fuzz_text(data, size);
    (void)bz_token_looks_like(text);
    if (!bz_token_parse(text, &fuzz_catalog, &program, &seed, &digest, error, sizeof error)) {
        fuzz_check_message(error);
    } else {
        bz_token_format(&program, seed, digest, first, sizeof first);
        FUZZ_CHECK(
            bz_token_parse(first, &fuzz_catalog, &again, &seed, &digest, error, sizeof error),
            "%s: %s", first, error);
        bz_token_format(&again, seed, digest, second, sizeof second);
        FUZZ_CHECK(strcmp(first, second) == 0, "%s and %s", first, second);
    }
    free(text);
    return 0;
}
