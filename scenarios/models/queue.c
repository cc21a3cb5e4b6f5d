/* Queue, first in, first out: the items in it, up to its bound, if it has one. */
#include <string.h>

#include "scenarios/models/models.h"

enum { GET, PUT, PUT_BACK, OP_COUNT };

/* More than a bound of BZ_MODELLED_ITEMS_MAX, and one put back by each of 16 tasks. */
#define ITEMS_MAX 24

struct queue {
    int64_t bound;
    int64_t count;
    int32_t items[ITEMS_MAX]; /* the oldest first; 0 beyond the count */
};

static void start(void *state, const int64_t *parameters) {
    ((struct queue *)state)->bound = parameters[0] == 0 ? BZ_MODELLED_ITEMS_MAX : parameters[0];
}

static bool take(struct queue *queue, int64_t place, int64_t *item) {
    if (place >= queue->count) {
        return false;
    }
    int32_t *from = queue->items + place;
    *item = *from;
    queue->count--;
    memmove(from, from + 1, (size_t)(queue->count - place) * sizeof *from);
    queue->items[queue->count] = 0;
    return true;
}

static bool put(struct queue *queue, int64_t item) {
    if (queue->count >= queue->bound) {
        return false;
    }
    queue->items[queue->count++] = (int32_t)item;
    return true;
}

/* By a getter that had its item and is cancelled. The items may come to exceed the bound. */
static bool put_back(struct queue *queue, int64_t item) {
    memmove(queue->items + 1, queue->items, (size_t)queue->count * sizeof queue->items[0]);
    queue->items[0] = (int32_t)item;
    queue->count++;
    return true;
}

static bool step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    return op == GET   ? take(state, 0, answer)
           : op == PUT ? put(state, arguments[0])
                       : put_back(state, *answer);
}

/* The same without the items, for a queue that gives them out in any order. */
static bool step_of_count(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct queue *queue = state;
    (void)arguments;
    (void)answer;
    queue->count += op == GET ? -1 : 1;
    return queue->count >= 0 && (op != PUT || queue->count <= queue->bound);
}

static const struct bz_model_op ops[] = {
    [GET] = {.name = "get", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = PUT_BACK},
    [PUT] = {.name = "put",
             .line = 2,
             .argument_count = 1,
             .arguments = {{.name = "item", .least = 1, .most = INT32_MAX, .is_fresh = true}}},
    [PUT_BACK] = {.name = "put_back", .is_hidden = true},
};

static enum bz_status init(const struct bz_sut_opaque *sut, const int64_t *parameters) {
    const struct bz_queue_ops *queue = sut->ops;
    return queue->init(sut->instance, sut->world->loop, BZ_QUEUE_ORDER_FIFO,
                       (uint32_t)parameters[0]);
}

static enum bz_status call(const struct bz_sut_opaque *sut, uint32_t op, const int64_t *arguments,
                           int64_t *answer) {
    const struct bz_queue_ops *queue = sut->ops;
    uint64_t value = 0;
    if (op == PUT) {
        return queue->put(sut->instance, (uint64_t)arguments[0], 0);
    }
    enum bz_status status = queue->get(sut->instance, &value);
    *answer = (int64_t)value;
    return status;
}

static enum bz_status call_for_count(const struct bz_sut_opaque *sut, uint32_t op,
                                     const int64_t *arguments, int64_t *answer) {
    enum bz_status status = call(sut, op, arguments, answer);
    *answer = 0;
    return status;
}

/* --- a rendezvous -----------------------------------------------------------------------------
 *
 * The items are those that are offered. A put offers its item, and returns when a get has it. */

enum { OFFER = PUT_BACK, WITHDRAW };

/* Its place; the count: it is not offered. */
static int64_t place_of(const struct queue *queue, int64_t item) {
    int64_t place = 0;
    while (place < queue->count && queue->items[place] != item) {
        place++;
    }
    return place;
}

static bool meet(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct queue *queue = state;
    int64_t place = op == GET ? 0 : place_of(queue, arguments[0]);
    switch (op) {
    case GET:
        return take(queue, 0, answer);
    case OFFER:
        queue->items[queue->count++] = (int32_t)arguments[0];
        return true;
    case WITHDRAW: /* unless a get has it */
        return take(queue, place, &(int64_t){0}) || true;
    default:
        return place == queue->count;
    }
}

static const struct bz_model_op meeting_ops[] = {
    [GET] = {.name = "get", .line = 1},
    [PUT] = {.name = "put",
             .begins_with = 1 + OFFER,
             .begins_in_order = true,
             .cancel = BZ_MODEL_CANCEL_UNDOES,
             .undo = WITHDRAW,
             .argument_count = 1,
             .arguments = {{.name = "item", .least = 1, .most = INT32_MAX, .is_fresh = true}}},
    [OFFER] = {.name = "offer", .is_hidden = true},
    [WITHDRAW] = {.name = "withdraw", .is_hidden = true},
};

const struct bz_modelled bz_modelled_rendezvous = {
    {"queue", sizeof(struct queue), 1, meeting_ops, 4, .start = start, .step = meet}, init, call};

const struct bz_modelled bz_modelled_queue =
    BZ_MODELLED("queue", sizeof(struct queue), 1, start, step, call);

const struct bz_modelled bz_modelled_slots =
    BZ_MODELLED("queue", offsetof(struct queue, items), 1, start, step_of_count, call_for_count);
