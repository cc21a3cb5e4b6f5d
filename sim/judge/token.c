#include "sim/judge/internal.h"
#include "sim/judge/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool bz_token_looks_like(const char *text) {
    size_t length = strlen(text);
    bool is_file = length > 5 && strcmp(text + length - 5, ".json") == 0;
    return !is_file && strchr(text, ':') != NULL && strchr(text, '#') != NULL;
}

bool bz_parse_u64(const char *text, uint64_t *value) {
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t base = is_hex ? 16 : 10;
    uint64_t number = 0;
    text += is_hex ? 2 : 0;
    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        uint64_t digit;
        if (*text >= '0' && *text <= '9') {
            digit = (uint64_t)(*text - '0');
        } else if (is_hex && *text >= 'a' && *text <= 'f') {
            digit = (uint64_t)(*text - 'a') + 10;
        } else if (is_hex && *text >= 'A' && *text <= 'F') {
            digit = (uint64_t)(*text - 'A') + 10;
        } else {
            return false;
        }
        if (number > (UINT64_MAX - digit) / base) {
            return false;
        }
        number = number * base + digit;
    }
    *value = number;
    return true;
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
    char prefixed[BZ_DIGEST_DIGITS + 3];
    if (text == NULL || strlen(text) != BZ_DIGEST_DIGITS) {
        return false;
    }
    snprintf(prefixed, sizeof prefixed, "0x%s", text);
    return bz_parse_u64(prefixed, digest);
}

bool bz_token_split(struct bz_token *token, const char *text, char *error, size_t error_bytes) {
    if (strlen(text) >= sizeof token->text) {
        return malformed(text, "is too long", error, error_bytes);
    }
    strcpy(token->text, text);
    char *rest = token->text;
    char *head = cut(&rest, '#');
    if (!parse_digest(rest, &token->digest)) {
        return malformed(text, "has no digest of 16 hexadecimal digits behind '#'", error,
                         error_bytes);
    }
    token->program = cut(&head, ':');
    token->variant = cut(&head, ':');
    token->strategy = cut(&head, ':');
    const char *seed_text = cut(&head, ':');
    token->settings = head;
    if (seed_text == NULL) {
        return malformed(text, "has fewer than four parts", error, error_bytes);
    }
    if (!bz_parse_u64(seed_text, &token->seed)) {
        return malformed(text, "has a seed that is no 64-bit number", error, error_bytes);
    }
    return true;
}

const char *bz_judge_token(const struct bz_judge *judge, char *buffer, size_t size_bytes) {
    const struct bz_judge_config *config = &judge->config;
    snprintf(buffer, size_bytes, "%s:%s:%s:0x%" PRIx64 "#%016" PRIx64,
             config->program == NULL ? "program" : config->program,
             config->variant == NULL ? "variant" : config->variant, config->strategy->name,
             judge->seed, judge->digest);
    return buffer;
}
