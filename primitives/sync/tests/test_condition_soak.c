/* Random guests at a condition, random cancels, any order of steps, against a model that follows
 * the runtime's events: who waits, who was notified, and how many notifications are under way. A
 * notification comes from a notify, or from a notified waiter that was cancelled; each wakes the
 * oldest, none is lost while somebody waits, and nobody is woken without one. */
#include "primitives/sync/tests/stage_hall.h"

#define TASKS 6u
#define ROUNDS 6u
#define SEEDS 6000u

enum place {
    PLACE_OUTSIDE = 0,
    PLACE_CALLING = 1, /* inside wait, has not suspended */
    PLACE_WAITING = 2,
    PLACE_NOTIFIED = 3, /* and not resumed */
    PLACE_RETURNING = 4,
};

struct guest {
    enum place place;
    bool has_notification; /* and has not used it, or handed it on */
    bool was_cancelled;    /* during the wait */
};

struct soak {
    struct bz_loop *loop;
    struct bz_lock lock;
    struct bz_condition condition;
    struct tst_draw draw;
    struct bz_observer observer;
    uint64_t seed;
    struct guest guests[TASKS + 1]; /* by number of the task */
    uint32_t line[TASKS];           /* who waits, oldest first */
    uint32_t waiting;
    uint32_t notifications; /* that must reach somebody in this very step */
    uint32_t holder;        /* of the lock; 0: nobody */
    uint64_t handed_on;
    uint64_t notified;
    uint64_t cancelled_waiting;
    uint64_t cancelled_relocking;
};

#define SEED(soak) (unsigned)(soak)->seed

/* --- the model -------------------------------------------------------------------------------- */

static void line_remove(struct soak *soak, uint32_t id) {
    uint32_t index = 0;
    while (index < soak->waiting && soak->line[index] != id) {
        index++;
    }
    cr_assert(lt(u32, index, soak->waiting), "seed %u", SEED(soak));
    soak->waiting--;
    memmove(&soak->line[index], &soak->line[index + 1],
            (soak->waiting - index) * sizeof soak->line[0]);
}

static void on_wake(struct soak *soak, uint32_t id, enum bz_status status) {
    struct guest *guest = &soak->guests[id];
    if (guest->place != PLACE_WAITING) {
        return;
    }
    if (status == BZ_CANCELLED) {
        guest->place = PLACE_RETURNING;
        soak->cancelled_waiting++;
    } else {
        cr_assert(lt(u32, 0, soak->notifications), "woken by nobody, seed %u", SEED(soak));
        cr_assert(eq(u32, soak->line[0], id), "not the oldest, seed %u", SEED(soak));
        soak->notifications--;
        soak->notified++;
        guest->place = PLACE_NOTIFIED;
        guest->has_notification = true;
    }
    line_remove(soak, id);
}

static void on_resume(struct soak *soak, uint32_t id, enum bz_status status) {
    struct guest *guest = &soak->guests[id];
    if (guest->place != PLACE_NOTIFIED && guest->place != PLACE_RETURNING) {
        return;
    }
    soak->cancelled_relocking += guest->place == PLACE_RETURNING && status == BZ_CANCELLED;
    guest->place = PLACE_RETURNING;
    if (status == BZ_CANCELLED) {
        guest->was_cancelled = true;
        bool hands_on = guest->has_notification && soak->waiting > 0; /* else it is spent */
        soak->notifications += hands_on;
        soak->handed_on += hands_on;
        guest->has_notification = false;
    }
}

static void model_report(struct bz_observer *observer, enum bz_event_kind kind, uint32_t id,
                         uint8_t status, uint32_t arg) {
    struct soak *soak = bz_container_of(observer, struct soak, observer);
    (void)arg;
    if (kind == BZ_EVENT_SUSPEND && soak->guests[id].place == PLACE_CALLING) {
        soak->guests[id].place = PLACE_WAITING;
        soak->line[soak->waiting++] = id;
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(soak, id, (enum bz_status)status);
    } else if (kind == BZ_EVENT_RESUME) {
        on_resume(soak, id, (enum bz_status)status);
    }
}

/* After every step. */
static void model_check(struct soak *soak) {
    cr_assert(eq(u32, soak->notifications, 0), "lost notification, seed %u", SEED(soak));
    hall_check_waiters(&soak->condition.queue);
    hall_check_waiters(&soak->lock.queue);
    cr_assert(eq(u32, soak->condition.queue.waiting_count, soak->waiting));
    cr_assert(eq(int, soak->lock.is_held, soak->holder != 0), "seed %u", SEED(soak));
}

/* --- guests ----------------------------------------------------------------------------------- */

