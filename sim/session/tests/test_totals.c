/* The shards of a campaign, each as a file, add up to the campaign. */
#include "sim/campaign/totals.h"

#include "sim/program/settings.h"
#include "sim/program/sizes.h"
#include "sim/session/checkpoint.h"
#include "sim/tests/crowd.h"

static const struct bz_scenario *const scenarios[] = {&crowd_scenario, NULL};
static const struct bz_variant *const variants[] = {&crowd_sound, &crowd_drops, NULL};
static const struct bz_catalog catalog = {scenarios, variants};

/* Large, and there is one of each in a test. */
static struct bz_job plan;
static struct bz_campaign_state whole;
static struct bz_campaign_state joined;
static struct bz_campaign_state part;
static struct bz_campaign_state part_read;

static void new_plan(const struct bz_variant *variant, uint64_t seed_first, uint64_t runs) {
    memset(&plan, 0, sizeof plan);
    crowd_program(&plan.program, variant, BZ_ORDER_ANY);
    plan.seed_first = seed_first;
    plan.campaign_runs = runs;
    plan.keep_going = true;
}

static void keep_state(void *context, const struct bz_campaign_state *so_far, bool is_last) {
    (void)is_last;
    memcpy(context, so_far, sizeof *so_far);
}

static void run_shard(uint32_t number, uint32_t count, uint32_t jobs,
                      struct bz_campaign_state *state) {
    struct bz_campaign_result result;
    plan.shard = (struct bz_shard){number, count};
    plan.runs = bz_shard_runs(&plan.shard, plan.campaign_runs);
    struct bz_campaign_config config = {.program = &plan.program,
                                        .seed_first = plan.seed_first,
                                        .first_run = bz_job_first_run(&plan),
                                        .runs = plan.runs,
                                        .jobs = jobs,
                                        .keep_going = true,
                                        .on_state = keep_state,
                                        .context = state};
    cr_assert(bz_campaign_run(&config, &result));
    cr_assert_eq(result.runs, plan.runs);
}

/* As another process would: from a file. */
static void join_shard(uint32_t number, uint32_t count) {
    struct bz_job read;
    char error[BZ_ERROR_BYTES] = "";
    run_shard(number, count, 1 + number % 2, &part);
    FILE *file = tmpfile();
    cr_assert(file != NULL && bz_checkpoint_write(&plan, &part, file));
    rewind(file);
    cr_assert(bz_checkpoint_read(&read, &part_read, &catalog, file, "there", error, sizeof error),
              "%s", error);
    (void)fclose(file);
    cr_assert_eq(read.shard.number, number);
    cr_assert_eq(read.shard.count, count);
    cr_assert_eq(read.campaign_runs, plan.campaign_runs);
    cr_assert_eq(bz_job_first_run(&read), bz_job_first_run(&plan));
    bz_tally_join(&joined, &part_read);
}

static void expect_same_sketch(const struct bz_distinct *a, const struct bz_distinct *b) {
    cr_assert_eq(a->skip_mask, b->skip_mask);
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(memcmp(a->kept, b->kept, b->count * sizeof b->kept[0]), 0);
    cr_assert_eq(memcmp(a->again, b->again, b->count * sizeof b->again[0]), 0);
}

/* Every byte of the result, and what another campaign would go on from. */
static void expect_whole(uint32_t count) {
    const struct bz_campaign_result *a = &joined.result;
    const struct bz_campaign_result *b = &whole.result;
    cr_assert_eq(a->runs, b->runs, "%u shards", count);
    cr_assert_eq(a->digest, b->digest, "%u shards", count);
    cr_assert_eq(a->distinct, b->distinct, "%u shards", count);
    cr_assert_eq(memcmp(a, b, offsetof(struct bz_campaign_result, findings)), 0, "%u shards",
                 count);
    for (uint32_t index = 0; index < b->finding_count; index++) {
        cr_assert_eq(a->findings[index].seed, b->findings[index].seed);
        cr_assert_eq(a->findings[index].count, b->findings[index].count);
        tst_text(a->findings[index].violation.message, b->findings[index].violation.message);
    }
    expect_same_sketch(&joined.distinct, &whole.distinct);
    expect_same_sketch(&joined.handoffs, &whole.handoffs);
}

static void expect_sum(uint32_t count) {
    bz_campaign_begin(&joined);
    for (uint32_t number = 1; number <= count; number++) {
        join_shard(number, count);
    }
    expect_whole(count);
}

Test(tally, shards_are_one_campaign) {
    for (int which = 0; which < 2; which++) {
        new_plan(which == 0 ? &crowd_sound : &crowd_drops, 100, 40000);
        run_shard(1, 1, 1, &whole);
        cr_assert_eq(whole.result.violations > 0, which == 1);
        cr_assert_not(whole.result.distinct_is_exact, "too few runs to tell");
        expect_sum(7);
        if (which == 1) {
            expect_sum(1);
            expect_sum(64);
        }
    }
}

/* Seeds that wrap, and more shards than runs. */
Test(tally, shards_may_be_empty_and_seeds_may_wrap) {
    new_plan(&crowd_drops, UINT64_MAX - 4, 13);
    run_shard(1, 1, 1, &whole);
    expect_sum(16);
}

/* No run is in two shards or in none. */
Test(tally, ranges_have_no_gap_and_no_overlap) {
    static const uint64_t runs[] = {0, 1, 63, 64, 65, 1000003, INT64_MAX};
    static const uint32_t counts[] = {1, 2, 7, 64, BZ_SHARDS_MAX};
    for (size_t index = 0; index < sizeof runs / sizeof runs[0]; index++) {
        for (size_t which = 0; which < sizeof counts / sizeof counts[0]; which++) {
            struct bz_shard shard = {1, counts[which]};
            uint64_t least = runs[index] / shard.count;
            uint64_t next = 0;
            for (; shard.number <= shard.count; shard.number++) {
                uint64_t length = bz_shard_runs(&shard, runs[index]);
                cr_assert_eq(bz_shard_first(&shard, runs[index]), next);
                cr_assert_leq(least, length);
                cr_assert_leq(length, least + 1);
                next += length;
            }
            cr_assert_eq(next, runs[index]);
        }
    }
}

Test(totals, a_situation_counts_once_and_only_of_a_run_that_passes) {
    static struct bz_campaign_state state;
    static struct bz_campaign_state later;
    struct bz_run_mark mark = {.has_passed = true, .strike_count = 2, .strikes = {5, 700}};
    bz_campaign_begin(&state);
    bz_campaign_begin(&later);
    cr_assert(bz_tally_note_strikes(state.situations, &mark));
    cr_assert_not(bz_tally_note_strikes(state.situations, &mark));
    mark.strikes[1] = 701;
    mark.has_passed = false;
    cr_assert_not(bz_tally_note_strikes(later.situations, &mark));
    mark.has_passed = true;
    cr_assert(bz_tally_note_strikes(later.situations, &mark));
    bz_tally_join(&state, &later);
    cr_assert_eq(state.result.situations, 3);
}
