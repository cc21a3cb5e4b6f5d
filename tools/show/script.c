#include "tools/show/script.h"

#include <stdlib.h>
#include <string.h>

#include "sim/judge/record.h"
#include "traces/lack.h"

/* What a task is in the middle of. */
struct actor {
    uint32_t suspended; /* the yield or the pause that it is in, number + 1; 0: none */
    uint32_t pending;   /* the operation that has not returned, number + 1; 0: none */
};

struct writer {
    struct bz_script *script;
    size_t act_capacity;
    size_t move_capacity;
    struct actor *actors;
    uint32_t *held; /* by task and object: permits that it owns */
    uint32_t running;
    uint64_t step;
    uint32_t notify; /* the last notify of this step, number + 1; 0: none */
    uint32_t owned[BZ_SCRIPT_OBJECTS_MAX + 1]; /* by object: permits that are owned */
    uint32_t most[BZ_SCRIPT_OBJECTS_MAX + 1];  /* the most that ever were */
};

static const char *const act_names[BZ_ACT_COUNT] = {
    "yield",    "pause",   "cancel",  "acquire", "release", "release-unheld", "wait",  "put",
    "get",      "try-put", "try-get", "notify",  "set",     "clear",          "abort", "reset",
    "shutdown", "done",    "other"};

static const char *const object_names[BZ_OBJECT_KIND_COUNT] = {
    "unknown", "lock", "semaphore", "bounded", "event", "condition", "barrier", "queue"};

const char *bz_act_name(enum bz_act_kind kind) {
    return act_names[kind];
}

const char *bz_object_kind_name(enum bz_object_kind kind) {
    return object_names[kind];
}

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static void *more(void *array, size_t count, size_t *capacity, size_t element_bytes) {
    if (count < *capacity) {
        return array;
    }
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    return bz_lack_check(realloc(array, *capacity * element_bytes), "a picture");
}

/* --- objects ---------------------------------------------------------------------------------- */

static uint32_t find_object(const struct bz_script *script, const char *name) {
    for (uint32_t number = 1; name != NULL && number <= script->object_count; number++) {
        if (strcmp(script->objects[number].name, name) == 0) {
            return number;
        }
    }
    return 0;
}

static void list_objects(struct bz_script *script) {
    const struct bz_trace *trace = script->trace;
    script->objects =
        bz_lack_check(calloc(BZ_SCRIPT_OBJECTS_MAX + 1, sizeof *script->objects), "a picture");
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_use = is(event->event, "call") || is(event->event, "return");
        if (is_use && event->object != NULL && find_object(script, event->object) == 0 &&
            script->object_count < BZ_SCRIPT_OBJECTS_MAX) {
            script->objects[++script->object_count].name = event->object;
        }
    }
}

/* A setting of the program as a number; false if the trace has none of that name. */
static bool setting(const struct bz_trace *trace, const char *name, uint32_t *number) {
    for (size_t index = 0; index < trace->param_count; index++) {
        uint64_t value;
        if (is(trace->params[index].name, name) &&
            bz_parse_u64(trace->params[index].value, &value) && value <= UINT32_MAX) {
            *number = (uint32_t)value;
            return true;
        }
    }
    return false;
}

static const char *primitive_of(const struct bz_trace *trace) {
    for (size_t index = 0; index < trace->param_count; index++) {
        if (is(trace->params[index].name, "primitive")) {
            return trace->params[index].value;
        }
    }
    return "";
}

/* The kind that a word begins with: "lock-1" is a lock; "pool" is one lock for each name. */
static enum bz_object_kind kind_of_word(const char *word, bool is_whole) {
    if (strncmp(word, "pool", 4) == 0) {
        return BZ_OBJECT_LOCK;
    }
    for (unsigned kind = 1; kind < BZ_OBJECT_KIND_COUNT; kind++) {
        size_t length = strlen(object_names[kind]);
        if (strncmp(word, object_names[kind], length) == 0 &&
            (word[length] == '\0' || (!is_whole && word[length] == '-'))) {
            return (enum bz_object_kind)kind;
        }
    }
    return BZ_OBJECT_UNKNOWN;
}

