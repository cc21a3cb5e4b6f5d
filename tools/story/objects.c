#include "tools/story/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/judge/record.h"
#include "traces/lack.h"

/* --- what Buzzer's scenarios make ------------------------------------------------------------- */

static const struct known {
    const char *scenario;
    const char *object;
    enum bz_object_kind kind; /* unknown: the primitive of the run */
    const char *number;       /* the setting that says how many; NULL: one */
    const char *partner;      /* the lock of a condition, the items of slots */
} known_objects[] = {
    {"bank", "account", BZ_OBJECT_UNKNOWN, NULL, NULL},
    {"barrier", "barrier", BZ_OBJECT_BARRIER, "parties", NULL},
    {"condition", "lock", BZ_OBJECT_LOCK, NULL, NULL},
    {"condition", "tokens", BZ_OBJECT_CONDITION, NULL, "lock"},
    {"contended", "permits", BZ_OBJECT_UNKNOWN, "permits", NULL},
    {"event", "flag", BZ_OBJECT_EVENT, NULL, NULL},
    {"handoff", "lock", BZ_OBJECT_UNKNOWN, NULL, NULL},
    {"intruder", "permits", BZ_OBJECT_UNKNOWN, "permits", NULL},
    {"pool", "key", BZ_OBJECT_LOCK, NULL, NULL},
    {"queue", "items", BZ_OBJECT_QUEUE, "maxsize", NULL},
    {"queue", "slots", BZ_OBJECT_QUEUE, "maxsize", "items"},
    {"restaurant", "tables", BZ_OBJECT_UNKNOWN, "tables", NULL},
    {"taskgroup", "permits", BZ_OBJECT_UNKNOWN, "permits", NULL},
    {"timeout", "permits", BZ_OBJECT_UNKNOWN, "permits", NULL},
};

static const char *const kind_names[BZ_OBJECT_KIND_COUNT] = {
    "unknown", "lock", "semaphore", "bounded", "event", "condition", "barrier", "queue"};

const char *bz_object_kind_name(enum bz_object_kind kind) {
    return kind_names[kind];
}

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

bool bz_is_of_python(const struct bz_trace *trace) {
    return trace->variant != NULL && strncmp(trace->variant, "python-", 7) == 0;
}

/* NULL: the trace has no such setting. */
static const char *setting(const struct bz_trace *trace, const char *name) {
    for (size_t index = 0; index < trace->param_count; index++) {
        if (is(trace->params[index].name, name)) {
            return trace->params[index].value;
        }
    }
    return NULL;
}

static bool read_number(const struct bz_trace *trace, const char *name, uint32_t *number) {
    const char *text = setting(trace, name);
    uint64_t value;
    if (text == NULL || !bz_parse_u64(text, &value) || value > UINT32_MAX) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

/* The kind of that name; a pool is a lock for each key. */
static enum bz_object_kind kind_of(const char *word, size_t length) {
    for (unsigned kind = 1; word != NULL && kind < BZ_OBJECT_KIND_COUNT; kind++) {
        if (strlen(kind_names[kind]) == length && strncmp(word, kind_names[kind], length) == 0) {
            return (enum bz_object_kind)kind;
        }
    }
    return word != NULL && length == 4 && strncmp(word, "pool", 4) == 0 ? BZ_OBJECT_LOCK
                                                                        : BZ_OBJECT_UNKNOWN;
}

/* --- the names -------------------------------------------------------------------------------- */

uint32_t bz_objects_find(const struct bz_objects *objects, const char *name) {
    for (uint32_t number = 1; name != NULL && number <= objects->count; number++) {
        if (strcmp(objects->objects[number].name, name) == 0) {
            return number;
        }
    }
    return 0;
}

static void list_names(struct bz_objects *objects, const struct bz_trace *trace) {
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        bool is_use = is(event->event, "call") || is(event->event, "return");
        if (!is_use || event->object == NULL || bz_objects_find(objects, event->object) != 0) {
            continue;
        }
        objects->is_cut |= objects->count == BZ_OBJECTS_MAX;
        if (objects->count < BZ_OBJECTS_MAX) {
            objects->objects[++objects->count].name = event->object;
        }
    }
}

/* The object with the name of the whole between `before` and `after`; 0. */
static uint32_t find_part(const struct bz_objects *objects, const char *before, uint32_t whole,
                          const char *after) {
    char name[BZ_TRACE_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof name, "%s%s%s", before, objects->objects[whole].name, after);
    return bz_objects_find(objects, name);
}

static void join_queue(struct bz_objects *objects, uint32_t items, uint32_t slots) {
    objects->objects[items].slots = slots;
    objects->objects[slots].items = items;
    objects->objects[items].kind = objects->objects[slots].kind = BZ_OBJECT_QUEUE;
}

