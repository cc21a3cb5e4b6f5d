/* A campaign goes on from a checkpoint as if it had never stopped. */
#include "sim/session/checkpoint.h"

#include "primitives/runtime/coro/san.h"
#include "sim/program/settings.h"
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
    bool is_ok = file != NULL && bz_checkpoint_read(&plan_read, &state_read, &catalog, file,
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

static void expect_refused(const char *content, size_t count, const char *reason) {
    char error[BZ_ERROR_BYTES] = "";
    cr_assert_not(parse(content, count, error), "accepted: %s", reason);
    cr_assert_eq(strncmp(error, "there", 5), 0, "%s", error);
    cr_assert_not_null(strstr(error, reason), "'%s' does not say '%s'", error, reason);
}

static void new_half(void) {
    new_plan(&crowd_drops, 2000);
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
