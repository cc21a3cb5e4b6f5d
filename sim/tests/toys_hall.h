/* Toys for a hall: an event, a condition with its lock, a barrier, and a semaphore that serves its
 * queue from the front, each with any of a list of faults; and the stage they are played on. The
 * faultless ones are correct, some in several ways, so that oracles can be shown to stay silent.
 *
 * Words of the guests, beside those of stage.h:
 *     pass  set  clear                          the event
 *     acquire  release  wait  notify-N          the condition; notify-9 is for all
 *     arrive  abort  reset                      the barrier
 */
#ifndef BZ_SIM_TESTS_TOYS_HALL_H
#define BZ_SIM_TESTS_TOYS_HALL_H

#include "sim/native/sut.h"
#include "sim/tests/toys.h"

#define HALL_WAKES_ONE 0x1u     /* set wakes one; a notification, one too few */
#define HALL_BLIND 0x2u         /* event: waits beside a set flag */
#define HALL_POLLS 0x4u         /* no fault, event: a waiter yields until the flag is up */
#define HALL_DROPS 0x8u         /* condition: a cancelled waiter keeps its notification */
#define HALL_RELOCKS_ONCE 0x10u /* condition: comes back without the lock when cancelled again */
#define HALL_NEVER_RELOCKS 0x20u
#define HALL_SWALLOWS 0x40u     /* condition: a cancellation on the way back is forgotten */
#define HALL_SPURIOUS 0x80u     /* no fault, condition: any cancelled waiter wakes another */
#define HALL_WAKES_DEAD 0x100u  /* no fault, condition: one on its way out is told, passes it on */
#define HALL_EARLY 0x200u       /* barrier: one too few are enough */
#define HALL_DUPLICATES 0x400u  /* barrier: the index is the number of those that wait */
#define HALL_BEYOND 0x800u      /* barrier: indices from 1 */
#define HALL_NEVER_FULL 0x1000u /* barrier: the last one waits, too */
#define HALL_YIELDS 0x4000u     /* no fault, condition: a wait yields before it lets the lock go */
#define HALL_ONE_BY_ONE 0x2000u /* semaphore: who resumes wakes one where several fit */

/* --- a queue of waiters ----------------------------------------------------------------------- */

struct hall_waiter {
    struct toy_waiter waiter;
    bool was_told; /* cancelled first, then notified */
    uint32_t index;
};

static inline struct hall_waiter *hall_waiter_of(struct bz_list *link) {
    return bz_container_of(link, struct hall_waiter, waiter.link);
}

static inline enum bz_status hall_wait(struct bz_loop *loop, struct bz_list *queue,
                                       struct hall_waiter *waiter) {
    waiter->was_told = false;
    bz_future_init(&waiter->waiter.future, loop);
    bz_list_push_back(queue, &waiter->waiter.link);
    enum bz_status status = bz_future_await(&waiter->waiter.future);
    bz_list_remove(&waiter->waiter.link);
    return status;
}

static inline bool hall_was_woken(const struct hall_waiter *waiter) {
    return waiter->was_told || waiter->waiter.future.state == BZ_FUTURE_RESULT;
}

/* Wakes up to `count`, oldest first; returns how many. */
static inline uint32_t hall_wake(struct bz_list *queue, uint32_t count, bool wakes_dead) {
    uint32_t woken = 0;
    for (struct bz_list *link = queue->next; link != queue && woken < count; link = link->next) {
        struct hall_waiter *waiter = hall_waiter_of(link);
        bool is_dead = waiter->waiter.future.state == BZ_FUTURE_CANCELLED && !waiter->was_told;
        if (wakes_dead && is_dead) {
            waiter->was_told = true;
            woken++;
        } else {
            woken += bz_future_set_result(&waiter->waiter.future, 0) == BZ_OK;
        }
    }
    return woken;
}

static inline uint32_t hall_count(struct bz_list *queue, enum bz_future_state state) {
    uint32_t count = 0;
    for (struct bz_list *link = queue->next; link != queue; link = link->next) {
        count += hall_waiter_of(link)->waiter.future.state == state;
    }
    return count;
}

struct hall_toy {
    struct bz_loop *loop;
    uint32_t faults;
    struct bz_list queue;
    struct bz_list lock_queue;
    bool is_set; /* the flag; the lock is held */
    uint32_t parties;
    uint64_t level;
};

static inline void hall_toy_init(struct hall_toy *toy, struct bz_loop *loop, uint32_t faults) {
    toy->loop = loop;
    toy->faults = faults;
    bz_list_init(&toy->queue);
    bz_list_init(&toy->lock_queue);
}

