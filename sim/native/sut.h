/* The objects under test: what scenarios use instead of the tables of the variant.
 *
 * Each operation calls the variant, and announces the call to the judge before and after
 * (sim/judge/objects.h says what is judged).
 *
 * init() makes an object of the world's variant, which must offer the primitive. It returns BZ_OK,
 * or the status of the variant's init, or BZ_INVALID_ARGUMENT for a size that it does not offer.
 * Names are literals, or of bz_world_name(). Everything lives as long as the run. Only tasks call
 * operations that may wait.
 */
#ifndef BZ_SIM_NATIVE_SUT_H
#define BZ_SIM_NATIVE_SUT_H

#include "primitives/runtime/check.h"
#include "sim/native/world.h"

BZ_BEGIN_DECLS

/* For states that are compared (sim/explore), right before an operation that may wait: clears what
 * earlier calls have left on the stack below the running task's frames. A suspended task's frames
 * are not all written, and two states that differ only in such leftovers are the same state. */
void bz_sut_scrub_stack(void);

static inline void bz_sut_may_wait(const struct bz_world *world) {
    if (__builtin_expect(world->is_searched, 0)) {
        bz_sut_scrub_stack();
    }
}

/* --- permits: lock, semaphore, bounded semaphore ---------------------------------------------- */

struct bz_sut_permits {
    struct bz_world *world;
    const struct bz_permit_ops *ops;
    void *instance;
    uint32_t object; /* its number in the run */
    enum bz_primitive primitive;
};

/* A lock has one permit, whatever `permits` says. */
enum bz_status bz_sut_permits_init(struct bz_sut_permits *sut, struct bz_world *world,
                                   enum bz_primitive primitive, const char *name,
                                   uint32_t permits) BZ_MUST_USE;

/* The same calls, not inline, so that they leave nothing in the frames of the task. */
enum bz_status bz_sut_acquire_apart(struct bz_sut_permits *sut) BZ_MUST_USE;
enum bz_status bz_sut_release_apart(struct bz_sut_permits *sut) BZ_MUST_USE;

static inline __attribute__((__always_inline__)) BZ_MUST_USE enum bz_status
bz_sut_acquire(struct bz_sut_permits *sut) {
    if (__builtin_expect(sut->world->is_searched, 0)) {
        return bz_sut_acquire_apart(sut);
    }
    bz_judge_acquire_begin(sut->world->judge, sut->object);
    enum bz_status status = sut->ops->acquire(sut->instance);
    bz_judge_acquire_end(sut->world->judge, sut->object, status);
    return status;
}

static inline __attribute__((__always_inline__)) BZ_MUST_USE enum bz_status
bz_sut_release(struct bz_sut_permits *sut) {
    if (__builtin_expect(sut->world->is_searched, 0)) {
        return bz_sut_release_apart(sut);
    }
    bz_judge_release_begin(sut->world->judge, sut->object);
    enum bz_status status = sut->ops->release(sut->instance);
    if (__builtin_expect(status != BZ_OK, 0)) {
        bz_judge_release_end(sut->world->judge, sut->object, status);
    }
    return status;
}

/* Its place in the order of the locks that tasks nest; 0: none. Right after the init, with one
 * permit: bz_judge_rank(). */
static inline void bz_sut_rank(struct bz_sut_permits *sut, uint32_t rank) {
    bz_judge_rank(sut->world->judge, sut->object, rank);
}

/* At the end of a run: releases what no task holds. A lock or a bounded semaphore that claims to
 * refuse misuse must refuse it. */
void bz_sut_probe_misuse(struct bz_sut_permits *sut);

/* --- event ------------------------------------------------------------------------------------ */

struct bz_sut_event {
    struct bz_world *world;
    const struct bz_event_ops *ops;
    void *instance;
    uint32_t object;
};

enum bz_status bz_sut_event_init(struct bz_sut_event *sut, struct bz_world *world,
                                 const char *name) BZ_MUST_USE;
