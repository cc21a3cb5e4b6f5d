/* Primitives with models of their own, whose answers may be several or refusals, or depend on who
 * waits. Each has a faulty sibling. */
#include <string.h>

#include "scenarios/tests/designs/designs.h"
#include "scenarios/variants/modelled.h"

#define DESIGN_OF_MODEL(name, type, summary)                                                       \
    static enum bz_status name##_init(void *instance, struct bz_loop *loop,                        \
                                      const int64_t *parameters) {                                 \
        return type##_begin(instance, loop, parameters[0], false);                                 \
    }                                                                                              \
    static enum bz_status name##_faulty_init(void *instance, struct bz_loop *loop,                 \
                                             const int64_t *parameters) {                          \
        return type##_begin(instance, loop, parameters[0], true);                                  \
    }                                                                                              \
    static const struct bz_modelled_ops name##_ops = {sizeof(struct type), &type##_model,          \
                                                      name##_init, type##_call};                   \
    static const struct bz_modelled_ops name##_faulty_ops = {sizeof(struct type), &type##_model,   \
                                                             name##_faulty_init, type##_call};     \
    DESIGN(name, 0, summary, .modelled = &name##_ops);                                             \
    DESIGN(name##_faulty, 0, summary ", with a fault", .modelled = &name##_faulty_ops)

#define MODEL(type, state_, count, ...)                                                            \
    static const struct bz_model type##_model = {.name = #type,                                    \
                                                 .state_bytes = sizeof(state_),                    \
                                                 .parameter_count = count,                         \
                                                 .ops = type##_model_ops,                          \
                                                 .op_count = sizeof type##_model_ops /             \
                                                             sizeof type##_model_ops[0],           \
                                                 .step = type##_step,                              \
                                                 __VA_ARGS__}

/* --- workers: a task gets any free one ---------------------------------------------------------
 */

#define WORKERS_MAX 8 /* the most of the parameter `capacity` */

enum { HIRE, DISMISS };

static void workers_start(void *state, const int64_t *parameters) {
    *(int64_t *)state = (INT64_C(1) << parameters[0]) - 1; /* the free ones, as bits */
}

static bool workers_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *free = state, bit = INT64_C(1) << arguments[0];
    bool is_free = (*free & bit) != 0;
    *answer = op == HIRE ? arguments[0] : 0;
    *free ^= bit;
    return is_free == (op == HIRE);
}

static const struct bz_model_op workers_model_ops[] = {
    [HIRE] = {.name = "acquire",
              .line = 1,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = DISMISS,
              .argument_count = 1,
              .arguments = {{"worker", 0, WORKERS_MAX - 1, .is_chosen = true}}},
    [DISMISS] = {.name = "release",
                 .gives_back = 1 + HIRE,
                 .argument_count = 1,
                 .arguments = {{"worker", 0, WORKERS_MAX - 1}}},
};
MODEL(workers, int64_t, 1, .start = workers_start);

struct workers {
    struct bz_loop *loop;
    struct bz_list queue;
    bool is_faulty;
    uint32_t free_count;
    int64_t free[WORKERS_MAX]; /* a stack */
};

struct client_of_workers {
    struct place place; /* first: it is found by it */
    int64_t worker;
};

static enum bz_status workers_begin(struct workers *self, struct bz_loop *loop, int64_t count,
                                    bool is_faulty) {
    self->loop = loop;
    self->is_faulty = is_faulty;
    bz_list_init(&self->queue);
    for (int64_t worker = 0; worker < count; worker++) {
        self->free[self->free_count++] = worker;
    }
    return BZ_OK;
}

static void dismiss(struct workers *self, int64_t worker) {
    struct bz_list *link;
    while ((link = bz_list_pop_front(&self->queue)) != NULL) {
        if (bz_future_set_result(&place_of(link)->future, 0) == BZ_OK) {
            ((struct client_of_workers *)(void *)place_of(link))->worker = worker;
            return;
        }
    }
    self->free[self->free_count++] = worker;
}

/* The fault: a worker that was handed to a client that is cancelled is offered to nobody. */
static enum bz_status workers_call(void *instance, uint32_t op, const int64_t *arguments,
                                   int64_t *answer) {
    struct workers *self = instance;
    if (op == DISMISS) {
        dismiss(self, arguments[0]);
        return BZ_OK;
    }
    if (self->free_count > 0) {
        *answer = self->free[--self->free_count];
        return BZ_OK;
    }
    struct client_of_workers client;
    place_join(&self->queue, &client.place, self->loop);
    enum bz_status status = bz_future_await(&client.place.future);
    place_leave(&client.place);
    if (status == BZ_OK) {
        *answer = client.worker;
    } else if (place_is_woken(&client.place)) {
        if (self->is_faulty) {
            self->free[self->free_count++] = client.worker;
        } else {
            dismiss(self, client.worker);
        }
    }
    return status;
}

