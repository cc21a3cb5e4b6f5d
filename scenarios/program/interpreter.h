/* Shared by the parts of the interpreter: operations.c does what one operation says, interpreter.c
 * runs lists of operations, program.c sets up and ends. Private to them. */
#pragma once

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/program/script.h"
#include "sim/native/sut.h"

struct object {
    union {
        struct bz_sut_permits permits;
        struct bz_sut_event event;
        struct bz_sut_condition condition;
        struct bz_sut_barrier barrier;
        struct bz_sut_queue queue;
        struct bz_sut_pool pool;
    };
};

struct holding {
    uint8_t object;
    uint8_t key;
    uint8_t depth; /* of the timeout that it was acquired in; those that have ended do not count */
};

/* A task, or a child of a group, which runs a part of the script. */
struct runner {
    struct interpreter *interpreter;
    uint32_t first; /* of its operations */
    uint32_t end;
    uint32_t depth;
    uint32_t holding_count;
    struct holding holdings[BZ_SCRIPT_TASK_OPS_MAX];
    uint32_t got[BZ_SCRIPT_OBJECTS_MAX]; /* items for which it has not said done */
    uint32_t root;                       /* index of the task of the script that it belongs to */
    int64_t value;                       /* what the last operation says; -1: nothing */
    struct bz_timeout *timeout;          /* the innermost `timeout` that it is in; NULL */
    struct bz_group *group; /* the innermost whose body it runs, or whose child it is; NULL */
};

struct interpreter {
    struct bz_world *world;
    struct bz_script *script;
    struct object *objects;
    struct runner *children; /* by number - 1 */
    struct bz_task *tasks[BZ_SCRIPT_TASKS_MAX];
    uint32_t held[BZ_SCRIPT_OBJECTS_MAX]; /* how many runners hold it */
    uint32_t getting;                    /* objects that a runner waits for or gets from, as bits */
    uint32_t putting;                    /* the same of puts */
    const struct bz_script_watch *watch; /* NULL: no watcher */
    bool has_stolen; /* the judge's view of who holds what is not right any more */
};

/* An operation on an object or a task; what it says goes into runner->value. */
enum bz_status bz_script_use(struct runner *runner, const struct bz_script_op *op);

/* Gives back what was acquired inside a timeout of at least this depth. */
void bz_script_release_inside(struct runner *runner, uint32_t depth);

/* The body of a task: its operations, then gives back what it holds. `runner` is a struct runner.
 */
enum bz_status bz_script_run(void *runner);
