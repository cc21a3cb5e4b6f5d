/* Toys: a small queue and a small pool of locks, with any of a list of faults, and the words with
 * which guests use them (sim/tests/stage.h):
 *     put, get, try-put, try-get    of the stage's queue; urgent: a put before all others
 *     close, drop                   shuts it down; drop: and empties it
 *     count                         what a scenario's finish does: every item must be there
 *     take-K, give-K                acquires and releases key K (0 to 9) of the stage's pool
 *     sweep                         a finish: the pool must be empty
 */
#ifndef BZ_SIM_TESTS_TOYS_QUEUE_H
#define BZ_SIM_TESTS_TOYS_QUEUE_H

#include "sim/native/sut.h"
#include "sim/tests/stage.h"

#define QTOY_LOSES 0x1u         /* a woken getter that is cancelled takes an item along */
#define QTOY_REPEATS 0x2u       /* get leaves the item where it is */
#define QTOY_MAKES_UP 0x4u      /* get says a value that nobody has put */
#define QTOY_GHOSTS 0x8u        /* a put that is cancelled stores its item */
#define QTOY_FORGETS_ITEM 0x10u /* put says OK and stores nothing */
#define QTOY_NEWEST_FIRST 0x20u /* get takes the newest, whatever the order */
#define QTOY_OVERFLOWS 0x40u    /* put does not look whether there is room */
#define QTOY_MISCOUNTS 0x80u    /* size() is one too many */
#define QTOY_WAKES_NO_GETTER 0x100u
#define QTOY_WAKES_NO_PUTTER 0x200u
#define QTOY_BARGES 0x400u          /* who was woken is promised nothing */
#define QTOY_HANDS_OVER 0x800u      /* no fault: the item rides in the wake-up */
#define QTOY_CLOSES_BLINDLY 0x1000u /* an immediate shutdown leaves the items in */
#define QTOY_OLDEST_FIRST 0x2000u   /* get takes the oldest of a LIFO queue */
#define QTOY_CAPACITY 16u

struct qtoy_waiter {
    struct bz_future future;
    struct bz_list link;
};

struct qtoy {
    struct bz_loop *loop;
    uint32_t faults;
    enum bz_queue_order order;
    uint32_t maxsize;
    uint64_t values[QTOY_CAPACITY];
    int64_t priorities[QTOY_CAPACITY];
    uint32_t count;
    uint32_t in_hand;
    struct bz_list getters;
    struct bz_list putters;
};

static inline bool qtoy_has(const struct qtoy *toy, uint32_t fault) {
    return (toy->faults & fault) != 0;
}

static inline uint32_t qtoy_in_state(struct bz_list *queue, enum bz_future_state state) {
    uint32_t count = 0;
    for (struct bz_list *link = queue->next; link != queue; link = link->next) {
        count += bz_container_of(link, struct qtoy_waiter, link)->future.state == state;
    }
    return count;
}

static inline bool qtoy_wake_oldest(struct bz_list *queue, uint64_t value) {
    for (struct bz_list *link = queue->next; link != queue; link = link->next) {
        struct qtoy_waiter *waiter = bz_container_of(link, struct qtoy_waiter, link);
        if (bz_future_set_result(&waiter->future, value) == BZ_OK) {
            return true;
        }
    }
    return false;
}

/* Promises what is there to who waits for it. */
static inline void qtoy_serve(struct qtoy *toy) {
    bool wakes_getters = !qtoy_has(toy, QTOY_WAKES_NO_GETTER | QTOY_HANDS_OVER);
    while (wakes_getters && qtoy_in_state(&toy->getters, BZ_FUTURE_RESULT) < toy->count &&
           qtoy_wake_oldest(&toy->getters, 0)) {
    }
    bool wakes_putters = !qtoy_has(toy, QTOY_WAKES_NO_PUTTER);
    while (wakes_putters &&
           toy->count + qtoy_in_state(&toy->putters, BZ_FUTURE_RESULT) < toy->maxsize &&
           qtoy_wake_oldest(&toy->putters, 0)) {
    }
}

static inline enum bz_status qtoy_wait(struct qtoy *toy, struct bz_list *queue, bool *was_woken,
                                       uint64_t *value) {
    struct qtoy_waiter waiter;
    bz_future_init(&waiter.future, toy->loop);
    bz_list_push_back(queue, &waiter.link);
    enum bz_status status = bz_future_await(&waiter.future);
    bz_list_remove(&waiter.link);
    *was_woken = waiter.future.state == BZ_FUTURE_RESULT;
    *value = waiter.future.value;
    return status;
}

