/* Rules of the references where they differ from the primitives that ship: small timelines on the
 * loop as it ships, turn by turn. */
#include "primitives/tests/stage.h"
#include "scenarios/scenarios.h"
#include "scenarios/variants/variants.h"

/* --- the stage -------------------------------------------------------------------------------- */

/* One primitive of a variant. Words: "acquire" "release" "locked" of a lock, a semaphore or a
 * condition; "level" "waiting" "cancelled" report its view; "wait" "notify-N"; "put-N" "get"
 * "try-put-N" "try-get" of a queue for one item. */
struct reference {
    struct tst_stage stage;
    const struct bz_permit_ops *permits;
    const struct bz_condition_ops *condition;
    const struct bz_queue_ops *queue;
    void *instance;
};

static struct reference *reference_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct reference, stage);
}

#define LOCKING(operation_)                                                                        \
    (reference_of(call)->permits != NULL                                                           \
         ? reference_of(call)->permits->operation_(reference_of(call)->instance)                   \
         : reference_of(call)->condition->operation_(reference_of(call)->instance))
#define QUEUE(operation_, ...)                                                                     \
    (reference_of(call)->queue->operation_(reference_of(call)->instance, __VA_ARGS__))

TST_WORD(word_acquire, LOCKING(acquire))
TST_WORD(word_release, LOCKING(release))
TST_DEED(word_locked, tst_flag(call, "locked", LOCKING(locked)))
TST_WORD(word_notify, reference_of(call)->condition->notify(reference_of(call)->instance,
                                                            (uint32_t)tst_number(call->rest)))
TST_WORD(word_put, QUEUE(put, tst_number(call->rest), 0))
TST_WORD(word_try_put, QUEUE(try_put, tst_number(call->rest), 0))

/* It comes back with the lock, whatever the status is. */
static enum bz_status word_wait(struct tst_call *call) {
    const struct reference *reference = reference_of(call);
    enum bz_status status = reference->condition->wait(reference->instance);
    cr_assert(reference->condition->locked(reference->instance));
    return status;
}

/* "get", "try-get" */
static enum bz_status word_get(struct tst_call *call) {
    uint64_t value = 0;
    enum bz_status status = call->word[0] == 'g' ? QUEUE(get, &value) : QUEUE(try_get, &value);
    tst_report(call, "%u", (unsigned)value);
    return status;
}

static void report_view(struct tst_call *call) {
    const struct reference *reference = reference_of(call);
    struct bz_permit_view view = {.level = 0};
    if (reference->permits != NULL) {
        reference->permits->view(reference->instance, &view);
    }
    tst_count(call, "level", view.level);
    tst_count(call, "waiting", view.waiting);
    tst_count(call, "cancelled", view.cancelled);
}

static void *instance_of(struct bz_loop *loop, size_t bytes) {
    void *instance = bz_mem_alloc(bz_loop_mem(loop), bytes);
    cr_assert_not_null(instance);
    return instance;
}

/* The primitive of this kind, with so many permits. */
static void reference_begin(struct reference *reference, const struct bz_variant *variant,
                            enum bz_primitive kind, uint32_t permits) {
    static const struct tst_word words[] = {
        {"acquire", word_acquire},  {"release", word_release, .is_quiet = true},
        {"locked", word_locked},    {"wait", word_wait},
        {"notify-", word_notify},   {"put-", word_put},
        {"try-put-", word_try_put}, {"get", word_get},
        {"try-get", word_get},      {NULL, NULL}};
    enum bz_status status;
    *reference = (struct reference){.instance = NULL};
    tst_stage_begin(&reference->stage, (struct tst_cast){.words = words, .report = report_view});
    struct bz_loop *loop = reference->stage.loop;
    if (kind == BZ_PRIMITIVE_QUEUE) {
        reference->queue = variant->queue;
        reference->instance = instance_of(loop, variant->queue->instance_bytes);
        status = variant->queue->init(reference->instance, loop, BZ_QUEUE_ORDER_FIFO, 1);
    } else if (kind == BZ_PRIMITIVE_CONDITION) {
        reference->condition = variant->condition;
        reference->instance = instance_of(loop, variant->condition->instance_bytes);
        status = variant->condition->init(reference->instance, loop);
    } else {
        reference->permits = variant->permits[kind];
        reference->instance = instance_of(loop, variant->permits[kind]->instance_bytes);
        status = variant->permits[kind]->init(reference->instance, loop, permits);
    }
    tst_status(status, BZ_OK);
}

/* --- timelines -------------------------------------------------------------------------------- */

#define LOCK BZ_PRIMITIVE_LOCK, 1
#define SEMAPHORE BZ_PRIMITIVE_SEMAPHORE, 0
#define BOUNDED BZ_PRIMITIVE_BOUNDED, 1
#define CONDITION BZ_PRIMITIVE_CONDITION, 0
#define QUEUES BZ_PRIMITIVE_QUEUE, 0

/* b has it then, and c queues. */
#define WINDOW(is_locked)                                                                          \
    "acquire; b: acquire; turn release locked=" is_locked "; c: acquire;"                          \
    "turn -> b.acquire:ok; release turn -> c.acquire:ok; release"
#define CANCELLED_HEAD(waiting, cancelled)                                                         \
    "acquire; b-c: acquire; turn cancel-b release waiting=" waiting " cancelled=" cancelled        \
    " turn-2 -> b.acquire:cancelled c.acquire:ok; release"
#define FOUR "a: acquire; turn; b-d: acquire; release release release release"
/* The permit is promised, and not held. */
#define RELEASES_TWICE(status)                                                                     \
    "acquire; b: acquire; turn release level=1 release" status " => b.acquire:ok"
