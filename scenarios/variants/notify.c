/* Notify: the stored permit, who waits, and who was notified by which call. A wait arrives, with
 * the permit if there is one, and leaves once it was notified. A cancelled one passes a
 * notification of notify_one on. */
#include "primitives/sync/notify.h"

#include "scenarios/variants/modelled.h"

enum { WAIT, NOTIFY_ONE, ARRIVE, LEAVE, NOTIFY_WAITERS, OP_COUNT };

struct state {
    int64_t permit;
    int64_t arrivals;
    struct bz_model_line waiting; /* arrivals, as in the next two */
    struct bz_model_line by_one;
    struct bz_model_line by_all;
};

/* The ticket of a wait is its arrival. */
static int64_t arrive(struct state *state) {
    int64_t arrival = ++state->arrivals;
    bz_model_line_push(state->permit == 1 ? &state->by_one : &state->waiting, arrival);
    state->permit = 0;
    return arrival;
}

static bool notify_one(struct state *state) {
    if (state->waiting.count > 0) {
        bz_model_line_push(&state->by_one, bz_model_line_take(&state->waiting, 0));
    } else {
        state->permit = 1;
    }
    return true;
}

static bool notify_waiters(struct state *state) {
    while (state->waiting.count > 0) {
        bz_model_line_push(&state->by_all, bz_model_line_take(&state->waiting, 0));
    }
    return true;
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    int64_t arrival = *answer;
    (void)arguments;
    *answer = 0;
    switch (op) {
    case WAIT:
        return bz_model_line_remove(&state->by_one, arrival) ||
               bz_model_line_remove(&state->by_all, arrival);
    case NOTIFY_ONE:
        return notify_one(state);
    case ARRIVE:
        *answer = arrive(state);
        return true;
    case LEAVE:
        return bz_model_line_remove(&state->by_one, arrival)
                   ? notify_one(state)
                   : bz_model_line_remove(&state->by_all, arrival) ||
                         bz_model_line_remove(&state->waiting, arrival);
    default: /* NOTIFY_WAITERS */
        return notify_waiters(state);
    }
}

static const struct bz_model_op ops[] = {
    [WAIT] = {.name = "wait",
              .begins_with = 1 + ARRIVE,
              .begins_at_call = true,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = LEAVE},
    [NOTIFY_ONE] = {.name = "notify"},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [LEAVE] = {.name = "leave", .is_hidden = true},
    [NOTIFY_WAITERS] = {.name = "notify_waiters", .is_extra = true},
};

const struct bz_model bz_model_notify = BZ_MODEL("notify", struct state, .parameter_count = 0);

/* --- what ships ------------------------------------------------------------------------------- */

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    bz_notify_init(instance, loop);
    return BZ_OK;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    (void)arguments;
    (void)answer;
    switch (op) {
    case WAIT:
        return bz_notify_wait(instance);
    case NOTIFY_ONE:
        bz_notify_one(instance);
        return BZ_OK;
    default:
        bz_notify_waiters(instance);
        return BZ_OK;
    }
}

BZ_VARIANT_OF_MODEL(notify, "buzzer/notify", "the notify that ships", struct bz_notify,
                    bz_model_notify, init);
