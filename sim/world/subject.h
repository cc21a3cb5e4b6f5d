/* A subject: an object of the variant under test, with its operations announced to the world.
 *
 * Scenarios use subjects, never a variant's tables: the call and the return of every operation
 * become events, and the book counts from them. A subject lives as long as the run.
 */
#ifndef BZ_SIM_WORLD_SUBJECT_H
#define BZ_SIM_WORLD_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/status.h"
#include "sim/variant/variant.h"

struct bz_world;

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

/* What is done before and after the operations themselves. */
uint32_t bz_subject_calls_acquire(struct bz_subject *subject);
void bz_subject_acquired(struct bz_subject *subject, uint32_t called_in_step,
                         enum bz_status status);
void bz_subject_calls_release(struct bz_subject *subject);
void bz_subject_refused(struct bz_subject *subject, enum bz_status status);

/* The operations; acquire from tasks only. A task is suspended with nothing but the variant's own
 * calls on its stack: each return after a switch is one that the processor cannot predict. */
static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_subject_acquire(struct bz_subject *subject) {
    uint32_t step = bz_subject_calls_acquire(subject);
    enum bz_status status = subject->ops->acquire(subject->instance);
    bz_subject_acquired(subject, step, status);
    return status;
}

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_subject_release(struct bz_subject *subject) {
    bz_subject_calls_release(subject);
    enum bz_status status = subject->ops->release(subject->instance);
    if (__builtin_expect(status != BZ_OK, 0)) {
        bz_subject_refused(subject, status);
    }
    return status;
}

/* At the end of a run: tries to release what nobody holds. A lock or a bounded semaphore that
 * claims to refuse misuse must refuse it. */
void bz_subject_probe_misuse(struct bz_subject *subject);

#endif
