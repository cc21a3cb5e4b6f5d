/* Shared by the parts of the loop. Private to loop.c, ready.c and steps.c. */
#ifndef BZ_PYTHON_LOOP_H
#define BZ_PYTHON_LOOP_H

#include "tools/python/native/native.h"

/* --- ready.c ---------------------------------------------------------------------------------- */

/* At the end of the queue. False with an exception. */
bool bz_py_ready_push(struct bz_py_loop *loop, struct bz_py_handle *handle);
/* The handle leaves the queue; the caller owns it. */
struct bz_py_handle *bz_py_ready_take(struct bz_py_loop *loop, uint32_t index);
/* Handles that were cancelled in the queue do nothing: they are no steps. */
void bz_py_ready_drop_cancelled(struct bz_py_loop *loop);
/* The first timer, which at the begin of a turn is none that was cancelled; NULL: none. */
struct bz_py_handle *bz_py_ready_timer(const struct bz_py_loop *loop);
/* The timers whose time has come; `is_sure`: the first one has. False with an exception. */
bool bz_py_ready_add_due(struct bz_py_loop *loop, bool is_sure);
/* Order fifo, at the begin of a turn: what has arrived from outside. `is_idle`: nothing else can
 * run, so something arrives. False with an exception. */
bool bz_py_ready_add_outside(struct bz_py_loop *loop, bool is_idle);

/* call_soon(callback, *args, context=None),
 * _call_at_ns(when_ns, when, callback, *args, context=None): in nanoseconds, and as the program has
 * it. */
PyObject *bz_py_call_soon(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
/* _call_outside(callback, *args, context=None): an event from outside of the loop, such as that
 * bytes have arrived. It comes at a moment that the strategy chooses. */
PyObject *bz_py_call_outside(PyObject *self, PyObject *const *args, Py_ssize_t count,
                             PyObject *names);
PyObject *bz_py_call_at_ns(PyObject *self, PyObject *const *args, Py_ssize_t count,
                           PyObject *names);

/* --- steps.c ---------------------------------------------------------------------------------- */

/* The future that the task waits for is done. */
void bz_py_loop_wake(struct bz_py_loop *loop, struct bz_py_task *task, enum bz_status status);

/* --- loop.c ----------------------------------------------------------------------------------- */

/* For one more task, and for the counts of its handles and those of the loop. False with an
 * exception. */
bool bz_py_loop_has_room(struct bz_py_loop *root);
/* False with an exception. */
bool bz_py_ready_init(void);
bool bz_py_steps_init(void);

#endif
