/* Timers: the heap against a model that cannot be wrong, and the edges of arming. Turns: E1 to E3
 * of asyncio's rules. */
#include "primitives/tests/stage.h"

/* --- against a model -------------------------------------------------------------------------- */

#define TIMERS 64u

struct model {
    struct bz_timer timers[TIMERS];
    uint64_t when_ns[TIMERS];
    uint64_t order[TIMERS];
    bool is_armed[TIMERS];
    uint64_t armed_count;
};

static void fire_silently(struct bz_timer *timer) {
    (void)timer;
}

/* The first by (time, order of arming), or TIMERS. */
static uint32_t model_first(const struct model *model) {
    uint32_t first = TIMERS;
    for (uint32_t index = 0; index < TIMERS; index++) {
        if (model->is_armed[index] &&
            (first == TIMERS || model->when_ns[index] < model->when_ns[first] ||
             (model->when_ns[index] == model->when_ns[first] &&
              model->order[index] < model->order[first]))) {
            first = index;
        }
    }
    return first;
}

static void model_toggle(struct model *model, uint32_t index, uint64_t when_ns) {
    struct bz_timer *timer = &model->timers[index];
    if (model->is_armed[index]) {
        bz_timer_disarm(timer);
        model->is_armed[index] = false;
    } else {
        cr_assert(bz_timer_arm(timer, when_ns));
        model->is_armed[index] = true;
        model->when_ns[index] = when_ns;
        model->order[index] = model->armed_count++;
    }
}

/* Time goes on; exactly the due timers are queued, in the model's order. */
static void model_advance(struct model *model, struct bz_loop *loop, uint64_t delay_ns) {
    tst_advance(loop, delay_ns);
    uint32_t queued = bz_driver_queue_due_timers(loop);
    for (uint32_t index = 0; index < queued; index++) {
        uint32_t first = model_first(model);
        cr_assert_lt(first, TIMERS);
        cr_assert_leq(model->when_ns[first], bz_loop_now_ns(loop));
        cr_assert_eq(bz_driver_ready_at(loop, index), &model->timers[first].handle);
        model->is_armed[first] = false;
    }
    while (bz_driver_ready_count(loop) > 0) {
        bz_driver_step(loop, bz_driver_take(loop, 0));
    }
}

Test(timer, heap_agrees_with_a_model) {
    struct bz_loop *loop = tst_begin();
    static struct model model;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct tst_draw draw = tst_draw_seeded(seed);
        bz_loop_reset(loop);
        memset(&model, 0, sizeof model);
        for (uint32_t index = 0; index < TIMERS; index++) {
            bz_timer_init(&model.timers[index], loop, fire_silently);
        }
        for (int move = 0; move < 2000; move++) {
            if (tst_draw(&draw, 8) == 0) {
                model_advance(&model, loop, tst_draw(&draw, 12));
            } else {
                /* Few distinct times, so that ties are common. */
                uint64_t when_ns = bz_loop_now_ns(loop) + tst_draw(&draw, 40);
                model_toggle(&model, tst_draw(&draw, TIMERS), when_ns);
            }
            uint32_t first = model_first(&model);
            uint64_t deadline_ns = first == TIMERS ? BZ_TIME_NEVER : model.when_ns[first];
            cr_assert_eq(bz_driver_next_deadline_ns(loop), deadline_ns, "seed %u", (unsigned)seed);
        }
        model_advance(&model, loop, 1000);
        cr_assert_eq(model_first(&model), TIMERS);
    }
    tst_end(loop);
}

/* --- timelines -------------------------------------------------------------------------------- */

/* Words: "arm-a10" arms alarm a for 10 ns, "arm-a" for now, "again-a10" for 10 ns after its last
 * time; "disarm-a" disarms it. "call-a" queues a handle. An alarm and a handle say their name, and
 * play the script that guest a was given. */
struct alarms {
    struct tst_stage stage;
    struct alarm {
        struct bz_timer timer;
        struct bz_handle handle;
        struct alarms *alarms;
    } alarms[4];
};

static struct alarm *alarm_of(struct tst_call *call) {
    struct alarms *alarms = bz_container_of(call->stage, struct alarms, stage);
    return &alarms->alarms[tst_named(call)];
}

static void alarm_says(struct alarm *alarm) {
    struct tst_stage *stage = &alarm->alarms->stage;
    int index = (int)(alarm - alarm->alarms->alarms);
    tst_say(&stage->log, "%c", 'a' + index);
    tst_act(stage, stage->scripts[index]);
}

static void alarm_fire(struct bz_timer *timer) {
    alarm_says(bz_container_of(timer, struct alarm, timer));
}

static void alarm_run(struct bz_handle *handle) {
    alarm_says(bz_container_of(handle, struct alarm, handle));
}