DESIGN_OF_MODEL(workers, workers, "a task gets any free worker");

/* --- bulkhead: so many run, so many may wait, and others are refused ---------------------------
 */

#define BULKHEAD_QUEUE 1

enum { ENTER, EXIT, ARRIVE, LEAVE };

struct bulkhead_state {
    int64_t places; /* that are free */
    int64_t arrivals;
    struct bz_model_line waiting, admitted; /* arrivals */
};

static void bulkhead_start(void *state, const int64_t *parameters) {
    ((struct bulkhead_state *)state)->places = parameters[0];
}

static bool bulkhead_exits(struct bulkhead_state *state) {
    if (state->waiting.count > 0) {
        bz_model_line_push(&state->admitted, bz_model_line_take(&state->waiting, 0));
    } else {
        state->places++;
    }
    return true;
}

/* The ticket; 0: refused. */
static int64_t bulkhead_arrive(struct bulkhead_state *state) {
    if (state->places == 0 && state->waiting.count == BULKHEAD_QUEUE) {
        return 0;
    }
    bz_model_line_push(state->places > 0 ? &state->admitted : &state->waiting, ++state->arrivals);
    state->places -= state->places > 0;
    return state->arrivals;
}

static bool bulkhead_step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct bulkhead_state *state = memory;
    int64_t ticket = *answer;
    (void)arguments;
    *answer = 0;
    switch (op) {
    case ENTER:
        *answer = ticket == 0 ? -BZ_FULL : 0;
        return ticket == 0 || bz_model_line_remove(&state->admitted, ticket);
    case EXIT:
        return bulkhead_exits(state);
    case ARRIVE:
        *answer = bulkhead_arrive(state);
        return true;
    default: /* LEAVE */
        return bz_model_line_remove(&state->admitted, ticket)
                   ? bulkhead_exits(state)
                   : bz_model_line_remove(&state->waiting, ticket) || ticket == 0;
    }
}

static const struct bz_model_op bulkhead_model_ops[] = {
    [ENTER] = {.name = "acquire",
               .begins_with = 1 + ARRIVE,
               .begins_at_call = true,
               .cancel = BZ_MODEL_CANCEL_UNDOES,
               .undo = LEAVE},
    [EXIT] = {.name = "release", .gives_back = 1 + ENTER},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [LEAVE] = {.name = "leave", .is_hidden = true},
};
MODEL(bulkhead, struct bulkhead_state, 1, .start = bulkhead_start);

struct bulkhead {
    struct bz_loop *loop;
    struct bz_list queue;
    bool is_faulty;
    int64_t places;
    uint32_t ghosts; /* in the line, as the faulty one believes */
};

