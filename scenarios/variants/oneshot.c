/* One-shot: nothing sent yet, a value, or closed; and the receivers in order of their calls. The
 * first of them gets the value; the others see the channel closed. */
#include "primitives/sync/oneshot.h"

#include "scenarios/variants/modelled.h"

enum { RECEIVE, SEND, CLOSE, WAIT_CLOSED, ARRIVE, LEAVE, OP_COUNT };

struct state {
    int64_t is_used; /* sent or closed */
    int64_t value;   /* 0: none */
    int64_t arrivals;
    struct bz_model_line receivers; /* arrivals */
};

/* The ticket of a receive is its arrival. */
static int64_t arrive(struct state *state) {
    bz_model_line_push(&state->receivers, ++state->arrivals);
    return state->arrivals;
}

static bool receive(struct state *state, int64_t *answer) {
    int64_t place = bz_model_line_find(&state->receivers, *answer);
    bool may_complete = state->is_used != 0 && (state->value == 0 || place == 0);
    (void)bz_model_line_take(&state->receivers, place);
    *answer = state->value == 0 ? -BZ_CLOSED : state->value;
    state->value = 0;
    return may_complete;
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    bool was_used = state->is_used != 0;
    switch (op) {
    case RECEIVE:
        return receive(state, answer);
    case SEND:
        *answer = was_used ? -BZ_CLOSED : 0;
        state->value = was_used ? state->value : arguments[0];
        state->is_used = 1;
        return true;
    case CLOSE:
        state->is_used = 1;
        return true;
    case ARRIVE:
        *answer = arrive(state);
        return true;
    case LEAVE:
        return bz_model_line_remove(&state->receivers, *answer);
    default: /* WAIT_CLOSED */
        return was_used;
    }
}

static const struct bz_model_op ops[] = {
    [RECEIVE] = {.name = "receive",
                 .begins_with = 1 + ARRIVE,
                 .begins_at_call = true,
                 .cancel = BZ_MODEL_CANCEL_UNDOES,
                 .undo = LEAVE},
    [SEND] = {.name = "send", BZ_MODEL_VALUE},
    [CLOSE] = {.name = "close"},
    [WAIT_CLOSED] = {.name = "wait_closed"},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [LEAVE] = {.name = "leave", .is_hidden = true},
};

const struct bz_model bz_model_oneshot = BZ_MODEL("oneshot", struct state, .parameter_count = 0);

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    bz_oneshot_init(instance, loop);
    return BZ_OK;
}

static enum bz_status receive_from(struct bz_oneshot *channel, int64_t *answer) {
    uint64_t value = 0;
    enum bz_status status = bz_oneshot_receive(channel, &value);
    *answer = (int64_t)value;
    return status;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    switch (op) {
    case RECEIVE:
        return bz_modelled_ended(receive_from(instance, answer), answer);
    case SEND:
        return bz_modelled_ended(bz_oneshot_send(instance, (uint64_t)arguments[0]), answer);
    case CLOSE:
        bz_oneshot_close(instance);
        return BZ_OK;
    default:
        return bz_oneshot_wait_closed(instance);
    }
}

BZ_VARIANT_OF_MODEL(oneshot, "buzzer/oneshot", "the one-shot that ships", struct bz_oneshot,
                    bz_model_oneshot, init);
