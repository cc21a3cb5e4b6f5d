/* queue: producers and consumers at a bounded queue, newcomers that do not wait, and a canceller.
 *
 * Each producer puts `items` items. Each consumer gets an item, works, calls task_done, and
 * repeats. A newcomer tries to put or to get without waiting, above all while a woken task has not
 * resumed. The end is asyncio's idiom: when all items are put, the closer joins the queue, and the
 * consumers are cancelled. With `shutdown` the closer instead shuts the queue down after some
 * yields.
 *
 * A queue with a single consumer or producer (BZ_CLAIM_SINGLE_...) has one at a time: the others
 * wait for their turn.
 *
 * A joiner joins early. If all others have ended and items are left, it is cancelled.
 *
 * Every task must end, whichever is cancelled. So callbacks do the closing: one when the closer has
 * ended, however it ended, and one that cancels the producers when no consumer is left. */
#include "scenarios/scenario_support.h"
#include "scenarios/scenarios.h"

enum {
    PRODUCERS,
    CONSUMERS,
    NEWCOMERS,
    ITEMS,
    KIND,
    MAXSIZE,
    SHUTDOWN,
    WORK,
    TRIES,
    PATIENCE,
    CANCELS,
    MOVES,
    REFUSALS,
    LATE
};

#define NO_SHUTDOWN 0
#define IMMEDIATE 2

/* Bits of `moves`. */
#define BURSTS 1
#define REPORTS 2
#define BURST_ITEMS 20 /* more than an unbounded queue reserves at first */

