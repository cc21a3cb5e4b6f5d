#include "tools/show/permit_owners.h"

#include <stdlib.h>
#include <string.h>

#include "tools/story/objects.h"
#include "traces/lack.h"

#define NONE SIZE_MAX
#define SEARCH_MAX 1000u /* permits of one task that are looked through: a trace may be hostile */

struct owner {
    size_t newest;      /* its newest open hold; NONE */
    size_t given_up;    /* the hold that a wait for a condition gave up; NONE */
    size_t released;    /* the hold that its last release ended, which may be refused; NONE */
    const char *op;     /* pending */
    const char *object; /* its name */
    bool is_waiting;    /* suspended inside it */
};

struct reading {
    struct bz_holds *holds;
    const struct bz_trace *trace;
    struct owner *owners; /* by task */
    size_t *older;        /* by hold: the next open one of the task; NONE */
    size_t older_capacity;
    struct bz_objects objects;
};

static bool is(const char *text, const char *word) {
    return text != NULL && strcmp(text, word) == 0;
}

static void begin_hold(struct reading *reading, uint32_t task, const char *object, uint64_t step) {
    struct bz_holds *holds = reading->holds;
    if (holds->count == holds->capacity) {
        holds->capacity = holds->capacity == 0 ? 64 : 2 * holds->capacity;
        holds->holds = bz_lack_check(realloc(holds->holds, holds->capacity * sizeof *holds->holds),
                                     "a picture");
        reading->older = bz_lack_check(
            realloc(reading->older, holds->capacity * sizeof *reading->older), "a picture");
    }
    reading->older[holds->count] = reading->owners[task].newest;
    reading->owners[task].newest = holds->count;
    holds->holds[holds->count++] =
        (struct bz_hold){.task = task, .object = object, .step = step, .end = UINT64_MAX};
}

/* Ends the newest hold of the object, or of any that fits. Returns it, or NONE. */
static size_t end_hold(struct reading *reading, uint32_t task, const char *object, uint64_t step) {
    size_t *place = &reading->owners[task].newest;
    for (unsigned count = 0; *place != NONE && count < SEARCH_MAX; count++) {
        size_t found = *place;
        if (object == NULL || is(object, reading->holds->holds[found].object)) {
            reading->holds->holds[found].end = step;
            *place = reading->older[found];
            return found;
        }
        place = &reading->older[found];
    }
    return NONE;
}

/* --- conditions ------------------------------------------------------------------------------- */

/* The lock of a condition is not owned by its waiter. If it is not known, nothing is said of what
 * the waiter owns. */
static size_t give_up_lock(struct reading *reading, uint32_t task, uint64_t step) {
    const struct bz_object *objects = reading->objects.objects;
    uint32_t number = bz_objects_find(&reading->objects, reading->owners[task].object);
    uint32_t lock = objects[number].lock;
    if (!is(reading->owners[task].op, "wait") || objects[number].kind != BZ_OBJECT_CONDITION) {
        return NONE;
    }
    while (lock == 0 && end_hold(reading, task, NULL, step) != NONE) {
    }
    return lock != 0 ? end_hold(reading, task, objects[lock].name, step) : NONE;
}

/* --- events ----------------------------------------------------------------------------------- */

static void read_call(struct reading *reading, uint32_t task, const struct bz_trace_event *event) {
    struct owner *owner = &reading->owners[task];
    if (is(event->op, "release")) {
        owner->released = end_hold(reading, task, event->object, event->step);
        return;
    }
    owner->op = event->op;
    owner->object = event->object;
}

static void read_return(struct reading *reading, uint32_t task,
                        const struct bz_trace_event *event) {
    struct owner *owner = &reading->owners[task];
    struct bz_hold *holds = reading->holds->holds;
    if (is(event->op, "release")) {
        if (!is(event->status, "ok") && owner->released != NONE) {
            /* It was refused: nothing was given back. */
            holds[owner->released].end = UINT64_MAX;
            reading->older[owner->released] = owner->newest;
            owner->newest = owner->released;
        }
        owner->released = NONE;
        return;
    }
    if (is(event->op, "acquire") && is(event->status, "ok")) {
        begin_hold(reading, task, event->object, event->step);
    } else if (is(event->op, "wait") && owner->given_up != NONE) {
        begin_hold(reading, task, holds[owner->given_up].object, event->step);
    }
    owner->given_up = NONE;
    owner->op = owner->object = NULL;
}

static void read_event(struct reading *reading, const struct bz_trace_event *event) {
    uint32_t task = bz_trace_find_task(reading->trace, event->task);
    struct owner *owner = &reading->owners[task];
    if (is(event->event, "call")) {
        read_call(reading, task, event);
    } else if (is(event->event, "return")) {
        read_return(reading, task, event);
    } else if (is(event->event, "suspend")) {
        owner->is_waiting = owner->op != NULL && is(event->wait, "future");
        if (owner->is_waiting && owner->given_up == NONE) {
            owner->given_up = give_up_lock(reading, task, event->step);
        }
    } else if (is(event->event, "resume")) {
        owner->is_waiting = false;
    } else if (is(event->event, "wake") || is(event->event, "exit")) {
        owner->is_waiting = false; /* no longer at the end of the trace */
    } else if (is(event->event, "cancel") && (event->status == NULL || is(event->status, "ok"))) {
        owner->is_waiting = false;
    }
}

void bz_holds_init(struct bz_holds *holds, const struct bz_trace *trace) {
    struct reading reading = {.holds = holds, .trace = trace};
    *holds = (struct bz_holds){0};
    reading.owners =
        bz_lack_check(calloc(trace->task_count + 1, sizeof *reading.owners), "a picture");
    holds->pending =
        bz_lack_check(calloc(trace->task_count + 1, sizeof *holds->pending), "a picture");
    for (size_t task = 0; task <= trace->task_count; task++) {
        struct owner *owner = &reading.owners[task];
        owner->newest = owner->given_up = owner->released = NONE;
    }
    bz_objects_init(&reading.objects, trace);
    for (size_t index = 0; index < trace->event_count; index++) {
        if (trace->verdict.oracle == NULL || trace->events[index].step <= trace->verdict.step) {
            read_event(&reading, &trace->events[index]);
        }
    }
    for (uint32_t task = 1; task <= trace->task_count; task++) {
        const struct owner *owner = &reading.owners[task];
        if (owner->is_waiting) {
            holds->pending[holds->pending_count++] =
                (struct bz_pending){.task = task, .object = owner->object};
        }
    }
    free(reading.owners);
    free(reading.older);
}

void bz_holds_fini(struct bz_holds *holds) {
    free(holds->holds);
    free(holds->pending);
    *holds = (struct bz_holds){0};
}
