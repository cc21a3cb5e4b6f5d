/* program: tasks as lists of operations (script.h), drawn or from a file.
 *
 * Without a file the script is drawn for every seed, before the first step, so a campaign searches
 * programs and schedules at once. The draws are on the tape: a replay or a shrinker has the program
 * with the schedule.
 *
 * The rest of this file interprets scripts. Any task may be cancelled anywhere. A task records what
 * it acquires, and gives it back when it ends, the last one first; a timeout that ends early gives
 * back what was acquired inside it.
 *
 * An operation without a meaning at its place does nothing: a release of what the task does not
 * hold (an acquire may have failed), a wait for a condition without its lock, a done without an
 * item. So every script has a meaning, and a misuse by the script is never taken for a fault of the
 * variant. */
#include <assert.h>
#include <string.h>

#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/program/awaits.h"
#include "scenarios/program/script.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"

enum { TASKS, OPS, OBJECTS, KINDS, NS, MORE };

static const struct bz_param params[] = {
    {"tasks", "drawn: tasks", 4, 2, BZ_SCRIPT_DRAW_TASKS_MAX},
    {"ops", "drawn: slots of each task; a slot makes 0 to 3 operations", 8, 2,
     BZ_SCRIPT_DRAW_OPS_MAX},
    {"objects", "drawn: objects; the first is of the set primitive", 2, 1, BZ_SCRIPT_OBJECTS_MAX},
    {"kinds",
     "drawn: what the other objects may be, as a sum: semaphore 1, bounded 2, lock 4, event 8, "
     "condition 16, barrier 32, queue 64, pool 128",
     255, 0, 255},
    {"ns", "drawn: sleeps and timeouts take 0..ns", 8, 0, BZ_SCRIPT_NS_MAX},
    {"more",
     "drawn: 1: also the operations of version 2, and shutdowns; 2: also gather, wait-for, "
     "conditions "
     "that share a lock, more misuse",
     0, 0, 2},
    {NULL, NULL, 0, 0, 0},
};

struct object {
    union {
        struct bz_sut_permits permits;
        struct bz_sut_event event;
        struct bz_sut_condition condition;
        struct bz_sut_barrier barrier;
        struct bz_sut_queue queue;
        struct bz_sut_pool pool;
    };
};

struct holding {
    uint8_t object;
    uint8_t key;
    uint8_t depth; /* of the timeout that it was acquired in; those that have ended do not count */
};

/* A task, or a child of a group, which runs a part of the script. */
struct runner {
    struct interpreter *interpreter;
    uint32_t first; /* of its operations */
    uint32_t end;
    uint32_t depth;
    uint32_t holding_count;
    struct holding holdings[BZ_SCRIPT_TASK_OPS_MAX];
    uint32_t got[BZ_SCRIPT_OBJECTS_MAX]; /* items for which it has not said done */
    uint32_t root;                       /* index of the task of the script that it belongs to */
    int64_t value;                       /* what the last operation says; -1: nothing */
};

struct interpreter {
    struct bz_world *world;
    struct bz_script *script;
    struct object *objects;
    struct runner *children; /* by number - 1 */
    struct bz_task *tasks[BZ_SCRIPT_TASKS_MAX];
    uint32_t held[BZ_SCRIPT_OBJECTS_MAX]; /* how many runners hold it */
    const struct bz_script_watch *watch;  /* NULL: nobody watches */
    bool has_stolen; /* the judge's view of who holds what is not right any more */
};

static enum bz_status run_ops(struct runner *runner, uint32_t from, uint32_t to);

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