/* By what is done with it, then by its name, then by the primitive of the run. */
static void classify(struct bz_script *script, uint32_t number, unsigned uses) {
    static const struct {
        unsigned uses;
        enum bz_object_kind kind;
    } signs[] = {
        {1u << BZ_ACT_PUT | 1u << BZ_ACT_GET | 1u << BZ_ACT_SHUTDOWN | 1u << BZ_ACT_DONE,
         BZ_OBJECT_QUEUE},
        {1u << BZ_ACT_NOTIFY, BZ_OBJECT_CONDITION},
        {1u << BZ_ACT_SET | 1u << BZ_ACT_CLEAR, BZ_OBJECT_EVENT},
        {1u << BZ_ACT_ABORT | 1u << BZ_ACT_RESET, BZ_OBJECT_BARRIER},
    };
    struct bz_script_object *object = &script->objects[number];
    size_t length = strlen(object->name);
    if (length > 5 && strcmp(object->name + length - 5, "-lock") == 0) {
        object->kind = BZ_OBJECT_LOCK;
        return;
    }
    for (unsigned index = 0; index < sizeof signs / sizeof signs[0]; index++) {
        if ((uses & signs[index].uses) != 0) {
            object->kind = signs[index].kind;
            return;
        }
    }
    bool is_waited = (uses & 1u << BZ_ACT_WAIT) != 0;
    enum bz_object_kind guesses[] = {kind_of_word(object->name, false),
                                     kind_of_word(primitive_of(script->trace), true),
                                     is_waited ? BZ_OBJECT_EVENT : BZ_OBJECT_LOCK};
    for (unsigned index = 0; object->kind == BZ_OBJECT_UNKNOWN; index++) {
        bool is_waitable = guesses[index] >= BZ_OBJECT_EVENT;
        object->kind = is_waitable == is_waited ? guesses[index] : BZ_OBJECT_UNKNOWN;
    }
}

static void size_object(struct writer *writer, uint32_t number) {
    struct bz_script_object *object = &writer->script->objects[number];
    const struct bz_trace *trace = writer->script->trace;
    switch (object->kind) {
    case BZ_OBJECT_SEMAPHORE:
    case BZ_OBJECT_BOUNDED:
        if (setting(trace, "permits", &object->number) ||
            setting(trace, "tables", &object->number)) {
            return;
        }
        object->number = writer->most[number] > 0 ? writer->most[number] : 1;
        object->is_guessed = true;
        break;
    case BZ_OBJECT_BARRIER:
        if (!setting(trace, "parties", &object->number)) {
            object->number = 2;
            object->is_guessed = true;
        }
        break;
    case BZ_OBJECT_QUEUE:
        object->is_guessed = !setting(trace, "maxsize", &object->number);
        setting(trace, "kind", &object->order);
        break;
    default:
        object->number = 1;
    }
}

/* Slots and items of one queue, a condition and its lock: by their names, or because there is only
 * one of each. */
static void pair_objects(struct bz_script *script) {
    uint32_t queues[2] = {0, 0};
    uint32_t queue_count = 0;
    uint32_t only_lock = 0;
    for (uint32_t number = 1; number <= script->object_count; number++) {
        struct bz_script_object *object = &script->objects[number];
        size_t length = strlen(object->name);
        for (uint32_t other = 1; other <= script->object_count; other++) {
            const char *rest = script->objects[other].name;
            if (strncmp(rest, object->name, length) == 0 && strcmp(rest + length, "-slots") == 0) {
                script->objects[other].same = number;
            } else if (strncmp(rest, object->name, length) == 0 &&
                       strcmp(rest + length, "-lock") == 0) {
                object->lock = other;
            }
        }
        if (object->kind == BZ_OBJECT_QUEUE) {
            queues[queue_count++ % 2] = number;
        } else if (object->kind == BZ_OBJECT_LOCK) {
            only_lock = only_lock == 0 ? number : UINT32_MAX;
        }
    }
    if (queue_count == 2 && script->objects[queues[0]].same == 0) {
        script->objects[queues[1]].same = queues[0];
    }
    for (uint32_t number = 1; number <= script->object_count; number++) {
        struct bz_script_object *object = &script->objects[number];
        if (object->kind == BZ_OBJECT_CONDITION && object->lock == 0 && only_lock != UINT32_MAX) {
            object->lock = only_lock;
        }
    }
}

/* --- acts and moves --------------------------------------------------------------------------- */

static struct bz_act *add_act(struct writer *writer, uint32_t task, enum bz_act_kind kind) {
    struct bz_script *script = writer->script;
    script->acts =
        more(script->acts, script->act_count, &writer->act_capacity, sizeof *script->acts);
    struct bz_act *act = &script->acts[script->act_count++];
    *act = (struct bz_act){.kind = kind, .task = task, .step = writer->step, .outcome = "ok"};
    uint32_t number = (uint32_t)script->act_count;
    if (script->last[task] != 0) {
        script->acts[script->last[task] - 1].next = number;
    } else {
        script->first[task] = number;
    }
    script->last[task] = number;
    return act;
}

