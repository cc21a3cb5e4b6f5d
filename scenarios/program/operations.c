/* Operations of a script, on objects and on what a task holds. */
#include "primitives/runtime/task.h"
#include "scenarios/program/awaits.h"
#include "scenarios/program/interpreter.h"
#include "scenarios/variants/variants.h"

/* --- what a runner holds ---------------------------------------------------------------------- */

static enum bz_primitive primitive_of(const struct runner *runner, uint32_t object) {
    return (enum bz_primitive)runner->interpreter->script->objects[object].primitive;
}

static void give_back(struct runner *runner, uint32_t object, uint32_t key) {
    struct interpreter *interpreter = runner->interpreter;
    struct object *entry = &interpreter->objects[object];
    enum bz_primitive primitive = primitive_of(runner, object);
    enum bz_status status =
        primitive == BZ_PRIMITIVE_CONDITION ? bz_sut_condition_release(&entry->condition)
        : primitive == BZ_PRIMITIVE_POOL    ? bz_sut_pool_release(&entry->pool, key)
                                            : bz_sut_release(&entry->permits);
    bz_world_assert(interpreter->world, status == BZ_OK, "a release of '%s' was refused: %s",
                    interpreter->script->objects[object].name, bz_status_word(status));
}

/* The number + 1 of its newest holding, 0 for none. */
static uint32_t find_holding(const struct runner *runner, uint32_t object, uint32_t key) {
    uint32_t count = runner->holding_count;
    while (count > 0 && (runner->holdings[count - 1].object != object ||
                         runner->holdings[count - 1].key != key)) {
        count--;
    }
    return count;
}

/* Of a condition: the lock that it goes with. */
static bool holds(const struct runner *runner, uint32_t object) {
    uint32_t lock = bz_script_lock_of(runner->interpreter->script, object);
    return find_holding(runner, lock, 0) != 0;
}

static void release(struct runner *runner, uint32_t named, uint32_t key) {
    uint32_t object = bz_script_lock_of(runner->interpreter->script, named);
    uint32_t found = find_holding(runner, object, key);
    if (found == 0) {
        return;
    }
    runner->holding_count--;
    runner->interpreter->held[object]--;
    for (uint32_t index = found - 1; index < runner->holding_count; index++) {
        runner->holdings[index] = runner->holdings[index + 1];
    }
    give_back(runner, object, key);
}

/* When a timeout of this depth has ended early. */
void bz_script_release_inside(struct runner *runner, uint32_t depth) {
    for (uint32_t index = runner->holding_count; index-- > 0;) {
        if (runner->holdings[index].depth >= depth) {
            release(runner, runner->holdings[index].object, runner->holdings[index].key);
        }
    }
}

static enum bz_status acquire(struct runner *runner, uint32_t named, uint32_t key) {
    uint32_t object = bz_script_lock_of(runner->interpreter->script, named);
    struct object *entry = &runner->interpreter->objects[object];
    enum bz_primitive primitive = primitive_of(runner, object);
    enum bz_status status =
        primitive == BZ_PRIMITIVE_CONDITION ? bz_sut_condition_acquire(&entry->condition)
        : primitive == BZ_PRIMITIVE_POOL    ? bz_sut_pool_acquire(&entry->pool, key)
                                            : bz_sut_acquire(&entry->permits);
    runner->interpreter->held[object] += status == BZ_OK;
    if (status == BZ_OK) { /* there is room for one holding of each operation */
        runner->holdings[runner->holding_count++] = (struct holding){
            .object = (uint8_t)object, .key = (uint8_t)key, .depth = (uint8_t)runner->depth};
    }
    return status;
}

/* --- operations ------------------------------------------------------------------------------- */

static enum bz_status wait_unjudged(struct bz_sut_condition *sut) {
    return sut->ops->wait(sut->instance);
}

/* Takes the place of an object that admits one runner at a time, by a claim; `inside` has the
 * places. False: another runner has it. */
static bool enter(const struct runner *runner, uint32_t object, uint32_t claim, uint32_t *inside) {
    const struct bz_variant *variant = runner->interpreter->world->variant;
    bool is_single = (bz_variant_claims(variant, primitive_of(runner, object)) & claim) != 0;
    bool is_taken = is_single && (*inside >> object & 1u) != 0;
    *inside |= (uint32_t)is_single << object;
    return !is_taken;
}

static enum bz_status wait_for_event(struct runner *runner, uint32_t object) {
    uint32_t *inside = &runner->interpreter->getting;
    if (!enter(runner, object, BZ_CLAIM_SINGLE_CONSUMER, inside)) {
        return BZ_OK;
    }
    enum bz_status status = bz_sut_event_wait(&runner->interpreter->objects[object].event);
    *inside &= ~(1u << object);
    return status;
}

