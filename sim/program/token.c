#include "sim/program/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *bz_token_format(const struct bz_program *program, uint64_t seed, uint64_t digest,
                            char *buffer, size_t size_bytes) {
    char value[BZ_SETTING_BYTES];
    const char *separator = ":";
    const char *name;
    bool is_default;
    snprintf(buffer, size_bytes, "%s:%s:%s:0x%" PRIx64, program->scenario->name,
             program->variant->name, program->strategy->name, seed);
    for (unsigned index = 0;
         (name = bz_program_setting(program, index, value, sizeof value, &is_default)) != NULL;
         index++) {
        size_t used = strlen(buffer);
        if (!is_default) {
            snprintf(buffer + used, size_bytes - used, "%s%s=%s", separator, name, value);
            separator = ",";
        }
    }
    return bz_token_end(digest, buffer, size_bytes);
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
