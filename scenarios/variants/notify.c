/* Notify: a stored permit. A notification of a waiter is a permit that it takes at once, so the
 * model also admits that two notifications are one, even if two tasks wait. Not modelled:
 * notify_waiters, which concerns those who wait, and no state. */
#include "primitives/sync/notify.h"

#include "scenarios/variants/modelled.h"

enum { WAIT, NOTIFY_ONE, OP_COUNT };

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *permit = state;
    bool may_complete = op == NOTIFY_ONE || *permit == 1;
    (void)arguments;
    (void)answer;
    *permit = op == NOTIFY_ONE;
    return may_complete;
}

static const struct bz_model_op ops[] = {
    [WAIT] = {.name = "wait", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = NOTIFY_ONE},
    [NOTIFY_ONE] = {.name = "notify"},
};

const struct bz_model bz_model_notify = {.name = "notify",
                                         .state_bytes = sizeof(int64_t),
                                         .ops = ops,
                                         .op_count = OP_COUNT,
                                         .step = step};

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    bz_notify_init(instance, loop);
    return BZ_OK;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    (void)arguments;
    (void)answer;
    if (op == WAIT) {
        return bz_notify_wait(instance);
    }
    bz_notify_one(instance);
    return BZ_OK;
}

BZ_VARIANT_OF_MODEL(notify, "buzzer/notify", "the notify that ships", struct bz_notify,
                    bz_model_notify, init);