enum bz_status bz_sut_event_wait(struct bz_sut_event *sut) BZ_MUST_USE;
void bz_sut_event_set(struct bz_sut_event *sut);
void bz_sut_event_clear(struct bz_sut_event *sut);
bool bz_sut_event_is_set(const struct bz_sut_event *sut);

/* --- condition with its lock ------------------------------------------------------------------ */

struct bz_sut_condition {
    struct bz_world *world;
    const struct bz_condition_ops *ops;
    void *instance;
    struct bz_judged_condition judged;
};

enum bz_status bz_sut_condition_init(struct bz_sut_condition *sut, struct bz_world *world,
                                     const char *name, const char *lock_name) BZ_MUST_USE;
enum bz_status bz_sut_condition_acquire(struct bz_sut_condition *sut) BZ_MUST_USE;
enum bz_status bz_sut_condition_release(struct bz_sut_condition *sut) BZ_MUST_USE;

/* By the task that holds the lock. It holds the lock again on return, whatever the status. */
enum bz_status bz_sut_condition_wait(struct bz_sut_condition *sut) BZ_MUST_USE;

/* Waits while no task holds the lock, which the caller has checked. A variant that claims to refuse
 * misuse returns BZ_NOT_HELD. */
enum bz_status bz_sut_condition_misuse(struct bz_sut_condition *sut) BZ_MUST_USE;

/* By the task that holds the lock; if none does, as above. */
enum bz_status bz_sut_condition_notify(struct bz_sut_condition *sut, uint32_t count) BZ_MUST_USE;

/* --- barrier ---------------------------------------------------------------------------------- */

struct bz_sut_barrier {
    struct bz_world *world;
    const struct bz_barrier_ops *ops;
    void *instance;
    struct bz_judged_barrier judged;
};

/* 1 to BZ_BARRIER_PARTIES_MAX parties. */
enum bz_status bz_sut_barrier_init(struct bz_sut_barrier *sut, struct bz_world *world,
                                   const char *name, uint32_t parties) BZ_MUST_USE;

/* BZ_OK, BZ_CANCELLED, or BZ_BROKEN. */
enum bz_status bz_sut_barrier_wait(struct bz_sut_barrier *sut, uint32_t *index) BZ_MUST_USE;

/* False: the variant does not offer it. */
bool bz_sut_barrier_abort(struct bz_sut_barrier *sut);
bool bz_sut_barrier_reset(struct bz_sut_barrier *sut);

/* --- queue ------------------------------------------------------------------------------------ */

struct bz_sut_queue {
    struct bz_world *world;
    const struct bz_queue_ops *ops;
    void *instance;
    struct bz_judged_queue judged;
};

/* `maxsize` 0: no bound; or BZ_QUEUE_RENDEZVOUS. */
enum bz_status bz_sut_queue_init(struct bz_sut_queue *sut, struct bz_world *world,
                                 const char *items_name, const char *slots_name,
                                 enum bz_queue_order order, uint32_t maxsize) BZ_MUST_USE;

/* A put invents its item. */
enum bz_status bz_sut_queue_put(struct bz_sut_queue *sut, int64_t priority) BZ_MUST_USE;
enum bz_status bz_sut_queue_try_put(struct bz_sut_queue *sut, int64_t priority) BZ_MUST_USE;
enum bz_status bz_sut_queue_get(struct bz_sut_queue *sut) BZ_MUST_USE;
enum bz_status bz_sut_queue_try_get(struct bz_sut_queue *sut) BZ_MUST_USE;

/* False, BZ_INVALID_STATE: the variant does not offer it. */
bool bz_sut_queue_shutdown(struct bz_sut_queue *sut, bool is_immediate);
enum bz_status bz_sut_queue_task_done(struct bz_sut_queue *sut) BZ_MUST_USE;
enum bz_status bz_sut_queue_join(struct bz_sut_queue *sut) BZ_MUST_USE;