/* The number + 1 of the newest holding of it, 0 for none. */
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
static void release_inside(struct runner *runner, uint32_t depth) {
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

static enum bz_status wait(struct runner *runner, uint32_t object) {
    struct object *entry = &runner->interpreter->objects[object];
    uint32_t index = 0;
    switch (primitive_of(runner, object)) {
    case BZ_PRIMITIVE_EVENT:
        return bz_sut_event_wait(&entry->event);
    case BZ_PRIMITIVE_BARRIER:
        return bz_sut_barrier_wait(&entry->barrier, &index);
    default:
        return !holds(runner, object)            ? BZ_OK
               : runner->interpreter->has_stolen ? wait_unjudged(&entry->condition)
                                                 : bz_sut_condition_wait(&entry->condition);
    }
}

static enum bz_status use_queue(struct runner *runner, const struct bz_script_op *op) {
    struct bz_sut_queue *queue = &runner->interpreter->objects[op->object].queue;
    uint32_t *got = &runner->got[op->object];
    enum bz_status status;
    switch (op->verb) {
    case BZ_VERB_PUT:
        return bz_sut_queue_put(queue, (int64_t)op->number);
    case BZ_VERB_TRY_PUT:
        return bz_sut_queue_try_put(queue, (int64_t)op->number);
    case BZ_VERB_GET:
    case BZ_VERB_TRY_GET:
        status = op->verb == BZ_VERB_GET ? bz_sut_queue_get(queue) : bz_sut_queue_try_get(queue);
        *got += status == BZ_OK;
        return status;
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

/* Of what nobody holds, or has to do, where the variant claims to refuse it. Returns how much of it
 * was accepted. */
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
               ? BZ_OK /* it does nothing if nobody offers it */
               : watch->break_barrier(barrier->instance, is_reset);
}

static enum bz_status use(struct runner *runner, const struct bz_script_op *op) {
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
        return is_locked(runner, op->object) == 1 ? BZ_OK : acquire(runner, op->object, op->number);
    case BZ_VERB_SHIELD:
        return op->number < runner->root ? bz_script_shield(runner->interpreter->world,
                                                            runner->interpreter->tasks[op->number])
                                         : BZ_OK;
    case BZ_VERB_AWAIT: /* of an earlier task: nobody waits in a circle */
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

/* A part of the list, or a single operation: what it acquired is given back if it ends early. */
static enum bz_status run_inside(struct runner *runner, uint32_t from, uint32_t to,
                                 const struct bz_script_op *single) {
    runner->depth++;
    enum bz_status status = single != NULL ? use(runner, single) : run_ops(runner, from, to);
    if (status != BZ_OK) {
        release_inside(runner, runner->depth);
    }
    runner->depth--;
    for (uint32_t index = 0; index < runner->holding_count; index++) {
        struct holding *holding = &runner->holdings[index];
        holding->depth = holding->depth > runner->depth ? (uint8_t)runner->depth : holding->depth;
    }
    return status;
}

static enum bz_status run_child(void *arg) {
    struct runner *runner = arg;
    enum bz_status status = run_ops(runner, runner->first, runner->end);
    release_inside(runner, 0);
    return status;
}

static struct runner *new_child(const struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *op = &interpreter->script->ops[index];
    struct runner *child = &interpreter->children[op->number - 1];
    *child = (struct runner){.interpreter = interpreter,
                             .first = index + 1,
                             .end = index + 1u + op->span,
                             .root = runner->root};
    return child;
}

/* A child that fails ends the group; the parent goes on after it. */
static enum bz_status run_group(struct runner *runner, uint32_t first, uint32_t end) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *ops = interpreter->script->ops;
    struct bz_group group;
    enum bz_status status = bz_group_enter(interpreter->world->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    for (uint32_t index = first; index < end && status == BZ_OK; index += 1u + ops[index].span) {
        status = ops[index].verb == BZ_VERB_BODY
                     ? run_inside(runner, index + 1, end, NULL)
                     : bz_scene_spawn_child(interpreter->world, &group, ops[index].number,
                                            run_child, new_child(runner, index));
    }
    status = bz_group_exit(&group, status);
    return status == BZ_FAILED ? BZ_OK : status;
}

/* A task for what is inside the operation. */
static struct bz_task *spawn(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    uint32_t number = interpreter->script->ops[index].number;
    return bz_scene_spawn(interpreter->world, "child", number, run_child, new_child(runner, index));
}

/* Nobody waits for it. */
static enum bz_status run_spawn(struct runner *runner, uint32_t index) {
    return spawn(runner, index) == NULL ? BZ_NO_MEMORY : BZ_OK;
}

/* A failure of a child is caught, as that of a group. */
static enum bz_status run_gather(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *ops = interpreter->script->ops;
    struct bz_task *tasks[BZ_SCRIPT_TASK_OPS_MAX];
    uint32_t count = 0;
    uint32_t end = index + 1u + ops[index].span;
    for (uint32_t child = index + 1; child < end; child += 1u + ops[child].span) {
        tasks[count] = spawn(runner, child);
        if (tasks[count++] == NULL) {
            return BZ_NO_MEMORY;
        }
    }
    enum bz_status status = count == 0 ? BZ_OK
                                       : bz_script_gather(interpreter->world, tasks, count,
                                                          ops[index].verb == BZ_VERB_GATHER_ALL);
    return status == BZ_FAILED ? BZ_OK : status;
}

static enum bz_status run_wait_for(struct runner *runner, uint32_t index) {
    struct bz_world *world = runner->interpreter->world;
    uint32_t delay_ns = runner->interpreter->script->ops[index].ns;
    const struct bz_rules *rules = world->variant->rules;
    enum bz_status status;
    if (delay_ns == 0 || (rules != NULL && rules->wait_for == BZ_WAIT_FOR_BY_TASK)) {
        struct bz_task *task = spawn(runner, index);
        status = task == NULL ? BZ_NO_MEMORY : bz_script_wait_for(world, task, delay_ns);
    } else {
        struct bz_timeout scope;
        status = bz_timeout_enter(world->loop, &scope, delay_ns);
        if (status == BZ_OK) {
            status = bz_timeout_exit(&scope, run_child(new_child(runner, index)));
        }
    }
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

static enum bz_status run_catch(struct runner *runner, uint32_t from, uint32_t to) {
    enum bz_status status = run_inside(runner, from, to, NULL);
    return status == BZ_CANCELLED || status == BZ_FAILED ? BZ_OK : status;
}

/* Runs operations in a timeout: those inside a `timeout`, or a single one with `within`. */
static enum bz_status run_in_time(struct runner *runner, uint32_t delay_ns, uint32_t from,
                                  uint32_t to, const struct bz_script_op *single) {
    struct bz_timeout scope;
    enum bz_status status = bz_timeout_enter(runner->interpreter->world->loop, &scope, delay_ns);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&scope, run_inside(runner, from, to, single));
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

static enum bz_status run_op(struct runner *runner, uint32_t index) {
    struct interpreter *interpreter = runner->interpreter;
    const struct bz_script_op *op = &interpreter->script->ops[index];
    switch (op->verb) {
    case BZ_VERB_YIELD:
        return bz_yield(interpreter->world->loop);
    case BZ_VERB_SLEEP:
        return bz_sleep(interpreter->world->loop, op->ns);
    case BZ_VERB_FAIL:
        return BZ_FAILED;
    case BZ_VERB_CANCEL:
        bz_task_cancel(interpreter->tasks[op->number]);
        return BZ_OK;
    case BZ_VERB_TIMEOUT:
        return run_in_time(runner, op->ns, index + 1, index + 1u + op->span, NULL);
    case BZ_VERB_GROUP:
        return run_group(runner, index + 1, index + 1u + op->span);
    case BZ_VERB_CATCH:
        return run_catch(runner, index + 1, index + 1u + op->span);
    case BZ_VERB_SPAWN:
        return run_spawn(runner, index);
    case BZ_VERB_GATHER:
    case BZ_VERB_GATHER_ALL:
        return run_gather(runner, index);
    case BZ_VERB_WAIT_FOR:
        return run_wait_for(runner, index);
    case BZ_VERB_UNCANCEL:
        runner->value = bz_task_uncancel(bz_loop_current(interpreter->world->loop));
        return BZ_OK;
    default:
        return op->within_ns == BZ_SCRIPT_NEVER ? use(runner, op)
                                                : run_in_time(runner, op->within_ns, 0, 0, op);
    }
}

/* Statuses after which the program goes on. Some primitives have a deadline of their own. Something
 * stolen is not held any more. */
static bool is_answer(enum bz_status status, bool is_watched) {
    return (is_watched && status == BZ_NOT_HELD) || status == BZ_TIMED_OUT || status == BZ_BROKEN ||
           status == BZ_CLOSED || status == BZ_EMPTY || status == BZ_FULL;
}

/* First the operations behind it in the list; then those inside, however the others ended. */
static enum bz_status run_finally(struct runner *runner, uint32_t index, uint32_t to) {
    uint32_t next = index + 1u + runner->interpreter->script->ops[index].span;
    enum bz_status status = run_inside(runner, next, to, NULL);
    enum bz_status cleanup = run_ops(runner, index + 1, next);
    return cleanup != BZ_OK ? cleanup : status;
}

static enum bz_status run_ops(struct runner *runner, uint32_t from, uint32_t to) {
    const struct bz_script_op *ops = runner->interpreter->script->ops;
    for (uint32_t index = from; index < to; index += 1u + ops[index].span) {
        const struct bz_script_watch *watch = runner->interpreter->watch;
        bool is_last = ops[index].verb == BZ_VERB_FINALLY;
        runner->value = -1;
        enum bz_status status = is_last ? run_finally(runner, index, to) : run_op(runner, index);
        if (watch != NULL) {
            watch->returned(watch->context, index, status, is_last ? -1 : runner->value);
        }
        if (is_last) {
            return status;
        }
        if (status == BZ_OK || is_answer(status, watch != NULL)) {
            continue;
        }
        bz_world_assert(runner->interpreter->world, status == BZ_CANCELLED || status == BZ_FAILED,
                        "%s answered %s", bz_script_verbs[ops[index].verb].name,
                        bz_status_word(status));
        return status;
    }
    return BZ_OK;
}

/* --- set-up and end --------------------------------------------------------------------------- */

/* `lock` is the condition whose lock it shares; NULL: it has one of its own. */
static enum bz_status init_condition(struct object *entry, struct bz_world *world, const char *name,
                                     const struct object *lock) {
    enum bz_status status =
        bz_sut_condition_init(&entry->condition, world, name, bz_world_name(world, name, "-lock"));
    if (status != BZ_OK || lock == NULL) {
        return status;
    }
    if (!bz_asyncio_shares_locks(world->variant)) {
        return BZ_INVALID_ARGUMENT;
    }
    entry->condition.judged.lock = lock->condition.judged.lock;
    bz_asyncio_share_lock(entry->condition.instance, lock->condition.instance);
    return BZ_OK;
}

static enum bz_status init_object(struct object *entry, struct bz_world *world,
                                  const struct bz_script_object *object,
                                  const struct object *lock) {
    const char *name = bz_world_name(world, object->name, "");
    switch ((enum bz_primitive)object->primitive) {
    case BZ_PRIMITIVE_EVENT:
        return bz_sut_event_init(&entry->event, world, name);
    case BZ_PRIMITIVE_CONDITION:
        return init_condition(entry, world, name, lock);
    case BZ_PRIMITIVE_BARRIER:
        return bz_sut_barrier_init(&entry->barrier, world, name, object->number);
    case BZ_PRIMITIVE_QUEUE:
        return bz_sut_queue_init(&entry->queue, world, name, bz_world_name(world, name, "-slots"),
                                 (enum bz_queue_order)object->order, object->number);
    case BZ_PRIMITIVE_POOL:
        return bz_sut_pool_init(&entry->pool, world, name, object->number);
    default:
        return bz_sut_permits_init(&entry->permits, world, (enum bz_primitive)object->primitive,
                                   name, object->number);
    }
}

/* Not every variant has every order of a queue, or semaphores without a permit. */
static enum bz_status init_plainer_object(struct object *entry, struct bz_world *world,
                                          struct bz_script_object *object) {
    const struct bz_script_kind *kind = &bz_script_kinds[object->primitive];
    object->order = BZ_QUEUE_ORDER_FIFO;
    object->number = kind->number != NULL && !kind->has_order ? 1 : object->number;
    object->lock = 0;
    *entry = (struct object){0};
    return init_object(entry, world, object, NULL);
}

static struct interpreter *new_interpreter(struct bz_world *world, struct bz_script *script,
                                           bool is_drawn) {
    struct interpreter *interpreter = bz_world_alloc(world, sizeof *interpreter);
    uint32_t runner_count = script->task_count + script->child_count;
    struct runner *runners = bz_world_alloc(world, runner_count * sizeof *runners);
    interpreter->world = world;
    interpreter->script = script;
    interpreter->children = runners + script->task_count;
    interpreter->objects =
        bz_world_alloc(world, script->object_count * sizeof interpreter->objects[0]);
    for (uint32_t index = 0; index < script->object_count; index++) {
        uint32_t lock = bz_script_lock_of(script, index);
        enum bz_status status =
            init_object(&interpreter->objects[index], world, &script->objects[index],
                        lock == index ? NULL : &interpreter->objects[lock]);
        if (status == BZ_INVALID_ARGUMENT && is_drawn) {
            status =
                init_plainer_object(&interpreter->objects[index], world, &script->objects[index]);
        }
        bz_world_assert(world, status == BZ_OK, "'%s' could not be set up: %s",
                        script->objects[index].name, bz_status_word(status));
        if (status != BZ_OK) {
            script->object_count = index;
            return interpreter;
        }
    }
    for (uint32_t index = 0; index < script->task_count; index++) {
        const struct bz_script_task *task = &script->tasks[index];
        runners[index] = (struct runner){.interpreter = interpreter,
                                         .first = task->first,
                                         .end = (uint32_t)task->first + task->count,
                                         .root = index};
        interpreter->tasks[index] = bz_scene_spawn(world, bz_world_name(world, task->name, ""), 0,
                                                   run_child, &runners[index]);
    }
    return interpreter;
}

static void finish(struct bz_world *world, void *state) {
    struct interpreter *interpreter = state;
    const struct bz_script *script = interpreter->script;
    (void)world;
    for (uint32_t index = 0; index < script->object_count; index++) {
        struct object *entry = &interpreter->objects[index];
        enum bz_primitive primitive = (enum bz_primitive)script->objects[index].primitive;
        if (primitive < BZ_PERMIT_PRIMITIVES) {
            bz_sut_probe_misuse(&entry->permits);
        } else if (primitive == BZ_PRIMITIVE_QUEUE) {
            bz_sut_queue_finish(&entry->queue);
        } else if (primitive == BZ_PRIMITIVE_POOL) {
            bz_sut_pool_finish(&entry->pool);
        }
    }
}

/* --- the scenario ----------------------------------------------------------------------------- */

static_assert(sizeof(struct bz_script) <= sizeof((struct bz_scenario_args *)0)->file,
              "a script fits where a file is kept");

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    struct bz_script *script = bz_world_alloc(world, sizeof *script);
    if (args->file_digest != 0) {
        memcpy(script, args->file, sizeof *script);
    } else {
        bz_script_draw(script, world->judge, world->variant,
                       &(struct bz_script_draw){.first = args->primitive,
                                                .primitives = (uint32_t)args->values[KINDS],
                                                .objects = (uint32_t)args->values[OBJECTS],
                                                .tasks = (uint32_t)args->values[TASKS],
                                                .ops = (uint32_t)args->values[OPS],
                                                .ns = (uint32_t)args->values[NS],
                                                .more = (uint32_t)args->values[MORE]});
    }
    return new_interpreter(world, script, args->file_digest == 0);
}

static bool read_file(uint64_t *file, const struct bz_variant *variant, const char *text,
                      size_t length, const char *origin, char *error, size_t error_bytes) {
    return bz_script_read((struct bz_script *)(void *)file, variant, text, length, origin, error,
                          error_bytes);
}

static size_t print(const void *state, char *text, size_t text_bytes) {
    return bz_script_print(((const struct interpreter *)state)->script, text, text_bytes);
}

const struct bz_script *bz_script_of(const void *state) {
    return ((const struct interpreter *)state)->script;
}

/* Each kind of instrumented object has it at another place. */
const void *bz_script_instance(const void *state, uint32_t object) {
    const struct interpreter *interpreter = state;
    const struct object *entry = &interpreter->objects[object];
    switch ((enum bz_primitive)interpreter->script->objects[object].primitive) {
    case BZ_PRIMITIVE_EVENT:
        return entry->event.instance;
    case BZ_PRIMITIVE_CONDITION:
        return entry->condition.instance;
    case BZ_PRIMITIVE_BARRIER:
        return entry->barrier.instance;
    case BZ_PRIMITIVE_QUEUE:
        return entry->queue.instance;
    case BZ_PRIMITIVE_POOL:
        return entry->pool.instance;
    default:
        return entry->permits.instance;
    }
}

void bz_script_watch(void *state, const struct bz_script_watch *watch) {
    ((struct interpreter *)state)->watch = watch;
}

static const struct bz_scenario_file file = {
    .summary = "a program to run, in place of a drawn one; scenarios/program.schema.json",
    .read = read_file,
    .print = print,
};

const struct bz_scenario bz_scenario_program = {
    .name = "program",
    .summary = "tasks as lists of operations, drawn together with the schedule, or from a file",
    .params = params,
    .primitives = {BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK,
                   BZ_PRIMITIVE_EVENT, BZ_PRIMITIVE_CONDITION, BZ_PRIMITIVE_BARRIER,
                   BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_POOL},
    .primitive_count = 8,
    .setup = setup,
    .finish = finish,
    .file = &file,
};
