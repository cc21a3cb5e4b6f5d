/* An event for one waiter, a queue for one consumer, and a baton of its own model, with faulty
 * siblings. Each keeps its only waiter in a pointer. */
#include "primitives/runtime/mem.h"
#include "scenarios/tests/designs/designs.h"
#include "sim/model/model.h"

struct seat {
    struct bz_loop *loop;
    struct bz_future *sitter; /* NULL: nobody waits */
};

enum fault { RIGHT, TAKES_ANY, HANDS_OVER };

/* Waits in the seat. TAKES_ANY: without a look who sits there. */
static enum bz_status sit(struct seat *seat, struct bz_future *future, enum fault fault) {
    if (seat->sitter != NULL && fault != TAKES_ANY) {
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

static enum bz_status flag_init(void *instance, struct bz_loop *loop) {
    ((struct flag *)instance)->seat.loop = loop;
    return BZ_OK;
}

static void flag_set(void *instance) {
    struct flag *flag = instance;
    flag->is_set = true;
    call(&flag->seat);
}

static void flag_clear(void *instance) {
    ((struct flag *)instance)->is_set = false;
}

static bool flag_is_set(void *instance) {
    return ((struct flag *)instance)->is_set;
}

static enum bz_status flag_wait_by(struct flag *flag, enum fault fault) {
    struct bz_future future;
    return flag->is_set ? BZ_OK : sit(&flag->seat, &future, fault);
}

static enum bz_status flag_wait(void *instance) {
    return flag_wait_by(instance, RIGHT);
}

static enum bz_status crowded_wait(void *instance) {
    return flag_wait_by(instance, TAKES_ANY);
}

/* The fault: it also forgets who waits. */
static void forgetful_clear(void *instance) {
    struct flag *flag = instance;
    flag->is_set = false;
    flag->seat.sitter = NULL;
}

/* --- a queue ------------------------------------------------------------------------------------
 */

struct item {
    struct bz_list link;
    uint64_t value;
};

struct pipe {
    struct seat getter;
    struct bz_list items;
    uint64_t count;
};

static enum bz_status pipe_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                uint32_t maxsize) {
    struct pipe *pipe = instance;
    (void)order;
    (void)maxsize;
    pipe->getter.loop = loop;
    bz_list_init(&pipe->items);
    return BZ_OK;
}

static enum bz_status pipe_put(void *instance, uint64_t value, int64_t priority) {
    struct pipe *pipe = instance;
    struct item *item = bz_mem_alloc(bz_loop_mem(pipe->getter.loop), sizeof *item);
    (void)priority;
    if (item == NULL) {
        return BZ_NO_MEMORY;
    }
    item->value = value;
    bz_list_push_back(&pipe->items, &item->link);
    pipe->count++;
    call(&pipe->getter);
    return BZ_OK;
}

static enum bz_status pipe_try_get(void *instance, uint64_t *value) {
    struct pipe *pipe = instance;
    struct bz_list *link = bz_list_pop_front(&pipe->items);
    if (link == NULL) {
        return BZ_EMPTY;
    }
    struct item *item = bz_container_of(link, struct item, link);
    *value = item->value;
    pipe->count--;
    bz_mem_free(bz_loop_mem(pipe->getter.loop), item, sizeof *item);
    return BZ_OK;
}

static enum bz_status get_by(struct pipe *pipe, uint64_t *value, enum fault fault) {
    struct bz_future future;
    while (pipe_try_get(pipe, value) != BZ_OK) {
        enum bz_status status = sit(&pipe->getter, &future, fault);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status pipe_get(void *instance, uint64_t *value) {
    return get_by(instance, value, RIGHT);
}

static enum bz_status crowded_get(void *instance, uint64_t *value) {
    return get_by(instance, value, TAKES_ANY);
}

/* The fault: a put takes the getter's place from it although it may be cancelled by then, and hands
 * it the item. */
static enum bz_status hasty_put(void *instance, uint64_t value, int64_t priority) {
    struct pipe *pipe = instance;
    if (pipe->getter.sitter != NULL) {
        (void)bz_future_set_result(pipe->getter.sitter, value);
        pipe->getter.sitter = NULL;
        return BZ_OK;
    }
    return pipe_put(instance, value, priority);
}

static enum bz_status hasty_get(void *instance, uint64_t *value) {
    struct pipe *pipe = instance;
    struct bz_future future;
    if (pipe_try_get(pipe, value) == BZ_OK) {
        return BZ_OK;
    }
    enum bz_status status = sit(&pipe->getter, &future, RIGHT);
    *value = future.value;
    return status;
}

static uint64_t pipe_size(void *instance) {
    return ((struct pipe *)instance)->count;
}

/* --- a slot for one producer and one consumer ---------------------------------------------------
 */

struct slot {
    struct seat getter, putter;
    uint64_t value; /* 0: none */
};

static enum bz_status slot_init(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                uint32_t maxsize) {
    struct slot *slot = instance;
    slot->getter.loop = slot->putter.loop = loop;
    return order == BZ_QUEUE_ORDER_FIFO && maxsize == 1 ? BZ_OK : BZ_FAILED;
}

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

static enum bz_status put_by(struct slot *slot, uint64_t value, enum fault fault) {
    struct bz_future future;
    while (slot_try_put(slot, value, 0) != BZ_OK) {
        enum bz_status status = sit(&slot->putter, &future, fault);
        if (status != BZ_OK) {
            return status;
        }
    }
    return BZ_OK;
}

static enum bz_status slot_put(void *instance, uint64_t value, int64_t priority) {
    (void)priority;
    return put_by(instance, value, RIGHT);
}

static enum bz_status crowded_put(void *instance, uint64_t value, int64_t priority) {
    (void)priority;
    return put_by(instance, value, TAKES_ANY);
}

static enum bz_status slot_get(void *instance, uint64_t *value) {
    struct slot *slot = instance;
    struct bz_future future;
    while (slot_try_get(slot, value) != BZ_OK) {
        enum bz_status status = sit(&slot->getter, &future, RIGHT);
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

static enum bz_status baton_init(void *instance, struct bz_loop *loop, const int64_t *parameters) {
    (void)parameters;
    ((struct flag *)instance)->seat.loop = loop;
    return BZ_OK;
}

/* A waiter that was woken takes the baton when it resumes; cancelled, it leaves it. HANDS_OVER: it
 * is handed over, and lost with a cancelled waiter. */
static enum bz_status call_by(struct flag *baton, uint32_t op, enum fault fault) {
    struct bz_future future;
    enum bz_status status = BZ_OK;
    if (op == POST) {
        baton->is_set = fault != HANDS_OVER || baton->seat.sitter == NULL;
        call(&baton->seat);
        return BZ_OK;
    }
    while (status == BZ_OK && !baton->is_set) {
        status = sit(&baton->seat, &future, fault);
        if (status == BZ_OK && fault == HANDS_OVER) {
            return BZ_OK;
        }
    }
    baton->is_set &= status != BZ_OK;
    return status;
}

static enum bz_status baton_call(void *instance, uint32_t op, const int64_t *arguments,
                                 int64_t *answer) {
    (void)arguments;
    (void)answer;
    return call_by(instance, op, RIGHT);
}

static enum bz_status keeping_call(void *instance, uint32_t op, const int64_t *arguments,
                                   int64_t *answer) {
    (void)arguments;
    (void)answer;
    return call_by(instance, op, HANDS_OVER);
}

/* --- tables -------------------------------------------------------------------------------------
 */

#define EVENT(wait_, clear_)                                                                       \
    {                                                                                              \
        .instance_bytes = sizeof(struct flag), .init = flag_init, .set = flag_set,                 \
        .clear = clear_, .is_set = flag_is_set, .wait = wait_                                      \
    }
#define QUEUE(put_, get_)                                                                          \
    {                                                                                              \
        .instance_bytes = sizeof(struct pipe), .init = pipe_init, .put = put_, .get = get_,        \
        .try_put = put_, .try_get = pipe_try_get, .size = pipe_size                                \
    }
#define SLOT(put_)                                                                                 \
    {                                                                                              \
        .instance_bytes = sizeof(struct slot), .init = slot_init, .put = put_, .get = slot_get,    \
        .try_put = slot_try_put, .try_get = slot_try_get, .size = slot_size                        \
    }
#define BATON(call_)                                                                               \
    { sizeof(struct flag), &baton_model, baton_init, call_ }
#define UNBOUNDED                                                                                  \
    .offers = {[BZ_PRIMITIVE_QUEUE] = {.bounds = BZ_OFFERS_NO_BOUND,                               \
                                       .orders = 1u << BZ_QUEUE_ORDER_FIFO}}
#define SINGLE (BZ_CLAIM_SINGLE_CONSUMER | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_UNAIDED)

static const struct bz_event_ops flag_ops = EVENT(flag_wait, flag_clear);
static const struct bz_event_ops crowded_flag_ops = EVENT(crowded_wait, flag_clear);
static const struct bz_event_ops forgetful_ops = EVENT(flag_wait, forgetful_clear);
static const struct bz_queue_ops pipe_ops = QUEUE(pipe_put, pipe_get);
static const struct bz_queue_ops crowded_pipe_ops = QUEUE(pipe_put, crowded_get);
static const struct bz_queue_ops hasty_ops = QUEUE(hasty_put, hasty_get);
static const struct bz_modelled_ops baton_ops = BATON(baton_call);
static const struct bz_modelled_ops keeping_ops = BATON(keeping_call);

DESIGN(single, SINGLE | BZ_CLAIM_TAKES_AT_RETURN,
       "an event, a queue and a baton of one waiter each", .event = &flag_ops, .queue = &pipe_ops,
       .modelled = &baton_ops, UNBOUNDED);
DESIGN(single_crowded, SINGLE, "the same, and a second waiter takes the place of the first",
       .event = &crowded_flag_ops, .queue = &crowded_pipe_ops, UNBOUNDED);
DESIGN(single_losing, SINGLE,
       "the same, with waiters that are forgotten, or lose what they were handed",
       .event = &forgetful_ops, .queue = &hasty_ops, .modelled = &keeping_ops, UNBOUNDED);

static const struct bz_queue_ops slot_ops = SLOT(slot_put);
static const struct bz_queue_ops crowded_slot_ops = SLOT(crowded_put);
#define ONE_SLOT                                                                                   \
    .offers = {[BZ_PRIMITIVE_QUEUE] = {.least = 1, .most = 1, .orders = 1u << BZ_QUEUE_ORDER_FIFO}}
#define SPSC (SINGLE | BZ_CLAIM_SINGLE_PRODUCER | BZ_CLAIM_TAKES_AT_RETURN)

DESIGN(spsc, SPSC, "a slot for one producer and one consumer", .queue = &slot_ops, ONE_SLOT);
DESIGN(spsc_crowded, SPSC, "the same, and a second producer takes the place of the first",
       .queue = &crowded_slot_ops, ONE_SLOT);