static inline uint32_t hall_queued(void *instance) {
    struct hall_toy *toy = instance;
    uint32_t count = 0;
    for (int state = BZ_FUTURE_PENDING; state <= BZ_FUTURE_CANCELLED; state++) {
        count += hall_count(&toy->queue, (enum bz_future_state)state) +
                 hall_count(&toy->lock_queue, (enum bz_future_state)state);
    }
    return count;
}

/* --- event ------------------------------------------------------------------------------------ */

static inline void hall_set(void *instance) {
    struct hall_toy *toy = instance;
    toy->is_set = true;
    hall_wake(&toy->queue, (toy->faults & HALL_WAKES_ONE) != 0 ? 1 : UINT32_MAX, false);
}

static inline void hall_clear(void *instance) {
    ((struct hall_toy *)instance)->is_set = false;
}

static inline bool hall_is_set(void *instance) {
    return ((struct hall_toy *)instance)->is_set;
}

static inline enum bz_status hall_pass(void *instance) {
    struct hall_toy *toy = instance;
    if ((toy->faults & HALL_POLLS) != 0) {
        enum bz_status status = BZ_OK;
        while (status == BZ_OK && !toy->is_set) {
            status = bz_yield(toy->loop);
        }
        return status;
    }
    if (toy->is_set && (toy->faults & HALL_BLIND) == 0) {
        return BZ_OK;
    }
    struct hall_waiter waiter;
    return hall_wait(toy->loop, &toy->queue, &waiter);
}

/* --- condition -------------------------------------------------------------------------------- */

static inline enum bz_status hall_acquire(void *instance) {
    struct hall_toy *toy = instance;
    if (!toy->is_set && hall_count(&toy->lock_queue, BZ_FUTURE_PENDING) == 0 &&
        hall_count(&toy->lock_queue, BZ_FUTURE_RESULT) == 0) {
        toy->is_set = true;
        return BZ_OK;
    }
    struct hall_waiter waiter;
    enum bz_status status = hall_wait(toy->loop, &toy->lock_queue, &waiter);
    if (status == BZ_OK) {
        toy->is_set = true;
    } else if (hall_was_woken(&waiter)) {
        hall_wake(&toy->lock_queue, 1, false);
    }
    return status;
}

static inline enum bz_status hall_release(void *instance) {
    struct hall_toy *toy = instance;
    if (!toy->is_set) {
        return BZ_NOT_HELD;
    }
    toy->is_set = false;
    hall_wake(&toy->lock_queue, 1, false);
    return BZ_OK;
}

static inline enum bz_status hall_notify(void *instance, uint32_t count) {
    struct hall_toy *toy = instance;
    count -= (toy->faults & HALL_WAKES_ONE) != 0;
    hall_wake(&toy->queue, count, (toy->faults & HALL_WAKES_DEAD) != 0);
    return BZ_OK;
}

static inline enum bz_status hall_relock(struct hall_toy *toy, enum bz_status status, bool owes) {
    for (;;) {
        if (status != BZ_OK && owes && (toy->faults & HALL_DROPS) == 0) {
            hall_wake(&toy->queue, 1, false);
            owes = false;
        }
        enum bz_status acquired = hall_acquire(toy);
        if (acquired == BZ_OK) {
            return status;
        }
        status = (toy->faults & HALL_SWALLOWS) != 0 ? status : acquired;
        if ((toy->faults & HALL_RELOCKS_ONCE) != 0) {
            hall_wake(&toy->queue, owes, false);
            return status;
        }
    }
}

static inline enum bz_status hall_condition_wait(void *instance) {
    struct hall_toy *toy = instance;
    struct hall_waiter waiter;
    if ((toy->faults & HALL_YIELDS) != 0 && bz_yield(toy->loop) != BZ_OK) {
        return BZ_CANCELLED;
    }
    enum bz_status released = hall_release(toy);
    cr_assert(eq(int, released, BZ_OK));
    enum bz_status status = hall_wait(toy->loop, &toy->queue, &waiter);
    bool owes = hall_was_woken(&waiter) || (toy->faults & HALL_SPURIOUS) != 0;
    return (toy->faults & HALL_NEVER_RELOCKS) != 0 ? status : hall_relock(toy, status, owes);
}

/* --- barrier ---------------------------------------------------------------------------------- */

