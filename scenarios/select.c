/* select: waits for the first of several operations, of which all others are undone.
 *
 * In each round a task starts a child for each arm, as asyncio.wait(FIRST_COMPLETED) does: an
 * acquire, a wait for an event, a put or a get, each at another object. The first arm that
 * completes cancels the others, the deadline cancels all, and the task waits until all have ended.
 * So an arm is cancelled while it waits, in the window in which it was woken, or at the instant of
 * the deadline. It may complete all the same: then it keeps its item, and gives its permit back.
 * The oracles of an object find what a losing arm loses. The select that ships is another one, a
 * single operation: the variant `buzzer/select` in the scenario `model`. */
#include "primitives/runtime/group.h"
#include "primitives/runtime/timeout.h"
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum { TASKS, ROUNDS, ARMS, SIZE, DEADLINE_NS, HOLD, PATIENCE, CANCELS };

#define ARMS_MAX 4

static const struct bz_param params[] = {
    {"tasks", "tasks that select", 4, 1, 1000},
    {"rounds", "selects of each task", 2, 1, 1000},
    {"arms", "objects, one for each arm of a select", 2, 1, ARMS_MAX},
    {"size", "permits of each semaphore, items that a queue holds (0: no bound)", 1, 0, 1000},
    {"deadline-ns", "a select takes 1..deadline-ns at most", 3, 1, 1000000000},
    {"hold", "yields of an arm that has acquired first", 1, 0, 1000},
    {"patience", "the canceller waits 0..patience-1 yields", 6, 1, 1000},
    {"cancels", "how often the canceller strikes a task that selects", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"tasks", 1, 5, 8},    {"rounds", 1, 3, 8},   {"arms", 1, 3, 0},
    {"size", 0, 2, 0},     {"hold", 0, 2, 0},     {"cancels", 0, 3, 0},
    {"rounds", 4, 257, 0}, {"cancels", 4, 33, 0}, {NULL, 0, 0, 0},
};

union object {
    struct bz_sut_permits permits;
    struct bz_sut_event event;
    struct bz_sut_queue queue;
};

struct scene {
    struct bz_scene base;
    enum bz_primitive primitive;
    uint32_t spawned;
    union object objects[ARMS_MAX];
    struct bz_turn turns[ARMS_MAX][2]; /* to wait or to get, and to put */
    struct bz_task *tasks[];
};

struct race;
struct arm {
    struct race *race;
    struct bz_task *task; /* NULL: it has not started, or has ended */
    uint32_t index;       /* of the object */
    bool puts;
};

struct race {
    struct scene *scene;
    struct arm arms[ARMS_MAX];
    bool is_decided;
};

static uint32_t arm_count(const struct scene *scene) {
    return (uint32_t)scene->base.values[ARMS];
}

/* --- an arm ----------------------------------------------------------------------------------- */

static enum bz_status operate_in_turn(const struct arm *arm) {
    struct scene *scene = arm->race->scene;
    union object *object = &scene->objects[arm->index];
    switch (scene->primitive) {
    case BZ_PRIMITIVE_EVENT:
        return bz_sut_event_wait(&object->event);
    case BZ_PRIMITIVE_QUEUE:
        return arm->puts ? bz_sut_queue_put(&object->queue, 0) : bz_sut_queue_get(&object->queue);
    default:
        return bz_sut_acquire(&object->permits);
    }
}

static enum bz_status operate(const struct arm *arm) {
    struct bz_turn *turn = &arm->race->scene->turns[arm->index][arm->puts];
    enum bz_status status = bz_turn_take(turn);
    if (status == BZ_OK) {
        status = operate_in_turn(arm);
        bz_turn_pass(turn);
    }
    return status;
}

static void say_done(const struct scene *scene, struct bz_sut_queue *queue) {
    if (queue->ops->task_done != NULL) {
        enum bz_status status = bz_sut_queue_task_done(queue);
        bz_world_assert(scene->base.world, status == BZ_OK,
                        "the task_done of an item was refused: %s", bz_status_word(status));
    }
}

static void decide(struct race *race, const struct arm *winner) {
    race->is_decided = true;
    for (uint32_t index = 0; index < arm_count(race->scene); index++) {
        struct arm *arm = &race->arms[index];
        if (arm != winner && arm->task != NULL) {
            bz_task_cancel(arm->task);
        }
    }
}

static enum bz_status run_arm(void *arg) {
    struct arm *arm = arg;
    struct race *race = arm->race;
    struct scene *scene = race->scene;
    if (race->is_decided) {
        return BZ_OK;
    }
    arm->task = bz_loop_current(scene->base.world->loop);
    enum bz_status status = operate(arm);
    bool is_first = status == BZ_OK && !race->is_decided;
    bool holds = status == BZ_OK && scene->primitive < BZ_PERMIT_PRIMITIVES;
    arm->task = NULL;
    if (is_first) {
        decide(race, arm);
    }
    if (holds && is_first) {
        status = bz_yield_times(scene->base.world, (uint64_t)scene->base.values[HOLD]);
    }
    if (status == BZ_OK && scene->primitive == BZ_PRIMITIVE_QUEUE && !arm->puts) {
        say_done(scene, &scene->objects[arm->index].queue);
    }
    if (holds) { /* also what a losing arm has acquired */
        bz_check_released(scene->base.world, bz_sut_release(&scene->objects[arm->index].permits));
    }
    return status == BZ_CANCELLED ? BZ_CANCELLED : BZ_OK; /* others are for the oracles */
}

