/* Random guests, random cancels, any order of steps, against a model that follows the runtime's
 * events and knows nothing of how the primitive works: who arrived when, who was granted, who
 * holds. A seed is a whole run; the seeds are looped inside a test. */
#include "primitives/sync/tests/stage_permits.h"

#define TASKS 6u
#define ROUNDS 6u
#define SEEDS 10000u

enum place {
    PLACE_OUTSIDE = 0,
    PLACE_CALLING = 1, /* inside acquire, has not suspended */
    PLACE_QUEUED = 2,
    PLACE_GRANTED = 3,   /* woken with a permit, not resumed */
    PLACE_CANCELLED = 4, /* cancelled, not resumed */
    PLACE_TAKEN = 5,     /* granted, and resumed with it */
    PLACE_LEFT = 6,      /* granted, and resumed without it: cancelled in the window */
};

struct soak {
    struct stage stage;
    struct tst_draw draw;
    struct bz_observer observer;
    uint64_t seed;
    enum place place[TASKS + 1]; /* by number of the task */
    uint32_t queue[TASKS];       /* who is queued, oldest first */
    uint32_t queued;
    uint32_t granted;
    uint32_t holders;
    uint32_t permits;
    /* How often the interesting things happened, over all seeds. */
    uint64_t window_cancels;
    uint64_t queue_cancels;
    uint64_t grants;
};

/* --- the model -------------------------------------------------------------------------------- */

static void queue_remove(struct soak *soak, uint32_t id) {
    uint32_t index = 0;
    while (index < soak->queued && soak->queue[index] != id) {
        index++;
    }
    cr_assert(lt(u32, index, soak->queued), "seed %u", (unsigned)soak->seed);
    soak->queued--;
    memmove(&soak->queue[index], &soak->queue[index + 1],
            (soak->queued - index) * sizeof soak->queue[0]);
}

static void on_wake(struct soak *soak, uint32_t id, enum bz_status status) {
    if (soak->place[id] != PLACE_QUEUED) {
        return;
    }
    if (status == BZ_CANCELLED) {
        queue_remove(soak, id);
        soak->place[id] = PLACE_CANCELLED;
        soak->queue_cancels++;
        return;
    }
    cr_assert(eq(u32, soak->queue[0], id), "not the oldest; seed %u", (unsigned)soak->seed);
    queue_remove(soak, id);
    soak->place[id] = PLACE_GRANTED;
    soak->granted++;
    soak->grants++;
    cr_assert(le(u32, soak->holders + soak->granted, soak->permits), "seed %u",
              (unsigned)soak->seed);
}

static void model_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t id,
                         uint8_t status, uint32_t arg) {
    struct soak *soak = bz_container_of(observer, struct soak, observer);
    (void)arg;
    if (kind == BZ_EVENT_SUSPEND && soak->place[id] == PLACE_CALLING) {
        soak->place[id] = PLACE_QUEUED;
        soak->queue[soak->queued++] = id;
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(soak, id, (enum bz_status)status);
    } else if (kind == BZ_EVENT_RESUME && soak->place[id] == PLACE_GRANTED) {
        bool is_taken = status == BZ_OK;
        soak->granted--;
        soak->holders += is_taken;
        soak->place[id] = is_taken ? PLACE_TAKEN : PLACE_LEFT;
    } else if (kind == BZ_EVENT_CANCEL && soak->place[id] == PLACE_GRANTED) {
        soak->window_cancels++;
    }
}

/* After every step: nobody waits needlessly, and what is free agrees with the primitive. */
static void model_check(struct soak *soak) {
    uint32_t level = soak->permits - soak->holders;
    struct bz_waitq *queue = stage_queue(&soak->stage);
    cr_assert(eq(u64, stage_level(&soak->stage), level), "seed %u", (unsigned)soak->seed);
    cr_assert(eq(u32, queue->waiting_count, soak->queued), "seed %u", (unsigned)soak->seed);
    cr_assert(eq(u32, queue->woken_count, soak->granted), "seed %u", (unsigned)soak->seed);
    if (soak->queued > 0 && soak->granted == 0) {
        cr_assert(eq(u32, level, 0), "lost wake-up, seed %u", (unsigned)soak->seed);
    }
    stage_check(&soak->stage);
}

/* --- guests ----------------------------------------------------------------------------------- */

