/* The functions of primitives/sync, as programs call them: each announces the call to the judge,
 * and calls the primitive (behind.h). An object that was not initialized here, or outside of a
 * repeated run, is not announced. */
#include "primitives/runtime/driver.h"
#include "primitives/runtime/mem.h"
#include "primitives/sync/barrier.h"
#include "primitives/sync/condition.h"
#include "primitives/sync/event.h"
#include "primitives/sync/lock.h"
#include "primitives/sync/queue.h"
#include "primitives/sync/semaphore.h"
#include "scenarios/live/internal.h"
#include "sim/judge/judge.h"

#define BEHIND(name) extern __typeof__(bz_##name) bz_behind_##name
BEHIND(barrier_abort);
BEHIND(barrier_init);
BEHIND(barrier_reset);
BEHIND(barrier_wait);
BEHIND(condition_init);
BEHIND(condition_notify);
BEHIND(condition_wait);
BEHIND(lock_acquire);
BEHIND(lock_init);
BEHIND(lock_release);
BEHIND(queue_get);
BEHIND(queue_init);
BEHIND(queue_join);
BEHIND(queue_put_priority);
BEHIND(queue_shutdown);
BEHIND(queue_task_done);
BEHIND(queue_try_get);
BEHIND(queue_try_put_priority);
BEHIND(semaphore_acquire);
BEHIND(semaphore_init);
BEHIND(semaphore_init_bounded);
BEHIND(semaphore_release);
BEHIND(sync_event_clear);
BEHIND(sync_event_init);
BEHIND(sync_event_set);
BEHIND(sync_event_wait);

/* --- the announced objects, by address -------------------------------------------------------- */

struct bz_announced {
    const void *primitive; /* NULL: a free place */
    bool is_there;         /* false: it ended, or is not judged */
    uint32_t object;       /* of permits or an event; 0: none */
    struct bz_judged_condition condition;
    struct bz_judged_barrier *barrier;
    struct bz_judged_queue *queue;
    uint64_t *values; /* of the program, by the judge's number of the item */
    uint32_t value_capacity;
};

#define CAPACITY_FIRST 64u

/* The place of the primitive, or a free one. */
static struct bz_announced *place_of(const struct bz_live *live, const void *primitive) {
    uint64_t hash = (uintptr_t)primitive * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t index = (uint32_t)(hash >> 32) & (live->object_capacity - 1);
    while (live->objects[index].primitive != NULL && live->objects[index].primitive != primitive) {
        index = (index + 1) & (live->object_capacity - 1);
    }
    return &live->objects[index];
}

static void grow(struct bz_live *live) {
    struct bz_live old = *live;
    live->object_capacity = old.object_capacity == 0 ? CAPACITY_FIRST : 2 * old.object_capacity;
    live->objects = bz_world_alloc(live->world, live->object_capacity * sizeof *live->objects);
    for (uint32_t index = 0; index < old.object_capacity; index++) {
        if (old.objects[index].primitive != NULL) {
            *place_of(live, old.objects[index].primitive) = old.objects[index];
        }
    }
    if (old.objects != NULL) {
        bz_mem_free(bz_loop_mem(live->world->loop), old.objects,
                    old.object_capacity * sizeof *old.objects);
    }
}

static struct bz_judge *judge(void) {
    return bz_live_current->world->judge;
}

/* NULL: it is not announced. */
static struct bz_announced *find(const void *primitive) {
    struct bz_live *live = bz_live_current;
    if (live == NULL || live->object_capacity == 0) {
        return NULL;
    }
    struct bz_announced *place = place_of(live, primitive);
    return place->primitive == NULL || !place->is_there ? NULL : place;
}

/* Something else is at this address from now on. */
static void forget(const void *primitive) {
    struct bz_announced *place = find(primitive);
    if (place == NULL) {
        return;
    }
    uint32_t objects[] = {place->condition.object,
                          place->barrier == NULL ? 0 : place->barrier->object,
                          place->queue == NULL ? 0 : place->queue->items,
                          place->queue == NULL ? 0 : place->queue->slots, place->object};
    for (unsigned index = 0; index < sizeof objects / sizeof objects[0]; index++) {
        if (objects[index] != 0) {
            bz_judge_end_object(judge(), objects[index]);
        }
    }
    place->is_there = false;
}

