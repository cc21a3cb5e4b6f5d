/* Faults that need a long run or a large one: a campaign finds each of them in every scenario of
 * semaphores that draws sizes, in both orders, within RUNS runs. Their correct twins are silent. */
#include "primitives/tests/long.h"
#include "scenarios/tests/line.h"
#include "scenarios/tests/seeds.h"
#include "sim/campaign/campaign.h"

#define RUNS 20000u
#define RUNS_SILENT TST_LONG(4000u, 1000000u)

/* The position of the oldest waiter of a class; `count` if there is none. */
static uint32_t oldest_of(const struct semaphore *semaphore, uint32_t kind) {
    uint32_t position = 0;
    while (position < semaphore->count && semaphore->line[position].kind != kind) {
        position++;
    }
    return position;
}

/* The fault: 256 is 0. */
static uint32_t pick_by_byte(struct semaphore *semaphore) {
    return pick_by_ticket(semaphore, 256);
}

/* The fault: the last class waits until there is no other. */
static uint32_t pick_by_class(struct semaphore *semaphore) {
    uint32_t kind = 0;
    while (oldest_of(semaphore, kind) == semaphore->count) {
        kind++;
    }
    return oldest_of(semaphore, kind);
}

static uint32_t pick_class_in_turn(struct semaphore *semaphore) {
    do {
        semaphore->next_kind = (semaphore->next_kind + 1) % CLASSES;
    } while (oldest_of(semaphore, semaphore->next_kind) == semaphore->count);
    return oldest_of(semaphore, semaphore->next_kind);
}

static enum bz_status init_four_bits(void *instance, struct bz_loop *loop, uint32_t permits) {
    return init(instance, loop, permits % 16);
}

#define REFUSES_AT(waiters)                                                                        \
    if (self->value == 0 && self->count >= (waiters)) {                                            \
        return BZ_NO_MEMORY;                                                                       \
    }
SEMAPHORE(sound, FIFO, init, pick_oldest, , self->value++);
SEMAPHORE(classes_in_turn, 0, init, pick_class_in_turn, , self->value++);
SEMAPHORE(ticket_of_eight_bits, FIFO, init, pick_by_byte, , self->value++);
SEMAPHORE(count_of_four_bits, FIFO, init_four_bits, pick_oldest, , self->value++);
SEMAPHORE(unfair, BZ_CLAIM_UNFAIR, init, pick_by_class, , self->value++);
SEMAPHORE(third_class, 0, init, pick_by_class, , self->value++);
/* the permit of one release is lost */
SEMAPHORE(turns, FIFO, init, pick_oldest, , self->value += ++self->next_kind % 256 != 0);
/* the ninth in line is forgotten when the next one comes */
SEMAPHORE(nine_in_line, FIFO, init, pick_oldest, self->count -= self->count > 8, self->value++);
/* one permit too many */
SEMAPHORE(hundredth_wait, FIFO, init, pick_oldest, self->value += self->waits == 99, self->value++);

SEMAPHORE(has_room_for_16, FIFO, init, pick_oldest, REFUSES_AT(16), self->value++,
          .waiters_max = 16);
SEMAPHORE(has_room_for_64, FIFO, init, pick_oldest, REFUSES_AT(64), self->value++,
          .waiters_max = 64);
SEMAPHORE(has_room_for_2, FIFO, init, pick_oldest, REFUSES_AT(2), self->value++, .waiters_max = 2);
/* one less than it says */
SEMAPHORE(has_room_for_15, FIFO, init, pick_oldest, REFUSES_AT(15), self->value++,
          .waiters_max = 16);
SEMAPHORE(says_no_limit, FIFO, init, pick_oldest, REFUSES_AT(64), self->value++);
/* an array without a check */
static uint32_t most_waiters;
#define NOTES_MOST most_waiters = self->count >= most_waiters ? self->count + 1 : most_waiters
SEMAPHORE(has_an_array_of_16, FIFO, init, pick_oldest, NOTES_MOST, self->value++,
          .waiters_max = 16);

static struct bz_campaign_result run(const struct bz_scenario *scenario,
                                     const struct bz_variant *variant, enum bz_order order,
                                     uint64_t runs) {
    struct bz_program program;
    struct bz_campaign_result result;
    bz_program_init(&program, scenario, variant, &bz_strategy_portfolio);
    program.order = order;
    cr_assert(bz_campaign_run(
        &(struct bz_campaign_config){.program = &program, .runs = runs, .draws_sizes = true},
        &result));
    return result;
}

static const struct bz_scenario *const with_semaphores[] = {
    &bz_scenario_contended, &bz_scenario_restaurant, &bz_scenario_intruder,
    &bz_scenario_taskgroup, &bz_scenario_timeout,    NULL};

