/* A long campaign: which arm runs next, what counts as new, and that it can stop anywhere. */
#include "sim/fuzz/fuzz.h"

#include "sim/fuzz/coverage.h"
#include "sim/fuzz/state.h"
#include "sim/session/checkpoint.h"
#include "sim/tests/crowd.h"

static const struct bz_scenario *const scenarios[] = {&crowd_scenario, NULL};
static const struct bz_variant *const variants[] = {&crowd_sound, &crowd_drops, NULL};
static const struct bz_catalog catalog = {.scenarios = scenarios, .variants = variants};

/* Two targets: sound code, and code that loses a wake-up. */
static struct bz_fuzz *new_fuzz(void) {
    struct bz_fuzz *fuzz = calloc(1, sizeof *fuzz);
    cr_assert_not_null(fuzz);
    cr_assert(bz_fuzz_init(fuzz));
    for (size_t index = 0; variants[index] != NULL; index++) {
        struct bz_program program;
        bz_program_init(&program, &crowd_scenario, variants[index], &bz_strategy_portfolio);
        cr_assert(bz_fuzz_add_target(fuzz, &program));
    }
    fuzz->slice_steps = 3000;
    bz_fuzz_make_arms(fuzz, &(struct bz_fuzz_fixed){.strategy = false});
    return fuzz;
}

static void delete_fuzz(struct bz_fuzz *fuzz) {
    bz_fuzz_fini(fuzz);
    free(fuzz);
}

static void run(struct bz_fuzz *fuzz, uint64_t runs_max, uint32_t jobs) {
    char lack[BZ_LACK_BYTES];
    cr_assert(
        bz_fuzz_run(fuzz, &(struct bz_fuzz_config){.runs_max = runs_max, .jobs = jobs}, lack));
    cr_assert_eq(fuzz->runs, runs_max);
}

static char *text_of(const struct bz_fuzz *fuzz) {
    return bz_fuzz_print(fuzz, &(struct bz_fuzz_order){.runs_max = 1});
}

static void expect_same(const struct bz_fuzz *a, const struct bz_fuzz *b) {
    char *one = text_of(a);
    char *two = text_of(b);
    tst_text(one, two);
    free(one);
    free(two);
}

/* --- arms ------------------------------------------------------------------------------------- */

Test(fuzz, an_arm_changes_nothing_that_is_fixed) {
    struct bz_fuzz *fuzz = new_fuzz();
    /* the crowd has no sizes to draw: no arm is about them */
    cr_assert_eq(fuzz->arm_count, 2 * 10);
    cr_assert_eq(fuzz->arms[0].target, 0);
    cr_assert_eq(fuzz->arms[1].target, 1);
    tst_text(fuzz->arms[0].name, "portfolio");
    fuzz->arm_count = 0;
    bz_fuzz_make_arms(fuzz, &(struct bz_fuzz_fixed){
                                .strategy = true, .order = true, .cancels = true, .sizes = true});
    cr_assert_eq(fuzz->arm_count, 2);
    fuzz->arm_count = 0;
    bz_fuzz_make_arms(fuzz, &(struct bz_fuzz_fixed){.strategy = true, .cancels = true});
    cr_assert_eq(fuzz->arm_count, 2 * 2);
    tst_text(fuzz->arms[2].name, "order fifo");
    cr_assert_eq(fuzz->arms[2].program.order, BZ_ORDER_FIFO);
    delete_fuzz(fuzz);
}

Test(fuzz, arms_run_in_turn) {
    struct bz_fuzz *fuzz = new_fuzz();
    run(fuzz, 5000, 1);
    cr_assert_lt(fuzz->arm_count, fuzz->slices);
    for (uint32_t arm = 0; arm < fuzz->arm_count; arm++) {
        uint64_t slices = fuzz->slices / fuzz->arm_count + (arm < fuzz->slices % fuzz->arm_count);
        cr_assert_eq(fuzz->arms[arm].slices, slices);
    }
    delete_fuzz(fuzz);
}

/* --- coverage --------------------------------------------------------------------------------- */

static struct bz_run_mark mark(uint64_t seed, uint32_t steps, uint16_t first, uint16_t second) {
    return (struct bz_run_mark){.seed = seed,
                                .handoffs = bz_seed_mix(seed),
                                .steps = steps,
                                .has_passed = true,
                                .strike_count = second == 0 ? 1 : 2,
                                .strikes = {first, second}};
}

