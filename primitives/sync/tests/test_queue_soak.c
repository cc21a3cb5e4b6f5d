/* Random guests, random cancels, any order of steps, against a model that follows the runtime's
 * events and what the operations answer, and knows nothing of how the queue works: which items are
 * in it and in which order they were stored, who waits on which side, who was woken. A seed is a
 * whole run; the seeds are looped inside a test. */
#include "primitives/sync/tests/stage_hall.h"

#define TASKS 6u
#define ROUNDS 6u
#define SEEDS 8000u
#define VALUES (TASKS * ROUNDS)

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

struct line {
    uint32_t ids[TASKS]; /* who is queued, oldest first */
    uint32_t count;
    uint32_t woken;
};

struct soak {
    struct bz_loop *loop;
    struct bz_queue queue;
    struct tst_draw draw;
    struct bz_observer observer;
    uint64_t seed;
    enum place place[TASKS + 1]; /* by number of the task */
    enum side side[TASKS + 1];
    struct line lines[2];
    uint64_t items[VALUES]; /* in the order in which they were stored */
    int64_t priority[VALUES];
    uint32_t count;
    uint64_t next_value;
    uint64_t unfinished;
    bool is_closed;
    /* How often the interesting things happened, over all seeds. */
    uint64_t wakes[2];
    uint64_t window_cancels[2];
    uint64_t queue_cancels[2];
    uint64_t closed_waits;
};

#define SEED(soak) (unsigned)(soak)->seed

/* --- the model: who waits --------------------------------------------------------------------- */

static void line_remove(struct soak *soak, struct line *line, uint32_t id) {
    uint32_t index = 0;
    while (index < line->count && line->ids[index] != id) {
        index++;
    }
    cr_assert(lt(u32, index, line->count), "seed %u", SEED(soak));
    line->count--;
    memmove(&line->ids[index], &line->ids[index + 1], (line->count - index) * sizeof line->ids[0]);
}

static void on_wake(struct soak *soak, uint32_t id, enum bz_status status) {
    if (soak->place[id] != PLACE_QUEUED) {
        return;
    }
    struct line *line = &soak->lines[soak->side[id]];
    if (status == BZ_CANCELLED) {
        soak->place[id] = PLACE_CANCELLED;
        soak->queue_cancels[soak->side[id]]++;
    } else {
        cr_assert(eq(u32, line->ids[0], id), "not the oldest; seed %u", SEED(soak));
        soak->place[id] = PLACE_WOKEN;
        soak->wakes[soak->side[id]]++;
        line->woken++;
    }
    line_remove(soak, line, id);
}

static void on_resume(struct soak *soak, uint32_t id, enum bz_status status) {
    if (soak->place[id] != PLACE_WOKEN) {
        return;
    }
    soak->lines[soak->side[id]].woken--;
    soak->place[id] = status == BZ_OK ? PLACE_RESUMED : PLACE_LEFT;
    soak->window_cancels[soak->side[id]] += status != BZ_OK;
}

static void model_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t id,
                         uint8_t status, uint32_t arg) {
    struct soak *soak = bz_container_of(observer, struct soak, observer);
    (void)arg;
    if (kind == BZ_EVENT_SUSPEND && soak->place[id] == PLACE_CALLING) {
        struct line *line = &soak->lines[soak->side[id]];
        soak->place[id] = PLACE_QUEUED;
        line->ids[line->count++] = id;
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(soak, id, (enum bz_status)status);
    } else if (kind == BZ_EVENT_RESUME) {
        on_resume(soak, id, (enum bz_status)status);
    }
}

/* --- the model: the items --------------------------------------------------------------------- */

/* The index of the item that must leave next. */
static uint32_t next_out(const struct soak *soak) {
    if (soak->queue.items.kind == BZ_QUEUE_LIFO) {
        return soak->count - 1;
    }
    uint32_t best = 0;
    for (uint32_t index = 1; index < soak->count; index++) {
        bool is_better = soak->priority[soak->items[index]] < soak->priority[soak->items[best]];
        best = soak->queue.items.kind == BZ_QUEUE_PRIORITY && is_better ? index : best;
    }
    return best;
}

static void model_take(struct soak *soak, uint64_t value) {
    cr_assert(lt(u32, 0, soak->count), "an item from nowhere, seed %u", SEED(soak));
    uint32_t index = next_out(soak);
    cr_assert(eq(u64, value, soak->items[index]), "seed %u", SEED(soak));
    soak->count--;
    memmove(&soak->items[index], &soak->items[index + 1],
            (soak->count - index) * sizeof soak->items[0]);
}

