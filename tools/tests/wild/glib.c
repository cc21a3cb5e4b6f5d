/* GLib's GMutex, GCond and GAsyncQueue, whose waits all end in futex(): here a task waits there.
 * GLib has no cancel, so a cancelled call continues, and what it got is given back. */
#include <errno.h>
#include <glib.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/tests/wild/wild.h"

struct glib {
    struct wild cage; /* first */
    struct bz_list sleepers;
    bool is_cancelled; /* the call that runs */
    GMutex mutex;
    GCond cond;
    bool is_locked;
    GAsyncQueue *queue;
    uint64_t size;
};

struct sleeper {
    struct bz_request request;
    struct bz_list link;
    const int *word;
};

static void deliver(void *arg) {
    bz_request_done(&((struct sleeper *)arg)->request, BZ_OK);
}
static void keep(void *arg) {
    (void)arg;
}

static long sleeps(struct glib *in, const int *word) {
    struct sleeper own = {.word = word};
    own.request.undo = keep;
    own.request.is_cancelled = in->is_cancelled;
    bz_list_push_back(&in->sleepers, &own.link);
    wild_leave(&in->cage);
    bool is_cancelled = bz_request_wait(&own.request, in->cage.loop, &own, deliver, NULL) != BZ_OK;
    wild_enter(&in->cage);
    in->is_cancelled = is_cancelled;
    return 0;
}

static long wakes(struct glib *in, const int *word, int count) {
    struct bz_list *next;
    for (struct bz_list *each = in->sleepers.next; each != &in->sleepers && count > 0;
         each = next) {
        struct sleeper *sleeper = bz_container_of(each, struct sleeper, link);
        next = each->next;
        if (sleeper->word == word) {
            bz_list_remove(each);
            bz_request_post(&sleeper->request);
            count--;
        }
    }
    return 0;
}

static long caged_syscall(long number, ...) {
    struct glib *in = (struct glib *)wild_inside();
    va_list arguments;
    va_start(arguments, number);
    const int *word = va_arg(arguments, const int *);
    size_t op = va_arg(arguments, size_t);
    int value = (int)va_arg(arguments, size_t);
    va_end(arguments);
    if (in == NULL || number != SYS_futex) {
        errno = ENOSYS;
        return -1;
    }
    if (op == FUTEX_WAKE_PRIVATE) {
        return wakes(in, word, value);
    }
    return *word == value ? sleeps(in, word) : 0;
}
static char *caged_getenv(const char *name) {
    return strcmp(name, "G_SLICE") == 0 ? "always-malloc" : getenv(name);
}
static const struct wild_hook hooks[] = {
    {"syscall", caged_syscall}, {"getenv", caged_getenv}, {NULL, NULL}};

__attribute__((constructor)) static void load(void) {
    wild_library("libglib-2.0.so", hooks);
}

static struct glib *begin(void *arg) {
    struct glib *in = arg;
    wild_enter(&in->cage);
    in->is_cancelled = false;
    return in;
}

static enum bz_status init_queue(void *arg, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    struct glib *in = arg;
    (void)order, (void)maxsize;
    if (!wild_begin(&in->cage, loop)) {
        return BZ_NO_MEMORY;
    }
    bz_list_init(&in->sleepers);
    begin(in);
    g_mutex_init(&in->mutex);
    g_cond_init(&in->cond);
    in->queue = g_async_queue_new();
    wild_leave(&in->cage);
    return BZ_OK;
}
static enum bz_status init(void *in, struct bz_loop *loop, uint32_t permits) {
    return init_queue(in, loop, BZ_QUEUE_ORDER_FIFO, permits);
}
static enum bz_status init_condition(void *in, struct bz_loop *loop) {
    return init_queue(in, loop, BZ_QUEUE_ORDER_FIFO, 0);
}
static void fini(void *arg) {
    struct glib *in = begin(arg);
    g_async_queue_unref(in->queue);
    wild_leave(&in->cage);
    wild_end(&in->cage);
}

