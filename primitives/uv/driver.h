/* A driver that runs a loop on libuv: the wall clock, I/O, and wake-ups from other threads.
 *
 * The tasks, futures and primitives are those of runtime/ and sync/, unchanged. Tasks run in turns
 * inside uv_run(): between two polls for I/O the driver delivers the operations that completed,
 * sets the clock, and runs one turn, first in, first out (runtime/driver.h). With nothing ready,
 * libuv sleeps until the next timer, I/O, or a wake-up from another thread; it never polls in vain.
 *
 *     uv_loop_t uv;
 *     uv_loop_init(&uv);
 *     struct bz_loop *loop = bz_loop_new(NULL);
 *     struct bz_uv *driver;
 *     int error = bz_uv_new(&driver, loop, &uv);           0, or a libuv error
 *     ... bz_task_spawn(loop, ...) ...
 *     status = bz_uv_run(driver);
 *     bz_uv_close(driver);                                 frees it in the next uv_run()
 *     uv_run(&uv, UV_RUN_DEFAULT);
 *     uv_loop_close(&uv);
 *     bz_loop_destroy(loop);                               after the driver is gone
 * <uv.h> needs POSIX: compile with -std=gnu11, or define _XOPEN_SOURCE as 600 under -std=c11.
 *
 * Clock: bz_loop_now_ns() is uv_hrtime() from the driver's start, read once for each turn. A timer
 * never fires early; libuv sleeps in milliseconds, so it fires up to 1 ms late, and later on a busy
 * machine.
 *
 * Threads: the uv_loop_t, the loop and everything on it belong to one thread. bz_uv_op_post() is
 * the only call that other threads may make.
 *
 * Where to call libuv: tasks may call it, except uv_run(). Their stacks are small, so a callback
 * that libuv runs inside such a call must be as well.
 */
#ifndef BZ_UV_DRIVER_H
#define BZ_UV_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/status.h"

BZ_BEGIN_DECLS

struct bz_uv;

/* Attaches a driver to both loops, which must outlive it. 0, or a libuv error: UV_ENOMEM or what
 * opening the wake-up gave (UV_EMFILE, ...). After an error there is no driver. */
int bz_uv_new(struct bz_uv **driver, struct bz_loop *loop, uv_loop_t *uv);

/* Runs until no task is ready, no timer is armed, no operation is open and no handle of the
 * caller's is active, or until uv_stop(). May be called again. Not from a task or a callback of
 * libuv.
 * BZ_OK             every task has ended
 * BZ_INVALID_STATE  tasks remain: they are deadlocked, or uv_stop() was called */
enum bz_status bz_uv_run(struct bz_uv *driver) BZ_MUST_USE;

/* A program that calls uv_run() itself calls this after it has spawned tasks, or has completed or
 * cancelled anything, outside of a turn. bz_uv_run() begins with it. The loop's thread only. */
void bz_uv_wake(struct bz_uv *driver);

/* Closes the driver, which must not be used again; its memory is freed by the uv_run() that
 * follows. No operation may be open: end the tasks first, for instance by a cancel. Not from a
 * task. */
void bz_uv_close(struct bz_uv *driver);

struct bz_loop *bz_uv_loop(const struct bz_uv *driver); /* the loop of the tasks */
uv_loop_t *bz_uv_uv(const struct bz_uv *driver);        /* libuv's */

/* The number of operations that are begun and not over. */
uint32_t bz_uv_open_ops(const struct bz_uv *driver);

/* --- operations: what a task waits for outside of the loop --------------------------------------
 *
 * An operation is begun, handed to libuv or to a thread, completed there once, and awaited by the
 * task. An open operation keeps uv_run() alive. For instance, sleeping in a thread of libuv's pool:
 *
 *     struct nap { struct bz_uv_op op; uv_work_t work; };
 *     static void after(uv_work_t *work, int status) {
 *         bz_uv_op_complete(&bz_container_of(work, struct nap, work)->op, status);
 *     }
 *     static void on_cancel(struct bz_uv_op *op) {           optional: asks it to hurry
 *         uv_cancel((uv_req_t *)&bz_container_of(op, struct nap, op)->work);
 *     }
 *     struct nap nap = {.op = {.on_cancel = on_cancel}};
 *     bz_uv_op_begin(&nap.op, driver);
 *     int error = uv_queue_work(uv, &nap.work, work, after);
 *     if (error != 0) {
 *         bz_uv_op_complete(&nap.op, error);
 *     }
 *     status = bz_uv_op_await(&nap.op);
 *
 * Cancellation: a cancelled task must not leave while libuv or a thread uses the operation on its
 * stack. So the await calls on_cancel once, if there is one, and then continues waiting for the
 * completion, unless `withdraws` says that the operation can be taken back just so. Requests that
 * arrive meanwhile are delivered by the same BZ_CANCELLED.
 */
struct bz_uv_op {
    /* Set before the begin; zero where not needed. */
    void (*on_cancel)(struct bz_uv_op *op); /* in a step of the task; must not await */
    bool withdraws;   /* a cancel takes it back: after on_cancel no task may complete it */
    void *data;       /* for the caller: a buffer that the outside fills, for example */
    size_t data_size; /* bytes there */

    /* Results. */
    bool is_done;  /* completed; after BZ_CANCELLED the caller owns the result */
    int64_t value; /* what it was completed with; negative: a libuv error, by convention */

    /* Private. */
    struct bz_uv *driver;
    struct bz_future future;
    struct bz_list link;
};

/* Begins an operation in the caller's storage, which must stay in place until its await returned.
 * In a step of a task, or before bz_uv_run(). O(1); allocates nothing. */
void bz_uv_op_begin(struct bz_uv_op *op, struct bz_uv *driver);

/* Completes an open operation, once. The task resumes in the next turn: this only queues it, so it
 * may be called from anywhere on the loop's thread, a task or a callback of libuv. */
void bz_uv_op_complete(struct bz_uv_op *op, int64_t value);

/* The same from any thread. The caller must not touch the operation afterwards. Not for operations
 * that withdraw: a withdrawal would race with the post. */
void bz_uv_op_post(struct bz_uv_op *op, int64_t value);

/* Waits for the completion; exactly one await for each begin. BZ_OK: op->value is the result.
 * BZ_CANCELLED: the task was cancelled, and the operation is over, with a result if op->is_done. */
enum bz_status bz_uv_op_await(struct bz_uv_op *op) BZ_MUST_USE;

/* The same where the wait is a cleanup: a cancel does not call on_cancel. */
enum bz_status bz_uv_op_settle(struct bz_uv_op *op) BZ_MUST_USE;

BZ_END_DECLS

#endif
