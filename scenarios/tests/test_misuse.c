/* Calls that must be refused, and requests that are taken back: release of what no task holds, in
 * pools and in the scenario `model`, and cancels of deferred requests. */
#include "primitives/runtime/loop.h"
#include "primitives/sync/deferred_semaphore.h"
#include "scenarios/tests/seeds.h"
#include "sim/model/model.h"
#include "sim/program/settings.h"

#define SEEDS 5000u
#define LEAST 1000u /* a fault is found in so many */

static struct bz_program program_of(const struct bz_scenario *scenario,
                                    const struct bz_variant *variant, enum bz_order order,
                                    const char *settings) {
    struct bz_program program = tst_program(scenario, variant, order);
    char error[BZ_ERROR_BYTES];
    cr_assert(bz_program_set_list(&program, settings, error, sizeof error), "%s", error);
    return program;
}

static void expect_found(const struct bz_scenario *scenario, const struct bz_variant *variant,
                         const char *settings, const char *oracle) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(scenario, variant, (enum bz_order)order, settings);
        struct tst_seeds result = tst_run_seeds(&program, LEAST);
        cr_assert_not_null((void *)result.violation.oracle, "%s, order %s", settings,
                           bz_order_name((enum bz_order)order));
        cr_assert_str_eq((char *)result.violation.oracle, (char *)oracle, "%s",
                         result.violation.message);
    }
}

static void expect_silence(const struct bz_scenario *scenario, const struct bz_variant *variant,
                           const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program = program_of(scenario, variant, (enum bz_order)order, settings);
        tst_expect_silence(&program, SEEDS);
    }
}

/* --- pools ------------------------------------------------------------------------------------ */

static enum bz_status accept(void *instance, uint64_t key) {
    enum bz_status status = bz_variant_buzzer.pool->release(instance, key);
    return status == BZ_NOT_HELD ? BZ_OK : status;
}

Test(misuse, of_a_key_that_no_task_holds) {
    struct bz_pool_ops pool = *bz_variant_buzzer.pool;
    struct bz_variant variant = bz_variant_buzzer;
    expect_silence(&bz_scenario_pool, &bz_variant_buzzer, "visits=3");
    pool.release = accept;
    variant.pool = &pool;
    expect_silence(&bz_scenario_pool, &variant, "visits=0");
    expect_found(&bz_scenario_pool, &variant, "visits=3", "misuse");
    variant.claims &= ~BZ_CLAIM_REFUSES_MISUSE;
    expect_silence(&bz_scenario_pool, &variant, "visits=3");
}

/* --- models ----------------------------------------------------------------------------------- */

static const struct bz_modelled_ops *ops_of_honest;

/* Refusals become acceptance. */
static enum bz_status call_and_accept(void *instance, uint32_t op, const int64_t *arguments,
                                      int64_t *answer) {
    enum bz_status status = ops_of_honest->call(instance, op, arguments, answer);
    *answer = *answer == -BZ_NOT_HELD ? 0 : *answer;
    return status;
}

static void expect_misuse_is_found(const char *name) {
    struct bz_variant variant = *bz_catalog_variant(&tst_catalog, name);
    struct bz_modelled_ops ops = *variant.modelled;
    ops_of_honest = variant.modelled;
    ops.call = call_and_accept;
    variant.modelled = &ops;
    expect_silence(&bz_scenario_model, &variant, "extras=0");
    expect_found(&bz_scenario_model, &variant, "extras=1", "misuse");
    variant.claims &= ~BZ_CLAIM_REFUSES_MISUSE;
    expect_silence(&bz_scenario_model, &variant, "extras=1");
}

Test(misuse, of_what_no_task_holds_in_a_model) {
    expect_misuse_is_found("buzzer/rwlock");
    expect_misuse_is_found("buzzer/weighted-semaphore");
}

static enum bz_status release_and_accept(void *instance) {
    enum bz_status status = bz_variant_buzzer.permits[BZ_PRIMITIVE_LOCK]->release(instance);
    return status == BZ_NOT_HELD ? BZ_OK : status;
}

/* Any task may release a plain semaphore. */
Test(misuse, of_a_lock_and_not_of_a_semaphore) {
    struct bz_permit_ops lock = *bz_variant_buzzer.permits[BZ_PRIMITIVE_LOCK];
    struct bz_variant variant = bz_variant_buzzer;
    lock.release = release_and_accept;
    variant.permits[BZ_PRIMITIVE_LOCK] = &lock;
    expect_found(&bz_scenario_model, &variant, "primitive=lock,extras=1", "misuse");
    expect_silence(&bz_scenario_model, &bz_variant_buzzer, "primitive=semaphore,extras=1");
}

