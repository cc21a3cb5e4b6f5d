/* Campaigns find faults that the default sizes of a scenario cannot show: each within 2,000
 * schedules, wherever they begin. And a run with drawn sizes is an ordinary run. */
#include <stdlib.h>
#include <string.h>

#include "primitives/sync/queue.h"
#include "primitives/tests/long.h"
#include "scenarios/tests/line.h"
#include "scenarios/tests/seeds.h"
#include "sim/campaign/campaign.h"
#include "sim/choice/pcg.h"
#include "sim/program/sizes.h"
#include "sim/program/token.h"

#define SCHEDULES 2000u
#define RANGES TST_LONG(20u, 200u)
#define RUNS_BY_DEFAULT TST_LONG(10000u, 50000u)

/* --- semaphores ------------------------------------------------------------------------------- */

#define FIRST_CAPACITY 4u

static enum bz_status init_ring(void *instance, struct bz_loop *loop, uint32_t permits) {
    ((struct semaphore *)instance)->capacity = FIRST_CAPACITY;
    return init(instance, loop, permits);
}

static uint32_t pick_from_ring(struct semaphore *semaphore) {
    semaphore->head = (semaphore->head + 1) % semaphore->capacity;
    return 0;
}

/* The fault: what had wrapped stays where it was, and is not found there. */
static void grow_if_full(struct semaphore *semaphore) {
    if (semaphore->count == semaphore->capacity) {
        for (uint32_t wrapped = 0; wrapped < semaphore->head; wrapped++) {
            semaphore->line[semaphore->count - 1 - wrapped].waiter = NULL;
        }
        semaphore->capacity *= 2;
    }
}

static uint32_t pick_by_six_bits(struct semaphore *semaphore) {
    return pick_by_ticket(semaphore, 64);
}

/* In runs that no default size has. */
static void die_if_full(const struct semaphore *semaphore) {
    if (semaphore->count == FIRST_CAPACITY) {
        abort();
    }
}

SEMAPHORE(sound, FIFO, init, pick_oldest, , self->value++);
SEMAPHORE(ring, FIFO, init_ring, pick_from_ring, grow_if_full(self), self->value++);
SEMAPHORE(ticket, FIFO, init, pick_by_six_bits, , self->value++);
SEMAPHORE(dying, FIFO, init, pick_oldest, die_if_full(self), self->value++);

/* --- a queue ---------------------------------------------------------------------------------- */

/* A shutdown that is not immediate drops an item that is promised to nobody. */
static void shutdown_and_drop(void *instance, bool is_immediate) {
    uint64_t dropped;
    bz_queue_shutdown(instance, is_immediate);
    if (!is_immediate) {
        enum bz_status status = bz_queue_try_get(instance, &dropped);
        (void)status; /* there may be none */
    }
}

static struct bz_queue_ops drop_ops;
static const struct bz_variant drop = {.version = BZ_VARIANT_VERSION,
                                       .claims = BZ_CLAIM_FIFO | BZ_CLAIM_WAKE_IS_GRANT,
                                       .name = "drop",
                                       .summary = "a test",
                                       .queue = &drop_ops};

__attribute__((constructor)) static void fill(void) {
    drop_ops = *bz_variant_buzzer.queue;
    drop_ops.shutdown = shutdown_and_drop;
}

/* --- the tests -------------------------------------------------------------------------------- */

static struct bz_program program_of(const struct bz_scenario *scenario,
                                    const struct bz_variant *variant) {
    struct bz_program program;
    bz_program_init(&program, scenario, variant, &bz_strategy_portfolio);
    return program;
}

static struct bz_campaign_result run(const struct bz_program *program, uint64_t seed_first,
                                     uint64_t runs, bool draws_sizes) {
    struct bz_campaign_config config = {
        .program = program, .seed_first = seed_first, .runs = runs, .draws_sizes = draws_sizes};
    struct bz_campaign_result result;
    cr_assert(bz_campaign_run(&config, &result));
    return result;
}

static void expect_silence(const struct bz_program *program, bool draws_sizes) {
    struct bz_campaign_result result = run(program, 0, RUNS_BY_DEFAULT, draws_sizes);
    cr_assert_eq(result.violations, 0, "seed %llu: %s", (unsigned long long)result.findings[0].seed,
                 result.findings[0].violation.message);
    cr_assert_eq(result.out_of_steps, 0);
}

