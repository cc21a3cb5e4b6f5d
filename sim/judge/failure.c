#include "sim/judge/failure.h"

#include <string.h>

/* The next character of a message outside of numbers and names in quotes. */
static const char *skip_details(const char *text) {
    while ((*text >= '0' && *text <= '9') || *text == '\'') {
        const char *end = *text == '\'' ? strchr(text + 1, '\'') : text;
        text = end == NULL ? text + strlen(text) : end + 1;
    }
    return text;
}

static bool says_the_same(const char *a, const char *b) {
    a = skip_details(a);
    b = skip_details(b);
    while (*a != '\0' && *a == *b) {
        a = skip_details(a + 1);
        b = skip_details(b + 1);
    }
    return *a == *b;
}

/* But for their objects. */
static bool are_alike(const struct bz_violation *a, const struct bz_violation *b) {
    bool has_several = strcmp(a->oracle, "assertion") == 0 || strcmp(a->oracle, "misuse") == 0;
    return strcmp(a->oracle, b->oracle) == 0 && a->op == b->op && a->window == b->window &&
           (!has_several || says_the_same(a->message, b->message));
}

static bool is_same_name(const char *a, const char *b) {
    return strncmp(a, b, BZ_TRACE_NAME_BYTES_MAX) == 0;
}

bool bz_violations_are_alike(const struct bz_violation *a, const struct bz_violation *b) {
    return a->object == b->object && are_alike(a, b);
}

bool bz_failures_are_alike(const struct bz_failure *a, const struct bz_failure *b) {
    return is_same_name(a->object, b->object) && are_alike(&a->violation, &b->violation);
}

bool bz_fails_likewise(const struct bz_violation *wanted, const char *wanted_object,
                       const struct bz_judge *judge) {
    const struct bz_violation *got = bz_judge_violation(judge);
    const char *object = bz_judge_object_name(judge, got->object);
    return is_same_name(wanted_object, object == NULL ? "" : object) && are_alike(wanted, got);
}