static const struct bz_param params[] = {
    {"producers", "tasks that put", 2, 1, 1000},
    {"consumers", "tasks that get", 2, 1, 1000},
    {"newcomers", "tasks that try to put or get without waiting", 1, 0, 1000},
    {"items", "items of each producer", 2, 1, 1000},
    {"kind", "0: first in, first out; 1: last in, first out; 2: by priority; 0 if it is refused", 0,
     0, 2},
    {"maxsize", "items that the queue holds; 0: no bound; -1: a rendezvous", 1, -1, 1000},
    {"shutdown", "0: none, the queue is joined; 1: items that are in may be got; 2: immediate", 0,
     0, 2},
    {"work", "yields between a get and its task_done", 1, 0, 1000},
    {"tries", "attempts of each newcomer", 2, 1, 1000},
    {"patience", "newcomers, canceller and shutdown wait 0..patience-1 yields", 6, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {"moves",
     "newcomers also 1: put 20 items at once, and there is no bound; 2: report an item of "
     "others as done; 3: both",
     0, 0, 3},
    BZ_REFUSALS_PARAM,
    {"late", "1: after a shutdown no consumer gets the rest, and each producer puts once more", 0,
     0, 1},
    {NULL, NULL, 0, 0, 0},
};

static const struct bz_size sizes[] = {
    {"producers", 1, 4, 8},
    {"consumers", 1, 4, 8},
    {"newcomers", 0, 2, 0},
    {"items", 1, 4, 12},
    {"kind", 0, 2, 0},
    {"maxsize", -1, 4, 0},
    {"shutdown", 0, 2, 0},
    {"work", 0, 2, 0},
    {"tries", 1, 3, 0},
    {"cancels", 0, 3, 0},
    {"moves", 0, 3, 0},
    BZ_REFUSALS_SIZE,
    {"late", 0, 1, 0},
    {"producers", 5, 65, BZ_TAIL_TASKS},
    {"consumers", 5, 65, BZ_TAIL_TASKS},
    {"items", 5, 257, 0},
    {"maxsize", 5, 257, 0},
    {"cancels", 4, 33, 0},
    {NULL, 0, 0, 0},
};

struct queue {
    struct bz_scene scene;
    struct bz_sut_queue sut;
    struct bz_turn get_turn;
    struct bz_turn put_turn;
    struct bz_future all_put; /* by producers and newcomers */
    struct bz_member closer;
    struct bz_task *joiner;
    uint32_t members_left; /* all but joiner and canceller */
    uint32_t putters_left;
    uint32_t consumers_left;
    uint64_t puts;          /* that returned BZ_OK */
    uint64_t dones;         /* task_done that returned BZ_OK */
    struct bz_task **tasks; /* producers, consumers, newcomers */
};

static enum bz_status be_patient(struct queue *queue, const char *label) {
    return bz_yield_below(queue->scene.world, label, queue->scene.values[PATIENCE]);
}

static int64_t draw_priority(struct queue *queue) {
    bool has_priorities = queue->scene.values[KIND] == BZ_QUEUE_ORDER_PRIORITY;
    return has_priorities ? (int64_t)bz_world_draw(queue->scene.world, "priority", 3) : 0;
}

static void say_done(struct queue *queue) {
    if (queue->sut.ops->task_done == NULL) {
        return;
    }
    enum bz_status status = bz_sut_queue_task_done(&queue->sut);
    queue->dones += status == BZ_OK;
    /* A newcomer may have reported it. */
    bool may_be_done = (queue->scene.values[MOVES] & REPORTS) != 0 && status == BZ_INVALID_STATE;
    bz_world_assert(queue->scene.world, status == BZ_OK || may_be_done,
                    "the task_done of an item was refused: %s", bz_status_word(status));
}

static enum bz_status put(struct queue *queue) {
    enum bz_status status = bz_turn_take(&queue->put_turn);
    if (status == BZ_OK) {
        status = bz_sut_queue_put(&queue->sut, draw_priority(queue));
        bz_turn_pass(&queue->put_turn);
    }
    return status;
}

static enum bz_status get(struct queue *queue) {
    enum bz_status status = bz_turn_take(&queue->get_turn);
    if (status == BZ_OK) {
        status = bz_sut_queue_get(&queue->sut);
        bz_turn_pass(&queue->get_turn);
    }
    return status;
}

/* Does nothing while a single consumer or producer is inside. */
static enum bz_status try_put_or_get(struct queue *queue, bool is_get) {
    struct bz_turn *turn = is_get ? &queue->get_turn : &queue->put_turn;
    if (!bz_turn_try(turn)) {
        return is_get ? BZ_EMPTY : BZ_FULL;
    }
    enum bz_status status = is_get ? bz_sut_queue_try_get(&queue->sut)
                                   : bz_sut_queue_try_put(&queue->sut, draw_priority(queue));
    bz_turn_pass(turn);
    return status;
}

/* --- who puts and who gets -------------------------------------------------------------------- */

static enum bz_status producer(void *arg) {
    struct queue *queue = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = queue->scene.values[ITEMS]; status == BZ_OK && left > 0; left--) {
        status = put(queue);
        queue->puts += status == BZ_OK;
        status = bz_world_is_refused(queue->scene.world, status) ? BZ_OK : status;
    }
    if (status == BZ_CLOSED && queue->scene.values[LATE] != 0) {
        status = put(queue); /* nobody gets */
        status = bz_world_is_refused(queue->scene.world, status) ? BZ_OK : status;
    }
    return status == BZ_CLOSED ? BZ_OK : status;
}

static enum bz_status consumer(void *arg) {
    struct queue *queue = arg;
    for (;;) {
        if (queue->scene.values[LATE] != 0 && queue->sut.judged.is_closed) {
            return BZ_OK;
        }
        enum bz_status status = get(queue);
        if (status != BZ_OK) {
            return status == BZ_CLOSED ? BZ_OK : status;
        }
        status = bz_yield_times(queue->scene.world, (uint64_t)queue->scene.values[WORK]);
        say_done(queue); /* also if the work was cancelled */
        if (status != BZ_OK) {
            return status;
        }
    }
}

static void try_once(struct queue *queue) {
    bool is_get = bz_world_draw(queue->scene.world, "try-get", 2) == 1;
    enum bz_status status = try_put_or_get(queue, is_get);
    if (status != BZ_OK) {
        bool is_right = status == BZ_CLOSED || status == (is_get ? BZ_EMPTY : BZ_FULL) ||
                        bz_world_is_refused(queue->scene.world, status);
        bz_world_assert(queue->scene.world, is_right, "a try returned %s", bz_status_word(status));
    } else if (is_get) {
        say_done(queue);
    } else {
        queue->puts++;
    }
}

