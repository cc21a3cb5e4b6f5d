/* program: tasks as lists of operations (script.h), drawn or from a file.
 *
 * Without a file the script is drawn for every seed, before the first step, so a campaign searches
 * programs and schedules at once. The draws are on the tape: a replay or a shrinker has the program
 * with the schedule.
 *
 * interpreter.h interprets scripts. Any task may be cancelled anywhere. A task records what
 * it acquires, and gives it back when it ends, the last one first; a timeout that ends early gives
 * back what was acquired inside it.
 *
 * An operation without a meaning at its place does nothing: a release of what the task does not
 * hold (an acquire may have failed), a wait for a condition without its lock, a done without an
 * item. So every script has a meaning, and a misuse by the script is never taken for a fault of the
 * variant. */
#include <assert.h>
#include <string.h>

#include "scenarios/program/interpreter.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"

enum { TASKS, OPS, OBJECTS, KINDS, NS, MORE, LOCK_ORDER };

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
    {"lock-order",
     "1: no tasks acquire locks that have no rank in a circle, also if there is no deadlock", 0, 0,
     1},
    {NULL, NULL, 0, 0, 0},
};

/* No long tail: a script has room for no more than the greatest draw, 8 tasks of 10 slots. */
static const struct bz_size sizes[] = {{"more", 0, 2, 0}, {NULL, 0, 0, 0}};

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

static void rank_locks(struct interpreter *interpreter, bool judges_all) {
    const struct bz_script *script = interpreter->script;
    for (uint32_t index = 0; index < script->object_count; index++) {
        const struct bz_script_object *object = &script->objects[index];
        bool is_lock = object->primitive == BZ_PRIMITIVE_LOCK;
        if (object->rank != 0 || (judges_all && is_lock)) {
            bz_sut_rank(&interpreter->objects[index].permits,
                        object->rank != 0 ? object->rank : BZ_RANK_OF_RUN);
        }
    }
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
        if (!bz_scene_is_set_up(world, status)) {
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
                                                   bz_script_run, &runners[index]);
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
    struct interpreter *interpreter = new_interpreter(world, script, args->file_digest == 0);
    rank_locks(interpreter, args->values[LOCK_ORDER] == 1);
    return interpreter;
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
    .summary = "a program to run instead of a drawn one; scenarios/program/program.schema.json",
    .read = read_file,
    .print = print,
};

const struct bz_scenario bz_scenario_program = {
    .name = "program",
    .summary = "tasks as lists of operations, drawn together with the schedule, or from a file",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED, BZ_PRIMITIVE_LOCK,
                     BZ_PRIMITIVE_EVENT, BZ_PRIMITIVE_CONDITION, BZ_PRIMITIVE_BARRIER,
                     BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_POOL),
    .setup = setup,
    .finish = finish,
    .file = &file,
    .sizes = sizes,
};