static enum bz_status bulkhead_begin(struct bulkhead *self, struct bz_loop *loop, int64_t places,
                                     bool is_faulty) {
    self->loop = loop;
    self->is_faulty = is_faulty;
    self->places = places;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static void bulkhead_exit(struct bulkhead *self) {
    self->places += !place_wake_first(&self->queue);
}

static uint32_t bulkhead_waiting(const struct bulkhead *self) {
    return place_count(&self->queue, BZ_FUTURE_PENDING) +
           place_count(&self->queue, BZ_FUTURE_CANCELLED) + self->ghosts;
}

/* The fault: who is cancelled in the line counts for ever. */
static enum bz_status bulkhead_call(void *instance, uint32_t op, const int64_t *arguments,
                                    int64_t *answer) {
    struct bulkhead *self = instance;
    (void)arguments;
    (void)answer;
    if (op == EXIT) {
        bulkhead_exit(self);
        return BZ_OK;
    }
    if (self->places > 0) {
        self->places--;
        return BZ_OK;
    }
    if (bulkhead_waiting(self) >= BULKHEAD_QUEUE) {
        return BZ_FULL;
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    if (status != BZ_OK && place_is_woken(&place)) {
        bulkhead_exit(self);
    } else if (status != BZ_OK) {
        self->ghosts += self->is_faulty;
    }
    return status;
}

DESIGN_OF_MODEL(bulkhead, bulkhead, "a limit of those that run, and of those that wait");

/* --- trylock: a try may fail for no reason -----------------------------------------------------
 */

enum { LOCK, UNLOCK, TRY, UNLOCK_TRIED };

static bool trylock_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *is_held = state;
    bool was_held = *is_held != 0;
    bool fails = op == TRY && arguments[0] == 0;
    if (!fails) {
        *is_held = op == LOCK || op == TRY;
    }
    *answer = op == TRY && !fails;
    return fails || op == UNLOCK || op == UNLOCK_TRIED || !was_held;
}

static const struct bz_model_op trylock_model_ops[] = {
    [LOCK] = {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = UNLOCK},
    [UNLOCK] = {.name = "release", .gives_back = 1 + LOCK},
    [TRY] = {.name = "try_acquire",
             .zero_refuses = true,
             .argument_count = 1,
             .arguments = {{"luck", 0, 1, .is_chosen = true}}},
    [UNLOCK_TRIED] = {.name = "release", .gives_back = 1 + TRY},
};
MODEL(trylock, int64_t, 0);

struct trylock {
    struct bz_loop *loop;
    struct bz_list queue;
    bool is_faulty;
    bool is_held;
    bool is_promised; /* to a task that has not resumed */
    uint32_t tries;
};

static enum bz_status trylock_begin(struct trylock *self, struct bz_loop *loop, int64_t unused,
                                    bool is_faulty) {
    (void)unused;
    self->loop = loop;
    self->is_faulty = is_faulty;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static void trylock_release(struct trylock *self) {
    self->is_held = self->is_promised = place_wake_first(&self->queue);
}

/* The fault: a try takes the lock that was promised to another task. */
static enum bz_status trylock_call(void *instance, uint32_t op, const int64_t *arguments,
                                   int64_t *answer) {
    struct trylock *self = instance;
    (void)arguments;
    if (op == UNLOCK || op == UNLOCK_TRIED) {
        trylock_release(self);
        return BZ_OK;
    }
    if (op == TRY) {
        bool is_free = !self->is_held || (self->is_faulty && self->is_promised);
        *answer = is_free && self->tries++ % 3 != 0;
        self->is_held |= *answer != 0;
        return BZ_OK;
    }
    if (!self->is_held) {
        self->is_held = true;
        return BZ_OK;
    }
    struct place place;
    place_join(&self->queue, &place, self->loop);
    enum bz_status status = bz_future_await(&place.future);
    place_leave(&place);
    self->is_promised &= !place_is_woken(&place);
    if (status != BZ_OK && place_is_woken(&place)) {
        trylock_release(self);
    }
    return status;
}

DESIGN_OF_MODEL(trylock, trylock, "a lock whose try fails now and then");

/* --- bell: a notify that counts rounds ---------------------------------------------------------
 */

/* As bz_model_notify has them: a wait, notify_one, two hidden ones, notify_waiters. */
enum { BELL_WAIT, BELL_ONE, BELL_WAITERS = 4 };

#define bell_model bz_model_notify

struct bell {
    struct bz_loop *loop;
    struct bz_list queue;
    bool is_faulty;
    bool has_permit;
};

struct bell_waiter {
    struct place place; /* first: it is found by it */
    bool is_by_all;
};

static enum bz_status bell_begin(struct bell *self, struct bz_loop *loop, int64_t unused,
                                 bool is_faulty) {
    (void)unused;
    self->loop = loop;
    self->is_faulty = is_faulty;
    bz_list_init(&self->queue);
    return BZ_OK;
}

static void bell_one(struct bell *self) {
    self->has_permit |= !place_wake_first(&self->queue);
}

static enum bz_status bell_wait(struct bell *self) {
    struct bell_waiter waiter = {.is_by_all = false};
    if (self->has_permit) {
        self->has_permit = false;
        return BZ_OK;
    }
    place_join(&self->queue, &waiter.place, self->loop);
    enum bz_status status = bz_future_await(&waiter.place.future);
    place_leave(&waiter.place);
    if (status != BZ_OK && place_is_woken(&waiter.place) && !waiter.is_by_all) {
        bell_one(self);
    }
    return status;
}

/* The fault: notify_waiters stores a permit if nobody waits. */
static enum bz_status bell_call(void *instance, uint32_t op, const int64_t *arguments,
                                int64_t *answer) {
    struct bell *self = instance;
    (void)arguments;
    (void)answer;
    if (op == BELL_WAIT) {
        return bell_wait(self);
    }
    if (op == BELL_ONE) {
        bell_one(self);
        return BZ_OK;
    }
    self->has_permit |= self->is_faulty && bz_list_is_empty(&self->queue);
    for (struct bz_list *link = self->queue.next; link != &self->queue; link = link->next) {
        ((struct bell_waiter *)(void *)place_of(link))->is_by_all = true;
    }
    while (place_wake_first(&self->queue)) {
    }
    return BZ_OK;
}

DESIGN_OF_MODEL(bell, bell, "notify_one stores a permit, notify_waiters does not");

/* --- broadcast: a receiver gets what is sent after it came -------------------------------------
 */

#define RECEIVERS_MAX 16 /* as many as the scenario has tasks */
#define KEPT 2           /* values; a slow receiver misses older ones */

enum { SUBSCRIBE, UNSUBSCRIBE, RECEIVE, SEND };

struct broadcast_state {
    struct {
        int64_t is_there;
        int64_t count;
        int64_t values[KEPT];
    } receivers[RECEIVERS_MAX];
};

static void broadcast_sent(struct broadcast_state *state, int64_t value) {
    for (uint32_t number = 0; number < RECEIVERS_MAX; number++) {
        int64_t *count = &state->receivers[number].count;
        int64_t *values = state->receivers[number].values;
        if (state->receivers[number].is_there == 0) {
            continue;
        }
        if (*count == KEPT) {
            memmove(values, values + 1, (KEPT - 1) * sizeof *values);
            --*count;
        }
        values[(*count)++] = value;
    }
}

static bool broadcast_receives(struct broadcast_state *state, int64_t number, int64_t *answer) {
    int64_t *values = state->receivers[number].values;
    if (state->receivers[number].count == 0) {
        return false;
    }
    *answer = values[0];
    memmove(values, values + 1, (KEPT - 1) * sizeof *values);
    values[--state->receivers[number].count] = 0;
    return true;
}

static bool broadcast_step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct broadcast_state *state = memory;
    int64_t *is_there = op == SEND ? NULL : &state->receivers[arguments[0]].is_there;
    switch (op) {
    case SUBSCRIBE:
        *answer = arguments[0];
        *is_there += 1;
        return *is_there == 1;
    case RECEIVE:
        return broadcast_receives(state, arguments[0], answer);
    case SEND:
        broadcast_sent(state, arguments[0]);
        return true;
    default: /* UNSUBSCRIBE */
        memset(&state->receivers[arguments[0]], 0, sizeof state->receivers[0]);
        return true;
    }
}

#define RECEIVER .argument_count = 1, .arguments = {{"receiver", 0, RECEIVERS_MAX - 1}}

static const struct bz_model_op broadcast_model_ops[] = {
    [SUBSCRIBE] = {.name = "subscribe",
                   .argument_count = 1,
                   .arguments = {{"receiver", 0, RECEIVERS_MAX - 1, .is_chosen = true}}},
    [UNSUBSCRIBE] = {.name = "unsubscribe", .gives_back = 1 + SUBSCRIBE, RECEIVER},
    [RECEIVE] = {.name = "get", .needs = 1 + SUBSCRIBE, RECEIVER},
    [SEND] = {.name = "send", BZ_MODEL_VALUE},
};
MODEL(broadcast, struct broadcast_state, 0);

/* A ring of values; each receiver knows the number of the next one. */
struct broadcast {
    struct bz_loop *loop;
    bool is_faulty;
    uint64_t sent;
    int64_t values[KEPT];
    struct {
        bool is_there;
        uint64_t next;
        struct bz_list queue;
    } receivers[RECEIVERS_MAX];
};

static enum bz_status broadcast_begin(struct broadcast *self, struct bz_loop *loop, int64_t unused,
                                      bool is_faulty) {
    (void)unused;
    self->loop = loop;
    self->is_faulty = is_faulty;
    for (uint32_t number = 0; number < RECEIVERS_MAX; number++) {
        bz_list_init(&self->receivers[number].queue);
    }
    return BZ_OK;
}

/* The fault: a receiver begins with the last value that was sent before it came. */
static int64_t subscribe(struct broadcast *self) {
    int64_t number = 0;
    while (self->receivers[number].is_there) {
        number++;
    }
    self->receivers[number].is_there = true;
    self->receivers[number].next = self->sent - (self->is_faulty && self->sent > 0);
    return number;
}

static enum bz_status broadcast_get(struct broadcast *self, int64_t number, int64_t *value) {
    uint64_t *next = &self->receivers[number].next;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && *next == self->sent) {
        struct place place;
        place_join(&self->receivers[number].queue, &place, self->loop);
        status = bz_future_await(&place.future);
        place_leave(&place);
    }
    if (status == BZ_OK) {
        *next = self->sent - *next > KEPT ? self->sent - KEPT : *next;
        *value = self->values[(*next)++ % KEPT];
    }
    return status;
}

