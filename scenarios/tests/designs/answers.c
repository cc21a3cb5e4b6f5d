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
    struct base base;
    int64_t busy; /* as bits; also one that is on its way to a client */
};

struct client_of_workers {
    struct bz_waiter waiter;
    int64_t worker;
};

static void dismiss(struct workers *self, int64_t worker) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&self->base.queue);
    if (oldest == NULL) {
        self->busy &= ~(INT64_C(1) << worker);
        return;
    }
    bz_deque_remove(oldest);
    bz_container_of(oldest, struct client_of_workers, waiter)->worker = worker;
    (void)bz_future_set_result(&oldest->future, 0);
}

/* The fault: a worker that was handed to a client that is cancelled is offered to nobody. */
static enum bz_status workers_call(void *instance, uint32_t op, const int64_t *arguments,
                                   int64_t *answer) {
    struct workers *self = instance;
    int64_t free = ((INT64_C(1) << self->base.capacity) - 1) & ~self->busy;
    if (op == DISMISS) {
        dismiss(self, arguments[0]);
        return BZ_OK;
    }
    if (free != 0) {
        *answer = __builtin_ctzll((unsigned long long)free);
        self->busy |= INT64_C(1) << *answer;
        return BZ_OK;
    }
    struct client_of_workers client;
    enum bz_status status = bz_deque_wait(&self->base.queue, &client.waiter);
    if (status == BZ_OK) {
        *answer = client.worker;
    } else if (bz_waiter_was_woken(&client.waiter) && self->base.is_faulty) {
        self->busy &= ~(INT64_C(1) << client.worker);
    } else if (bz_waiter_was_woken(&client.waiter)) {
        dismiss(self, client.worker);
    }
    return status;
}

DESIGN_OF_MODEL(workers, "a task gets any free worker");

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
    struct base base;
    bool is_held;
    bool is_promised; /* to a task that has not resumed */
    uint32_t tries;
};

static void trylock_release(struct trylock *self) {
    self->is_held = self->is_promised = bz_deque_pop_and_wake(&self->base.queue);
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
        bool is_free = !self->is_held || (self->base.is_faulty && self->is_promised);
        *answer = is_free && self->tries++ % 3 != 0;
        self->is_held |= *answer != 0;
        return BZ_OK;
    }
    if (!self->is_held) {
        self->is_held = true;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->base.queue, &waiter);
    self->is_promised &= !bz_waiter_was_woken(&waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        trylock_release(self);
    }
    return status;
}

DESIGN_OF_MODEL(trylock, "a lock whose try fails now and then");

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
    struct base base;
    int64_t turn; /* the arm that is looked into first */
    struct select_state items;
};

/* Hands an item to a waiter, in its future; false: nobody waits. */
static bool select_hands(struct select *self, int64_t item) {
    struct bz_waiter *oldest = bz_deque_oldest_asleep(&self->base.queue);
    if (oldest == NULL) {
        return false;
    }
    bz_deque_remove(oldest);
    return bz_future_set_result(&oldest->future, (uint64_t)item) == BZ_OK;
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
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->base.queue, &waiter);
    int64_t item = (int64_t)waiter.future.value;
    *answer = item;
    if (status != BZ_OK && bz_waiter_was_woken(&waiter) && !select_hands(self, item)) {
        select_step(&self->items, self->base.is_faulty ? PUT : PUT_BACK, &item, answer);
    }
    return status;
}

DESIGN_OF_MODEL(select, "the first item of any of two queues");
