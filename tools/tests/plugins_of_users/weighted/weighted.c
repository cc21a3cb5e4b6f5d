/* weighted.c: a semaphore whose acquire takes several permits at once, with its model. */
#include "sim/model/model.h"
#include "sim/variant/plugin.h"

/* --- the implementation ----------------------------------------------------------------------- */

struct waiter {
    struct bz_future future;
    struct bz_list link;
    int64_t permits;
};

struct weighted {
    struct bz_loop *loop;
    struct bz_list waiters; /* the oldest first */
    int64_t free;
};

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    struct weighted *self = instance;
    self->loop = loop;
    self->free = parameters[0];
    bz_list_init(&self->waiters);
    return BZ_OK;
}

/* Serves the oldest waiters, as far as the permits go. */
static void serve(struct weighted *self) {
    while (!bz_list_is_empty(&self->waiters)) {
        struct waiter *head = bz_container_of(self->waiters.next, struct waiter, link);
        if (head->permits > self->free) {
            return;
        }
        bz_list_remove(&head->link);
        if (bz_future_set_result(&head->future, 0) == BZ_OK) {
            self->free -= head->permits;
        }
    }
}

static enum bz_status acquire(struct weighted *self, int64_t permits) {
    struct waiter waiter = {.permits = permits};
    if (bz_list_is_empty(&self->waiters) && permits <= self->free) {
        self->free -= permits;
        return BZ_OK;
    }
    bz_future_init(&waiter.future, self->loop);
    bz_list_push_back(&self->waiters, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    if (status != BZ_OK) {
        if (bz_list_is_linked(&waiter.link)) {
            bz_list_remove(&waiter.link);
        } else if (waiter.future.state == BZ_FUTURE_RESULT) {
            self->free += permits; /* served, then cancelled */
        }
#if !FAULT
        serve(self); /* it may have held up smaller ones */
#endif
    }
    return status;
}

/* --- the model -------------------------------------------------------------------------------- */

enum { ACQUIRE, RELEASE };

static void start(void *state, const int64_t *parameters) {
    *(int64_t *)state = parameters[0];
}

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *free = state;
    (void)answer;
    *free += op == RELEASE ? arguments[0] : -arguments[0];
    return *free >= 0;
}

#define PERMITS .argument_count = 1, .arguments = {{.name = "permits", .least = 1, .most = 2}}

static const struct bz_model_op model_ops[] = {
    [ACQUIRE] =
        {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE, PERMITS},
    [RELEASE] = {.name = "release", .gives_back = 1 + ACQUIRE, PERMITS},
};

static const struct bz_model model = {.name = "weighted",
                                      .state_bytes = sizeof(int64_t),
                                      .parameter_count = 1,
                                      .ops = model_ops,
                                      .op_count = 2,
                                      .start = start,
                                      .step = step};

/* --- both together ---------------------------------------------------------------------------- */

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct weighted *self = instance;
    (void)answer;
    if (op == ACQUIRE) {
        return acquire(self, arguments[0]);
    }
    self->free += arguments[0];
    serve(self);
    return BZ_OK;
}

static const struct bz_modelled_ops ops = {
    .instance_bytes = sizeof(struct weighted), .model = &model, .init = init, .call = call};

static const struct bz_variant weighted = {.version = BZ_VARIANT_VERSION,
                                           .name = "weighted",
                                           .summary = "a semaphore whose acquire takes several",
                                           .modelled = &ops};

BZ_PLUGIN(&weighted);
