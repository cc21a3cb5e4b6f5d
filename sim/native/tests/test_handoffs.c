/* Handoffs from task to task, and their fingerprint: bz_shadow_handoffs(). */
#include "sim/tests/crowd.h"

#define ONCE "acquire release"

struct order {
    uint64_t handed; /* of the only object */
    uint64_t fingerprint;
    uint64_t digest;
};

static struct order play(uint32_t permits, const char *const *scripts, const char *plan) {
    struct stage stage;
    stage_begin(&stage, &bz_variant_buzzer, permits);
    stage_act(&stage, scripts, plan);
    stage_expect_pass(&stage);
    struct order order = {.handed = stage.world->judge->shadow.objects[stage.sut.object].handed[0],
                          .fingerprint = bz_shadow_handoffs(&stage.world->judge->shadow),
                          .digest = stage.world->judge->digest};
    stage_end(&stage);
    return order;
}

/* "0a ab": from nobody to a, from a to b. */
static uint64_t bits(const char *text) {
    uint64_t handed = 0;
    char word[8];
    while (tst_actor_next(&text, word, sizeof word)) {
        uint32_t from = word[0] == '0' ? 0 : (uint32_t)(word[0] - 'a') + 1;
        uint32_t to = (uint32_t)(word[1] - 'a') + 1;
        handed |= UINT64_C(1) << (BZ_HANDOFF_TASKS * from + to);
    }
    return handed;
}

static void expect_handed(const struct order *order, const char *text) {
    cr_assert_eq(order->handed, bits(text), "not '%s'", text);
}

Test(handoffs, differ_with_the_order_in_which_tasks_are_served) {
    const char *const *scripts = STAGE_SCRIPTS(ONCE, ONCE, ONCE);
    struct order abc = play(1, scripts, "a b c");
    struct order acb = play(1, scripts, "a c b");
    struct order cba = play(1, scripts, "c b a");
    expect_handed(&abc, "0a ab bc");
    expect_handed(&acb, "0a ac cb");
    expect_handed(&cba, "0c cb ba");
    cr_assert_neq(abc.fingerprint, acb.fingerprint);
    cr_assert_neq(abc.fingerprint, cba.fingerprint);
    cr_assert_neq(acb.fingerprint, cba.fingerprint);
}

/* Other schedules with the same order of handoffs. */
Test(handoffs, agree_when_only_something_else_is_interleaved) {
    const char *const *scripts = STAGE_SCRIPTS("acquire yield release", ONCE, "yield doze yield");
    struct order early = play(1, scripts, "c c a b a b");
    struct order late = play(1, scripts, "a b a b c");
    struct order at_once = play(1, scripts, "a c a c b");
    expect_handed(&early, "0a ab");
    cr_assert_eq(early.fingerprint, late.fingerprint);
    cr_assert_eq(early.fingerprint, at_once.fingerprint);
    cr_assert_neq(early.digest, late.digest);
    cr_assert_neq(early.digest, at_once.digest);
}

Test(handoffs, are_a_set) {
    struct order twice = play(1, STAGE_SCRIPTS("acquire release acquire release"), "");
    struct order thrice = play(1, STAGE_SCRIPTS("acquire release acquire release " ONCE), "");
    expect_handed(&twice, "0a aa");
    cr_assert_eq(twice.fingerprint, thrice.fingerprint);
    struct order once = play(1, STAGE_SCRIPTS(ONCE), "");
    cr_assert_neq(once.fingerprint, twice.fingerprint);
}

/* From the task that released last, not from the one that acquired last. */
Test(handoffs, come_from_who_released_last) {
    struct order order = play(2,
                              STAGE_SCRIPTS("acquire yield release", "acquire yield yield release",
                                            "acquire yield release"),
                              "a b a c");
    expect_handed(&order, "0a ab ac");
}

Test(handoffs, need_an_operation_that_ended_well) {
    struct order order =
        play(1, STAGE_SCRIPTS("acquire yield release", "acquire", ONCE), "a b c !b a b c");
    expect_handed(&order, "0a ac");
}

Test(handoffs, tell_objects_apart) {
    struct bz_shadow_object objects[3] = {{.had_last = 0}};
    struct bz_shadow shadow = {.objects = objects, .object_count = 2, .task_count = 3};
    bz_shadow_hand_over(&shadow, 1, 3);
    uint64_t first = bz_shadow_handoffs(&shadow);
    objects[2] = objects[1];
    objects[1] = objects[0];
    uint64_t second = bz_shadow_handoffs(&shadow);
    cr_assert_neq(first, second);
    objects[2] = objects[0];
    cr_assert_neq(first, bz_shadow_handoffs(&shadow));
    cr_assert_neq(second, bz_shadow_handoffs(&shadow));
}

