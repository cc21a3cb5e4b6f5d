/* Lock, semaphore, bounded semaphore: a count of free permits. A lock has one. */
#include "scenarios/models/models.h"

enum { ACQUIRE, RELEASE, OP_COUNT };

static void start(void *state, const int64_t *parameters) {
    *(int64_t *)state = parameters[0];
}

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *free = state;
    (void)arguments;
    (void)answer;
    *free += op == RELEASE ? 1 : -1;
    return *free >= 0;
}

/* A waiter that was handed its permit and is cancelled passes it on. */
static const struct bz_model_op ops[] = {
    [ACQUIRE] = {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE},
    [RELEASE] = {.name = "release", .gives_back = 1 + ACQUIRE},
};

static enum bz_status init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    const struct bz_permit_ops *permits = sut->ops;
    return permits->init(sut->instance, sut->world->loop, (uint32_t)parameters[0]);
}

static enum bz_status call(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer) {
    const struct bz_permit_ops *permits = sut->ops;
    (void)arguments;
    (void)answer;
    return op == ACQUIRE ? permits->acquire(sut->instance) : permits->release(sut->instance);
}

const struct bz_modelled bz_modelled_permits =
    BZ_MODELLED("permits", sizeof(int64_t), 1, start, step, call);
