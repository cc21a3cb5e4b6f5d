/* The locks, semaphores and queues that entries of the zoo are made of. They have no fault. A macro
 * lists the operations of each. An entry takes them, and replaces those that have its fault.
 *
 *     BZ_ZOO_ENTRY(permit, toy_lifo, BZ_ZOO_LOCK, .release = toy_lifo_release);
 *
 * An entry that needs more fields has a struct of its own, which begins with the part: then the
 * operations of the part also fit that struct. */
#pragma once

#include "primitives/runtime/check.h"
#include "scenarios/variants/item_queue.h"
#include "scenarios/zoo/zoo.h"

/* A member after the macro replaces the one in it: this is how the macros are used. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* The table of operations of an entry, of the type struct bz_KIND_ops. */
#define BZ_ZOO_ENTRY(kind, entry, ...)                                                             \
    const struct bz_##kind##_ops bz_zoo_ops_##entry = {__VA_ARGS__}

/* A release of a part (lock, handoff, semaphore) that wakes by a function of the entry's own. */
#define BZ_ZOO_RELEASE_BY(part, name, wake)                                                        \
    static enum bz_status name(void *instance) {                                                   \
        return bz_zoo_##part##_release_by(instance, wake);                                         \
    }

/* bz_loop_call_soon(); without memory the process stops. */
static inline void bz_zoo_call_soon(struct bz_loop *loop, struct bz_handle *handle,
                                    void (*run)(struct bz_handle *handle)) {
    bool is_queued = bz_loop_call_soon(loop, handle, run);
    BZ_CHECK(is_queued);
}

/* --- lock ------------------------------------------------------------------------------------- */

/* From the release until the woken waiter has resumed, no task holds it, and newcomers wait. */
struct bz_zoo_lock {
    struct bz_deque queue;
    bool is_held; /* by a task that has resumed */
};

enum bz_status bz_zoo_lock_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_zoo_lock_acquire(void *instance);
enum bz_status bz_zoo_lock_release(void *instance);
bool bz_zoo_lock_locked(void *instance);
void bz_zoo_lock_view(void *instance, struct bz_permit_view *view);

#define BZ_ZOO_LOCK                                                                                \
    .instance_bytes = sizeof(struct bz_zoo_lock), .init = bz_zoo_lock_init,                        \
    .acquire = bz_zoo_lock_acquire, .release = bz_zoo_lock_release, .locked = bz_zoo_lock_locked,  \
    .view = bz_zoo_lock_view

/* The two halves of acquire. The first takes the lock if no task holds it and every entry of the
 * queue is cancelled. The second waits for it. */
bool bz_zoo_lock_try(struct bz_zoo_lock *lock);
enum bz_status bz_zoo_lock_wait(struct bz_zoo_lock *lock);

/* An acquire and a release that wake by a function of the entry's own. */
enum bz_status bz_zoo_lock_acquire_by(struct bz_zoo_lock *lock,
                                      void (*wake)(struct bz_zoo_lock *lock));
enum bz_status bz_zoo_lock_release_by(struct bz_zoo_lock *lock,
                                      void (*wake)(struct bz_zoo_lock *lock));

/* --- lock that is handed over ----------------------------------------------------------------- */

/* A release hands it over: the chosen waiter owns it at once, before it resumes, as with Twisted's
 * DeferredLock and anyio's Lock. */
struct bz_zoo_handoff {
    struct bz_deque queue;
    bool is_owned;
    bool is_promised; /* its owner has not resumed yet */
};

enum bz_status bz_zoo_handoff_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_zoo_handoff_release(void *instance);
bool bz_zoo_handoff_locked(void *instance);
void bz_zoo_handoff_view(void *instance, struct bz_permit_view *view);

/* All but acquire. */
#define BZ_ZOO_HANDOFF                                                                             \
    .instance_bytes = sizeof(struct bz_zoo_handoff), .init = bz_zoo_handoff_init,                  \
    .release = bz_zoo_handoff_release, .locked = bz_zoo_handoff_locked,                            \
    .view = bz_zoo_handoff_view

/* The two halves of acquire. The first takes the lock if no task owns it, the second waits for it.
 */
