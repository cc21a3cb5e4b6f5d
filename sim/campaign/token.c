#include "sim/campaign/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DIGEST_DIGITS 16u

bool bz_token_looks_like(const char *text) {
    size_t length = strlen(text);
    bool is_file = length > 5 && strcmp(text + length - 5, ".json") == 0;
    return !is_file && strchr(text, ':') != NULL && strchr(text, '#') != NULL;
}

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
    char digits[DIGEST_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016" PRIx64, digest);
    append(buffer, size_bytes, "#", digits, "", "");
    return buffer;
}

/* Cuts `text` at the next `separator`; returns what is before it and moves `text` behind it. */
static char *cut(char **text, char separator) {
    char *start = *text;
    char *end = start == NULL ? NULL : strchr(start, separator);
    if (end == NULL) {
        *text = NULL;
        return start;
    }
    *end = '\0';
    *text = end + 1;
    return start;
}

static bool malformed(const char *text, const char *what, char *error, size_t error_bytes) {
    snprintf(error, error_bytes,
             "token '%.80s' %s; it is SCENARIO:VARIANT:STRATEGY:SEED[:name=value,...]#DIGEST, as "
             "'buzzer run' printed it",
             text, what);
    return false;
}

static bool parse_digest(const char *text, uint64_t *digest) {
    char prefixed[DIGEST_DIGITS + 3];
    if (text == NULL || strlen(text) != DIGEST_DIGITS) {
        return false;
    }
    snprintf(prefixed, sizeof prefixed, "0x%s", text);
    return bz_parse_u64(prefixed, digest);
}

bool bz_token_parse(const char *text, const struct bz_catalog *catalog, struct bz_program *program,
                    uint64_t *seed, uint64_t *digest, char *error, size_t error_bytes) {
    char copy[BZ_TOKEN_BYTES];
    if (strlen(text) >= sizeof copy) {
        return malformed(text, "is too long", error, error_bytes);
    }
    strcpy(copy, text);
    char *rest = copy;
    char *program_text = cut(&rest, '#');
    if (!parse_digest(rest, digest)) {
        return malformed(text, "has no digest of 16 hexadecimal digits behind '#'", error,
                         error_bytes);
    }
    const char *scenario = cut(&program_text, ':');
    const char *variant = cut(&program_text, ':');
    const char *strategy = cut(&program_text, ':');
    const char *seed_text = cut(&program_text, ':');
    if (seed_text == NULL) {
        return malformed(text, "has fewer than four parts", error, error_bytes);
    }
    if (!bz_parse_u64(seed_text, seed)) {
        return malformed(text, "has a seed that is no 64-bit number", error, error_bytes);
    }
    if (!bz_program_find(program, catalog, scenario, variant, strategy, error, error_bytes)) {
        return false;
    }
    return program_text == NULL || bz_program_set_list(program, program_text, error, error_bytes);
}