static bool soak_acquire(struct soak *soak, uint32_t id) {
    bool was_free = soak->permits > soak->holders && soak->queued == 0 && soak->granted == 0;
    cr_assert(eq(int, stage_locked(&soak->stage), !was_free), "seed %u", (unsigned)soak->seed);
    soak->place[id] = PLACE_CALLING;
    enum bz_status status = stage_acquire(&soak->stage);
    enum place place = soak->place[id];
    soak->place[id] = PLACE_OUTSIDE;
    if (status == BZ_OK) {
        soak->holders += place == PLACE_CALLING;
        cr_assert(place == PLACE_TAKEN || (place == PLACE_CALLING && was_free),
                  "took what it was not given, seed %u", (unsigned)soak->seed);
        return true;
    }
    tst_status(status, BZ_CANCELLED);
    cr_assert(place == PLACE_LEFT || place == PLACE_CANCELLED, "seed %u", (unsigned)soak->seed);
    return false;
}

static enum bz_status soak_guest(void *arg) {
    struct soak *soak = arg;
    uint32_t id = bz_task_id(bz_loop_current(soak->stage.loop));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool holds = soak_acquire(soak, id);
        for (uint32_t pause = tst_draw(&soak->draw, 3); pause > 0; pause--) {
            (void)!bz_yield(soak->stage.loop); /* a guest that is cancelled here goes on */
        }
        if (holds) {
            soak->holders--;
            tst_status(stage_release(&soak->stage), BZ_OK);
        }
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void soak_run(struct soak *soak, enum kind kind, uint32_t permits, bool is_fifo) {
    struct bz_loop *loop = soak->stage.loop;
    bz_loop_reset(loop);
    soak->stage = (struct stage){.kind = kind, .permits = permits, .loop = loop};
    bz_lock_init(&soak->stage.lock, loop);
    bz_semaphore_init(&soak->stage.semaphore, loop, permits);
    if (kind == KIND_BOUNDED) {
        bz_semaphore_init_bounded(&soak->stage.semaphore, loop, permits);
    }
    memset(soak->place, 0, sizeof soak->place);
    soak->queued = 0;
    soak->granted = 0;
    soak->holders = 0;
    soak->permits = permits;
    soak->draw = tst_draw_seeded(soak->seed);
    soak->observer.report = model_report;
    bz_driver_observe(loop, &soak->observer);
    struct bz_task *tasks[TASKS];
    for (uint32_t index = 0; index < TASKS; index++) {
        tasks[index] = tst_spawn(loop, soak_guest, soak);
    }
    while (bz_driver_ready_count(loop) > 0) {
        if (tst_draw(&soak->draw, 5) == 0) {
            bz_task_cancel(tasks[tst_draw(&soak->draw, TASKS)]);
        }
        uint32_t ready = bz_driver_ready_count(loop);
        bz_driver_step(loop, bz_driver_take(loop, is_fifo ? 0 : tst_draw(&soak->draw, ready)));
        model_check(soak);
    }
    for (uint32_t index = 0; index < TASKS; index++) {
        cr_assert(bz_task_is_done(tasks[index]), "deadlock, seed %u", (unsigned)soak->seed);
    }
    cr_assert(eq(u32, soak->holders, 0));
    stage_expect_queue(&soak->stage, 0, 0, 0);
}

static void soak_all(enum kind kind, uint32_t permits, bool is_fifo) {
    static struct soak soak;
    soak.stage.loop = tst_begin();
    for (soak.seed = 0; soak.seed < SEEDS; soak.seed++) {
        soak_run(&soak, kind, permits, is_fifo);
    }
    /* A soak that never came to the window has shown nothing. */
    cr_assert(lt(u64, SEEDS, soak.grants));
    cr_assert(lt(u64, SEEDS / 4, soak.window_cancels));
    cr_assert(lt(u64, SEEDS / 4, soak.queue_cancels));
    bz_loop_destroy(soak.stage.loop);
}

Test(soak, lock_in_any_order) {
    soak_all(KIND_LOCK, 1, false);
}

Test(soak, lock_in_fifo_order) {
    soak_all(KIND_LOCK, 1, true);
}

Test(soak, semaphore_of_two_in_any_order) {
    soak_all(KIND_SEMAPHORE, 2, false);
}

Test(soak, semaphore_of_two_in_fifo_order) {
    soak_all(KIND_SEMAPHORE, 2, true);
}

Test(soak, semaphore_of_three_in_any_order) {
    soak_all(KIND_SEMAPHORE, 3, false);
}

Test(soak, bounded_of_two_in_any_order) {
    soak_all(KIND_BOUNDED, 2, false);
}
