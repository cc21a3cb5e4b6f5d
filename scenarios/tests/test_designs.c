/* Correct designs that differ from ours as much as they can: no oracle objects to any of them, in
 * any scenario that fits, in either order, under the portfolio's strategies.
 *
 * BUZZER_DESIGN_RUNS is the number of schedules of each (120). `tools/dev nightly designs` sets
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "scenarios/tests/designs/designs.h"
#include "scenarios/tests/explore/explored.h"
#include "scenarios/tests/seeds.h"
#include "scenarios/variants/variants.h"
#include "scenarios/zoo/zoo.h"
#include "sim/campaign/campaign.h"

static uint64_t run_count(void) {
    const char *text = getenv("BUZZER_DESIGN_RUNS");
    uint64_t count = text == NULL ? 0 : strtoull(text, NULL, 10);
    return count > 0 ? count : BZ_SAN_ADDRESS ? 30 : TST_LONG(120, 300);
}

/* Among many tasks that spin, the limit of steps may cut a run of the long tail. */
static uint64_t cut_at_most(const struct bz_variant *design, uint64_t runs) {
    return design == &design_spinning ? 1 + runs / 1000 : 0;
}

/* The same in drawn sizes, the long tail included. */
static void expect_silence_of_sizes(const struct bz_program *program, uint64_t runs) {
    struct bz_campaign_result result;
    cr_assert(bz_campaign_run(
        &(struct bz_campaign_config){.program = program, .runs = runs, .draws_sizes = true},
        &result));
    cr_expect_eq(result.violations, 0, "%s on %s, order %s, seed %llu: %s", program->scenario->name,
                 program->variant->name, bz_order_name(program->order),
                 (unsigned long long)result.findings[0].seed, result.findings[0].violation.message);
    cr_expect_leq(result.out_of_steps, cut_at_most(program->variant, runs), "%s on %s",
                  program->scenario->name, program->variant->name);
}

static void expect_silence(const struct bz_scenario *scenario, const struct bz_variant *design,
                           enum bz_primitive primitive, enum bz_order order, uint64_t runs) {
    struct bz_program program = tst_program(scenario, design, order);
    program.strategy = &bz_strategy_portfolio;
    bz_program_use(&program, primitive);
    cr_assert(bz_program_measure(&program));
    struct tst_seeds result = tst_run_seeds(&program, runs);
    cr_assert_null((void *)result.violation.oracle,
                   "%s on %s, %s, order %s, seed %llu, step %u: %s: %s", scenario->name,
                   design->name, bz_primitive_name(primitive), bz_order_name(order),
                   (unsigned long long)result.seed, result.violation.step, result.violation.oracle,
                   result.violation.message);
    cr_assert_eq(result.out_of_steps, 0, "%s on %s", scenario->name, design->name);
    cr_assert_lt(0, result.stats.injected);
    /* in one order for each primitive, unless there is time for both */
    if (tst_is_long() || (order == BZ_ORDER_FIFO) == (primitive % 2 == 1)) {
        expect_silence_of_sizes(&program, runs);
    }
}

static void expect_silence_in_both(const struct bz_scenario *scenario,
                                   const struct bz_variant *design, enum bz_primitive primitive) {
    expect_silence(scenario, design, primitive, BZ_ORDER_ANY, run_count());
    expect_silence(scenario, design, primitive, BZ_ORDER_FIFO, run_count());
}

static void expect_silence_everywhere(const struct bz_variant *design) {
    uint32_t programs = 0;
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (uint32_t index = 0; index < (*next)->primitive_count; index++) {
            enum bz_primitive primitive = (*next)->primitives[index];
            if (bz_variant_offers(design, primitive)) {
                expect_silence_in_both(*next, design, primitive);
                programs++;
            }
        }
    }
    cr_assert_lt(4, programs, "%s fits few scenarios", design->name);
}

