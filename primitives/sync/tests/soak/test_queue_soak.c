/* Queue against a model that follows also what the operations answer: which items are in it and in
 * which order they were stored, who waits on which side, who was woken. */
#include "primitives/sync/tests/soak/stage_soak.h"
#include "primitives/sync/tests/stage_hall.h"

#define TASKS 6u
#define SEEDS TST_SEEDS(8000u)
#define VALUES (TASKS * SOAK_ROUNDS)

enum place {
    PLACE_OUTSIDE = 0,
    PLACE_CALLING = 1, /* inside an operation, has not suspended */
    PLACE_QUEUED = 2,
    PLACE_WOKEN = 3,
    PLACE_CANCELLED = 4, /* while queued */
    PLACE_RESUMED = 5,   /* after it was woken, with BZ_OK */
    PLACE_LEFT = 6,      /* after it was woken, cancelled */
};

enum side {
    SIDE_GET = 0,
    SIDE_PUT = 1,
};

struct side_of_queue {
    struct line queued;
    uint32_t woken;
    /* How often the interesting things happened, over all seeds. */
    uint64_t wakes;
    uint64_t window_cancels;
    uint64_t queue_cancels;
};

struct queue_soak {
    struct soak soak;
    struct bz_queue queue;
    enum place place[TASKS + 1]; /* by number of the task */
    enum side side[TASKS + 1];
    struct side_of_queue sides[2];
    uint64_t items[VALUES]; /* in the order in which they were stored */
    int64_t priority[VALUES];
    uint32_t count;
    uint64_t next_value;
    uint64_t unfinished;
    bool is_closed;
    uint64_t closed_waits; /* over all seeds */
};

/* --- the model: who waits --------------------------------------------------------------------- */

static void on_wake(struct queue_soak *model, uint32_t id, uint8_t status) {
    struct side_of_queue *side = &model->sides[model->side[id]];
    if (model->place[id] != PLACE_QUEUED) {
        return;
    }
    if (status == BZ_CANCELLED) {
        model->place[id] = PLACE_CANCELLED;
        side->queue_cancels++;
    } else {
        soak_assert(&model->soak, side->queued.ids[0] == id); /* the oldest */
        model->place[id] = PLACE_WOKEN;
        side->wakes++;
        side->woken++;
    }
    line_remove(&side->queued, id);
}

static void on_event(struct soak *soak, enum bz_event_kind kind, uint32_t task, uint8_t status) {
    struct queue_soak *model = bz_container_of(soak, struct queue_soak, soak);
    enum place *place = &model->place[task];
    struct side_of_queue *side = &model->sides[model->side[task]];
    if (kind == BZ_EVENT_SUSPEND && *place == PLACE_CALLING) {
        *place = PLACE_QUEUED;
        line_push(&side->queued, task);
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(model, task, status);
    } else if (kind == BZ_EVENT_RESUME && *place == PLACE_WOKEN) {
        side->woken--;
        *place = status == BZ_OK ? PLACE_RESUMED : PLACE_LEFT;
        side->window_cancels += status != BZ_OK;
    }
}

/* --- the model: the items --------------------------------------------------------------------- */

/* The index of the item that must leave next. */
static uint32_t next_out(const struct queue_soak *model) {
    if (model->queue.items.kind == BZ_QUEUE_LIFO) {
        return model->count - 1;
    }
    uint32_t best = 0;
    for (uint32_t index = 1; index < model->count; index++) {
        bool is_better = model->priority[model->items[index]] < model->priority[model->items[best]];
        best = model->queue.items.kind == BZ_QUEUE_PRIORITY && is_better ? index : best;
    }
    return best;
}

static void model_take(struct queue_soak *model, uint64_t value) {
    soak_assert(&model->soak, model->count > 0); /* else it is an item from nowhere */
    uint32_t index = next_out(model);
    soak_assert(&model->soak, value == model->items[index]);
    model->count--;
    memmove(&model->items[index], &model->items[index + 1],
            (model->count - index) * sizeof model->items[0]);
}