/* A new object. One that was at this address before is no more. NULL: nothing is announced. */
static struct bz_announced *announce(const void *primitive, const struct bz_loop *loop) {
    struct bz_live *live = bz_live_current;
    forget(primitive);
    if (live == NULL || loop != live->world->loop) {
        return NULL;
    }
    if (2 * (live->object_count + 1) > live->object_capacity) {
        grow(live);
    }
    struct bz_announced *place = place_of(live, primitive);
    live->object_count += place->primitive == NULL;
    *place = (struct bz_announced){.primitive = primitive, .is_there = true};
    return place;
}

static uint32_t claims(enum bz_primitive primitive) {
    return bz_variant_claims(bz_live_current->world->variant, primitive);
}

static const struct bz_introspection *may_look(const struct bz_introspection *look) {
    return bz_live_current->looks_inside && bz_judge_steps(judge()) == 0 ? look : NULL;
}

/* --- permits ---------------------------------------------------------------------------------- */

static void announce_permits(void *primitive, const struct bz_loop *loop, enum bz_primitive kind,
                             const char *name, uint32_t permits) {
    struct bz_announced *place = announce(primitive, loop);
    if (place != NULL) {
        const struct bz_permit_ops *ops = bz_live_current->world->variant->permits[kind];
        place->object = bz_judge_add_permits(
            judge(), name, kind, claims(kind), permits,
            may_look(&(struct bz_introspection){
                .instance = primitive, .view = ops->view, .locked = ops->locked}));
    }
}

void bz_lock_init(struct bz_lock *lock, struct bz_loop *loop) {
    bz_behind_lock_init(lock, loop);
    announce_permits(lock, loop, BZ_PRIMITIVE_LOCK, "lock", 1);
}

void bz_semaphore_init(struct bz_semaphore *semaphore, struct bz_loop *loop, uint32_t permits) {
    bz_behind_semaphore_init(semaphore, loop, permits);
    announce_permits(semaphore, loop, BZ_PRIMITIVE_SEMAPHORE, "semaphore", permits);
}

void bz_semaphore_init_bounded(struct bz_semaphore *semaphore, struct bz_loop *loop,
                               uint32_t permits) {
    bz_behind_semaphore_init_bounded(semaphore, loop, permits);
    announce_permits(semaphore, loop, BZ_PRIMITIVE_BOUNDED, "semaphore", permits);
}

/* `call` is the call of the primitive. */
#define ACQUIRE(primitive, call)                                                                   \
    const struct bz_announced *place = find(primitive);                                            \
    if (place == NULL) {                                                                           \
        return call;                                                                               \
    }                                                                                              \
    uint32_t object = place->object;                                                               \
    bz_judge_acquires(judge(), object);                                                            \
    enum bz_status status = call;                                                                  \
    bz_judge_acquired(judge(), object, status);                                                    \
    return status

#define RELEASE(primitive, call)                                                                   \
    const struct bz_announced *place = find(primitive);                                            \
    if (place == NULL) {                                                                           \
        return call;                                                                               \
    }                                                                                              \
    bz_judge_releases(judge(), place->object);                                                     \
    enum bz_status status = call;                                                                  \
    bz_judge_released(judge(), place->object, status);                                             \
    return status

enum bz_status bz_lock_acquire(struct bz_lock *lock) {
    ACQUIRE(lock, bz_behind_lock_acquire(lock));
}

enum bz_status bz_lock_release(struct bz_lock *lock) {
    RELEASE(lock, bz_behind_lock_release(lock));
}

enum bz_status bz_semaphore_acquire(struct bz_semaphore *semaphore) {
    ACQUIRE(semaphore, bz_behind_semaphore_acquire(semaphore));
}

enum bz_status bz_semaphore_release(struct bz_semaphore *semaphore) {
    RELEASE(semaphore, bz_behind_semaphore_release(semaphore));
}

/* --- event ------------------------------------------------------------------------------------ */