Test(fuzz, a_situation_keeps_its_shortest_run_that_passes) {
    struct bz_fuzz *fuzz = new_fuzz();
    struct bz_fuzz_target *target = fuzz->targets[0];
    struct bz_fuzz_slice slice = {.is_open = true};
    struct bz_run_mark marks[] = {mark(1, 9, 5, 0), mark(2, 7, 5, 6), mark(3, 7, 5, 0),
                                  mark(4, 3, 5, 0)};
    marks[3].has_passed = false;
    for (int index = 0; index < 4; index++) {
        bz_coverage_add(target, 2, &marks[index], &slice);
    }
    cr_assert_eq(slice.new_situations, 2);
    cr_assert_eq(slice.new_handoffs, 4);
    cr_assert_eq(target->strikes, 5);
    cr_assert_eq(target->situations[0].count, 4);
    cr_assert_eq(target->situations[0].shortest.seed, 2);
    cr_assert_eq(target->situations[0].shortest.arm, 2);
    cr_assert_eq(bz_fuzz_situations_once(target), 1);
    cr_assert_eq(bz_fuzz_new_situation_ppm(target), 200000);
    bz_coverage_add(target, 2, &marks[0], &slice); /* its hand-off order is known */
    cr_assert_eq(slice.new_handoffs, 4);
    delete_fuzz(fuzz);
}

Test(fuzz, few_examples_have_all_situations) {
    struct bz_fuzz *fuzz = new_fuzz();
    struct bz_fuzz_target *target = fuzz->targets[0];
    struct bz_fuzz_slice slice = {.is_open = true};
    uint32_t chosen[BZ_FUZZ_SITUATIONS_MAX];
    const struct bz_run_mark marks[] = {mark(1, 5, 10, 11), mark(2, 6, 11, 12), mark(3, 8, 12, 0),
                                        mark(4, 9, 13, 0)};
    for (int index = 0; index < 4; index++) {
        bz_coverage_add(target, 0, &marks[index], &slice);
    }
    /* 1 has 10 and 11; 2 is the shortest with 12; 4 alone has 13 */
    cr_assert_eq(bz_fuzz_cover(target, chosen), 3);
    cr_assert_eq(target->situations[chosen[0]].shortest.seed, 1);
    cr_assert_eq(target->situations[chosen[1]].shortest.seed, 2);
    cr_assert_eq(target->situations[chosen[2]].shortest.seed, 4);
    delete_fuzz(fuzz);
}

Test(fuzz, situations_beyond_the_limit_are_counted_and_not_kept) {
    struct bz_fuzz *fuzz = new_fuzz();
    struct bz_fuzz_target *target = fuzz->targets[0];
    struct bz_fuzz_slice slice = {.is_open = true};
    for (uint16_t number = 1; number <= BZ_FUZZ_SITUATIONS_MAX + 10; number++) {
        struct bz_run_mark one = mark(number, 5, number, 0);
        bz_coverage_add(target, 0, &one, &slice);
    }
    cr_assert_eq(target->situation_count, BZ_FUZZ_SITUATIONS_MAX);
    cr_assert_eq(slice.new_situations, BZ_FUZZ_SITUATIONS_MAX);
    cr_assert_eq(target->strikes, BZ_FUZZ_SITUATIONS_MAX + 10);
    delete_fuzz(fuzz);
}

/* Every strike of a situation is a cancel in that window, and one run has not many of them. */
Test(fuzz, situations_agree_with_windows) {
    struct bz_fuzz *fuzz = new_fuzz();
    run(fuzz, 5000, 1);
    for (uint32_t number = 0; number < fuzz->target_count; number++) {
        const struct bz_fuzz_target *target = fuzz->targets[number];
        uint64_t strikes[BZ_OP_COUNT][BZ_WINDOW_COUNT] = {{0}};
        bool has_woken_queue = false;
        for (uint32_t index = 0; index < target->situation_count; index++) {
            struct bz_situation situation = bz_situation_of(target->situations[index].number);
            strikes[situation.op][situation.window] += target->situations[index].count;
            if (situation.window == BZ_WINDOW_WAITING) {
                cr_assert_lt(0, situation.waiting);
            }
            if (situation.window == BZ_WINDOW_WOKEN) {
                cr_assert_lt(0, situation.woken);
                has_woken_queue |= situation.waiting > 0;
            }
        }
        cr_assert(has_woken_queue);
        for (unsigned op = 0; op < BZ_OP_COUNT; op++) {
            for (unsigned window = 0; window < BZ_WINDOW_COUNT; window++) {
                cr_assert_leq(strikes[op][window], target->windows[op][window]);
            }
        }
        cr_assert_eq(strikes[BZ_OP_ACQUIRE][BZ_WINDOW_WOKEN] > 0, 1);
    }
    delete_fuzz(fuzz);
}

/* --- all of it -------------------------------------------------------------------------------- */

Test(fuzz, is_the_same_with_any_number_of_workers_and_finds_the_fault) {
    struct bz_fuzz *one = new_fuzz();
    struct bz_fuzz *three = new_fuzz();
    run(one, 6000, 1);
    run(three, 6000, 3);
    expect_same(one, three);
    cr_assert_lt(0, one->finding_count);
    for (uint32_t index = 0; index < one->finding_count; index++) {
        cr_assert_eq(one->findings[index].target, 1);
    }
    cr_assert_eq(one->targets[0]->violations, 0);
    cr_assert_lt(0, one->targets[1]->violations);
    uint64_t runs = 0;
    for (uint32_t arm = 0; arm < one->arm_count; arm++) {
        runs += one->arms[arm].runs;
    }
    cr_assert_eq(runs, 6000);
    delete_fuzz(one);
    delete_fuzz(three);
}