static bool is_free(const struct queue_soak *model, enum side side) {
    return model->sides[side].queued.count + model->sides[side].woken == 0;
}

static void check_side(struct queue_soak *model, enum side side, const struct bz_waitq *queue) {
    soak_assert(&model->soak, queue->waiting_count == model->sides[side].queued.count);
    soak_assert(&model->soak, queue->woken_count == model->sides[side].woken);
}

/* After every step. */
static void model_check(struct queue_soak *model) {
    hall_check_queue(&model->queue);
    check_side(model, SIDE_GET, &model->queue.getters);
    check_side(model, SIDE_PUT, &model->queue.putters);
    soak_assert(&model->soak, bz_queue_size(&model->queue) == model->count);
    soak_assert(&model->soak, model->queue.unfinished == model->unfinished);
}

/* --- guests ----------------------------------------------------------------------------------- */

/* Checks a status against what has happened to the guest meanwhile. */
static void check_answer(struct queue_soak *model, uint32_t id, enum bz_status status,
                         bool was_free) {
    struct soak *soak = &model->soak;
    enum place place = model->place[id];
    model->place[id] = PLACE_OUTSIDE;
    if (status == BZ_OK) { /* it did not overtake */
        soak_assert(soak, (place == PLACE_CALLING && was_free) || place == PLACE_RESUMED);
    } else if (status == BZ_CANCELLED) {
        soak_assert(soak, place == PLACE_CANCELLED || place == PLACE_LEFT);
    } else if (status == BZ_CLOSED) {
        soak_assert(soak, model->is_closed);
        soak_assert(soak, place == PLACE_CALLING || place == PLACE_RESUMED);
        model->closed_waits += place == PLACE_RESUMED;
    } else { /* a try does not wait, and is not refused without a reason */
        soak_assert(soak, place == PLACE_CALLING && !was_free);
    }
}

static void guest_get(struct queue_soak *model, uint32_t id, bool may_wait) {
    struct soak *soak = &model->soak;
    bool was_free = model->count > 0 && is_free(model, SIDE_GET);
    uint64_t value = UINT64_MAX;
    model->side[id] = SIDE_GET;
    enum bz_status status =
        may_wait ? bz_queue_get(&model->queue, &value) : bz_queue_try_get(&model->queue, &value);
    check_answer(model, id, status, was_free);
    if (status == BZ_OK) {
        model_take(model, value);
    } else {
        soak_assert(soak, value == UINT64_MAX);
    }
    soak_assert(soak, status != BZ_CLOSED || model->count == 0);
    if (status == BZ_OK && tst_draw(&soak->draw, 2) == 0) {
        tst_status(bz_queue_task_done(&model->queue), BZ_OK);
        model->unfinished--;
    }
}

static void guest_put(struct queue_soak *model, uint32_t id, bool may_wait) {
    struct soak *soak = &model->soak;
    uint32_t maxsize = model->queue.maxsize;
    bool was_free = (maxsize == 0 || model->count < maxsize) && is_free(model, SIDE_PUT);
    uint64_t value = model->next_value++;
    int64_t priority = (int64_t)tst_draw(&soak->draw, 3);
    model->priority[value] = priority;
    model->side[id] = SIDE_PUT;
    enum bz_status status = may_wait ? bz_queue_put_priority(&model->queue, value, priority)
                                     : bz_queue_try_put_priority(&model->queue, value, priority);
    check_answer(model, id, status, was_free);
    if (status == BZ_OK) {
        soak_assert(soak, !model->is_closed);
        model->items[model->count++] = value;
        model->unfinished++;
    }
}

