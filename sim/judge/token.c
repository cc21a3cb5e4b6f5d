#include "sim/judge/internal.h"
#include "sim/judge/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/text.h"

bool bz_token_looks_like(const char *text) {
    size_t length = strlen(text);
    bool is_file = length > 5 && strcmp(text + length - 5, ".json") == 0;
    return !is_file && strchr(text, ':') != NULL && strchr(text, '#') != NULL;
}

bool bz_parse_u64(const char *text, uint64_t *value) {
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    text += is_hex ? 2 : 0;
    size_t length = strspn(text, is_hex ? "0123456789abcdefABCDEF" : "0123456789");
    errno = 0;
    uint64_t number = strtoull(text, NULL, is_hex ? 16 : 10);
    if (length == 0 || text[length] != '\0' || errno != 0) {
        return false;
    }
    *value = number;
    return true;
}

const char *bz_lag_text(uint64_t lag_max_ns, char buffer[BZ_LAG_BYTES]) {
    uint64_t count;
    const char *unit = bz_time_unit(lag_max_ns, &count);
    if (lag_max_ns == BZ_LAG_MAX_NONE_NS) {
        return "0";
    }
    snprintf(buffer, BZ_LAG_BYTES, "%" PRIu64 "%s", count, unit);
    return lag_max_ns == BZ_LAG_MAX_ANY_NS ? "any" : buffer;
}

bool bz_parse_lag(const char *text, uint64_t *lag_max_ns) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    char digits[BZ_LAG_BYTES];
    size_t length = strspn(text, "0123456789");
    uint64_t factor = 1;
    uint64_t count = 0;
    if (strcmp(text, "any") == 0) {
        *lag_max_ns = BZ_LAG_MAX_ANY_NS;
        return true;
    }
    if (length >= sizeof digits) {
        return false;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    if (!bz_parse_u64(digits, &count)) {
        return false;
    }
    size_t unit = 0;
    for (; unit < sizeof units / sizeof units[0] && strcmp(text + length, units[unit]) != 0;
         unit++) {
        factor *= 1000;
    }
    bool has_unit = unit < sizeof units / sizeof units[0] || (count == 0 && text[length] == '\0');
    if (!has_unit || count > (BZ_LAG_MAX_ANY_NS - 1) / factor) {
        return false;
    }
    *lag_max_ns = count == 0 ? BZ_LAG_MAX_NONE_NS : count * factor;
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
    return bz_fail(error, error_bytes,
                   "token '%.80s' %s; it is SCENARIO:VARIANT:STRATEGY:SEED[:name=value,...]#DIGEST"
                   "[@VERSION], as 'run' printed it",
                   text, what);
}

bool bz_parse_digest(const char *text, uint64_t *digest) {
    char prefixed[BZ_DIGEST_DIGITS + 3];
    if (strlen(text) != BZ_DIGEST_DIGITS) {
        return false;
    }
    snprintf(prefixed, sizeof prefixed, "0x%s", text);
    return bz_parse_u64(prefixed, digest);
}

static bool is_version(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 ".-_+");
    return length > 0 && length < BZ_VERSION_BYTES && text[length] == '\0';
}

bool bz_token_split(struct bz_token *token, const char *text, char *error, size_t error_bytes) {
    if (strlen(text) >= sizeof token->text) {
        return malformed(text, "is too long", error, error_bytes);
    }
    strcpy(token->text, text);
    char *rest = token->text;
    char *head = cut(&rest, '#');
    char *digest = cut(&rest, '@');
    token->version = rest;
    if (digest == NULL || !bz_parse_digest(digest, &token->digest)) {
        return malformed(text, "has no digest of 16 hexadecimal digits behind '#'", error,
                         error_bytes);
    }
    if (token->version != NULL && !is_version(token->version)) {
        return malformed(text, "names no version behind '@'", error, error_bytes);
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
        return malformed(text, "has a seed that is not a 64-bit number", error, error_bytes);
    }
    return true;
}

const char *bz_token_end(uint64_t digest, char *buffer, size_t size_bytes) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, size_bytes - used, "#%016" PRIx64 "@%s", digest, bz_engine_version());
    return buffer;
}

/* --- the judge's own -------------------------------------------------------------------------- */

void bz_windows_text(uint32_t windows, char separator, char *text, size_t bytes) {
    windows &= BZ_WINDOWS_ALL;
    size_t used = 0;
    if (windows == BZ_WINDOWS_ALL || windows == BZ_WINDOWS_NONE) {
        snprintf(text, bytes, "%s", windows == BZ_WINDOWS_NONE ? "none" : "any");
        return;
    }
    for (unsigned window = 1; window < BZ_WINDOW_COUNT; window++) {
        if ((windows >> window & 1u) != 0 && used < bytes) {
            used += (size_t)snprintf(text + used, bytes - used, "%.*s%s", used > 0, &separator,
                                     bz_window_name(window));
        }
    }
}

/* Settings come after ':', and then after ','. */
static void add_setting(char *buffer, size_t bytes, size_t head, const char *name,
                        const char *value) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, bytes - used, "%c%s=%s", used == head ? ':' : ',', name, value);
}

const char *bz_judge_token(const struct bz_judge *judge, char *buffer, size_t size_bytes) {
    const struct bz_judge_config *config = &judge->config;
    const struct {
        const char *name;
        uint32_t value;
        uint32_t usual;
    } numbers[] = {{"max-cancels", config->cancels_max, BZ_CANCELS_MAX_DEFAULT},
                   {"max-steps", config->steps_max, BZ_STEPS_MAX_DEFAULT},
                   {"starvation-bound", config->starvation_bound, BZ_STARVATION_BOUND_DEFAULT}};
    char text[BZ_TRACE_NAME_BYTES_MAX];
    snprintf(buffer, size_bytes, "%s:%s:%s:0x%" PRIx64,
             config->program == NULL ? "program" : config->program,
             config->variant == NULL ? "variant" : config->variant, config->strategy->name,
             judge->seed);
    size_t head = strlen(buffer);
    if (config->order != BZ_ORDER_ANY) {
        add_setting(buffer, size_bytes, head, "order", bz_order_name(config->order));
    }
    if ((config->cancel_windows & BZ_WINDOWS_ALL) != BZ_WINDOWS_ALL) {
        bz_windows_text(config->cancel_windows, '+', text, sizeof text);
        add_setting(buffer, size_bytes, head, "cancel", text);
    }
    for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
        if (numbers[index].value != numbers[index].usual) {
            snprintf(text, sizeof text, "%" PRIu32, numbers[index].value);
            add_setting(buffer, size_bytes, head, numbers[index].name, text);
        }
    }
    if (config->lag_max_ns != BZ_LAG_MAX_DEFAULT_NS) {
        add_setting(buffer, size_bytes, head, "max-lag", bz_lag_text(config->lag_max_ns, text));
    }
    return bz_token_end(judge->digest, buffer, size_bytes);
}