/* Every schedule, with at most one cancel. */
static struct bz_explore_result expect_proof_of(const struct bz_scenario *scenario,
                                                const struct bz_variant *design,
                                                const char *settings) {
    struct bz_program program = tst_explored_program(scenario, design, settings);
    program.cancels_max = 1;
    struct bz_explore_result result =
        tst_explore(&(struct bz_explore_config){.program = &program,
                                                .delays_max = BZ_EXPLORE_UNBOUNDED,
                                                .reductions = BZ_REDUCE_ALL,
                                                .rounds_before_sweep = 1,
                                                .states_max = 300000});
    cr_assert_eq(result.finding_count, 0, "%s: %s", design->name,
                 result.findings[0].violation.message);
    cr_assert(bz_explore_is_complete(&result), "%s", design->name);
    return result;
}

/* Of few tasks, those without end are judged as well. */
static void expect_proof(const struct bz_variant *design) {
    if (!bz_snapshot_is_supported() || !bz_variant_offers(design, BZ_PRIMITIVE_SEMAPHORE)) {
        return;
    }
    struct bz_explore_result result =
        expect_proof_of(&bz_scenario_contended, design, "permits=1,workers=3,rounds=1,patience=2");
    cr_assert_eq(result.liveness, BZ_LIVENESS_ENDS, "%s: %s %s", design->name,
                 bz_liveness_name(result.liveness), result.liveness_text);
}

