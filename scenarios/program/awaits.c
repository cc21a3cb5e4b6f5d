#include "scenarios/program/awaits.h"

#include "primitives/runtime/timer.h"

/* A callback of a script: all have one function, which the world knows for the program's own. */
struct hook {
    struct bz_callback callback;
    void (*run)(struct hook *hook, const struct bz_future *future);
    void *context;
};

static void on_callback(struct bz_callback *callback, struct bz_future *future) {
    struct hook *hook = bz_container_of(callback, struct hook, callback);
    hook->run(hook, future);
}

/* False without memory. */
static bool add_hook(struct bz_world *world, struct bz_future *future, struct hook *hook,
                     void (*run)(struct hook *hook, const struct bz_future *future),
                     void *context) {
    hook->run = run;
    hook->context = context;
    bz_world_own_callback(world, on_callback);
    return bz_future_add_callback(future, &hook->callback, on_callback);
}

static enum bz_status status_of(struct bz_task *task) {
    return (enum bz_status)bz_task_future(task)->status;
}

/* Ends a future as another one has ended; does nothing if it is done. */
static void end_like(struct bz_future *future, const struct bz_future *other) {
    if (other->status == BZ_CANCELLED) {
        bz_future_cancel(future);
    } else if (other->status != BZ_OK) {
        (void)bz_future_set_exception(future, other->value);
    } else {
        (void)bz_future_set_result(future, other->value);
    }
}

/* --- shield ----------------------------------------------------------------------------------- */

struct shield {
    struct bz_future outer;
    struct hook inner_ends;
    struct hook outer_ends;
};

static void inner_ends(struct hook *hook, const struct bz_future *future) {
    struct shield *shield = hook->context;
    end_like(&shield->outer, future);
}

static void outer_ends(struct hook *hook, const struct bz_future *future) {
    struct shield *shield = hook->context;
    (void)future;
    bz_future_remove_callback(&shield->inner_ends.callback);
}

enum bz_status bz_script_shield(struct bz_world *world, struct bz_task *inner) {
    if (bz_task_is_done(inner)) {
        return bz_task_join(inner);
    }
    struct shield *shield = bz_world_alloc(world, sizeof *shield);
    bz_future_init(&shield->outer, world->loop);
    if (!add_hook(world, bz_task_future(inner), &shield->inner_ends, inner_ends, shield) ||
        !add_hook(world, &shield->outer, &shield->outer_ends, outer_ends, shield)) {
        return BZ_NO_MEMORY;
    }
    return bz_future_await(&shield->outer);
}

/* --- gather ----------------------------------------------------------------------------------- */

struct gather {
    struct bz_future outer;
    uint32_t count;
    uint32_t ended;
    bool returns_errors;
    bool is_cancelled; /* a cancel has reached a child */
    struct gathered {
        struct bz_task *task;
        struct hook ends;
    } children[];
};

/* A cancel of the outer future goes to the children. */
static bool cancel_children(struct bz_future *outer) {
    struct gather *gather = bz_container_of(outer, struct gather, outer);
    bool has_reached = false;
    for (uint32_t index = 0; index < gather->count; index++) {
        struct bz_task *task = gather->children[index].task;
        has_reached |= !bz_task_is_done(task) && bz_task_cancel(task);
    }
    gather->is_cancelled |= has_reached;
    return has_reached;
}

static void end_gather(struct gather *gather, enum bz_status status) {
    gather->outer.is_redirected = false;
    gather->outer.on_cancel = NULL;
    end_like(&gather->outer, &(struct bz_future){.status = (uint8_t)status});
}

static void gathered_ends(struct hook *hook, const struct bz_future *future) {
    struct gather *gather = hook->context;
    gather->ended++;
    if (bz_future_is_done(&gather->outer)) {
        return;
    }
    if (future->status != BZ_OK && !gather->returns_errors) {
        end_gather(gather, (enum bz_status)future->status);
    } else if (gather->ended == gather->count) {
        end_gather(gather, gather->is_cancelled ? BZ_CANCELLED : BZ_OK);
    }
}

