/* A semaphore whose waiters stand in a line, and which is served by the rule of a test; with the
 * fault that the test wants. */
#ifndef BUZZER_SCENARIOS_TESTS_LINE_H
#define BUZZER_SCENARIOS_TESTS_LINE_H

#include "primitives/runtime/task.h"
#include "scenarios/variants/deque.h"
#include "sim/variant/variant.h"

#define SLOTS 2048u
#define CLASSES 3u
#define FIFO BZ_CLAIM_FIFO

struct place {
    struct bz_waiter *waiter; /* NULL: was lost */
    uint32_t ticket;
    uint32_t kind;
};

struct semaphore {
    struct bz_loop *loop;
    uint32_t value;
    uint32_t tickets;
    uint32_t waits;
    uint32_t next_kind;
    uint32_t head; /* of a ring */
    uint32_t capacity;
    uint32_t count;
    struct place line[SLOTS]; /* the oldest first */
};

static inline enum bz_status init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct semaphore *semaphore = instance;
    semaphore->loop = loop;
    semaphore->value = permits;
    return BZ_OK;
}

static inline void take_out(struct semaphore *semaphore, uint32_t position) {
    semaphore->count--;
    for (; position < semaphore->count; position++) {
        semaphore->line[position] = semaphore->line[position + 1];
    }
}

static inline uint32_t pick_oldest(struct semaphore *semaphore) {
    (void)semaphore;
    return 0;
}

/* That with the least ticket: the oldest, until the tickets wrap. */
static inline uint32_t pick_by_ticket(const struct semaphore *semaphore, uint32_t tickets) {
    uint32_t best = 0;
    for (uint32_t position = 1; position < semaphore->count; position++) {
        uint32_t ticket = semaphore->line[position].ticket % tickets;
        best = ticket < semaphore->line[best].ticket % tickets ? position : best;
    }
    return best;
}

static inline void serve(struct semaphore *semaphore,
                         uint32_t (*pick)(struct semaphore *semaphore)) {
    while (semaphore->value > 0 && semaphore->count > 0) {
        uint32_t position = pick(semaphore);
        struct bz_waiter *waiter = semaphore->line[position].waiter;
        take_out(semaphore, position);
        if (waiter != NULL && bz_future_set_result(&waiter->future, 0) == BZ_OK) {
            semaphore->value--; /* else it was cancelled */
        }
    }
}

static inline enum bz_status acquire_with(struct semaphore *semaphore,
                                          enum bz_status (*release)(void *instance)) {
    uint32_t ticket = semaphore->tickets++;
    if (semaphore->value > 0) {
        semaphore->value--;
        return BZ_OK;
    }
    struct bz_waiter waiter;
    bz_future_init(&waiter.future, semaphore->loop);
    semaphore->waits++;
    semaphore->line[semaphore->count++] =
        (struct place){.waiter = &waiter,
                       .ticket = ticket,
                       .kind = bz_task_id(bz_loop_current(semaphore->loop)) % CLASSES};
    enum bz_status status = bz_future_await(&waiter.future);
    if (status != BZ_OK && bz_waiter_was_woken(&waiter)) {
        (void)release(semaphore);
        return status;
    }
    for (uint32_t position = 0; status != BZ_OK && position < semaphore->count; position++) {
        if (semaphore->line[position].waiter == &waiter) {
            take_out(semaphore, position);
        }
    }
    return status;
}

static inline bool locked(void *instance) {
    return ((struct semaphore *)instance)->value == 0;
}

/* `pick_` names the waiter that is served next. */
#define SEMAPHORE(name_, claims_, init_, pick_, before_acquire_, add_permit_, ...)                 \
    static enum bz_status name_##_release(void *instance) {                                        \
        struct semaphore *self = instance;                                                         \
        add_permit_;                                                                               \
        serve(self, pick_);                                                                        \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name_##_acquire(void *instance) {                                        \
        struct semaphore *self = instance;                                                         \
        before_acquire_;                                                                           \
        return acquire_with(self, name_##_release);                                                \
    }                                                                                              \
    static const struct bz_permit_ops name_##_ops = {.instance_bytes = sizeof(struct semaphore),   \
                                                     .locked = locked,                             \
                                                     .init = init_,                                \
                                                     .acquire = name_##_acquire,                   \
                                                     .release = name_##_release};                  \
    static const struct bz_variant name_ = {.version = BZ_VARIANT_VERSION,                         \
                                            .claims = BZ_CLAIM_WAKE_IS_GRANT | (claims_),          \
                                            .name = #name_,                                        \
                                            .summary = "a test",                                   \
                                            .permits = {&name_##_ops, NULL, &name_##_ops},         \
                                            __VA_ARGS__}

#endif
