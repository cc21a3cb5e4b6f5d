/* cancel-delivered: a request that was accepted surfaces exactly once. */
#include "sim/tests/toys.h"

TOY(sound, 0, TOY_CLAIMS_ALL, toy_view);
TOY(swallows, TOY_SWALLOWS, TOY_CLAIMS_ALL, NULL);
TOY(invents, TOY_INVENTS, TOY_CLAIMS_ALL, toy_view);
TOY(cancels, TOY_CANCELS, 0, NULL);

static const char *const two_guests[] = {"acquire ~yield release", "~acquire", NULL};

Test(cancel_delivered, fires_when_an_operation_swallows_a_cancel) {
    toy_fails(&swallows, 2, STAGE_SCRIPTS("acquire acquire yield release release", "~acquire"),
              "a b !b b", "mutual-exclusion", 4, "b was let in");
    toy_fails(&swallows, 1, STAGE_SCRIPTS("acquire yield release", "~acquire"), "a b a !b b",
              "cancel-delivered", 5,
              "b on table was cancelled inside an operation, which swallowed");
}

Test(cancel_delivered, fires_when_an_operation_invents_one) {
    toy_fails(&invents, 1, STAGE_SCRIPTS("~acquire"), "a", "cancel-delivered", 1,
              "a on table was refused by an operation that no cancellation had reached");
}

Test(cancel_delivered, fires_when_a_waiter_is_cancelled_instead_of_woken) {
    toy_fails(&cancels, 1, two_guests, "a b a b", "cancel-delivered", 4,
              "b on table was cancelled inside an operation, although nobody had asked");
}

Test(cancel_delivered, is_silent_wherever_one_request_strikes) {
    static const char *const plans[] = {"!a",        "!b",          "a !a",   "a b !b",
                                        "a b a !b",  "a b !b !b b", "a !b b", "a b a !b !b b",
                                        "a b a b !b"};
    for (size_t index = 0; index < sizeof plans / sizeof plans[0]; index++) {
        toy_passes(&sound, 1, two_guests, plans[index]);
    }
}

/* Requests that are taken back in time, or that a free permit outruns. */
Test(cancel_delivered, is_silent_when_a_request_is_taken_back_or_never_meets_an_await) {
    toy_passes(&sound, 1, STAGE_SCRIPTS("cancel-self uncancel yield acquire release"), "");
    toy_passes(&sound, 1, STAGE_SCRIPTS("cancel-self acquire release"), "");
    toy_passes(&sound, 1, STAGE_SCRIPTS("cancel-self acquire release ~yield yield"), "");
    toy_passes(&sound, 1, STAGE_SCRIPTS("acquire yield release", "cancel-self ~acquire acquire"),
               "a b");
}

/* A cancel of who joins goes to the joined task; what that one makes of it is its own affair. */
Test(cancel_delivered, is_silent_when_a_joined_task_shrugs_the_request_off) {
    struct stage stage;
    stage_begin(&stage, &sound, 1);
    stage_guests(&stage, STAGE_SCRIPTS("join yield", "~sleep yield"));
    stage.actors[0].other = stage.tasks[1];
    stage_play(&stage, "a b !a");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "b.sleep:cancelled b.yield:ok a.join:ok a.yield:ok");
    stage_end(&stage);
}

Test(cancel_delivered, is_silent_when_a_joined_task_passes_the_request_on) {
    struct stage stage;
    stage_begin(&stage, &sound, 1);
    stage_guests(&stage, STAGE_SCRIPTS("~join yield", "sleep"));
    stage.actors[0].other = stage.tasks[1];
    stage_play(&stage, "a b !a");
    stage_expect_pass(&stage);
    tst_expect(&stage.log, "b.sleep:cancelled a.join:cancelled a.yield:ok");
    stage_end(&stage);
}
