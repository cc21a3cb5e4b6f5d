#include "sim/choice/answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes the text, cut to fit; returns the bytes of the whole text, NUL included. */
static size_t format(const struct bz_answers *answers, char *text, size_t text_bytes) {
    size_t used = (size_t)snprintf(text, text_bytes, "%s", answers->count == 0 ? "0" : "");
    for (uint32_t index = 0; index < answers->count; index++) {
        size_t left = used < text_bytes ? text_bytes - used : 0;
        used += (size_t)snprintf(left == 0 ? NULL : text + used, left, "%s%" PRIu32 "-%" PRIu64,
                                 index == 0 ? "" : "+", answers->entries[index].question,
                                 answers->entries[index].answer);
    }
    return used + 1;
}

bool bz_answers_add(struct bz_answers *answers, uint32_t question, uint64_t answer) {
    char text[BZ_ANSWERS_TEXT_BYTES];
    if (answers->count == BZ_ANSWERS_ENTRIES_MAX) {
        return false;
    }
    answers->entries[answers->count++] =
        (struct bz_answer_entry){.question = question, .answer = answer};
    bool fits = format(answers, text, sizeof text) <= sizeof text;
    answers->count -= !fits;
    return fits;
}

/* Digits up to `most`; NULL if there are none, or more, or if the number is 0. */
static const char *parse_number(const char *text, uint64_t most, uint64_t *number) {
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*number > (most - digit) / 10) {
            return NULL;
        }
        *number = 10 * *number + digit;
    }
    return *number == 0 ? NULL : text;
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
    (void)format(answers, text, text_bytes);
    return text;
}