bool bz_zoo_handoff_try(struct bz_zoo_handoff *lock);
enum bz_status bz_zoo_handoff_wait(struct bz_zoo_handoff *lock);

/* Gives it to the oldest waiter, if there is one. */
void bz_zoo_handoff_pass(struct bz_zoo_handoff *lock);

/* A release with a hand-over of the entry's own. It is refused until the owner has resumed. */
enum bz_status bz_zoo_handoff_release_by(struct bz_zoo_handoff *lock,
                                         void (*hand_over)(struct bz_zoo_handoff *lock));

/* --- semaphore -------------------------------------------------------------------------------- */

/* A woken waiter takes its permit when it resumes: until then the permit is in the value, which is
 * the level. With _RESERVING, a permit leaves the value when a waiter is woken for it. Then the
 * level is the value plus the number of woken waiters. */
struct bz_zoo_semaphore {
    struct bz_deque queue;
    uint32_t value;
    uint32_t permits; /* in all */
};

enum bz_status bz_zoo_semaphore_init(void *instance, struct bz_loop *loop, uint32_t permits);
enum bz_status bz_zoo_semaphore_acquire(void *instance);
enum bz_status bz_zoo_semaphore_release(void *instance);
bool bz_zoo_semaphore_locked(void *instance);
void bz_zoo_semaphore_view(void *instance, struct bz_permit_view *view);

#define BZ_ZOO_SEMAPHORE                                                                           \
    .instance_bytes = sizeof(struct bz_zoo_semaphore), .init = bz_zoo_semaphore_init,              \
    .acquire = bz_zoo_semaphore_acquire, .release = bz_zoo_semaphore_release,                      \
    .locked = bz_zoo_semaphore_locked, .view = bz_zoo_semaphore_view

/* A release that wakes by a function of the entry's own. */
enum bz_status bz_zoo_semaphore_release_by(struct bz_zoo_semaphore *semaphore,
                                           void (*wake)(struct bz_zoo_semaphore *semaphore));

/* Takes a permit if one is free and every entry of the queue is cancelled. */
bool bz_zoo_semaphore_try(struct bz_zoo_semaphore *semaphore);

/* Waits for a permit, and takes it. A woken waiter that is cancelled wakes by this function, and no
 * other waiter does. */
enum bz_status bz_zoo_semaphore_wait_by(struct bz_zoo_semaphore *semaphore,
                                        void (*wake)(struct bz_zoo_semaphore *semaphore));

/* Wakes as many of the oldest waiters as there are permits that no waiter was woken for yet. True
 * if it woke a waiter. */
bool bz_zoo_semaphore_wake_all_that_fit(struct bz_zoo_semaphore *semaphore);

enum bz_status bz_zoo_semaphore_release_reserving(void *instance);
void bz_zoo_semaphore_view_reserving(void *instance, struct bz_permit_view *view);

/* All but acquire. */
#define BZ_ZOO_SEMAPHORE_RESERVING                                                                 \
    .instance_bytes = sizeof(struct bz_zoo_semaphore), .init = bz_zoo_semaphore_init,              \
    .release = bz_zoo_semaphore_release_reserving, .locked = bz_zoo_semaphore_locked,              \
    .view = bz_zoo_semaphore_view_reserving

/* Wakes the oldest waiters for as many permits as there are, and takes these out of the value. */
void bz_zoo_semaphore_reserve(struct bz_zoo_semaphore *semaphore);

/* --- queue ------------------------------------------------------------------------------------ */

#define BZ_ZOO_QUEUE BZ_ITEM_QUEUE, .init = bz_item_queue_init

/* --- request ---------------------------------------------------------------------------------- */

/* A waiter that may outlive the call that it waits in: some faults leave it behind. The queue and
 * the task have one use each. Dropping the last use frees it. */
struct bz_zoo_request {
    struct bz_waiter waiter;
    struct bz_handle wakes; /* for a wake-up that is scheduled */
    uint32_t uses;
};

/* With two uses; NULL when the loop is out of memory. */
struct bz_zoo_request *bz_zoo_request_new(struct bz_loop *loop);
void bz_zoo_request_drop(struct bz_loop *loop, struct bz_waiter *waiter);

/* The fini of a semaphore that may have requests left in its queue. */
void bz_zoo_semaphore_drop_requests(void *instance);
