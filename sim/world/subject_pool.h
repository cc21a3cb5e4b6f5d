/* A subject that is a pool of locks by key; see subject.h. Each key is an object of its own in the
 * book, so that all that is judged of a lock is judged of every key: above all that two tasks never
 * hold the same key (`mutual-exclusion`). And the pool must keep no lock that nobody uses
 * (`pool-entry`). Keys are 0 to keys - 1. */
#ifndef BZ_SIM_WORLD_SUBJECT_POOL_H
#define BZ_SIM_WORLD_SUBJECT_POOL_H

#include "sim/world/subject.h"

struct bz_pool_subject {
    struct bz_world *world;
    const struct bz_pool_ops *ops;
    void *instance;
    uint32_t first_object; /* of key 0 */
    uint32_t keys;
};

/* `name` is a literal, the name of every key's object. */
enum bz_status bz_pool_subject_init(struct bz_pool_subject *subject, struct bz_world *world,
                                    const char *name, uint32_t keys) BZ_MUST_USE;

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_pool_subject_acquire(struct bz_pool_subject *subject, uint32_t key) {
    uint32_t object = subject->first_object + key;
    uint32_t step = bz_subject_calls(subject->world, object, BZ_OP_ACQUIRE);
    enum bz_status status = subject->ops->acquire(subject->instance, key);
    bz_subject_returns(subject->world, object, BZ_OP_ACQUIRE, step, status);
    return status;
}

enum bz_status bz_pool_subject_release(struct bz_pool_subject *subject, uint32_t key) BZ_MUST_USE;

/* In a scenario's finish: nobody uses any key, and the pool must keep none. */
void bz_pool_subject_finish(struct bz_pool_subject *subject);

#endif
