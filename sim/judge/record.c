#include "sim/judge/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/choice/tape.h"
#include "sim/judge/internal.h"
#include "traces/trace_fields.h"
#include "traces/utf8.h"

#define SUFFIX_BYTES 16u

/* --- names ------------------------------------------------------------------------------------ */

/* A copy that a trace may hold: valid UTF-8, no control characters, cut to `size_bytes` with its
 * NUL at the end of a character, and not empty. */
static void fit(char *to, size_t size_bytes, const char *text) {
    size_t left = text == NULL ? 0 : strlen(text);
    size_t used = 0;
    while (left > 0) {
        uint32_t code_point = 0;
        size_t bytes = bz_utf8_read(text, left, &code_point);
        bool is_fit = bytes > 0 && !bz_utf8_is_control(code_point);
        bytes = bytes == 0 ? 1 : bytes;
        if (used + bytes >= size_bytes) {
            break;
        }
        if (is_fit) {
            memcpy(to + used, text, bytes);
            used += bytes;
        } else {
            to[used++] = code_point == '\n' || code_point == '\t' ? ' ' : '?';
        }
        text += bytes;
        left -= bytes;
    }
    if (used == 0) {
        to[used++] = '?';
    }
    to[used] = '\0';
}

static const char *fit_name(struct bz_trace *trace, const char *text) {
    char name[BZ_TRACE_NAME_BYTES_MAX + 1];
    fit(name, sizeof name, text);
    return bz_trace_string(trace, name);
}

/* A second task with the name "worker" becomes "worker#2", if 2 is its number. */
static void add_task(struct bz_recorder *recorder, uint32_t task) {
    char name[BZ_TRACE_NAME_BYTES_MAX + 1];
    char own[BZ_TRACE_NAME_BYTES_MAX + 1];
    bz_judge_task_name(recorder->judge, task, own, sizeof own);
    fit(name, sizeof name, own);
    while (bz_trace_find_task(recorder->trace, name) != 0) {
        char suffix[SUFFIX_BYTES];
        char head[sizeof name - SUFFIX_BYTES];
        snprintf(suffix, sizeof suffix, "#%u", task);
        fit(head, sizeof head, name);
        snprintf(name, sizeof name, "%s%s", head, suffix);
    }
    bz_trace_add_task(recorder->trace, name);
}

const char *bz_recorder_task(const struct bz_recorder *recorder, uint32_t task) {
    const struct bz_trace *trace = recorder->trace;
    return task == 0 || task > trace->task_count ? NULL : trace->tasks[task - 1];
}

/* Objects with one name are distinguished as tasks are. */
static const char *object_name(struct bz_recorder *recorder, uint32_t object) {
    const char *name = bz_judge_object_name(recorder->judge, object);
    if (name == NULL) {
        return NULL;
    }
    char numbered[BZ_TRACE_NAME_BYTES_MAX + 1];
    for (uint32_t other = 1; other < object; other++) {
        if (strcmp(bz_judge_object_name(recorder->judge, other), name) == 0) {
            char head[sizeof numbered - SUFFIX_BYTES];
            fit(head, sizeof head, name);
            snprintf(numbered, sizeof numbered, "%s#%u", head, object);
            return bz_trace_string(recorder->trace, numbered);
        }
    }
    return fit_name(recorder->trace, name);
}

