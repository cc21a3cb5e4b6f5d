/* Injected cancels: each window is named correctly, and filter and budget are respected. */
#include "sim/tests/toys.h"

struct strike {
    const char *plan;
    uint32_t step; /* of the cancel */
    enum bz_op op;
    enum bz_window window;
};

/* Where a cancel of guest b strikes, by the plan. */
static const struct strike strikes[] = {
    {"a !b", 2, BZ_OP_START, BZ_WINDOW_UNSTARTED},
    {"a b !b", 3, BZ_OP_ACQUIRE, BZ_WINDOW_WAITING},
    {"a b a !b", 4, BZ_OP_ACQUIRE, BZ_WINDOW_WOKEN},
    {"a b !b !b", 4, BZ_OP_ACQUIRE, BZ_WINDOW_CANCELLING},
    {"a b a !b !b", 5, BZ_OP_ACQUIRE, BZ_WINDOW_CANCELLING},
    {"a b a b !b", 5, BZ_OP_YIELD, BZ_WINDOW_HOLDING},
    {"a b a b b !b", 6, BZ_OP_SLEEP, BZ_WINDOW_SLEEPING},
    {"a b a b b B !b", 7, BZ_OP_SLEEP, BZ_WINDOW_SLEEPING},
};

Test(windows, are_labelled_by_where_the_cancel_strikes) {
    for (size_t index = 0; index < sizeof strikes / sizeof strikes[0]; index++) {
        const struct strike *strike = &strikes[index];
        struct stage stage;
        stage_begin(&stage, &bz_variant_buzzer, 1);
        stage_act(
            &stage,
            STAGE_SCRIPTS("acquire ~yield release ~yield ~yield", "acquire ~yield release ~sleep"),
            strike->plan);
        const struct stage_plan *plan = stage.world->judge->strategy_state;
        cr_assert_eq(plan->window[strike->step], strike->window, "%s", strike->plan);
        cr_assert_lt(0, stage.world->judge->stats.windows[strike->op][strike->window], "%s",
                     strike->plan);
        stage_expect_pass(&stage);
        stage_end(&stage);
    }
}

/* A task that has ended is a candidate as long as another task lives. */
Test(windows, done_is_a_window_while_others_live) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_act(&stage, STAGE_SCRIPTS("yield yield", "~yield"), "b b !b a");
    const struct stage_plan *plan = stage.world->judge->strategy_state;
    cr_assert_eq(plan->window[3], BZ_WINDOW_DONE);
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_RUN][BZ_WINDOW_DONE], 1);
    stage_expect_pass(&stage);
    stage_end(&stage);
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_act(&stage, STAGE_SCRIPTS("yield"), "a a !a");
    cr_assert_eq(stage.world->judge->stats.injected, 0);
    stage_end(&stage);
}

/* A task that cancels itself, and one cancelled by another, are counted with their windows, too. */
Test(windows, count_the_cancels_of_tasks) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, 1);
    stage_guests(&stage,
                 STAGE_SCRIPTS("acquire cancel-self ~yield cancel-b yield release", "~acquire"));
    stage_play(&stage, "a b a");
    stage_expect_pass(&stage);
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_RUN][BZ_WINDOW_RUNNING], 1);
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WAITING], 1);
    cr_assert_eq(stage.world->judge->stats.injected, 0);
    stage_end(&stage);
}

static void view_without_cancelled(void *instance, struct bz_permit_view *view) {
    bz_zoo_semaphore_view(instance, view);
    view->cancelled = 0;
}

TOY(forgets_cancelled, TOY_CLAIMS_ALL, .view = view_without_cancelled);

/* A cancel from outside is a step: the objects that it concerns are judged at its end. */
Test(injection, is_judged_as_a_step) {
    stage_rows((const struct stage_row[]){
        {"queue-partition", &forgets_cancelled,
         "permits 1; a: acquire yield release; b: ~acquire; a b !b",
         "queue-partition 3: but shows 0 that wait, 0 with a result and 0 cancelled"},
        {NULL},
    });
}

Test(injection, respects_the_budget) {
    for (uint32_t budget = 0; budget <= 3; budget++) {
        struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
        config.cancels_max = budget;
        struct stage stage;
        stage_begin_with(&stage, &bz_variant_buzzer, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
        stage_act(&stage, STAGE_SCRIPTS("~yield ~yield ~yield", "yield yield yield yield"),
                  budget == 0   ? "a !a"
                  : budget == 1 ? "a !a a !a"
                  : budget == 2 ? "a !a a !a a !a"
                                : "a !a a !a a !a a");
        cr_assert_eq(stage.world->judge->stats.injected, budget);
        stage_expect_pass(&stage);
        stage_end(&stage);
    }
}

Test(injection, strikes_only_in_windows_that_are_enabled) {
    for (uint32_t window = 1; window <= BZ_WINDOW_DONE; window++) {
        struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
        config.strategy = &bz_strategy_random;
        config.cancel_windows = 1u << window;
        struct bz_world *world = bz_world_new(&config, &bz_variant_buzzer);
        for (uint64_t seed = 0; seed < 400; seed++) {
            struct stage stage = {.world = world};
            bz_judge_begin(world->judge, &(struct bz_run_start){.seed = seed});
            bz_world_begin(world);
            tst_status(bz_sut_permits_init(&stage.sut, world, BZ_PRIMITIVE_SEMAPHORE, "table", 1),
                       BZ_OK);
            for (int guest = 0; guest < 4; guest++) {
                stage_guest(&stage, "acquire ~yield ~sleep release ~sleep ~yield ~yield");
            }
            bz_world_run(world);
            bz_judge_end(world->judge);
            stage_expect_pass(&stage);
        }
        /* A second request needs a first one. */
        bool can_strike = window != BZ_WINDOW_CANCELLING;
        cr_assert_eq(world->judge->stats.injected > 0, can_strike, "window %u", window);
        uint64_t elsewhere = 0;
        for (uint32_t op = 0; op < BZ_OP_COUNT; op++) {
            for (uint32_t other = 0; other < BZ_WINDOW_COUNT; other++) {
                elsewhere += other == window ? 0 : world->judge->stats.windows[op][other];
            }
        }
        cr_assert_eq(elsewhere, 0, "window %u", window);
        bz_world_destroy(world);
    }
}