#define WAITS                                                                                      \
    "a-b: acquire ~wait release; turn -> a.acquire:ok b.acquire:ok; cancel-a turn-4 -> "           \
    "a.wait:cancelled"

Test(references_rules, timelines) {
    static const struct {
        const char *name;
        const struct bz_variant *variant;
        enum bz_primitive kind;
        uint32_t permits;
        const char *timeline;
    } rows[] = {
        /* gh-138121: false in the window, though a newcomer has to wait. */
        {"a_lock_is_not_locked_in_the_window", &bz_variant_asyncio_311, LOCK, WINDOW("no")},
        {"a_lock_is_not_locked_in_the_window", &bz_variant_asyncio_313, LOCK, WINDOW("no")},
        {"a_lock_is_locked_in_the_window", &bz_variant_twisted, LOCK, WINDOW("yes")},
        {"a_lock_is_locked_in_the_window", &bz_variant_buzzer, LOCK, WINDOW("yes")},
        /* The head alone is looked at; a cancelled one continues the chain when it resumes. */
        {"a_cancelled_head_passes_the_lock_on", &bz_variant_asyncio_313, LOCK,
         CANCELLED_HEAD("1", "1")},
        {"a_cancelled_head_passes_the_lock_on", &bz_variant_twisted, LOCK,
         CANCELLED_HEAD("0", "0")},
        /* gh-111693: a was woken, b, c and d queue behind it beside three free permits. */
        {"who_resumes_wakes_all_that_fit", &bz_variant_asyncio_313, SEMAPHORE,
         FOUR " turn -> a.acquire:ok; turn -> b.acquire:ok c.acquire:ok d.acquire:ok"},
        {"who_resumes_wakes_one", &bz_variant_asyncio_311, SEMAPHORE,
         FOUR
         " turn -> a.acquire:ok; turn -> b.acquire:ok; turn -> c.acquire:ok; turn -> d.acquire:ok"},
        /* The permit leaves the value at the wake-up: the bound takes the woken waiter for a
         * holder. */
        {"the_bound_counts_a_woken_waiter", &bz_variant_asyncio_311, BOUNDED, RELEASES_TWICE("")},
        {"the_bound_counts_a_woken_waiter", &bz_variant_asyncio_313, BOUNDED, RELEASES_TWICE("")},
        {"the_bound_counts_a_woken_waiter", &bz_variant_twisted, BOUNDED, RELEASES_TWICE("")},
        {"the_bound_knows_a_woken_waiter", &bz_variant_buzzer, BOUNDED,
         RELEASES_TWICE(":not-held")},
        /* Since 3.13 a cancelled waiter notifies another one, though nobody had notified it. */
        {"a_cancelled_wait_wakes_nobody", &bz_variant_asyncio_311, CONDITION,
         WAITS "; acquire notify-1 release turn-2 -> b.wait:ok"},
        {"a_cancelled_wait_wakes_another_since_313", &bz_variant_asyncio_313, CONDITION,
         WAITS " b.wait:ok; acquire notify-1 release turn-2"},
        {"a_cancelled_wait_wakes_nobody", &bz_variant_buzzer, CONDITION,
         WAITS "; acquire notify-1 release turn-2 -> b.wait:ok"},
        /* gh-83055: a queue of asyncio promises nothing to whom it has woken. */
        {"a_putter_may_be_overtaken_in_asyncio", &bz_variant_asyncio_311, QUEUES,
         "put-1; a: put-2; turn try-get=1 try-put-3 turn get=3 turn get=2 -> a.put-2:ok"},
        {"a_putter_may_be_overtaken_in_asyncio", &bz_variant_asyncio_313, QUEUES,
         "put-1; a: put-2; turn try-get=1 try-put-3 turn get=3 turn get=2 -> a.put-2:ok"},
        {"a_putter_is_not_overtaken_in_twisted", &bz_variant_twisted, QUEUES,
         "put-1; a: put-2; turn try-get=1 try-put-3:full turn get=2 -> a.put-2:ok"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct reference reference;
        tst_begin_row(rows[row].name);
        reference_begin(&reference, rows[row].variant, rows[row].kind, rows[row].permits);
        tst_play(&reference.stage, rows[row].timeline);
        tst_play(&reference.stage, "run ->");
        bz_loop_destroy(reference.stage.loop);
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
    struct bz_loop *loop = tst_begin();
    *chain = (struct chain){.ops = variant->deferred};
    chain->instance = instance_of(loop, chain->ops->instance_bytes);
    cr_assert(chain->ops->init(chain->instance, loop, 1) == BZ_OK);
    struct bz_deferred_request holder = {.answer = keep,
                                         .waiter = instance_of(loop, chain->ops->waiter_bytes)};
    chain->ops->acquire(chain->instance, &holder);
    struct chain_link *links = instance_of(loop, count * sizeof *links);
    for (uint32_t index = 0; index < count; index++) {
        links[index].chain = chain;
        links[index].request.answer = release_in_callback;
        links[index].request.waiter = instance_of(loop, chain->ops->waiter_bytes);
        chain->ops->acquire(chain->instance, &links[index].request);
    }
    cr_assert(chain->ops->release(chain->instance) == BZ_OK);
    if (chain->ops->queued != NULL && chain->answered < count) {
        /* The 200th fails before it has released: those behind it wait for ever. */
        cr_assert_eq(chain->ops->queued(chain->instance), count - chain->answered - 1);
    }
    bz_loop_destroy(loop);
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
