/* Rules of the references where they differ from the primitives that ship: small timelines on the
 * loop as it ships, turn by turn. */
#include <criterion/criterion.h>

#include "primitives/runtime/task.h"
#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"

#define TASKS_MAX 8u

struct stage {
    struct bz_loop *loop;
    const struct bz_variant *variant;
    const struct bz_permit_ops *ops; /* of the primitive under test, if it has permits */
    void *instance;
    uint32_t turn;
    uint32_t came[TASKS_MAX]; /* in which turn task 1, 2, ... was let in; 0: not yet */
    uint32_t order[TASKS_MAX];
    uint32_t order_count;
    uint64_t values[TASKS_MAX];
};

struct guest {
    struct stage *stage;
    struct bz_task *task;
    uint32_t number;
};

static void *instance_of(struct stage *stage, size_t bytes) {
    void *instance = bz_mem_alloc(bz_loop_mem(stage->loop), bytes);
    cr_assert_not_null(instance);
    return instance;
}

static void set_up(struct stage *stage, const struct bz_variant *variant,
                   enum bz_primitive primitive, uint32_t permits) {
    *stage = (struct stage){.loop = bz_loop_new(NULL), .variant = variant};
    if (primitive < BZ_PERMIT_PRIMITIVES) {
        stage->ops = variant->permits[primitive];
        stage->instance = instance_of(stage, stage->ops->instance_bytes);
        cr_assert(stage->ops->init(stage->instance, stage->loop, permits) == BZ_OK);
    }
}

static void run(struct stage *stage, bz_task_fn *director) {
    struct bz_task *task = bz_task_spawn(stage->loop, "director", 0, director, stage);
    cr_assert(bz_loop_run(stage->loop) == BZ_OK);
    cr_assert(bz_task_future(task)->status == BZ_OK);
    bz_loop_destroy(stage->loop);
}

static void yield(struct stage *stage) {
    cr_assert(bz_yield(stage->loop) == BZ_OK);
}

static void come(struct guest *guest) {
    struct stage *stage = guest->stage;
    stage->came[guest->number] = stage->turn;
    stage->order[stage->order_count++] = guest->number;
}

static enum bz_status acquire(void *arg) {
    struct guest *guest = arg;
    struct stage *stage = guest->stage;
    enum bz_status status = stage->ops->acquire(stage->instance);
    if (status == BZ_OK) {
        come(guest);
    }
    return status;
}

static void spawn(struct stage *stage, struct guest *guest, uint32_t number, bz_task_fn *fn) {
    *guest = (struct guest){.stage = stage, .number = number};
    guest->task = bz_task_spawn(stage->loop, "guest", number, fn, guest);
}

static void release(struct stage *stage) {
    cr_assert(stage->ops->release(stage->instance) == BZ_OK);
}

/* --- lock ------------------------------------------------------------------------------------- */

static bool window_says_locked;

static enum bz_status release_and_look(void *arg) {
    struct stage *stage = arg;
    struct guest b;
    struct guest c;
    cr_assert(stage->ops->acquire(stage->instance) == BZ_OK);
    spawn(stage, &b, 1, acquire);
    yield(stage);
    release(stage);
    window_says_locked = stage->ops->locked(stage->instance);
    spawn(stage, &c, 2, acquire);
    yield(stage); /* B has it now, and C queues */
    cr_assert_eq(stage->order_count, 1);
    cr_assert_eq(stage->order[0], 1);
    release(stage);
    yield(stage);
    cr_assert_eq(stage->order_count, 2);
    release(stage);
    return BZ_OK;
}

/* gh-138121: false in the window, though a newcomer has to wait. */
Test(references_rules, a_lock_is_not_locked_in_the_window) {
    static const struct bz_variant *const references[] = {&bz_variant_asyncio_311,
                                                          &bz_variant_asyncio_313};
    struct stage stage;
    for (int index = 0; index < 2; index++) {
        set_up(&stage, references[index], BZ_PRIMITIVE_LOCK, 1);
        run(&stage, release_and_look);
        cr_assert_eq(window_says_locked, false);
    }
    set_up(&stage, &bz_variant_twisted, BZ_PRIMITIVE_LOCK, 1);
    run(&stage, release_and_look);
    cr_assert(window_says_locked);
    set_up(&stage, &bz_variant_buzzer, BZ_PRIMITIVE_LOCK, 1);
    run(&stage, release_and_look);
    cr_assert(window_says_locked);
}

