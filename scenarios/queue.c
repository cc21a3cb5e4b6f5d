/* queue: producers and consumers at a bounded queue, newcomers who do not wait, and a canceller.
 *
 * Each producer puts `items` items; each consumer gets, works, says that it is done, and so on. A
 * newcomer comes from elsewhere and tries to put or to get without waiting, above all while a woken
 * task has not resumed. The end is asyncio's idiom: when all have put, the closer joins the queue
 * and the consumers are cancelled. With `shutdown` the closer shuts the queue down, after a while,
 * whatever the others do.
 *
 * A joiner joins early, and is sent home if all others have gone and items are left.
 *
 * Whoever is cancelled, everybody must get home: the closing is done by a callback when the closer
 * has ended, however it ended, and when no consumer is left the producers are sent home. */
#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "sim/native/sut.h"
#include "sim/native/world.h"

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
    CANCELS
};

#define NO_SHUTDOWN 0
#define IMMEDIATE 2

static const struct bz_param params[] = {
    {"producers", "tasks that put", 2, 1, 1000},
    {"consumers", "tasks that get", 2, 1, 1000},
    {"newcomers", "tasks that try to put or get without waiting", 1, 0, 1000},
    {"items", "items of each producer", 2, 1, 1000},
    {"kind", "0: first in, first out; 1: last in, first out; 2: by priority", 0, 0, 2},
    {"maxsize", "items that the queue holds; 0: no bound", 1, 0, 1000},
    {"shutdown", "0: none, the queue is joined; 1: items that are in may be got; 2: immediate", 0,
     0, 2},
    {"work", "yields between a get and its task_done", 1, 0, 1000},
    {"tries", "attempts of each newcomer", 2, 1, 1000},
    {"patience", "newcomers, canceller and shutdown wait 0..patience-1 yields", 6, 1, 1000},
    {"cancels", "how often the canceller strikes", 1, 0, 1000},
    {NULL, NULL, 0, 0, 0},
};

struct member {
    struct queue *queue;
    struct bz_task *task;
    struct bz_callback ends;
};

struct queue {
    struct bz_world *world;
    const struct bz_scenario_args *args;
    struct bz_sut_queue sut;
    struct bz_future all_put; /* by producers and newcomers */
    struct member closer;
    struct member joiner;
    uint32_t members_left; /* all but joiner and canceller */
    uint32_t putters_left;
    uint32_t consumers_left;
    uint64_t puts;  /* that said OK */
    uint64_t dones; /* task_done that said OK */
    uint32_t producer_count;
    uint32_t consumer_count;
    uint32_t newcomer_count;
    struct member members[]; /* producers, consumers, newcomers */
};

static enum bz_status yield_times(struct queue *queue, uint64_t times) {
    enum bz_status status = BZ_OK;
    for (; status == BZ_OK && times > 0; times--) {
        status = bz_yield(queue->world->loop);
    }
    return status;
}

static enum bz_status be_patient(struct queue *queue, const char *label) {
    return yield_times(queue,
                       bz_world_draw(queue->world, label, (uint64_t)queue->args->values[PATIENCE]));
}

static int64_t draw_priority(struct queue *queue) {
    bool has_priorities = queue->args->values[KIND] == BZ_QUEUE_ORDER_PRIORITY;
    return has_priorities ? (int64_t)bz_world_draw(queue->world, "priority", 3) : 0;
}

static void say_done(struct queue *queue) {
    if (queue->sut.ops->task_done == NULL) {
        return;
    }
    enum bz_status status = bz_sut_queue_task_done(&queue->sut);
    queue->dones += status == BZ_OK;
    bz_world_assert(queue->world, status == BZ_OK, "the task_done of an item was refused: %s",
                    bz_status_name(status));
}

/* --- who puts and who gets -------------------------------------------------------------------- */

static enum bz_status producer(void *arg) {
    struct queue *queue = ((struct member *)arg)->queue;
    enum bz_status status = BZ_OK;
    for (int64_t left = queue->args->values[ITEMS]; status == BZ_OK && left > 0; left--) {
        status = bz_sut_queue_put(&queue->sut, draw_priority(queue));
        queue->puts += status == BZ_OK;
    }
    return status == BZ_CLOSED ? BZ_OK : status;
}

static enum bz_status consumer(void *arg) {
    struct queue *queue = ((struct member *)arg)->queue;
    for (;;) {
        enum bz_status status = bz_sut_queue_get(&queue->sut);
        if (status != BZ_OK) {
            return status == BZ_CLOSED ? BZ_OK : status;
        }
        status = yield_times(queue, (uint64_t)queue->args->values[WORK]);
        say_done(queue); /* an item that was got is done, whatever became of the work */
        if (status != BZ_OK) {
            return status;
        }
    }
}

