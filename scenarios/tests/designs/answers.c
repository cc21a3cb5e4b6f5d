/* Primitives that may give one of several answers, with models of their own. */
#include "scenarios/tests/designs/own_models.h"

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
