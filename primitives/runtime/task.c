#include "primitives/runtime/task.h"

#include <stdio.h>

#include "primitives/runtime/internal.h"

/* Asyncio's rules for a coroutine that returns. */
static void task_finish(struct bz_loop *loop, struct bz_task *task, enum bz_status status) {
    if (status == BZ_OK && task->must_cancel) {
        status = BZ_CANCELLED; /* the request was not delivered; the result is dropped */
    }
    task->must_cancel = false;
    task->is_woken = false;
    loop->live_tasks--;
    loop->ready_promised--;
    bz_report(loop, BZ_EVENT_EXIT, task->actor.id, status, 0);
    task->done.is_task = false; /* from now on a plain future */
    if (status == BZ_OK) {
        bz_future_complete(&task->done, BZ_FUTURE_RESULT, BZ_OK, 0);
    } else if (status == BZ_CANCELLED) {
        bz_future_complete(&task->done, BZ_FUTURE_CANCELLED, BZ_CANCELLED, 0);
    } else {
        bz_future_complete(&task->done, BZ_FUTURE_EXCEPTION, status, (uint64_t)status);
    }
}

__attribute__((hot)) static void task_main(struct bz_coro *from, struct bz_coro *self) {
    bz_coro_arrive(from);
    struct bz_task *task = bz_container_of(self, struct bz_task, coro);
    struct bz_loop *loop = task->done.loop;
    task_finish(loop, task, task->fn(task->arg));
    bz_coro_exit(self, &loop->driver_coro);
}

void bz_task_end_unstarted(struct bz_loop *loop, struct bz_task *task) {
    task->is_started = true;
    task_finish(loop, task, BZ_CANCELLED);
}

void bz_task_reap(struct bz_loop *loop, struct bz_task *task) {
    bz_stack_return(loop->stacks, task->stack);
    task->stack = NULL;
    if (task->is_detached) {
        bz_task_free(task);
    }
}

struct bz_task *bz_task_spawn(struct bz_loop *loop, const char *name, uint32_t index,
                              bz_task_fn *fn, void *arg) {
    if (loop->tasks_created >= loop->tasks_max || !bz_ready_reserve(loop, 1)) {
        return NULL;
    }
    struct bz_task *task = bz_mem_alloc(loop->mem, sizeof *task);
    if (task == NULL) {
        return NULL;
    }
    task->stack = bz_stack_take(loop->stacks);
    if (task->stack == NULL) {
        bz_mem_free(loop->mem, task, sizeof *task);
        return NULL;
    }
    bz_future_init(&task->done, loop);
    task->done.is_task = true;
    task->fn = fn;
    task->arg = arg;
    task->name_base = name;
    task->name_index = index;
    task->actor.id = ++loop->tasks_created;
    task->wake.handle = (struct bz_handle){
        .owner = task->actor.id, .nth = 1, .role = BZ_ROLE_STEP, .is_ready = false};
    bz_coro_init(&task->coro, task->stack, task_main);
    loop->live_tasks++;
    loop->ready_promised++;
    bz_list_push_back(&loop->tasks, &task->siblings);
    bz_report(loop, BZ_EVENT_SPAWN, task->actor.id, BZ_OK, bz_loop_actor(loop)->id);
    bz_ready_push(loop, &task->wake.handle);
    return task;
}

void bz_task_free(struct bz_task *task) {
    BZ_CHECK(bz_task_is_done(task) && task->stack == NULL);
    struct bz_loop *loop = task->done.loop;
    bz_report(loop, BZ_EVENT_FREE, task->actor.id, BZ_OK, 0);
    bz_list_remove(&task->siblings);
    bz_mem_free(loop->mem, task, sizeof *task);
}

void bz_task_detach(struct bz_task *task) {
    task->is_detached = true;
    if (bz_task_is_done(task) && task->stack == NULL) {
        bz_task_free(task);
    }
}

/* The result of __cxa_get_globals(). The exceptions and what the unwinder knows are elsewhere: in
 * memory of their own, and on the stack. */
struct exceptions {
    void *caught;          /* the newest */
    unsigned int uncaught; /* on their way to a handler */
#ifdef __arm__
    void *propagating;
#endif
};

/* Those of the running task, which the thread has no more. */
static struct exceptions take_exceptions(const struct bz_loop *loop) {
    struct exceptions none = {.caught = NULL};
    struct exceptions *of_thread = loop->exceptions.of_thread();
    struct exceptions own = *of_thread;
    *of_thread = none;
    return own;
}

static void return_exceptions(const struct bz_loop *loop, struct exceptions own) {
    *(struct exceptions *)loop->exceptions.of_thread() = own;
    if (loop->exceptions.mem != NULL) {
        *loop->exceptions.mem = loop->mem; /* another task may have had another loop */
    }
}

