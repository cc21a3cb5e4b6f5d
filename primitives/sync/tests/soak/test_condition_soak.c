/* Condition against a model: who waits, who was notified, and how many notifications are under way.
 * A notification comes from a notify, or from a notified waiter that was cancelled; each wakes the
 * oldest, none is lost while somebody waits, and nobody is woken without one. */
#include "primitives/sync/condition.h"
#include "primitives/sync/tests/soak/stage_soak.h"
#include "primitives/sync/tests/stage_waiters.h"

#define TASKS 6u
#define SEEDS TST_SEEDS(6000u)

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

struct condition_soak {
    struct soak soak;
    struct bz_lock lock;
    struct bz_condition condition;
    struct guest guests[TASKS + 1]; /* by number of the task */
    struct line waiting;
    uint32_t notifications; /* that must reach somebody in this very step */
    uint32_t holder;        /* of the lock; 0: nobody */
    /* How often the interesting things happened, over all seeds. */
    uint64_t handed_on;
    uint64_t notified;
    uint64_t cancelled_waiting;
    uint64_t cancelled_relocking;
};

/* --- the model -------------------------------------------------------------------------------- */

static void on_wake(struct condition_soak *model, uint32_t id, enum bz_status status) {
    struct guest *guest = &model->guests[id];
    if (guest->place != PLACE_WAITING) {
        return;
    }
    if (status == BZ_CANCELLED) {
        guest->place = PLACE_RETURNING;
        model->cancelled_waiting++;
    } else {
        soak_assert(&model->soak, model->notifications > 0);    /* woken by somebody */
        soak_assert(&model->soak, model->waiting.ids[0] == id); /* the oldest */
        model->notifications--;
        model->notified++;
        guest->place = PLACE_NOTIFIED;
        guest->has_notification = true;
    }
    line_remove(&model->waiting, id);
}

static void on_resume(struct condition_soak *model, uint32_t id, enum bz_status status) {
    struct guest *guest = &model->guests[id];
    if (guest->place != PLACE_NOTIFIED && guest->place != PLACE_RETURNING) {
        return;
    }
    model->cancelled_relocking += guest->place == PLACE_RETURNING && status == BZ_CANCELLED;
    guest->place = PLACE_RETURNING;
    if (status == BZ_CANCELLED) {
        guest->was_cancelled = true;
        bool hands_on = guest->has_notification && model->waiting.count > 0; /* else it is spent */
        model->notifications += hands_on;
        model->handed_on += hands_on;
        guest->has_notification = false;
    }
}

static void on_event(struct soak *soak, enum bz_event_kind kind, uint32_t task, uint8_t status) {
    struct condition_soak *model = bz_container_of(soak, struct condition_soak, soak);
    if (kind == BZ_EVENT_SUSPEND && model->guests[task].place == PLACE_CALLING) {
        model->guests[task].place = PLACE_WAITING;
        line_push(&model->waiting, task);
    } else if (kind == BZ_EVENT_WAKE) {
        on_wake(model, task, (enum bz_status)status);
    } else if (kind == BZ_EVENT_RESUME) {
        on_resume(model, task, (enum bz_status)status);
    }
}

/* After every step. */
static void model_check(struct condition_soak *model) {
    soak_assert(&model->soak, model->notifications == 0); /* else one is lost */
    check_waiters(&model->condition.queue);
    check_waiters(&model->lock.queue);
    soak_assert(&model->soak, model->condition.queue.waiting_count == model->waiting.count);
    soak_assert(&model->soak, model->lock.is_held == (model->holder != 0));
}

/* --- guests ----------------------------------------------------------------------------------- */

static void guest_enter(struct condition_soak *model, uint32_t id) {
    soak_assert(&model->soak, model->holder == 0); /* else two are in one section */
    model->holder = id;
}

static void guest_wait(struct condition_soak *model, uint32_t id) {
    struct soak *soak = &model->soak;
    struct guest *guest = &model->guests[id];
    *guest = (struct guest){.place = PLACE_CALLING};
    model->holder = 0;
    enum bz_status status = bz_condition_wait(&model->condition);
    guest_enter(model, id);
    soak_assert(soak, guest->place == PLACE_RETURNING);
    soak_assert(soak, guest->was_cancelled == (status == BZ_CANCELLED));
    soak_assert(soak, guest->has_notification == (status == BZ_OK));
    guest->place = PLACE_OUTSIDE;
}

/* Notifies 0 to 2, or all. */
static void notify(struct condition_soak *model) {
    soak_assert(&model->soak, model->notifications == 0);
    uint32_t count = tst_draw(&model->soak.draw, 4);
    bool is_all = count == 3;
    model->notifications = is_all || count > model->waiting.count ? model->waiting.count : count;
    tst_status(is_all ? bz_condition_notify_all(&model->condition)
                      : bz_condition_notify(&model->condition, count),
               BZ_OK);
    soak_assert(&model->soak, model->notifications == 0); /* else it woke too few */
}

static enum bz_status guest(void *arg) {
    struct soak *soak = arg;
    struct condition_soak *model = bz_container_of(soak, struct condition_soak, soak);
    uint32_t id = bz_task_id(bz_loop_current(soak->loop));
    for (uint32_t round = 0; round < SOAK_ROUNDS; round++) {
        if (bz_lock_acquire(&model->lock) != BZ_OK) {
            continue;
        }
        guest_enter(model, id);
        if (tst_draw(&soak->draw, 5) < 3) {
            guest_wait(model, id);
        } else {
            notify(model);
        }
        soak_pause(soak);
        soak_assert(soak, model->holder == id);
        model->holder = 0;
        tst_status(bz_lock_release(&model->lock), BZ_OK);
    }
    return BZ_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run(struct condition_soak *model) {
    struct soak *soak = &model->soak;
    soak_begin(soak);
    bz_lock_init(&model->lock, soak->loop);
    bz_condition_init(&model->condition, &model->lock);
    memset(model->guests, 0, sizeof model->guests);
    model->waiting.count = 0;
    model->notifications = 0;
    model->holder = 0;
    soak_spawn(soak, TASKS, guest);
    while (bz_loop_live_tasks(soak->loop) > 0) {
        soak_cancel(soak, 5);
        model_check(model);
        if (soak_is_ready(soak)) {
            soak_step(soak);
        } else { /* all who are left wait to be notified: the test does it */
            soak_assert(soak, model->waiting.count == bz_loop_live_tasks(soak->loop));
            tst_status(bz_lock_acquire(&model->lock), BZ_OK);
            notify(model);
            tst_status(bz_lock_release(&model->lock), BZ_OK);
        }
        model_check(model);
    }
    soak_end(soak);
    cr_assert_not(bz_lock_locked(&model->lock));
    cr_assert_eq(model->condition.queue.woken_count, 0);
    cr_assert_eq(model->condition.queue.cancelled_count, 0);
}

static void soak_all(bool is_fifo) {
    static struct condition_soak model;
    struct soak *soak = &model.soak;
    soak->loop = tst_begin();
    soak->is_fifo = is_fifo;
    soak->on_event = on_event;
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        run(&model);
    }
    /* A soak that never came to the windows has shown nothing. */
    cr_assert_lt(SEEDS, model.notified);
    cr_assert_lt(SEEDS / 4, model.handed_on);
    cr_assert_lt(SEEDS / 4, model.cancelled_waiting);
    cr_assert_lt(SEEDS / 8, model.cancelled_relocking);
    bz_loop_destroy(soak->loop);
}

Test(condition_soak, in_any_order) {
    soak_all(false);
}

Test(condition_soak, in_fifo_order) {
    soak_all(true);
}