/* Indices are given when the round passes; nobody is held back: who comes, fills the next round. */
static inline enum bz_status hall_arrive(void *instance, uint32_t *index) {
    struct hall_toy *toy = instance;
    bool duplicates = (toy->faults & HALL_DUPLICATES) != 0;
    uint32_t base = (toy->faults & HALL_BEYOND) != 0;
    uint32_t waiting = hall_count(&toy->queue, BZ_FUTURE_PENDING);
    uint32_t enough = toy->parties - ((toy->faults & HALL_EARLY) != 0);
    if (waiting + 1 < enough || (toy->faults & HALL_NEVER_FULL) != 0) {
        struct hall_waiter waiter = {.index = base + waiting};
        enum bz_status status = hall_wait(toy->loop, &toy->queue, &waiter);
        *index = waiter.index;
        return status == BZ_OK && waiter.index == UINT32_MAX ? BZ_BROKEN : status;
    }
    uint32_t next = base;
    for (struct bz_list *link = toy->queue.next; link != &toy->queue; link = link->next) {
        struct hall_waiter *waiter = hall_waiter_of(link);
        if (waiter->waiter.future.state == BZ_FUTURE_PENDING && !duplicates) {
            waiter->index = next++;
        }
    }
    hall_wake(&toy->queue, UINT32_MAX, false);
    *index = base + waiting;
    return BZ_OK;
}

/* Throws out who fills, and spares who passes. */
static inline void hall_reset(void *instance) {
    struct hall_toy *toy = instance;
    for (struct bz_list *link = toy->queue.next; link != &toy->queue; link = link->next) {
        struct hall_waiter *waiter = hall_waiter_of(link);
        if (waiter->waiter.future.state == BZ_FUTURE_PENDING) {
            waiter->index = UINT32_MAX;
        }
    }
    hall_wake(&toy->queue, UINT32_MAX, false);
}

/* --- semaphore -------------------------------------------------------------------------------- */

/* Newcomers queue behind whoever is in the queue, woken or not, as asyncio's do. */
static inline void hall_hand_out(struct hall_toy *toy, uint32_t most) {
    uint64_t promised = hall_count(&toy->queue, BZ_FUTURE_RESULT);
    while (most-- > 0 && promised < toy->level && hall_wake(&toy->queue, 1, false) > 0) {
        promised++;
    }
}

static inline enum bz_status hall_take(void *instance) {
    struct hall_toy *toy = instance;
    uint32_t most = (toy->faults & HALL_ONE_BY_ONE) != 0 ? 1 : UINT32_MAX;
    enum bz_status status = BZ_OK;
    if (toy->level == 0 || hall_count(&toy->queue, BZ_FUTURE_PENDING) > 0 ||
        hall_count(&toy->queue, BZ_FUTURE_RESULT) > 0) {
        struct hall_waiter waiter;
        status = hall_wait(toy->loop, &toy->queue, &waiter);
    }
    toy->level -= status == BZ_OK;
    hall_hand_out(toy, most);
    return status;
}

static inline enum bz_status hall_give(void *instance) {
    struct hall_toy *toy = instance;
    toy->level++;
    hall_hand_out(toy, 1);
    return BZ_OK;
}

/* --- variants --------------------------------------------------------------------------------- */