static void expect_found_in(const struct bz_scenario *scenario, const struct bz_variant *variant) {
    for (unsigned order = 0; order < 2; order++) {
        struct bz_campaign_result result =
            run(scenario, variant, order == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO, RUNS);
        cr_expect_lt(0, result.violations, "%s in %s, order %u", variant->name, scenario->name,
                     order);
        cr_log_info("%s in %s, order %u: %llu runs, %s\n", variant->name, scenario->name, order,
                    (unsigned long long)result.runs,
                    result.violations > 0 ? result.findings[0].violation.oracle : "-");
    }
}

static void expect_found(const struct bz_variant *variant, const struct bz_scenario *not_in) {
    for (const struct bz_scenario *const *next = with_semaphores; *next != NULL; next++) {
        if (*next != not_in) {
            expect_found_in(*next, variant);
        }
    }
}

static void expect_silence_in(const struct bz_scenario *scenario,
                              const struct bz_variant *variant) {
    for (unsigned order = 0; order < 2; order++) {
        struct bz_campaign_result result =
            run(scenario, variant, order == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO,
                BZ_SAN_ADDRESS ? RUNS_SILENT / 10 : RUNS_SILENT);
        cr_expect_eq(result.violations, 0, "%s in %s, order %u, seed %llu: %s", variant->name,
                     scenario->name, order, (unsigned long long)result.findings[0].seed,
                     result.findings[0].violation.message);
        cr_expect_eq(result.out_of_steps, 0, "%s in %s", variant->name, scenario->name);
    }
}

static void expect_silence(const struct bz_variant *variant) {
    for (const struct bz_scenario *const *next = with_semaphores; *next != NULL; next++) {
        expect_silence_in(*next, variant);
    }
    expect_silence_in(&bz_scenario_model, variant);
}

#define IS_FOUND(variant)                                                                          \
    Test(tail, variant##_is_found) {                                                               \
        expect_found(&variant, NULL);                                                              \
    }
IS_FOUND(ticket_of_eight_bits)
IS_FOUND(count_of_four_bits)
IS_FOUND(turns)
IS_FOUND(nine_in_line)
IS_FOUND(hundredth_wait)

/* Its tasks are few, but their histories are long. */
Test(tail, model_finds_what_is_late) {
    expect_found_in(&bz_scenario_model, &turns);
    expect_found_in(&bz_scenario_model, &hundredth_wait);
}

/* Deadlines of `timeout` end each wait before it is overtaken 64 times. */
Test(tail, third_class_is_found) {
    expect_found(&third_class, &bz_scenario_timeout);
}

Test(tail, the_twins_are_silent) {
    expect_silence(&sound);
    expect_silence(&classes_in_turn);
    expect_silence(&unfair);
}

Test(tail, a_limit_of_waiters_is_respected) {
    expect_silence(&has_room_for_64);
    expect_silence(&has_an_array_of_16);
    cr_assert_leq(most_waiters, 16);
    cr_assert_geq(most_waiters, 12);
    struct bz_campaign_result result =
        run(&bz_scenario_contended, &says_no_limit, BZ_ORDER_ANY, RUNS);
    cr_assert_lt(0, result.violations);
    cr_assert_str_eq(result.findings[0].violation.oracle, "status");
}

static struct bz_campaign_result run_with(const struct bz_variant *variant, const char *settings) {
    struct bz_program program;
    struct bz_campaign_result result;
    bz_program_init(&program, &bz_scenario_contended, variant, &bz_strategy_portfolio);
    tst_set(&program, settings);
    cr_assert(
        bz_campaign_run(&(struct bz_campaign_config){.program = &program, .runs = 1000}, &result));
    return result;
}

Test(tail, a_refusal_is_judged_by_the_limit) {
    struct bz_campaign_result result = run_with(&has_room_for_16, "workers=30,permits=1");
    cr_assert_eq(result.violations, 0, "%s", result.findings[0].violation.message);
    result = run_with(&has_room_for_15, "workers=30,permits=1");
    cr_assert_lt(0, result.violations);
    cr_assert_str_eq(result.findings[0].violation.oracle, "status");
}

/* Less than there are tasks in any scenario: refused tasks do without. */
Test(tail, a_refusal_is_right_everywhere) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        for (unsigned order = 0; bz_scenario_uses(*next, BZ_PRIMITIVE_SEMAPHORE) && order < 2;
             order++) {
            struct bz_campaign_result result =
                run(*next, &has_room_for_2, order == 0 ? BZ_ORDER_ANY : BZ_ORDER_FIFO, 2000);
            cr_expect_eq(result.violations, 0, "%s, order %u, seed %llu: %s", (*next)->name, order,
                         (unsigned long long)result.findings[0].seed,
                         result.findings[0].violation.message);
        }
    }
}