static void join_lock(struct bz_objects *objects, uint32_t condition, uint32_t lock) {
    objects->objects[condition].kind = BZ_OBJECT_CONDITION;
    objects->objects[condition].lock = lock;
    objects->objects[lock].kind = BZ_OBJECT_LOCK;
    objects->objects[lock].number = 1;
}

/* A drawn program has names of scenario `program`: "lock-1", "condition-2" with "condition-2-lock",
 * "queue-3" with "queue-3-slots". Names in a file are the user's. */
static void read_drawn_names(struct bz_objects *objects) {
    for (uint32_t number = 1; number <= objects->count; number++) {
        struct bz_object *object = &objects->objects[number];
        size_t word = strcspn(object->name, "-");
        size_t digits = strspn(object->name + word, "-0123456789");
        char end = object->name[word + digits];
        if (end != '\0' && end != '#') {
            continue; /* a part */
        }
        object->kind = kind_of(object->name, word);
        object->number = object->kind == BZ_OBJECT_LOCK;
        uint32_t lock = find_part(objects, "", number, "-lock");
        uint32_t slots = find_part(objects, "", number, "-slots");
        if (object->kind == BZ_OBJECT_CONDITION && lock != 0) {
            join_lock(objects, number, lock);
        } else if (object->kind == BZ_OBJECT_QUEUE && slots != 0) {
            join_queue(objects, number, slots);
        }
    }
}

/* The Python module calls the parts of `jobs` "slots of jobs" and "lock of jobs". */
static void read_python_names(struct bz_objects *objects) {
    for (uint32_t number = 1; number <= objects->count; number++) {
        uint32_t lock = find_part(objects, "lock of ", number, "");
        uint32_t slots = find_part(objects, "slots of ", number, "");
        if (lock != 0) {
            join_lock(objects, number, lock);
        } else if (slots != 0) {
            join_queue(objects, number, slots);
        }
    }
}

/* False: the scenario is none of Buzzer's, or the trace lacks one of its settings. */
static bool read_known(struct bz_objects *objects, const struct bz_trace *trace, uint32_t number) {
    struct bz_object *object = &objects->objects[number];
    size_t length = strcspn(object->name, "#");
    const char *primitive = setting(trace, "primitive");
    for (size_t index = 0; index < sizeof known_objects / sizeof known_objects[0]; index++) {
        const struct known *known = &known_objects[index];
        if (!is(trace->scenario, known->scenario) || strlen(known->object) != length ||
            strncmp(known->object, object->name, length) != 0) {
            continue;
        }
        object->kind = known->kind != BZ_OBJECT_UNKNOWN ? known->kind
                       : primitive != NULL              ? kind_of(primitive, strlen(primitive))
                                                        : BZ_OBJECT_UNKNOWN;
        object->number = 1;
        uint32_t partner = bz_objects_find(objects, known->partner);
        if (partner != 0 && object->kind == BZ_OBJECT_CONDITION) {
            join_lock(objects, number, partner);
        } else if (partner != 0) {
            join_queue(objects, partner, number);
        }
        bool is_order_known = object->kind != BZ_OBJECT_QUEUE ||
                              (read_number(trace, "kind", &object->order) && object->order < 3);
        return object->kind != BZ_OBJECT_UNKNOWN && is_order_known &&
               (object->kind == BZ_OBJECT_LOCK || known->number == NULL ||
                read_number(trace, known->number, &object->number));
    }
    return false;
}

/* --- the events ------------------------------------------------------------------------------- */

/* A size that the run shows: a task that waits alone finds everything taken. */
struct size {
    uint32_t number;
    bool is_seen;
    bool is_contradicted;
};

struct use {
    unsigned ops;     /* a sum of 1 << enum op */
    uint64_t locks;   /* that were owned in each of its waits, by number; all if there was none */
    bool has_waited;  /* a task has waited in a wait for it */
    uint32_t owned;   /* permits */
    uint32_t pending; /* tasks that wait in acquire, in put */
    uint32_t moved;   /* items that were put, or got */
    struct size size;
};

enum op { ACQUIRE, RELEASE, WAIT, PUT, GET, NOTIFY, SET, CLEAR, ABORT, RESET, SHUTDOWN, DONE, OPS };

struct doer {
    uint64_t locks; /* that it owns */
    uint32_t object;
    enum op op;
    bool is_pending;
    bool is_waiting;
};

struct reading {
    struct bz_objects *objects;
    const struct bz_trace *trace;
    struct use uses[BZ_OBJECTS_MAX + 1];
    struct doer *doers; /* by task */
};