void bz_sync_event_init(struct bz_sync_event *event, struct bz_loop *loop) {
    bz_behind_sync_event_init(event, loop);
    struct bz_announced *place = announce(event, loop);
    if (place != NULL) {
        place->object = bz_judge_add_event(
            judge(), "event", claims(BZ_PRIMITIVE_EVENT),
            may_look(&(struct bz_introspection){
                .instance = event, .queued = bz_live_current->world->variant->event->queued}));
    }
}

enum bz_status bz_sync_event_wait(struct bz_sync_event *event) {
    const struct bz_announced *place = find(event);
    if (place == NULL) {
        return bz_behind_sync_event_wait(event);
    }
    uint32_t object = place->object;
    bz_judge_waits(judge(), object);
    enum bz_status status = bz_behind_sync_event_wait(event);
    bz_judge_waited(judge(), object, status);
    return status;
}

void bz_sync_event_set(struct bz_sync_event *event) {
    const struct bz_announced *place = find(event);
    struct bz_judged_wakes wakes = {0};
    if (place != NULL) {
        wakes = bz_judge_sets(judge(), place->object);
    }
    bz_behind_sync_event_set(event);
    if (place != NULL) {
        bz_judge_set(judge(), place->object, wakes);
    }
}

void bz_sync_event_clear(struct bz_sync_event *event) {
    const struct bz_announced *place = find(event);
    if (place != NULL) {
        bz_judge_clears(judge(), place->object);
    }
    bz_behind_sync_event_clear(event);
}

/* --- condition -------------------------------------------------------------------------------- */

static uint32_t condition_queued(void *instance) {
    const struct bz_condition *condition = instance;
    const struct bz_waitq *queues[] = {&condition->queue, &condition->lock->queue};
    uint32_t count = 0;
    for (unsigned index = 0; index < 2; index++) {
        count += queues[index]->waiting_count + queues[index]->woken_count +
                 queues[index]->cancelled_count;
    }
    return count;
}

void bz_condition_init(struct bz_condition *condition, struct bz_lock *lock) {
    bz_behind_condition_init(condition, lock);
    const struct bz_announced *of_lock = find(lock);
    uint32_t lock_object = of_lock == NULL ? 0 : of_lock->object;
    struct bz_announced *place =
        announce(condition, lock_object == 0 ? NULL : bz_live_current->world->loop);
    if (place != NULL) {
        place->condition = bz_judge_add_condition_on(
            judge(), "condition", lock_object, claims(BZ_PRIMITIVE_CONDITION),
            may_look(
                &(struct bz_introspection){.instance = condition, .queued = condition_queued}));
    }
}

/* The condition, if it is announced and its lock is still the one that it began with. */
static const struct bz_announced *find_condition(const struct bz_condition *condition) {
    const struct bz_announced *place = find(condition);
    const struct bz_announced *lock = find(condition->lock);
    bool is_whole = place != NULL && lock != NULL && lock->object == place->condition.lock;
    if (place != NULL && !is_whole) {
        forget(condition);
    }
    return is_whole ? place : NULL;
}

enum bz_status bz_condition_wait(struct bz_condition *condition) {
    const struct bz_announced *place = find_condition(condition);
    if (place == NULL) {
        return bz_behind_condition_wait(condition);
    }
    struct bz_judged_condition judged = place->condition;
    bool is_misuse = !condition->lock->is_held;
    if (is_misuse) {
        bz_judge_condition_misuses(&judged);
    } else {
        bz_judge_condition_waits(&judged);
    }
    enum bz_status status = bz_behind_condition_wait(condition);
    if (is_misuse) {
        bz_judge_condition_misused(&judged, status);
    } else {
        bz_judge_condition_waited(&judged, condition->lock->is_held, status);
    }
    return status;
}

enum bz_status bz_condition_wait_for(struct bz_condition *condition, bool (*holds)(void *arg),
                                     void *arg) {
    enum bz_status status = BZ_OK;
    while (status == BZ_OK && !holds(arg)) {
        status = bz_condition_wait(condition);
    }
    return status;
}

enum bz_status bz_condition_notify(struct bz_condition *condition, uint32_t count) {
    const struct bz_announced *place = find_condition(condition);
    if (place == NULL) {
        return bz_behind_condition_notify(condition, count);
    }
    struct bz_judged_condition judged = place->condition;
    struct bz_judged_wakes wakes = bz_judge_notifies(&judged, count);
    enum bz_status status = bz_behind_condition_notify(condition, count);
    bz_judge_notified(&judged, wakes, status);
    return status;
}

