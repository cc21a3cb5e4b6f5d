/* The loop and the task under which Python code runs as a source of events (sim/judge/judge.h).
 *
 *     Loop    the ready queue and the timers of an asyncio loop, on virtual time. A class in Python
 *             derives from it and adds the rest of asyncio.AbstractEventLoop.
 *     Task    a subclass of the interpreter's own C Task: every step is the interpreter's. It has a
 *             number, and tells the judge of cancels before they take effect.
 *     Handle  what call_soon() and call_at() return: one entry of the ready queue or of the timers.
 *
 * A handle is a step of a task, a timer, or a callback. It is named as those of the C runtime are:
 * owner, role, number. So tapes, tokens and traces mean the same for both.
 *
 * Everything here runs in one thread, with the interpreter's lock. */
#ifndef BZ_PYTHON_NATIVE_H
#define BZ_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "sim/judge/judge.h"

#if PY_VERSION_HEX < 0x030a0000
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value) {
    Py_XINCREF(value);
    return PyModule_AddObject(module, name, value);
}
#endif

struct bz_py_handle {
    PyObject_HEAD PyObject *callback; /* NULL: it was cancelled, or has run */
    PyObject *args;                   /* a tuple; NULL: none */
    PyObject *context;
    struct bz_py_loop *loop; /* borrowed: a loop outlives its queue; a timer's, while it is armed */
    struct bz_ready name;
    uint64_t when_ns;
    bool is_timer;
    bool is_cancelled;
    bool is_wakeup; /* of a task that waits for a future, which is args[0] */
};

/* The counts of a task's handles; 0 stands for the loop. */
struct bz_py_owner {
    uint32_t timers;
    uint32_t callbacks;
    const void *inside; /* the watched object in whose method it is; NULL: none */
};

struct bz_py_loop {
    PyObject_HEAD PyObject *dict;
    PyObject *weakrefs;
    struct bz_judge *judge; /* NULL: the run is over */
    struct bz_py_handle **ready;
    struct bz_ready *names; /* of `ready` */
    uint32_t count;
    uint32_t capacity;
    uint32_t turn_left;         /* order fifo: of `ready`, those of this turn */
    struct bz_py_handle **heap; /* as heapq: the stock loop's order of equal times */
    uint32_t heap_count;
    uint32_t heap_capacity;
    uint64_t now_ns;
    PyObject **tasks; /* by number - 1; NULL: done */
    struct bz_py_owner *owners;
    uint32_t task_count;
    uint32_t task_capacity;
    PyObject *sleep; /* the future of the last asyncio.sleep() */
    uint32_t woken;  /* the running task's wait was over before it began: tell after the suspend */
    enum bz_status woken_status;
    bool is_outside_past;
    bool is_over;
};

/* The tail of a Task, behind what the interpreter has in it. */
struct bz_py_task {
    struct bz_py_loop *loop; /* borrowed; NULL: it is done, or the run is over */
    uint32_t number;         /* the judge's */
    uint32_t steps;          /* begun so far */
    bool is_waiting;         /* suspended on a future that is not done */
};

extern PyTypeObject *bz_py_loop_type;
extern PyTypeObject *bz_py_task_type;
extern PyTypeObject *bz_py_handle_type;

/* Of a Task, for which bz_py_is_task() is true. */
struct bz_py_task *bz_py_task_of(PyObject *task);
static inline bool bz_py_is_task(PyObject *object) {
    return PyObject_TypeCheck(object, bz_py_task_type);
}

/* A copy of a name that lasts for ever, in this process and in those that share the judge. NULL
 * without memory. */
const char *bz_py_name(PyObject *name);

/* False with an exception. */
bool bz_py_names_init(void);
bool bz_py_task_init(PyObject *module);
bool bz_py_loop_init(PyObject *module);
bool bz_py_objects_init(PyObject *module);
bool bz_py_scopes_init(PyObject *module);

/* Runs until nothing can run, or the run has ended. False with an exception that no task caught,
 * such as KeyboardInterrupt. */
bool bz_py_loop_drive(struct bz_py_loop *loop, bool is_fifo);

/* Ends the run: no task, handle or timer of the loop does anything any more. */
void bz_py_loop_end(struct bz_py_loop *loop);

bool bz_py_callback_is_ready(const struct bz_py_loop *loop);

/* Registers a task that begins: its number. 0 with an exception. */
uint32_t bz_py_loop_spawn(struct bz_py_loop *loop, PyObject *task, PyObject *name);

#endif