/* Beyond the last task that has bits, a sum counts every handoff. */
Test(handoffs, of_many_tasks_are_added_up) {
    static const uint32_t tasks[] = {BZ_HANDOFF_TASKS - 1, BZ_HANDOFF_TASKS, 1000};
    uint64_t seen[3][3];
    for (uint32_t which = 0; which < 3; which++) {
        struct bz_shadow_object objects[2] = {{.had_last = 0}};
        struct bz_shadow shadow = {
            .objects = objects, .object_count = 1, .task_count = tasks[which]};
        for (uint32_t times = 0; times < 3; times++) {
            bz_shadow_hand_over(&shadow, 1, tasks[which]);
            seen[which][times] = bz_shadow_handoffs(&shadow);
        }
        cr_assert_neq(seen[which][0], seen[which][1]);
        cr_assert_eq(seen[which][1] == seen[which][2], which == 0);
        cr_assert_eq(shadow.handoff_sum == 0, which == 0);
        cr_assert_eq(objects[1].handed[0] == 0, which > 0);
    }
    cr_assert_neq(seen[1][0], seen[2][0]);
    uint64_t of_object[3];
    for (uint32_t number = 1; number <= 2; number++) {
        struct bz_shadow_object objects[3] = {{.had_last = 0}};
        struct bz_shadow shadow = {.objects = objects, .object_count = 2, .task_count = 1000};
        bz_shadow_hand_over(&shadow, number, 1000);
        of_object[number] = bz_shadow_handoffs(&shadow);
    }
    cr_assert_neq(of_object[1], of_object[2], "the object counts, too");
}

static void expect_queue(const char *const *scripts, const char *plan, const char *items,
                         const char *slots) {
    struct stage stage;
    stage_begin_as(&stage, &bz_variant_buzzer, "queue fifo 1");
    stage_act(&stage, scripts, plan);
    stage_expect_pass(&stage);
    const struct bz_shadow_object *objects = stage.world->judge->shadow.objects;
    const struct bz_judged_queue *judged = &stage.queue.judged;
    cr_assert_eq(objects[judged->items].handed[0], bits(items), "items: not %s", items);
    cr_assert_eq(objects[judged->slots].handed[0], bits(slots), "slots: not %s", slots);
    stage_end(&stage);
}

Test(handoffs, of_a_queue_go_from_putters_to_getters_and_back) {
    expect_queue(STAGE_SCRIPTS("put", "get", "put", "get"), "a b c d", "ab cd", "0a bc");
    expect_queue(STAGE_SCRIPTS("put", "get", "put", "get"), "c b a d", "cb ad", "0c ba");
    expect_queue(STAGE_SCRIPTS("try-put", "try-get", "try-get"), "b a c", "ac", "0a");
}

Test(handoffs, of_an_event_come_from_the_task_that_set_it) {
    struct stage stage;
    stage_begin_as(&stage, &bz_variant_buzzer, "hall");
    stage_act(&stage, STAGE_SCRIPTS("pass", "set", "set"), "a b a");
    stage_expect_pass(&stage);
    const struct bz_shadow_object *objects = stage.world->judge->shadow.objects;
    cr_assert_eq(objects[stage.event.object].handed[0], bits("ba"));
    stage_end(&stage);
}

/* Earlier runs of the world do not change it. */
Test(handoffs, belong_to_the_run_alone) {
    struct bz_program program;
    crowd_program(&program, &crowd_sound, BZ_ORDER_ANY);
    struct bz_world *world = bz_program_new_world(&program);
    struct bz_world *backwards = bz_program_new_world(&program);
    static uint64_t seen[200];
    uint32_t different = 0;
    for (uint32_t seed = 0; seed < 200; seed++) {
        bz_program_run(&program, world, seed);
        seen[seed] = bz_shadow_handoffs(&world->judge->shadow);
        different += seen[seed] != seen[0];
    }
    cr_assert_lt(100, different);
    for (uint32_t seed = 200; seed-- > 0;) {
        bz_program_run(&program, backwards, seed);
        cr_assert_eq(bz_shadow_handoffs(&backwards->judge->shadow), seen[seed], "seed %u", seed);
    }
    bz_world_destroy(backwards);
    bz_world_destroy(world);
}
