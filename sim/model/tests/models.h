/* Models of some primitives, as an author writes them. */
#ifndef BZ_SIM_MODEL_TESTS_MODELS_H
#define BZ_SIM_MODEL_TESTS_MODELS_H

#include "sim/model/history.h"

#define MODEL(title, state, operations, ...)                                                       \
    {                                                                                              \
        .name = title, .state_bytes = sizeof(state), .ops = operations,                            \
        .op_count = sizeof operations / sizeof operations[0], __VA_ARGS__                          \
    }

/* --- a semaphore; with one permit, a lock ----------------------------------------------------- */

enum { ACQUIRE, RELEASE, TRY_ACQUIRE };

struct semaphore_state {
    int64_t free;
};

static inline void semaphore_start(void *state, const int64_t *parameters) {
    ((struct semaphore_state *)state)->free = parameters[0];
}

static inline bool semaphore_step(void *state, uint32_t op, const int64_t *arguments,
                                  int64_t *answer) {
    struct semaphore_state *semaphore = state;
    bool is_enough = op == RELEASE || semaphore->free >= arguments[0];
    if (is_enough) {
        semaphore->free += op == RELEASE ? arguments[0] : -arguments[0];
    }
    *answer = op == TRY_ACQUIRE && is_enough;
    return is_enough || op == TRY_ACQUIRE;
}

#define PERMITS .argument_count = 1, .arguments = {{.name = "permits", .least = 1, .most = 3}}

static const struct bz_model_op semaphore_ops[] = {
    [ACQUIRE] =
        {.name = "acquire", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = RELEASE, PERMITS},
    [RELEASE] = {.name = "release", PERMITS},
    [TRY_ACQUIRE] = {.name = "try_acquire", PERMITS},
};

static const struct bz_model semaphore_model =
    MODEL("semaphore", struct semaphore_state, semaphore_ops, .step = semaphore_step,
          .parameter_count = 1, .start = semaphore_start);

/* The same, and a cancelled acquire has had no effect at any time. */
static const struct bz_model_op strict_semaphore_ops[] = {
    [ACQUIRE] = {.name = "acquire", .line = 1, PERMITS},
    [RELEASE] = {.name = "release", PERMITS},
    [TRY_ACQUIRE] = {.name = "try_acquire", PERMITS},
};

static const struct bz_model strict_semaphore_model =
    MODEL("strict semaphore", struct semaphore_state, strict_semaphore_ops, .step = semaphore_step,
          .parameter_count = 1, .start = semaphore_start);

/* The same, and who waits is passed at most once. */
static const struct bz_model_op barging_semaphore_ops[] = {
    [ACQUIRE] = {.name = "acquire",
                 .line = 1,
                 .bypass = 1,
                 .cancel = BZ_MODEL_CANCEL_UNDOES,
                 .undo = RELEASE,
                 PERMITS},
    [RELEASE] = {.name = "release", PERMITS},
    [TRY_ACQUIRE] = {.name = "try_acquire", PERMITS},
};

static const struct bz_model barging_semaphore_model =
    MODEL("barging semaphore", struct semaphore_state, barging_semaphore_ops,
          .step = semaphore_step, .parameter_count = 1, .start = semaphore_start);

/* --- a pool of workers, of which a task gets any free one ------------------------------------- */

enum { HIRE, DISMISS };

static inline void workers_start(void *state, const int64_t *parameters) {
    *(int64_t *)state = (INT64_C(1) << parameters[0]) - 1; /* the free ones, as bits */
}

static inline bool workers_step(void *state, uint32_t op, const int64_t *arguments,
                                int64_t *answer) {
    int64_t *free = state, bit = INT64_C(1) << arguments[0];
    bool is_free = (*free & bit) != 0;
    *answer = op == HIRE ? arguments[0] : 0;
    *free = op == HIRE ? *free & ~bit : *free | bit;
    return op == DISMISS || is_free;
}

static const struct bz_model_op workers_ops[] = {
    [HIRE] = {.name = "hire",
              .line = 1,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = DISMISS,
              .argument_count = 1,
              .arguments = {{.name = "worker", .least = 0, .most = 1, .is_chosen = true}}},
    [DISMISS] = {.name = "dismiss",
                 .gives_back = 1 + HIRE,
                 .argument_count = 1,
                 .arguments = {{.name = "worker", .least = 0, .most = 1}}},
};

static const struct bz_model workers_model =
    MODEL("workers", int64_t, workers_ops, .step = workers_step, .parameter_count = 1,
          .start = workers_start);