/* The word for what it is: that of its primitive, but for the halves of a queue. */
static const char *kind_of(const struct bz_shadow_object *object) {
    static const uint8_t kinds[BZ_PRIMITIVE_COUNT] = {
        [BZ_PRIMITIVE_SEMAPHORE] = BZ_KIND_SEMAPHORE,
        [BZ_PRIMITIVE_BOUNDED] = BZ_KIND_BOUNDED,
        [BZ_PRIMITIVE_LOCK] = BZ_KIND_LOCK,
        [BZ_PRIMITIVE_EVENT] = BZ_KIND_EVENT,
        [BZ_PRIMITIVE_CONDITION] = BZ_KIND_CONDITION,
        [BZ_PRIMITIVE_BARRIER] = BZ_KIND_BARRIER,
        [BZ_PRIMITIVE_QUEUE] = BZ_KIND_ITEMS,
        [BZ_PRIMITIVE_POOL] = BZ_KIND_POOL,
        [BZ_PRIMITIVE_DEFERRED] = BZ_KIND_SEMAPHORE,
        [BZ_PRIMITIVE_RESOURCE_POOL] = BZ_KIND_RESOURCE_POOL};
    unsigned kind = object->primitive < BZ_PRIMITIVE_COUNT ? kinds[object->primitive] : 0;
    kind = object->kind == BZ_OBJECT_SLOTS ? BZ_KIND_SLOTS : kind;
    return bz_kind_name(object->size == BZ_SIZE_MODELLED || kind == 0 ? BZ_KIND_MODELLED : kind);
}

/* A number that a trace can hold. */
static uint64_t number_or_absent(uint64_t number) {
    return number <= BZ_TRACE_NUMBER_MAX ? number : BZ_TRACE_ABSENT;
}

/* The objects of the run, with the names that its events have. */
static void add_objects(struct bz_recorder *recorder) {
    const struct bz_shadow *shadow = &recorder->judge->shadow;
    struct bz_trace *trace = recorder->trace;
    for (uint32_t number = 1; number <= shadow->object_count; number++) {
        const struct bz_shadow_object *object = &shadow->objects[number];
        bool has_size = object->kind != BZ_OBJECT_EVENT && object->kind != BZ_OBJECT_CONDITION;
        bool has_partner = object->partner != 0 && object->partner <= shadow->object_count;
        const char *name = object_name(recorder, number);
        recorder->is_full |= trace->object_count == BZ_TRACE_OBJECTS_MAX;
        if (recorder->is_full || bz_trace_find_object(trace, name) != 0) {
            continue; /* what a program calls "key#2" may be the second "key", too */
        }
        bz_trace_add_object(
            trace, (struct bz_trace_object){
                       .name = name,
                       .kind = kind_of(object),
                       .size = has_size ? number_or_absent(object->size) : BZ_TRACE_ABSENT,
                       .order = object->kind == BZ_OBJECT_ITEMS ? bz_queue_order_name(object->order)
                                                                : NULL,
                       .partner = has_partner ? object_name(recorder, object->partner) : NULL});
    }
}

/* --- events ----------------------------------------------------------------------------------- */

/* The fields of an event that depend on its kind. */
static void describe(struct bz_recorder *recorder, const struct bz_event *event,
                     struct bz_trace_event *entry) {
    switch (event->kind) {
    case BZ_EVENT_SPAWN:
        entry->by = bz_recorder_task(recorder, event->arg);
        break;
    case BZ_EVENT_RESUME:
        entry->status = bz_status_word(event->status);
        entry->n = event->arg;
        break;
    case BZ_EVENT_SUSPEND:
        entry->wait = bz_wait_name(event->arg);
        break;
    case BZ_EVENT_WAKE:
    case BZ_EVENT_EXIT:
        entry->status = bz_status_word(event->status);
        break;
    case BZ_EVENT_CANCEL:
        entry->by = bz_recorder_task(recorder, event->arg);
        entry->op = bz_op_name(event->op);
        entry->window = bz_window_name(event->window);
        entry->status = event->status == BZ_OK ? NULL : bz_status_word(event->status);
        break;
    case BZ_EVENT_UNCANCEL:
        entry->n = event->arg;
        entry->status = event->status == BZ_OK ? NULL : bz_status_word(event->status);
        break;
    case BZ_EVENT_NOTE:
        entry->n = event->arg;
        break;
    case BZ_EVENT_INJECT:
        entry->n = event->arg == 0 ? BZ_TRACE_ABSENT : event->arg;
        break;
    case BZ_EVENT_DRAW:
        entry->n = (uint64_t)event->object << 32u | event->arg;
        break;
    case BZ_EVENT_CALLBACK:
        entry->role = bz_role_name(event->arg);
        break;
    case BZ_EVENT_RETURN:
        entry->status = bz_status_word(event->status);
        entry->op = bz_op_name(event->op);
        entry->object = object_name(recorder, event->object);
        break;
    case BZ_EVENT_CALL:
        entry->n = event->arg == 0 ? BZ_TRACE_ABSENT : event->arg;
        entry->op = bz_op_name(event->op);
        entry->object = object_name(recorder, event->object);
        break;
    default: /* free and clock have no further fields */
        break;
    }
}

