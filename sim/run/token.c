#include "sim/run/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Appends to a string that may be full already. */
static void append(char *buffer, size_t size_bytes, const char *a, const char *b, const char *c,
                   const char *d) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, size_bytes - used, "%s%s%s%s", a, b, c, d);
}

const char *bz_token_format(const struct bz_program *program, uint64_t seed, uint64_t digest,
                            char *buffer, size_t size_bytes) {
    snprintf(buffer, size_bytes, "%s:%s:%s:0x%" PRIx64, program->scenario->name,
             program->variant->name, program->strategy->name, seed);
    char value[BZ_SETTING_BYTES];
    bool is_default;
    bool is_first = true;
    const char *name;
    for (unsigned index = 0;
         (name = bz_program_setting(program, index, value, sizeof value, &is_default)) != NULL;
         index++) {
        if (!is_default) {
            append(buffer, size_bytes, is_first ? ":" : ",", name, "=", value);
            is_first = false;
        }
    }
    char digits[BZ_DIGEST_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, digest);
    append(buffer, size_bytes, "#", digits, "", "");
    return buffer;
}

bool bz_token_parse(const char *text, const struct bz_catalog *catalog, struct bz_program *program,
                    uint64_t *seed, uint64_t *digest, char *error, size_t error_bytes) {
    struct bz_token token;
    if (!bz_token_split(&token, text, error, error_bytes) ||
        !bz_program_find(program, catalog, token.program, token.variant, token.strategy, error,
                         error_bytes)) {
        return false;
    }
    *seed = token.seed;
    *digest = token.digest;
    return token.settings == NULL ||
           bz_program_set_list(program, token.settings, error, error_bytes);
}
