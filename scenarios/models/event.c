/* Event: a flag. A wait may take effect at any moment at which the flag is up. */
#include "scenarios/models/models.h"

enum { WAIT, SET, CLEAR, OP_COUNT };

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *is_set = state;
    (void)arguments;
    (void)answer;
    *is_set = op == WAIT ? *is_set : op == SET;
    return *is_set || op == CLEAR;
}

static const struct bz_model_op ops[] = {
    [WAIT] = {.name = "wait"}, [SET] = {.name = "set"}, [CLEAR] = {.name = "clear"}};

static enum bz_status init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    (void)parameters;
    return ((const struct bz_event_ops *)sut->ops)->init(sut->instance, sut->world->loop);
}

static enum bz_status call(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer) {
    const struct bz_event_ops *event = sut->ops;
    (void)arguments;
    (void)answer;
    if (op == WAIT) {
        return event->wait(sut->instance);
    }
    op == SET ? event->set(sut->instance) : event->clear(sut->instance);
    return BZ_OK;
}

const struct bz_modelled bz_modelled_event =
    BZ_MODELLED("event", sizeof(int64_t), 0, NULL, step, call);
