/* Channel: the values in it, up to its capacity, and the senders; closed once there are none. The
 * receiver's close works as the drop of all senders. */
#include "primitives/sync/channel.h"

#include "scenarios/variants/modelled.h"

enum {
    RECEIVE,
    SEND,
    ADD_SENDER,
    DROP_SENDER,
    WAIT_CLOSED,
    TRY_RECEIVE,
    TRY_SEND,
    FIND_NONE,
    FIND_FULL,
    OP_COUNT
};

struct state {
    int64_t capacity;
    int64_t senders;
    struct bz_model_line values;
};

static void start(void *memory, const int64_t *parameters) {
    struct state *state = memory;
    state->capacity = parameters[0];
    state->senders = BZ_MODEL_SENDERS;
}

static bool receive(struct state *state, int64_t *answer) {
    if (state->values.count == 0) {
        *answer = -BZ_CLOSED;
        return state->senders == 0;
    }
    *answer = bz_model_line_take(&state->values, 0);
    return true;
}

static bool send(struct state *state, int64_t value, int64_t *answer) {
    bool is_full = state->values.count == state->capacity;
    *answer = state->senders == 0 ? -BZ_CLOSED : 0;
    if (state->senders > 0 && !is_full) {
        bz_model_line_push(&state->values, value);
    }
    return state->senders == 0 || !is_full;
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    bool was_closed = state->senders == 0;
    switch (op) {
    case RECEIVE:
    case TRY_RECEIVE:
        return receive(state, answer);
    case SEND:
    case TRY_SEND:
        return send(state, arguments[0], answer);
    case ADD_SENDER:
        *answer = was_closed ? -BZ_CLOSED : 0;
        state->senders += was_closed ? 0 : 1;
        return true;
    case DROP_SENDER:
        *answer = was_closed ? -BZ_INVALID_STATE : 0;
        state->senders -= was_closed ? 0 : 1;
        return true;
    case WAIT_CLOSED:
        return was_closed;
    default: /* FIND_NONE, FIND_FULL */
        *answer = op == FIND_NONE ? -BZ_EMPTY : -BZ_FULL;
        return true;
    }
}

#define TRIES(fails) .or_else = 1 + (fails), .ends_by_itself = true, .is_extra = true

static const struct bz_model_op ops[] = {
    [RECEIVE] = {.name = "receive", .line = 1},
    [SEND] = {.name = "send", .line = 2, BZ_MODEL_VALUE},
    [ADD_SENDER] = {.name = "add_sender"},
    [DROP_SENDER] = {.name = "drop_sender"},
    [WAIT_CLOSED] = {.name = "wait_closed"},
    [TRY_RECEIVE] = {.name = "try_receive", .line = 1, TRIES(FIND_NONE)},
    [TRY_SEND] = {.name = "try_send", .line = 2, TRIES(FIND_FULL), BZ_MODEL_VALUE},
    [FIND_NONE] = {.name = "find_none", .is_hidden = true},
    [FIND_FULL] = {.name = "find_full", .is_hidden = true},
};

const struct bz_model bz_model_channel =
    BZ_MODEL("channel", struct state, .parameter_count = 1, .start = start);

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    bool is_refused = bz_channel_init(instance, loop, 0) == BZ_INVALID_ARGUMENT;
    enum bz_status status =
        is_refused ? bz_channel_init(instance, loop, (uint32_t)parameters[0]) : BZ_FAILED;
    for (uint32_t count = 1; status == BZ_OK && count < BZ_MODEL_SENDERS; count++) {
        status = bz_channel_add_sender(instance);
    }
    return status;
}

static enum bz_status receive_from(struct bz_channel *channel, bool tries, int64_t *answer) {
    uint64_t value = 0;
    enum bz_status status =
        tries ? bz_channel_try_receive(channel, &value) : bz_channel_receive(channel, &value);
    *answer = (int64_t)value;
    return status;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    switch (op) {
    case RECEIVE:
    case TRY_RECEIVE:
        return bz_modelled_ended(receive_from(instance, op == TRY_RECEIVE, answer), answer);
    case SEND:
        return bz_modelled_ended(bz_channel_send(instance, (uint64_t)arguments[0]), answer);
    case TRY_SEND:
        return bz_modelled_ended(bz_channel_try_send(instance, (uint64_t)arguments[0]), answer);
    case ADD_SENDER:
        return bz_modelled_ended(bz_channel_add_sender(instance), answer);
    case DROP_SENDER:
        return bz_modelled_ended(bz_channel_drop_sender(instance), answer);
    default:
        return bz_channel_wait_closed(instance);
    }
}

BZ_VARIANT_OF_MODEL(channel, "buzzer/channel", "the channel that ships", struct bz_channel,
                    bz_model_channel, init);
