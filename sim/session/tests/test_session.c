/* A campaign goes on from a checkpoint as if it had never stopped; and its shards, each as a file,
 * add up to the campaign. */
#include "sim/session/checkpoint.h"

#include "primitives/runtime/coro/san.h"
#include "sim/campaign/totals.h"
#include "sim/program/settings.h"
#include "sim/tests/crowd.h"

/* Large, and there is one of each in a test. */
static struct bz_job plan;
static struct bz_campaign_state state;
static struct bz_job plan_read;
static struct bz_campaign_state state_read;

static void new_plan(const struct bz_variant *variant, uint64_t seed_first, uint64_t runs) {
    memset(&plan, 0, sizeof plan);
    crowd_program(&plan.program, variant, BZ_ORDER_ANY);
    plan.seed_first = seed_first;
    plan.runs = runs;
    plan.campaign_runs = runs;
    plan.keep_going = true;
    bz_campaign_begin(&state);
}

/* Keeps the state of the campaign so far. */
static void keep_state(void *context, const struct bz_campaign_state *so_far, bool is_last) {
    (void)is_last;
    memcpy(context, so_far, sizeof *so_far);
}

/* Runs the plan from where `state` stands. */
static struct bz_campaign_result go_on_until(uint64_t until, uint32_t jobs,
                                             const volatile sig_atomic_t *stop) {
    struct bz_campaign_result result;
    struct bz_campaign_state from = state;
    struct bz_campaign_config config = bz_job_campaign(&plan);
    config.runs = until;
    config.jobs = jobs;
    config.stop = stop;
    config.from = &from;
    config.on_state = keep_state;
    config.context = &state;
    cr_assert(bz_campaign_run(&config, &result));
    return result;
}

static struct bz_campaign_result go_on(uint64_t until, uint32_t jobs) {
    return go_on_until(until, jobs, NULL);
}

/* Writes the campaign. The content is in `bytes`, and the caller closes the file. */
static char bytes[(size_t)4 << 20u];
static size_t length;

static FILE *write_plan(void) {
    FILE *file = tmpfile();
    cr_assert(file != NULL && bz_checkpoint_write(&plan, &state, file));
    rewind(file);
    length = fread(bytes, 1, sizeof bytes, file);
    cr_assert(length < sizeof bytes);
    rewind(file);
    return file;
}

static bool parse(const char *content, size_t count, char *error) {
    FILE *file = fmemopen((void *)(uintptr_t)content, count, "r");
    bool is_ok = file != NULL && bz_checkpoint_read(&plan_read, &state_read, &crowd_catalog, file,
                                                    "there", error, BZ_ERROR_BYTES);
    cr_assert(file != NULL && fclose(file) == 0);
    return is_ok;
}

/* Writes the campaign and reads it back. */
static void stop_and_resume(void) {
    static char before[sizeof bytes];
    char error[BZ_ERROR_BYTES] = "";
    (void)fclose(write_plan());
    size_t before_length = length;
    memcpy(before, bytes, length);
    cr_assert(parse(bytes, length, error), "%s", error);
    cr_assert_not_null((void *)plan_read.program.scenario);
    plan = plan_read;
    state = state_read;
    (void)fclose(write_plan());
    cr_assert(length == before_length && memcmp(before, bytes, length) == 0);
}

/* Every byte: a number that a checkpoint leaves out shows here. */
static void expect_same(const struct bz_campaign_result *a, const struct bz_campaign_result *b) {
    cr_assert_eq(a->runs, b->runs);
    cr_assert_eq(a->digest, b->digest);
    cr_assert_eq(a->distinct, b->distinct);
    cr_assert_eq(a->handoff_orders_once, b->handoff_orders_once);
    cr_assert_eq(a->finding_count, b->finding_count);
    for (uint32_t index = 0; index < a->finding_count; index++) {
        cr_assert_eq(a->findings[index].seed, b->findings[index].seed);
        cr_assert_eq(a->findings[index].count, b->findings[index].count);
        tst_text(a->findings[index].violation.message, b->findings[index].violation.message);
    }
    cr_assert_eq(memcmp(a, b, offsetof(struct bz_campaign_result, findings)), 0);
}