static void move_once(struct queue *queue) {
    struct bz_world *world = queue->scene.world;
    int64_t moves = queue->scene.values[MOVES];
    enum bz_status status = BZ_OK;
    if ((moves & BURSTS) != 0 && bz_world_draw(world, "bursts", 3) == 2) {
        for (uint32_t left = BURST_ITEMS; status == BZ_OK && left > 0; left--) {
            status = try_put_or_get(queue, false);
            queue->puts += status == BZ_OK;
        }
    }
    bool has_some = queue->dones < queue->puts && queue->sut.judged.unfinished > 0;
    if ((moves & REPORTS) != 0 && has_some && bz_world_draw(world, "reports", 3) == 2) {
        say_done(queue);
    }
}

static enum bz_status newcomer(void *arg) {
    struct queue *queue = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = queue->scene.values[TRIES]; status == BZ_OK && left > 0; left--) {
        status = be_patient(queue, "arrival");
        if (status == BZ_OK) {
            try_once(queue);
            move_once(queue);
        }
    }
    return status;
}

/* --- the end ---------------------------------------------------------------------------------- */

static enum bz_status closer(void *arg) {
    struct queue *queue = arg;
    if (queue->scene.values[SHUTDOWN] != NO_SHUTDOWN) {
        return be_patient(queue, "shutdown");
    }
    enum bz_status status = bz_future_await(&queue->all_put);
    if (status == BZ_OK && queue->sut.ops->join != NULL) {
        status = bz_sut_queue_join(&queue->sut);
        bool is_sure = queue->scene.values[MAXSIZE] >= 0; /* a put may fail after its get */
        bz_world_assert(queue->scene.world,
                        !is_sure || status != BZ_OK || queue->dones == queue->puts,
                        "join returned with %llu of %llu items done",
                        (unsigned long long)queue->dones, (unsigned long long)queue->puts);
    }
    return status;
}

/* Usually joins before the first put, sometimes later. */
static enum bz_status joiner(void *arg) {
    struct queue *queue = arg;
    enum bz_status status = be_patient(queue, "joining");
    return status == BZ_OK ? bz_sut_queue_join(&queue->sut) : status;
}

/* When all others have ended, join has returned if every item is done, or never will. An item in
 * the queue that no task has put is for the oracles of items, at the end. */
static void on_joiner_alone(struct queue *queue) {
    struct bz_world *world = queue->scene.world;
    if (queue->joiner == NULL || bz_task_is_done(queue->joiner)) {
        return;
    }
    bool waits = bz_world_waits_in(world, queue->joiner, BZ_OP_AWAIT);
    uint64_t (*size)(void *instance) = queue->sut.ops->size;
    bool has_items = size == NULL || size(queue->sut.instance) > 0;
    bz_world_assert(world, !waits || queue->sut.judged.unfinished > 0 || has_items,
                    "join waits although every item is done");
    bz_task_cancel(queue->joiner);
}

static void on_member_ended(struct queue *queue) {
    if (--queue->members_left == 0) {
        on_joiner_alone(queue);
    }
}

static void cancel_all(struct bz_task *const *tasks, int64_t count) {
    for (int64_t index = 0; index < count; index++) {
        if (tasks[index] != NULL && !bz_task_is_done(tasks[index])) {
            bz_task_cancel(tasks[index]);
        }
    }
}

static void on_closer_ended(void *arg) {
    struct queue *queue = arg;
    const int64_t *values = queue->scene.values;
    int64_t shutdown = values[SHUTDOWN];
    bool is_shut =
        shutdown != NO_SHUTDOWN && bz_sut_queue_shutdown(&queue->sut, shutdown == IMMEDIATE);
    if (!is_shut) {
        cancel_all(queue->tasks + values[PRODUCERS], values[CONSUMERS]);
    }
    on_member_ended(queue);
}

static void on_putter_ended(void *arg) {
    struct queue *queue = arg;
    if (--queue->putters_left == 0) {
        bz_future_set_result(&queue->all_put, 0); /* refused if the closer was cancelled */
    }
    on_member_ended(queue);
}

static void on_consumer_ended(void *arg) {
    struct queue *queue = arg;
    if (--queue->consumers_left == 0) {
        if (!queue->sut.judged.is_closed) { /* a queue that is shut down must wake them itself */
            cancel_all(queue->tasks, queue->scene.values[PRODUCERS]);
        }
        cancel_all(&queue->closer.task, 1);
    }
    on_member_ended(queue);
}

