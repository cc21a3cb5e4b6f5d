#include "primitives/runtime/future.h"

#include "primitives/runtime/internal.h"

void bz_future_init(struct bz_future *future, struct bz_loop *loop) {
    future->loop = loop;
    bz_list_init(&future->callbacks);
    future->on_cancel = NULL;
    future->value = 0;
    future->state = BZ_FUTURE_PENDING;
    future->status = BZ_OK;
    future->is_task = false;
    future->is_redirected = false;
}

static void queue_callback(struct bz_loop *loop, struct bz_callback *callback,
                           enum bz_status status) {
    bz_ready_push(loop, &callback->handle);
    if (callback->handle.role == BZ_ROLE_STEP) {
        struct bz_task *task = bz_container_of(callback, struct bz_task, wake);
        task->waiting_on = NULL; /* the window begins: a cancel marks the task */
        task->resume_status = (uint8_t)status;
        task->is_woken = true;
        bz_report(loop, BZ_EVENT_WAKE, callback->handle.owner, status, 0);
    }
}

__attribute__((hot)) void bz_future_complete(struct bz_future *future, enum bz_future_state state,
                                             enum bz_status status, uint64_t value) {
    BZ_CHECK(!bz_future_is_done(future));
    future->state = (uint8_t)state;
    future->status = (uint8_t)status;
    future->value = value;
    struct bz_list *link;
    while ((link = bz_list_pop_front(&future->callbacks)) != NULL) {
        queue_callback(future->loop, bz_container_of(link, struct bz_callback, link), status);
    }
}

enum bz_status bz_future_set_result(struct bz_future *future, uint64_t value) {
    if (bz_future_is_done(future)) {
        return BZ_INVALID_STATE;
    }
    bz_future_complete(future, BZ_FUTURE_RESULT, BZ_OK, value);
    return BZ_OK;
}

enum bz_status bz_future_set_result_noted(struct bz_future *future, uint64_t value) {
    future->loop->has_noted |= future->loop->current != NULL;
    return bz_future_set_result(future, value);
}

enum bz_status bz_future_set_result_in_place(struct bz_future *future, uint64_t value) {
    if (bz_future_is_done(future)) {
        return BZ_INVALID_STATE;
    }
    struct bz_loop *loop = future->loop;
    struct bz_task *outer = loop->current;
    bz_future_complete(future, BZ_FUTURE_RESULT, BZ_OK, value);
    struct bz_handle *handle = bz_loop_take(loop, loop->ready_count - 1);
    BZ_CHECK(handle->role == BZ_ROLE_STEP); /* a task awaits it, and nothing else */
    if (outer != NULL) {
        outer->wake.handle.nth++;
        bz_report(loop, BZ_EVENT_SUSPEND, outer->actor.id, BZ_OK, BZ_WAIT_INSIDE);
    }
    if (loop->observer != NULL && loop->observer->step_inside != NULL) {
        loop->observer->step_inside(loop->observer, handle);
    } else {
        bz_driver_step_inside(loop, handle);
    }
    if (outer != NULL) {
        bz_report(loop, BZ_EVENT_RESUME, outer->actor.id, BZ_OK, outer->wake.handle.nth);
    }
    return BZ_OK;
}

enum bz_status bz_future_set_exception(struct bz_future *future, uint64_t value) {
    if (bz_future_is_done(future)) {
        return BZ_INVALID_STATE;
    }
    bz_future_complete(future, BZ_FUTURE_EXCEPTION, BZ_FAILED, value);
    return BZ_OK;
}

bool bz_future_cancel(struct bz_future *future) {
    if (future->is_task) {
        return bz_task_cancel(bz_container_of(future, struct bz_task, done));
    }
    if (bz_future_is_done(future)) {
        return false;
    }
    if (future->is_redirected) {
        return future->redirect_cancel(future);
    }
    if (future->on_cancel != NULL) {
        future->on_cancel(future);
    }
    bz_future_complete(future, BZ_FUTURE_CANCELLED, BZ_CANCELLED, 0);
    return true;
}

void bz_callback_run(struct bz_handle *handle) {
    struct bz_callback *callback = bz_container_of(handle, struct bz_callback, handle);
    callback->fn(callback, callback->future);
}

bool bz_future_add_callback(struct bz_future *future, struct bz_callback *callback,
                            void (*fn)(struct bz_callback *callback, struct bz_future *future)) {
    struct bz_loop *loop = future->loop;
    if (!bz_ready_promise(loop)) {
        return false;
    }
    bz_handle_init(&callback->handle, bz_loop_actor(loop), BZ_ROLE_CALLBACK, bz_callback_run);
    callback->future = future;
    callback->fn = fn;
    callback->link = (struct bz_list){NULL, NULL};
    if (bz_future_is_done(future)) {
        queue_callback(loop, callback, (enum bz_status)future->status);
    } else {
        bz_list_push_back(&future->callbacks, &callback->link);
    }
    return true;
}

bool bz_future_remove_callback(struct bz_callback *callback) {
    if (!bz_list_is_linked(&callback->link)) {
        return false;
    }
    bz_list_remove(&callback->link);
    callback->future->loop->ready_promised--;
    return true;
}

static inline struct bz_task *begin_await(struct bz_future *future, enum bz_wait wait) {
    struct bz_loop *loop = future->loop;
    struct bz_task *task = loop->current;
    BZ_CHECK(task != NULL);
    task->wake.handle.nth++;
    bz_list_push_back(&future->callbacks, &task->wake.link);
    task->waiting_on = future;
    task->is_woken = false;
    bz_report(loop, BZ_EVENT_SUSPEND, task->actor.id, BZ_OK, wait);
    return task;
}

enum bz_status bz_future_await_as(struct bz_future *future, enum bz_wait wait) {
    if (bz_future_is_done(future)) {
        return (enum bz_status)future->status;
    }
    struct bz_task *task = begin_await(future, wait);
    /* As in asyncio, the task suspends first; then the undelivered request cancels its future. */
    if (__builtin_expect(task->must_cancel, 0) && bz_task_cancel_wait(task)) {
        task->must_cancel = false;
    }
    return bz_task_suspend(future->loop, task);
}

enum bz_status bz_future_await(struct bz_future *future) {
    return bz_future_await_as(future, BZ_WAIT_FUTURE);
}

enum bz_status bz_future_await_posted(struct bz_future *future) {
    struct bz_task *task = begin_await(future, BZ_WAIT_FUTURE);
    bz_future_complete(future, BZ_FUTURE_RESULT, BZ_OK, 0);
    return bz_task_suspend(future->loop, task);
}

enum bz_status bz_future_await_asked(struct bz_future *future) {
    struct bz_task *task = begin_await(future, BZ_WAIT_FUTURE);
    if (!task->must_cancel) {
        bz_task_report_waits_on(task);
    } else if (bz_task_cancel_wait(task)) {
        task->must_cancel = false;
    }
    return bz_task_suspend(future->loop, task);
}

enum bz_status bz_future_join(struct bz_future *future) {
    return bz_future_await_as(future, BZ_WAIT_JOIN);
}