static void expect_found(const struct bz_program *program) {
    uint64_t most = 0;
    uint64_t sum = 0;
    for (uint64_t range = 0; range < 2 * RANGES; range++) {
        uint64_t seed_first = range < RANGES ? range * SCHEDULES : bz_seed_mix(range);
        struct bz_campaign_result result = run(program, seed_first, SCHEDULES, true);
        cr_expect_lt(0, result.violations, "%s, from seed %llu: not found", program->variant->name,
                     (unsigned long long)seed_first);
        most = result.runs > most ? result.runs : most;
        sum += result.runs;
    }
    cr_log_info("%s: %llu schedules on average, %llu at most\n", program->variant->name,
                (unsigned long long)(sum / RANGES / 2), (unsigned long long)most);
}

static void expect_found_only_if_drawn(const struct bz_scenario *scenario,
                                       const struct bz_variant *variant) {
    struct bz_program program = program_of(scenario, variant);
    expect_silence(&program, false);
    expect_found(&program);
}

Test(sizes, a_ring_that_grows_wrongly_is_found) {
    expect_found_only_if_drawn(&bz_scenario_contended, &ring);
}

Test(sizes, a_ticket_that_wraps_is_found) {
    expect_found_only_if_drawn(&bz_scenario_contended, &ticket);
}

Test(sizes, an_item_that_a_shutdown_drops_is_found) {
    expect_found_only_if_drawn(&bz_scenario_queue, &drop);
}

Test(sizes, the_same_without_a_fault_is_silent) {
    struct bz_program program = program_of(&bz_scenario_contended, &sound);
    expect_silence(&program, true);
}

/* --- the runs --------------------------------------------------------------------------------- */

static uint64_t digest_of(const struct bz_program *program, uint64_t seed) {
    struct bz_world *world = bz_program_new_world(program);
    cr_assert_not_null(world);
    cr_assert_eq(bz_program_run(program, world, seed), BZ_RUN_PASSED);
    uint64_t digest = bz_judge_digest(world->judge);
    bz_world_destroy(world);
    return digest;
}

/* Of a campaign of one run. */
static uint64_t campaign_digest(const struct bz_program *program, uint64_t seed, bool draws_sizes) {
    struct bz_campaign_result result = run(program, seed, 1, draws_sizes);
    cr_assert_eq(result.runs, 1);
    return result.digest_first;
}

/* The token of a drawn run leads back to it. */
static void expect_token(const struct bz_program *program, uint64_t seed) {
    static struct bz_program drawn;
    static struct bz_program named;
    char token[BZ_TOKEN_BYTES];
    char error[BZ_ERROR_BYTES];
    uint64_t digest;
    bz_sizes_draw(program, seed, &drawn);
    cr_assert_eq(campaign_digest(program, seed, true), digest_of(&drawn, seed));
    bz_token_format(&drawn, seed, digest_of(&drawn, seed), token, sizeof token);
    cr_assert(bz_token_parse(token, &tst_catalog, &named, &seed, &digest, error, sizeof error),
              "%s", error);
    cr_assert_eq(digest_of(&named, seed), digest, "%s", token);
}

/* One of four, in every scenario that has sizes; the others are those of a campaign that draws
 * nothing. */
Test(sizes, a_run_is_that_of_the_program_that_its_token_names) {
    for (const struct bz_scenario *const *next = bz_scenarios; *next != NULL; next++) {
        if ((*next)->sizes == NULL) {
            continue;
        }
        struct bz_program program =
            program_of(*next, (*next)->primitives[0] == BZ_PRIMITIVE_MODELLED
                                  ? bz_catalog_variant(&tst_catalog, "buzzer/rwlock")
                                  : &bz_variant_buzzer);
        uint32_t drawn = 0;
        uint64_t seeds = TST_LONG(40, 400);
        for (uint64_t seed = 0; seed < seeds; seed++) {
            if (bz_sizes_are_drawn(&program, seed)) {
                drawn++;
                expect_token(&program, seed);
            } else if (seed % 10 == 0) {
                cr_assert_eq(campaign_digest(&program, seed, true),
                             campaign_digest(&program, seed, false));
            }
        }
        cr_assert_eq(drawn, seeds / 4, "%s", (*next)->name);
    }
}

