#include "primitives/uv/driver.h"

#include <stdlib.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/driver.h"
#include "primitives/runtime/timer.h"

#define NS_PER_MS UINT64_C(1000000)

struct bz_uv {
    struct bz_loop *loop;
    uv_loop_t *uv;
    uv_prepare_t prepare; /* runs turns; does not keep uv_run() alive */
    uv_idle_t idle;       /* active while a turn is due: libuv does not sleep */
    uv_timer_t timer;     /* the loop's next deadline */
    uv_async_t async;     /* bz_uv_op_post(); keeps uv_run() alive while operations are open */
    uint64_t origin_ns;   /* of the loop's clock, on uv_hrtime() */
    uint64_t armed_ms;    /* when the timer is due, on uv_now() */
    uint32_t ops_open;
    unsigned handles_open;  /* after bz_uv_close() */
    bool is_running;        /* in bz_uv_run() */
    struct bz_list arrived; /* operations that were completed, until the next turn */
    uv_mutex_t mutex;       /* guards `posted` */
    struct bz_list posted;  /* the same, from other threads */
};

/* --- turns ------------------------------------------------------------------------------------ */

static void on_idle(uv_idle_t *idle) {
    (void)idle; /* being active is its work: uv_run() does not sleep, and does not end */
}

void bz_uv_wake(struct bz_uv *driver) {
    uv_idle_start(&driver->idle, on_idle); /* does nothing if active */
}

static void on_timer(uv_timer_t *timer) {
    bz_uv_wake(timer->data);
}

/* Has libuv sleep until the loop has something to do. libuv would sleep too long by the length of
 * the turn if its clock still showed the beginning of the turn. */
static void sleep_until(struct bz_uv *driver, uint64_t deadline_ns) {
    uv_idle_stop(&driver->idle);
    if (deadline_ns == BZ_TIME_NEVER) {
        uv_timer_stop(&driver->timer);
        return;
    }
    uint64_t when_ns = bz_time_after(driver->origin_ns, deadline_ns);
    uint64_t when_ms = when_ns / NS_PER_MS + (when_ns % NS_PER_MS != 0);
    uv_update_time(driver->uv);
    if (uv_is_active((uv_handle_t *)&driver->timer) && driver->armed_ms == when_ms) {
        return;
    }
    uint64_t now_ms = uv_now(driver->uv);
    driver->armed_ms = when_ms;
    uv_timer_start(&driver->timer, on_timer, when_ms > now_ms ? when_ms - now_ms : 0, 0);
}

static void run_turn(struct bz_loop *loop, uint64_t now_ns) {
    bz_driver_set_now(loop, now_ns);
    bz_driver_begin_turn(loop);
    while (bz_driver_turn_left(loop) > 0) {
        bz_driver_step(loop, bz_driver_take(loop, 0));
    }
}

static void op_over(struct bz_uv *driver) {
    BZ_CHECK(driver->ops_open > 0);
    if (--driver->ops_open == 0) {
        uv_unref((uv_handle_t *)&driver->async);
    }
}

/* Ends the operations that were completed; their tasks resume in the next turn. */
static void deliver_arrived(struct bz_uv *driver) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(&driver->arrived)) != NULL) {
        struct bz_uv_op *op = bz_container_of(link, struct bz_uv_op, link);
        BZ_CHECK(!op->is_done);
        op->is_done = true;
        op_over(driver);
        (void)bz_future_set_result(&op->future, 0); /* refused if a cancel was first */
    }
}

static void on_prepare(uv_prepare_t *prepare) {
    struct bz_uv *driver = prepare->data;
    struct bz_loop *loop = driver->loop;
    uint64_t now_ns = uv_hrtime() - driver->origin_ns;
    bool is_due = !bz_list_is_empty(&driver->arrived) || bz_driver_ready_count(loop) > 0 ||
                  bz_driver_next_deadline_ns(loop) <= now_ns;
    if (is_due) {
        deliver_arrived(driver);
        run_turn(loop, now_ns);
    }
    if (bz_driver_ready_count(loop) > 0 || !bz_list_is_empty(&driver->arrived)) {
        bz_uv_wake(driver);
    } else {
        sleep_until(driver, bz_driver_next_deadline_ns(loop));
    }
}

enum bz_status bz_uv_run(struct bz_uv *driver) {
    BZ_CHECK(!driver->is_running && bz_loop_current(driver->loop) == NULL);
    driver->is_running = true;
    bz_uv_wake(driver);
    uv_run(driver->uv, UV_RUN_DEFAULT);
    driver->is_running = false;
    return bz_loop_live_tasks(driver->loop) == 0 ? BZ_OK : BZ_INVALID_STATE;
}

/* --- operations ------------------------------------------------------------------------------- */

void bz_uv_op_begin(struct bz_uv_op *op, struct bz_uv *driver) {
    op->driver = driver;
    op->is_done = false;
    op->value = 0;
    op->link = (struct bz_list){NULL, NULL};
    bz_future_init(&op->future, driver->loop);
    if (driver->ops_open++ == 0) {
        uv_ref((uv_handle_t *)&driver->async);
    }
}

