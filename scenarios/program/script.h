/* A script: what the scenario `program` runs, as plain data. It has objects, tasks, and for each
 * task a list of operations. It is drawn (draw.c) or read from a file (read.c), run (program.c),
 * and written as a file (write.c). scenarios/README.md says what each operation does.
 *
 * Operations lie in one array, task by task. An operation that contains others is followed by them;
 * `span` counts them, at all depths:
 *
 *     timeout (span 2)   acquire   yield   |   release
 *     group (span 5)   child (span 1)   put   child (span 2)   get   done   |   ...
 *     group (span 4)   child (span 1)   put   body (span 1)   sleep   |   ...
 *
 * Equal scripts have equal bytes: start from zeros to fill one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/variant/variant.h"

struct bz_judge;

#define BZ_SCRIPT_FORMAT "buzzer-program/1"
#define BZ_SCRIPT_FORMAT_2 "buzzer-program/2" /* with operations that version 1 does not have */
#define BZ_SCRIPT_OBJECTS_MAX 16u
#define BZ_SCRIPT_TASKS_MAX 16u
#define BZ_SCRIPT_OPS_MAX 256u     /* of all tasks */
#define BZ_SCRIPT_TASK_OPS_MAX 64u /* of one, with those of its children */
#define BZ_SCRIPT_DEPTH_MAX 8u     /* of operations inside operations */
#define BZ_SCRIPT_NAME_BYTES 32u   /* with the NUL */
#define BZ_SCRIPT_PERMITS_MAX 1000u
#define BZ_SCRIPT_MAXSIZE_MAX 1000u
#define BZ_SCRIPT_PARTIES_MAX 64u
#define BZ_SCRIPT_KEYS_MAX 8u
#define BZ_SCRIPT_COUNT_MAX 1000u
#define BZ_SCRIPT_NS_MAX 1000000000u
#define BZ_SCRIPT_NEVER UINT32_MAX /* of within_ns: no timeout */

enum bz_script_verb {
    BZ_VERB_YIELD = 0,
    BZ_VERB_SLEEP,
    BZ_VERB_FAIL,
    BZ_VERB_CANCEL,
    BZ_VERB_TIMEOUT,
    BZ_VERB_GROUP,
    BZ_VERB_ACQUIRE,
    BZ_VERB_RELEASE,
    BZ_VERB_POST,
    BZ_VERB_WAIT,
    BZ_VERB_NOTIFY,
    BZ_VERB_NOTIFY_ALL,
    BZ_VERB_SET,
    BZ_VERB_CLEAR,
    BZ_VERB_ABORT,
    BZ_VERB_RESET,
    BZ_VERB_PUT,
    BZ_VERB_GET,
    BZ_VERB_TRY_PUT,
    BZ_VERB_TRY_GET,
    BZ_VERB_DONE,
    BZ_VERB_JOIN,
    BZ_VERB_SHUTDOWN,
    BZ_VERB_SHUTDOWN_NOW,
    BZ_VERB_CHILD, /* of a group; has no name in a file */
    BZ_VERB_BODY, /* of a group, behind its children; has no name in a file; version 2, as all below
                   */
    BZ_VERB_LOCKED,
    BZ_VERB_SIZE,
    BZ_VERB_TRY_ACQUIRE,
    BZ_VERB_CATCH,
    BZ_VERB_FINALLY,
    BZ_VERB_UNCANCEL,
    BZ_VERB_AWAIT,
    BZ_VERB_SPAWN,
    BZ_VERB_SHIELD,
    BZ_VERB_MISUSE,
    BZ_VERB_GATHER,
    BZ_VERB_GATHER_ALL,
    BZ_VERB_WAIT_FOR,
    BZ_VERB_STEAL,
    BZ_VERB_RESCHEDULE,
    BZ_VERB_CREATE_TASK,
};
#define BZ_VERB_COUNT 42
#define BZ_VERBS_OF_VERSION_1 25

/* The fields of an operation besides its verb, as bits. */
#define BZ_FIELD_NS 0x01u       /* "ns" */
#define BZ_FIELD_WITHIN 0x02u   /* "within", may be left out */
#define BZ_FIELD_VICTIM 0x04u   /* "task" */
#define BZ_FIELD_COUNT 0x08u    /* "count", 1 if left out */
#define BZ_FIELD_PRIORITY 0x10u /* "priority", 0 if left out */
#define BZ_FIELD_OPS 0x20u      /* "ops" */
#define BZ_FIELD_TASKS 0x40u    /* "tasks" */
#define BZ_FIELD_BODY 0x80u     /* "ops" next to "tasks", may be left out */

struct bz_script_verb_info {
    const char *name;
    uint32_t primitives; /* of its "object", as bits 1 << enum bz_primitive; 0: has none */
    uint32_t fields;
};

extern const struct bz_script_verb_info bz_script_verbs[BZ_VERB_COUNT];
extern const char *const bz_script_orders[3]; /* of a queue, by enum bz_queue_order */

/* A program may use the first primitives: tasks can wait for all of these. */
#define BZ_SCRIPT_PRIMITIVES 8u

struct bz_script_object {
    char name[BZ_SCRIPT_NAME_BYTES];
    uint32_t number;   /* permits, parties, maxsize, or keys, by primitive */
    uint8_t primitive; /* enum bz_primitive */
    uint8_t order;     /* enum bz_queue_order */
    uint8_t lock;      /* of a condition: 1 + the number of the condition whose lock it shares */
    uint8_t rank;      /* of a lock, or of a semaphore with one permit; 0: none */
};

