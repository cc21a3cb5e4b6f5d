/* Random guests against a simple model. A guest starts to wait, releases, cancels somebody, gives
 * somebody an error by hand, from outside and in its callback, and uses its waiter again as soon as
 * its callback runs. The model is three arrays: who waits, whose callbacks are due, and in what
 * order. It is told of every deed before the primitive is. A seed is a whole run. */
#include "primitives/sync/tests/soak/stage_soak.h"
#include "primitives/sync/tests/stage_deferred.h"

#define SEEDS TST_SEEDS(10000u)
#define DEEDS 60u
#define DEEDS_IN_A_CALLBACK 5u
#define TASKS 5u

struct model;

struct soak_guest {
    struct bz_deferred_waiter waiter;
    struct bz_deferred_pair pair;
    struct model *model;
};

struct model {
    struct soak soak;
    struct tokens tokens;
    struct soak_guest guests[GUESTS];
    uint32_t free;
    struct line waiting;
    struct line due;
    struct line fresh;
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

/* Compares the primitive with the model. */
static void model_compare(struct model *model) {
    struct bz_deferred_waitq *queue = tokens_queue(&model->tokens);
    soak_assert(&model->soak, tokens_free(&model->tokens) == model->free);
    soak_assert(&model->soak, queue->waiting_count == model->waiting.count);
    uint32_t place = 0;
    for (struct bz_list *link = queue->waiting.next; link != &queue->waiting; link = link->next) {
        struct soak_guest *guest = bz_container_of(link, struct soak_guest, waiter.link);
        soak_assert(&model->soak, (uint32_t)(guest - model->guests) == model->waiting.ids[place]);
        place++;
    }
    soak_assert(&model->soak, place == model->waiting.count);
}

static bool holds(const struct line *line, uint32_t id) {
    return line_find(line, id) < line->count;
}

/* Its callback has not run yet. */
static bool is_fired(const struct model *model, uint32_t id) {
    return holds(&model->due, id) || holds(&model->fresh, id);
}

/* --- deeds ------------------------------------------------------------------------------------ */

static struct bz_deferred_result guest_called(struct bz_deferred_pair *pair,
                                              struct bz_deferred_result result);

static void model_fires(struct model *model, uint32_t id, enum bz_status status) {
    model->expected[id] = status;
    line_push(&model->fresh, id);
}

static void do_acquire(struct model *model, uint32_t id) {
    if (holds(&model->waiting, id) || is_fired(model, id)) {
        return;
    }
    model->reuses += model->is_inside;
    if (model->free > 0) {
        model->free--;
        model->grants++;
        model_fires(model, id, BZ_OK);
    } else {
        line_push(&model->waiting, id);
    }
    tokens_acquire(&model->tokens, &model->guests[id].waiter);
    bz_deferred_add_both(&model->guests[id].waiter.deferred, &model->guests[id].pair, guest_called);
}

static void do_release(struct model *model) {
    bool is_refused = model->free == model->tokens.permits;
    model->refusals += is_refused;
    if (!is_refused && model->waiting.count > 0) {
        model->grants++;
        model_fires(model, model->waiting.ids[0], BZ_OK);
        line_remove_at(&model->waiting, 0);
    } else if (!is_refused) {
        model->free++;
    }
    tst_status(tokens_release(&model->tokens), is_refused ? BZ_NOT_HELD : BZ_OK);
}

/* Cancel or error: both take a waiter out, and neither does anything to one that was granted. */
static void do_strike(struct model *model, uint32_t id, enum bz_status status) {
    uint32_t place = line_find(&model->waiting, id);
    bool is_waiting = place < model->waiting.count;
    bool is_granted = !is_waiting && is_fired(model, id);
    if (!is_waiting && !is_granted) {
        return; /* its storage may not have been used yet */
    }
    if (is_waiting) {
        line_remove_at(&model->waiting, place);
        model_fires(model, id, status);
    }
    struct bz_deferred *deferred = &model->guests[id].waiter.deferred;
    if (status == BZ_CANCELLED) {
        model->cancels += is_waiting;
        model->cancels_of_granted += is_granted;
        cr_assert_eq(bz_deferred_cancel(deferred), is_waiting);
    } else {
        model->errors += is_waiting;
        tst_status(bz_deferred_errback(deferred, status, 0), is_waiting ? BZ_OK : BZ_INVALID_STATE);
    }
}

static void do_something(struct model *model) {
    uint32_t id = tst_draw(&model->soak.draw, GUESTS);
    uint32_t deed = tst_draw(&model->soak.draw, 8);
    if (deed < 4) {
        do_acquire(model, id);
    } else if (deed < 6) {
        do_release(model);
    } else {
        do_strike(model, id, deed == 6 ? BZ_CANCELLED : BZ_FAILED);
    }
    model_compare(model);
}

/* Deferreds that a callback fired run before those that were due already. */
static void model_returns(struct model *model) {
    struct line due = model->fresh;
    for (uint32_t place = 0; place < model->due.count; place++) {
        line_push(&due, model->due.ids[place]);
    }
    model->due = due;
    model->fresh.count = 0;
}

static struct bz_deferred_result guest_called(struct bz_deferred_pair *pair,
                                              struct bz_deferred_result result) {
    struct soak_guest *guest = bz_container_of(pair, struct soak_guest, pair);
    struct model *model = guest->model;
    uint32_t id = (uint32_t)(guest - model->guests);
    soak_assert(&model->soak, !model->is_inside);
    model_returns(model); /* the callback before this one */
    soak_assert(&model->soak, model->due.count > 0 && model->due.ids[0] == id);
    line_remove_at(&model->due, 0);
    soak_assert(&model->soak, result.status == model->expected[id]);
    model_compare(model);
    model->is_inside = true;
    for (uint32_t count = tst_draw(&model->soak.draw, DEEDS_IN_A_CALLBACK); count > 0; count--) {
        do_something(model);
    }
    model->is_inside = false;
    return result;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void run(struct model *model, enum kind kind, uint32_t permits) {
    struct soak *soak = &model->soak;
    tokens_init(&model->tokens, soak->loop, kind, permits);
    soak->draw = tst_draw_seeded(soak->seed);
    model->free = permits;
    model->waiting.count = 0;
    for (uint32_t id = 0; id < GUESTS; id++) {
        model->guests[id].model = model;
    }
    for (uint32_t count = 0; count < DEEDS; count++) {
        do_something(model);
        model_returns(model);
        soak_assert(soak, model->due.count == 0); /* all of it has run */
        soak_assert(soak, bz_list_is_empty(&model->tokens.trampoline.due));
    }
}

static void soak_all(enum kind kind, uint32_t permits) {
    static struct model model;
    struct soak *soak = &model.soak;
    soak->loop = tst_begin();
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        run(&model, kind, permits);
    }
    /* A soak in which nothing happened has shown nothing. */
    cr_assert_lt(SEEDS, model.grants);
    cr_assert_lt(SEEDS / 2, model.cancels);
    cr_assert_lt(SEEDS / 8, model.cancels_of_granted);
    cr_assert_lt(SEEDS / 2, model.errors);
    cr_assert_lt(SEEDS / 2, model.refusals);
    cr_assert_lt(SEEDS / 2, model.reuses);
    tst_end(soak->loop);
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

struct visits {
    struct soak soak;
    struct tokens tokens;
    uint32_t inside;
    uint64_t entered;
    uint64_t left_in_the_window;
    uint64_t left_waiting;
};

static enum bz_status visit(void *arg) {
    struct soak *soak = arg;
    struct visits *visits = bz_container_of(soak, struct visits, soak);
    for (uint32_t round = 0; round < SOAK_ROUNDS; round++) {
        struct bz_deferred_waiter waiter;
        struct bz_deferred_result got;
        tokens_acquire(&visits->tokens, &waiter);
        enum bz_status status = bz_deferred_await(&waiter.deferred, &got);
        if (status == BZ_OK) {
            visits->entered++;
            visits->inside++;
            soak_assert(soak, visits->inside <= visits->tokens.permits);
            soak_pause(soak);
            visits->inside--;
        }
        visits->left_in_the_window += status != BZ_OK && got.status == BZ_OK;
        visits->left_waiting += status != BZ_OK && got.status != BZ_OK;
        if (got.status == BZ_OK) {
            tst_status(tokens_release(&visits->tokens), BZ_OK);
        }
    }
    return BZ_OK;
}

Test(deferred_soak, tasks_in_any_order) {
    struct visits visits = {.soak = {.loop = tst_begin()}};
    struct soak *soak = &visits.soak;
    for (soak->seed = 0; soak->seed < SEEDS; soak->seed++) {
        uint32_t permits = 1 + (uint32_t)soak->seed % 2;
        soak_begin(soak);
        tokens_init(&visits.tokens, soak->loop, KIND_SEMAPHORE, permits);
        soak_spawn(soak, TASKS, visit);
        while (soak_is_ready(soak)) {
            soak_cancel(soak, 5);
            soak_step(soak);
            bool has_waiting = tokens_queue(&visits.tokens)->waiting_count > 0;
            soak_assert(soak, !has_waiting || tokens_free(&visits.tokens) == 0);
        }
        soak_end(soak);
        soak_assert(soak, tokens_free(&visits.tokens) == permits);
    }
    cr_assert_lt(SEEDS, visits.entered);
    cr_assert_lt(SEEDS / 8, visits.left_in_the_window);
    cr_assert_lt(SEEDS / 8, visits.left_waiting);
    bz_loop_destroy(soak->loop);
}
