/* Barrier: a wait arrives, and leaves when so many others have arrived in its round. A task that
 * leaves a round with which index is up to the barrier. The parties are one more than the capacity.
 */
#include "scenarios/models/models.h"

enum { WAIT, ARRIVE, GIVE_UP, OP_COUNT };

struct barrier {
    int64_t parties;
    int64_t round;
    int64_t arrived; /* in this round */
};

static void start(void *state, const int64_t *parameters) {
    ((struct barrier *)state)->parties = parameters[0] + 1;
}

/* The ticket is the round. A task that gives up after the last one has arrived changes nothing. */
static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *ticket) {
    struct barrier *barrier = state;
    (void)arguments;
    switch (op) {
    case ARRIVE:
        *ticket = barrier->round;
        barrier->arrived++;
        if (barrier->arrived == barrier->parties) {
            barrier->round++;
            barrier->arrived = 0;
        }
        return true;
    case WAIT: {
        bool is_over = *ticket < barrier->round;
        *ticket = 0; /* now the answer */
        return is_over;
    }
    default:
        barrier->arrived -= *ticket == barrier->round;
        return true;
    }
}

static const struct bz_model_op ops[] = {
    [WAIT] = {.name = "wait",
              .begins_with = 1 + ARRIVE,
              .begins_in_order = true,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = GIVE_UP},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [GIVE_UP] = {.name = "give_up", .is_hidden = true},
};

static enum bz_status init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    const struct bz_barrier_ops *barrier = sut->ops;
    return barrier->init(sut->instance, sut->world->loop, (uint32_t)parameters[0] + 1);
}

static enum bz_status call(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer) {
    const struct bz_barrier_ops *barrier = sut->ops;
    uint32_t index;
    (void)op;
    (void)arguments;
    (void)answer;
    return barrier->wait(sut->instance, &index);
}

const struct bz_modelled bz_modelled_barrier =
    BZ_MODELLED("barrier", sizeof(struct barrier), 1, start, step, call);