static bool line_is_free(const struct soak *soak, enum side side) {
    return soak->lines[side].count + soak->lines[side].woken == 0;
}

/* After every step. */
static void model_check(struct soak *soak) {
    const struct bz_queue *queue = &soak->queue;
    hall_check_queue(queue);
    cr_assert(eq(u32, bz_queue_size(queue), soak->count), "seed %u", SEED(soak));
    cr_assert(eq(u32, queue->getters.waiting_count, soak->lines[SIDE_GET].count));
    cr_assert(eq(u32, queue->getters.woken_count, soak->lines[SIDE_GET].woken));
    cr_assert(eq(u32, queue->putters.waiting_count, soak->lines[SIDE_PUT].count));
    cr_assert(eq(u32, queue->putters.woken_count, soak->lines[SIDE_PUT].woken));
    cr_assert(eq(u64, queue->unfinished, soak->unfinished), "seed %u", SEED(soak));
}

/* --- guests ----------------------------------------------------------------------------------- */

/* What an answer must be, given where the guest has been meanwhile. */
static void check_answer(struct soak *soak, uint32_t id, enum bz_status status, bool was_free) {
    enum place place = soak->place[id];
    soak->place[id] = PLACE_OUTSIDE;
    if (status == BZ_OK) {
        bool is_fair = (place == PLACE_CALLING && was_free) || place == PLACE_RESUMED;
        cr_assert(is_fair, "overtook, seed %u", SEED(soak));
    } else if (status == BZ_CANCELLED) {
        cr_assert(place == PLACE_CANCELLED || place == PLACE_LEFT, "seed %u", SEED(soak));
    } else if (status == BZ_CLOSED) {
        cr_assert(soak->is_closed, "seed %u", SEED(soak));
        cr_assert(place == PLACE_CALLING || place == PLACE_RESUMED, "seed %u", SEED(soak));
        soak->closed_waits += place == PLACE_RESUMED;
    } else {
        cr_assert(place == PLACE_CALLING, "waited in a try, seed %u", SEED(soak));
        cr_assert(not(was_free), "refused without a reason, seed %u", SEED(soak));
    }
}

static void soak_get(struct soak *soak, uint32_t id, bool may_wait) {
    bool was_free = soak->count > 0 && line_is_free(soak, SIDE_GET);
    uint64_t value = UINT64_MAX;
    soak->side[id] = SIDE_GET;
    enum bz_status status =
        may_wait ? bz_queue_get(&soak->queue, &value) : bz_queue_try_get(&soak->queue, &value);
    check_answer(soak, id, status, was_free);
    if (status == BZ_OK) {
        model_take(soak, value);
    } else {
        cr_assert(eq(u64, value, UINT64_MAX), "told an item that was not taken");
    }
    if (status == BZ_CLOSED) {
        cr_assert(eq(u32, soak->count, 0), "closed, and there is an item; seed %u", SEED(soak));
    }
    if (status == BZ_OK && tst_draw(&soak->draw, 2) == 0) {
        tst_status(bz_queue_task_done(&soak->queue), BZ_OK);
        soak->unfinished--;
    }
}

static void soak_put(struct soak *soak, uint32_t id, bool may_wait) {
    uint32_t maxsize = soak->queue.maxsize;
    bool was_free = (maxsize == 0 || soak->count < maxsize) && line_is_free(soak, SIDE_PUT);
    uint64_t value = soak->next_value++;
    soak->priority[value] = (int64_t)tst_draw(&soak->draw, 3);
    soak->side[id] = SIDE_PUT;
    enum bz_status status =
        may_wait ? bz_queue_put_priority(&soak->queue, value, soak->priority[value])
                 : bz_queue_try_put_priority(&soak->queue, value, soak->priority[value]);
    check_answer(soak, id, status, was_free);
    if (status == BZ_OK) {
        cr_assert(not(soak->is_closed), "put into a closed queue, seed %u", SEED(soak));
        soak->items[soak->count++] = value;
        soak->unfinished++;
    }
}