static enum bz_status wait(struct runner *runner, uint32_t object) {
    struct object *entry = &runner->interpreter->objects[object];
    uint32_t index = 0;
    switch (primitive_of(runner, object)) {
    case BZ_PRIMITIVE_EVENT:
        return wait_for_event(runner, object);
    case BZ_PRIMITIVE_BARRIER:
        return bz_sut_barrier_wait(&entry->barrier, &index);
    default:
        return !holds(runner, object)            ? BZ_OK
               : runner->interpreter->has_stolen ? wait_unjudged(&entry->condition)
                                                 : bz_sut_condition_wait(&entry->condition);
    }
}

static enum bz_status put(struct runner *runner, const struct bz_script_op *op) {
    struct bz_sut_queue *queue = &runner->interpreter->objects[op->object].queue;
    uint32_t *inside = &runner->interpreter->putting;
    if (!enter(runner, op->object, BZ_CLAIM_SINGLE_PRODUCER, inside)) {
        return BZ_OK;
    }
    enum bz_status status = op->verb == BZ_VERB_PUT
                                ? bz_sut_queue_put(queue, (int64_t)op->number)
                                : bz_sut_queue_try_put(queue, (int64_t)op->number);
    *inside &= ~(1u << op->object);
    return status;
}

static enum bz_status get(struct runner *runner, const struct bz_script_op *op) {
    struct bz_sut_queue *queue = &runner->interpreter->objects[op->object].queue;
    uint32_t *inside = &runner->interpreter->getting;
    if (!enter(runner, op->object, BZ_CLAIM_SINGLE_CONSUMER, inside)) {
        return BZ_OK;
    }
    enum bz_status status =
        op->verb == BZ_VERB_GET ? bz_sut_queue_get(queue) : bz_sut_queue_try_get(queue);
    runner->got[op->object] += status == BZ_OK;
    *inside &= ~(1u << op->object);
    return status;
}

static enum bz_status use_queue(struct runner *runner, const struct bz_script_op *op) {
    struct bz_sut_queue *queue = &runner->interpreter->objects[op->object].queue;
    uint32_t *got = &runner->got[op->object];
    switch (op->verb) {
    case BZ_VERB_PUT:
    case BZ_VERB_TRY_PUT:
        return put(runner, op);
    case BZ_VERB_GET:
    case BZ_VERB_TRY_GET:
        return get(runner, op);
    case BZ_VERB_JOIN:
        return queue->ops->join != NULL ? bz_sut_queue_join(queue) : BZ_OK;
    case BZ_VERB_DONE:
        if (*got == 0 || queue->ops->task_done == NULL) {
            return BZ_OK;
        }
        --*got;
        return bz_sut_queue_task_done(queue);
    default:
        (void)bz_sut_queue_shutdown(queue, op->verb == BZ_VERB_SHUTDOWN_NOW);
        return BZ_OK;
    }
}

/* The order of locks does not concern it: it acquires what is free. */
static enum bz_status try_acquire(struct runner *runner, const struct bz_script_op *op) {
    struct bz_judge *judge = runner->interpreter->world->judge;
    bz_judge_tries(judge, true);
    enum bz_status status = acquire(runner, op->object, op->number);
    bz_judge_tries(judge, false);
    return status;
}

/* -1: the variant does not say. */
static int64_t is_locked(const struct runner *runner, uint32_t object) {
    struct object *entry = &runner->interpreter->objects[object];
    if (primitive_of(runner, object) == BZ_PRIMITIVE_CONDITION) {
        const struct bz_condition_ops *ops = entry->condition.ops;
        return ops->locked == NULL ? -1 : ops->locked(entry->condition.instance);
    }
    const struct bz_permit_ops *ops = entry->permits.ops;
    return ops->locked == NULL ? -1 : ops->locked(entry->permits.instance);
}

static int64_t size_of(const struct runner *runner, uint32_t object) {
    const struct bz_sut_queue *queue = &runner->interpreter->objects[object].queue;
    return queue->ops->size == NULL ? -1 : (int64_t)queue->ops->size(queue->instance);
}

/* Of what no task holds, or has to do, where the variant claims to refuse it. Returns how much of
 * it was accepted. */