Test(checkpoint, a_campaign_in_pieces_is_one_campaign) {
    static const uint64_t pieces[] = {1, 2, 700, 701, 25000, 38000};
    for (int which = 0; which < 2; which++) {
        new_plan(which == 0 ? &crowd_sound : &crowd_drops, 100, 38000);
        struct bz_campaign_result whole = go_on(plan.runs, 1);
        cr_assert_eq(whole.violations > 0, which == 1);
        cr_assert_not(whole.distinct_is_exact, "too few runs to tell");
        new_plan(plan.program.variant, 100, 38000);
        struct bz_campaign_result last = {.runs = 0};
        for (size_t index = 0; index < sizeof pieces / sizeof pieces[0]; index++) {
            last = go_on(pieces[index], 1 + (uint32_t)index % 3);
            cr_assert_eq(last.runs, pieces[index]);
            stop_and_resume();
        }
        expect_same(&last, &whole);
        cr_assert(bz_job_is_finished(&plan, &state));
    }
}

/* The run in the middle of which the campaign stopped counts once. A run is long enough to look at
 * the stop flag, and is repeated (determinism.h). The first chunk of a campaign is 16 runs. */
enum { GUESTS = 24, ROUNDS = 1000, MEALS = GUESTS * ROUNDS, RUNS = 17, STOP_AT = 32 * MEALS + 50 };
static sig_atomic_t stop;
static uint32_t permits_asked;

static enum bz_status acquire_and_stop(void *instance) {
    stop |= ++permits_asked == STOP_AT;
    return toy_acquire(instance);
}

TOY(crowd_stops, TOY_CLAIMS_ALL, .acquire = acquire_and_stop);

Test(checkpoint, what_was_interrupted_goes_on_as_if_nothing_had_happened) {
    if (BZ_SAN_ADDRESS) {
        cr_skip_test("it takes half a minute under a sanitizer");
    }
    new_plan(&crowd_stops, 100, RUNS);
    plan.program.args.values[CROWD_GUESTS] = GUESTS;
    plan.program.args.values[CROWD_ROUNDS] = ROUNDS;
    plan.program.cancel_windows = BZ_WINDOWS_NONE;
    permits_asked = STOP_AT;
    struct bz_campaign_result whole = go_on(RUNS, 1);
    bz_campaign_begin(&state);
    permits_asked = 0;
    struct bz_campaign_result cut = go_on_until(RUNS, 1, &stop);
    cr_assert(cut.is_interrupted);
    cr_assert_lt(0, state.result.runs, "no chunk is whole");
    cr_assert_lt(cut.runs, RUNS);
    cr_assert_lt(state.result.stats.steps, cut.stats.steps, "no run was cut in the middle");
    struct bz_campaign_result last = go_on(RUNS, 1);
    expect_same(&last, &whole);
}

/* --- what is no checkpoint -------------------------------------------------------------------- */

static void expect_refused(const char *content, size_t count, const char *reason) {
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(parse(content, count, error), "accepted: %s", reason);
    cr_assert_eq(strncmp(error, "there", 5), 0, "%s", error);
    cr_assert_not_null(strstr(error, reason), "'%s' does not say '%s'", error, reason);
}

static void new_half(void) {
    new_plan(&crowd_drops, 100, 2000);
    (void)go_on(1000, 1);
}

Test(checkpoint, what_is_damaged_or_foreign_is_refused) {
    static const char old[] = "{\"format\":\"buzzer-checkpoint/2\",\"campaign\":\"crowd\"}";
    new_half();
    (void)fclose(write_plan());
    expect_refused("{}", 2, "is not a checkpoint");
    expect_refused("\n", 1, "is not a checkpoint");
    expect_refused(old, sizeof old - 1, "another version of Buzzer");
    expect_refused("buzzer-search/4", 15, "another version of Buzzer");
    expect_refused("buzzer-work/9 campaign crowd", 28, "another version of Buzzer");
    for (size_t cut = 1; cut < 20; cut++) {
        expect_refused(bytes, length * cut / 20, "cut short");
    }
    for (size_t place = 0; place < length; place += place < 200 ? 1 : 97) {
        char error[BZ_ERROR_BYTES];
        bytes[place] = (char)(bytes[place] ^ 1);
        cr_assert_not(parse(bytes, length, error), "byte %zu", place);
        bytes[place] = (char)(bytes[place] ^ 1);
    }
    char *kind = strstr(bytes, "campaign");
    memcpy(kind, "searches", 8);
    expect_refused(bytes, length, "is the checkpoint of a searches, and not of a campaign");
}

