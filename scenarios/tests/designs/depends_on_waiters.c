/* Primitives whose answers depend on who waits, with models of their own: a limit of those that
 * wait, and wake-ups for those that listen. */
#include "scenarios/tests/designs/own_models.h"

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
    struct base base;
    int64_t inside;  /* also those that are on their way in */
    uint32_t ghosts; /* in the line, as the faulty one believes */
};

static void bulkhead_exit(struct bulkhead *self) {
    self->inside -= !bz_deque_pop_and_wake(&self->base.queue);
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
    if (self->inside < self->base.capacity) {
        self->inside++;
        return BZ_OK;
    }
    if (bz_deque_length(&self->base.queue) + self->ghosts >= BULKHEAD_QUEUE) {
        return BZ_FULL;
    }
    struct bz_waiter waiter;
    enum bz_status status = bz_deque_wait(&self->base.queue, &waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        bulkhead_exit(self);
    } else if (status != BZ_OK) {
        self->ghosts += self->base.is_faulty;
    }
    return status;
}

DESIGN_OF_MODEL(bulkhead, "a limit of those that run, and of those that wait");

/* --- bell: a notify that counts rounds ---------------------------------------------------------
 */

/* As bz_model_notify has them: a wait, notify_one, two hidden ones, notify_waiters. */
enum { BELL_WAIT, BELL_ONE, BELL_WAITERS = 4 };

#define bell_model bz_model_notify

struct bell {
    struct base base;
    bool has_permit;
};

struct bell_waiter {
    struct bz_waiter waiter;
    bool is_by_all;
};

static void bell_one(struct bell *self) {
    self->has_permit |= !bz_deque_pop_and_wake(&self->base.queue);
}

static enum bz_status bell_wait(struct bell *self) {
    struct bell_waiter own = {.is_by_all = false};
    if (self->has_permit) {
        self->has_permit = false;
        return BZ_OK;
    }
    enum bz_status status = bz_deque_wait(&self->base.queue, &own.waiter);
    if (status != BZ_OK && bz_waiter_was_woken(&own.waiter) && !own.is_by_all) {
        bell_one(self);
    }
    return status;
}

/* The fault: notify_waiters stores a permit if nobody waits. */
static enum bz_status bell_call(void *instance, uint32_t op, const int64_t *arguments,
                                int64_t *answer) {
    struct bell *self = instance;
    struct bz_waiter *waiter = NULL;
    (void)arguments;
    (void)answer;
    if (op == BELL_WAIT) {
        return bell_wait(self);
    }
    if (op == BELL_ONE) {
        bell_one(self);
        return BZ_OK;
    }
    self->has_permit |= self->base.is_faulty && bz_list_is_empty(&self->base.queue.entries);
    while ((waiter = bz_deque_next(&self->base.queue, waiter)) != NULL) {
        bz_container_of(waiter, struct bell_waiter, waiter)->is_by_all = true;
    }
    while (bz_deque_pop_and_wake(&self->base.queue)) {
    }
    return BZ_OK;
}

DESIGN_OF_MODEL(bell, "notify_one stores a permit, notify_waiters does not");

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

/* A ring of values; each receiver knows the number of the next one. All wait in one queue, and all
 * are woken. */
struct broadcast {
    struct base base;
    uint64_t sent;
    int64_t values[KEPT];
    struct {
        bool is_there;
        uint64_t next;
    } receivers[RECEIVERS_MAX];
};

/* The fault: a receiver begins with the last value that was sent before it came. */
static int64_t subscribe(struct broadcast *self) {
    int64_t number = 0;
    while (self->receivers[number].is_there) {
        number++;
    }
    self->receivers[number].is_there = true;
    self->receivers[number].next = self->sent - (self->base.is_faulty && self->sent > 0);
    return number;
}

static enum bz_status broadcast_get(struct broadcast *self, int64_t number, int64_t *value) {
    uint64_t *next = &self->receivers[number].next;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && *next == self->sent) {
        struct bz_waiter waiter;
        status = bz_deque_wait(&self->base.queue, &waiter);
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
        while (bz_deque_pop_and_wake(&self->base.queue)) {
        }
        return BZ_OK;
    }
}

DESIGN_OF_MODEL(broadcast, "a receiver gets what is sent after it came");
