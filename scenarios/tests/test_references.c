/* The references have their declared faults and no others.
 *
 * Each runs every scenario that has one of its primitives, under both orders. Each violation must
 * be a declared one. A declared fault ends its run and hides what would come later. So each
 * reference runs a second time without the claim that most runs break. Each declared fault must be
 * found where it says. */
#include <string.h>

#include "primitives/runtime/coro/san.h"
#include "scenarios/tests/seeds.h"
#include "scenarios/variants/variants.h"
#include "sim/native/internal.h"

#define SEEDS 10000u
#define SWEEP_SEEDS (BZ_SAN_ADDRESS ? SEEDS / 20 : TST_LONG(SEEDS / 8, SEEDS / 2))
#define MESSAGE_OF_RECURSION "callbacks nest "

static enum bz_primitive primitive_of(const struct bz_program *program,
                                      const struct bz_world *world) {
    uint32_t object = world->judge->violation.object;
    return object == 0 ? program->args.primitive : world->judge->shadow.objects[object].primitive;
}

static void expect_declared(const struct bz_program *program, const struct bz_world *world,
                            uint64_t seed) {
    const struct bz_violation *violation = bz_judge_violation(world->judge);
    const struct bz_fault *fault =
        bz_variant_declared(program->variant, primitive_of(program, world), violation->oracle);
    bool is_assertion = strcmp(violation->oracle, "assertion") == 0;
    bool says_so = !is_assertion || strncmp(violation->message, MESSAGE_OF_RECURSION,
                                            strlen(MESSAGE_OF_RECURSION)) == 0;
    cr_assert(fault != NULL && says_so, "%s on %s, %s, order %s, seed %llu: %s: %s",
              program->scenario->name, program->variant->name,
              bz_primitive_name(program->args.primitive), bz_order_name(program->order),
              (unsigned long long)seed, violation->oracle, violation->message);
}

/* Every run to its end or to its violation, over all seeds. */
static void expect_nothing_else(const struct bz_program *program) {
    struct bz_world *world = bz_program_new_world(program);
    cr_assert_not_null(world);
    for (uint64_t seed = 0; seed < SWEEP_SEEDS; seed++) {
        enum bz_run_end end = bz_program_run(program, world, seed);
        cr_assert(end != BZ_RUN_OUT_OF_STEPS, "%s on %s, seed %llu", program->scenario->name,
                  program->variant->name, (unsigned long long)seed);
        if (end == BZ_RUN_VIOLATED) {
            expect_declared(program, world, seed);
        }
    }
    bz_world_destroy(world);
}

static void run_all(const struct bz_variant *variant) {
    uint32_t programs = 0;
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (uint32_t index = 0; index < (*next)->primitive_count; index++) {
            if (!bz_variant_offers(variant, (*next)->primitives[index])) {
                continue;
            }
            for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
                struct bz_program program = tst_program(*next, variant, (enum bz_order)order);
                program.args.primitive = (*next)->primitives[index];
                expect_nothing_else(&program);
                programs++;
            }
        }
    }
    cr_assert_lt(10, programs);
}

/* As it is, and without the claims of its locks that end most runs early. */
static void run_reference(const struct bz_variant *variant) {
    struct bz_variant modest = *variant;
    run_all(variant);
    modest.waives[BZ_PRIMITIVE_LOCK] |= BZ_CLAIM_LOCKED_EXACT;
    run_all(&modest);
}

Test(references, asyncio_313_has_no_other_fault) {
    run_reference(&bz_variant_asyncio_313);
}

Test(references, asyncio_311_has_no_other_fault) {
    run_reference(&bz_variant_asyncio_311);
}

Test(references, twisted_has_no_other_fault) {
    run_reference(&bz_variant_twisted);
}

/* --- what is declared ------------------------------------------------------------------------- */

static bool is_found(const struct bz_variant *variant, const struct bz_fault *fault,
                     enum bz_order order) {
    struct bz_program program =
        tst_program_with(tst_scenario(fault->scenario), variant, order, fault->settings);
    struct bz_world *world = bz_program_new_world(&program);
    bool is_found = false;
    for (uint64_t seed = 0; seed < SEEDS && !is_found; seed++) {
        bool is_violated = bz_program_run(&program, world, seed) == BZ_RUN_VIOLATED;
        is_found = is_violated && strcmp(world->judge->violation.oracle, fault->oracle) == 0;
    }
    bz_world_destroy(world);
    return is_found;
}

static void expect_all_found(const struct bz_variant *variant, uint32_t count) {
    for (const struct bz_fault *const *fault = variant->declared; *fault != NULL; fault++) {
        cr_assert(tst_scenario((*fault)->scenario) != NULL, "%s", (*fault)->issue);
        cr_assert(is_found(variant, *fault, BZ_ORDER_ANY), "%s: %s", variant->name,
                  (*fault)->summary);
        bool is_owed = (*fault)->fifo_reachable;
        cr_assert(is_owed == false || is_found(variant, *fault, BZ_ORDER_FIFO),
                  "%s, order fifo: %s", variant->name, (*fault)->summary);
        count--;
    }
    cr_assert_eq(count, 0, "%s", variant->name);
}

Test(references, every_declared_fault_is_found) {
    expect_all_found(&bz_variant_asyncio_311, 7);
    expect_all_found(&bz_variant_asyncio_313, 4);
    expect_all_found(&bz_variant_twisted, 3);
}

/* A fault that is declared for one primitive is no excuse for another. */
Test(references, a_declaration_goes_by_primitive) {
    const struct bz_variant *asyncio = &bz_variant_asyncio_313;
    cr_assert(bz_variant_declared(asyncio, BZ_PRIMITIVE_LOCK, "locked-definition") != NULL);
    cr_assert(bz_variant_declared(asyncio, BZ_PRIMITIVE_SEMAPHORE, "locked-definition") == NULL);
    cr_assert(bz_variant_declared(asyncio, BZ_PRIMITIVE_LOCK, "fifo") == NULL);
    cr_assert(bz_variant_declared(&bz_variant_buzzer, BZ_PRIMITIVE_LOCK, "fifo") == NULL);
    cr_assert(bz_variant_declared(&bz_variant_zoo_toy_lifo, BZ_PRIMITIVE_LOCK, "fifo") ==
              bz_variant_zoo_toy_lifo.fault);
}
