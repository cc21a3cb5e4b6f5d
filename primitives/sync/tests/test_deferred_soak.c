/* Random guests against a simple model. A guest starts to wait, releases, cancels somebody, gives
 * somebody an error by hand, from outside and in its callback, and uses its waiter again as soon as
 * its callback runs. The model is three arrays: who waits, whose callbacks are due, and in what
 * order. It is told of every deed before the primitive is. A seed is a whole run. */
#include "primitives/sync/tests/stage_deferred.h"

#define SEEDS 10000u
#define DEEDS 60u
#define DEEDS_IN_A_CALLBACK 5u
#define TASKS 5u
#define ROUNDS 6u

struct list {
    uint32_t ids[GUESTS];
    uint32_t count;
};

struct soak;

struct soak_guest {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair pair;
    struct soak *soak;
};

struct soak {
    enum kind kind;
    uint32_t permits;
    uint64_t seed;
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct bz_deferred_lock lock;
    struct bz_deferred_semaphore semaphore;
    struct soak_guest guests[GUESTS];
    struct tst_draw draw;
    /* the model */
    uint32_t free;
    struct list waiting;
    struct list due;
    struct list fresh;
    enum bz_status expected[GUESTS]; /* what the callback of one that is due will be told */
    bool is_inside;                  /* in a callback */
    /* How often the interesting things happened, over all seeds. */
    uint64_t grants;
    uint64_t cancels;
    uint64_t cancels_of_granted;
    uint64_t errors;
    uint64_t refusals;
    uint64_t reuses;
};