static void soak_wait(struct soak *soak, uint32_t id) {
    soak->guests[id] = (struct guest){.place = PLACE_CALLING};
    soak->holder = 0;
    enum bz_status status = bz_condition_wait(&soak->condition);
    struct guest *guest = &soak->guests[id];
    cr_assert(eq(u32, soak->holder, 0), "two in one section, seed %u", SEED(soak));
    soak->holder = id;
    cr_assert(eq(int, guest->place, PLACE_RETURNING), "seed %u", SEED(soak));
    cr_assert(eq(int, guest->was_cancelled, status == BZ_CANCELLED),
              "cancellation swallowed or invented, seed %u", SEED(soak));
    cr_assert(eq(int, guest->has_notification, status == BZ_OK), "seed %u", SEED(soak));
    guest->place = PLACE_OUTSIDE;
}

static void soak_notify(struct soak *soak) {
    cr_assert(eq(u32, soak->notifications, 0), "seed %u", SEED(soak));
    uint32_t count = tst_draw(&soak->draw, 4);
    bool is_all = count == 3;
    uint32_t asked = is_all || count > soak->waiting ? soak->waiting : count;
    soak->notifications = asked;
    tst_status(is_all ? bz_condition_notify_all(&soak->condition)
                      : bz_condition_notify(&soak->condition, count),
               BZ_OK);
    cr_assert(eq(u32, soak->notifications, 0), "woke too few, seed %u", SEED(soak));
}

static enum bz_status soak_guest(void *arg) {
    struct soak *soak = arg;
    uint32_t id = bz_task_id(bz_loop_current(soak->loop));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (bz_lock_acquire(&soak->lock) != BZ_OK) {
            continue;
        }
        cr_assert(eq(u32, soak->holder, 0), "two in one section, seed %u", SEED(soak));
        soak->holder = id;
        uint32_t what = tst_draw(&soak->draw, 5);
        if (what < 3) {
            soak_wait(soak, id);
        } else {
            soak_notify(soak);
        }
        for (uint32_t pause = tst_draw(&soak->draw, 3); pause > 0; pause--) {
            (void)!bz_yield(soak->loop); /* a guest that is cancelled here goes on */
        }
        cr_assert(eq(u32, soak->holder, id), "seed %u", SEED(soak));
        soak->holder = 0;
        tst_status(bz_lock_release(&soak->lock), BZ_OK);
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void soak_begin(struct soak *soak) {
    bz_loop_reset(soak->loop);
    bz_lock_init(&soak->lock, soak->loop);
    bz_condition_init(&soak->condition, &soak->lock);
    memset(soak->guests, 0, sizeof soak->guests);
    soak->waiting = 0;
    soak->notifications = 0;
    soak->holder = 0;
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
    while (bz_loop_live_tasks(loop) > 0) {
        if (tst_draw(&soak->draw, 5) == 0) {
            bz_task_cancel(tasks[tst_draw(&soak->draw, TASKS)]);
            model_check(soak);
        }
        uint32_t ready = bz_driver_ready_count(loop);
        if (ready > 0) {
            bz_driver_step(loop, bz_driver_take(loop, is_fifo ? 0 : tst_draw(&soak->draw, ready)));
        } else { /* all who are left wait to be notified: the test does it */
            cr_assert(eq(u32, soak->waiting, bz_loop_live_tasks(loop)), "deadlock, seed %u",
                      SEED(soak));
            tst_status(bz_lock_acquire(&soak->lock), BZ_OK);
            soak_notify(soak);
            tst_status(bz_lock_release(&soak->lock), BZ_OK);
        }
        model_check(soak);
    }
    cr_assert(not(bz_lock_locked(&soak->lock)));
    hall_expect_queue(&soak->condition.queue, 0, 0, 0);
}

static void soak_all(bool is_fifo) {
    static struct soak soak;
    soak.loop = tst_begin();
    for (soak.seed = 0; soak.seed < SEEDS; soak.seed++) {
        soak_begin(&soak);
        soak_run(&soak, is_fifo);
    }
    /* A soak that never came to the windows has shown nothing. */
    cr_assert(lt(u64, SEEDS, soak.notified));
    cr_assert(lt(u64, SEEDS / 4, soak.handed_on));
    cr_assert(lt(u64, SEEDS / 4, soak.cancelled_waiting));
    cr_assert(lt(u64, SEEDS / 8, soak.cancelled_relocking));
    bz_loop_destroy(soak.loop);
}

Test(condition_soak, in_any_order) {
    soak_all(false);
}

Test(condition_soak, in_fifo_order) {
    soak_all(true);
}
