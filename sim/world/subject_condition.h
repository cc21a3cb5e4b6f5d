/* A subject that is a condition with its lock; see subject.h. Two objects in the book: the lock,
 * and the condition itself, named by the caller.
 *
 * Judged: a notification wakes as many as it is for (one that goes to a waiter on its way out may
 * be passed on by that one, and is not judged), and who was notified and then cancelled passes it
 * on (`lost-notification`, gh-112202); wait comes back with the lock (`relock`, gh-67159); no
 * cancel is lost in it (`cancel-delivered`, gh-77022). Of the lock, what its own tasks see: mutual
 * exclusion, order, misuse. Those that come back from a wait are unknown to its queue's book. */
#ifndef BZ_SIM_WORLD_SUBJECT_CONDITION_H
#define BZ_SIM_WORLD_SUBJECT_CONDITION_H

#include "sim/world/subject.h"

struct bz_condition_subject {
    struct bz_world *world;
    const struct bz_condition_ops *ops;
    void *instance;
    uint32_t object;
    uint32_t lock;
};

#define BZ_NOTIFY_ALL UINT32_MAX

enum bz_status bz_condition_subject_init(struct bz_condition_subject *subject,
                                         struct bz_world *world, const char *name,
                                         const char *lock_name) BZ_MUST_USE;

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_condition_subject_acquire(struct bz_condition_subject *subject) {
    uint32_t step = bz_subject_calls(subject->world, subject->lock, BZ_OP_ACQUIRE);
    enum bz_status status = subject->ops->acquire(subject->instance);
    bz_subject_returns(subject->world, subject->lock, BZ_OP_ACQUIRE, step, status);
    return status;
}

enum bz_status bz_condition_subject_release(struct bz_condition_subject *subject) BZ_MUST_USE;

/* By the task that holds the lock, and holds it again when this returns, whatever it says. */
enum bz_status bz_condition_subject_wait(struct bz_condition_subject *subject) BZ_MUST_USE;

/* Waits though nobody holds the lock, which the caller has made sure of. A variant that claims to
 * refuse misuse says BZ_NOT_HELD (`misuse`). */
enum bz_status bz_condition_subject_misuse(struct bz_condition_subject *subject) BZ_MUST_USE;

/* By the task that holds the lock; if nobody does, a variant that claims to refuse misuse says
 * BZ_NOT_HELD. */
enum bz_status bz_condition_subject_notify(struct bz_condition_subject *subject,
                                           uint32_t count) BZ_MUST_USE;

#endif