/* At the end of a run: gets what is left. Then every item that was put must have been got. */
void bz_sut_queue_finish(struct bz_sut_queue *sut);

/* --- an object that a model judges ------------------------------------------------------------ */

struct bz_sut_opaque {
    struct bz_world *world;
    const void *ops; /* the variant's table */
    void *instance;
    uint32_t object;
};

/* `init` calls the init of the variant, whose table is sut->ops. */
enum bz_status bz_sut_opaque_init(struct bz_sut_opaque *sut, struct bz_world *world,
                                  enum bz_primitive primitive, const char *name,
                                  enum bz_status (*init)(const struct bz_sut_opaque *sut,
                                                         const int64_t *parameters),
                                  const int64_t *parameters,
                                  const struct bz_introspection *look) BZ_MUST_USE;

/* --- pool of locks by key --------------------------------------------------------------------- */

/* Each key, 0 to keys - 1, is an object of its own, and judged like a lock. */
struct bz_sut_pool {
    struct bz_world *world;
    const struct bz_pool_ops *ops;
    void *instance;
    uint32_t first_object; /* of key 0 */
    uint32_t key_shift;    /* the variant gets key << key_shift; 0 after init */
};

enum bz_status bz_sut_pool_init(struct bz_sut_pool *sut, struct bz_world *world, const char *name,
                                uint32_t keys) BZ_MUST_USE;
enum bz_status bz_sut_pool_acquire(struct bz_sut_pool *sut, uint32_t key) BZ_MUST_USE;
enum bz_status bz_sut_pool_release(struct bz_sut_pool *sut, uint32_t key) BZ_MUST_USE;

/* At the end of a run: no task uses any key, and the pool must keep none. */
void bz_sut_pool_finish(struct bz_sut_pool *sut);

/* --- pool of resources ------------------------------------------------------------------------ */

struct bz_sut_resource_pool {
    struct bz_world *world;
    const struct bz_resource_pool_ops *ops;
    void *instance;
    struct bz_judged_resource_pool judged;
    struct bz_resource_setup setup;
    /* A creation, by the task that makes the resource: it may wait, never on a future. */
    enum bz_status (*make)(void *context);
    void *context;
};

/* The caller has set `make` and `context`, and zeroed the rest. */
enum bz_status bz_sut_resource_pool_init(struct bz_sut_resource_pool *sut, struct bz_world *world,
                                         const char *name, uint32_t limit,
                                         uint64_t idle_ns) BZ_MUST_USE;
enum bz_status bz_sut_resource_pool_acquire(struct bz_sut_resource_pool *sut,
                                            uint64_t *resource) BZ_MUST_USE;

/* By a task that has it. Of another one only if the variant claims to refuse misuse. */
enum bz_status bz_sut_resource_pool_release(struct bz_sut_resource_pool *sut, uint64_t resource,
                                            bool is_broken) BZ_MUST_USE;

/* BZ_INVALID_STATE: the variant does not offer it. */
enum bz_status bz_sut_resource_pool_close(struct bz_sut_resource_pool *sut) BZ_MUST_USE;

/* At the end of a run: no task has a resource. */
void bz_sut_resource_pool_finish(struct bz_sut_resource_pool *sut);

/* --- timeout scopes --------------------------------------------------------------------------- */

/* One use of a scope by the running task, from enter to exit. */
struct bz_sut_scope {
    struct bz_world *world;
    void *scope; /* the variant's */
    struct bz_judged_scope judged;
};

/* `outer` is the scope that the task is already in; NULL: none. After an enter that is not BZ_OK
 * there is no exit. exit() takes the status that the body ended with, and returns the one to
 * continue with. */
enum bz_status bz_sut_scope_enter(struct bz_sut_scope *sut, struct bz_world *world,
                                  struct bz_sut_scope *outer, uint64_t delay_ns) BZ_MUST_USE;
enum bz_status bz_sut_scope_exit(struct bz_sut_scope *sut, enum bz_status body) BZ_MUST_USE;

BZ_END_DECLS

#endif
