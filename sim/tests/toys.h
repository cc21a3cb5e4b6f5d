/* Toys: variants with a fault that no entry of the zoo has, and semaphores that are correct in
 * another way than the one that ships. Where an entry of the zoo has the fault, the tests play the
 * entry; where they need no fault, they play `buzzer`.
 *
 * A toy is made of the semaphore in scenarios/zoo/parts.h, or of the tables of another variant, and
 * replaces one or two of their operations. */
#ifndef BZ_SIM_TESTS_TOYS_H
#define BZ_SIM_TESTS_TOYS_H

#include "scenarios/scenarios.h"
#include "scenarios/zoo/parts.h"
#include "sim/tests/stage.h"

#define TOY_CLAIMS_ALL                                                                             \
    (BZ_CLAIM_FIFO | BZ_CLAIM_LOCKED_EXACT | BZ_CLAIM_REFUSES_MISUSE | BZ_CLAIM_WAKE_IS_GRANT)

/* Defines a variant, which offers what the further arguments say. With the table of an entry of the
 * zoo it is that entry with other claims. */
#define TOY_OFFERS(name_, claims_, ...)                                                            \
    static const struct bz_variant name_ = {.version = BZ_VARIANT_VERSION,                         \
                                            .claims = claims_,                                     \
                                            .name = #name_,                                        \
                                            .summary = "a toy",                                    \
                                            __VA_ARGS__}

/* Defines a variant whose semaphores and locks have these operations in place of their own. */
#define TOY(name_, claims_, ...)                                                                   \
    static const struct bz_permit_ops name_##_ops = {BZ_ZOO_SEMAPHORE, .acquire = toy_acquire,     \
                                                     .locked = toy_locked, __VA_ARGS__};           \
    TOY_OFFERS(name_, claims_,                                                                     \
               .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &name_##_ops,                                \
                           [BZ_PRIMITIVE_BOUNDED] = &name_##_ops,                                  \
                           [BZ_PRIMITIVE_LOCK] = &name_##_ops})

/* Defines a variant that offers one primitive of another kind: the table `base_`, after the
 * assignments to members of `ops`. A table from elsewhere is no constant: it is copied before main.
 */
#define TOY_OF(kind_, name_, claims_, base_, ...)                                                  \
    static struct bz_##kind_##_ops name_##_ops;                                                    \
    TOY_OFFERS(name_, claims_, .kind_ = &name_##_ops);                                             \
    __attribute__((constructor)) static void name_##_fill(void) {                                  \
        struct bz_##kind_##_ops *ops = &name_##_ops;                                               \
        *ops = base_;                                                                              \
        __VA_ARGS__;                                                                               \
    }

/* --- correct ---------------------------------------------------------------------------------- */

/* Unlike in bz_zoo_semaphore_acquire(), a newcomer takes a permit that no woken waiter needs; and
 * waiters are in the loop's memory, so that the tests of snapshots see it change. */
static inline enum bz_status toy_acquire(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (toy->value > bz_deque_count(&toy->queue, BZ_FUTURE_RESULT) &&
        bz_deque_oldest_asleep(&toy->queue) == NULL) {
        toy->value--;
        return BZ_OK;
    }
    struct bz_mem *mem = bz_loop_mem(toy->queue.loop);
    struct bz_waiter *waiter = bz_mem_alloc(mem, sizeof *waiter);
    cr_assert_not_null(waiter);
    enum bz_status status = bz_deque_wait(&toy->queue, waiter);
    bz_mem_free(mem, waiter, sizeof *waiter);
    toy->value -= status == BZ_OK;
    bz_zoo_semaphore_wake_all_that_fit(toy);
    return status;
}

static inline bool toy_locked(void *instance) {
    const struct bz_zoo_semaphore *toy = instance;
    return toy->value == 0 || bz_deque_has_live(&toy->queue);
}

/* Never waits on a future. */
static inline enum bz_status toy_poll(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && toy->value == 0) {
        status = bz_yield(toy->queue.loop);
    }
    toy->value -= status == BZ_OK;
    return status;
}

/* A wake-up is a hint to everybody: who is cancelled has nothing to pass on. */
static inline enum bz_status toy_acquire_in_herd(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    while (toy->value == 0) {
        struct bz_waiter waiter;
        enum bz_status status = bz_deque_wait(&toy->queue, &waiter);
        if (status != BZ_OK) {
            return status;
        }
    }
    toy->value--;
    return BZ_OK;
}

static inline enum bz_status toy_wake_herd(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    toy->value++;
    while (bz_deque_wake_oldest(&toy->queue)) {
    }
    return BZ_OK;
}

#define TOY_HERD .acquire = toy_acquire_in_herd, .release = toy_wake_herd

/* Wakes from a callback, a step later. */
struct toy_deferring {
    struct bz_zoo_semaphore semaphore;
    struct bz_handle wakes;
};

static inline void toy_on_wakes(struct bz_handle *handle) {
    bz_zoo_semaphore_wake_all_that_fit(
        &bz_container_of(handle, struct toy_deferring, wakes)->semaphore);
}

static inline void toy_defer(struct toy_deferring *toy, void (*run)(struct bz_handle *handle)) {
    if (!toy->wakes.is_ready) {
        bz_zoo_call_soon(toy->semaphore.queue.loop, &toy->wakes, run);
    }
}

static inline enum bz_status toy_release_later(void *instance) {
    ((struct toy_deferring *)instance)->semaphore.value++;
    toy_defer(instance, toy_on_wakes);
    return BZ_OK;
}

#define TOY_DEFERS .instance_bytes = sizeof(struct toy_deferring), .release = toy_release_later

/* --- faulty ----------------------------------------------------------------------------------- */

/* Lets everybody in. The historical faults let a second one in only after a race. */
static inline enum bz_status toy_acquire_at_once(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    toy->value -= toy->value > 0;
    return BZ_OK;
}

/* Says OK and takes nothing. No entry does that. */
static inline enum bz_status toy_acquire_nothing(void *instance) {
    (void)instance;
    return BZ_OK;
}

/* Gives two permits back for one. zoo/sem-throw-pending makes permits without any release. */
static inline enum bz_status toy_release_two(void *instance) {
    bz_zoo_semaphore_release(instance);
    return bz_zoo_semaphore_release(instance);
}

/* The view counts woken waiters twice. zoo/an-646 counts a waiter that has left. */
static inline void toy_view_twice(void *instance, struct bz_permit_view *view) {
    bz_zoo_semaphore_view(instance, view);
    view->waiting += view->woken;
}

#endif
