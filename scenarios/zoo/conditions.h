/* What the conditions of the zoo have in common: a lock without a fault, and beside it a queue of
 * those who wait to be notified, both as in waiters.h: entries stay until their tasks take them
 * out. The wait itself is each entry's own, for there they went wrong. */
#ifndef BZ_SCENARIOS_ZOO_CONDITIONS_H
#define BZ_SCENARIOS_ZOO_CONDITIONS_H

#include "scenarios/zoo/waiters.h"

struct bz_zoo_condition {
    struct bz_zoo_lock lock;
    struct bz_zoo_queue queue;
};

/* For struct bz_condition_ops: everything but wait. */
enum bz_status bz_zoo_condition_init(void *instance, struct bz_loop *loop);
enum bz_status bz_zoo_condition_acquire(void *instance);
enum bz_status bz_zoo_condition_release(void *instance);
bool bz_zoo_condition_locked(void *instance);
enum bz_status bz_zoo_condition_notify(void *instance, uint32_t count);
uint32_t bz_zoo_condition_queued(void *instance);

/* Acquires the lock again, as often as it takes. `status` is what the wait says so far; a
 * cancellation on the way replaces it. Whoever has been notified and is cancelled notifies the next
 * one in its place, at once: `has_notification` says whether this one has. */
enum bz_status bz_zoo_condition_relock(struct bz_zoo_condition *condition, enum bz_status status,
                                       bool has_notification) BZ_MUST_USE;

#endif
