/* An event for one waiter, a queue for one consumer, and a baton of its own model, with faulty
 * siblings. Each keeps its only waiter in a pointer. */
#include "scenarios/tests/designs/designs.h"
#include "scenarios/variants/item_queue.h"
#include "sim/model/model.h"

enum fault {
    RIGHT,
    CROWDED, /* a second waiter takes the seat of the first */
    LOSING,  /* waiters are forgotten, or lose what they were handed */
};

struct seat {
    struct bz_loop *loop;
    struct bz_future *sitter; /* NULL: nobody waits */
    enum fault fault;
};

static enum bz_status sit(struct seat *seat, struct bz_future *future) {
    if (seat->sitter != NULL && seat->fault != CROWDED) {
        return BZ_INVALID_STATE;
    }
    bz_future_init(future, seat->loop);
    seat->sitter = future;
    enum bz_status status = bz_future_await(future);
    if (seat->sitter == future) {
        seat->sitter = NULL;
    }
    return status;
}

static void call(struct seat *seat) {
    if (seat->sitter != NULL) {
        (void)bz_future_set_result(seat->sitter, 0);
        seat->sitter = NULL;
    }
}

/* --- an event -----------------------------------------------------------------------------------
 */

struct flag {
    struct seat seat;
    bool is_set;
};

static void flag_set(void *instance) {
    struct flag *flag = instance;
    flag->is_set = true;
    call(&flag->seat);
}

/* The fault: it also forgets who waits. */
static void flag_clear(void *instance) {
    struct flag *flag = instance;
    flag->is_set = false;
    if (flag->seat.fault == LOSING) {
        flag->seat.sitter = NULL;
    }
}

static bool flag_is_set(void *instance) {
    return ((struct flag *)instance)->is_set;
}

static enum bz_status flag_wait(void *instance) {
    struct flag *flag = instance;
    struct bz_future future;
    return flag->is_set ? BZ_OK : sit(&flag->seat, &future);
}

/* --- a queue ------------------------------------------------------------------------------------
 */

struct pipe {
    struct seat getter;
    struct bz_item_queue items;
};

/* The fault: a put takes the getter's seat from it although it may be cancelled by then, and hands
 * it the item. */
static enum bz_status pipe_put(void *instance, uint64_t value, int64_t priority) {
    struct pipe *pipe = instance;
    (void)priority;
    if (pipe->getter.fault == LOSING && pipe->getter.sitter != NULL) {
        (void)bz_future_set_result(pipe->getter.sitter, value);
        pipe->getter.sitter = NULL;
        return BZ_OK;
    }
    enum bz_status status = bz_item_queue_store(&pipe->items, value, 0);
    if (status == BZ_OK) {
        call(&pipe->getter);
    }
    return status;
}

static enum bz_status pipe_try_get(void *instance, uint64_t *value) {
    return bz_item_queue_try_get(&((struct pipe *)instance)->items, value);
}

static enum bz_status pipe_get(void *instance, uint64_t *value) {
    struct pipe *pipe = instance;
    struct bz_future future = {.value = 0};
    while (pipe_try_get(pipe, value) != BZ_OK) {
        enum bz_status status = sit(&pipe->getter, &future);
        if (status != BZ_OK || pipe->getter.fault == LOSING) {
            *value = future.value;
            return status;
        }
    }
    return BZ_OK;
}

static uint64_t pipe_size(void *instance) {
    return bz_item_queue_size(&((struct pipe *)instance)->items);
}

/* --- a slot for one producer and one consumer ---------------------------------------------------
 */

struct slot {
    struct seat getter, putter;
    uint64_t value; /* 0: none */
};

static enum bz_status slot_try_put(void *instance, uint64_t value, int64_t priority) {
    struct slot *slot = instance;
    (void)priority;
    if (slot->value != 0) {
        return BZ_FULL;
    }
    slot->value = value;
    call(&slot->getter);
    return BZ_OK;
}

static enum bz_status slot_try_get(void *instance, uint64_t *value) {
    struct slot *slot = instance;
    if (slot->value == 0) {
        return BZ_EMPTY;
    }
    *value = slot->value;
    slot->value = 0;
    call(&slot->putter);
    return BZ_OK;
}

