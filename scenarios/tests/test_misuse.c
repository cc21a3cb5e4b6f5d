/* Calls that must be refused, and requests that are taken back: release of what no task holds, in
 * pools and in the scenario `model`, and cancels of deferred requests. */
#include "primitives/sync/deferred_semaphore.h"
#include "scenarios/tests/seeds.h"
#include "sim/model/model.h"

#define SEEDS 5000u
#define LEAST 1000u /* a fault is found in so many */

static void expect_found(const struct bz_scenario *scenario, const struct bz_variant *variant,
                         const char *settings, const char *oracle) {
    tst_expect_found_with(scenario, variant, settings, LEAST, oracle);
}

static void expect_silence(const struct bz_scenario *scenario, const struct bz_variant *variant,
                           const char *settings) {
    tst_expect_silence_with(scenario, variant, settings, SEEDS);
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
            tst_program_with(&bz_scenario_model, &bz_variant_buzzer, BZ_ORDER_ANY, "extras=1");
        program.args.primitive = bz_scenario_model.primitives[index];
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
Test(misuse, but_not_a_cancel_that_comes_too_late) {
    static const struct bz_variant variant = {.version = BZ_VARIANT_VERSION,
                                              .name = "later",
                                              .claims = BZ_CLAIM_REFUSES_MISUSE,
                                              .deferred = &bz_zoo_ops_faultless_deferred};
    expect_silence(&bz_scenario_deferred, &variant, "permits=1");
    expect_silence(&bz_scenario_deferred, &variant, "permits=3,cancels=3,rounds=3,hold=0");
}

Test(misuse, and_the_semaphore_by_its_run) {
    const struct bz_variant *variant = bz_catalog_variant(&tst_catalog, "buzzer/deferred-run");
    expect_silence(&bz_scenario_deferred, variant, "permits=1");
    expect_silence(&bz_scenario_deferred, variant, "permits=2,rounds=3,cancels=3");
}
