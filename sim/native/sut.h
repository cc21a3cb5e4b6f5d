/* The objects under test, of the variant under test: what scenarios use instead of its tables.
 *
 * Each operation is announced to the judge before and after (sim/judge/objects.h says what is
 * judged of it), and nothing else is done here. A task is suspended with nothing but the variant's
 * own calls on its stack: each return after a switch is one that the processor cannot predict.
 *
 * init() makes an object of the world's variant, which must offer the primitive; BZ_OK, or why the
 * variant could not. Names are literals. Everything lives as long as the run. Operations that may
 * wait are for tasks only.
 */
#ifndef BZ_SIM_NATIVE_SUT_H
#define BZ_SIM_NATIVE_SUT_H

#include "primitives/runtime/check.h"
#include "sim/native/world.h"

BZ_BEGIN_DECLS

/* Right before an operation that may wait, when states are compared (sim/explore): clears what
 * earlier calls have left below the running task's frames. The operation may suspend the task, with
 * frames that are not all written, and two states that differ in such leftovers are not two. */
void bz_sut_scrub_stack(void);

static inline void bz_sut_may_wait(const struct bz_world *world) {
    if (__builtin_expect(world->is_searched, 0)) {
        bz_sut_scrub_stack();
    }
}

/* --- permits: lock, semaphore, bounded semaphore -----------------------------------------------
 */

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

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_sut_acquire(struct bz_sut_permits *sut) {
    bz_judge_acquires(sut->world->judge, sut->object);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->acquire(sut->instance);
    bz_judge_acquired(sut->world->judge, sut->object, status);
    return status;
}

static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_sut_release(struct bz_sut_permits *sut) {
    bz_judge_releases(sut->world->judge, sut->object);
    enum bz_status status = sut->ops->release(sut->instance);
    if (__builtin_expect(status != BZ_OK, 0)) {
        bz_judge_released(sut->world->judge, sut->object, status);
    }
    return status;
}

/* At the end of a run: tries to release what nobody holds. A lock or a bounded semaphore that
 * claims to refuse misuse must refuse it. */
void bz_sut_probe_misuse(struct bz_sut_permits *sut);

/* --- event -------------------------------------------------------------------------------------
 */

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

/* --- condition with its lock -------------------------------------------------------------------
 */

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

/* By the task that holds the lock, and holds it again when this returns, whatever it says. */
enum bz_status bz_sut_condition_wait(struct bz_sut_condition *sut) BZ_MUST_USE;

/* Waits though nobody holds the lock, which the caller has made sure of: a variant that claims to
 * refuse misuse says BZ_NOT_HELD. */
enum bz_status bz_sut_condition_misuse(struct bz_sut_condition *sut) BZ_MUST_USE;

/* By the task that holds the lock; if nobody does, as above. */
enum bz_status bz_sut_condition_notify(struct bz_sut_condition *sut, uint32_t count) BZ_MUST_USE;

/* --- barrier -----------------------------------------------------------------------------------
 */

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

/* --- queue -------------------------------------------------------------------------------------
 */

struct bz_sut_queue {
    struct bz_world *world;
    const struct bz_queue_ops *ops;
    void *instance;
    struct bz_judged_queue judged;
};

/* `maxsize` 0: no bound. */
enum bz_status bz_sut_queue_init(struct bz_sut_queue *sut, struct bz_world *world,
                                 const char *items_name, const char *slots_name,
                                 enum bz_queue_order order, uint32_t maxsize) BZ_MUST_USE;

/* A put makes up the item that it puts. */
enum bz_status bz_sut_queue_put(struct bz_sut_queue *sut, int64_t priority) BZ_MUST_USE;
enum bz_status bz_sut_queue_try_put(struct bz_sut_queue *sut, int64_t priority) BZ_MUST_USE;
enum bz_status bz_sut_queue_get(struct bz_sut_queue *sut) BZ_MUST_USE;
enum bz_status bz_sut_queue_try_get(struct bz_sut_queue *sut) BZ_MUST_USE;

/* False, BZ_INVALID_STATE: the variant does not offer it. */
bool bz_sut_queue_shutdown(struct bz_sut_queue *sut, bool is_immediate);
enum bz_status bz_sut_queue_task_done(struct bz_sut_queue *sut) BZ_MUST_USE;
enum bz_status bz_sut_queue_join(struct bz_sut_queue *sut) BZ_MUST_USE;

/* At the end of a run: takes out what is left; then every item that was put must have been got. */
void bz_sut_queue_finish(struct bz_sut_queue *sut);

/* --- pool of locks by key ----------------------------------------------------------------------
 */

/* Each key, 0 to keys - 1, is an object of its own, and judged like a lock. */
struct bz_sut_pool {
    struct bz_world *world;
    const struct bz_pool_ops *ops;
    void *instance;
    uint32_t first_object; /* of key 0 */
};

enum bz_status bz_sut_pool_init(struct bz_sut_pool *sut, struct bz_world *world, const char *name,
                                uint32_t keys) BZ_MUST_USE;
enum bz_status bz_sut_pool_acquire(struct bz_sut_pool *sut, uint32_t key) BZ_MUST_USE;
enum bz_status bz_sut_pool_release(struct bz_sut_pool *sut, uint32_t key) BZ_MUST_USE;

/* At the end of a run: nobody uses any key, and the pool must keep none. */
void bz_sut_pool_finish(struct bz_sut_pool *sut);

/* --- timeout scopes ----------------------------------------------------------------------------
 */

/* One use of a scope by the running task, from enter to exit. */
struct bz_sut_scope {
    struct bz_world *world;
    void *scope; /* the variant's */
    struct bz_judged_scope judged;
};

/* `outer`: the scope that the task is in already; NULL: none. If it is not BZ_OK, there is no exit.
 * exit() is given what the body ended with, and says what becomes of it. */
enum bz_status bz_sut_scope_enter(struct bz_sut_scope *sut, struct bz_world *world,
                                  struct bz_sut_scope *outer, uint64_t delay_ns) BZ_MUST_USE;
enum bz_status bz_sut_scope_exit(struct bz_sut_scope *sut, enum bz_status body) BZ_MUST_USE;

BZ_END_DECLS

#endif