static enum bz_status slot_put(void *instance, uint64_t value, int64_t priority) {
    struct slot *slot = instance;
    struct bz_future future;
    while (slot_try_put(slot, value, priority) != BZ_OK) {
        enum bz_status status = sit(&slot->putter, &future);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status slot_get(void *instance, uint64_t *value) {
    struct slot *slot = instance;
    struct bz_future future;
    while (slot_try_get(slot, value) != BZ_OK) {
        enum bz_status status = sit(&slot->getter, &future);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static uint64_t slot_size(void *instance) {
    return ((struct slot *)instance)->value != 0;
}

/* --- a baton: a post is taken by one wait -------------------------------------------------------
 */

enum { WAIT, POST, BATON_OPS };

static bool baton_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *is_there = state;
    bool was_there = *is_there != 0;
    (void)arguments;
    (void)answer;
    *is_there = op == POST;
    return op == POST || was_there;
}

static const struct bz_model_op baton_model_ops[] = {
    [WAIT] = {.name = "wait", .single = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = POST},
    [POST] = {.name = "set"}};
static const struct bz_model baton_model = {"baton", sizeof(int64_t), 0, baton_model_ops, BATON_OPS,
                                            NULL,    baton_step};

/* A waiter that was woken takes the baton when it resumes; cancelled, it leaves it. The fault: it
 * is handed over, and lost with a cancelled waiter. */
static enum bz_status baton_call(void *instance, uint32_t op, const int64_t *arguments,
                                 int64_t *answer) {
    struct flag *baton = instance;
    bool hands_over = baton->seat.fault == LOSING;
    struct bz_future future;
    enum bz_status status = BZ_OK;
    (void)arguments;
    (void)answer;
    if (op == POST) {
        baton->is_set = !hands_over || baton->seat.sitter == NULL;
        call(&baton->seat);
        return BZ_OK;
    }
    while (status == BZ_OK && !baton->is_set) {
        status = sit(&baton->seat, &future);
        if (status == BZ_OK && hands_over) {
            return BZ_OK;
        }
    }
    baton->is_set &= status != BZ_OK;
    return status;
}

/* --- the designs ------------------------------------------------------------------------------ */

#define SINGLE_CLAIMS (BZ_CLAIM_SINGLE_CONSUMER | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_UNAIDED)

/* Each with an event, a queue without a bound, and a baton. */
#define SINGLE(name, fault_, claims_, summary)                                                     \
    static enum bz_status name##_flag_init(void *instance, struct bz_loop *loop) {                 \
        *(struct flag *)instance = (struct flag){.seat = {.loop = loop, .fault = fault_}};         \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name##_pipe_init(void *instance, struct bz_loop *loop,                   \
                                           enum bz_queue_order order, uint32_t maxsize) {          \
        struct pipe *pipe = instance;                                                              \
        pipe->getter = (struct seat){.loop = loop, .fault = fault_};                               \
        return bz_item_queue_init(&pipe->items, loop, order, maxsize);                             \
    }                                                                                              \
    static enum bz_status name##_baton_init(void *instance, struct bz_loop *loop,                  \
                                            const int64_t *parameters) {                           \
        (void)parameters;                                                                          \
        return name##_flag_init(instance, loop);                                                   \
    }                                                                                              \
    static const struct bz_event_ops name##_flag_ops = {.instance_bytes = sizeof(struct flag),     \
                                                        .init = name##_flag_init,                  \
                                                        .set = flag_set,                           \
                                                        .clear = flag_clear,                       \
                                                        .is_set = flag_is_set,                     \
                                                        .wait = flag_wait};                        \
    static const struct bz_queue_ops name##_pipe_ops = {.instance_bytes = sizeof(struct pipe),     \
                                                        .init = name##_pipe_init,                  \
                                                        .put = pipe_put,                           \
                                                        .get = pipe_get,                           \
                                                        .try_put = pipe_put,                       \
                                                        .try_get = pipe_try_get,                   \
                                                        .size = pipe_size};                        \
    static const struct bz_modelled_ops name##_baton_ops = {sizeof(struct flag), &baton_model,     \
                                                            name##_baton_init, baton_call};        \
    DESIGN(name, SINGLE_CLAIMS | (claims_), summary, .event = &name##_flag_ops,                    \
           .queue = &name##_pipe_ops, .modelled = &name##_baton_ops,                               \
           .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_NO_BOUND,                        \
                                              .orders = 1u << BZ_QUEUE_ORDER_FIFO}})

SINGLE(single, RIGHT, BZ_CLAIM_TAKES_AT_RETURN, "an event, a queue and a baton of one waiter each");
SINGLE(single_crowded, CROWDED, 0, "the same, and a second waiter takes the place of the first");
SINGLE(single_losing, LOSING, 0,
       "the same, with waiters that are forgotten, or lose what they were handed");

#define SPSC(name, fault_, summary)                                                                \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop,                        \
                                      enum bz_queue_order order, uint32_t maxsize) {               \
        struct slot *slot = instance;                                                              \
        slot->getter = (struct seat){.loop = loop};                                                \
        slot->putter = (struct seat){.loop = loop, .fault = fault_};                               \
        return order == BZ_QUEUE_ORDER_FIFO && maxsize == 1 ? BZ_OK : BZ_FAILED;                   \
    }                                                                                              \
    static const struct bz_queue_ops name##_ops = {.instance_bytes = sizeof(struct slot),          \
                                                   .init = name##_init,                            \
                                                   .put = slot_put,                                \
                                                   .get = slot_get,                                \
                                                   .try_put = slot_try_put,                        \
                                                   .try_get = slot_try_get,                        \
                                                   .size = slot_size};                             \
    DESIGN(name, SINGLE_CLAIMS | BZ_CLAIM_SINGLE_PRODUCER | BZ_CLAIM_TAKES_AT_RETURN, summary,     \
           .queue = &name##_ops,                                                                   \
           .offers = {[BZ_PRIMITIVE_QUEUE] = {                                                     \
                          .least = 1, .most = 1, .orders = 1u << BZ_QUEUE_ORDER_FIFO}})

SPSC(spsc, RIGHT, "a slot for one producer and one consumer");
SPSC(spsc_crowded, CROWDED, "the same, and a second producer takes the place of the first");