/* --- a task ----------------------------------------------------------------------------------- */

/* Raises or lowers a flag, or lets it be. */
static void change_flag(struct scene *scene) {
    uint64_t change = bz_world_draw(scene->base.world, "flag", 3);
    uint64_t arms = arm_count(scene);
    if (change > 0) {
        union object *object = &scene->objects[bz_world_draw(scene->base.world, "of", arms)];
        (change == 1 ? bz_sut_event_set : bz_sut_event_clear)(&object->event);
    }
}

static enum bz_status select_once(struct scene *scene) {
    struct bz_world *world = scene->base.world;
    struct race *race = bz_world_alloc(world, sizeof *race);
    struct bz_group group;
    enum bz_status status = bz_group_enter(world->loop, &group);
    if (status != BZ_OK) {
        return status;
    }
    race->scene = scene;
    for (uint32_t index = 0; status == BZ_OK && index < arm_count(scene); index++) {
        struct arm *arm = &race->arms[index];
        *arm = (struct arm){.race = race, .index = index};
        if (scene->primitive == BZ_PRIMITIVE_QUEUE) {
            arm->puts = bz_world_draw(world, "puts", 2) == 1;
        }
        status = bz_scene_spawn_child(world, &group, ++scene->spawned, run_arm, arm);
    }
    return bz_group_exit(&group, status);
}

/* Not inline, so that the scope is in no frame when it has ended. */
static __attribute__((noinline)) enum bz_status select_in_time(struct scene *scene) {
    struct bz_world *world = scene->base.world;
    struct bz_timeout scope;
    uint64_t delay_ns =
        bz_world_draw_delay_ns(world, "deadline-ns", 1, (uint64_t)scene->base.values[DEADLINE_NS]);
    enum bz_status status = bz_timeout_enter(world->loop, &scope, delay_ns);
    if (status != BZ_OK) {
        return status;
    }
    status = bz_timeout_exit(&scope, select_once(scene));
    return status == BZ_TIMED_OUT ? BZ_OK : status;
}

static enum bz_status run_task(void *arg) {
    struct scene *scene = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = scene->base.values[ROUNDS]; status == BZ_OK && left > 0; left--) {
        if (scene->primitive == BZ_PRIMITIVE_EVENT) {
            change_flag(scene);
        }
        bz_sut_may_wait(scene->base.world);
        status = select_in_time(scene);
        status = bz_world_is_refused(scene->base.world, status) ? BZ_OK : status;
    }
    return status;
}

/* --- setting up ------------------------------------------------------------------------------- */

static enum bz_status init_object(struct scene *scene, union object *object) {
    struct bz_world *world = scene->base.world;
    uint32_t size = (uint32_t)scene->base.values[SIZE];
    switch (scene->primitive) {
    case BZ_PRIMITIVE_EVENT:
        return bz_sut_event_init(&object->event, world, "flag");
    case BZ_PRIMITIVE_QUEUE:
        return bz_sut_queue_init(&object->queue, world, "items", "slots",
                                 bz_variant_nearest_order(world->variant, BZ_QUEUE_ORDER_FIFO),
                                 size);
    default:
        return bz_sut_permits_init(&object->permits, world, scene->primitive, "permits",
                                   size == 0 ? 1 : size);
    }
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    int64_t count = args->values[TASKS];
    struct scene *scene =
        bz_scene_new(world, args, sizeof *scene + (size_t)count * sizeof scene->tasks[0]);
    enum bz_status status = BZ_OK;
    scene->primitive = args->primitive;
    for (uint32_t index = 0; status == BZ_OK && index < arm_count(scene); index++) {
        bz_turn_init(&scene->turns[index][0], world, scene->primitive, BZ_CLAIM_SINGLE_CONSUMER);
        bz_turn_init(&scene->turns[index][1], world, scene->primitive, BZ_CLAIM_SINGLE_PRODUCER);
        status = init_object(scene, &scene->objects[index]);
    }
    if (bz_scene_is_set_up(world, status)) {
        bz_scene_spawn_all(world, scene->tasks, count, "task", run_task, scene);
        bz_canceller_spawn(world, scene->tasks, count, 1u << BZ_OP_JOIN, args->values[PATIENCE],
                           args->values[CANCELS]);
    }
    return scene;
}

static void finish(struct bz_world *world, void *state) {
    struct scene *scene = state;
    (void)world;
    for (uint32_t index = 0; index < arm_count(scene); index++) {
        if (scene->primitive == BZ_PRIMITIVE_QUEUE) {
            bz_sut_queue_finish(&scene->objects[index].queue);
        } else if (scene->primitive < BZ_PERMIT_PRIMITIVES) {
            bz_sut_probe_misuse(&scene->objects[index].permits);
        }
    }
}

const struct bz_scenario bz_scenario_select = {
    .name = "select",
    .summary = "tasks wait for the first of several operations, and the others are undone",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_QUEUE, BZ_PRIMITIVE_SEMAPHORE, BZ_PRIMITIVE_BOUNDED,
                     BZ_PRIMITIVE_LOCK, BZ_PRIMITIVE_EVENT),
    .setup = setup,
    .finish = finish,
    .sizes = sizes,
    .size = "size",
};
