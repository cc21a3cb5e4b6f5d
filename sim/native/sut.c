#include "sim/native/sut.h"

#include <string.h>

#include "primitives/runtime/mem.h"
#include "primitives/runtime/timer.h"
#include "sim/native/internal.h"

#define SCRUBBED_BYTES 1024u

__attribute__((noinline, cold)) void bz_sut_scrub_stack(void) {
    char leftovers[SCRUBBED_BYTES];
    memset(leftovers, 0, sizeof leftovers);
    __asm__ volatile("" : : "r"(leftovers) : "memory"); /* the compiler keeps the memset */
}

/* Zeroed memory for an instance of the variant's primitive, or for one use of its scope. */
static void *new_instance(struct bz_world *world, enum bz_primitive primitive) {
    const size_t *instance_bytes = bz_variant_table(world->variant, primitive);
    BZ_CHECK(instance_bytes != NULL);
    return bz_mem_alloc(bz_loop_mem(world->loop), *instance_bytes);
}

/* The call of an init. Tasks that it creates are the variant's own. */
#define INIT(world, instance, call)                                                                \
    ((instance) == NULL ? BZ_NO_MEMORY                                                             \
                        : (bz_native_of(world)->is_in_init = true, end_init(world, call)))

/* The init is not asked for a size that the variant says it does not offer. */
#define INIT_OF_SIZE(world, primitive, size, instance, call)                                       \
    (bz_variant_offers_size((world)->variant, primitive, size) ? INIT(world, instance, call)       \
                                                               : BZ_INVALID_ARGUMENT)

static enum bz_status end_init(struct bz_world *world, enum bz_status status) {
    bz_native_of(world)->is_in_init = false;
    return status;
}

static uint32_t claims(const struct bz_world *world, enum bz_primitive primitive) {
    return bz_variant_claims(world->variant, primitive);
}

/* --- permits ---------------------------------------------------------------------------------- */

enum bz_status bz_sut_permits_init(struct bz_sut_permits *sut, struct bz_world *world,
                                   enum bz_primitive primitive, const char *name,
                                   uint32_t permits) {
    BZ_CHECK(primitive < BZ_PERMIT_PRIMITIVES);
    const struct bz_permit_ops *ops = world->variant->permits[primitive];
    void *instance = new_instance(world, primitive);
    permits = primitive == BZ_PRIMITIVE_LOCK ? 1 : permits;
    enum bz_status status = INIT_OF_SIZE(world, primitive, permits, instance,
                                         ops->init(instance, world->loop, permits));
    if (status == BZ_OK) {
        *sut = (struct bz_sut_permits){
            .world = world, .ops = ops, .instance = instance, .primitive = primitive};
        sut->object = bz_judge_add_permits(
            world->judge, name, primitive, claims(world, primitive), permits,
            &(struct bz_introspection){
                .instance = instance, .view = ops->view, .locked = ops->locked});
    }
    return status;
}

static __attribute__((noinline, cold)) void acquires(const struct bz_sut_permits *sut) {
    bz_judge_acquire_begin(sut->world->judge, sut->object);
}

static __attribute__((noinline, cold)) void acquired(const struct bz_sut_permits *sut,
                                                     enum bz_status status) {
    bz_judge_acquire_end(sut->world->judge, sut->object, status);
}

__attribute__((noinline, cold)) enum bz_status bz_sut_acquire_apart(struct bz_sut_permits *sut) {
    acquires(sut);
    bz_sut_scrub_stack();
    enum bz_status status = sut->ops->acquire(sut->instance);
    acquired(sut, status);
    return status;
}

__attribute__((noinline, cold)) enum bz_status bz_sut_release_apart(struct bz_sut_permits *sut) {
    bz_judge_release_begin(sut->world->judge, sut->object);
    enum bz_status status = sut->ops->release(sut->instance);
    if (status != BZ_OK) {
        bz_judge_release_end(sut->world->judge, sut->object, status);
    }
    return status;
}

void bz_sut_probe_misuse(struct bz_sut_permits *sut) {
    bool refuses = (claims(sut->world, sut->primitive) & BZ_CLAIM_REFUSES_MISUSE) != 0 &&
                   sut->primitive != BZ_PRIMITIVE_SEMAPHORE;
    if (refuses && bz_judge_holders(sut->world->judge, sut->object) == 0) {
        enum bz_status status = bz_sut_release(sut);
        (void)status; /* the oracle misuse judges it */
    }
}