static enum bz_status cancel_head_and_release(void *arg) {
    struct stage *stage = arg;
    struct guest b;
    struct guest c;
    struct bz_permit_view view;
    cr_assert(stage->ops->acquire(stage->instance) == BZ_OK);
    spawn(stage, &b, 1, acquire);
    spawn(stage, &c, 2, acquire);
    yield(stage);
    bz_task_cancel(b.task);
    release(stage);
    stage->ops->view(stage->instance, &view);
    bool head_alone = stage->variant != &bz_variant_twisted;
    cr_assert_eq(view.cancelled, head_alone ? 1 : 0);
    cr_assert_eq(view.waiting, head_alone ? 1 : 0); /* C is woken by B, or was by us */
    yield(stage);
    yield(stage);
    cr_assert_eq(stage->order_count, 1);
    cr_assert_eq(stage->order[0], 2);
    release(stage);
    return BZ_OK;
}

/* The head alone is looked at; a cancelled one goes on with the chain when it resumes. */
Test(references_rules, a_cancelled_head_passes_the_lock_on) {
    struct stage stage;
    set_up(&stage, &bz_variant_asyncio_313, BZ_PRIMITIVE_LOCK, 1);
    run(&stage, cancel_head_and_release);
    set_up(&stage, &bz_variant_twisted, BZ_PRIMITIVE_LOCK, 1);
    run(&stage, cancel_head_and_release);
}

/* --- semaphore -------------------------------------------------------------------------------- */

static enum bz_status clock_turns(void *arg) {
    struct stage *stage = arg;
    for (stage->turn = 1; stage->turn < 10; stage->turn++) {
        yield(stage);
    }
    return BZ_OK;
}

static enum bz_status release_four(void *arg) {
    struct stage *stage = arg;
    struct guest guests[4];
    spawn(stage, &guests[0], 1, acquire);
    yield(stage);
    bz_task_detach(bz_task_spawn(stage->loop, "clock", 0, clock_turns, stage));
    for (uint32_t index = 1; index < 4; index++) {
        spawn(stage, &guests[index], index + 1, acquire);
    }
    for (int count = 0; count < 4; count++) {
        release(stage);
    }
    for (int turns = 0; turns < 6; turns++) {
        yield(stage); /* the guests are on this stack */
    }
    return BZ_OK;
}

/* gh-111693: A was woken, B, C and D queue behind it beside three free permits. */
Test(references_rules, who_resumes_wakes_all_that_fit_or_one) {
    struct stage stage;
    set_up(&stage, &bz_variant_asyncio_313, BZ_PRIMITIVE_SEMAPHORE, 0);
    run(&stage, release_four);
    cr_assert_eq(stage.order_count, 4);
    cr_assert_eq(stage.came[2], stage.came[3]);
    cr_assert_eq(stage.came[3], stage.came[4]);
    set_up(&stage, &bz_variant_asyncio_311, BZ_PRIMITIVE_SEMAPHORE, 0);
    run(&stage, release_four);
    cr_assert_eq(stage.order_count, 4);
    cr_assert_eq(stage.came[3], stage.came[2] + 1);
    cr_assert_eq(stage.came[4], stage.came[3] + 1);
}

static enum bz_status second_release;

static enum bz_status release_twice(void *arg) {
    struct stage *stage = arg;
    struct guest b;
    struct bz_permit_view view;
    cr_assert(stage->ops->acquire(stage->instance) == BZ_OK);
    spawn(stage, &b, 1, acquire);
    yield(stage);
    release(stage);
    stage->ops->view(stage->instance, &view);
    cr_assert_eq(view.level, 1); /* promised, and not held */
    second_release = stage->ops->release(stage->instance);
    yield(stage);
    cr_assert_eq(stage->order_count, 1);
    return BZ_OK;
}

