/* Order of steps: the virtual clock, and the turns of the two loop orders. */
#include "primitives/runtime/timer.h"
#include "sim/tests/toys.h"

/* Plays a timeline that begins with "any" or "fifo". */
static void play(struct stage *stage, const char *timeline) {
    char text[200];
    snprintf(text, sizeof text, "semaphore 1 order=%s", timeline);
    stage_row_begin(stage, &(struct stage_row){timeline, &bz_variant_buzzer, text}, stage_word);
}

/* --- clock ------------------------------------------------------------------------------------ */

Test(clock, moves_only_when_nothing_is_ready_and_then_to_the_next_timer) {
    static const char *const timelines[] = {
        "any; a: doze; b: sleep sleep sleep sleep; c: yield yield yield"
        " => c.yield:ok c.yield:ok c.yield:ok b.sleep:ok b.sleep:ok a.doze:ok b.sleep:ok "
        "b.sleep:ok",
        "fifo; a: doze; b: sleep sleep sleep sleep; c: yield yield yield"
        " => c.yield:ok c.yield:ok c.yield:ok b.sleep:ok b.sleep:ok a.doze:ok b.sleep:ok "
        "b.sleep:ok"};
    for (int index = 0; index < 2; index++) {
        struct stage stage;
        play(&stage, timelines[index]);
        cr_assert_eq(stage.world->loop->now_ns, 40);
        stage_end(&stage);
    }
}

static void fire_twice(struct bz_timer *timer) {
    if (timer->when_ns == 10) {
        cr_assert(bz_timer_arm(timer, 5));
    }
}