/* --- a lock that knows its owner -------------------------------------------------------------- */

enum { LOCK, UNLOCK };

struct lock_state {
    int64_t owner; /* 0: nobody */
};

static inline bool lock_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct lock_state *lock = state;
    bool is_owner = lock->owner == arguments[0];
    bool completes = op == UNLOCK || lock->owner == 0;
    *answer = op == LOCK || is_owner; /* 0: refused */
    lock->owner = op == LOCK ? arguments[0] : is_owner ? 0 : lock->owner;
    return completes;
}

#define OWNER .argument_count = 1, .arguments = {{.name = "owner", .least = 1, .most = 9}}

static const struct bz_model_op lock_ops[] = {
    [LOCK] = {.name = "lock", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = UNLOCK, OWNER},
    [UNLOCK] = {.name = "unlock", OWNER},
};

static const struct bz_model lock_model =
    MODEL("lock", struct lock_state, lock_ops, .step = lock_step);

/* --- an event --------------------------------------------------------------------------------- */

enum { WAIT, SET, CLEAR };

static inline bool event_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *is_set = state;
    (void)arguments;
    *answer = op == WAIT;
    *is_set = op == WAIT ? *is_set : op == SET;
    return op != WAIT || *is_set;
}

static const struct bz_model_op event_ops[] = {
    [WAIT] = {.name = "wait"}, [SET] = {.name = "set"}, [CLEAR] = {.name = "clear"}};

static const struct bz_model event_model = MODEL("event", int64_t, event_ops, .step = event_step);

/* --- a barrier for two, whose wait has two moments ---------------------------------------------
 */

enum { MEET, ARRIVE, GIVE_UP };

struct barrier_state {
    int64_t round;
    int64_t arrived;
};

static inline bool barrier_step(void *state, uint32_t op, const int64_t *arguments,
                                int64_t *ticket) {
    struct barrier_state *barrier = state;
    (void)arguments;
    if (op == ARRIVE) {
        *ticket = barrier->round;
        barrier->arrived++;
        barrier->round += barrier->arrived / 2;
        barrier->arrived %= 2;
        return true;
    }
    bool is_over = *ticket < barrier->round;
    barrier->arrived -= op == GIVE_UP && !is_over;
    *ticket = 0;
    return op == GIVE_UP || is_over;
}

static const struct bz_model_op barrier_ops[] = {
    [MEET] = {.name = "meet",
              .begins_with = 1 + ARRIVE,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = GIVE_UP},
    [ARRIVE] = {.name = "arrive", .is_hidden = true},
    [GIVE_UP] = {.name = "give_up", .is_hidden = true}};

static const struct bz_model barrier_model =
    MODEL("barrier", struct barrier_state, barrier_ops, .step = barrier_step);

/* The same, and who meets may go on alone, though it need not. */
enum { ALONE = 3 };

static inline bool shy_step(void *state, uint32_t op, const int64_t *arguments, int64_t *ticket) {
    return barrier_step(state, op == ALONE ? GIVE_UP : op, arguments, ticket);
}

static const struct bz_model_op shy_ops[] = {[MEET] = {.name = "meet",
                                                       .begins_with = 1 + ARRIVE,
                                                       .or_else = 1 + ALONE,
                                                       .cancel = BZ_MODEL_CANCEL_UNDOES,
                                                       .undo = GIVE_UP},
                                             [ARRIVE] = {.name = "arrive", .is_hidden = true},
                                             [GIVE_UP] = {.name = "give_up", .is_hidden = true},
                                             [ALONE] = {.name = "alone", .is_hidden = true}};

static const struct bz_model shy_model =
    MODEL("barrier", struct barrier_state, shy_ops, .step = shy_step);

/* --- a meter that takes one token every 4 ns, and a peek that never waits ----------------------
 */

enum { POUR, PEEK };

static inline void meter_pass(void *state, uint64_t elapsed_ns) {
    int64_t *left_ns = state;
    *left_ns -= *left_ns < (int64_t)elapsed_ns ? *left_ns : (int64_t)elapsed_ns;
}

static inline bool meter_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    int64_t *left_ns = state;
    (void)arguments;
    *answer = op == PEEK ? *left_ns : 0;
    if (op == POUR && *left_ns == 0) {
        *left_ns = 4;
        return true;
    }
    return op == PEEK;
}

static const struct bz_model_op meter_ops[] = {
    [POUR] = {.name = "pour", .line = 1}, [PEEK] = {.name = "peek"}};