/* The permit leaves the value at the wake-up: the bound takes the woken waiter for a holder. */
Test(references_rules, the_bound_counts_a_woken_waiter) {
    static const struct bz_variant *const references[] = {
        &bz_variant_asyncio_311, &bz_variant_asyncio_313, &bz_variant_twisted};
    struct stage stage;
    for (int index = 0; index < 3; index++) {
        set_up(&stage, references[index], BZ_PRIMITIVE_BOUNDED, 1);
        run(&stage, release_twice);
        cr_assert_eq(second_release, BZ_OK, "%s", references[index]->name);
    }
    set_up(&stage, &bz_variant_buzzer, BZ_PRIMITIVE_BOUNDED, 1);
    run(&stage, release_twice);
    cr_assert_eq(second_release, BZ_NOT_HELD);
}

/* --- condition -------------------------------------------------------------------------------- */

static enum bz_status wait_once(void *arg) {
    struct guest *guest = arg;
    const struct bz_condition_ops *ops = guest->stage->variant->condition;
    void *instance = guest->stage->instance;
    cr_assert(ops->acquire(instance) == BZ_OK);
    enum bz_status status = ops->wait(instance);
    if (status == BZ_OK) {
        come(guest);
    }
    cr_assert(ops->locked(instance));
    cr_assert(ops->release(instance) == BZ_OK);
    return status;
}

static enum bz_status cancel_unnotified(void *arg) {
    struct stage *stage = arg;
    const struct bz_condition_ops *ops = stage->variant->condition;
    struct guest a;
    struct guest b;
    spawn(stage, &a, 1, wait_once);
    spawn(stage, &b, 2, wait_once);
    yield(stage);
    bz_task_cancel(a.task);
    for (int turns = 0; turns < 4; turns++) {
        yield(stage);
    }
    uint32_t woken_by_cancel = stage->order_count;
    cr_assert(ops->acquire(stage->instance) == BZ_OK);
    cr_assert(ops->notify(stage->instance, 1) == BZ_OK);
    cr_assert(ops->release(stage->instance) == BZ_OK);
    yield(stage);
    yield(stage);
    cr_assert_eq(stage->order_count, 1);
    stage->turn = woken_by_cancel;
    return BZ_OK;
}

/* Since 3.13 a cancelled waiter notifies another one, though nobody had notified it. */
Test(references_rules, a_cancelled_wait_wakes_another_since_313) {
    static const struct bz_variant *const references[] = {
        &bz_variant_asyncio_311, &bz_variant_asyncio_313, &bz_variant_buzzer};
    static const uint32_t spurious[] = {0, 1, 0};
    for (int index = 0; index < 3; index++) {
        struct stage stage;
        const struct bz_condition_ops *ops = references[index]->condition;
        set_up(&stage, references[index], BZ_PRIMITIVE_CONDITION, 0);
        stage.instance = instance_of(&stage, ops->instance_bytes);
        cr_assert(ops->init(stage.instance, stage.loop) == BZ_OK);
        run(&stage, cancel_unnotified);
        cr_assert_eq(stage.turn, spurious[index], "%s", references[index]->name);
    }
}

/* --- queue ------------------------------------------------------------------------------------ */

static enum bz_status put_two(void *arg) {
    struct guest *guest = arg;
    return guest->stage->variant->queue->put(guest->stage->instance, 2, 0);
}

static enum bz_status barge(void *arg) {
    struct stage *stage = arg;
    const struct bz_queue_ops *ops = stage->variant->queue;
    struct guest putter;
    cr_assert(ops->put(stage->instance, 1, 0) == BZ_OK);
    spawn(stage, &putter, 1, put_two);
    yield(stage);
    cr_assert(ops->try_get(stage->instance, &stage->values[0]) == BZ_OK);
    enum bz_status barged = ops->try_put(stage->instance, 3, 0); /* before the putter resumes */
    stage->order_count = barged == BZ_OK;
    yield(stage);
    for (uint32_t index = 1; index <= 1 + stage->order_count; index++) {
        cr_assert(ops->get(stage->instance, &stage->values[index]) == BZ_OK);
    }
    return BZ_OK;
}