Test(sizes, what_is_set_is_not_drawn) {
    static struct bz_program drawn;
    static struct bz_program other;
    struct bz_program program = program_of(&bz_scenario_contended, &bz_variant_buzzer);
    struct bz_program pinned = program;
    tst_set(&pinned, "workers=4,starvation-bound=7");
    uint32_t different = 0;
    uint32_t larger = 0;
    for (uint64_t seed = 0; seed < 10000; seed++) {
        bz_sizes_draw(&program, seed, &drawn);
        bz_sizes_draw(&pinned, seed, &other);
        cr_assert_eq(other.args.values[1], 4);
        cr_assert_eq(other.starvation_bound, 7);
        different += drawn.args.values[1] != 4;
        larger += drawn.starvation_bound > BZ_STARVATION_BOUND_DEFAULT;
        drawn.args.values[1] = 4;
        cr_assert(bz_sizes_are_tail(&program, seed) || /* what is set leaves room for the others */
                  memcmp(drawn.args.values, other.args.values, sizeof drawn.args.values) == 0);
    }
    cr_assert_lt(1000, different);
    cr_assert_lt(50, larger);
}

static void expect_same(const struct bz_campaign_result *a, const struct bz_campaign_result *b) {
    cr_assert_eq(a->runs, b->runs);
    cr_assert_eq(a->digest, b->digest);
    cr_assert_eq(a->violations, b->violations);
    cr_assert_eq(a->stats.steps, b->stats.steps);
    cr_assert_eq(a->distinct, b->distinct);
    cr_assert_eq(a->finding_count, b->finding_count);
    for (uint32_t index = 0; index < a->finding_count; index++) {
        cr_assert_eq(a->findings[index].seed, b->findings[index].seed);
        cr_assert_eq(a->findings[index].digest, b->findings[index].digest);
        cr_assert_eq(a->findings[index].count, b->findings[index].count);
    }
}

static struct bz_campaign_state state;

static void keep_state(void *context, const struct bz_campaign_state *so_far, bool is_last) {
    (void)context;
    (void)is_last;
    state = *so_far;
}

/* Across a wrap of the seeds, and of the draws that come again. */
Test(sizes, workers_and_pauses_change_no_result) {
    static const uint64_t firsts[] = {0, 63000, UINT64_MAX - 1000};
    struct bz_program program = program_of(&bz_scenario_contended, &ring);
    for (size_t first = 0; first < sizeof firsts / sizeof firsts[0]; first++) {
        struct bz_campaign_config config = {.program = &program,
                                            .seed_first = firsts[first],
                                            .runs = 3000,
                                            .keep_going = true,
                                            .draws_sizes = true};
        struct bz_campaign_result whole;
        struct bz_campaign_result other;
        cr_assert(bz_campaign_run(&config, &whole));
        cr_assert_lt(0, whole.violations);
        config.jobs = 3;
        cr_assert(bz_campaign_run(&config, &other));
        expect_same(&whole, &other);
        config.runs = 1234;
        config.on_state = keep_state;
        cr_assert(bz_campaign_run(&config, &other));
        config.runs = 3000;
        config.jobs = 1;
        config.from = &state;
        config.on_state = NULL;
        cr_assert(bz_campaign_run(&config, &other));
        expect_same(&whole, &other);
    }
}

/* Also in the runs that measure a profile. */
Test(sizes, code_that_dies_in_a_large_run_is_a_finding) {
    struct bz_program program = program_of(&bz_scenario_contended, &dying);
    program.contain.is_on = true;
    struct bz_campaign_result one = run(&program, 0, SCHEDULES, false);
    cr_assert_eq(one.violations, 0);
    struct bz_campaign_config config = {
        .program = &program, .runs = SCHEDULES / 4, .keep_going = true, .draws_sizes = true};
    struct bz_campaign_result many;
    cr_assert(bz_campaign_run(&config, &one));
    config.jobs = 2;
    cr_assert(bz_campaign_run(&config, &many));
    expect_same(&one, &many);
    cr_assert_lt(0, one.violations);
    cr_assert_eq(one.lack[0], 0);
    for (uint32_t index = 0; index < one.finding_count; index++) {
        cr_assert_str_eq((char *)one.findings[index].violation.oracle, (char *)"crash");
        cr_assert(bz_sizes_are_drawn(&program, one.findings[index].seed));
    }
}
