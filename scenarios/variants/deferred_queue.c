/* Queue of deferreds: the items stored, the getters that wait, and the items given to getters. A
 * get arrives, and has its item, is refused, or waits; it leaves with its item. A cancelled one
 * leaves the getters, or drops the item that it was given. */
#include "primitives/sync/deferred_queue.h"

#include "scenarios/variants/modelled.h"

enum { GET, PUT, ARRIVE, LEAVE, OP_COUNT };

#define CAPACITY_MAX 8

struct state {
    int64_t capacity; /* of the items, and of the getters */
    int64_t arrivals;
    struct bz_model_line items;
    struct bz_model_line waiting; /* arrivals of getters */
    struct bz_model_line given;   /* arrivals of getters; their items: */
    struct bz_model_line values;
};

static void start(void *memory, const int64_t *parameters) {
    ((struct state *)memory)->capacity = parameters[0];
}

static int64_t put(struct state *state, int64_t value) {
    if (state->waiting.count > 0) {
        bz_model_line_push(&state->given, bz_model_line_take(&state->waiting, 0));
        bz_model_line_push(&state->values, value);
    } else if (state->items.count == state->capacity) {
        return -BZ_FULL;
    } else {
        bz_model_line_push(&state->items, value);
    }
    return 0;
}

/* The ticket of a get is its item, the refusal, or, below both, its arrival. */
#define WAITS (-1000)

static int64_t arrive(struct state *state) {
    if (state->items.count > 0) {
        return bz_model_line_take(&state->items, 0);
    }
    if (state->waiting.count == state->capacity) {
        return -BZ_EMPTY;
    }
    bz_model_line_push(&state->waiting, ++state->arrivals);
    return WAITS - state->arrivals;
}

static bool leave(struct state *state, bool is_cancelled, int64_t *ticket) {
    int64_t arrival = WAITS - *ticket;
    int64_t given = bz_model_line_find(&state->given, arrival);
    if (*ticket >= WAITS) {
        return true;
    }
    if (given < state->given.count) {
        (void)bz_model_line_take(&state->given, given);
        *ticket = bz_model_line_take(&state->values, given);
        return true;
    }
    return is_cancelled && bz_model_line_remove(&state->waiting, arrival);
}

static bool step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct state *state = memory;
    switch (op) {
    case PUT:
        *answer = put(state, arguments[0]);
        return true;
    case ARRIVE:
        *answer = arrive(state);
        return true;
    default: /* GET, LEAVE */
        return leave(state, op == LEAVE, answer);
    }
}

static const struct bz_model_op ops[] = {
    [GET] = {.name = "get",
             .begins_with = 1 + ARRIVE,
             .begins_at_call = true,
             .cancel = BZ_MODEL_CANCEL_UNDOES,
             .undo = LEAVE},
    [PUT] = {.name = "put", BZ_MODEL_VALUE},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [LEAVE] = {.name = "leave", .is_hidden = true},
};

const struct bz_model bz_model_deferred_queue =
    BZ_MODEL("deferred_queue", struct state, .parameter_count = 1, .start = start);

/* --- what ships ------------------------------------------------------------------------------- */

struct desk {
    struct bz_deferred_queue queue;
    struct bz_trampoline trampoline;
    uint64_t items[CAPACITY_MAX];
};

static enum bz_status init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    struct desk *desk = instance;
    uint32_t capacity = (uint32_t)parameters[0];
    bz_trampoline_init(&desk->trampoline, loop);
    bz_deferred_queue_init(&desk->queue, &desk->trampoline, desk->items, capacity, capacity);
    return BZ_OK;
}

static enum bz_status get(struct desk *desk, int64_t *answer) {
    struct bz_deferred_waiter getter;
    struct bz_deferred_result got;
    enum bz_status status = bz_deferred_queue_get(&desk->queue, &getter);
    if (status == BZ_OK) {
        status = bz_deferred_await(&getter.deferred, &got);
        *answer = (int64_t)got.value;
    }
    return status;
}

static enum bz_status call(void *instance, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct desk *desk = instance;
    return bz_modelled_ended(
        op == GET ? get(desk, answer) : bz_deferred_queue_put(&desk->queue, (uint64_t)arguments[0]),
        answer);
}

BZ_VARIANT_OF_MODEL(deferred_queue, "buzzer/deferred-queue", "the queue of deferreds that ships",
                    struct desk, bz_model_deferred_queue, init);