__attribute__((noinline, cold)) enum bz_status bz_task_suspend_exceptions(struct bz_loop *loop,
                                                                          struct bz_task *task) {
    struct bz_exceptions *kept = &loop->exceptions;
    struct exceptions own = take_exceptions(loop);
    kept->are_outside |= (own.caught != NULL && !bz_mem_has(loop->mem, own.caught)) ||
                         (own.uncaught > 0 && kept->mem == NULL);
    bz_coro_switch(&task->coro, &loop->driver_coro);
    return_exceptions(loop, own);
    return (enum bz_status)task->resume_status;
}

/* The task suspends to here. */
static void step_inside(struct bz_loop *loop, struct bz_handle *handle) {
    struct bz_task *outer = loop->current;
    struct bz_coro driver = loop->driver_coro;
    loop->current = NULL;
    bz_loop_step_task(loop, bz_container_of(handle, struct bz_task, wake.handle));
    loop->current = outer;
    loop->driver_coro = driver;
}

void bz_driver_step_inside(struct bz_loop *loop, struct bz_handle *handle) {
    if (loop->exceptions.of_thread == NULL) {
        step_inside(loop, handle);
        return;
    }
    struct exceptions own = take_exceptions(loop);
    step_inside(loop, handle);
    return_exceptions(loop, own);
}

/* Reports and counts one request. False if the task is done. */
static bool request_cancel(struct bz_task *task) {
    struct bz_loop *loop = task->done.loop;
    bool is_accepted = !bz_task_is_done(task);
    bz_report(loop, BZ_EVENT_CANCEL, task->actor.id, is_accepted ? BZ_OK : BZ_INVALID_STATE,
              bz_loop_actor(loop)->id);
    task->cancel_requests += is_accepted;
    return is_accepted;
}

void bz_task_report_waits_on(struct bz_task *task) {
    struct bz_observer *observer = task->done.loop->observer;
    if (observer != NULL && observer->waits_on != NULL) {
        observer->waits_on(observer, task->actor.id);
    }
}

bool bz_task_cancel_wait(struct bz_task *task) {
    bool is_cancelled = bz_future_cancel(task->waiting_on);
    if (!is_cancelled) {
        bz_task_report_waits_on(task);
    }
    return is_cancelled;
}

/* Follows a chain of joins in a loop, because recursion could exhaust the caller's stack. */
bool bz_task_cancel(struct bz_task *task) {
    if (!request_cancel(task)) {
        return false;
    }
    uint32_t hops_left = task->done.loop->live_tasks;
    while (task->waiting_on != NULL && task->waiting_on->is_task) {
        BZ_CHECK(hops_left-- > 0); /* a circle of joins is a deadlock */
        task = bz_container_of(task->waiting_on, struct bz_task, done);
        bool is_accepted = request_cancel(task);
        BZ_CHECK(is_accepted); /* no task waits for a task that is done */
    }
    if (task->waiting_on == NULL || !bz_task_cancel_wait(task)) {
        task->must_cancel = true;
    }
    return true;
}

uint32_t bz_task_uncancel(struct bz_task *task) {
    struct bz_loop *loop = task->done.loop;
    if (task->cancel_requests > 0) {
        task->cancel_requests--;
        if (task->cancel_requests == 0 && loop->rules->uncancel == BZ_UNCANCEL_CLEARS) {
            task->must_cancel = false;
        }
    }
    bool stays = task->cancel_requests == 0 && task->must_cancel;
    bz_report(loop, BZ_EVENT_UNCANCEL, task->actor.id, stays ? BZ_CANCELLED : BZ_OK,
              task->cancel_requests);
    return task->cancel_requests;
}

uint32_t bz_task_cancelling(const struct bz_task *task) {
    return task->cancel_requests;
}

enum bz_status bz_task_join(struct bz_task *task) {
    if (task == task->done.loop->current) {
        return BZ_INVALID_STATE;
    }
    return bz_future_await_as(&task->done, BZ_WAIT_JOIN);
}

__attribute__((hot)) enum bz_status bz_yield(struct bz_loop *loop) {
    struct bz_task *task = loop->current;
    BZ_CHECK(task != NULL);
    task->wake.handle.nth++;
    task->resume_status = BZ_OK;
    task->is_woken = false;
    bz_ready_push(loop, &task->wake.handle);
    bz_report(loop, BZ_EVENT_SUSPEND, task->actor.id, BZ_OK, BZ_WAIT_YIELD);
    return bz_task_suspend(loop, task);
}

bool bz_task_is_done(const struct bz_task *task) {
    return bz_future_is_done(&task->done);
}

uint32_t bz_task_id(const struct bz_task *task) {
    task->done.loop->has_told_number = true;
    return task->actor.id;
}

struct bz_future *bz_task_future(struct bz_task *task) {
    return &task->done;
}

const char *bz_task_name(const struct bz_task *task, char *buffer, size_t size_bytes) {
    task->done.loop->has_told_number = true;
    if (task->name_index == 0) {
        snprintf(buffer, size_bytes, "%s", task->name_base);
    } else {
        snprintf(buffer, size_bytes, "%s-%u", task->name_base, task->name_index);
    }
    return buffer;
}