static enum bz_status soak_guest(void *arg) {
    struct soak *soak = arg;
    uint32_t id = bz_task_id(bz_loop_current(soak->loop));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        soak->place[id] = PLACE_CALLING;
        bool may_wait = tst_draw(&soak->draw, 4) > 0;
        if (tst_draw(&soak->draw, 2) == 0) {
            soak_get(soak, id, may_wait);
        } else {
            soak_put(soak, id, may_wait);
        }
        for (uint32_t pause = tst_draw(&soak->draw, 3); pause > 0; pause--) {
            (void)!bz_yield(soak->loop); /* a guest that is cancelled here goes on */
        }
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void soak_close(struct soak *soak, bool is_immediate) {
    soak->is_closed = true;
    if (is_immediate) {
        soak->unfinished -= soak->count;
        soak->count = 0;
    }
    bz_queue_shutdown(&soak->queue, is_immediate);
    model_check(soak);
}

static void soak_begin(struct soak *soak, enum bz_queue_kind kind, uint32_t maxsize) {
    bz_loop_reset(soak->loop);
    tst_status(bz_queue_init(&soak->queue, soak->loop, kind, maxsize), BZ_OK);
    memset(soak->place, 0, sizeof soak->place);
    memset(soak->lines, 0, sizeof soak->lines);
    soak->count = 0;
    soak->next_value = 0;
    soak->unfinished = 0;
    soak->is_closed = false;
    soak->draw = tst_draw_seeded(soak->seed);
    soak->observer.report = model_report;
    bz_driver_observe(soak->loop, &soak->observer);
}

static void soak_run(struct soak *soak, bool is_fifo) {
    struct bz_loop *loop = soak->loop;
    struct bz_task *tasks[TASKS];
    for (uint32_t index = 0; index < TASKS; index++) {
        tasks[index] = tst_spawn(loop, soak_guest, soak);
    }
    for (;;) {
        if (tst_draw(&soak->draw, 4) == 0) {
            bz_task_cancel(tasks[tst_draw(&soak->draw, TASKS)]);
        }
        uint32_t ready = bz_driver_ready_count(loop);
        if (ready == 0 && bz_loop_live_tasks(loop) == 0) {
            break;
        }
        /* When nothing moves any more all who wait do so for good reasons (the check has seen to
         * that), until the queue is closed; then nobody waits. */
        if (ready == 0 || tst_draw(&soak->draw, 100) == 0) {
            cr_assert(not(ready == 0 && soak->is_closed), "deadlock, seed %u", SEED(soak));
            soak_close(soak, tst_draw(&soak->draw, 2) == 0);
            continue;
        }
        bz_driver_step(loop, bz_driver_take(loop, is_fifo ? 0 : tst_draw(&soak->draw, ready)));
        model_check(soak);
    }
    while (soak->count > 0) { /* what is left comes out, in order */
        uint64_t value = 0;
        tst_status(bz_queue_try_get(&soak->queue, &value), BZ_OK);
        model_take(soak, value);
    }
    cr_assert(eq(u32, bz_queue_size(&soak->queue), 0));
}

static void soak_all(enum bz_queue_kind kind, uint32_t maxsize, bool is_fifo) {
    static struct soak soak;
    soak.loop = tst_begin();
    for (soak.seed = 0; soak.seed < SEEDS; soak.seed++) {
        soak_begin(&soak, kind, maxsize);
        soak_run(&soak, is_fifo);
    }
    /* A soak that never came to the window has shown nothing. */
    for (enum side side = SIDE_GET; side <= (maxsize == 0 ? SIDE_GET : SIDE_PUT); side++) {
        cr_assert(lt(u64, SEEDS / 2, soak.wakes[side]));
        cr_assert(lt(u64, SEEDS / 16, soak.window_cancels[side]));
        cr_assert(lt(u64, SEEDS / 8, soak.queue_cancels[side]));
    }
    cr_assert(lt(u64, SEEDS / 8, soak.closed_waits));
    bz_loop_destroy(soak.loop);
}

Test(queue_soak, fifo_of_one_in_any_order) {
    soak_all(BZ_QUEUE_FIFO, 1, false);
}

Test(queue_soak, fifo_of_one_in_fifo_order) {
    soak_all(BZ_QUEUE_FIFO, 1, true);
}

Test(queue_soak, fifo_of_two_in_any_order) {
    soak_all(BZ_QUEUE_FIFO, 2, false);
}

Test(queue_soak, fifo_without_a_bound_in_any_order) {
    soak_all(BZ_QUEUE_FIFO, 0, false);
}

Test(queue_soak, lifo_of_two_in_any_order) {
    soak_all(BZ_QUEUE_LIFO, 2, false);
}

Test(queue_soak, priority_of_two_in_any_order) {
    soak_all(BZ_QUEUE_PRIORITY, 2, false);
}

Test(queue_soak, priority_without_a_bound_in_fifo_order) {
    soak_all(BZ_QUEUE_PRIORITY, 0, true);
}