static void add_move(struct writer *writer, uint32_t task, enum bz_move_kind kind) {
    struct bz_script *script = writer->script;
    script->moves =
        more(script->moves, script->move_count, &writer->move_capacity, sizeof *script->moves);
    script->moves[script->move_count++] =
        (struct bz_move){.step = writer->step, .task = task, .kind = kind};
}

static enum bz_act_kind kind_of_op(const char *op) {
    for (unsigned kind = BZ_ACT_ACQUIRE; kind < BZ_ACT_OTHER; kind++) {
        if (is(op, act_names[kind])) {
            return (enum bz_act_kind)kind;
        }
    }
    return BZ_ACT_OTHER;
}

static uint32_t *held(struct writer *writer, uint32_t task, uint32_t object) {
    return &writer->held[(size_t)task * (BZ_SCRIPT_OBJECTS_MAX + 1) + object];
}

/* Adds the operation of the event; returns its number + 1. */
static uint32_t add_operation(struct writer *writer, uint32_t task,
                              const struct bz_trace_event *event) {
    uint32_t object = find_object(writer->script, event->object);
    struct bz_act *act = add_act(writer, task, object == 0 ? BZ_ACT_OTHER : kind_of_op(event->op));
    act->object = object;
    act->number = 1;
    if (act->kind == BZ_ACT_RELEASE) {
        uint32_t *own = held(writer, task, object);
        act->kind = *own > 0 ? BZ_ACT_RELEASE : BZ_ACT_RELEASE_UNHELD;
        *own -= *own > 0;
        writer->owned[object] -= writer->owned[object] > 0;
    } else if (act->kind == BZ_ACT_NOTIFY) {
        writer->notify = (uint32_t)writer->script->act_count;
        act->number = 0;
    }
    return (uint32_t)writer->script->act_count;
}

static bool is_instant(enum bz_act_kind kind) {
    return kind == BZ_ACT_RELEASE || kind == BZ_ACT_RELEASE_UNHELD || kind >= BZ_ACT_NOTIFY;
}

/* --- events ----------------------------------------------------------------------------------- */

static void read_call(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    uint32_t number = add_operation(writer, task, event);
    struct bz_act *act = &writer->script->acts[number - 1];
    writer->actors[task].pending = number;
    act->outcome = is_instant(act->kind) ? "ok" : NULL;
}

/* An accepted release does not return: what returns next is another operation. */
static bool is_pending(const struct writer *writer, uint32_t task, const char *op) {
    uint32_t pending = writer->actors[task].pending;
    if (pending == 0) {
        return false;
    }
    enum bz_act_kind kind = writer->script->acts[pending - 1].kind;
    kind = kind == BZ_ACT_RELEASE_UNHELD ? BZ_ACT_RELEASE : kind;
    return kind == kind_of_op(op) || kind == BZ_ACT_OTHER;
}

static void read_return(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    if (!is_pending(writer, task, event->op)) {
        actor->pending = add_operation(writer, task, event);
    }
    struct bz_act *act = &writer->script->acts[actor->pending - 1];
    actor->pending = 0;
    act->outcome = event->status;
    if (act->kind == BZ_ACT_RELEASE && !is(event->status, "ok")) {
        (*held(writer, task, act->object))++; /* it was refused */
        writer->owned[act->object]++;
    }
    if (is(event->status, "full") && act->kind == BZ_ACT_PUT) {
        act->kind = BZ_ACT_TRY_PUT;
    } else if (is(event->status, "empty") && act->kind == BZ_ACT_GET) {
        act->kind = BZ_ACT_TRY_GET;
    } else if (act->kind == BZ_ACT_ACQUIRE && is(event->status, "ok") && act->object != 0) {
        (*held(writer, task, act->object))++;
        uint32_t owned = ++writer->owned[act->object];
        writer->most[act->object] =
            owned > writer->most[act->object] ? owned : writer->most[act->object];
    }
}

static void read_suspend(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    if (actor->pending != 0 && is_instant(writer->script->acts[actor->pending - 1].kind)) {
        actor->pending = 0;
    }
    if (actor->pending == 0) {
        add_act(writer, task, is(event->wait, "yield") ? BZ_ACT_YIELD : BZ_ACT_PAUSE)->outcome =
            NULL;
        actor->suspended = (uint32_t)writer->script->act_count;
    }
}