static enum bz_status word_arm(struct tst_call *call) {
    struct bz_timer *timer = &alarm_of(call)->timer;
    bool is_armed = call->rest[1] == '\0' ? bz_timer_arm_now(timer)
                                          : bz_timer_arm(timer, tst_number(call->rest + 1));
    return is_armed ? BZ_OK : BZ_NO_MEMORY;
}

static enum bz_status word_again(struct tst_call *call) {
    struct bz_timer *timer = &alarm_of(call)->timer;
    bool is_armed = bz_timer_arm(timer, timer->when_ns + tst_number(call->rest + 1));
    return is_armed ? BZ_OK : BZ_NO_MEMORY;
}

TST_DEED(word_disarm, bz_timer_disarm(&alarm_of(call)->timer))
TST_DEED(word_call, tst_call_soon(call->stage->loop, &alarm_of(call)->handle, alarm_run))
TST_DEED(word_begin_turn, bz_driver_begin_turn(call->stage->loop))

static enum bz_status word_end_turn(struct tst_call *call) {
    while (bz_driver_turn_left(call->stage->loop) > 0) {
        bz_driver_step(call->stage->loop, bz_driver_take(call->stage->loop, 0));
    }
    return BZ_OK;
}

static void play(const char *timeline) {
    static const struct tst_word words[] = {
        {"arm-", word_arm},   {"again-", word_again},          {"disarm-", word_disarm},
        {"call-", word_call}, {"begin-turn", word_begin_turn}, {"end-turn", word_end_turn},
        {NULL, NULL}};
    struct alarms alarms;
    tst_stage_begin(&alarms.stage, (struct tst_cast){.words = words});
    for (int index = 0; index < 4; index++) {
        alarms.alarms[index].alarms = &alarms;
        bz_timer_init(&alarms.alarms[index].timer, alarms.stage.loop, alarm_fire);
    }
    tst_play(&alarms.stage, timeline);
    tst_stage_end(&alarms.stage);
}

Test(timer, timelines) {
    static const struct tst_row rows[] = {
        {"fires_once_when_due_and_not_before",
         "arm-a10 time-9 turn -> ; time-1 turn -> a; time-100 turn"},
        /* A time that has passed is due in the next turn, behind what is ready. */
        {"of_the_past_fires_in_the_next_turn", "time-50 arm-a10 ready=0 turn -> a"},
        /* To disarm a timer that is not armed is harmless. */
        {"disarmed_in_the_heap_does_not_fire", "disarm-a arm-a10 disarm-a disarm-a time-20 turn"},
        /* Nor does it harm one that has fired. */
        {"disarmed_in_the_queue_does_not_fire",
         "arm-a10 arm-b10 arm-c10 time-10 due-3 disarm-b ready=2 turn -> a c; disarm-a"},
        /* A timer can be armed again once it has fired or was disarmed, from its own firing as
         * well. */
        {"may_arm_itself_again",
         "+a: again-a10; arm-a10 time-11 turn deadline=20 -> a; time-9 turn deadline=30 -> a;"
         "+a: ; time-10 turn deadline=never -> a"},

        /* --- turns --- */
        /* E1, E2: in order of registration, and what a handle adds waits for the next turn. */
        {"runs_a_turn_at_a_time", "+a: call-c; call-a call-b -> ; turn -> a b; turn -> c"},
        /* E2: timers that are due go behind what is ready already, by time, then by order of
         * arming. */
        {"queues_due_timers_behind_ready_handles",
         "arm-a20 arm-b10 arm-c10 arm-d21 call-d time-20 turn -> d b c a; time-1 turn -> d"},
        /* E3: a queued timer that is disarmed does not run, and its turn has one handle less: a
         * handle that was added meanwhile belongs to the next turn. */
        {"disarmed_timer_leaves_no_room_in_its_turn",
         "arm-a10 arm-b11; +c: disarm-a call-d; call-c time-10 turn ready=1 -> c; time-1 turn -> d "
         "b"},
        /* A disarmed timer of the next turn does not change this turn. */
        {"disarmed_timer_of_the_next_turn_takes_nothing_from_this_one",
         "+b: disarm-a; call-b call-c begin-turn arm-a end-turn -> b c"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

Test(timer, armed_for_never_is_not_armed) {
    _Static_assert(BZ_TIME_NEVER == 18446744073709551615u, "the number below is never");
    play("arm-a18446744073709551615 deadline=never time-18446744073709551615 turn -> ; disarm-a");
}

Test(timer, armed_twice_stops_the_process, .signal = SIGABRT) {
    play("arm-a10 arm-a11");
}

Test(timer, clock_that_goes_back_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    tst_advance(loop, 10);
    bz_driver_set_now(loop, 9);
}