static enum bz_status guest(void *arg) {
    struct soak *soak = arg;
    struct queue_soak *model = bz_container_of(soak, struct queue_soak, soak);
    uint32_t id = bz_task_id(bz_loop_current(soak->loop));
    for (uint32_t round = 0; round < SOAK_ROUNDS; round++) {
        model->place[id] = PLACE_CALLING;
        bool may_wait = tst_draw(&soak->draw, 4) > 0;
        if (tst_draw(&soak->draw, 2) == 0) {
            guest_get(model, id, may_wait);
        } else {
            guest_put(model, id, may_wait);
        }
        soak_pause(soak);
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void close_queue(struct queue_soak *model, bool is_immediate) {
    model->is_closed = true;
    if (is_immediate) {
        model->unfinished -= model->count;
        model->count = 0;
    }
    bz_queue_shutdown(&model->queue, is_immediate);
    model_check(model);
}

static void begin(struct queue_soak *model, enum bz_queue_kind kind, uint32_t maxsize) {
    soak_begin(&model->soak);
    tst_status(bz_queue_init(&model->queue, model->soak.loop, kind, maxsize), BZ_OK);
    memset(model->place, 0, sizeof model->place);
    for (enum side side = SIDE_GET; side <= SIDE_PUT; side++) {
        model->sides[side].queued.count = 0;
        model->sides[side].woken = 0;
    }
    model->count = 0;
    model->next_value = 0;
    model->unfinished = 0;
    model->is_closed = false;
}

static void run(struct queue_soak *model) {
    struct soak *soak = &model->soak;
    soak_spawn(soak, TASKS, guest);
    for (;;) {
        soak_cancel(soak, 4);
        bool is_ready = soak_is_ready(soak);
        if (!is_ready && bz_loop_live_tasks(soak->loop) == 0) {
            break;
        }
        /* When nothing moves any more all who wait do so for good reasons (the check has seen to
         * that), until the queue is closed; then nobody waits. */
        if (!is_ready || tst_draw(&soak->draw, 100) == 0) {
            soak_assert(soak, is_ready || !model->is_closed);
            close_queue(model, tst_draw(&soak->draw, 2) == 0);
            continue;
        }
        soak_step(soak);
        model_check(model);
    }
    soak_end(soak);
    while (model->count > 0) { /* what is left comes out, in order */
        uint64_t value = 0;
        tst_status(bz_queue_try_get(&model->queue, &value), BZ_OK);
        model_take(model, value);
    }
    cr_assert_eq(bz_queue_size(&model->queue), 0);
}

static void soak_all(enum bz_queue_kind kind, uint32_t maxsize, bool is_fifo) {
    static struct queue_soak model;
    struct soak *soak = &model.soak;
    soak->loop = tst_begin();
    soak->is_fifo = is_fifo;
    soak->on_event = on_event;
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        begin(&model, kind, maxsize);
        run(&model);
    }
    /* A soak that never came to the window has shown nothing. */
    for (enum side side = SIDE_GET; side <= (maxsize == 0 ? SIDE_GET : SIDE_PUT); side++) {
        cr_assert_lt(SEEDS / 2, model.sides[side].wakes);
        cr_assert_lt(SEEDS / 16, model.sides[side].window_cancels);
        cr_assert_lt(SEEDS / 8, model.sides[side].queue_cancels);
    }
    cr_assert_lt(SEEDS / 8, model.closed_waits);
    bz_loop_destroy(soak->loop);
}

#define SOAK(name_, ...)                                                                           \
    Test(queue_soak, name_) {                                                                      \
        soak_all(__VA_ARGS__);                                                                     \
    }
SOAK(fifo_of_one_in_any_order, BZ_QUEUE_FIFO, 1, false)
SOAK(fifo_of_one_in_fifo_order, BZ_QUEUE_FIFO, 1, true)
SOAK(fifo_of_two_in_any_order, BZ_QUEUE_FIFO, 2, false)
SOAK(fifo_without_a_bound_in_any_order, BZ_QUEUE_FIFO, 0, false)
SOAK(lifo_of_two_in_any_order, BZ_QUEUE_LIFO, 2, false)
SOAK(priority_of_two_in_any_order, BZ_QUEUE_PRIORITY, 2, false)
SOAK(priority_without_a_bound_in_fifo_order, BZ_QUEUE_PRIORITY, 0, true)
