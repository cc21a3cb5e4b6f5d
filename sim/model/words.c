/* The messages of a history check. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/model/internal.h"
#include "traces/text.h"

#define ANSWERS_SHOWN 6u
#define OPERATION_BYTES 128u
#define EVENT_BYTES 48u

static void append_operation(struct bz_cut_text *text, const struct bz_model *model, uint32_t op,
                             const int64_t *arguments) {
    const char *separator = "";
    bz_cut_add(text, "%s(", model->ops[op].name);
    for (uint32_t index = 0; index < model->ops[op].argument_count; index++) {
        if (!model->ops[op].arguments[index].is_chosen) {
            bz_cut_add(text, "%s%" PRId64, separator, arguments[index]);
            separator = ", ";
        }
    }
    bz_cut_add(text, ")");
}

void bz_model_call_text(const struct bz_model *model, uint32_t op, const int64_t *arguments,
                        char *text, size_t bytes) {
    struct bz_cut_text cut = {.text = text, .bytes = bytes};
    append_operation(&cut, model, op, arguments);
}

/* --- findings --------------------------------------------------------------------------------- */

void bz_history_object(struct bz_history *history, enum bz_history_result result, uint32_t client,
                       const char *format, ...) {
    struct bz_history_finding *finding = &history->finding;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->message, sizeof finding->message, format, arguments);
    va_end(arguments);
    finding->result = result;
    finding->client = client;
    finding->events = history->event_count;
}

struct answers {
    int64_t values[ANSWERS_SHOWN];
    uint32_t count; /* one more than the values: there are others */
};

static void note_answer(struct answers *answers, int64_t value) {
    uint32_t known = answers->count < ANSWERS_SHOWN ? answers->count : ANSWERS_SHOWN;
    for (uint32_t index = 0; index < known; index++) {
        if (answers->values[index] == value) {
            return;
        }
    }
    if (known < ANSWERS_SHOWN) {
        answers->values[known] = value;
    }
    answers->count = known + 1;
}

/* The answers that the client's operation may give at this event. */
static void find_answers(struct bz_history *history, uint32_t client, struct answers *answers) {
    uint64_t bit = UINT64_C(1) << client;
    for (uint32_t index = 0; index < history->now.count; index++) {
        const uint64_t *row = bz_configurations_row(&history->now, index);
        if ((row[BZ_WORD_TOOK] & ~row[BZ_WORD_UNDONE] & bit) != 0) {
            note_answer(answers, (int64_t)row[BZ_WORD_ANSWERS + client]);
        }
    }
    for (uint32_t index = 0; index < history->reached.count; index++) {
        const uint64_t *row = bz_configurations_row(&history->reached, index);
        for (uint32_t way = 0; way < history->ways; way++) {
            if (bz_effect_take(history, row, client, way)) {
                note_answer(answers, (int64_t)history->row[BZ_WORD_ANSWERS + client]);
            }
            if (bz_effect_take_else(history, row, client, way)) {
                note_answer(answers, (int64_t)history->row[BZ_WORD_ANSWERS + client]);
            }
        }
    }
}

static void append_allowed(struct bz_cut_text *text, const struct answers *answers) {
    if (answers->count == 0) {
        bz_cut_add(text, "the model would only let it wait");
        return;
    }
    bz_cut_add(text, "the model would let it return ");
    for (uint32_t index = 0; index < answers->count && index < ANSWERS_SHOWN; index++) {
        bz_cut_add(text, "%s%" PRId64, index == 0 ? "" : " or ", answers->values[index]);
    }
    bz_cut_add(text, "%s", answers->count > ANSWERS_SHOWN ? " and others" : "");
}

void bz_history_say_unexplained(struct bz_history *history, const struct bz_history_event *event) {
    char what[BZ_HISTORY_MESSAGE_BYTES];
    struct bz_cut_text text = {.text = what, .bytes = sizeof what};
    struct answers answers = {.count = 0};
    find_answers(history, event->client, &answers);
    append_operation(&text, history->model, event->op, event->arguments);
    if (event->kind == BZ_HISTORY_RETURN) {
        bz_cut_add(&text, " returned %" PRId64 ", which no order of the model explains; ",
                   event->answer);
    } else {
        bz_cut_add(&text,
                   " was cancelled, but it has taken effect in every order of the model that "
                   "explains the events before; ");
    }
    append_allowed(&text, &answers);
    bz_history_object(history, BZ_HISTORY_UNEXPLAINED, event->client,
                      "%s: client %" PRIu32 ", event %" PRIu32 ": %s", history->model->name,
                      event->client + history->first_number, history->event_count, what);
}

void bz_history_say_waits(struct bz_history *history, uint32_t client, const char *meanwhile,
                          bool is_in_all) {
    char what[OPERATION_BYTES];
    struct bz_cut_text text = {.text = what, .bytes = sizeof what};
    const struct bz_pending *operation = &history->operations[client];
    append_operation(&text, history->model, operation->op, operation->arguments);
    uint32_t step = history->events[operation->number - 1].step;
    char when[EVENT_BYTES] = "";
    if (step != 0) {
        snprintf(when, sizeof when, "; it was called in step %" PRIu32, step);
    }
    bz_history_object(history, BZ_HISTORY_LOST_WAKEUP, client,
                      "%s: client %" PRIu32 " waits in %s, called at event %" PRIu32
                      ", and %s; the model would let it complete%s%s",
                      history->model->name, client + history->first_number, what, operation->number,
                      meanwhile,
                      is_in_all ? ""
                                : " in one order that explains the events, and another waiting "
                                  "operation in each other order",
                      when);
}