static void try_once(struct queue *queue) {
    bool is_get = bz_world_draw(queue->world, "try-get", 2) == 1;
    enum bz_status status = is_get ? bz_sut_queue_try_get(&queue->sut)
                                   : bz_sut_queue_try_put(&queue->sut, draw_priority(queue));
    if (status != BZ_OK) {
        bool is_right = status == BZ_CLOSED || status == (is_get ? BZ_EMPTY : BZ_FULL);
        bz_world_assert(queue->world, is_right, "who does not wait was told %s",
                        bz_status_name(status));
    } else if (is_get) {
        say_done(queue);
    } else {
        queue->puts++;
    }
}

static enum bz_status newcomer(void *arg) {
    struct queue *queue = ((struct member *)arg)->queue;
    enum bz_status status = BZ_OK;
    for (int64_t left = queue->args->values[TRIES]; status == BZ_OK && left > 0; left--) {
        status = be_patient(queue, "arrival");
        if (status == BZ_OK) {
            try_once(queue);
        }
    }
    return status;
}

/* --- the canceller ---------------------------------------------------------------------------- */

static bool waits(struct queue *queue, const struct member *member) {
    return bz_world_is_suspended_in(queue->world, member->task, BZ_OP_PUT) ||
           bz_world_is_suspended_in(queue->world, member->task, BZ_OP_GET);
}

static struct bz_task *pick_waiting_member(struct queue *queue) {
    uint32_t count = queue->producer_count + queue->consumer_count;
    uint32_t waiting = 0;
    for (uint32_t index = 0; index < count; index++) {
        waiting += waits(queue, &queue->members[index]);
    }
    if (waiting == 0) {
        return NULL;
    }
    uint64_t skip = bz_world_draw(queue->world, "victim", waiting);
    for (uint32_t index = 0;; index++) {
        if (waits(queue, &queue->members[index]) && skip-- == 0) {
            return queue->members[index].task;
        }
    }
}

static enum bz_status canceller(void *arg) {
    struct queue *queue = arg;
    enum bz_status status = BZ_OK;
    for (int64_t left = queue->args->values[CANCELS]; left > 0; left--) {
        status = be_patient(queue, "patience");
        struct bz_task *victim = status == BZ_OK ? pick_waiting_member(queue) : NULL;
        if (status != BZ_OK) {
            return status;
        }
        if (victim != NULL) {
            bz_task_cancel(victim);
        }
    }
    return status;
}

/* --- the end ---------------------------------------------------------------------------------- */

static enum bz_status closer(void *arg) {
    struct queue *queue = ((struct member *)arg)->queue;
    if (queue->args->values[SHUTDOWN] != NO_SHUTDOWN) {
        return be_patient(queue, "shutdown");
    }
    enum bz_status status = bz_future_await(&queue->all_put);
    if (status == BZ_OK && queue->sut.ops->join != NULL) {
        status = bz_sut_queue_join(&queue->sut);
        bz_world_assert(queue->world, status != BZ_OK || queue->dones == queue->puts,
                        "join is through with %llu of %llu item(s) done",
                        (unsigned long long)queue->dones, (unsigned long long)queue->puts);
    }
    return status;
}

/* Joins early: before the first put, as a rule, or in the middle. */
static enum bz_status joiner(void *arg) {
    struct queue *queue = ((struct member *)arg)->queue;
    enum bz_status status = be_patient(queue, "joining");
    return status == BZ_OK ? bz_sut_queue_join(&queue->sut) : status;
}

/* When all have gone, join is through if every item is done; if not, it will never be. An item that
 * is in the queue, and that nobody has put, is the item oracles' to judge, at the end. */
static void on_joiner_alone(struct queue *queue) {
    const struct member *member = &queue->joiner;
    if (member->task == NULL || bz_task_is_done(member->task)) {
        return;
    }
    bool waits = bz_world_waits_in(queue->world, member->task, BZ_OP_AWAIT);
    bool has_items = queue->sut.ops->size(queue->sut.instance) > 0;
    bz_world_assert(queue->world, !waits || queue->sut.judged.unfinished > 0 || has_items,
                    "join waits, and every item is done");
    bz_task_cancel(member->task);
}

static void on_member_ended(struct queue *queue) {
    if (--queue->members_left == 0) {
        on_joiner_alone(queue);
    }
}

static void cancel_all(const struct member *members, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        if (members[index].task != NULL && !bz_task_is_done(members[index].task)) {
            bz_task_cancel(members[index].task);
        }
    }
}