/* The fields of an object besides its name, by primitive. */
struct bz_script_kind {
    const char *number; /* the name of `number` in a file; NULL: it has none */
    uint32_t least;
    uint32_t most;
    uint8_t drawn[3]; /* what `number` may be in a drawn script */
    bool has_order;
};

extern const struct bz_script_kind bz_script_kinds[BZ_SCRIPT_PRIMITIVES];

struct bz_script_op {
    uint8_t verb; /* enum bz_script_verb */
    uint8_t object;
    uint16_t span;
    uint32_t number; /* key, count, priority, victim or number of a child, by verb */
    uint32_t ns;
    uint32_t within_ns;
};

struct bz_script_task {
    char name[BZ_SCRIPT_NAME_BYTES];
    uint16_t first; /* of its operations */
    uint16_t count;
};

struct bz_script {
    uint32_t object_count;
    uint32_t task_count;
    uint32_t op_count;
    uint32_t
        child_count; /* of groups and gathers, or spawned; their tasks are child-1, child-2, ... */
    struct bz_script_object objects[BZ_SCRIPT_OBJECTS_MAX];
    struct bz_script_task tasks[BZ_SCRIPT_TASKS_MAX];
    struct bz_script_op ops[BZ_SCRIPT_OPS_MAX];
};

/* True if an operation's "key" names a lock of a pool. */
static inline bool bz_script_has_key(const struct bz_script *script,
                                     const struct bz_script_op *op) {
    return bz_script_verbs[op->verb].primitives != 0 &&
           script->objects[op->object].primitive == BZ_PRIMITIVE_POOL;
}

/* True if the operation creates a task, and so has a number for it. */
static inline bool bz_script_has_child(uint8_t verb) {
    return verb == BZ_VERB_CHILD || verb == BZ_VERB_SPAWN || verb == BZ_VERB_WAIT_FOR ||
           verb == BZ_VERB_CREATE_TASK;
}

/* The object whose lock a condition has; any other object is its own. */
static inline uint32_t bz_script_lock_of(const struct bz_script *script, uint32_t object) {
    uint8_t lock = script->objects[object].lock;
    return lock == 0 ? object : lock - 1u;
}

/* Appends an operation, with every field at its default. There must be room. */
struct bz_script_op *bz_script_add(struct bz_script *script, enum bz_script_verb verb);

/* --- where scripts come from, and go to ------------------------------------------------------- */

struct bz_script_draw {
    enum bz_primitive first; /* of the first object; the variant offers it */
    uint32_t primitives;     /* of the others, as bits; those that are not offered do not count */
    uint32_t objects;        /* 1 to BZ_SCRIPT_OBJECTS_MAX */
    uint32_t tasks;          /* 1 to 8 */
    uint32_t ops;            /* draws for each task, 1 to 10; one may make three operations */
    uint32_t ns;             /* no sleep and no timeout is longer */
    uint32_t more;           /* 1: also operations of version 2, and shutdowns. 2: also conditions
                                that share a lock, gather, wait-for, abort, reset, misuses */
    const struct bz_script_focus *focus; /* NULL: none */
};

/* A focus draws mostly what one primitive, or one construct, is good for, and all sizes. Then a
 * program may deadlock on a correct variant. */
struct bz_script_focus {
    const char *name;
    const char *slots; /* what they may be, see draw.c */
    uint8_t primitive; /* of the first object; BZ_SCRIPT_PRIMITIVES: any */
};
#define BZ_SCRIPT_FOCUSES 16u
extern const struct bz_script_focus bz_script_focuses[BZ_SCRIPT_FOCUSES];
#define BZ_SCRIPT_DRAW_TASKS_MAX 8u
#define BZ_SCRIPT_DRAW_OPS_MAX 10u

/* Draws a script into zeroed memory. It cannot deadlock on a correct variant: see draw.c. Without a
 * variant, every primitive is offered. */
void bz_script_draw(struct bz_script *script, struct bz_judge *judge,
                    const struct bz_variant *variant, const struct bz_script_draw *draw);

/* --- a script that runs ----------------------------------------------------------------------- */

/* `state` is what the set-up of the scenario returned: its script, as it runs, and the instance of
 * an object, which belongs to the variant. */
const struct bz_script *bz_script_of(const void *state);
const void *bz_script_instance(const void *state, uint32_t object);

/* For a run of a script next to another implementation, without a judge. */
struct bz_script_watch {
    /* Called when an operation has returned, by the task that called it, with its result besides
     * the status: -1 is nothing. */
    void (*returned)(void *context, uint32_t op, enum bz_status status, int64_t value);
    /* Abort or reset of a barrier that the variant's table does not have, because it may wait.
     * NULL: none. */
    enum bz_status (*break_barrier)(void *instance, bool is_reset);
    void *context;
};
/* From now on. A watched script may `steal`; in others that does nothing. */
void bz_script_watch(void *state, const struct bz_script_watch *watch);

/* As read and print of struct bz_scenario_file. */
bool bz_script_read(struct bz_script *script, const struct bz_variant *variant, const char *text,
                    size_t length, const char *origin, char *error, size_t error_bytes);
size_t bz_script_print(const struct bz_script *script, char *text, size_t text_bytes);