static const struct bz_model meter_model =
    MODEL("meter", int64_t, meter_ops, .step = meter_step, .pass = meter_pass, .settles_ns = 4);

/* --- a bounded queue, first in, first out ------------------------------------------------------
 */

enum { GET, PUT };

#define QUEUE_BOUND 2

struct queue_state {
    int64_t count;
    int64_t items[QUEUE_BOUND];
};

static inline bool queue_step(void *state, uint32_t op, const int64_t *arguments, int64_t *answer) {
    struct queue_state *queue = state;
    if (queue->count == (op == GET ? 0 : QUEUE_BOUND)) {
        return false;
    }
    if (op == PUT) {
        queue->items[queue->count] = arguments[0];
        queue->count++;
        return true;
    }
    *answer = queue->items[0];
    queue->count--;
    queue->items[0] = queue->count > 0 ? queue->items[1] : 0;
    queue->items[1] = 0;
    return true;
}

static const struct bz_model_op queue_ops[] = {
    [GET] = {.name = "get", .line = 1},
    [PUT] = {.name = "put",
             .line = 2,
             .cancel = BZ_MODEL_CANCEL_MAY_DO_ALL,
             .argument_count = 1,
             .arguments = {{.name = "item", .least = 0, .most = 99}}},
};

static const struct bz_model queue_model =
    MODEL("queue", struct queue_state, queue_ops, .step = queue_step);

/* --- a lock for readers and writers; readers let writers pass ----------------------------------
 */

enum { READ, END_READ, WRITE, END_WRITE };

struct rwlock_state {
    int64_t readers, writers;
};

static inline bool rwlock_step(void *state, uint32_t op, const int64_t *arguments,
                               int64_t *answer) {
    struct rwlock_state *lock = state;
    bool is_free = lock->writers == 0 && (op == READ || lock->readers == 0);
    (void)arguments;
    (void)answer;
    lock->readers += op == READ ? 1 : op == END_READ ? -1 : 0;
    lock->writers += op == WRITE ? 1 : op == END_WRITE ? -1 : 0;
    return is_free || op == END_READ || op == END_WRITE;
}

static const struct bz_model_op rwlock_ops[] = {
    [READ] = {.name = "read",
              .yields_to = 1u << WRITE,
              .cancel = BZ_MODEL_CANCEL_UNDOES,
              .undo = END_READ},
    [END_READ] = {.name = "end_read"},
    [WRITE] = {.name = "write", .line = 1, .cancel = BZ_MODEL_CANCEL_UNDOES, .undo = END_WRITE},
    [END_WRITE] = {.name = "end_write"},
};

static const struct bz_model rwlock_model =
    MODEL("rwlock", struct rwlock_state, rwlock_ops, .step = rwlock_step);

/* --- a mailbox: who came first gets the next letter; a look into it may find none ----------------
 */

enum { FETCH, POST, LOOK, COME, GO, MISS };

struct mailbox_state {
    int64_t letters;
    int64_t callers;
    int64_t first; /* the caller that is served next */
};

static inline bool mailbox_step(void *state, uint32_t op, const int64_t *arguments,
                                int64_t *answer) {
    struct mailbox_state *mailbox = state;
    (void)arguments;
    switch (op) {
    case FETCH:
        if (mailbox->letters == 0 || *answer != mailbox->first + 1) {
            return false;
        }
        mailbox->letters--;
        mailbox->first++;
        *answer = 0;
        return true;
    case LOOK:
        *answer = 0;
        return mailbox->letters-- > 0;
    case COME:
        *answer = ++mailbox->callers;
        return true;
    case GO: /* only the last caller ever leaves in the tests */
        mailbox->callers--;
        return true;
    case POST:
        mailbox->letters++;
        return true;
    default: /* MISS */
        *answer = -1;
        return true;
    }
}

static const struct bz_model_op mailbox_ops[] = {
    [FETCH] = {.name = "fetch",
               .begins_with = 1 + COME,
               .begins_at_call = true,
               .cancel = BZ_MODEL_CANCEL_UNDOES,
               .undo = GO},
    [POST] = {.name = "post"},
    [LOOK] = {.name = "look", .line = 1, .or_else = 1 + MISS, .ends_by_itself = true},
    [COME] = {.name = "come", .is_hidden = true},
    [GO] = {.name = "go", .is_hidden = true},
    [MISS] = {.name = "miss", .is_hidden = true}};

static const struct bz_model mailbox_model =
    MODEL("mailbox", struct mailbox_state, mailbox_ops, .step = mailbox_step);

#endif
