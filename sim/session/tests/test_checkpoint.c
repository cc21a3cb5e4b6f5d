/* A campaign goes on from a checkpoint as if it had never stopped. */
#include "sim/session/checkpoint.h"

#include "primitives/runtime/coro/san.h"
#include "sim/tests/crowd.h"

static const struct bz_scenario *const scenarios[] = {&crowd_scenario, NULL};
static const struct bz_variant *const variants[] = {&crowd_sound, &crowd_drops, NULL};
static const struct bz_catalog catalog = {scenarios, variants};

/* Large, and there is one of each in a test. */
static struct bz_job plan;
static struct bz_campaign_state state;
static struct bz_job plan_read;
static struct bz_campaign_state state_read;

static void new_plan(const struct bz_variant *variant, uint64_t runs) {
    memset(&plan, 0, sizeof plan);
    crowd_program(&plan.program, variant, BZ_ORDER_ANY);
    plan.seed_first = 100;
    plan.runs = runs;
    plan.keep_going = true;
    bz_campaign_begin(&state);
}

/* Keeps the state of the campaign so far. */
static void keep_state(void *context, const struct bz_campaign_state *so_far, bool is_last) {
    (void)is_last;
    memcpy(context, so_far, sizeof *so_far);
}

static struct bz_campaign_result go_on(uint64_t until, uint32_t jobs) {
    struct bz_campaign_result result;
    struct bz_campaign_state from = state;
    struct bz_campaign_config config = {.program = &plan.program,
                                        .seed_first = plan.seed_first,
                                        .runs = until,
                                        .jobs = jobs,
                                        .keep_going = plan.keep_going,
                                        .from = &from,
                                        .on_state = keep_state,
                                        .context = &state};
    cr_assert(bz_campaign_run(&config, &result));
    return result;
}

static bool parse(const char *text, size_t length, char *error) {
    return bz_checkpoint_parse(&plan_read, &state_read, &catalog, text, length, "there", error,
                               BZ_ERROR_BYTES);
}

/* Writes the campaign and reads it back. */
static void stop_and_resume(void) {
    char error[BZ_ERROR_BYTES] = "";
    char *text = bz_checkpoint_print(&plan, &state);
    cr_assert_leq(strlen(text), BZ_CHECKPOINT_BYTES_MAX);
    cr_assert(parse(text, strlen(text), error), "%s", error);
    char *again = bz_checkpoint_print(&plan_read, &state_read);
    tst_text(again, text);
    free(again);
    free(text);
    cr_assert_not_null((void *)plan_read.program.scenario);
    plan = plan_read;
    state = state_read;
}

/* Every byte: a number that a checkpoint leaves out shows here. */
static void expect_same(const struct bz_campaign_result *a, const struct bz_campaign_result *b) {
    cr_assert_eq(a->runs, b->runs);
    cr_assert_eq(a->digest, b->digest);
    cr_assert_eq(a->distinct, b->distinct);
    cr_assert_eq(a->handoff_orders_once, b->handoff_orders_once);
    cr_assert_eq(a->finding_count, b->finding_count);
    for (uint32_t index = 0; index < a->finding_count; index++) {
        cr_assert_eq(a->findings[index].count, b->findings[index].count);
        tst_text(a->findings[index].violation.message, b->findings[index].violation.message);
    }
    cr_assert_eq(memcmp(a, b, offsetof(struct bz_campaign_result, findings)), 0);
}

