/* OCaml's Lwt: Lwt_mutex, Lwt_condition, and Lwt_mvar as a queue of one item. A promise is
 * resolved inside another task's step: bz_request_done(). Its memory is OCaml's, so `explore` takes
 * no snapshots. lwt_prims.ml has the calls. */
#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/mlvalues.h>

#include "sim/variant/callback.h"

struct waiting {
    struct bz_request request;
    long promise; /* 0: it has ended */
    uint64_t got;
};

struct lwt {
    struct bz_loop *loop;
    long mutex, mvar, condition; /* 0: not used yet in this run */
};

static value call(const char *name, value argument) {
    return caml_callback(*caml_named_value(name), argument);
}

value wild_ended(value request, value status, value got) {
    struct waiting *waiting = (struct waiting *)Nativeint_val(request);
    static const enum bz_status statuses[] = {BZ_OK, BZ_CANCELLED, BZ_FAILED};
    waiting->got = (uint64_t)Long_val(got);
    bz_request_done(&waiting->request, statuses[Long_val(status)]);
    return Val_unit;
}

static bool cancel(void *wanted) {
    struct waiting *waiting = wanted;
    (void)call("cancel", Val_long(waiting->promise));
    return true; /* it waits, so its end says so at once */
}

static void deliver(void *wanted) {
    (void)wanted; /* nothing is posted */
}

/* `first` and `second`: arguments before the request; `second` may be missing: 0. */
static enum bz_status await(struct lwt *in, const char *name, value first, value second,
                            uint64_t *got) {
    struct waiting own = {.promise = 0};
    const value *function = caml_named_value(name);
    value request = caml_copy_nativeint((intnat)&own);
    own.promise = Long_val(second == 0 ? caml_callback2(*function, first, request)
                                       : caml_callback3(*function, first, second, request));
    enum bz_status status = bz_request_wait(&own.request, in->loop, &own, deliver, cancel);
    *got = own.got;
    return status;
}

/* A run may begin with the memory that init left, so the object itself is made when it is used. */
static value number(long *own, const char *name) {
    *own = *own != 0 ? *own : Long_val(call(name, Val_unit));
    return Val_long(*own);
}
static value mutex(void *instance) {
    return number(&((struct lwt *)instance)->mutex, "mutex");
}
static value mvar(void *instance) {
    return number(&((struct lwt *)instance)->mvar, "mvar");
}
static value condition(void *instance) {
    return number(&((struct lwt *)instance)->condition, "condition");
}

static enum bz_status init_lock(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)permits;
    *(struct lwt *)instance = (struct lwt){.loop = loop};
    return BZ_OK;
}
static enum bz_status init_queue(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                 uint32_t maxsize) {
    (void)order;
    return init_lock(instance, loop, maxsize);
}
static enum bz_status lock(void *instance) {
    uint64_t none;
    return await(instance, "lock", mutex(instance), 0, &none);
}
static bool locked(void *instance) {
    return Bool_val(call("locked", mutex(instance)));
}
/* Lwt_mutex.unlock of a free mutex does nothing. */
static enum bz_status unlock(void *instance) {
    bool was_locked = locked(instance);
    (void)call("unlock", mutex(instance));
    return was_locked ? BZ_OK : BZ_NOT_HELD;
}
static enum bz_status init_condition(void *instance, struct bz_loop *loop) {
    return init_lock(instance, loop, 1);
}
static enum bz_status wait(void *instance) {
    uint64_t none;
    value of = condition(instance);
    return await(instance, "wait", of, mutex(instance), &none);
}
static enum bz_status notify(void *instance, uint32_t count) {
    bool is_all = count == UINT32_MAX;
    for (uint32_t left = is_all ? 1 : count; left > 0; left--) {
        (void)call(is_all ? "broadcast" : "signal", condition(instance));
    }
    return BZ_OK;
}
static enum bz_status put(void *instance, uint64_t item, int64_t priority) {
    uint64_t none;
    (void)priority;
    return await(instance, "put", mvar(instance), Val_long((long)item), &none);
}
static enum bz_status get(void *instance, uint64_t *item) {
    return await(instance, "take", mvar(instance), 0, item);
}
static enum bz_status try_put(void *instance, uint64_t item, int64_t priority) {
    bool is_empty = Bool_val(call("is_empty", mvar(instance)));
    return is_empty ? put(instance, item, priority) : BZ_FULL;
}
static enum bz_status try_get(void *instance, uint64_t *item) {
    long taken = Long_val(call("take_now", mvar(instance)));
    *item = (uint64_t)taken;
    return taken >= 0 ? BZ_OK : BZ_EMPTY; /* items are small numbers */
}

__attribute__((constructor)) static void load(void) {
    static char *arguments[] = {(char *)"lwt", NULL};
    caml_startup(arguments);
}

static const struct bz_permit_ops lock_ops = {.instance_bytes = sizeof(struct lwt),
                                              .init = init_lock,
                                              .acquire = lock,
                                              .release = unlock,
                                              .locked = locked};
static const struct bz_condition_ops condition_ops = {.instance_bytes = sizeof(struct lwt),
                                                      .init = init_condition,
                                                      .acquire = lock,
                                                      .release = unlock,
                                                      .locked = locked,
                                                      .wait = wait,
                                                      .notify = notify};
static const struct bz_queue_ops queue_ops = {.instance_bytes = sizeof(struct lwt),
                                              .init = init_queue,
                                              .put = put,
                                              .get = get,
                                              .try_put = try_put,
                                              .try_get = try_get};
static const struct bz_rules rules = {.woken = BZ_WOKEN_KEEPS_RESULT};
static const struct bz_variant variant = {
    .version = BZ_VARIANT_VERSION,
    .name = "lwt",
    .summary = "OCaml's Lwt: mutex, mvar",
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNAIDED,
    .permits = {[BZ_PRIMITIVE_LOCK] = &lock_ops},
    .queue = &queue_ops,
    .offers =
        {[BZ_PRIMITIVE_QUEUE] = {.least = 1, .most = 1, .bounds = BZ_OFFERS_BOUND, .orders = 1}},
    .rules = &rules};
static const struct bz_variant faulty = {
    .version = BZ_VARIANT_VERSION,
    .name = "lwt/condition",
    .summary = "OCaml's Lwt: condition, whose wait may return without the mutex",
    .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_UNAIDED | BZ_CLAIM_WAIT_MORPHING,
    .condition = &condition_ops,
    .rules = &rules};
BZ_PLUGIN(&variant, &faulty);
