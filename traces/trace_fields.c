#include "traces/trace_fields.h"

#include <string.h>

#include "traces/text.h"
#include "traces/trace.h"
#include "traces/words.h"

/* --- vocabularies ----------------------------------------------------------------------------- */

static const char *result_word(unsigned number) {
    static const char *const words[] = {"pass", "violation", "cut"};
    return words[number];
}

const struct bz_vocabulary bz_vocabulary_event = {"kind of event", bz_event_name,
                                                  BZ_EVENT_KIND_COUNT};
const struct bz_vocabulary bz_vocabulary_op = {"operation", bz_op_name, BZ_OP_COUNT};
static const struct bz_vocabulary vocabulary_status = {"status", bz_status_word,
                                                       BZ_STATUS_COUNT + 1};
static const struct bz_vocabulary vocabulary_wait = {"kind of wait", bz_wait_name, BZ_WAIT_COUNT};
static const struct bz_vocabulary vocabulary_queue_order = {"order of a queue", bz_queue_order_name,
                                                            BZ_QUEUE_ORDER_COUNT};
static const struct bz_vocabulary vocabulary_result = {"result", result_word, 3};
const struct bz_vocabulary bz_vocabulary_kind = {"kind of object", bz_kind_name, BZ_KIND_COUNT};
const struct bz_vocabulary bz_vocabulary_window = {"window", bz_window_name, BZ_WINDOW_COUNT};
const struct bz_vocabulary bz_vocabulary_choice = {"kind of choice", bz_choice_kind_name,
                                                   BZ_CHOICE_KIND_COUNT};
const struct bz_vocabulary bz_vocabulary_role = {"role", bz_role_name, BZ_ROLE_COUNT};
const struct bz_vocabulary bz_vocabulary_order = {"loop order", bz_order_name, BZ_ORDER_COUNT};

unsigned bz_vocabulary_find(const struct bz_vocabulary *vocabulary, const char *word) {
    for (unsigned number = 0; number < vocabulary->count; number++) {
        const char *known = vocabulary->word(number);
        if (known != NULL && strcmp(known, word) == 0) {
            return number;
        }
    }
    return vocabulary->count;
}

const char *bz_vocabulary_nearest(const struct bz_vocabulary *vocabulary, const char *word) {
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    for (unsigned number = 0; number < vocabulary->count; number++) {
        const char *known = vocabulary->word(number);
        size_t distance = known == NULL ? SIZE_MAX : bz_edit_distance(known, word);
        if (distance < least) {
            least = distance;
            nearest = known;
        }
    }
    return nearest;
}

/* --- tables ----------------------------------------------------------------------------------- */

#define FIELD(type_name, struct_name, member, required, words)                                     \
    { #member, offsetof(struct struct_name, member), BZ_FIELD_##type_name, required, words, false }

const struct bz_trace_field bz_trace_object_fields[] = {
    FIELD(NAME, bz_trace_object, name, true, NULL),
    FIELD(WORD, bz_trace_object, kind, true, &bz_vocabulary_kind),
    FIELD(NUMBER, bz_trace_object, size, false, NULL),
    FIELD(WORD, bz_trace_object, order, false, &vocabulary_queue_order),
    FIELD(NAME, bz_trace_object, partner, false, NULL),
    {NULL, 0, BZ_FIELD_NUMBER, false, NULL, false},
};

const struct bz_trace_field bz_trace_event_fields[] = {
    FIELD(NUMBER, bz_trace_event, step, true, NULL),
    FIELD(NUMBER, bz_trace_event, time_ns, true, NULL),
    FIELD(NAME, bz_trace_event, task, false, NULL),
    FIELD(WORD, bz_trace_event, event, true, &bz_vocabulary_event),
    FIELD(WORD, bz_trace_event, op, false, &bz_vocabulary_op),
    FIELD(NAME, bz_trace_event, object, false, NULL),
    FIELD(WORD, bz_trace_event, wait, false, &vocabulary_wait),
    FIELD(WORD, bz_trace_event, role, false, &bz_vocabulary_role),
    FIELD(WORD, bz_trace_event, window, false, &bz_vocabulary_window),
    FIELD(WORD, bz_trace_event, status, false, &vocabulary_status),
    FIELD(NAME, bz_trace_event, by, false, NULL),
    FIELD(NUMBER, bz_trace_event, n, false, NULL),
    {"held", offsetof(struct bz_trace_event, held), BZ_FIELD_NUMBER, false, NULL, true},
    {"where", offsetof(struct bz_trace_event, where), BZ_FIELD_NAME, false, NULL, true},
    {"text", offsetof(struct bz_trace_event, text), BZ_FIELD_NAME, false, NULL, true},
    {NULL, 0, BZ_FIELD_NUMBER, false, NULL, false},
};

const struct bz_trace_field bz_trace_choice_fields[] = {
    FIELD(NUMBER, bz_trace_choice, step, true, NULL),
    FIELD(WORD, bz_trace_choice, kind, true, &bz_vocabulary_choice),
    FIELD(NAME, bz_trace_choice, task, false, NULL),
    FIELD(WORD, bz_trace_choice, role, false, &bz_vocabulary_role),
    FIELD(WORD, bz_trace_choice, window, false, &bz_vocabulary_window),
    FIELD(NAME, bz_trace_choice, label, false, NULL),
    FIELD(NUMBER, bz_trace_choice, n, false, NULL),
    FIELD(NUMBER, bz_trace_choice, bound, false, NULL),
    FIELD(NUMBER, bz_trace_choice, value, false, NULL),
    {NULL, 0, BZ_FIELD_NUMBER, false, NULL, false},
};

const struct bz_trace_field bz_trace_verdict_fields[] = {
    FIELD(WORD, bz_trace_verdict, result, true, &vocabulary_result),
    FIELD(NAME, bz_trace_verdict, oracle, false, NULL),
    FIELD(NUMBER, bz_trace_verdict, step, true, NULL),
    FIELD(NAME, bz_trace_verdict, task, false, NULL),
    FIELD(NAME, bz_trace_verdict, object, false, NULL),
    FIELD(TEXT, bz_trace_verdict, message, false, NULL),
    {NULL, 0, BZ_FIELD_NUMBER, false, NULL, false},
};