/* A session that ends after so many runs, and the next one from the file that it leaves. */
static struct bz_fuzz *stop_at(struct bz_fuzz *fuzz, uint64_t runs) {
    struct bz_fuzz *next = calloc(1, sizeof *next);
    struct bz_fuzz_order order;
    char error[BZ_ERROR_BYTES];
    run(fuzz, runs, 1);
    char *text = text_of(fuzz);
    bool is_read =
        bz_fuzz_parse(next, &order, &catalog, text, strlen(text), "here", error, sizeof error);
    cr_assert(is_read, "%s", error);
    expect_same(fuzz, next);
    free(text);
    delete_fuzz(fuzz);
    return next;
}

Test(fuzz, goes_on_from_anywhere_as_if_it_had_not_stopped) {
    struct bz_fuzz *whole = new_fuzz();
    struct bz_fuzz *parts = new_fuzz();
    run(whole, 5000, 1);
    static const uint64_t stops[] = {1, 2, 77, 78, 500, 1234, 3000, 4999};
    for (size_t index = 0; index < sizeof stops / sizeof stops[0]; index++) {
        parts = stop_at(parts, stops[index]);
    }
    run(parts, 5000, 1);
    expect_same(whole, parts);
    delete_fuzz(whole);
    delete_fuzz(parts);
}

static bool is_read(const char *text, char *error) {
    static struct bz_fuzz fuzz;
    struct bz_fuzz_order order;
    bool is_ok =
        bz_fuzz_parse(&fuzz, &order, &catalog, text, strlen(text), "here", error, BZ_ERROR_BYTES);
    bz_fuzz_fini(&fuzz);
    return is_ok;
}

/* Replaces the first `old` by `new`, of the same length, and makes the checksum fit. */
static void expect_refused(const struct bz_fuzz *fuzz, const char *old, const char *new) {
    char error[BZ_ERROR_BYTES] = "";
    char *text = text_of(fuzz);
    char *place = strstr(text, old);
    cr_assert_not_null(place, "no %s", old);
    memcpy(place, new, strlen(new));
    cr_assert_not(is_read(text, error), "%s", new);
    cr_assert_not_null(strstr(error, "checksum"), "%s: %s", new, error);
    bz_checkpoint_sign(text);
    cr_assert_not(is_read(text, error), "%s", new);
    cr_assert_null(strstr(error, "checksum"), "%s: %s", new, error);
    free(text);
}

Test(fuzz, refuses_a_state_that_makes_no_sense) {
    struct bz_fuzz *fuzz = new_fuzz();
    run(fuzz, 2001, 1);
    static const char *const edits[][2] = {
        {"\"program\":\"crowd:", "\"program\":\"cloud:"},
        {"\"slices\":\"0x", "\"slicex\":\"0x"},
        {"\"name\":\"delay\"", "\"name\":\"relay\""},
        {"\"arm\":0,\"steps\"", "\"arm\":1,\"steps\""}, /* of another target */
        {"\"number\":", "\"numbex\":"},
    };
    for (size_t index = 0; index < sizeof edits / sizeof edits[0]; index++) {
        expect_refused(fuzz, edits[index][0], edits[index][1]);
    }
    delete_fuzz(fuzz);
}

static bool stop_after_one(void *context) {
    (*(int *)context)++;
    return false;
}

Test(fuzz, stops_after_a_slice) {
    struct bz_fuzz *fuzz = new_fuzz();
    char lack[BZ_LACK_BYTES];
    int slices = 0;
    cr_assert(bz_fuzz_run(fuzz,
                          &(struct bz_fuzz_config){.runs_max = UINT64_MAX,
                                                   .on_slice = stop_after_one,
                                                   .context = &slices},
                          lack));
    cr_assert_eq(slices, 1);
    cr_assert_eq(fuzz->slices, 1);
    cr_assert_not(fuzz->slice.is_open);
    delete_fuzz(fuzz);
}

Test(fuzz, samples_are_limited_and_cover_all_the_time) {
    struct bz_fuzz *fuzz = new_fuzz();
    for (uint64_t second = 0; second < 100000; second++) {
        fuzz->runs = second;
        bz_fuzz_sample(fuzz, second * 1000);
    }
    cr_assert_leq(fuzz->sample_count, BZ_FUZZ_SAMPLES_MAX);
    cr_assert_lt(BZ_FUZZ_SAMPLES_MAX / 3, fuzz->sample_count);
    for (uint32_t index = 1; index < fuzz->sample_count; index++) {
        cr_assert_lt(fuzz->samples[index - 1].runs, fuzz->samples[index].runs);
    }
    cr_assert_lt(98000, fuzz->samples[fuzz->sample_count - 1].runs);
    fuzz->runs = 0;
    delete_fuzz(fuzz);
}