/* Everything that is judged by a model, with all that its model marks as extra. */
Test(misuse, and_all_extras_of_what_ships) {
    for (const struct bz_variant *const *next = bz_variants; *next != NULL; next++) {
        if ((*next)->fault == NULL && bz_variant_offers(*next, BZ_PRIMITIVE_MODELLED)) {
            expect_silence(&bz_scenario_model, *next, "extras=1");
        }
    }
    for (uint32_t index = 0; index < bz_scenario_model.primitive_count; index++) {
        struct bz_program program =
            tst_program(&bz_scenario_model, &bz_variant_buzzer, BZ_ORDER_ANY);
        program.args.primitive = bz_scenario_model.primitives[index];
        char error[BZ_ERROR_BYTES];
        cr_assert(bz_program_set_list(&program, "extras=1", error, sizeof error));
        if (bz_variant_offers(&bz_variant_buzzer, program.args.primitive)) {
            tst_expect_silence(&program, SEEDS);
        }
    }
}

/* --- deferred requests ------------------------------------------------------------------------ */

static void cancel_nothing(void *instance, struct bz_deferred_request *request) {
    (void)instance;
    (void)request;
}

Test(misuse, and_a_cancel_that_does_nothing) {
    struct bz_deferred_ops ops = *bz_variant_buzzer.deferred;
    struct bz_variant variant = bz_variant_buzzer;
    ops.cancel = cancel_nothing;
    variant.deferred = &ops;
    expect_found(&bz_scenario_deferred, &variant, "permits=1", "cancel-delivered");
    expect_found(&bz_scenario_deferred, &variant, "permits=2", "cancel-delivered");
}

/* A correct design: every answer is a callback of its own, which the loop runs later. A cancel then
 * comes too late for a request whose permit is on its way. */
struct later {
    struct bz_loop *loop;
    struct bz_list waiting;
    uint32_t free;
    uint32_t limit;
};

struct later_waiter {
    struct bz_list link;
    struct bz_handle handle;
    struct bz_deferred_request *request;
    enum bz_status status;
};

static void answer_now(struct bz_handle *handle) {
    struct later_waiter *waiter = bz_container_of(handle, struct later_waiter, handle);
    waiter->request->answer(waiter->request, waiter->status);
}

static void answer_later(struct later *later, struct later_waiter *waiter, enum bz_status status) {
    bz_list_remove(&waiter->link);
    waiter->status = status;
    cr_assert(bz_loop_call_soon(later->loop, &waiter->handle, answer_now));
}

static void grant(struct later *later) {
    while (later->free > 0 && !bz_list_is_empty(&later->waiting)) {
        later->free--;
        answer_later(later, bz_container_of(later->waiting.next, struct later_waiter, link), BZ_OK);
    }
}

static enum bz_status later_init(void *instance, struct bz_loop *loop, uint32_t permits) {
    struct later *later = instance;
    *later = (struct later){.loop = loop, .free = permits, .limit = permits};
    bz_list_init(&later->waiting);
    return BZ_OK;
}

static void later_acquire(void *instance, struct bz_deferred_request *request) {
    struct later *later = instance;
    struct later_waiter *waiter = request->waiter;
    waiter->request = request;
    bz_list_push_back(&later->waiting, &waiter->link);
    grant(later);
}

static void later_cancel(void *instance, struct bz_deferred_request *request) {
    struct later_waiter *waiter = request->waiter;
    if (bz_list_is_linked(&waiter->link)) {
        answer_later(instance, waiter, BZ_CANCELLED);
    }
}

static enum bz_status later_release(void *instance) {
    struct later *later = instance;
    if (later->free == later->limit) {
        return BZ_NOT_HELD;
    }
    later->free++;
    grant(later);
    return BZ_OK;
}

Test(misuse, but_not_a_cancel_that_comes_too_late) {
    static const struct bz_deferred_ops ops = {
        .instance_bytes = sizeof(struct later),
        .waiter_bytes = sizeof(struct later_waiter),
        .init = later_init,
        .acquire = later_acquire,
        .cancel = later_cancel,
        .release = later_release,
    };
    static const struct bz_variant variant = {.version = BZ_VARIANT_VERSION,
                                              .name = "later",
                                              .claims = BZ_CLAIM_REFUSES_MISUSE,
                                              .deferred = &ops};
    expect_silence(&bz_scenario_deferred, &variant, "permits=1");
    expect_silence(&bz_scenario_deferred, &variant, "permits=3,cancels=3,rounds=3,hold=0");
}

Test(misuse, and_the_semaphore_by_its_run) {
    const struct bz_variant *variant = bz_catalog_variant(&tst_catalog, "buzzer/deferred-run");
    expect_silence(&bz_scenario_deferred, variant, "permits=1");
    expect_silence(&bz_scenario_deferred, variant, "permits=2,rounds=3,cancels=3");
}