/* gh-83055: a queue of asyncio promises nothing to whom it has woken. */
Test(references_rules, a_putter_may_be_overtaken_in_asyncio) {
    static const struct bz_variant *const references[] = {
        &bz_variant_asyncio_311, &bz_variant_asyncio_313, &bz_variant_twisted};
    for (int index = 0; index < 3; index++) {
        struct stage stage;
        const struct bz_queue_ops *ops = references[index]->queue;
        bool barges = references[index] != &bz_variant_twisted;
        set_up(&stage, references[index], BZ_PRIMITIVE_QUEUE, 0);
        stage.instance = instance_of(&stage, ops->instance_bytes);
        cr_assert(ops->init(stage.instance, stage.loop, BZ_QUEUE_ORDER_FIFO, 1) == BZ_OK);
        run(&stage, barge);
        cr_assert_eq(stage.order_count, barges);
        cr_assert_eq(stage.values[0], 1);
        cr_assert_eq(stage.values[1], barges ? 3 : 2, "%s", references[index]->name);
    }
}

/* --- deferred --------------------------------------------------------------------------------- */

struct chain_link {
    struct bz_deferred_request request;
    struct chain *chain;
};

struct chain {
    const struct bz_deferred_ops *ops;
    void *instance;
    uint32_t answered;
    uint32_t depth;
    uint32_t depth_most;
};

static void release_in_callback(struct bz_deferred_request *request, enum bz_status status) {
    struct chain *chain = bz_container_of(request, struct chain_link, request)->chain;
    cr_assert(status == BZ_OK);
    chain->answered++;
    chain->depth++;
    chain->depth_most = chain->depth > chain->depth_most ? chain->depth : chain->depth_most;
    cr_assert(chain->ops->release(chain->instance) == BZ_OK);
    chain->depth--;
}

static void keep(struct bz_deferred_request *request, enum bz_status status) {
    (void)request;
    cr_assert(status == BZ_OK);
}

static void run_chain(struct chain *chain, const struct bz_variant *variant, uint32_t count) {
    struct stage stage;
    set_up(&stage, variant, BZ_PRIMITIVE_DEFERRED, 0);
    *chain = (struct chain){.ops = variant->deferred};
    chain->instance = instance_of(&stage, chain->ops->instance_bytes);
    cr_assert(chain->ops->init(chain->instance, stage.loop, 1) == BZ_OK);
    struct bz_deferred_request holder = {.answer = keep,
                                         .waiter = instance_of(&stage, chain->ops->waiter_bytes)};
    chain->ops->acquire(chain->instance, &holder);
    struct chain_link *links = instance_of(&stage, count * sizeof *links);
    for (uint32_t index = 0; index < count; index++) {
        links[index].chain = chain;
        links[index].request.answer = release_in_callback;
        links[index].request.waiter = instance_of(&stage, chain->ops->waiter_bytes);
        chain->ops->acquire(chain->instance, &links[index].request);
    }
    cr_assert(chain->ops->release(chain->instance) == BZ_OK);
    if (chain->ops->queued != NULL && chain->answered < count) {
        /* The 200th fails before it has released: those behind it wait for ever. */
        cr_assert_eq(chain->ops->queued(chain->instance), count - chain->answered - 1);
    }
    bz_loop_destroy(stage.loop);
}

/* Twisted #9304, in numbers: of 200 waiters the last one fails; of 1000, 800 are stranded. */
Test(references_rules, twisted_callbacks_nest_until_the_stack_is_full) {
    struct chain chain;
    run_chain(&chain, &bz_variant_twisted, BZ_TWISTED_NESTING_MAX);
    cr_assert_eq(chain.answered, BZ_TWISTED_NESTING_MAX);
    cr_assert_eq(chain.depth_most, BZ_TWISTED_NESTING_MAX);
    run_chain(&chain, &bz_variant_twisted, 1000);
    cr_assert_eq(chain.answered, 199);
    run_chain(&chain, &bz_variant_buzzer, 1000);
    cr_assert_eq(chain.answered, 1000);
    cr_assert_eq(chain.depth_most, 1);
}