static enum bz_status acquire(void *arg) {
    struct glib *in = begin(arg);
    g_mutex_lock(&in->mutex);
    in->is_locked = !in->is_cancelled;
    if (in->is_cancelled) {
        g_mutex_unlock(&in->mutex);
    }
    wild_leave(&in->cage);
    return in->is_locked ? BZ_OK : BZ_CANCELLED;
}
static enum bz_status release(void *arg) {
    struct glib *in = begin(arg);
    in->is_locked = false;
    g_mutex_unlock(&in->mutex);
    wild_leave(&in->cage);
    return BZ_OK;
}
static bool locked(void *in) {
    return ((struct glib *)in)->is_locked;
}
/* A waiter that was cancelled leaves when it is notified, and passes the notification on. */
static enum bz_status wait(void *arg) {
    struct glib *in = begin(arg);
    in->is_locked = false;
    g_cond_wait(&in->cond, &in->mutex);
    in->is_locked = true;
    if (in->is_cancelled) {
        g_cond_signal(&in->cond);
    }
    enum bz_status status = in->is_cancelled ? BZ_CANCELLED : BZ_OK;
    wild_leave(&in->cage);
    return status;
}
static enum bz_status notify(void *arg, uint32_t count) {
    struct glib *in = begin(arg);
    for (; count != UINT32_MAX && count > 0; count--) {
        g_cond_signal(&in->cond);
    }
    if (count > 0) {
        g_cond_broadcast(&in->cond);
    }
    wild_leave(&in->cage);
    return BZ_OK;
}

static enum bz_status put(void *arg, uint64_t value, int64_t priority) {
    struct glib *in = begin(arg);
    (void)priority;
    in->size++;
    g_async_queue_push(in->queue, (void *)(uintptr_t)(value + 1));
    wild_leave(&in->cage);
    return BZ_OK;
}
static enum bz_status get_by(struct glib *in, void *(*pop)(GAsyncQueue *), uint64_t *value) {
    void *item = pop(in->queue);
    enum bz_status status = item == NULL ? BZ_EMPTY : in->is_cancelled ? BZ_CANCELLED : BZ_OK;
    *value = (uintptr_t)item - 1;
    in->size -= status == BZ_OK;
    if (status == BZ_CANCELLED) {
        g_async_queue_push_front(in->queue, item);
    }
    wild_leave(&in->cage);
    return status;
}
static enum bz_status get(void *in, uint64_t *value) {
    return get_by(begin(in), g_async_queue_pop, value);
}
static enum bz_status try_get(void *in, uint64_t *value) {
    return get_by(begin(in), g_async_queue_try_pop, value);
}
static uint64_t size(void *in) {
    return ((struct glib *)in)->size;
}

static const struct bz_permit_ops lock_ops = {.instance_bytes = sizeof(struct glib),
                                              .init = init,
                                              .fini = fini,
                                              .acquire = acquire,
                                              .release = release,
                                              .locked = locked};
static const struct bz_condition_ops condition_ops = {.instance_bytes = sizeof(struct glib),
                                                      .init = init_condition,
                                                      .acquire = acquire,
                                                      .release = release,
                                                      .locked = locked,
                                                      .wait = wait,
                                                      .notify = notify};
static const struct bz_queue_ops queue_ops = {.instance_bytes = sizeof(struct glib),
                                              .init = init_queue,
                                              .put = put,
                                              .get = get,
                                              .try_put = put,
                                              .try_get = try_get,
                                              .size = size};
static const struct bz_variant variant = {
    .version = BZ_VARIANT_VERSION,
    .name = "glib",
    .summary = "GLib: GMutex, GCond, GAsyncQueue",
    .claims = BZ_CLAIM_UNFAIR | BZ_CLAIM_TAKES_AT_RETURN,
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .condition = &condition_ops,
    .queue = &queue_ops,
    .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_NO_BOUND, .orders = 1}}};
BZ_PLUGIN(&variant);
