/* The seed alone decides a run; a variant that keeps state elsewhere is found out. */
#include "sim/campaign/determinism.h"

#include "sim/campaign/campaign.h"
#include "sim/tests/crowd.h"

/* --- variants with state outside of the world ------------------------------------------------- */

static uint32_t calls;
static uint32_t period;

/* Now and then it waits a turn, as a static counter says. */
static enum bz_status acquire_counting(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    if (++calls % period == 0) {
        enum bz_status status = bz_yield(toy->queue.loop);
        if (status != BZ_OK) {
            return status;
        }
    }
    return toy_acquire(instance);
}

/* So does this one, by its address. */
static uintptr_t kinds_of_page = 251;
static unsigned first_bit = 12;
static enum bz_status acquire_by_address(void *instance) {
    struct bz_zoo_semaphore *toy = instance;
    uintptr_t pages = (uintptr_t)instance >> first_bit;
    enum bz_status status = BZ_OK;
    for (uintptr_t turns = pages % kinds_of_page; status == BZ_OK && turns > 0; turns--) {
        status = bz_yield(toy->queue.loop);
    }
    return status == BZ_OK ? toy_acquire(instance) : status;
}

/* The first object of the process is another one than all later ones. */
static enum bz_status init_once(void *instance, struct bz_loop *loop, uint32_t permits) {
    return bz_zoo_semaphore_init(instance, loop, permits - (calls++ == 0));
}

TOY(counting, 0, .acquire = acquire_counting);
TOY(by_address, 0, .acquire = acquire_by_address);
TOY(once, 0, .init = init_once);

static struct bz_campaign_result result;

static void run(const struct bz_variant *variant, uint64_t runs, uint32_t jobs) {
    struct bz_program program;
    crowd_program(&program, variant, BZ_ORDER_ANY);
    struct bz_campaign_config config = {.program = &program, .runs = runs, .jobs = jobs};
    calls = 0;
    cr_assert(bz_campaign_run(&config, &result));
}

static const struct bz_violation *finding(void) {
    cr_assert_eq(result.finding_count, 1);
    const struct bz_violation *violation = &result.findings[0].violation;
    tst_text(violation->oracle, "nondeterminism");
    return violation;
}

static bool says(const struct bz_violation *violation, const char *text) {
    return strstr(violation->message, text) != NULL;
}

/* --- what is found ---------------------------------------------------------------------------- */

Test(determinism, a_static_counter_is_found_soon_with_step_task_and_both_events) {
    period = 301; /* the first run and its repetition are equal */
    run(&counting, 20000, 1);
    const struct bz_violation *violation = finding();
    cr_assert_lt(1, result.runs);
    cr_assert_leq(result.runs, BZ_DETERMINISM_FIRST);
    cr_assert(says(violation, "differ at step "), "%s", violation->message);
    cr_assert(says(violation, ", task guest-"), "%s", violation->message);
    cr_assert(says(violation, "suspend"), "%s", violation->message);
    cr_assert_lt(0, violation->step);
    cr_assert_lt(0, violation->task);
}

/* Four workers share the counter, and count at once. */
Test(determinism, is_judged_by_every_worker) {
    period = 3;
    run(&counting, 20000, 4);
    (void)finding();
    cr_assert_leq(result.runs, BZ_DETERMINISM_FIRST);
}

Test(determinism, the_repetition_sets_up_again) {
    run(&once, 100, 1);
    (void)finding();
    cr_assert_eq(result.runs, 1);
}

Test(determinism, without_a_second_difference_the_digests_are_named) {
    run(&once, 100, 1);
    cr_assert(says(finding(), "further pairs were equal"), "%s", finding()->message);
}

Test(determinism, each_low_bit_of_an_address_is_found) {
    kinds_of_page = 2;
    for (first_bit = 5; first_bit <= 22; first_bit++) {
        run(&by_address, 100, 1);
        (void)finding();
    }
}

/* Worlds that live at the same time have different addresses. */
Test(determinism, an_address_is_found) {
    run(&by_address, 100, 1);
    (void)finding();
}

Test(determinism, later_runs_are_judged_too) {
    cr_assert(bz_determinism_is_due(0) && bz_determinism_is_due(BZ_DETERMINISM_FIRST - 1));
    cr_assert_not(bz_determinism_is_due(BZ_DETERMINISM_FIRST));
    cr_assert(bz_determinism_is_due(UINT64_C(3) * BZ_DETERMINISM_EVERY));
}

/* Its stacks are dropped before the repetition, and are as good as new in the next run. */
Test(determinism, a_large_run_is_repeated_without_the_stacks_of_the_first) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    program.args.values[CROWD_PERMITS] = 10001;
    program.args.values[CROWD_GUESTS] = 10001;
    program.args.values[CROWD_ROUNDS] = 1;
    program.steps_max = 1000000;
    struct bz_campaign_config config = {.program = &program, .runs = 2};
    cr_assert(bz_campaign_run(&config, &result), "%s", result.lack);
    cr_assert_eq(result.violations, 0);
    cr_assert_eq(result.runs, 2);
    cr_assert_eq(result.out_of_steps, 0);
}

Test(determinism, a_world_that_keeps_its_state_passes) {
    run(&crowd_sound, 5000, 2);
    cr_assert_eq(result.violations, 0);
    cr_assert_eq(result.runs, 5000);
}