Test(clock, stands_still_for_a_timer_of_the_past) {
    for (int order = 0; order < 2; order++) {
        struct bz_judge_config config = stage_config((enum bz_order)order);
        struct bz_timer timer;
        struct stage stage;
        stage_begin_with(&stage, &bz_variant_buzzer, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
        bz_timer_init(&timer, stage.world->loop, fire_twice);
        cr_assert(bz_timer_arm(&timer, 10));
        stage_act(&stage, STAGE_SCRIPTS("yield"), "");
        stage_expect_pass(&stage);
        cr_assert_eq(timer.when_ns, 5);
        cr_assert_eq(stage.world->loop->now_ns, 10);
        stage_end(&stage);
    }
}

/* A busy loop: the timer is due while handles are ready. */
Test(clock, jumps_on_request_while_handles_are_ready) {
    struct stage stage;
    play(&stage, "any; a: sleep; b: yield yield yield; a b +A a"
                 " => a.sleep:ok b.yield:ok b.yield:ok b.yield:ok");
    cr_assert_eq(stage.world->judge->tape.count, 3); /* the jump, and two handles out of order */
    cr_assert_eq(stage.world->judge->tape.choices[0].kind, BZ_CHOICE_DELAY);
    cr_assert_eq(stage.world->judge->tape.choices[0].step, 3);
    stage_end(&stage);
    play(&stage, "fifo; a: sleep; b: yield yield yield; a b +b"
                 " => b.yield:ok b.yield:ok a.sleep:ok b.yield:ok");
    stage_end(&stage);
}

/* An idle loop of order fifo wakes so late that both timers are due: a's step comes after them. */
Test(clock, jumps_on_request_when_an_idle_loop_wakes) {
    struct stage stage;
    play(&stage, "fifo; a: sleep yield; b: doze; a b +A"
                 " => a.sleep:ok b.doze:ok a.yield:ok");
    cr_assert_eq(stage.world->judge->lag_ns, 20);
    cr_assert_eq(stage.world->judge->tape.count, 1);
    cr_assert_eq(stage.world->judge->tape.choices[0].kind, BZ_CHOICE_DELAY);
    cr_assert_eq(stage.world->judge->tape.choices[0].step, 3);
    stage_end(&stage);
    play(&stage, "fifo; a: sleep yield; b: doze; a b"
                 " => a.sleep:ok a.yield:ok b.doze:ok");
    stage_end(&stage);
}

/* --- orders ----------------------------------------------------------------------------------- */

Test(order, fifo_ignores_the_choice_of_the_strategy) {
    struct stage stage;
    play(&stage, "fifo; a-c: yield; c b a"
                 " => a.yield:ok b.yield:ok c.yield:ok");
    cr_assert_eq(stage.world->judge->tape.count, 0);
    stage_end(&stage);
}

Test(order, any_follows_the_strategy) {
    struct stage stage;
    play(&stage, "any; a-c: yield; c c b a b a"
                 " => c.yield:ok b.yield:ok a.yield:ok");
    cr_assert_eq(stage.world->judge->tape.count, 3); /* what was not the oldest */
    cr_assert_eq(stage.world->judge->tape.choices[0].owner, 3);
    cr_assert_eq(stage.world->judge->tape.choices[0].nth, 1);
    cr_assert_eq(stage.world->judge->tape.choices[1].owner, 3);
    cr_assert_eq(stage.world->judge->tape.choices[1].nth, 2);
    stage_end(&stage);
}

/* At step 4, the tasks c and d go first; at step 6, the handle behind the chosen one. */
static uint64_t prefer_some(void *state, const struct bz_ready *chosen, uint32_t step) {
    (void)state;
    (void)chosen;
    return step == 4 ? UINT64_C(0x18) : step == 6 ? BZ_INSTEAD_BEHIND : 0;
}

/* Native code, and a source that asks bz_judge_next(), are given one order. */
Test(order, any_follows_what_the_strategy_prefers) {
    struct bz_strategy prefers = stage_strategy;
    prefers.instead = prefer_some;
    struct bz_judge_config config = stage_config(BZ_ORDER_ANY);
    config.strategy = &prefers;
    struct stage stage;
    stage_begin_with(&stage, &bz_variant_buzzer, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
    stage_act(&stage, STAGE_SCRIPTS("yield", "yield", "yield", "yield"), "a b a");
    stage_expect_pass(&stage); /* queue before step 4: c d b; before step 6: d b */
    tst_expect(&stage.log, "a.yield:ok c.yield:ok b.yield:ok d.yield:ok");
    stage_end(&stage);
}

/* An event from outside comes after the handles that were carried over: the cancel strikes at the
 * end of the turn, whichever step the plan names. */
Test(order, fifo_injects_after_the_carried_handles) {
    struct stage stage;
    play(&stage, "fifo; a-c: ~yield; a b c !b"
                 " => a.yield:ok b.yield:cancelled c.yield:ok");
    cr_assert_eq(stage.world->judge->stats.injected, 1);
    stage_end(&stage);
    play(&stage, "fifo; a-c: ~yield; a !b"
                 " => a.yield:ok b.yield:ok c.yield:ok");
    cr_assert_eq(stage.world->judge->stats.injected, 0);
    stage_end(&stage);
}

static void fire(struct bz_timer *timer) {
    (void)timer;
}

/* A timer that is armed for now is carried over, too: no cancel strikes before it. */
Test(order, fifo_injects_after_timers_that_are_armed_for_now) {
    struct bz_judge_config config = stage_config(BZ_ORDER_FIFO);
    struct bz_timer timer = {.when_ns = 0};
    struct stage stage;
    stage_begin_with(&stage, &bz_variant_buzzer, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
    bz_timer_init(&timer, stage.world->loop, fire);
    cr_assert(bz_timer_arm_now(&timer));
    stage_act(&stage, STAGE_SCRIPTS("~yield"), "!a");
    stage_expect_pass(&stage);
    cr_assert_eq(stage.world->judge->stats.injected, 0);
    tst_expect(&stage.log, "a.yield:ok");
    stage_end(&stage);
}

/* A sleeper whose timer is due is still asleep when the cancel strikes. */
Test(order, fifo_injects_before_the_due_timers) {
    struct stage stage;
    play(&stage, "fifo; a-b: ~sleep; a b !a"
                 " => a.sleep:cancelled b.sleep:ok");
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_SLEEP][BZ_WINDOW_SLEEPING], 1);
    stage_end(&stage);
}

/* In one turn, either may come first: the release is a carried handle, or it comes with a timer. */
Test(order, fifo_has_release_then_cancel_and_cancel_then_release) {
    struct stage stage;
    play(&stage, "fifo; a: acquire yield release; b: ~acquire; a b a !b b"
                 " => a.acquire:ok a.yield:ok a.release:ok b.acquire:cancelled");
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WOKEN], 1);
    stage_end(&stage);
    play(&stage, "fifo; a: acquire yield release; b: ~acquire; a b !b"
                 " => a.acquire:ok a.yield:ok a.release:ok b.acquire:cancelled");
    cr_assert_eq(stage.world->judge->stats.windows[BZ_OP_ACQUIRE][BZ_WINDOW_WAITING], 1);
    stage_end(&stage);
}

Test(order, any_injects_before_any_step) {
    struct stage stage;
    play(&stage, "any; a-c: ~yield; a !b c b a c"
                 " => a.yield:ok c.yield:ok");
    stage_end(&stage);
}

Test(order, names_are_stable) {
    tst_text(bz_order_name(BZ_ORDER_ANY), "any");
    tst_text(bz_order_name(BZ_ORDER_FIFO), "fifo");
    cr_assert_null((void *)bz_order_name((enum bz_order)2));
}

/* --- limits ----------------------------------------------------------------------------------- */

Test(limits, run_stops_at_the_step_limit_exactly) {
    struct bz_judge_config config = stage_config(BZ_ORDER_FIFO);
    struct stage stage;
    for (config.steps_max = 1; config.steps_max <= 4; config.steps_max++) {
        stage_begin_with(&stage, &bz_variant_buzzer, &config, BZ_PRIMITIVE_SEMAPHORE, 1);
        stage_guest(&stage, "acquire release yield acquire release yield acquire release");
        bz_world_run(stage.world);
        bool is_out = config.steps_max <= 3;
        cr_assert_eq(bz_judge_verdict(stage.world->judge),
                     is_out ? BZ_RUN_OUT_OF_STEPS : BZ_RUN_PASSED);
        cr_assert_eq(stage.world->judge->step, is_out ? config.steps_max : 3);
        stage_end(&stage);
    }
}