enum bz_status bz_condition_notify_all(struct bz_condition *condition) {
    return bz_condition_notify(condition, BZ_NOTIFY_ALL);
}

/* --- barrier ---------------------------------------------------------------------------------- */

enum bz_status bz_barrier_init(struct bz_barrier *barrier, struct bz_loop *loop, uint32_t parties) {
    enum bz_status status = bz_behind_barrier_init(barrier, loop, parties);
    bool is_judged = status == BZ_OK && parties <= BZ_BARRIER_PARTIES_MAX;
    struct bz_announced *place = announce(barrier, is_judged ? loop : NULL);
    if (place != NULL) {
        place->barrier = bz_world_alloc(bz_live_current->world, sizeof *place->barrier);
        bz_judge_add_barrier(
            judge(), place->barrier, "barrier", parties, claims(BZ_PRIMITIVE_BARRIER),
            may_look(&(struct bz_introspection){
                .instance = barrier, .queued = bz_live_current->world->variant->barrier->queued}));
    }
    return status;
}

enum bz_status bz_barrier_wait(struct bz_barrier *barrier, uint32_t *index) {
    const struct bz_announced *place = find(barrier);
    if (place == NULL) {
        return bz_behind_barrier_wait(barrier, index);
    }
    struct bz_judged_barrier *judged = place->barrier;
    struct bz_judged_pass pass = bz_judge_barrier_waits(judged);
    uint32_t own = 0;
    enum bz_status status = bz_behind_barrier_wait(barrier, &own);
    bz_judge_barrier_waited(judged, pass, own, status);
    if (status == BZ_OK && index != NULL) {
        *index = own;
    }
    return status;
}

void bz_barrier_abort(struct bz_barrier *barrier) {
    const struct bz_announced *place = find(barrier);
    if (place != NULL) {
        bz_judge_barrier_breaks(place->barrier, BZ_OP_ABORT);
    }
    bz_behind_barrier_abort(barrier);
}

void bz_barrier_reset(struct bz_barrier *barrier) {
    const struct bz_announced *place = find(barrier);
    if (place != NULL) {
        bz_judge_barrier_breaks(place->barrier, BZ_OP_RESET);
    }
    bz_behind_barrier_reset(barrier);
}

/* --- queue ------------------------------------------------------------------------------------ */
/* The queue holds the judge's numbers of the items, because values of a program may repeat. */

enum bz_status bz_queue_init(struct bz_queue *queue, struct bz_loop *loop, enum bz_queue_kind kind,
                             uint32_t maxsize) {
    enum bz_status status = bz_behind_queue_init(queue, loop, kind, maxsize);
    struct bz_announced *place = announce(queue, status == BZ_OK ? loop : NULL);
    if (place != NULL) {
        struct bz_world *world = bz_live_current->world;
        const struct bz_queue_ops *ops = world->variant->queue;
        const struct bz_introspection *look =
            may_look(&(struct bz_introspection){.instance = queue, .queued = ops->queued});
        place->queue = bz_world_alloc(world, sizeof *place->queue);
        bz_judge_add_queue(judge(), place->queue, "items", "slots", (enum bz_queue_order)kind,
                           maxsize, claims(BZ_PRIMITIVE_QUEUE), look,
                           look == NULL ? NULL : ops->size);
    }
    return status;
}

static void keep_value(struct bz_announced *place, uint32_t number, uint64_t value) {
    if (number >= place->value_capacity) {
        uint32_t capacity = place->value_capacity == 0 ? CAPACITY_FIRST : 2 * place->value_capacity;
        uint64_t *larger = bz_world_alloc(bz_live_current->world, capacity * sizeof *place->values);
        for (uint32_t index = 0; index < place->value_capacity; index++) {
            larger[index] = place->values[index];
        }
        if (place->values != NULL) {
            bz_mem_free(bz_loop_mem(bz_live_current->world->loop), place->values,
                        place->value_capacity * sizeof *place->values);
        }
        place->values = larger;
        place->value_capacity = capacity;
    }
    place->values[number] = value;
}