static inline bool qtoy_is_full(struct qtoy *toy) {
    if (toy->maxsize == 0 || qtoy_has(toy, QTOY_OVERFLOWS)) {
        return false;
    }
    if (qtoy_has(toy, QTOY_BARGES)) {
        return toy->count >= toy->maxsize;
    }
    return toy->count + qtoy_in_state(&toy->putters, BZ_FUTURE_RESULT) >= toy->maxsize ||
           qtoy_in_state(&toy->putters, BZ_FUTURE_PENDING) > 0;
}

static inline bool qtoy_is_empty(struct qtoy *toy) {
    if (qtoy_has(toy, QTOY_BARGES | QTOY_HANDS_OVER)) {
        return toy->count == 0;
    }
    return toy->count <= qtoy_in_state(&toy->getters, BZ_FUTURE_RESULT);
}

static inline void qtoy_store(struct qtoy *toy, uint64_t value, int64_t priority) {
    if (qtoy_has(toy, QTOY_FORGETS_ITEM)) {
        return;
    }
    if (qtoy_has(toy, QTOY_HANDS_OVER) && toy->count == 0 &&
        qtoy_wake_oldest(&toy->getters, value)) {
        toy->in_hand++;
        return;
    }
    cr_assert(lt(u32, toy->count, QTOY_CAPACITY));
    toy->values[toy->count] = value;
    toy->priorities[toy->count++] = priority;
    qtoy_serve(toy);
}

static inline uint64_t qtoy_take(struct qtoy *toy) {
    bool is_lifo = toy->order == BZ_QUEUE_ORDER_LIFO && !qtoy_has(toy, QTOY_OLDEST_FIRST);
    bool is_newest = is_lifo || qtoy_has(toy, QTOY_NEWEST_FIRST);
    uint32_t due = is_newest ? toy->count - 1 : 0;
    for (uint32_t index = 1; toy->order == BZ_QUEUE_ORDER_PRIORITY && index < toy->count; index++) {
        due = toy->priorities[index] < toy->priorities[due] ? index : due;
    }
    uint64_t value = toy->values[due];
    for (uint32_t index = due; !qtoy_has(toy, QTOY_REPEATS) && index + 1 < toy->count; index++) {
        toy->values[index] = toy->values[index + 1];
        toy->priorities[index] = toy->priorities[index + 1];
    }
    toy->count -= !qtoy_has(toy, QTOY_REPEATS);
    qtoy_serve(toy);
    return qtoy_has(toy, QTOY_MAKES_UP) ? 77 : value;
}

static inline enum bz_status qtoy_put(void *instance, uint64_t value, int64_t priority) {
    struct qtoy *toy = instance;
    bool must_wait = qtoy_is_full(toy);
    while (must_wait) {
        bool was_woken;
        uint64_t unused;
        enum bz_status status = qtoy_wait(toy, &toy->putters, &was_woken, &unused);
        if (status != BZ_OK) {
            if (qtoy_has(toy, QTOY_GHOSTS)) {
                qtoy_store(toy, value, priority);
            }
            qtoy_serve(toy);
            return status;
        }
        must_wait = toy->count >= toy->maxsize;
    }
    qtoy_store(toy, value, priority);
    return BZ_OK;
}

static inline enum bz_status qtoy_get(void *instance, uint64_t *value) {
    struct qtoy *toy = instance;
    bool must_wait = qtoy_is_empty(toy);
    while (must_wait) {
        bool was_woken;
        enum bz_status status = qtoy_wait(toy, &toy->getters, &was_woken, value);
        bool has_item = was_woken && qtoy_has(toy, QTOY_HANDS_OVER);
        toy->in_hand -= has_item;
        if (status != BZ_OK) {
            toy->count -= was_woken && qtoy_has(toy, QTOY_LOSES) && !has_item;
            if (has_item && !qtoy_has(toy, QTOY_LOSES)) {
                qtoy_store(toy, *value, 0);
            }
            qtoy_serve(toy);
            return status;
        }
        if (has_item) {
            return BZ_OK;
        }
        must_wait = toy->count == 0;
    }
    *value = qtoy_take(toy);
    return BZ_OK;
}

static inline enum bz_status qtoy_try_put(void *instance, uint64_t value, int64_t priority) {
    return qtoy_is_full(instance) ? BZ_FULL : qtoy_put(instance, value, priority);
}

static inline enum bz_status qtoy_try_get(void *instance, uint64_t *value) {
    return qtoy_is_empty(instance) ? BZ_EMPTY : qtoy_get(instance, value);
}

static inline void qtoy_shutdown(void *instance, bool is_immediate) {
    struct qtoy *toy = instance;
    if (is_immediate && !qtoy_has(toy, QTOY_CLOSES_BLINDLY)) {
        toy->count = 0;
    }
}

static inline uint64_t qtoy_size(void *instance) {
    const struct qtoy *toy = instance;
    return (uint64_t)toy->count + toy->in_hand + qtoy_has(toy, QTOY_MISCOUNTS);
}