static void on_event(struct bz_event_sink *sink, const struct bz_logged_event *logged) {
    struct bz_recorder *recorder = (struct bz_recorder *)(void *)sink; /* its first member */
    const struct bz_event *event = &logged->event;
    if (event->kind == BZ_EVENT_SPAWN) {
        if (recorder->trace->task_count == BZ_TRACE_TASKS_MAX) {
            recorder->is_full = true;
        } else {
            add_task(recorder, event->task);
        }
    }
    if (recorder->is_full) {
        return;
    }
    struct bz_trace_event entry = {.step = logged->step,
                                   .time_ns = logged->time_ns,
                                   .task = bz_recorder_task(recorder, event->task),
                                   .event = bz_event_name(event->kind),
                                   .n = BZ_TRACE_ABSENT,
                                   .held = number_or_absent(logged->held)};
    describe(recorder, event, &entry);
    if (logged->where != NULL) {
        const char **place = event->kind == BZ_EVENT_DRAW ? &entry.text : &entry.where;
        *place = fit_name(recorder->trace, logged->where);
    }
    if (logged->said[0] != '\0') {
        entry.text = fit_name(recorder->trace, logged->said);
    }
    if (recorder->on_event != NULL) {
        recorder->on_event(recorder, &entry);
    } else if (recorder->trace->event_count == BZ_TRACE_EVENTS_MAX) {
        recorder->is_full = true;
    } else {
        bz_trace_add_event(recorder->trace, entry);
    }
}

void bz_recorder_init(struct bz_recorder *recorder, const struct bz_judge *judge,
                      struct bz_trace *trace) {
    *recorder = (struct bz_recorder){.sink = {on_event}, .judge = judge, .trace = trace};
}

/* --- the log ---------------------------------------------------------------------------------- */

struct bz_event_log {
    struct bz_event_sink sink; /* first: it is found by it */
    struct bz_judge *judge;
    struct bz_logged_event *events;
    size_t count;
    size_t capacity;
};

static void log_event(struct bz_event_sink *sink, const struct bz_logged_event *event) {
    struct bz_event_log *log = (struct bz_event_log *)(void *)sink; /* its first member */
    if (log->count > BZ_TRACE_EVENTS_MAX) {
        return; /* more than any trace may have */
    }
    if (log->count == log->capacity) {
        size_t bytes = log->capacity * sizeof *log->events;
        size_t larger_bytes = bytes == 0 ? 256 * sizeof *log->events : 2 * bytes;
        struct bz_logged_event *larger =
            bz_mem_grow(log->judge->mem, log->events, bytes, larger_bytes);
        BZ_CHECK(larger != NULL);
        log->events = larger;
        log->capacity = larger_bytes / sizeof *larger;
    }
    log->events[log->count++] = *event;
}

struct bz_event_sink *bz_judge_log_events(struct bz_judge *judge) {
    if (judge->log == NULL) {
        judge->log = bz_mem_alloc(judge->mem, sizeof *judge->log);
        BZ_CHECK(judge->log != NULL);
        judge->log->sink.event = log_event;
        judge->log->judge = judge;
    }
    judge->log->count = 0;
    return &judge->log->sink;
}

bool bz_judge_is_recorded(const struct bz_judge *judge) {
    return judge->log != NULL && judge->sink == &judge->log->sink;
}