enum bz_status bz_script_gather(struct bz_world *world, struct bz_task *const *tasks,
                                uint32_t count, bool returns_errors) {
    struct gather *gather =
        bz_world_alloc(world, sizeof *gather + count * sizeof gather->children[0]);
    bz_future_init(&gather->outer, world->loop);
    gather->outer.redirect_cancel = cancel_children;
    gather->outer.is_redirected = true;
    gather->count = count;
    gather->returns_errors = returns_errors;
    for (uint32_t index = 0; index < count; index++) {
        struct gathered *child = &gather->children[index];
        child->task = tasks[index];
        if (!add_hook(world, bz_task_future(child->task), &child->ends, gathered_ends, gather)) {
            return BZ_NO_MEMORY;
        }
    }
    return bz_future_join(&gather->outer);
}

/* --- wait_for --------------------------------------------------------------------------------- */

struct wait_for {
    struct bz_future waiter;
    struct bz_future cancelled; /* what waits after the cancel of the task */
    struct bz_timer timer;
    struct hook ends;
    struct hook has_cancelled;
};

static void release(struct hook *hook, const struct bz_future *future) {
    (void)future;
    (void)bz_future_set_result(hook->context, 0); /* refused if it is done */
}

static void expire(struct bz_timer *timer) {
    struct wait_for *wait = bz_container_of(timer, struct wait_for, timer);
    (void)bz_future_set_result(&wait->waiter, 0);
}

/* The caller can be cancelled meanwhile. BZ_OK: the task has ended. */
static enum bz_status cancel_and_wait(struct bz_world *world, struct wait_for *wait,
                                      struct bz_task *task) {
    bz_future_init(&wait->cancelled, world->loop);
    if (!add_hook(world, bz_task_future(task), &wait->has_cancelled, release, &wait->cancelled)) {
        return BZ_NO_MEMORY;
    }
    bz_task_cancel(task);
    enum bz_status status = bz_future_await(&wait->cancelled);
    bz_future_remove_callback(&wait->has_cancelled.callback);
    return status;
}

static enum bz_status time_out(struct bz_world *world, struct wait_for *wait,
                               struct bz_task *task) {
    enum bz_status status = cancel_and_wait(world, wait, task);
    if (status != BZ_OK) {
        return status;
    }
    return status_of(task) == BZ_CANCELLED ? BZ_TIMED_OUT : status_of(task);
}

static enum bz_status wait_in_time(struct bz_world *world, struct wait_for *wait,
                                   struct bz_task *task) {
    enum bz_status status = bz_future_await(&wait->waiter);
    if (bz_task_is_done(task)) {
        return status_of(task); /* the fault: whether the caller was cancelled or not */
    }
    bz_future_remove_callback(&wait->ends.callback);
    if (status == BZ_OK) {
        return time_out(world, wait, task);
    }
    enum bz_status ended = cancel_and_wait(world, wait, task);
    return ended != BZ_OK ? ended : status;
}

enum bz_status bz_script_wait_for(struct bz_world *world, struct bz_task *task, uint32_t delay_ns) {
    struct wait_for *wait = bz_world_alloc(world, sizeof *wait);
    if (delay_ns == 0) {
        return time_out(world, wait, task);
    }
    bz_future_init(&wait->waiter, world->loop);
    bz_timer_init(&wait->timer, world->loop, expire);
    bz_world_own_timer(world, expire);
    if (!bz_timer_arm(&wait->timer, bz_time_after(bz_loop_now_ns(world->loop), delay_ns)) ||
        !add_hook(world, bz_task_future(task), &wait->ends, release, &wait->waiter)) {
        return BZ_NO_MEMORY;
    }
    enum bz_status status = wait_in_time(world, wait, task);
    bz_timer_disarm(&wait->timer);
    return status;
}