static void on_closer_ended(struct bz_callback *callback, struct bz_future *future) {
    struct queue *queue = bz_container_of(callback, struct member, ends)->queue;
    int64_t shutdown = queue->args->values[SHUTDOWN];
    (void)future;
    bool is_shut =
        shutdown != NO_SHUTDOWN && bz_sut_queue_shutdown(&queue->sut, shutdown == IMMEDIATE);
    if (!is_shut) {
        cancel_all(queue->members + queue->producer_count, queue->consumer_count);
    }
    on_member_ended(queue);
}

static void on_putter_ended(struct bz_callback *callback, struct bz_future *future) {
    struct queue *queue = bz_container_of(callback, struct member, ends)->queue;
    (void)future;
    if (--queue->putters_left == 0) {
        bz_future_set_result(&queue->all_put, 0); /* refused if the closer was cancelled */
    }
    on_member_ended(queue);
}

static void on_consumer_ended(struct bz_callback *callback, struct bz_future *future) {
    struct queue *queue = bz_container_of(callback, struct member, ends)->queue;
    (void)future;
    if (--queue->consumers_left == 0) {
        if (!queue->sut.judged.is_closed) { /* else it is for the queue to send them home */
            cancel_all(queue->members, queue->producer_count);
        }
        cancel_all(&queue->closer, 1);
    }
    on_member_ended(queue);
}

/* --- setting up ------------------------------------------------------------------------------- */

static bool spawn(struct queue *queue, struct member *member, const char *name, uint32_t index,
                  bz_task_fn *fn,
                  void (*on_end)(struct bz_callback *callback, struct bz_future *future)) {
    member->queue = queue;
    member->task = bz_task_spawn(queue->world->loop, name, index, fn, member);
    bool is_there = member->task != NULL &&
                    bz_future_add_callback(bz_task_future(member->task), &member->ends, on_end);
    bz_world_assert(queue->world, is_there, "no memory for task %s-%u", name, index);
    return is_there;
}

static void spawn_all(struct queue *queue) {
    struct member *member = queue->members;
    bool is_well = true;
    for (uint32_t index = 1; is_well && index <= queue->producer_count; index++) {
        is_well = spawn(queue, member++, "producer", index, producer, on_putter_ended);
    }
    for (uint32_t index = 1; is_well && index <= queue->consumer_count; index++) {
        is_well = spawn(queue, member++, "consumer", index, consumer, on_consumer_ended);
    }
    for (uint32_t index = 1; is_well && index <= queue->newcomer_count; index++) {
        is_well = spawn(queue, member++, "newcomer", index, newcomer, on_putter_ended);
    }
    if (is_well && queue->sut.ops->join != NULL) {
        queue->joiner.queue = queue;
        queue->joiner.task = bz_task_spawn(queue->world->loop, "joiner", 0, joiner, &queue->joiner);
        is_well = queue->joiner.task != NULL;
        bz_world_assert(queue->world, is_well, "no memory for task joiner");
    }
    if (is_well && spawn(queue, &queue->closer, "closer", 0, closer, on_closer_ended)) {
        const struct bz_task *task =
            bz_task_spawn(queue->world->loop, "canceller", 0, canceller, queue);
        bz_world_assert(queue->world, task != NULL, "no memory for task canceller");
    }
}

static void *setup(struct bz_world *world, const struct bz_scenario_args *args) {
    uint32_t producers = (uint32_t)args->values[PRODUCERS];
    uint32_t consumers = (uint32_t)args->values[CONSUMERS];
    uint32_t newcomers = (uint32_t)args->values[NEWCOMERS];
    struct queue *queue = bz_world_alloc(
        world, sizeof *queue + (producers + consumers + newcomers) * sizeof queue->members[0]);
    queue->world = world;
    queue->args = args;
    queue->producer_count = producers;
    queue->consumer_count = consumers;
    queue->newcomer_count = newcomers;
    queue->putters_left = producers + newcomers;
    queue->consumers_left = consumers;
    queue->members_left = producers + consumers + newcomers + 1;
    bz_future_init(&queue->all_put, world->loop);
    enum bz_status status =
        bz_sut_queue_init(&queue->sut, world, "items", "slots",
                          (enum bz_queue_order)args->values[KIND], (uint32_t)args->values[MAXSIZE]);
    bz_world_assert(world, status == BZ_OK, "the variant could not be set up: %s",
                    bz_status_name(status));
    if (status == BZ_OK) {
        spawn_all(queue);
    }
    return queue;
}

static void finish(struct bz_world *world, void *arg) {
    struct queue *queue = arg;
    (void)world;
    bz_sut_queue_finish(&queue->sut);
}

const struct bz_scenario bz_scenario_queue = {
    .name = "queue",
    .summary = "producers, consumers, newcomers who do not wait, and a canceller at one queue",
    .params = params,
    .primitives = {BZ_PRIMITIVE_QUEUE},
    .primitive_count = 1,
    .setup = setup,
    .finish = finish,
};