/* The table of objects may move while the task waits. */
static enum bz_status put(struct bz_queue *queue, uint64_t value, int64_t priority, bool is_try) {
    struct bz_announced *place = find(queue);
    struct bz_judged_queue *judged = place == NULL ? NULL : place->queue;
    uint64_t item = value;
    if (judged != NULL) {
        if (is_try) {
            bz_judge_tries(judged);
        }
        item = bz_judge_puts(judged, priority);
        keep_value(place, (uint32_t)item, value);
    }
    enum bz_status status = is_try ? bz_behind_queue_try_put_priority(queue, item, priority)
                                   : bz_behind_queue_put_priority(queue, item, priority);
    if (judged != NULL) {
        bz_judge_put(judged, (uint32_t)item, status);
    }
    return status;
}

static enum bz_status get(struct bz_queue *queue, uint64_t *value, bool is_try) {
    const struct bz_announced *place = find(queue);
    struct bz_judged_queue *judged = place == NULL ? NULL : place->queue;
    uint64_t item = 0;
    if (judged != NULL) {
        if (is_try) {
            bz_judge_tries(judged);
        }
        bz_judge_gets(judged);
    }
    enum bz_status status =
        is_try ? bz_behind_queue_try_get(queue, &item) : bz_behind_queue_get(queue, &item);
    if (status == BZ_OK) {
        place = find(queue);
        bool is_number = judged != NULL && item < place->value_capacity;
        *value = is_number ? place->values[item] : item;
    }
    if (judged != NULL) {
        bz_judge_got(judged, item, status);
    }
    return status;
}

enum bz_status bz_queue_put(struct bz_queue *queue, uint64_t value) {
    return put(queue, value, 0, false);
}

enum bz_status bz_queue_try_put(struct bz_queue *queue, uint64_t value) {
    return put(queue, value, 0, true);
}

enum bz_status bz_queue_put_priority(struct bz_queue *queue, uint64_t value, int64_t priority) {
    return put(queue, value, priority, false);
}

enum bz_status bz_queue_try_put_priority(struct bz_queue *queue, uint64_t value, int64_t priority) {
    return put(queue, value, priority, true);
}

enum bz_status bz_queue_get(struct bz_queue *queue, uint64_t *value) {
    return get(queue, value, false);
}

enum bz_status bz_queue_try_get(struct bz_queue *queue, uint64_t *value) {
    return get(queue, value, true);
}

enum bz_status bz_queue_task_done(struct bz_queue *queue) {
    const struct bz_announced *place = find(queue);
    if (place == NULL) {
        return bz_behind_queue_task_done(queue);
    }
    bz_judge_says_done(place->queue);
    enum bz_status status = bz_behind_queue_task_done(queue);
    bz_judge_said_done(place->queue, status);
    return status;
}

enum bz_status bz_queue_join(struct bz_queue *queue) {
    const struct bz_announced *place = find(queue);
    if (place == NULL) {
        return bz_behind_queue_join(queue);
    }
    struct bz_judged_queue *judged = place->queue;
    struct bz_judged_join join = bz_judge_joins(judged);
    enum bz_status status = bz_behind_queue_join(queue);
    bz_judge_joined(judged, join, status);
    return status;
}

void bz_queue_shutdown(struct bz_queue *queue, bool is_immediate) {
    const struct bz_announced *place = find(queue);
    if (place != NULL) {
        bz_judge_shuts_down(place->queue, is_immediate);
    }
    bz_behind_queue_shutdown(queue, is_immediate);
    if (place != NULL) {
        bz_judge_shut_down(place->queue, is_immediate);
    }
}

/* --- names ------------------------------------------------------------------------------------ */

void bz_live_name(const void *primitive, const char *name) {
    const struct bz_announced *place = find(primitive);
    uint32_t object = place == NULL                  ? 0
                      : place->queue != NULL         ? place->queue->items
                      : place->barrier != NULL       ? place->barrier->object
                      : place->condition.object != 0 ? place->condition.object
                                                     : place->object;
    if (object != 0) {
        bz_judge_name_object(judge(), object, name);
    }
}
