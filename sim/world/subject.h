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

/* The operations; acquire from tasks only. */
enum bz_status bz_subject_acquire(struct bz_subject *subject) BZ_MUST_USE;
enum bz_status bz_subject_release(struct bz_subject *subject) BZ_MUST_USE;

/* At the end of a run: tries to release what nobody holds. A lock or a bounded semaphore that
 * claims to refuse misuse must refuse it. */
void bz_subject_probe_misuse(struct bz_subject *subject);

#endif