/* --- event ------------------------------------------------------------------------------------ */

enum bz_status bz_sut_event_init(struct bz_sut_event *sut, struct bz_world *world,
                                 const char *name) {
    const struct bz_event_ops *ops = world->variant->event;
    void *instance = new_instance(world, BZ_PRIMITIVE_EVENT);
    enum bz_status status = INIT(world, instance, ops->init(instance, world->loop));
    if (status == BZ_OK) {
        *sut = (struct bz_sut_event){.world = world, .ops = ops, .instance = instance};
        sut->object = bz_judge_add_event(
            world->judge, name, claims(world, BZ_PRIMITIVE_EVENT),
            &(struct bz_introspection){.instance = instance, .queued = ops->queued});
    }
    return status;
}

enum bz_status bz_sut_event_wait(struct bz_sut_event *sut) {
    bz_judge_wait_begin(sut->world->judge, sut->object);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->wait(sut->instance);
    bz_judge_wait_end(sut->world->judge, sut->object, status);
    return status;
}

void bz_sut_event_set(struct bz_sut_event *sut) {
    struct bz_judged_wakes wakes = bz_judge_set_begin(sut->world->judge, sut->object);
    sut->ops->set(sut->instance);
    bz_judge_set_end(sut->world->judge, sut->object, wakes);
}

void bz_sut_event_clear(struct bz_sut_event *sut) {
    bz_judge_clear(sut->world->judge, sut->object);
    sut->ops->clear(sut->instance);
}

bool bz_sut_event_is_set(const struct bz_sut_event *sut) {
    return sut->ops->is_set(sut->instance);
}

/* --- condition -------------------------------------------------------------------------------- */

enum bz_status bz_sut_condition_init(struct bz_sut_condition *sut, struct bz_world *world,
                                     const char *name, const char *lock_name) {
    const struct bz_condition_ops *ops = world->variant->condition;
    void *instance = new_instance(world, BZ_PRIMITIVE_CONDITION);
    enum bz_status status = INIT(world, instance, ops->init(instance, world->loop));
    if (status == BZ_OK) {
        *sut = (struct bz_sut_condition){.world = world, .ops = ops, .instance = instance};
        sut->judged = bz_judge_add_condition(
            world->judge, name, lock_name, claims(world, BZ_PRIMITIVE_CONDITION),
            &(struct bz_introspection){.instance = instance, .queued = ops->queued});
    }
    return status;
}

enum bz_status bz_sut_condition_acquire(struct bz_sut_condition *sut) {
    bz_judge_acquire_begin(sut->world->judge, sut->judged.lock);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->acquire(sut->instance);
    bz_judge_acquire_end(sut->world->judge, sut->judged.lock, status);
    return status;
}

enum bz_status bz_sut_condition_release(struct bz_sut_condition *sut) {
    bz_judge_release_begin(sut->world->judge, sut->judged.lock);
    enum bz_status status = sut->ops->release(sut->instance);
    bz_judge_release_end(sut->world->judge, sut->judged.lock, status);
    return status;
}

enum bz_status bz_sut_condition_wait(struct bz_sut_condition *sut) {
    bz_judge_condition_wait_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->wait(sut->instance);
    bz_judge_condition_wait_end(&sut->judged, sut->ops->locked(sut->instance), status);
    return status;
}

enum bz_status bz_sut_condition_misuse(struct bz_sut_condition *sut) {
    bz_judge_condition_misuse_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->wait(sut->instance);
    bz_judge_condition_misuse_end(&sut->judged, status);
    return status;
}

enum bz_status bz_sut_condition_notify(struct bz_sut_condition *sut, uint32_t count) {
    struct bz_judged_wakes wakes = bz_judge_notify_begin(&sut->judged, count);
    enum bz_status status = sut->ops->notify(sut->instance, count);
    bz_judge_notify_end(&sut->judged, wakes, status);
    return status;
}

/* --- barrier ---------------------------------------------------------------------------------- */

enum bz_status bz_sut_barrier_init(struct bz_sut_barrier *sut, struct bz_world *world,
                                   const char *name, uint32_t parties) {
    const struct bz_barrier_ops *ops = world->variant->barrier;
    void *instance = new_instance(world, BZ_PRIMITIVE_BARRIER);
    enum bz_status status = INIT_OF_SIZE(world, BZ_PRIMITIVE_BARRIER, parties, instance,
                                         ops->init(instance, world->loop, parties));
    if (status == BZ_OK) {
        *sut = (struct bz_sut_barrier){.world = world, .ops = ops, .instance = instance};
        bz_judge_add_barrier(
            world->judge, &sut->judged, name, parties, claims(world, BZ_PRIMITIVE_BARRIER),
            &(struct bz_introspection){.instance = instance, .queued = ops->queued});
    }
    return status;
}

