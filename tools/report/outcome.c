#include "tools/report/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"

void bz_outcome_init(struct bz_outcome *outcome, const char *command) {
    memset(outcome, 0, sizeof *outcome);
    outcome->command = command;
}

static void drop_case(struct bz_case *one) {
    bz_text_fini(&one->name);
    bz_text_fini(&one->message);
    bz_text_fini(&one->story);
    bz_text_fini(&one->command);
    bz_text_fini(&one->picture);
    bz_text_fini(&one->trace);
    bz_text_fini(&one->file);
    free(one);
}

void bz_outcome_fini(struct bz_outcome *outcome) {
    for (size_t index = 0; index < outcome->case_count; index++) {
        drop_case(outcome->cases[index]);
    }
    free(outcome->cases);
    for (size_t index = 0; index < outcome->property_count; index++) {
        bz_text_fini(&outcome->properties[index].value);
    }
    bz_text_fini(&outcome->suite);
    bz_text_fini(&outcome->title);
    bz_text_fini(&outcome->warnings);
}

const char *bz_outcome_text(const struct bz_text *text) {
    return text->bytes != NULL ? text->bytes : "";
}

void bz_outcome_property(struct bz_outcome *outcome, const char *name, const char *format, ...) {
    if (outcome->property_count == BZ_OUTCOME_PROPERTIES_MAX) {
        return;
    }
    struct bz_property *property = &outcome->properties[outcome->property_count++];
    char value[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    snprintf(property->name, sizeof property->name, "%s", name);
    bz_text_add(&property->value, "%s", value);
}

struct bz_case *bz_outcome_case(struct bz_outcome *outcome, enum bz_case_result result,
                                const char *type) {
    if (outcome->case_count == outcome->case_capacity) {
        outcome->case_capacity = outcome->case_capacity == 0 ? 32 : 2 * outcome->case_capacity;
        outcome->cases = bz_lack_check(
            realloc(outcome->cases, outcome->case_capacity * sizeof *outcome->cases), "a report");
    }
    struct bz_case *one = bz_lack_check(calloc(1, sizeof *one), "a report");
    one->result = result;
    snprintf(one->type, sizeof one->type, "%s", type);
    outcome->cases[outcome->case_count++] = one;
    return one;
}

void bz_outcome_distinguish(const struct bz_outcome *outcome, struct bz_case *one) {
    unsigned number = 1;
    size_t length = one->name.length;
    const char *name = bz_outcome_text(&one->name);
    for (size_t index = 0; index < outcome->case_count; index++) {
        const char *other = bz_outcome_text(&outcome->cases[index]->name);
        bool is_like = strncmp(other, name, length) == 0 &&
                       (other[length] == '\0' || strncmp(other + length, " #", 2) == 0);
        number += outcome->cases[index] != one && is_like;
    }
    if (number > 1) {
        bz_text_add(&one->name, " #%u", number);
    }
}

size_t bz_outcome_count(const struct bz_outcome *outcome, enum bz_case_result result) {
    size_t count = 0;
    for (size_t index = 0; index < outcome->case_count; index++) {
        count += outcome->cases[index]->result == result;
    }
    return count;
}
