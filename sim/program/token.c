#include "sim/program/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *bz_token_format(const struct bz_program *program, uint64_t seed, uint64_t digest,
                            char *buffer, size_t size_bytes) {
    const char *separator = ":";
    snprintf(buffer, size_bytes, "%s:%s:%s:0x%" PRIx64, program->scenario->name,
             program->variant->name, program->strategy->name, seed);
    for (struct bz_setting_text item = {0}; bz_program_next_setting(program, &item);) {
        size_t used = strlen(buffer);
        if (!item.is_default) {
            snprintf(buffer + used, size_bytes - used, "%s%s=%s", separator, item.name, item.value);
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
