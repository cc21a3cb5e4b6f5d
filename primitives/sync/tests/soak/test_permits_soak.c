/* Lock and semaphore against a model: who arrived when, who was granted, who holds. */
#include "primitives/sync/tests/soak/stage_soak.h"
#include "primitives/sync/tests/stage_permits.h"

#define TASKS 6u
#define SEEDS TST_SEEDS(10000u)

enum place {
    PLACE_OUTSIDE = 0,
    PLACE_CALLING = 1, /* inside acquire, has not suspended */
    PLACE_QUEUED = 2,
    PLACE_GRANTED = 3,   /* woken with a permit, not resumed */
    PLACE_CANCELLED = 4, /* cancelled, not resumed */
    PLACE_TAKEN = 5,     /* granted, and resumed with it */
    PLACE_LEFT = 6,      /* granted, and resumed without it: cancelled in the window */
};

struct permits_soak {
    struct soak soak;
    struct permits permits;      /* of which the stage is not used */
    enum place place[TASKS + 1]; /* by number of the task */
    struct line queue;
    uint32_t granted;
    uint32_t holders;
    /* How often the interesting things happened, over all seeds. */
    uint64_t window_cancels;
    uint64_t queue_cancels;
    uint64_t grants;
};

/* --- the model -------------------------------------------------------------------------------- */

static void on_wake(struct permits_soak *model, uint32_t id, uint8_t status) {
    enum place *place = &model->place[id];
    if (*place != PLACE_QUEUED) {
        return;
    }
    if (status == BZ_CANCELLED) {
        *place = PLACE_CANCELLED;
        model->queue_cancels++;
    } else {
        soak_assert(&model->soak, model->queue.ids[0] == id); /* the oldest */
        *place = PLACE_GRANTED;
        model->granted++;
        model->grants++;
        soak_assert(&model->soak, model->holders + model->granted <= model->permits.permits);
    }
    line_remove(&model->queue, id);
}

static void on_event(struct soak *soak, enum bz_event_kind kind, uint32_t task, uint8_t status) {
    struct permits_soak *model = bz_container_of(soak, struct permits_soak, soak);
    enum place *place = &model->place[task];
    if (kind == BZ_EVENT_SUSPEND && *place == PLACE_CALLING) {
        *place = PLACE_QUEUED;
        line_push(&model->queue, task);
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(model, task, status);
    } else if (kind == BZ_EVENT_RESUME && *place == PLACE_GRANTED) {
        bool is_taken = status == BZ_OK;
        model->granted--;
        model->holders += is_taken;
        *place = is_taken ? PLACE_TAKEN : PLACE_LEFT;
    } else if (kind == BZ_EVENT_CANCEL && *place == PLACE_GRANTED) {
        model->window_cancels++;
    }
}

/* After every step: nobody waits needlessly, and what is free agrees with the primitive. */
static void model_check(struct permits_soak *model) {
    uint32_t level = model->permits.permits - model->holders;
    struct bz_waitq *queue = permits_queue(&model->permits);
    soak_assert(&model->soak, permits_level(&model->permits) == level);
    soak_assert(&model->soak, queue->waiting_count == model->queue.count);
    soak_assert(&model->soak, queue->woken_count == model->granted);
    soak_assert(&model->soak, model->queue.count == 0 || model->granted > 0 || level == 0);
    permits_check(&model->permits.stage);
}

/* --- guests ----------------------------------------------------------------------------------- */

static bool guest_acquire(struct permits_soak *model, uint32_t id) {
    struct soak *soak = &model->soak;
    bool was_free =
        model->permits.permits > model->holders && model->queue.count == 0 && model->granted == 0;
    soak_assert(soak, permits_locked(&model->permits) == !was_free);
    model->place[id] = PLACE_CALLING;
    enum bz_status status = permits_acquire(&model->permits);
    enum place place = model->place[id];
    model->place[id] = PLACE_OUTSIDE;
    if (status == BZ_OK) {
        model->holders += place == PLACE_CALLING;
        soak_assert(soak, place == PLACE_TAKEN || (place == PLACE_CALLING && was_free));
        return true;
    }
    tst_status(status, BZ_CANCELLED);
    soak_assert(soak, place == PLACE_LEFT || place == PLACE_CANCELLED);
    return false;
}

static enum bz_status guest(void *arg) {
    struct soak *soak = arg;
    struct permits_soak *model = bz_container_of(soak, struct permits_soak, soak);
    uint32_t id = bz_task_id(bz_loop_current(soak->loop));
    for (uint32_t round = 0; round < SOAK_ROUNDS; round++) {
        bool holds = guest_acquire(model, id);
        soak_pause(soak);
        if (holds) {
            model->holders--;
            tst_status(permits_release(&model->permits), BZ_OK);
        }
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run(struct permits_soak *model, enum kind kind, uint32_t permits) {
    struct soak *soak = &model->soak;
    soak_begin(soak);
    permits_init(&model->permits, soak->loop, kind, permits);
    memset(model->place, 0, sizeof model->place);
    model->queue.count = 0;
    model->granted = 0;
    model->holders = 0;
    soak_spawn(soak, TASKS, guest);
    while (soak_is_ready(soak)) {
        soak_cancel(soak, 5);
        soak_step(soak);
        model_check(model);
    }
    soak_end(soak);
    cr_assert_eq(model->holders, 0);
    cr_assert_eq(permits_queue(&model->permits)->cancelled_count, 0);
}

static void soak_all(enum kind kind, uint32_t permits, bool is_fifo) {
    static struct permits_soak model;
    struct soak *soak = &model.soak;
    soak->loop = tst_begin();
    soak->is_fifo = is_fifo;
    soak->on_event = on_event;
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        run(&model, kind, permits);
    }
    /* A soak that never came to the window has shown nothing. */
    cr_assert_lt(SEEDS, model.grants);
    cr_assert_lt(SEEDS / 4, model.window_cancels);
    cr_assert_lt(SEEDS / 4, model.queue_cancels);
    bz_loop_destroy(soak->loop);
}

#define SOAK(name_, ...)                                                                           \
    Test(soak, name_) {                                                                            \
        soak_all(__VA_ARGS__);                                                                     \
    }
SOAK(lock_in_any_order, KIND_LOCK, 1, false)
SOAK(lock_in_fifo_order, KIND_LOCK, 1, true)
SOAK(semaphore_of_two_in_any_order, KIND_SEMAPHORE, 2, false)
SOAK(semaphore_of_two_in_fifo_order, KIND_SEMAPHORE, 2, true)
SOAK(semaphore_of_three_in_any_order, KIND_SEMAPHORE, 3, false)
SOAK(bounded_of_two_in_any_order, KIND_BOUNDED, 2, false)