static int64_t misuse(const struct runner *runner, uint32_t object) {
    const struct interpreter *interpreter = runner->interpreter;
    struct object *entry = &interpreter->objects[object];
    enum bz_primitive primitive = primitive_of(runner, object);
    uint32_t lock = bz_script_lock_of(interpreter->script, object);
    uint32_t claims = bz_variant_claims(interpreter->world->variant, primitive);
    if (interpreter->held[lock] > 0 || (claims & BZ_CLAIM_REFUSES_MISUSE) == 0) {
        return 0;
    }
    switch (primitive) {
    case BZ_PRIMITIVE_CONDITION:
        return (bz_sut_condition_notify(&entry->condition, 1) == BZ_OK) +
               ((interpreter->has_stolen ? wait_unjudged(&entry->condition)
                                         : bz_sut_condition_misuse(&entry->condition)) == BZ_OK);
    case BZ_PRIMITIVE_QUEUE:
        return entry->queue.ops->task_done != NULL && entry->queue.judged.unfinished == 0 &&
               bz_sut_queue_task_done(&entry->queue) == BZ_OK;
    default:
        return bz_sut_release(&entry->permits) == BZ_OK;
    }
}

/* A release of what others hold. No variant claims to refuse it. 1: it was accepted. */
static int64_t steal(const struct runner *runner, uint32_t object) {
    struct interpreter *interpreter = runner->interpreter;
    uint32_t lock = bz_script_lock_of(interpreter->script, object);
    struct object *entry = &interpreter->objects[lock];
    if (interpreter->watch == NULL || interpreter->held[lock] == 0 || holds(runner, object)) {
        return 0;
    }
    interpreter->has_stolen = true;
    return (primitive_of(runner, lock) == BZ_PRIMITIVE_CONDITION
                ? bz_sut_condition_release(&entry->condition)
                : bz_sut_release(&entry->permits)) == BZ_OK;
}

static enum bz_status break_barrier(const struct runner *runner, struct bz_sut_barrier *barrier,
                                    bool is_reset) {
    const struct bz_script_watch *watch = runner->interpreter->watch;
    bool is_offered = is_reset ? bz_sut_barrier_reset(barrier) : bz_sut_barrier_abort(barrier);
    return is_offered || watch == NULL || watch->break_barrier == NULL
               ? BZ_OK /* it does nothing where it is not offered */
               : watch->break_barrier(barrier->instance, is_reset);
}

enum bz_status bz_script_use(struct runner *runner, const struct bz_script_op *op) {
    struct object *entry = &runner->interpreter->objects[op->object];
    switch (op->verb) {
    case BZ_VERB_LOCKED:
        runner->value = is_locked(runner, op->object);
        return BZ_OK;
    case BZ_VERB_SIZE:
        runner->value = size_of(runner, op->object);
        return BZ_OK;
    case BZ_VERB_MISUSE:
        runner->value = misuse(runner, op->object);
        return BZ_OK;
    case BZ_VERB_STEAL:
        runner->value = steal(runner, op->object);
        return BZ_OK;
    case BZ_VERB_TRY_ACQUIRE: /* as people write it: if it is not locked, acquire it */
        return is_locked(runner, op->object) == 1 ? BZ_OK : try_acquire(runner, op);
    case BZ_VERB_SHIELD:
        return op->number < runner->root ? bz_script_shield(runner->interpreter->world,
                                                            runner->interpreter->tasks[op->number])
                                         : BZ_OK;
    case BZ_VERB_AWAIT: /* of an earlier task: no task waits in a circle */
        return op->number < runner->root ? bz_task_join(runner->interpreter->tasks[op->number])
                                         : BZ_OK;
    case BZ_VERB_ACQUIRE:
        return acquire(runner, op->object, op->number);
    case BZ_VERB_RELEASE:
        release(runner, op->object, op->number);
        return BZ_OK;
    case BZ_VERB_POST:
        give_back(runner, op->object, 0);
        return BZ_OK;
    case BZ_VERB_WAIT:
        return wait(runner, op->object);
    case BZ_VERB_NOTIFY:
    case BZ_VERB_NOTIFY_ALL:
        return !holds(runner, op->object)
                   ? BZ_OK
                   : bz_sut_condition_notify(&entry->condition, op->verb == BZ_VERB_NOTIFY
                                                                    ? op->number
                                                                    : BZ_NOTIFY_ALL);
    case BZ_VERB_SET:
        bz_sut_event_set(&entry->event);
        return BZ_OK;
    case BZ_VERB_CLEAR:
        bz_sut_event_clear(&entry->event);
        return BZ_OK;
    case BZ_VERB_ABORT:
    case BZ_VERB_RESET:
        return break_barrier(runner, &entry->barrier, op->verb == BZ_VERB_RESET);
    default:
        return use_queue(runner, op);
    }
}