bool bz_judge_is_log_sound(const struct bz_judge *judge,
                           bool (*holds)(const struct bz_mem *mem, const void *array,
                                         uint64_t count, size_t item_bytes)) {
    const struct bz_event_log *log = judge->log;
    return log == NULL || (holds(judge->mem, log, 1, sizeof *log) && log->judge == judge &&
                           log->sink.event == log_event && log->count <= log->capacity &&
                           holds(judge->mem, log->events, log->capacity, sizeof *log->events));
}

void bz_judge_where(struct bz_judge *judge, const char *where) {
    judge->where = where;
}

void bz_judge_say_draw(struct bz_judge *judge, const char *text) {
    struct bz_event_log *log = judge->log;
    if (bz_judge_is_recorded(judge) && log->count > 0 && log->count <= BZ_TRACE_EVENTS_MAX &&
        log->events[log->count - 1].event.kind == BZ_EVENT_DRAW) {
        log->events[log->count - 1].where = text;
    }
}

void bz_judge_say(struct bz_judge *judge, const char *text) {
    judge->said[0] = '\0';
    if (text != NULL) {
        snprintf(judge->said, sizeof judge->said, "%s", text);
    }
}

void bz_judge_log_replay(const struct bz_judge *judge, struct bz_event_sink *sink) {
    for (size_t index = 0; index < judge->log->count; index++) {
        sink->event(sink, &judge->log->events[index]);
    }
}

/* --- the tape --------------------------------------------------------------------------------- */

static bool is_draw(const struct bz_choice *choice) {
    return choice->kind == BZ_CHOICE_DATA ||
           (choice->kind == BZ_CHOICE_DELAY && choice->label != NULL);
}

static struct bz_trace_choice choice_of(struct bz_recorder *recorder,
                                        const struct bz_choice *choice) {
    struct bz_trace_choice entry = {.kind = bz_choice_kind_name(choice->kind),
                                    .task = bz_recorder_task(recorder, choice->owner),
                                    .step = choice->step,
                                    .n = BZ_TRACE_ABSENT,
                                    .bound = BZ_TRACE_ABSENT,
                                    .value = BZ_TRACE_ABSENT};
    if (is_draw(choice)) {
        entry.label = fit_name(recorder->trace, choice->label);
        entry.bound = choice->bound;
    }
    if (choice->kind == BZ_CHOICE_NEXT && choice->role != BZ_ROLE_STEP) {
        entry.role = bz_role_name(choice->role);
    }
    if (choice->kind == BZ_CHOICE_CANCEL) {
        entry.window = bz_window_name(choice->window);
    }
    bool is_later_point = choice->kind == BZ_CHOICE_CANCEL && choice->value != 0;
    if (choice->kind == BZ_CHOICE_DATA || choice->kind == BZ_CHOICE_DELAY || is_later_point) {
        entry.value = choice->value;
    }
    if (choice->kind != BZ_CHOICE_DELAY || is_draw(choice)) {
        entry.n = choice->nth;
    }
    return entry;
}

void bz_recorder_finish(struct bz_recorder *recorder) {
    const struct bz_judge *judge = recorder->judge;
    struct bz_trace *trace = recorder->trace;
    const struct bz_violation *violation = &judge->violation;
    add_objects(recorder);
    for (size_t index = 0; index < judge->tape.count; index++) {
        if (trace->choice_count == BZ_TRACE_CHOICES_MAX) {
            recorder->is_full = true;
            break;
        }
        bz_trace_add_choice(trace, choice_of(recorder, &judge->tape.choices[index]));
    }
    trace->seed = judge->seed;
    trace->digest = judge->digest;
    char message[BZ_TRACE_TEXT_BYTES_MAX + 1];
    if (violation->oracle == NULL) {
        const char *why = bz_judge_cut_reason(judge);
        bool is_cut = judge->end == BZ_RUN_OUT_OF_STEPS;
        fit(message, sizeof message, why == NULL ? "" : why);
        trace->verdict = (struct bz_trace_verdict){
            .result = is_cut ? "cut" : "pass",
            .step = judge->step,
            .message = why == NULL ? NULL : bz_trace_string(trace, message)};
        return;
    }
    fit(message, sizeof message, violation->message);
    trace->verdict = (struct bz_trace_verdict){.result = "violation",
                                               .oracle = fit_name(trace, violation->oracle),
                                               .step = violation->step,
                                               .task = bz_recorder_task(recorder, violation->task),
                                               .object = object_name(recorder, violation->object),
                                               .message = bz_trace_string(trace, message)};
}