#define soak_assert(soak, condition)                                                               \
    do {                                                                                           \
        bool does_hold = (condition);                                                              \
        cr_assert(does_hold, "'%s' does not hold, seed %u", #condition, (unsigned)(soak)->seed);   \
    } while (0)

static void push(struct list *list, uint32_t id) {
    list->ids[list->count++] = id;
}

static uint32_t place_of(const struct list *list, uint32_t id) {
    uint32_t place = 0;
    while (place < list->count && list->ids[place] != id) {
        place++;
    }
    return place;
}

static void remove_at(struct list *list, uint32_t place) {
    list->count--;
    memmove(&list->ids[place], &list->ids[place + 1], (list->count - place) * sizeof list->ids[0]);
}

static bool holds(const struct list *list, uint32_t id) {
    return place_of(list, id) < list->count;
}

/* --- the primitive, whichever it is ----------------------------------------------------------- */

static void soak_compare(struct soak *soak) {
    struct bz_deferred_waitq *queue =
        soak->kind == KIND_LOCK ? &soak->lock.queue : &soak->semaphore.queue;
    uint32_t free = soak->kind == KIND_LOCK ? !soak->lock.is_locked : soak->semaphore.tokens;
    soak_assert(soak, free == soak->free);
    soak_assert(soak, queue->waiting_count == soak->waiting.count);
    uint32_t place = 0;
    for (struct bz_list *link = queue->waiting.next; link != &queue->waiting; link = link->next) {
        struct soak_guest *guest = bz_container_of(link, struct soak_guest, waiter.link);
        soak_assert(soak, (uint32_t)(guest - soak->guests) == soak->waiting.ids[place]);
        place++;
    }
    soak_assert(soak, place == soak->waiting.count);
}

/* --- deeds ------------------------------------------------------------------------------------ */

static struct bz_deferred_result soak_callback(struct bz_deferred_pair *pair,
                                               struct bz_deferred_result result);

static void model_fires(struct soak *soak, uint32_t id, enum bz_status status) {
    soak->expected[id] = status;
    push(&soak->fresh, id);
}

static void do_acquire(struct soak *soak, uint32_t id) {
    if (holds(&soak->waiting, id) || holds(&soak->due, id) || holds(&soak->fresh, id)) {
        return;
    }
    soak->reuses += soak->is_inside;
    if (soak->free > 0) {
        soak->free--;
        soak->grants++;
        model_fires(soak, id, BZ_OK);
    } else {
        push(&soak->waiting, id);
    }
    if (soak->kind == KIND_LOCK) {
        bz_deferred_lock_acquire(&soak->lock, &soak->guests[id].waiter);
    } else {
        bz_deferred_semaphore_acquire(&soak->semaphore, &soak->guests[id].waiter);
    }
    bz_deferred_add_both(&soak->guests[id].waiter.deferred, &soak->guests[id].pair, soak_callback);
}

static void do_release(struct soak *soak) {
    bool is_refused = soak->free == soak->permits;
    soak->refusals += is_refused;
    if (!is_refused && soak->waiting.count > 0) {
        soak->grants++;
        model_fires(soak, soak->waiting.ids[0], BZ_OK);
        remove_at(&soak->waiting, 0);
    } else if (!is_refused) {
        soak->free++;
    }
    tst_status(soak->kind == KIND_LOCK ? bz_deferred_lock_release(&soak->lock)
                                       : bz_deferred_semaphore_release(&soak->semaphore),
               is_refused ? BZ_NOT_HELD : BZ_OK);
}

/* Cancel or error: both take a waiter out, and neither does anything to one that was granted. */
static void do_strike(struct soak *soak, uint32_t id, enum bz_status status) {
    uint32_t place = place_of(&soak->waiting, id);
    bool is_waiting = place < soak->waiting.count;
    bool is_fired = !is_waiting && (holds(&soak->due, id) || holds(&soak->fresh, id));
    if (!is_waiting && !is_fired) {
        return; /* its storage may not have been used yet */
    }
    if (is_waiting) {
        remove_at(&soak->waiting, place);
        model_fires(soak, id, status);
    }
    struct bz_deferred *deferred = &soak->guests[id].waiter.deferred;
    if (status == BZ_CANCELLED) {
        soak->cancels += is_waiting;
        soak->cancels_of_granted += is_fired;
        cr_assert(eq(int, bz_deferred_cancel(deferred), is_waiting));
    } else {
        soak->errors += is_waiting;
        tst_status(bz_deferred_errback(deferred, status, 0), is_waiting ? BZ_OK : BZ_INVALID_STATE);
    }
}

static void do_something(struct soak *soak) {
    uint32_t id = tst_draw(&soak->draw, GUESTS);
    switch (tst_draw(&soak->draw, 8)) {
    case 0:
    case 1:
    case 2:
    case 3:
        do_acquire(soak, id);
        break;
    case 4:
    case 5:
        do_release(soak);
        break;
    case 6:
        do_strike(soak, id, BZ_CANCELLED);
        break;
    default:
        do_strike(soak, id, BZ_FAILED);
        break;
    }
    soak_compare(soak);
}

/* What a callback has fired is due before all that was due already. */
static void model_returns(struct soak *soak) {
    struct list due = soak->fresh;
    for (uint32_t place = 0; place < soak->due.count; place++) {
        push(&due, soak->due.ids[place]);
    }
    soak->due = due;
    soak->fresh.count = 0;
}

static struct bz_deferred_result soak_callback(struct bz_deferred_pair *pair,
                                               struct bz_deferred_result result) {
    struct soak_guest *guest = bz_container_of(pair, struct soak_guest, pair);
    struct soak *soak = guest->soak;
    uint32_t id = (uint32_t)(guest - soak->guests);
    soak_assert(soak, !soak->is_inside);
    model_returns(soak); /* the callback before this one */
    soak_assert(soak, soak->due.count > 0 && soak->due.ids[0] == id);
    remove_at(&soak->due, 0);
    soak_assert(soak, result.status == soak->expected[id]);
    soak_compare(soak);
    soak->is_inside = true;
    for (uint32_t count = tst_draw(&soak->draw, DEEDS_IN_A_CALLBACK); count > 0; count--) {
        do_something(soak);
    }
    soak->is_inside = false;
    return result;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void soak_run(struct soak *soak) {
    bz_trampoline_init(&soak->trampoline, soak->loop);
    bz_deferred_lock_init(&soak->lock, &soak->trampoline);
    tst_status(bz_deferred_semaphore_init(&soak->semaphore, &soak->trampoline, soak->permits),
               BZ_OK);
    soak->draw = tst_draw_seeded(soak->seed);
    soak->free = soak->permits;
    soak->waiting.count = 0;
    for (uint32_t id = 0; id < GUESTS; id++) {
        soak->guests[id].soak = soak;
    }
    for (uint32_t count = 0; count < DEEDS; count++) {
        do_something(soak);
        model_returns(soak);
        soak_assert(soak, soak->due.count == 0); /* all of it has run */
        soak_assert(soak, bz_list_is_empty(&soak->trampoline.due));
    }
}

static void soak_all(enum kind kind, uint32_t permits) {
    static struct soak soak;
    soak.kind = kind;
    soak.permits = permits;
    soak.loop = tst_begin();
    for (soak.seed = 0; soak.seed < SEEDS; soak.seed++) {
        soak_run(&soak);
    }
    /* A soak in which nothing happened has shown nothing. */
    cr_assert(lt(u64, SEEDS, soak.grants));
    cr_assert(lt(u64, SEEDS / 2, soak.cancels));
    cr_assert(lt(u64, SEEDS / 8, soak.cancels_of_granted));
    cr_assert(lt(u64, SEEDS / 2, soak.errors));
    cr_assert(lt(u64, SEEDS / 2, soak.refusals));
    cr_assert(lt(u64, SEEDS / 2, soak.reuses));
    tst_end(soak.loop);
}

Test(deferred_soak, lock) {
    soak_all(KIND_LOCK, 1);
}

Test(deferred_soak, semaphore_of_one) {
    soak_all(KIND_SEMAPHORE, 1);
}

Test(deferred_soak, semaphore_of_three) {
    soak_all(KIND_SEMAPHORE, 3);
}

/* --- tasks, in any order, with cancels -------------------------------------------------------- */

struct tasks {
    struct bz_loop *loop;
    struct bz_trampoline trampoline;
    struct bz_deferred_semaphore semaphore;
    struct tst_draw draw;
    uint64_t seed;
    uint32_t permits;
    uint32_t inside;
    uint64_t entered;
    uint64_t left_in_the_window;
    uint64_t left_waiting;
};

static enum bz_status visit(void *arg) {
    struct tasks *tasks = arg;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct bz_deferred_waiter waiter;
        struct bz_deferred_result got;
        bz_deferred_semaphore_acquire(&tasks->semaphore, &waiter);
        enum bz_status status = bz_deferred_await(&waiter.deferred, &got);
        if (status == BZ_OK) {
            tasks->entered++;
            tasks->inside++;
            cr_assert(le(u32, tasks->inside, tasks->permits), "seed %u", (unsigned)tasks->seed);
            for (uint32_t pause = tst_draw(&tasks->draw, 3); pause > 0; pause--) {
                (void)!bz_yield(tasks->loop); /* a guest that is cancelled here goes on */
            }
            tasks->inside--;
        }
        tasks->left_in_the_window += status != BZ_OK && got.status == BZ_OK;
        tasks->left_waiting += status != BZ_OK && got.status != BZ_OK;
        if (got.status == BZ_OK) {
            tst_status(bz_deferred_semaphore_release(&tasks->semaphore), BZ_OK);
        }
    }
    return BZ_OK;
}

static void tasks_run(struct tasks *tasks) {
    bz_loop_reset(tasks->loop);
    bz_trampoline_init(&tasks->trampoline, tasks->loop);
    tst_status(bz_deferred_semaphore_init(&tasks->semaphore, &tasks->trampoline, tasks->permits),
               BZ_OK);
    tasks->draw = tst_draw_seeded(tasks->seed);
    struct bz_task *spawned[TASKS];
    for (uint32_t index = 0; index < TASKS; index++) {
        spawned[index] = tst_spawn(tasks->loop, visit, tasks);
    }
    uint32_t ready;
    while ((ready = bz_driver_ready_count(tasks->loop)) > 0) {
        if (tst_draw(&tasks->draw, 5) == 0) {
            bz_task_cancel(spawned[tst_draw(&tasks->draw, TASKS)]);
        }
        bz_driver_step(tasks->loop, bz_driver_take(tasks->loop, tst_draw(&tasks->draw, ready)));
        struct bz_deferred_semaphore *semaphore = &tasks->semaphore;
        cr_assert(semaphore->tokens == 0 || semaphore->queue.waiting_count == 0,
                  "somebody waits for what is free, seed %u", (unsigned)tasks->seed);
    }
    for (uint32_t index = 0; index < TASKS; index++) {
        cr_assert(bz_task_is_done(spawned[index]), "deadlock, seed %u", (unsigned)tasks->seed);
    }
    cr_assert(eq(u32, tasks->semaphore.tokens, tasks->permits), "seed %u", (unsigned)tasks->seed);
}

Test(deferred_soak, tasks_in_any_order) {
    struct tasks tasks = {.loop = tst_begin()};
    for (tasks.seed = 0; tasks.seed < SEEDS; tasks.seed++) {
        tasks.permits = 1 + (uint32_t)tasks.seed % 2;
        tasks_run(&tasks);
    }
    cr_assert(lt(u64, SEEDS, tasks.entered));
    cr_assert(lt(u64, SEEDS / 8, tasks.left_in_the_window));
    cr_assert(lt(u64, SEEDS / 8, tasks.left_waiting));
    bz_loop_destroy(tasks.loop);
}