enum bz_status bz_sut_barrier_wait(struct bz_sut_barrier *sut, uint32_t *index) {
    struct bz_judged_pass pass = bz_judge_barrier_wait_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->wait(sut->instance, index);
    bz_judge_barrier_wait_end(&sut->judged, pass, *index, status);
    return status;
}

static bool break_barrier(struct bz_sut_barrier *sut, enum bz_op op,
                          void (*operation)(void *instance)) {
    if (operation != NULL) {
        struct bz_judged_wakes wakes = bz_judge_barrier_break(&sut->judged, op);
        operation(sut->instance);
        bz_judge_barrier_broken(&sut->judged, wakes);
    }
    return operation != NULL;
}

bool bz_sut_barrier_abort(struct bz_sut_barrier *sut) {
    return break_barrier(sut, BZ_OP_ABORT, sut->ops->abort);
}

bool bz_sut_barrier_reset(struct bz_sut_barrier *sut) {
    return break_barrier(sut, BZ_OP_RESET, sut->ops->reset);
}

/* --- queue ------------------------------------------------------------------------------------ */

enum bz_status bz_sut_queue_init(struct bz_sut_queue *sut, struct bz_world *world,
                                 const char *items_name, const char *slots_name,
                                 enum bz_queue_order order, uint32_t maxsize) {
    const struct bz_queue_ops *ops = world->variant->queue;
    void *instance = new_instance(world, BZ_PRIMITIVE_QUEUE);
    enum bz_status status =
        bz_variant_nearest_order(world->variant, order) != order
            ? BZ_INVALID_ARGUMENT
            : INIT_OF_SIZE(world, BZ_PRIMITIVE_QUEUE,
                           maxsize == BZ_QUEUE_RENDEZVOUS ? -1 : (int64_t)maxsize, instance,
                           ops->init(instance, world->loop, order, maxsize));
    if (status == BZ_OK) {
        *sut = (struct bz_sut_queue){.world = world, .ops = ops, .instance = instance};
        bz_judge_add_queue(world->judge, &sut->judged, items_name, slots_name, order, maxsize,
                           claims(world, BZ_PRIMITIVE_QUEUE),
                           &(struct bz_introspection){.instance = instance, .queued = ops->queued},
                           ops->size);
    }
    return status;
}

static enum bz_status put(struct bz_sut_queue *sut, int64_t priority,
                          enum bz_status (*operation)(void *, uint64_t, int64_t)) {
    uint32_t value = bz_judge_put_begin(&sut->judged, priority);
    bz_sut_may_wait(sut->world);
    enum bz_status status = operation(sut->instance, value, priority);
    bz_judge_put_end(&sut->judged, value, status);
    return status;
}

static enum bz_status get(struct bz_sut_queue *sut,
                          enum bz_status (*operation)(void *, uint64_t *)) {
    uint64_t value = 0;
    bz_judge_get_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = operation(sut->instance, &value);
    bz_judge_get_end(&sut->judged, value, status);
    return status;
}

enum bz_status bz_sut_queue_put(struct bz_sut_queue *sut, int64_t priority) {
    return put(sut, priority, sut->ops->put);
}

enum bz_status bz_sut_queue_try_put(struct bz_sut_queue *sut, int64_t priority) {
    bz_judge_try(&sut->judged);
    return put(sut, priority, sut->ops->try_put);
}

enum bz_status bz_sut_queue_get(struct bz_sut_queue *sut) {
    return get(sut, sut->ops->get);
}

enum bz_status bz_sut_queue_try_get(struct bz_sut_queue *sut) {
    bz_judge_try(&sut->judged);
    return get(sut, sut->ops->try_get);
}

bool bz_sut_queue_shutdown(struct bz_sut_queue *sut, bool is_immediate) {
    if (sut->ops->shutdown != NULL) {
        bz_judge_shutdown_begin(&sut->judged, is_immediate);
        sut->ops->shutdown(sut->instance, is_immediate);
        bz_judge_shutdown_end(&sut->judged, is_immediate);
    }
    return sut->ops->shutdown != NULL;
}