/* A checksum that fits does not make sense of what it covers. */
static void spoil(unsigned which) {
    switch (which) {
    case 0: /* more than wanted */
        state.result.runs = plan.runs + 1;
        break;
    case 1:
        state.result.violations++;
        break;
    case 2:
        state.result.by_oracle[1]++;
        break;
    case 3:
        state.result.findings[0].violation.op = BZ_OP_COUNT;
        break;
    case 4:
        state.result.findings[0].violation.window = BZ_WINDOW_COUNT;
        break;
    case 5:
        state.result.findings[0].violation.oracle = "lost-wakeun";
        break;
    case 6: /* violations, and no finding */
        state.result.finding_count = 0;
        break;
    case 7:
        state.distinct.skip_mask = 2;
        break;
    case 8: /* a value that is kept twice */
        state.distinct.kept[1] = state.distinct.kept[0];
        break;
    case 9:
        plan.shard = (struct bz_shard){3, 2};
        break;
    case 10: /* not so many runs */
        plan.shard = (struct bz_shard){1, 2};
        plan.campaign_runs = plan.runs;
        break;
    case 11: /* it is not in the catalog */
        plan.program.variant = &crowd_stops;
        break;
    default:
        break;
    }
}

Test(checkpoint, what_makes_no_sense_is_refused) {
    for (unsigned which = 0; which < 12; which++) {
        char error[BZ_ERROR_BYTES] = "";
        new_half();
        spoil(which);
        (void)fclose(write_plan());
        cr_assert_not(parse(bytes, length, error), "accepted: %u", which);
        cr_assert_eq(strncmp(error, "there: ", 7), 0, "%s", error);
        cr_assert(which == 11 || strstr(error, "makes no sense") != NULL, "%s", error);
    }
}

/* --- shards ----------------------------------------------------------------------------------- */

static struct bz_campaign_state whole;
static struct bz_campaign_state joined;

static void run_shard(uint32_t number, uint32_t count, uint32_t jobs) {
    plan.shard = (struct bz_shard){number, count};
    plan.runs = bz_shard_runs(&plan.shard, plan.campaign_runs);
    bz_campaign_begin(&state);
    cr_assert_eq(go_on(plan.runs, jobs).runs, plan.runs);
}

static void run_whole(void) {
    run_shard(1, 1, 1);
    whole = state;
}

/* As another process would: from a file. */
static void join_shard(uint32_t number, uint32_t count) {
    char error[BZ_ERROR_BYTES] = "";
    run_shard(number, count, 1 + number % 2);
    (void)fclose(write_plan());
    cr_assert(parse(bytes, length, error), "%s", error);
    cr_assert_eq(plan_read.shard.number, number);
    cr_assert_eq(plan_read.shard.count, count);
    cr_assert_eq(plan_read.campaign_runs, plan.campaign_runs);
    cr_assert_eq(bz_job_first_run(&plan_read), bz_job_first_run(&plan));
    bz_tally_join(&joined, &state_read);
}

static void expect_same_sketch(const struct bz_distinct *a, const struct bz_distinct *b) {
    cr_assert_eq(a->skip_mask, b->skip_mask);
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(memcmp(a->kept, b->kept, b->count * sizeof b->kept[0]), 0);
    cr_assert_eq(memcmp(a->again, b->again, b->count * sizeof b->again[0]), 0);
}

static void expect_sum(uint32_t count) {
    bz_campaign_begin(&joined);
    for (uint32_t number = 1; number <= count; number++) {
        join_shard(number, count);
    }
    expect_same(&joined.result, &whole.result);
    expect_same_sketch(&joined.distinct, &whole.distinct);
    expect_same_sketch(&joined.handoffs, &whole.handoffs);
}

Test(tally, shards_are_one_campaign) {
    for (int which = 0; which < 2; which++) {
        new_plan(which == 0 ? &crowd_sound : &crowd_drops, 100, 40000);
        run_whole();
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
    run_whole();
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
                uint64_t shard_runs = bz_shard_runs(&shard, runs[index]);
                cr_assert_eq(bz_shard_first(&shard, runs[index]), next);
                cr_assert_leq(least, shard_runs);
                cr_assert_leq(shard_runs, least + 1);
                next += shard_runs;
            }
            cr_assert_eq(next, runs[index]);
        }
    }
}

Test(totals, a_situation_counts_once_and_only_of_a_run_that_passes) {
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