static enum bz_status broadcast_call(void *instance, uint32_t op, const int64_t *arguments,
                                     int64_t *answer) {
    struct broadcast *self = instance;
    switch (op) {
    case SUBSCRIBE:
        *answer = subscribe(self);
        return BZ_OK;
    case UNSUBSCRIBE:
        self->receivers[arguments[0]].is_there = false;
        return BZ_OK;
    case RECEIVE:
        return broadcast_get(self, arguments[0], answer);
    default: /* SEND */
        self->values[self->sent++ % KEPT] = arguments[0];
        for (uint32_t number = 0; number < RECEIVERS_MAX; number++) {
            (void)place_wake_first(&self->receivers[number].queue);
        }
        return BZ_OK;
    }
}

DESIGN_OF_MODEL(broadcast, broadcast, "a receiver gets what is sent after it came");

/* --- select: the first item of any of two queues -----------------------------------------------
 */

#define ARMS 2
#define ITEMS_MAX 64

enum { SELECT, PUT, PUT_BACK };

struct select_state {
    struct {
        int64_t count;
        int64_t items[ITEMS_MAX + 1]; /* the last one: of a task that is cancelled */
    } arms[ARMS];
};

/* An item is even in the one arm and odd in the other. */
static bool select_step(void *memory, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct select_state *state = memory;
    int64_t item = arguments[0];
    int64_t arm = op == SELECT ? arguments[0] : item % ARMS;
    int64_t *count = &state->arms[arm].count, *items = state->arms[arm].items;
    if (op == SELECT && *count == 0) {
        return false;
    }
    if (op == SELECT) {
        *answer = items[0];
        --*count;
        memmove(items, items + 1, (size_t)*count * sizeof *items);
        items[*count] = 0;
    } else if (op == PUT) {
        *answer = *count == ITEMS_MAX ? -BZ_FULL : 0;
        items[*count] = item;
        *count += *count < ITEMS_MAX;
    } else {
        memmove(items + 1, items, (size_t)*count * sizeof *items);
        items[0] = item;
        ++*count;
    }
    return true;
}