enum bz_status bz_sut_queue_task_done(struct bz_sut_queue *sut) {
    if (sut->ops->task_done == NULL) {
        return BZ_INVALID_STATE;
    }
    bz_judge_task_done_begin(&sut->judged);
    enum bz_status status = sut->ops->task_done(sut->instance);
    bz_judge_task_done_end(&sut->judged, status);
    return status;
}

enum bz_status bz_sut_queue_join(struct bz_sut_queue *sut) {
    if (sut->ops->join == NULL) {
        return BZ_INVALID_STATE;
    }
    struct bz_judged_join join = bz_judge_join_begin(&sut->judged);
    enum bz_status status = sut->ops->join(sut->instance);
    bz_judge_join_end(&sut->judged, join, status);
    return status;
}

void bz_sut_queue_finish(struct bz_sut_queue *sut) {
    if (sut->ops->queued != NULL && sut->ops->queued(sut->instance) > 0) {
        return; /* a get might remove waiters that the oracle `leak` must see */
    }
    while (bz_sut_queue_try_get(sut) == BZ_OK &&
           bz_judge_verdict(sut->world->judge) == BZ_RUN_PASSED) {
    }
    if (sut->judged.unfinished == 0) {
        enum bz_status status = bz_sut_queue_task_done(sut); /* one too many */
        (void)status;                                        /* the oracle misuse judges it */
    }
    bz_judge_queue_end(&sut->judged);
}

/* --- an object that a model judges ------------------------------------------------------------ */

enum bz_status bz_sut_opaque_init(struct bz_sut_opaque *sut, struct bz_world *world,
                                  enum bz_primitive primitive, const char *name,
                                  enum bz_status (*init)(const struct bz_sut_opaque *sut,
                                                         const int64_t *parameters),
                                  const int64_t *parameters, const struct bz_introspection *look) {
    *sut = (struct bz_sut_opaque){.world = world,
                                  .ops = bz_variant_table(world->variant, primitive),
                                  .instance = new_instance(world, primitive)};
    enum bz_status status = INIT(world, sut->instance, init(sut, parameters));
    if (status == BZ_OK) {
        sut->object =
            bz_judge_add_opaque(world->judge, name, primitive, claims(world, primitive), look);
    }
    return status;
}

/* --- pool ------------------------------------------------------------------------------------- */

enum bz_status bz_sut_pool_init(struct bz_sut_pool *sut, struct bz_world *world, const char *name,
                                uint32_t keys) {
    const struct bz_pool_ops *ops = world->variant->pool;
    BZ_CHECK(keys > 0);
    void *instance = new_instance(world, BZ_PRIMITIVE_POOL);
    enum bz_status status = INIT(world, instance, ops->init(instance, world->loop));
    if (status == BZ_OK) {
        uint32_t last = 0;
        for (uint32_t key = 0; key < keys; key++) {
            last = bz_judge_add_permits(world->judge, name, BZ_PRIMITIVE_POOL,
                                        claims(world, BZ_PRIMITIVE_POOL), 1, NULL);
        }
        *sut = (struct bz_sut_pool){
            .world = world, .ops = ops, .instance = instance, .first_object = last - (keys - 1)};
    }
    return status;
}

enum bz_status bz_sut_pool_acquire(struct bz_sut_pool *sut, uint32_t key) {
    bz_judge_acquire_begin(sut->world->judge, sut->first_object + key);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->acquire(sut->instance, (uint64_t)key << sut->key_shift);
    bz_judge_acquire_end(sut->world->judge, sut->first_object + key, status);
    return status;
}

enum bz_status bz_sut_pool_release(struct bz_sut_pool *sut, uint32_t key) {
    bz_judge_release_begin(sut->world->judge, sut->first_object + key);
    enum bz_status status = sut->ops->release(sut->instance, (uint64_t)key << sut->key_shift);
    bz_judge_release_end(sut->world->judge, sut->first_object + key, status);
    return status;
}

void bz_sut_pool_finish(struct bz_sut_pool *sut) {
    if (sut->ops->entries != NULL) {
        bz_judge_pool_keep(sut->world->judge, sut->first_object, sut->ops->entries(sut->instance));
    }
}

/* --- pool of resources ------------------------------------------------------------------------ */

static enum bz_status create_resource(void *context, uint64_t *resource) {
    struct bz_sut_resource_pool *sut = context;
    uint32_t number = bz_judge_resource_create_begin(&sut->judged);
    enum bz_status status = sut->make(sut->context);
    bz_judge_resource_create_end(&sut->judged, number, status);
    *resource = status == BZ_OK ? number : 0;
    return status;
}