/* --- setting up ------------------------------------------------------------------------------- */

static void spawn_all(struct queue *queue) {
    struct bz_world *world = queue->scene.world;
    const int64_t *values = queue->scene.values;
    const struct {
        const char *name;
        int64_t count;
        bz_task_fn *fn;
        void (*on_end)(void *queue);
    } roles[] = {{"producer", values[PRODUCERS], producer, on_putter_ended},
                 {"consumer", values[CONSUMERS], consumer, on_consumer_ended},
                 {"newcomer", values[NEWCOMERS], newcomer, on_putter_ended}};
    struct bz_member *member = bz_world_alloc(world, (queue->members_left - 1) * sizeof *member);
    for (size_t role = 0, task = 0; role < sizeof roles / sizeof roles[0]; role++) {
        for (uint32_t index = 1; index <= (uint32_t)roles[role].count; index++, member++) {
            bz_scene_spawn_member(world, member, roles[role].name, index, roles[role].fn, queue,
                                  roles[role].on_end);
            queue->tasks[task++] = member->task;
        }
    }
    if (queue->sut.ops->join != NULL) {
        queue->joiner = bz_scene_spawn(world, "joiner", 0, joiner, queue);
    }
    bz_scene_spawn_member(world, &queue->closer, "closer", 0, closer, queue, on_closer_ended);
    bz_canceller_spawn(world, queue->tasks, values[PRODUCERS] + values[CONSUMERS],
                       1u << BZ_OP_PUT | 1u << BZ_OP_GET, values[PATIENCE], values[CANCELS]);
}

/* In the wanted order, or in the first one that there is. */
static enum bz_status init_queue(struct queue *queue) {
    const int64_t *values = queue->scene.values;
    struct bz_world *world = queue->scene.world;
    bool is_unbounded = (values[MOVES] & BURSTS) != 0 &&
                        bz_variant_offers_size(world->variant, BZ_PRIMITIVE_QUEUE, 0);
    uint32_t maxsize = is_unbounded ? 0 : (uint32_t)values[MAXSIZE];
    enum bz_queue_order order =
        bz_variant_nearest_order(world->variant, (enum bz_queue_order)values[KIND]);
    enum bz_status status = bz_sut_queue_init(&queue->sut, world, "items", "slots", order, maxsize);
    order = bz_variant_nearest_order(world->variant, BZ_QUEUE_ORDER_FIFO);
    return status == BZ_INVALID_ARGUMENT
               ? bz_sut_queue_init(&queue->sut, world, "items", "slots", order, maxsize)
               : status;
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    const int64_t *values = args->values;
    struct queue *queue = bz_scene_new(world, args, sizeof *queue);
    queue->putters_left = (uint32_t)(values[PRODUCERS] + values[NEWCOMERS]);
    queue->consumers_left = (uint32_t)values[CONSUMERS];
    queue->members_left = queue->putters_left + queue->consumers_left + 1;
    queue->tasks = bz_world_alloc(world, queue->members_left * sizeof queue->tasks[0]);
    bz_future_init(&queue->all_put, world->loop);
    bz_world_refuse_memory(world, (uint32_t)values[REFUSALS]);
    bz_turn_init(&queue->get_turn, world, BZ_PRIMITIVE_QUEUE, BZ_CLAIM_SINGLE_CONSUMER);
    bz_turn_init(&queue->put_turn, world, BZ_PRIMITIVE_QUEUE, BZ_CLAIM_SINGLE_PRODUCER);
    if (bz_scene_is_set_up(world, init_queue(queue))) {
        spawn_all(queue);
    }
    return queue;
}

static void finish(struct bz_world *world, void *arg) {
    (void)world;
    bz_sut_queue_finish(&((struct queue *)arg)->sut);
}

const struct bz_scenario bz_scenario_queue = {
    .name = "queue",
    .summary = "producers, consumers, newcomers who do not wait, and a canceller at one queue",
    .params = params,
    BZ_SCENARIO_USES(BZ_PRIMITIVE_QUEUE),
    .setup = setup,
    .finish = finish,
    .sizes = sizes,
    .size = "maxsize",
};