/* Defines the variant `name_`, which offers all four. */
#define HALL_TOY(name_, faults_, claims_)                                                          \
    static enum bz_status name_##_init(void *instance, struct bz_loop *loop) {                     \
        hall_toy_init(instance, loop, faults_);                                                    \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name_##_init_barrier(void *instance, struct bz_loop *loop,               \
                                               uint32_t parties) {                                 \
        hall_toy_init(instance, loop, faults_);                                                    \
        ((struct hall_toy *)instance)->parties = parties;                                          \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static enum bz_status name_##_init_permits(void *instance, struct bz_loop *loop,               \
                                               uint32_t permits) {                                 \
        hall_toy_init(instance, loop, faults_);                                                    \
        ((struct hall_toy *)instance)->level = permits;                                            \
        return BZ_OK;                                                                              \
    }                                                                                              \
    static const struct bz_event_ops name_##_event = {.instance_bytes = sizeof(struct hall_toy),   \
                                                      .init = name_##_init,                        \
                                                      .set = hall_set,                             \
                                                      .clear = hall_clear,                         \
                                                      .is_set = hall_is_set,                       \
                                                      .wait = hall_pass,                           \
                                                      .queued = hall_queued};                      \
    static const struct bz_condition_ops name_##_condition = {.instance_bytes =                    \
                                                                  sizeof(struct hall_toy),         \
                                                              .init = name_##_init,                \
                                                              .acquire = hall_acquire,             \
                                                              .release = hall_release,             \
                                                              .locked = hall_is_set,               \
                                                              .wait = hall_condition_wait,         \
                                                              .notify = hall_notify,               \
                                                              .queued = hall_queued};              \
    static const struct bz_barrier_ops name_##_barrier = {.instance_bytes =                        \
                                                              sizeof(struct hall_toy),             \
                                                          .init = name_##_init_barrier,            \
                                                          .wait = hall_arrive,                     \
                                                          .reset = hall_reset,                     \
                                                          .queued = hall_queued};                  \
    static const struct bz_permit_ops name_##_permits = {.instance_bytes =                         \
                                                             sizeof(struct hall_toy),              \
                                                         .init = name_##_init_permits,             \
                                                         .acquire = hall_take,                     \
                                                         .release = hall_give};                    \
    static const struct bz_variant name_ = {                                                       \
        .version = BZ_VARIANT_VERSION,                                                             \
        .claims = claims_,                                                                         \
        .name = #name_,                                                                            \
        .summary = "a toy",                                                                        \
        .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &name_##_permits},                                  \
        .event = &name_##_event,                                                                   \
        .condition = &name_##_condition,                                                           \
        .barrier = &name_##_barrier}

/* --- the stage -------------------------------------------------------------------------------- */

struct hall {
    struct stage stage;
    struct bz_sut_event event;
    struct bz_sut_condition condition;
    struct bz_sut_barrier barrier;
};

static inline enum bz_status hall_word(struct tst_actor *actor, const char *word, bool *is_quiet) {
    struct hall *hall = bz_container_of(actor->object, struct hall, stage);
    if (strcmp(word, "pass") == 0) {
        return bz_sut_event_wait(&hall->event);
    }
    if (strcmp(word, "acquire") == 0) {
        return bz_sut_condition_acquire(&hall->condition);
    }
    if (strcmp(word, "wait") == 0) {
        return bz_sut_condition_wait(&hall->condition);
    }
    if (strcmp(word, "release") == 0) {
        return bz_sut_condition_release(&hall->condition);
    }
    if (strncmp(word, "notify-", 7) == 0) {
        uint32_t count = word[7] == '9' ? BZ_NOTIFY_ALL : (uint32_t)(word[7] - '0');
        return bz_sut_condition_notify(&hall->condition, count);
    }
    if (strcmp(word, "arrive") == 0) {
        uint32_t index;
        return bz_sut_barrier_wait(&hall->barrier, &index);
    }
    if (strcmp(word, "set") == 0) {
        bz_sut_event_set(&hall->event);
    } else if (strcmp(word, "clear") == 0) {
        bz_sut_event_clear(&hall->event);
    } else if (strcmp(word, "reset") == 0) {
        cr_assert(bz_sut_barrier_reset(&hall->barrier));
        cr_assert(not(bz_sut_barrier_abort(&hall->barrier)), "no toy offers it");
    } else {
        return stage_word(actor, word, is_quiet);
    }
    *is_quiet = true;
    return BZ_OK;
}

/* These guests, by this plan, at a barrier of three; the caller looks, and ends the stage. */
static inline void hall_play(struct hall *hall, const struct bz_variant *variant,
                             const char *const *scripts, const char *plan) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    memset(hall, 0, sizeof *hall);
    struct stage *stage = &hall->stage;
    stage->world = bz_world_new(&config, variant);
    cr_assert(ne(ptr, stage->world, NULL));
    stage_begin_run(stage->world);
    tst_status(bz_sut_event_init(&hall->event, stage->world, "flag"), BZ_OK);
    tst_status(bz_sut_condition_init(&hall->condition, stage->world, "news", "lock"), BZ_OK);
    tst_status(bz_sut_barrier_init(&hall->barrier, stage->world, "gate", 3), BZ_OK);
    stage_guests(stage, scripts);
    for (uint32_t index = 0; index < stage->count; index++) {
        stage->actors[index].extra = hall_word;
    }
    stage_play(stage, plan);
}

static inline void hall_fails(const struct bz_variant *variant, const char *const *scripts,
                              const char *plan, const char *oracle, uint32_t step,
                              const char *fragment) {
    struct hall hall;
    hall_play(&hall, variant, scripts, plan);
    stage_expect_violation(&hall.stage, oracle, step, fragment);
    stage_end(&hall.stage);
}

static inline void hall_passes(const struct bz_variant *variant, const char *const *scripts,
                               const char *plan, const char *log) {
    struct hall hall;
    hall_play(&hall, variant, scripts, plan);
    stage_expect_pass(&hall.stage);
    tst_expect(&hall.stage.log, log);
    stage_end(&hall.stage);
}

#endif