static void destroy_resource(void *context, uint64_t resource) {
    bz_judge_resource_destroy(&((struct bz_sut_resource_pool *)context)->judged, resource);
}

enum bz_status bz_sut_resource_pool_init(struct bz_sut_resource_pool *sut, struct bz_world *world,
                                         const char *name, uint32_t limit, uint64_t idle_ns) {
    const struct bz_resource_pool_ops *ops = world->variant->resource_pool;
    sut->world = world;
    sut->ops = ops;
    sut->instance = new_instance(world, BZ_PRIMITIVE_RESOURCE_POOL);
    sut->setup = (struct bz_resource_setup){.limit = limit,
                                            .idle_ns = idle_ns,
                                            .create = create_resource,
                                            .destroy = destroy_resource,
                                            .context = sut};
    bz_judge_add_resource_pool(
        world->judge, &sut->judged, name, limit, idle_ns, claims(world, BZ_PRIMITIVE_RESOURCE_POOL),
        &(struct bz_introspection){.instance = sut->instance, .queued = ops->queued});
    return INIT(world, sut->instance, ops->init(sut->instance, world->loop, &sut->setup));
}

enum bz_status bz_sut_resource_pool_acquire(struct bz_sut_resource_pool *sut, uint64_t *resource) {
    *resource = 0;
    bool was_closed = bz_judge_borrow_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->acquire(sut->instance, resource);
    bz_judge_borrow_end(&sut->judged, was_closed, *resource, status);
    return status;
}

enum bz_status bz_sut_resource_pool_release(struct bz_sut_resource_pool *sut, uint64_t resource,
                                            bool is_broken) {
    bool was_lent = bz_judge_give_back_begin(&sut->judged, resource, is_broken);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->release(sut->instance, resource, is_broken);
    bz_judge_give_back_end(&sut->judged, was_lent, resource, status);
    return status;
}

enum bz_status bz_sut_resource_pool_close(struct bz_sut_resource_pool *sut) {
    if (sut->ops->close == NULL) {
        return BZ_INVALID_STATE;
    }
    struct bz_judged_join join = bz_judge_close_begin(&sut->judged);
    bz_sut_may_wait(sut->world);
    enum bz_status status = sut->ops->close(sut->instance);
    bz_judge_close_end(&sut->judged, join, status);
    return status;
}

void bz_sut_resource_pool_finish(struct bz_sut_resource_pool *sut) {
    bz_judge_resource_pool_end(&sut->judged);
}

/* --- timeout scopes --------------------------------------------------------------------------- */

enum bz_status bz_sut_scope_enter(struct bz_sut_scope *sut, struct bz_world *world,
                                  struct bz_sut_scope *outer, uint64_t delay_ns) {
    const struct bz_scope_ops *ops = world->variant->scope;
    const struct bz_task *task = bz_loop_current(world->loop);
    void *scope = new_instance(world, BZ_PRIMITIVE_SCOPE);
    if (scope == NULL) {
        return BZ_NO_MEMORY;
    }
    sut->world = world;
    sut->scope = scope;
    bz_judge_scope_enter_begin(world->judge, &sut->judged, outer == NULL ? NULL : &outer->judged,
                               bz_time_after(bz_loop_now_ns(world->loop), delay_ns),
                               bz_task_cancelling(task));
    bz_world_may_refuse(world,
                        (claims(world, BZ_PRIMITIVE_SCOPE) & BZ_CLAIM_SURVIVES_NO_MEMORY) != 0);
    enum bz_status status = ops->enter(scope, world->loop, delay_ns);
    bz_world_may_refuse(world, false);
    bz_judge_scope_enter_end(&sut->judged, status);
    if (status != BZ_OK) {
        bz_mem_free(bz_loop_mem(world->loop), scope, ops->scope_bytes);
    }
    return status;
}

enum bz_status bz_sut_scope_exit(struct bz_sut_scope *sut, enum bz_status body) {
    struct bz_world *world = sut->world;
    const struct bz_scope_ops *ops = world->variant->scope;
    enum bz_status status = ops->exit(sut->scope, body);
    bz_mem_free(bz_loop_mem(world->loop), sut->scope, ops->scope_bytes);
    bz_judge_scope_exit_end(&sut->judged, body, status,
                            bz_task_cancelling(bz_loop_current(world->loop)));
    return status;
}