static enum op op_of(const char *word) {
    static const char *const words[OPS] = {"acquire", "release", "wait",     "put",
                                           "get",     "notify",  "set",      "clear",
                                           "abort",   "reset",   "shutdown", "done"};
    for (unsigned op = 0; op < OPS; op++) {
        if (is(word, words[op])) {
            return (enum op)op;
        }
    }
    return OPS;
}

static void see_size(struct use *use, uint32_t number) {
    use->size.is_contradicted |= use->size.is_seen && use->size.number != number;
    use->size.is_seen = true;
    use->size.number = number;
}

static uint32_t items_in(const struct reading *reading, uint32_t slots) {
    uint32_t put = reading->uses[slots].moved;
    uint32_t got = reading->uses[reading->objects->objects[slots].items].moved;
    return put > got ? put - got : 0;
}

static void read_call(struct reading *reading, struct doer *doer, uint32_t object, enum op op) {
    struct use *use = &reading->uses[object];
    use->ops |= 1u << op;
    if (op == RELEASE) {
        use->size.is_contradicted |= use->owned == 0; /* of what nobody owns */
        use->owned -= use->owned > 0;
        doer->locks &= ~(UINT64_C(1) << object);
    }
    *doer = (struct doer){.locks = doer->locks, .object = object, .op = op, .is_pending = true};
}

static void read_suspend(struct reading *reading, struct doer *doer) {
    struct use *use = &reading->uses[doer->object];
    if (!doer->is_pending || doer->is_waiting) {
        return;
    }
    doer->is_waiting = true;
    if (doer->op == WAIT) {
        use->locks &= doer->locks;
        use->has_waited = true;
    } else if (doer->op == ACQUIRE || doer->op == PUT) {
        if (use->pending++ == 0) {
            see_size(use, doer->op == PUT ? items_in(reading, doer->object) : use->owned);
        }
    }
}

static void read_return(struct reading *reading, struct doer *doer, uint32_t object, enum op op,
                        const char *status) {
    struct use *use = &reading->uses[object];
    bool is_ok = is(status, "ok");
    use->ops |= 1u << op;
    if (doer->is_pending && doer->is_waiting && (op == ACQUIRE || op == PUT)) {
        use->pending -= use->pending > 0;
    }
    doer->is_pending = doer->is_waiting = false;
    if (op == RELEASE && !is_ok) {
        use->owned++; /* it was refused */
    } else if (op == ACQUIRE && is_ok) {
        use->owned++;
        doer->locks |= UINT64_C(1) << object;
        use->size.is_contradicted |= use->size.is_seen && use->owned > use->size.number;
    } else if ((op == PUT || op == GET) && is_ok) {
        use->moved++;
    } else if (op == PUT && is(status, "full")) {
        see_size(use, items_in(reading, object));
    }
}

static void read_events(struct reading *reading) {
    const struct bz_trace *trace = reading->trace;
    for (size_t index = 0; index < trace->event_count; index++) {
        const struct bz_trace_event *event = &trace->events[index];
        struct doer *doer = &reading->doers[bz_trace_find_task(trace, event->task)];
        uint32_t object = bz_objects_find(reading->objects, event->object);
        enum op op = op_of(event->op);
        if (trace->verdict.oracle != NULL && event->step > trace->verdict.step) {
            break;
        }
        if (is(event->event, "suspend")) {
            read_suspend(reading, doer);
        } else if (object != 0 && op != OPS && is(event->event, "call")) {
            read_call(reading, doer, object, op);
        } else if (object != 0 && op != OPS && is(event->event, "return")) {
            read_return(reading, doer, object, op, event->status);
        }
    }
}

/* --- what follows ----------------------------------------------------------------------------- */

/* Items that are got were put: with one object of each, both are one queue. */
static void join_only_queue(struct reading *reading) {
    uint32_t with[2] = {0, 0};
    unsigned counts[2] = {0, 0};
    for (uint32_t number = 1; number <= reading->objects->count; number++) {
        for (unsigned kind = 0; kind < 2; kind++) {
            bool is_used = (reading->uses[number].ops & 1u << (kind == 0 ? PUT : GET)) != 0;
            with[kind] = is_used ? number : with[kind];
            counts[kind] += is_used;
        }
    }
    if (counts[0] == 1 && counts[1] == 1 && with[0] != with[1] &&
        reading->uses[with[1]].moved > 0 && !reading->objects->is_cut) {
        join_queue(reading->objects, with[1], with[0]);
    }
}

