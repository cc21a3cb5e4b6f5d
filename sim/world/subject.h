/* A subject: an object of the variant under test, with its operations announced to the world.
 *
 * Scenarios use subjects, never a variant's tables: the call and the return of every operation
 * become events, and the book counts from them. A subject lives as long as the run. Here is what
 * all have in common, and the subject that has permits: lock, semaphore, bounded semaphore. The
 * others have files of their own: subject_event.h, subject_condition.h, ...
 */
#ifndef BZ_SIM_WORLD_SUBJECT_H
#define BZ_SIM_WORLD_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/status.h"
#include "sim/variant/variant.h"
#include "sim/world/book.h"
#include "sim/world/event.h"

struct bz_world;

/* --- what all subjects have in common --------------------------------------------------------- */

/* Zeroed memory for an instance; NULL when the loop's arena is exhausted. */
void *bz_subject_instance(struct bz_world *world, size_t instance_bytes);

/* An operation that may wait, of the running task; around the operation itself:
 *
 *     uint32_t step = bz_subject_calls(world, object, op);
 *     status = ops->...;
 *     bz_subject_returns(world, object, op, step, status);
 *
 * A task is suspended with nothing but the variant's own calls on its stack: each return after a
 * switch is one that the processor cannot predict. */
uint32_t bz_subject_calls(struct bz_world *world, uint32_t object, enum bz_op op);
void bz_subject_returns(struct bz_world *world, uint32_t object, enum bz_op op,
                        uint32_t called_in_step, enum bz_status status);

/* An operation that never waits, right before it is done. */
void bz_subject_does(struct bz_world *world, uint32_t object, enum bz_op op, uint32_t arg);

/* Takes note of everything until now, and says how many tasks this object has woken so far. */
uint32_t bz_subject_wakes(struct bz_world *world, uint32_t object);

/* Tells the oracles a fact, BZ_FACT_..., with two numbers for book.detail. */
void bz_subject_tell(struct bz_world *world, uint32_t fact, uint32_t object, uint64_t detail_0,
                     uint64_t detail_1);

/* --- permits ---------------------------------------------------------------------------------- */

struct bz_subject {
    struct bz_world *world;
    const struct bz_permit_ops *ops;
    void *instance;
    uint32_t object; /* its number in the book */
    enum bz_primitive primitive;
};

/* Creates an object of the world's variant, which must offer `primitive`. `name` is a literal. A
 * lock has one permit, whatever `permits` says. BZ_OK, or why the variant could not. */
enum bz_status bz_subject_init(struct bz_subject *subject, struct bz_world *world,
                               enum bz_primitive primitive, const char *name,
                               uint32_t permits) BZ_MUST_USE;

/* What is done before and after a release. */
void bz_subject_calls_release(struct bz_world *world, uint32_t object);
void bz_subject_refused(struct bz_world *world, uint32_t object, enum bz_status status);

/* The operations; acquire from tasks only. */
static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_subject_acquire(struct bz_subject *subject) {
    uint32_t step = bz_subject_calls(subject->world, subject->object, BZ_OP_ACQUIRE);
    enum bz_status status = subject->ops->acquire(subject->instance);
    bz_subject_returns(subject->world, subject->object, BZ_OP_ACQUIRE, step, status);
    return status;
}

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_subject_release(struct bz_subject *subject) {
    bz_subject_calls_release(subject->world, subject->object);
    enum bz_status status = subject->ops->release(subject->instance);
    if (__builtin_expect(status != BZ_OK, 0)) {
        bz_subject_refused(subject->world, subject->object, status);
    }
    return status;
}

/* At the end of a run: tries to release what nobody holds. A lock or a bounded semaphore that
 * claims to refuse misuse must refuse it. */
void bz_subject_probe_misuse(struct bz_subject *subject);

#endif