static inline enum bz_status qtoy_init(struct qtoy *toy, struct bz_loop *loop,
                                       enum bz_queue_order order, uint32_t maxsize,
                                       uint32_t faults) {
    toy->loop = loop;
    toy->faults = faults;
    toy->order = order;
    toy->maxsize = maxsize;
    bz_list_init(&toy->getters);
    bz_list_init(&toy->putters);
    return BZ_OK;
}

#define QTOY_CLAIMS_ALL (BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_TAKES_AT_RETURN)

/* Defines the variant `name`. */
#define QTOY(name_, faults_, claims_)                                                              \
    static enum bz_status name_##_init(void *instance, struct bz_loop *loop,                       \
                                       enum bz_queue_order order, uint32_t maxsize) {              \
        return qtoy_init(instance, loop, order, maxsize, faults_);                                 \
    }                                                                                              \
    static const struct bz_queue_ops name_##_ops = {.instance_bytes = sizeof(struct qtoy),         \
                                                    .init = name_##_init,                          \
                                                    .put = qtoy_put,                               \
                                                    .get = qtoy_get,                               \
                                                    .try_put = qtoy_try_put,                       \
                                                    .try_get = qtoy_try_get,                       \
                                                    .shutdown = qtoy_shutdown,                     \
                                                    .size = qtoy_size};                            \
    static const struct bz_variant name_ = {.version = BZ_VARIANT_VERSION,                         \
                                            .claims = claims_,                                     \
                                            .name = #name_,                                        \
                                            .summary = "a toy",                                    \
                                            .queue = &name_##_ops}

/* --- a pool ----------------------------------------------------------------------------------- */

#define PTOY_CROWDS 0x1u /* acquire lets everybody in */
#define PTOY_KEEPS 0x2u  /* a key that was used once counts for ever */
#define PTOY_KEYS 10u

struct ptoy {
    struct bz_loop *loop;
    uint32_t faults;
    uint32_t users[PTOY_KEYS];
    bool is_held[PTOY_KEYS];
    bool was_used[PTOY_KEYS];
    struct bz_list queues[PTOY_KEYS];
};

static inline enum bz_status ptoy_init(struct ptoy *toy, struct bz_loop *loop, uint32_t faults) {
    toy->loop = loop;
    toy->faults = faults;
    for (uint32_t key = 0; key < PTOY_KEYS; key++) {
        bz_list_init(&toy->queues[key]);
    }
    return BZ_OK;
}

/* A lock that the release hands over: is_held stays set. */
static inline enum bz_status ptoy_acquire(void *instance, uint64_t key) {
    struct ptoy *toy = instance;
    enum bz_status status = BZ_OK;
    toy->users[key]++;
    toy->was_used[key] = true;
    if (toy->is_held[key] && (toy->faults & PTOY_CROWDS) == 0) {
        struct qtoy_waiter waiter;
        bz_future_init(&waiter.future, toy->loop);
        bz_list_push_back(&toy->queues[key], &waiter.link);
        status = bz_future_await(&waiter.future);
        bz_list_remove(&waiter.link);
        if (status != BZ_OK) {
            bool was_woken = waiter.future.state == BZ_FUTURE_RESULT;
            toy->users[key]--;
            toy->is_held[key] &= !was_woken || qtoy_wake_oldest(&toy->queues[key], 0);
            return status;
        }
    }
    toy->is_held[key] = true;
    return status;
}

static inline enum bz_status ptoy_release(void *instance, uint64_t key) {
    struct ptoy *toy = instance;
    toy->users[key]--;
    toy->is_held[key] = qtoy_wake_oldest(&toy->queues[key], 0);
    return BZ_OK;
}

static inline uint64_t ptoy_entries(void *instance) {
    const struct ptoy *toy = instance;
    uint64_t count = 0;
    for (uint32_t key = 0; key < PTOY_KEYS; key++) {
        bool is_kept = (toy->faults & PTOY_KEEPS) != 0 && toy->was_used[key];
        count += toy->users[key] > 0 || is_kept;
    }
    return count;
}

/* Defines the variant `name`; `shows` is ptoy_entries, or NULL. */
#define PTOY(name_, faults_, shows)                                                                \
    static enum bz_status name_##_init(void *instance, struct bz_loop *loop) {                     \
        return ptoy_init(instance, loop, faults_);                                                 \
    }                                                                                              \
    static const struct bz_pool_ops name_##_ops = {.instance_bytes = sizeof(struct ptoy),          \
                                                   .init = name_##_init,                           \
                                                   .acquire = ptoy_acquire,                        \
                                                   .release = ptoy_release,                        \
                                                   .entries = shows};                              \
    static const struct bz_variant name_ = {.version = BZ_VARIANT_VERSION,                         \
                                            .claims = BZ_CLAIM_FIFO,                               \
                                            .name = #name_,                                        \
                                            .summary = "a toy",                                    \
                                            .pool = &name_##_ops}

/* --- the stage -------------------------------------------------------------------------------- */

struct counter {
    struct stage stage;
    struct bz_sut_queue queue;
    struct bz_sut_pool pool;
};

static inline enum bz_status counter_queue_word(struct bz_sut_queue *queue, const char *word,
                                                bool *is_quiet) {
    static const char *const words[] = {"put", "urgent", "get", "try-put", "try-get"};
    uint32_t index = 0;
    while (index < 5 && strcmp(word, words[index]) != 0) {
        index++;
    }
    switch (index) {
    case 0:
        return bz_sut_queue_put(queue, 5);
    case 1:
        return bz_sut_queue_put(queue, 1);
    case 2:
        return bz_sut_queue_get(queue);
    case 3:
        return bz_sut_queue_try_put(queue, 5);
    case 4:
        return bz_sut_queue_try_get(queue);
    default:
        break;
    }
    *is_quiet = true;
    if (strcmp(word, "close") == 0 || strcmp(word, "drop") == 0) {
        cr_assert(bz_sut_queue_shutdown(queue, word[0] == 'd'));
    } else if (strcmp(word, "count") == 0) {
        bz_sut_queue_finish(queue);
    } else {
        return BZ_INVALID_ARGUMENT;
    }
    return BZ_OK;
}

static inline enum bz_status counter_word(struct tst_actor *actor, const char *word,
                                          bool *is_quiet) {
    struct counter *counter = actor->object;
    if (counter->queue.ops != NULL) {
        return counter_queue_word(&counter->queue, word, is_quiet);
    }
    uint32_t key = (uint32_t)(word[strlen(word) - 1] - '0');
    if (strncmp(word, "take-", 5) == 0) {
        return bz_sut_pool_acquire(&counter->pool, key);
    }
    *is_quiet = true;
    if (strncmp(word, "give-", 5) == 0) {
        return bz_sut_pool_release(&counter->pool, key);
    }
    if (strcmp(word, "sweep") == 0) {
        bz_sut_pool_finish(&counter->pool);
        return BZ_OK;
    }
    return BZ_INVALID_ARGUMENT;
}

static inline void counter_begin(struct counter *counter, const struct bz_variant *variant) {
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    memset(counter, 0, sizeof *counter);
    counter->stage.world = bz_world_new(&config, variant);
    cr_assert(ne(ptr, counter->stage.world, NULL));
    stage_begin_run(counter->stage.world);
}

static inline void counter_guests(struct counter *counter, const char *const *scripts) {
    for (; *scripts != NULL; scripts++) {
        stage_guest(&counter->stage, *scripts);
        struct tst_actor *actor = &counter->stage.actors[counter->stage.count - 1];
        actor->extra = counter_word;
        actor->object = counter;
    }
}

/* Guests at a queue, or at a pool (no order), this plan, and the verdict: NULL for none. */
static inline void counter_expect(struct counter *counter, const char *const *scripts,
                                  const char *plan, const char *oracle, uint32_t step,
                                  const char *fragment) {
    counter_guests(counter, scripts);
    stage_play(&counter->stage, plan);
    if (oracle == NULL) {
        stage_expect_pass(&counter->stage);
    } else {
        stage_expect_violation(&counter->stage, oracle, step, fragment);
    }
    stage_end(&counter->stage);
}

static inline void queue_fails(const struct bz_variant *variant, enum bz_queue_order order,
                               uint32_t maxsize, const char *const *scripts, const char *plan,
                               const char *oracle, uint32_t step, const char *fragment) {
    struct counter counter;
    counter_begin(&counter, variant);
    tst_status(
        bz_sut_queue_init(&counter.queue, counter.stage.world, "items", "slots", order, maxsize),
        BZ_OK);
    counter_expect(&counter, scripts, plan, oracle, step, fragment);
}

static inline void queue_passes(const struct bz_variant *variant, enum bz_queue_order order,
                                uint32_t maxsize, const char *const *scripts, const char *plan) {
    queue_fails(variant, order, maxsize, scripts, plan, NULL, 0, "");
}

static inline void pool_fails(const struct bz_variant *variant, const char *const *scripts,
                              const char *plan, const char *oracle, uint32_t step,
                              const char *fragment) {
    struct counter counter;
    counter_begin(&counter, variant);
    tst_status(bz_sut_pool_init(&counter.pool, counter.stage.world, "key", PTOY_KEYS), BZ_OK);
    counter_expect(&counter, scripts, plan, oracle, step, fragment);
}

static inline void pool_passes(const struct bz_variant *variant, const char *const *scripts,
                               const char *plan) {
    pool_fails(variant, scripts, plan, NULL, 0, "");
}

#endif