#define IS_SILENT(name)                                                                            \
    Test(designs, name) {                                                                          \
        expect_silence_everywhere(&design_##name);                                                 \
        expect_proof(&design_##name);                                                              \
    }

IS_SILENT(chain)
IS_SILENT(linked_chain)
IS_SILENT(ticket)
IS_SILENT(dispatching)
IS_SILENT(resting)
IS_SILENT(early_entry)
IS_SILENT(helper)
IS_SILENT(clerk)
IS_SILENT(timer)
IS_SILENT(callback)
IS_SILENT(porter)
IS_SILENT(baton)
IS_SILENT(two_stage)
IS_SILENT(barging)
IS_SILENT(rewaking)
IS_SILENT(lifo)
IS_SILENT(lazy)
IS_SILENT(hall)
IS_SILENT(firm)
IS_SILENT(posting_cancelled)
IS_SILENT(rechecks)
IS_SILENT(morphing)
IS_SILENT(inplace)
IS_SILENT(inplace_cancelled)

/* The primitives that ship, in a runtime in which no cancel undoes a wait that has ended. */
Test(designs, results_that_outlast_a_cancel) {
    expect_silence_everywhere(&bz_variant_keeps_result);
    expect_proof(&bz_variant_keeps_result);
}

/* The entries of zoo/select.c without their faults. */
Test(designs, select) {
    struct bz_variant design = bz_variant_select;
    design.name = "faultless_select";
    design.modelled = &bz_zoo_ops_faultless_select;
    expect_silence_in_both(&bz_scenario_model, &design, BZ_PRIMITIVE_MODELLED);
}

/* Those of zoo/resource_pool.c. */
Test(designs, resource_pools) {
    const struct bz_variant pools[] = {
        {.claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT | BZ_CLAIM_WORK_CONSERVING,
         .name = "faultless_hand_over",
         .resource_pool = &bz_zoo_ops_faultless_hand_over},
        {.claims = BZ_CLAIM_UNFAIR,
         .name = "faultless_condition",
         .resource_pool = &bz_zoo_ops_faultless_condition},
        {.claims = BZ_CLAIM_UNFAIR,
         .name = "faultless_waiting",
         .resource_pool = &bz_zoo_ops_faultless_waiting},
    };
    for (unsigned index = 0; index < sizeof pools / sizeof pools[0]; index++) {
        expect_silence_in_both(&bz_scenario_resource_pool, &pools[index],
                               BZ_PRIMITIVE_RESOURCE_POOL);
    }
}

/* Time passes between two calls of a task whose cancel was requested: the model is followed. */
Test(designs, a_timer_moves_the_clock_between_calls) {
    tst_expect_silence_with(&bz_scenario_model, &design_timer, "tasks=5,capacity=2,pause=2", 3000);
}

/* Each fault of the design above, in every scenario that has its primitive and that it can harm:
 * where no cancel is taken for the end of a wait, a finding must not be lost. */
static void expect_finding_at(const struct bz_variant *faulty, const char *scenario,
                              enum bz_primitive primitive, const char *settings) {
    for (int order = BZ_ORDER_ANY; order <= BZ_ORDER_FIFO; order++) {
        struct bz_program program =
            tst_program(tst_scenario(scenario), faulty, (enum bz_order)order);
        program.strategy = &bz_strategy_portfolio;
        bz_program_use(&program, primitive);
        tst_set(&program, settings);
        cr_assert(bz_program_measure(&program));
        struct tst_seeds result = tst_expect_found(&program, 3000, NULL);
        cr_assert_str_neq((char *)result.violation.oracle, (char *)"crash");
    }
}

static void expect_finding(const struct bz_variant *faulty, const char *scenario,
                           enum bz_primitive primitive) {
    expect_finding_at(faulty, scenario, primitive, NULL);
}

Test(designs, faults_of_waits_that_cannot_be_cancelled_are_found) {
    const struct bz_variant *const all[] = {&design_firm_losing, &design_firm_doubling,
                                            &design_firm_keeping};
    for (size_t index = 0; index < 3; index++) {
        const struct bz_variant *faulty = all[index];
        expect_finding(faulty, "contended", BZ_PRIMITIVE_SEMAPHORE);
        expect_finding(faulty, "restaurant", BZ_PRIMITIVE_LOCK);
        expect_finding(faulty, "queue", BZ_PRIMITIVE_QUEUE);
        expect_finding(faulty, "program", BZ_PRIMITIVE_SEMAPHORE);
        expect_finding(faulty, "model", BZ_PRIMITIVE_QUEUE);
        expect_finding(faulty, "model", BZ_PRIMITIVE_MODELLED);
    }
    expect_finding(&design_firm_losing, "event", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_firm_losing, "barrier", BZ_PRIMITIVE_BARRIER);
    expect_finding(&design_rechecks_faulty, "barrier", BZ_PRIMITIVE_BARRIER);
    expect_finding(&design_firm_losing, "condition", BZ_PRIMITIVE_CONDITION);
    expect_finding(&design_firm_keeping, "condition", BZ_PRIMITIVE_CONDITION);
    struct bz_variant unwaived = design_morphing;
    unwaived.claims &= ~BZ_CLAIM_WAIT_MORPHING;
    expect_finding(&unwaived, "condition", BZ_PRIMITIVE_CONDITION);
    expect_finding(&design_morphing_losing, "condition", BZ_PRIMITIVE_CONDITION);
    expect_finding(&design_morphing_losing, "model", BZ_PRIMITIVE_CONDITION);
    expect_finding(&design_morphing_keeping, "model", BZ_PRIMITIVE_CONDITION);
}

/* Answers that may be several, refusals, and what depends on who waits: the model follows. */
static void expect_model_tells(const struct bz_variant *design, const struct bz_variant *faulty) {
    expect_silence_in_both(&bz_scenario_model, design, BZ_PRIMITIVE_MODELLED);
    tst_expect_found_with(&bz_scenario_model, faulty, "extras=1", 3000, NULL);
    if (bz_snapshot_is_supported()) {
        expect_proof_of(&bz_scenario_model, design,
                        "tasks=2,operations=2,pause=0,patience=1,extras=1");
    }
}

Test(designs, answers_that_may_be_several) {
    expect_model_tells(&design_workers, &design_workers_faulty);
    expect_model_tells(&design_trylock, &design_trylock_faulty);
    expect_model_tells(&design_select, &design_select_faulty);
}

/* Readers that are let in where the last writer before them is cancelled, and a new writer comes.
 */
Test(designs, readers_yield_to_writers) {
    struct bz_modelled_ops ops = *design_firm.modelled;
    struct bz_variant in_line = {.name = "in_line", .modelled = &ops};
    ops.model = design_posting_cancelled.modelled->model;
    tst_expect_found_with(&bz_scenario_model, &in_line, NULL, 3000, "fifo");
}

Test(designs, refusals_and_who_waits) {
    expect_model_tells(&design_bulkhead, &design_bulkhead_faulty);
    expect_model_tells(&design_bell, &design_bell_faulty);
    expect_model_tells(&design_broadcast, &design_broadcast_faulty);
}

Test(designs, faults_of_completions_in_place_are_found) {
    expect_finding(&design_inplace_late, "timeout", BZ_PRIMITIVE_LOCK);
    expect_finding(&design_inplace_late, "program", BZ_PRIMITIVE_SEMAPHORE);
    expect_finding(&design_inplace_late, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_inplace_walking, "model", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_inplace_walking, "barrier", BZ_PRIMITIVE_BARRIER);
    expect_finding(&design_inplace_storing, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_inplace_storing, "model", BZ_PRIMITIVE_QUEUE);
    expect_finding_at(&design_inplace_closing, "queue", BZ_PRIMITIVE_QUEUE,
                      "shutdown=1,late=1,items=4,producers=4");
}

/* Every schedule of small programs: they are seen between steps, never inside one another. */
Test(designs, completions_in_place_are_proved) {
    static const char *const names[] = {"event", "condition", "barrier", "queue", "model"};
    for (size_t index = 0; bz_snapshot_is_supported() && index < sizeof names / sizeof names[0];
         index++) {
        expect_proof_of(tst_scenario(names[index]), &design_inplace,
                        tst_small_settings(names[index]));
    }
}

static void expect_small_proof(const struct bz_variant *design, const char *scenario,
                               const char *settings) {
    if (bz_snapshot_is_supported()) {
        expect_proof_of(tst_scenario(scenario), design, settings);
    }
}

static void expect_queue_proof(const struct bz_variant *design) {
    expect_small_proof(design, "queue", tst_small_settings("queue"));
    expect_small_proof(design, "model", "primitive=queue,tasks=3,operations=1,pause=0,patience=1");
}

/* Something can always run, so nothing is ever at rest. */
Test(designs, waits_by_yields) {
    static const char *const proved[] = {"contended", "event", "queue", "model"};
    static const struct bz_variant *const faulty[] = {&design_spinning_blind,
                                                      &design_spinning_losing};
    static const struct {
        const char *scenario;
        enum bz_primitive primitive;
    } finds[] = {{"contended", BZ_PRIMITIVE_SEMAPHORE}, {"restaurant", BZ_PRIMITIVE_LOCK},
                 {"event", BZ_PRIMITIVE_EVENT},         {"condition", BZ_PRIMITIVE_CONDITION},
                 {"queue", BZ_PRIMITIVE_QUEUE},         {"barrier", BZ_PRIMITIVE_BARRIER},
                 {"model", BZ_PRIMITIVE_LOCK},          {"model", BZ_PRIMITIVE_EVENT},
                 {"model", BZ_PRIMITIVE_CONDITION},     {"model", BZ_PRIMITIVE_QUEUE}};
    struct bz_variant unwaived = design_spinning;
    unwaived.claims &= ~BZ_CLAIM_WAIT_MORPHING;
    expect_finding(&unwaived, "condition", BZ_PRIMITIVE_CONDITION);
    expect_silence_everywhere(&design_spinning);
    for (size_t index = 0; index < sizeof proved / sizeof proved[0]; index++) {
        expect_small_proof(&design_spinning, proved[index], tst_small_settings(proved[index]));
    }
    expect_small_proof(&design_spinning, "timeout", "waiters=2,rounds=1,slack-ns=0,max-lag=0");
    expect_small_proof(&design_spinning, "bank",
                       "accounts=1,cards=2,payments=1,latency-ns=1,max-lag=0");
    for (size_t index = 0; index < sizeof finds / sizeof finds[0]; index++) {
        for (size_t which = 0; which < 2; which++) {
            bool loses = which == 1 && finds[index].primitive != BZ_PRIMITIVE_QUEUE &&
                         finds[index].primitive != BZ_PRIMITIVE_BARRIER;
            expect_finding(faulty[loses], finds[index].scenario, finds[index].primitive);
        }
        if (strcmp(finds[index].scenario, "condition") != 0) { /* there its runs are only cut */
            expect_finding(&design_sleeping_blind, finds[index].scenario, finds[index].primitive);
        }
    }
    expect_finding(&design_sleeping_deaf, "model", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_sleeping_deaf, "model", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_sleeping_counting, "barrier", BZ_PRIMITIVE_BARRIER);
    expect_silence_everywhere(&design_sleeping);
}

static void expect_no_fault(const struct bz_variant *design, const char *settings,
                            uint32_t steps_max) {
    struct bz_program program =
        tst_program_with(&bz_scenario_contended, design, BZ_ORDER_FIFO, settings);
    struct bz_campaign_result result;
    program.steps_max = steps_max;
    cr_assert(
        bz_campaign_run(&(struct bz_campaign_config){.program = &program, .runs = 200}, &result));
    cr_assert_eq(result.violations, 0, "%s", result.findings[0].violation.message);
    cr_assert(steps_max > 1000 || result.out_of_steps > 0);
}

/* Tasks ask often inside operations: the permit is on its way, or one that can go on asks later. */
Test(designs, long_waits_by_polls_are_no_fault) {
    static const struct bz_variant *const designs[] = {&design_sleeping_slow,
                                                       &design_sleeping_sliced};
    for (uint32_t index = 0; index < 2; index++) {
        tst_expect_silence_with(&bz_scenario_model, designs[index], "primitive=semaphore,tasks=3",
                                1000);
        expect_no_fault(designs[index], NULL, 500);
        expect_no_fault(designs[index], NULL, BZ_STEPS_MAX_DEFAULT);
    }
    tst_expect_silence_with(&bz_scenario_model, &design_sleeping_lazy, "primitive=queue,tasks=3",
                            1000);
    expect_no_fault(&design_spinning_slow, "workers=300", 1000);
    expect_no_fault(&design_sleeping_ticking, NULL, BZ_STEPS_MAX_DEFAULT);
    expect_no_fault(&design_sleeping_briefly, NULL, BZ_STEPS_MAX_DEFAULT);
}

/* The primitives that ship, in one size only. Scenarios never ask for another one. */
static enum bz_status init_of_one(void *instance, struct bz_loop *loop, uint32_t permits) {
    return permits != 1
               ? BZ_FAILED
               : bz_variant_buzzer.permits[BZ_PRIMITIVE_SEMAPHORE]->init(instance, loop, 1);
}

static enum bz_status init_for_two(void *instance, struct bz_loop *loop, uint32_t parties) {
    return parties != 2 ? BZ_FAILED : bz_variant_buzzer.barrier->init(instance, loop, parties);
}

static enum bz_status init_one_slot(void *instance, struct bz_loop *loop, enum bz_queue_order order,
                                    uint32_t maxsize) {
    return maxsize != 1 || order != BZ_QUEUE_ORDER_LIFO
               ? BZ_FAILED
               : bz_variant_buzzer.queue->init(instance, loop, order, maxsize);
}

static enum bz_status init_unbounded(void *instance, struct bz_loop *loop,
                                     enum bz_queue_order order, uint32_t maxsize) {
    return maxsize != 0 || order != BZ_QUEUE_ORDER_FIFO
               ? BZ_FAILED
               : bz_variant_buzzer.queue->init(instance, loop, order, maxsize);
}

static struct bz_permit_ops one_permits;
static struct bz_barrier_ops one_barrier;
static struct bz_queue_ops one_queue;

static struct bz_variant one_size(struct bz_offer of_queue,
                                  enum bz_status (*init)(void *, struct bz_loop *,
                                                         enum bz_queue_order, uint32_t)) {
    one_permits = *bz_variant_buzzer.permits[BZ_PRIMITIVE_SEMAPHORE];
    one_permits.init = init_of_one;
    one_barrier = *bz_variant_buzzer.barrier;
    one_barrier.init = init_for_two;
    one_queue = *bz_variant_buzzer.queue;
    one_queue.init = init;
    return (struct bz_variant){.version = BZ_VARIANT_VERSION,
                               .name = "one_size",
                               .summary = "what ships, in one size only",
                               .claims = bz_variant_buzzer.claims,
                               .permits = {[BZ_PRIMITIVE_SEMAPHORE] = &one_permits},
                               .barrier = &one_barrier,
                               .queue = &one_queue,
                               .offers = {[BZ_PRIMITIVE_SEMAPHORE] = {.least = 1, .most = 1},
                                          [BZ_PRIMITIVE_BARRIER] = {.least = 2, .most = 2},
                                          [BZ_PRIMITIVE_QUEUE] = of_queue}};
}

static void expect_refusal(const char *scenario, const struct bz_variant *variant,
                           const char *settings, const char *text) {
    char error[BZ_ERROR_BYTES];
    struct bz_program program = tst_program(tst_scenario(scenario), variant, BZ_ORDER_ANY);
    cr_assert_not(bz_program_set_list(&program, settings, error, sizeof error));
    cr_assert_not_null(strstr(error, text), "%s", error);
}

Test(designs, one_size_only) {
    struct bz_variant variant =
        one_size((struct bz_offer){.least = 1, .most = 1, .orders = 1u << BZ_QUEUE_ORDER_LIFO},
                 init_one_slot);
    variant.waives[BZ_PRIMITIVE_QUEUE] = BZ_CLAIM_FIFO;
    expect_silence_in_both(&bz_scenario_queue, &variant, BZ_PRIMITIVE_QUEUE);
    expect_small_proof(&variant, "queue", tst_small_settings("queue"));
    expect_small_proof(&variant, "barrier", tst_small_settings("barrier"));
    expect_refusal("queue", &variant, "maxsize=2",
                   "'2': variant 'one_size' does not offer this "
                   "size of a queue, but these: 1");
    expect_refusal("barrier", &variant, "parties=1", "but these: 2");
    expect_refusal("model", &variant, "capacity=2,primitive=barrier", "but these: 1");
    expect_refusal("contended", &variant, "permits=3", "but these: 1");
}

Test(designs, one_size_and_a_queue_without_a_bound) {
    struct bz_variant variant =
        one_size((struct bz_offer){.bounds = BZ_OFFERS_NO_BOUND}, init_unbounded);
    variant.offers[BZ_PRIMITIVE_QUEUE].orders = 1u << BZ_QUEUE_ORDER_FIFO;
    expect_silence_everywhere(&variant);
    expect_proof(&variant);
    expect_queue_proof(&variant);
    expect_refusal("queue", &variant, "maxsize=1", "but these: 0");
}

/* Faults of the zoo, in one size only. */
Test(designs, faults_in_one_size_are_found) {
    struct bz_variant faulty = bz_variant_zoo_sem_woken_cancel;
    faulty.offers[BZ_PRIMITIVE_SEMAPHORE] = (struct bz_offer){.least = 1, .most = 1};
    expect_finding(&faulty, "contended", BZ_PRIMITIVE_SEMAPHORE);
    faulty = bz_variant_zoo_q_putter_lost;
    faulty.offers[BZ_PRIMITIVE_QUEUE] = (struct bz_offer){.least = 1, .most = 1};
    expect_finding(&faulty, "queue", BZ_PRIMITIVE_QUEUE);
    faulty = bz_variant_zoo_mb_160_queue;
    faulty.offers[BZ_PRIMITIVE_QUEUE] = (struct bz_offer){.bounds = BZ_OFFERS_NO_BOUND};
    expect_finding(&faulty, "queue", BZ_PRIMITIVE_QUEUE);
    faulty = bz_variant_zoo_bar_dup_index;
    faulty.offers[BZ_PRIMITIVE_BARRIER] = (struct bz_offer){.least = 2, .most = 2};
    expect_finding(&faulty, "barrier", BZ_PRIMITIVE_BARRIER);
}

/* Queues that keep no item. */
static void expect_queue_silence(const struct bz_variant *design) {
    static const char *const scenarios[] = {"queue", "program", "model"};
    for (size_t index = 0; index < sizeof scenarios / sizeof scenarios[0]; index++) {
        expect_silence_in_both(tst_scenario(scenarios[index]), design, BZ_PRIMITIVE_QUEUE);
    }
}

Test(designs, a_rendezvous) {
    expect_queue_silence(&design_meeting);
    expect_queue_silence(&design_meeting_kept);
    expect_queue_silence(&design_meeting_leaving);
    expect_queue_proof(&design_meeting);
    expect_queue_proof(&design_meeting_kept);
    expect_refusal("queue", &design_meeting, "maxsize=1", "but these: -1");
    expect_refusal("queue", &bz_variant_buzzer, "maxsize=-1", "but these: 0 to 1000");
    static const struct bz_variant *const faulty[] = {
        &design_meeting_dropping, &design_meeting_doubling, &design_meeting_losing};
    expect_finding(&design_meeting_counting, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_meeting_counting, "program", BZ_PRIMITIVE_QUEUE);
    for (size_t index = 0; index < sizeof faulty / sizeof faulty[0]; index++) {
        if (index > 0) { /* the first one needs a drawn size in order fifo */
            expect_finding(faulty[index], "queue", BZ_PRIMITIVE_QUEUE);
        }
        expect_finding(faulty[index], "program", BZ_PRIMITIVE_QUEUE);
        expect_finding(faulty[index], "model", BZ_PRIMITIVE_QUEUE);
    }
}

/* A cancelled put may have delivered its item, as in Kotlin. */
Test(designs, a_bounded_queue_of_late_puts) {
    static const struct bz_variant *const faulty[] = {
        &design_prompt_doubling, &design_prompt_losing, &design_prompt_leaking};
    struct bz_variant unwaived = design_prompt;
    unwaived.claims &= ~BZ_CLAIM_MAY_DELIVER;
    expect_queue_silence(&design_prompt);
    expect_queue_proof(&design_prompt);
    for (size_t index = 0; index < sizeof faulty / sizeof faulty[0]; index++) {
        expect_finding(faulty[index], "queue", BZ_PRIMITIVE_QUEUE);
        expect_finding(faulty[index], "program", BZ_PRIMITIVE_QUEUE);
        expect_finding(faulty[index], "model", BZ_PRIMITIVE_QUEUE);
    }
    expect_finding(&unwaived, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&unwaived, "model", BZ_PRIMITIVE_QUEUE);
}

/* A wait at a condition was cancelled, and waits for the lock, where no further cancel reaches it.
 */
Test(designs, a_cancel_before_one_that_waits) {
    struct bz_program program = tst_program(&bz_scenario_model, &design_firm, BZ_ORDER_ANY);
    program.strategy = &bz_strategy_portfolio;
    bz_program_use(&program, BZ_PRIMITIVE_CONDITION);
    cr_assert(bz_program_measure(&program));
    struct bz_world *world = bz_program_new_world(&program);
    cr_assert_not_null(world);
    cr_assert_eq(bz_program_run(&program, world, 287567), BZ_RUN_PASSED);
    bz_world_destroy(world);
}

static void expect_misuse(const struct bz_variant *design, const char *settings) {
    struct bz_program program =
        tst_program_with(&bz_scenario_model, design, BZ_ORDER_ANY, settings);
    (void)tst_expect_found(&program, 1000, "misuse");
}

/* Every completion is posted, and a late cancel changes nothing. */
Test(designs, a_channel_that_posts) {
    expect_queue_silence(&design_channel);
    expect_queue_proof(&design_channel);
    expect_finding(&design_channel_blocks, "model", BZ_PRIMITIVE_QUEUE);
    struct bz_program program =
        tst_program_with(&bz_scenario_queue, &design_channel_says_closed, BZ_ORDER_ANY,
                         "cancel=none,maxsize=-1,shutdown=1,cancels=0");
    (void)tst_expect_found(&program, 1000, "item-once");
    expect_finding(&design_channel_serves_last, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_channel_serves_last, "model", BZ_PRIMITIVE_QUEUE);
}

/* One waiter, one consumer at a time: scenarios keep to it, and break it where it must be refused.
 */
Test(designs, a_single_consumer) {
    expect_silence_everywhere(&design_single);
    expect_queue_proof(&design_single);
    expect_finding(&design_single_losing, "event", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_single_losing, "queue", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_single_losing, "program", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_single_losing, "program", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_single_losing, "model", BZ_PRIMITIVE_EVENT);
    expect_finding(&design_single_losing, "model", BZ_PRIMITIVE_QUEUE);
    expect_finding(&design_single_losing, "model", BZ_PRIMITIVE_MODELLED);
    expect_queue_silence(&design_spsc);
    expect_queue_proof(&design_spsc);
    expect_misuse(&design_single_crowded, "primitive=event,extras=1");
    expect_misuse(&design_single_crowded, "primitive=queue,extras=1");
    expect_misuse(&design_spsc_crowded, "primitive=queue,extras=1");
}

/* An init that refuses what the variant does not say: nothing is found, and nothing is judged. */
static enum bz_status init_nothing(void *instance, struct bz_loop *loop, uint32_t permits) {
    (void)instance;
    (void)loop;
    (void)permits;
    return BZ_INVALID_ARGUMENT;
}

Test(designs, a_size_that_is_not_offered_has_no_verdict) {
    struct bz_variant variant = one_size((struct bz_offer){.least = 1}, init_unbounded);
    one_permits.init = init_nothing;
    struct bz_program program = tst_program(&bz_scenario_contended, &variant, BZ_ORDER_ANY);
    struct tst_seeds result = tst_run_seeds(&program, 10);
    cr_assert_null((void *)result.violation.oracle);
    cr_assert_eq(result.out_of_steps, 10);
}

/* Code for asyncio in that runtime: a cancelled task gives back what it keeps all the same. */
static struct bz_loop *the_loop;
static const struct bz_permit_ops *shipped_ops;

static enum bz_status init_shipped(void *instance, struct bz_loop *loop, uint32_t permits) {
    the_loop = loop;
    return shipped_ops->init(instance, loop, permits);
}

static enum bz_status acquire_and_undo(void *instance) {
    enum bz_status status = shipped_ops->acquire(instance);
    if (status == BZ_OK && bz_task_cancelling(bz_loop_current(the_loop)) > 0) {
        (void)shipped_ops->release(instance);
    }
    return status;
}

Test(designs, a_result_that_is_given_back_and_kept_is_found) {
    shipped_ops = bz_variant_keeps_result.permits[BZ_PRIMITIVE_SEMAPHORE];
    struct bz_permit_ops ops = *shipped_ops;
    struct bz_variant faulty = bz_variant_keeps_result;
    ops.init = init_shipped;
    ops.acquire = acquire_and_undo;
    faulty.name = "undoing";
    faulty.permits[BZ_PRIMITIVE_SEMAPHORE] = &ops;
    expect_finding(&faulty, "contended", BZ_PRIMITIVE_SEMAPHORE);
    expect_finding(&faulty, "restaurant", BZ_PRIMITIVE_SEMAPHORE);
    expect_finding(&faulty, "program", BZ_PRIMITIVE_SEMAPHORE);
}