static void read_resume(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    struct actor *actor = &writer->actors[task];
    writer->running = task;
    add_move(writer, task, BZ_MOVE_STEP);
    if (actor->suspended != 0) {
        writer->script->acts[actor->suspended - 1].outcome = event->status;
        actor->suspended = 0;
    }
}

static void read_cancel(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    uint32_t by = bz_trace_find_task(writer->script->trace, event->by);
    if (event->status != NULL && !is(event->status, "ok")) {
        return; /* it was too late */
    }
    if (by != 0 && by == writer->running) {
        add_act(writer, by, BZ_ACT_CANCEL)->victim = task;
    } else {
        add_move(writer, task, BZ_MOVE_CANCEL);
    }
}

static void read_wake(struct writer *writer, uint32_t task, const struct bz_trace_event *event) {
    uint32_t suspended = writer->actors[task].suspended;
    if (!is(event->status, "ok")) {
        return;
    }
    if (suspended != 0 && writer->script->acts[suspended - 1].kind == BZ_ACT_PAUSE) {
        add_move(writer, task, BZ_MOVE_WAKE);
    } else if (writer->notify != 0) {
        writer->script->acts[writer->notify - 1].number++;
    }
}

static void read_exit(struct writer *writer, uint32_t task) {
    for (uint32_t object = 1; object <= BZ_SCRIPT_OBJECTS_MAX; object++) {
        writer->script->has_kept[task] |= *held(writer, task, object) > 0;
    }
}

static void read_event(struct writer *writer, const struct bz_trace_event *event) {
    uint32_t task = bz_trace_find_task(writer->script->trace, event->task);
    if (event->step != writer->step) {
        writer->step = event->step;
        writer->running = 0;
        writer->notify = 0;
    }
    if (task == 0) {
        return;
    }
    if (is(event->event, "resume")) {
        read_resume(writer, task, event);
    } else if (is(event->event, "call")) {
        read_call(writer, task, event);
    } else if (is(event->event, "return")) {
        read_return(writer, task, event);
    } else if (is(event->event, "suspend")) {
        read_suspend(writer, task, event);
    } else if (is(event->event, "cancel")) {
        read_cancel(writer, task, event);
    } else if (is(event->event, "wake")) {
        read_wake(writer, task, event);
    } else if (is(event->event, "exit")) {
        read_exit(writer, task);
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static void classify_objects(struct writer *writer) {
    unsigned uses[BZ_SCRIPT_OBJECTS_MAX + 1] = {0};
    struct bz_script *script = writer->script;
    for (size_t index = 0; index < script->act_count; index++) {
        enum bz_act_kind kind = script->acts[index].kind;
        kind = kind == BZ_ACT_TRY_PUT ? BZ_ACT_PUT : kind == BZ_ACT_TRY_GET ? BZ_ACT_GET : kind;
        uses[script->acts[index].object] |= 1u << kind;
    }
    for (uint32_t number = 1; number <= script->object_count; number++) {
        classify(script, number, uses[number]);
        size_object(writer, number);
    }
    pair_objects(script);
    for (size_t index = 0; index < script->act_count; index++) {
        struct bz_act *act = &script->acts[index];
        act->number = act->number == 0 ? 1 : act->number;
        if (script->objects[act->object].same != 0) {
            act->object = script->objects[act->object].same;
        }
    }
}

void bz_script_init(struct bz_script *script, const struct bz_trace *trace) {
    struct writer writer = {.script = script};
    size_t tasks = trace->task_count + 1;
    *script = (struct bz_script){.trace = trace};
    script->first = bz_lack_check(calloc(tasks, sizeof *script->first), "a picture");
    script->has_kept = bz_lack_check(calloc(tasks, sizeof *script->has_kept), "a picture");
    script->last = bz_lack_check(calloc(tasks, sizeof *script->last), "a picture");
    writer.actors = bz_lack_check(calloc(tasks, sizeof *writer.actors), "a picture");
    writer.held = bz_lack_check(calloc(tasks * (BZ_SCRIPT_OBJECTS_MAX + 1), sizeof *writer.held),
                                "a picture");
    list_objects(script);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (trace->verdict.oracle == NULL || trace->events[index].step <= trace->verdict.step) {
            read_event(&writer, &trace->events[index]);
        }
    }
    classify_objects(&writer);
    free(writer.actors);
    free(writer.held);
}

void bz_script_fini(struct bz_script *script) {
    free(script->acts);
    free(script->moves);
    free(script->objects);
    free(script->first);
    free(script->last);
    free(script->has_kept);
    *script = (struct bz_script){0};
}
