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

static bool are_alike(const struct bz_violation *a, const char *a_object,
                      const struct bz_violation *b, const char *b_object) {
    bool has_several = strcmp(a->oracle, "assertion") == 0 || strcmp(a->oracle, "misuse") == 0;
    return strcmp(a->oracle, b->oracle) == 0 && a->op == b->op && a->window == b->window &&
           strncmp(a_object, b_object, BZ_TRACE_NAME_BYTES_MAX) == 0 &&
           (!has_several || says_the_same(a->message, b->message));
}

bool bz_failures_are_alike(const struct bz_failure *a, const struct bz_failure *b) {
    return are_alike(&a->violation, a->object, &b->violation, b->object);
}

bool bz_fails_likewise(const struct bz_violation *wanted, const char *wanted_object,
                       const struct bz_judge *judge) {
    const struct bz_violation *got = bz_judge_violation(judge);
    const char *object = bz_judge_object_name(judge, got->object);
    return are_alike(wanted, wanted_object, got, object == NULL ? "" : object);
}