static const struct bz_model_op select_model_ops[] = {
    [SELECT] = {.name = "get",
                .cancel = BZ_MODEL_CANCEL_UNDOES,
                .undo = PUT_BACK,
                .argument_count = 1,
                .arguments = {{"arm", 0, ARMS - 1, .is_chosen = true}}},
    [PUT] = {.name = "send", BZ_MODEL_VALUE},
    [PUT_BACK] = {.name = "put_back", .is_hidden = true},
};
MODEL(select, struct select_state, 0);

/* Items lie in the model's own queues; who waits, waits at both. */
struct select {
    struct bz_loop *loop;
    struct bz_list queue;
    bool is_faulty;
    int64_t turn; /* the arm that is looked into first */
    struct select_state items;
};

struct selector {
    struct place place; /* first: it is found by it */
    int64_t item;
};

static enum bz_status select_begin(struct select *self, struct bz_loop *loop, int64_t unused,
                                   bool is_faulty) {
    (void)unused;
    self->loop = loop;
    self->is_faulty = is_faulty;
    bz_list_init(&self->queue);
    return BZ_OK;
}

/* Hands an item to a waiter; false: nobody waits. */
static bool select_hands(struct select *self, int64_t item) {
    struct bz_list *first;
    while ((first = bz_list_pop_front(&self->queue)) != NULL) {
        if (bz_future_set_result(&place_of(first)->future, 0) == BZ_OK) {
            ((struct selector *)(void *)place_of(first))->item = item;
            return true;
        }
    }
    return false;
}

/* The fault: the item of a cancelled waiter goes to the end of its queue. */
static enum bz_status select_call(void *instance, uint32_t op, const int64_t *arguments,
                                  int64_t *answer) {
    struct select *self = instance;
    if (op == PUT) {
        if (!select_hands(self, arguments[0])) {
            select_step(&self->items, PUT, arguments, answer);
        }
        return *answer == 0 ? BZ_OK : BZ_FULL;
    }
    for (int64_t tried = 0; tried < ARMS; tried++) {
        int64_t arm = self->turn++ % ARMS;
        if (select_step(&self->items, SELECT, &arm, answer)) {
            return BZ_OK;
        }
    }
    struct selector selector;
    place_join(&self->queue, &selector.place, self->loop);
    enum bz_status status = bz_future_await(&selector.place.future);
    place_leave(&selector.place);
    *answer = selector.item;
    if (status != BZ_OK && place_is_woken(&selector.place) && !select_hands(self, selector.item)) {
        select_step(&self->items, self->is_faulty ? PUT : PUT_BACK, &selector.item, answer);
    }
    return status;
}

DESIGN_OF_MODEL(select, select, "the first item of any of two queues");