void bz_trace_overrule(struct bz_trace *trace, const struct bz_violation *violation,
                       const char *text) {
    char message[BZ_TRACE_TEXT_BYTES_MAX + 1];
    bool has_task = violation->task != 0 && violation->task <= trace->task_count;
    fit(message, sizeof message, text);
    trace->verdict =
        (struct bz_trace_verdict){.result = "violation",
                                  .oracle = fit_name(trace, violation->oracle),
                                  .step = violation->step,
                                  .task = has_task ? trace->tasks[violation->task - 1] : NULL,
                                  .message = bz_trace_string(trace, message)};
}

void bz_trace_contradict(struct bz_trace *trace, const struct bz_violation *violation,
                         uint64_t digest) {
    const struct bz_trace_verdict *verdict = &trace->verdict;
    char text[2 * BZ_MESSAGE_BYTES + BZ_TRACE_TEXT_BYTES_MAX];
    bool has_passed = verdict->oracle == NULL;
    bool has_same_events = trace->digest == digest;
    char digests[80] = "has the same events";
    if (!has_same_events) {
        snprintf(digests, sizeof digests, "gives digest %016" PRIx64 " instead of %016" PRIx64,
                 trace->digest, digest);
    }
    snprintf(text, sizeof text,
             "%s [not confirmed: recorded again, the seed %s and %s%s, so something besides the "
             "choices decides]",
             violation->message, digests, has_passed ? "passes" : "a violation of ",
             has_passed ? "" : verdict->oracle);
    bz_trace_overrule(trace, violation, text);
}

/* --- and back --------------------------------------------------------------------------------- */

/* Names that a trace uses but does not list get numbers from UINT32_MAX downwards. */
struct strangers {
    const char *names[BZ_TRACE_STRANGERS_MAX];
    uint32_t count;
};

static bool number_of(const struct bz_trace *trace, struct strangers *strangers, const char *name,
                      uint32_t *number) {
    *number = name == NULL ? 0 : bz_trace_find_task(trace, name);
    if (name == NULL || *number != 0) {
        return true;
    }
    uint32_t index = 0;
    while (index < strangers->count && strcmp(strangers->names[index], name) != 0) {
        index++;
    }
    if (index == BZ_TRACE_STRANGERS_MAX) {
        return false;
    }
    strangers->names[index] = name;
    strangers->count += index == strangers->count;
    *number = UINT32_MAX - index;
    return true;
}

/* The error of a draw; NULL if there is none. */
static const char *fill_draw(const struct bz_trace_choice *entry, struct bz_choice *choice) {
    if (entry->label == NULL || entry->bound == BZ_TRACE_ABSENT || entry->n == BZ_TRACE_ABSENT ||
        entry->value == BZ_TRACE_ABSENT) {
        return "a draw needs \"label\", \"n\", \"bound\" and \"value\"";
    }
    if (entry->value >= entry->bound) {
        return "\"value\" must be below \"bound\"";
    }
    choice->label = entry->label;
    choice->bound = entry->bound;
    choice->value = entry->value;
    return NULL;
}

static const char *fill_jump(const struct bz_trace_choice *entry, struct bz_choice *choice) {
    if (entry->task != NULL || entry->n != BZ_TRACE_ABSENT || entry->value == BZ_TRACE_ABSENT ||
        entry->value < BZ_CHOICE_LAG || entry->value > UINT32_MAX) {
        return "a clock jump has a \"value\", 1 or more, and no \"task\", \"n\" or \"bound\"; a "
               "drawn delay has a \"label\"";
    }
    choice->value = entry->value;
    return NULL;
}