/* The lock of a condition is the one that its waiters owned. */
static void find_lock(struct reading *reading, uint32_t number) {
    const struct use *use = &reading->uses[number];
    uint64_t locks = use->has_waited ? use->locks : 0;
    if (reading->objects->objects[number].lock == 0 && locks != 0 && (locks & (locks - 1)) == 0) {
        join_lock(reading->objects, number, (uint32_t)__builtin_ctzll(locks));
    }
}

/* By what is done with it. */
static void find_kind(struct reading *reading, uint32_t number) {
    static const struct {
        unsigned ops;
        enum bz_object_kind kind;
    } signs[] = {
        {1u << PUT | 1u << GET | 1u << SHUTDOWN | 1u << DONE, BZ_OBJECT_QUEUE},
        {1u << NOTIFY, BZ_OBJECT_CONDITION},
        {1u << SET | 1u << CLEAR, BZ_OBJECT_EVENT},
        {1u << ABORT | 1u << RESET, BZ_OBJECT_BARRIER},
    };
    struct bz_object *object = &reading->objects->objects[number];
    for (unsigned index = 0; index < sizeof signs / sizeof signs[0]; index++) {
        if (object->kind == BZ_OBJECT_UNKNOWN &&
            (reading->uses[number].ops & signs[index].ops) != 0) {
            object->kind = signs[index].kind;
        }
    }
    if (object->kind == BZ_OBJECT_CONDITION) {
        find_lock(reading, number);
    }
}

/* asyncio itself ran, and it lets nobody wait for what is free: so the run shows sizes. A lock is a
 * semaphore of one permit. */
static void read_python_size(struct reading *reading, uint32_t number) {
    struct bz_object *object = &reading->objects->objects[number];
    const struct use *use = &reading->uses[number];
    const struct size *size = &use->size;
    bool is_shown = size->is_seen && !size->is_contradicted && size->number > 0;
    if (object->kind == BZ_OBJECT_UNKNOWN && (use->ops & 1u << ACQUIRE) != 0 && is_shown) {
        object->kind = size->number == 1 ? BZ_OBJECT_LOCK : BZ_OBJECT_SEMAPHORE;
        object->number = size->number;
    } else if (object->slots != 0) {
        const struct size *slots = &reading->uses[object->slots].size;
        object->number = slots->number; /* 0: no put had to wait */
        object->lacks =
            slots->is_contradicted || (slots->is_seen && slots->number == 0) ? "the size" : NULL;
    }
}

static const char *what_lacks(const struct bz_object *object, const struct use *use,
                              bool is_python) {
    switch (object->kind) {
    case BZ_OBJECT_UNKNOWN:
        return (use->ops & 1u << WAIT) != 0 ? "the kind (event, condition or barrier)"
                                            : "the kind (lock or semaphore)";
    case BZ_OBJECT_SEMAPHORE:
    case BZ_OBJECT_BOUNDED:
        return object->number > 0 ? NULL : "the number of permits";
    case BZ_OBJECT_BARRIER:
        return "the number of parties";
    case BZ_OBJECT_CONDITION:
        return object->lock != 0 ? NULL : "the lock";
    case BZ_OBJECT_QUEUE:
        return object->items != 0 || object->slots != 0 ? (is_python ? object->lacks : "the size")
               : (use->ops & 1u << PUT) != 0 && (use->ops & 1u << GET) != 0
                   ? "the size"
                   : "the partner (items or slots)";
    default:
        return NULL;
    }
}

void bz_objects_init(struct bz_objects *objects, const struct bz_trace *trace) {
    struct reading reading = {.objects = objects, .trace = trace};
    bool is_python = bz_is_of_python(trace);
    bool is_known[BZ_OBJECTS_MAX + 1] = {false};
    *objects = (struct bz_objects){0};
    reading.doers = bz_lack_check(calloc(trace->task_count + 1, sizeof *reading.doers), "a trace");
    for (uint32_t number = 0; number <= BZ_OBJECTS_MAX; number++) {
        reading.uses[number].locks = UINT64_MAX;
    }
    list_names(objects, trace);
    if (is_python) {
        read_python_names(objects);
    } else if (is(trace->scenario, "program") && setting(trace, "file") == NULL) {
        read_drawn_names(objects);
    }
    for (uint32_t number = 1; number <= objects->count; number++) {
        is_known[number] = !is_python && read_known(objects, trace, number);
    }
    read_events(&reading);
    join_only_queue(&reading);
    for (uint32_t number = 1; number <= objects->count; number++) {
        find_kind(&reading, number);
    }
    for (uint32_t number = 1; number <= objects->count; number++) {
        struct bz_object *object = &objects->objects[number];
        if (is_python) {
            read_python_size(&reading, number);
        }
        if (!is_known[number]) {
            object->lacks = what_lacks(object, &reading.uses[number], is_python);
        }
    }
    free(reading.doers);
}