Test(checkpoint, a_campaign_in_pieces_is_one_campaign) {
    static const uint64_t pieces[] = {1, 2, 700, 701, 25000, 38000};
    for (int which = 0; which < 2; which++) {
        new_plan(which == 0 ? &crowd_sound : &crowd_drops, 38000);
        struct bz_campaign_result whole = go_on(plan.runs, 1);
        cr_assert_eq(whole.violations > 0, which == 1);
        cr_assert_not(whole.distinct_is_exact, "too few runs to tell");
        new_plan(plan.program.variant, 38000);
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
    new_plan(&crowd_stops, RUNS);
    plan.program.args.values[CROWD_GUESTS] = GUESTS;
    plan.program.args.values[CROWD_ROUNDS] = ROUNDS;
    plan.program.cancel_windows = BZ_WINDOWS_NONE;
    permits_asked = STOP_AT;
    struct bz_campaign_result whole = go_on(RUNS, 1);
    bz_campaign_begin(&state);
    permits_asked = 0;
    struct bz_campaign_state from = state;
    struct bz_campaign_config config = {.program = &plan.program,
                                        .seed_first = plan.seed_first,
                                        .runs = RUNS,
                                        .keep_going = true,
                                        .stop = &stop,
                                        .from = &from,
                                        .on_state = keep_state,
                                        .context = &state};
    struct bz_campaign_result cut;
    cr_assert(bz_campaign_run(&config, &cut));
    cr_assert(cut.is_interrupted);
    cr_assert_lt(0, state.result.runs, "no chunk is whole");
    cr_assert_lt(cut.runs, RUNS);
    cr_assert_lt(state.result.stats.steps, cut.stats.steps, "no run was cut in the middle");
    struct bz_campaign_result last = go_on(RUNS, 1);
    expect_same(&last, &whole);
}

/* --- what is no checkpoint -------------------------------------------------------------------- */

static void expect_refused(const char *text, size_t length, const char *reason) {
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(parse(text, length, error), "accepted: %s", reason);
    cr_assert_eq(strncmp(error, "there", 5), 0, "%s", error);
    cr_assert_not_null(strstr(error, reason), "'%s' does not say '%s'", error, reason);
}

Test(checkpoint, what_is_damaged_or_foreign_is_refused) {
    new_plan(&crowd_drops, 2000);
    (void)go_on(1000, 1);
    char *text = bz_checkpoint_print(&plan, &state);
    size_t length = strlen(text);
    expect_refused("{}", 2, "is not a checkpoint");
    expect_refused("", 0, "there:1:1");
    expect_refused("{\"format\":\"buzzer-checkpoint/3\"}", 32, "'buzzer-checkpoint/3'");
    expect_refused("{\"format\":\"buzzer-checkpoint/2\"}", 32, "is damaged");
    for (size_t cut = 1; cut < 20; cut++) {
        expect_refused(text, length * cut / 20, "there:1:");
    }
    char *hash = strstr(text, "\"kept\":") + 20; /* a digit of a hash */
    *hash = *hash == '0' ? '1' : '0';
    expect_refused(text, length, "its checksum does not fit");
    free(text);
}

/* A checksum that fits does not make sense of what it covers. */
static void expect_senseless(const char *from, const char *to) {
    new_plan(&crowd_drops, 2000);
    (void)go_on(1000, 1);
    char *text = bz_checkpoint_print(&plan, &state);
    char *place = strstr(text, from);
    cr_assert_not_null(place, "there is no %s", from);
    cr_assert_eq(strlen(from), strlen(to));
    memcpy(place, to, strlen(to));
    bz_checkpoint_sign(text);
    expect_refused(text, strlen(text), "there: ");
    free(text);
}

Test(checkpoint, what_makes_no_sense_is_refused) {
    static const char *const edits[][2] = {
        {"\"runs\":\"0x3e8\"", "\"runs\":\"0x8e8\""}, /* more than wanted */
        {"\"runs\":\"0x3e8\"", "\"runs\":\"3e8  \""},
        {"\"runs\":", "\"rums\":"},
        {"crowd:crowd_drops", "crowd:crowd_drips"},
        {"\"oracle\":\"lost-wakeup\"", "\"oracle\":\"lost-wakeun\""},
        {"\"op\":\"acquire\"", "\"op\":\"akquire\""},
        {"\"skip_mask\":\"0x0\"", "\"skip_mask\":\"0x2\""},
        {"\"kept\":\"-", "\"kept\":\"*"},
        {"\"windows\":{", "\"windoes\":{"},
        {"\"findings\":[", "\"fundings\":["},
    };
    for (size_t index = 0; index < sizeof edits / sizeof edits[0]; index++) {
        expect_senseless(edits[index][0], edits[index][1]);
    }
}