/* The required and the forbidden fields of each kind. */
static const char *fill(const struct bz_trace_choice *entry, struct bz_choice *choice) {
    bool is_draw_like = entry->label != NULL || entry->bound != BZ_TRACE_ABSENT;
    bool is_handle = choice->kind == BZ_CHOICE_NEXT || choice->kind == BZ_CHOICE_CANCEL;
    if (entry->role != NULL && choice->kind != BZ_CHOICE_NEXT) {
        return "only \"next\" has a \"role\"";
    }
    if ((entry->window != NULL) != (choice->kind == BZ_CHOICE_CANCEL)) {
        return "\"cancel\" needs a \"window\", and nothing else has one";
    }
    if (!is_handle) {
        return choice->kind == BZ_CHOICE_DELAY && !is_draw_like ? fill_jump(entry, choice)
                                                                : fill_draw(entry, choice);
    }
    if (is_draw_like) {
        return "\"next\" and \"cancel\" have no \"label\" and no \"bound\"";
    }
    if (entry->value != BZ_TRACE_ABSENT) {
        if (choice->kind == BZ_CHOICE_NEXT || entry->value == 0 || entry->value > UINT32_MAX) {
            return "\"next\" has no \"value\"; that of \"cancel\" counts points, from 1";
        }
        choice->value = entry->value;
    }
    if (entry->n == BZ_TRACE_ABSENT || (choice->kind == BZ_CHOICE_CANCEL && entry->task == NULL)) {
        return "\"next\" and \"cancel\" need \"n\", and \"cancel\" a \"task\"";
    }
    return NULL;
}

/* The number of a word; `otherwise` for NULL. False for an unknown word. */
static bool number_of_word(const struct bz_vocabulary *vocabulary, const char *word,
                           unsigned otherwise, uint8_t *number) {
    unsigned found = word == NULL ? otherwise : bz_vocabulary_find(vocabulary, word);
    *number = (uint8_t)found;
    return found < vocabulary->count;
}

static const char *convert(const struct bz_trace *trace, struct strangers *strangers,
                           const struct bz_trace_choice *entry, struct bz_choice *choice) {
    *choice = (struct bz_choice){.step = (uint32_t)entry->step};
    if (!number_of_word(&bz_vocabulary_choice, entry->kind, BZ_CHOICE_KIND_COUNT, &choice->kind)) {
        return "\"kind\" must be next, cancel, delay or data";
    }
    if (!number_of_word(&bz_vocabulary_role, entry->role, BZ_ROLE_STEP, &choice->role)) {
        return "\"role\" must be step, timer or callback";
    }
    if (!number_of_word(&bz_vocabulary_window, entry->window, BZ_WINDOW_NONE, &choice->window)) {
        return "\"window\" is not a window";
    }
    if (entry->step > UINT32_MAX || (entry->n != BZ_TRACE_ABSENT && entry->n > UINT32_MAX)) {
        return "\"step\" and \"n\" must be below 2^32";
    }
    if (!number_of(trace, strangers, entry->task, &choice->owner)) {
        return "too many tasks that \"tasks\" does not list";
    }
    choice->nth = entry->n == BZ_TRACE_ABSENT ? 0 : (uint32_t)entry->n;
    return fill(entry, choice);
}

bool bz_trace_to_tape(const struct bz_trace *trace, struct bz_tape *tape, char *error,
                      size_t error_bytes) {
    struct strangers strangers = {.count = 0};
    bz_tape_clear(tape);
    for (size_t index = 0; index < trace->choice_count; index++) {
        struct bz_choice choice;
        const char *problem = convert(trace, &strangers, &trace->choices[index], &choice);
        if (problem != NULL) {
            snprintf(error, error_bytes, "choices[%zu]: %s", index, problem);
            return false;
        }
        if (!bz_tape_append(tape, choice)) {
            bz_lack_stop(NULL, "the choices of a trace");
        }
    }
    return true;
}
