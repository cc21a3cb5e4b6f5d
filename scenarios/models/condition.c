/* Condition with its lock: who waits, and how many were notified. Which one goes first
 * is up to the condition. A notified waiter that is cancelled leaves its notification to another.
 */
#include "scenarios/models/models.h"

enum { ACQUIRE, RELEASE, WAIT, NOTIFY, LET_GO, LEAVE, COME_BACK, WAKE_EARLY, OP_COUNT };

struct condition {
    int64_t is_held;
    int64_t waiting;
    int64_t notified; /* of those that wait */
};

/* A task that comes back from a wait, notified or cancelled, has the lock. */
static bool take_lock(struct condition *condition) {
    bool is_free = condition->is_held == 0;
    condition->is_held = 1;
    return is_free;
}

static bool change(struct condition *condition, int64_t waiting, int64_t notified) {
    condition->waiting += waiting;
    condition->notified += notified;
    if (condition->notified > condition->waiting) {
        condition->notified = condition->waiting;
    }
    return true;
}

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct condition *condition = state;
    (void)answer;
    switch (op) {
    case ACQUIRE:
    case COME_BACK:
        return take_lock(condition);
    case WAIT:
        return condition->notified > 0 && change(condition, -1, -1) && take_lock(condition);
    case WAKE_EARLY:
        return change(condition, -1, 0) && take_lock(condition);
    case LEAVE:
        return change(condition, -1, 0);
    case NOTIFY:
        return change(condition, 0, arguments[0]);
    default: /* RELEASE, LET_GO */
        condition->is_held = 0;
        return change(condition, op == LET_GO, 0);
    }
}

static const struct bz_model_op ops[] = {
    [ACQUIRE] = {.name = "acquire", .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE},
    [RELEASE] = {.name = "release", .gives_back = 1 + ACQUIRE},
    [WAIT] = {.name = "wait",
              .begins_with = 1 + LET_GO,
              .needs = 1 + ACQUIRE,
              .or_else = 1 + WAKE_EARLY,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = COME_BACK},
    [NOTIFY] = {.name = "notify",
                .needs = 1 + ACQUIRE,
                .argument_count = 1,
                .arguments = {{.name = "count", .least = 1, .most = 2}}},
    [LET_GO] = {.name = "let_go", .is_hidden = true},
    [LEAVE] = {.name = "leave", .is_hidden = true},
    [COME_BACK] = {.name = "come_back", .begins_with = 1 + LEAVE, .is_hidden = true},
    [WAKE_EARLY] = {.name = "wake_early", .is_hidden = true},
};

static enum bz_status init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    (void)parameters;
    return ((const struct bz_condition_ops *)sut->ops)->init(sut->instance, sut->world->loop);
}

static enum bz_status call(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer) {
    const struct bz_condition_ops *condition = sut->ops;
    (void)answer;
    return op == ACQUIRE   ? condition->acquire(sut->instance)
           : op == RELEASE ? condition->release(sut->instance)
           : op == WAIT    ? condition->wait(sut->instance)
                           : condition->notify(sut->instance, (uint32_t)arguments[0]);
}

const struct bz_modelled bz_modelled_condition =
    BZ_MODELLED("condition", sizeof(struct condition), 0, NULL, step, call);