void bz_uv_op_complete(struct bz_uv_op *op, int64_t value) {
    struct bz_uv *driver = op->driver;
    BZ_CHECK(!op->is_done && !bz_list_is_linked(&op->link));
    op->value = value;
    bz_list_push_back(&driver->arrived, &op->link);
    bz_uv_wake(driver);
}

/* The wake-up is sent under the lock: once the loop's thread sees the operation, this thread no
 * longer needs the driver. */
void bz_uv_op_post(struct bz_uv_op *op, int64_t value) {
    struct bz_uv *driver = op->driver;
    uv_mutex_lock(&driver->mutex);
    BZ_CHECK(!op->withdraws && !bz_list_is_linked(&op->link));
    op->value = value;
    bz_list_push_back(&driver->posted, &op->link);
    BZ_CHECK(uv_async_send(&driver->async) == 0);
    uv_mutex_unlock(&driver->mutex);
}

static void on_async(uv_async_t *async) {
    struct bz_uv *driver = async->data;
    struct bz_list *link;
    uv_mutex_lock(&driver->mutex);
    while ((link = bz_list_pop_front(&driver->posted)) != NULL) {
        bz_list_push_back(&driver->arrived, link);
    }
    uv_mutex_unlock(&driver->mutex);
    bz_uv_wake(driver);
}

/* A cancelled wait ends its future, so each wait has a new one. */
static enum bz_status await(struct bz_uv_op *op, bool is_cleanup) {
    enum bz_status result = BZ_OK;
    while (!op->is_done) {
        if (bz_future_is_done(&op->future)) {
            bz_future_init(&op->future, op->driver->loop);
        }
        if (bz_future_await(&op->future) == BZ_OK) {
            continue;
        }
        bool is_first = result == BZ_OK;
        result = BZ_CANCELLED;
        if (op->is_done || is_cleanup || !is_first) {
            continue;
        }
        if (op->on_cancel != NULL) {
            op->on_cancel(op);
        }
        if (op->withdraws) {
            if (bz_list_is_linked(&op->link)) {
                bz_list_remove(&op->link); /* completed, and not yet delivered */
            }
            op_over(op->driver);
            break;
        }
    }
    return result;
}

enum bz_status bz_uv_op_await(struct bz_uv_op *op) {
    return await(op, false);
}

enum bz_status bz_uv_op_settle(struct bz_uv_op *op) {
    return await(op, true);
}

/* --- from beginning to end -------------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle) {
    struct bz_uv *driver = handle->data;
    if (--driver->handles_open == 0) {
        uv_mutex_destroy(&driver->mutex);
        free(driver);
    }
}

int bz_uv_new(struct bz_uv **result, struct bz_loop *loop, uv_loop_t *uv) {
    struct bz_uv *driver = calloc(1, sizeof *driver);
    if (driver == NULL) {
        return UV_ENOMEM;
    }
    driver->loop = loop;
    driver->uv = uv;
    driver->origin_ns = uv_hrtime() - bz_loop_now_ns(loop);
    bz_list_init(&driver->arrived);
    bz_list_init(&driver->posted);
    int error = uv_mutex_init(&driver->mutex);
    if (error != 0) {
        free(driver);
        return error;
    }
    error = uv_async_init(uv, &driver->async, on_async);
    if (error != 0) {
        uv_mutex_destroy(&driver->mutex);
        free(driver);
        return error;
    }
    uv_prepare_init(uv, &driver->prepare); /* these three cannot fail */
    uv_idle_init(uv, &driver->idle);
    uv_timer_init(uv, &driver->timer);
    driver->async.data = driver;
    driver->prepare.data = driver;
    driver->idle.data = driver;
    driver->timer.data = driver;
    uv_prepare_start(&driver->prepare, on_prepare);
    uv_unref((uv_handle_t *)&driver->prepare);
    uv_unref((uv_handle_t *)&driver->async);
    bz_uv_wake(driver);
    *result = driver;
    return 0;
}

void bz_uv_close(struct bz_uv *driver) {
    BZ_CHECK(!driver->is_running && bz_loop_current(driver->loop) == NULL);
    BZ_CHECK(driver->ops_open == 0);
    driver->handles_open = 4;
    uv_close((uv_handle_t *)&driver->prepare, on_closed);
    uv_close((uv_handle_t *)&driver->idle, on_closed);
    uv_close((uv_handle_t *)&driver->timer, on_closed);
    uv_close((uv_handle_t *)&driver->async, on_closed);
}

struct bz_loop *bz_uv_loop(const struct bz_uv *driver) {
    return driver->loop;
}

uv_loop_t *bz_uv_uv(const struct bz_uv *driver) {
    return driver->uv;
}

uint32_t bz_uv_open_ops(const struct bz_uv *driver) {
    return driver->ops_open;
}
