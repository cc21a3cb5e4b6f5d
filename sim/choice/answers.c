#include "sim/choice/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint32_t digits_of(uint64_t number) {
    uint32_t digits = 1;
    for (; number >= 10; number /= 10) {
        digits++;
    }
    return digits;
}

/* Of one entry as text, with the '+' before it, or the NUL behind the last one. */
static uint32_t entry_bytes(uint32_t question, uint64_t answer) {
    return digits_of(question) + 1 + digits_of(answer) + 1;
}

/* What has no room as text is not added: a token that says less than it should repeats another
 * run. */
bool bz_answers_add(struct bz_answers *answers, uint32_t question, uint64_t answer) {
    uint32_t bytes = entry_bytes(question, answer);
    for (uint32_t index = 0; index < answers->count; index++) {
        bytes += entry_bytes(answers->entries[index].question, answers->entries[index].answer);
    }
    if (answers->count == BZ_ANSWERS_ENTRIES_MAX || bytes > BZ_ANSWERS_TEXT_BYTES) {
        return false;
    }
    answers->entries[answers->count++] =
        (struct bz_answer_entry){.question = question, .answer = answer};
    return true;
}

/* Digits up to `most`; NULL if there are none, or more. */
static const char *parse_number(const char *text, uint64_t most, uint64_t *number) {
    const char *start = text;
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*number > (most - digit) / 10) {
            return NULL;
        }
        *number = 10 * *number + digit;
    }
    return text == start || *number == 0 ? NULL : text;
}

bool bz_answers_parse(struct bz_answers *answers, const char *text) {
    uint32_t last = 0;
    memset(answers, 0, sizeof *answers);
    if (strcmp(text, "0") == 0) {
        return true;
    }
    for (;; text++) {
        uint64_t question;
        uint64_t answer;
        text = parse_number(text, UINT32_MAX, &question);
        if (text == NULL || *text != '-') {
            return false;
        }
        text = parse_number(text + 1, UINT64_MAX, &answer);
        if (text == NULL || question <= last ||
            !bz_answers_add(answers, (uint32_t)question, answer)) {
            return false;
        }
        last = (uint32_t)question;
        if (*text != '+') {
            return *text == '\0';
        }
    }
}

const char *bz_answers_format(const struct bz_answers *answers, char *text, size_t text_bytes) {
    size_t used = 0;
    snprintf(text, text_bytes, "0");
    for (uint32_t index = 0; index < answers->count && used < text_bytes; index++) {
        int written = snprintf(text + used, text_bytes - used, "%s%" PRIu32 "-%" PRIu64,
                               index == 0 ? "" : "+", answers->entries[index].question,
                               answers->entries[index].answer);
        used += written > 0 ? (size_t)written : 0;
    }
    return text;
}
