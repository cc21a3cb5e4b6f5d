/* Timers: the heap against a model that cannot be wrong, and the edges of arming. */
#include "primitives/tests/support.h"

struct alarm {
    struct bz_timer timer;
    struct tst_log *log;
    const char *name;
    unsigned fired;
};

static void alarm_fire(struct bz_timer *timer) {
    struct alarm *alarm = bz_container_of(timer, struct alarm, timer);
    alarm->fired++;
    if (alarm->log != NULL) {
        tst_say(alarm->log, "%s", alarm->name);
    }
}

static void alarm_init(struct alarm *alarm, struct bz_loop *loop, struct tst_log *log,
                       const char *name) {
    *alarm = (struct alarm){.log = log, .name = name};
    bz_timer_init(&alarm->timer, loop, alarm_fire);
}

/* --- against a model -------------------------------------------------------------------------- */

#define TIMERS 64u

struct model {
    struct alarm alarms[TIMERS];
    uint64_t when_ns[TIMERS];
    uint64_t order[TIMERS];
    bool is_armed[TIMERS];
    uint64_t armed_count;
};

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
    struct alarm *alarm = &model->alarms[index];
    if (model->is_armed[index]) {
        bz_timer_disarm(&alarm->timer);
        model->is_armed[index] = false;
    } else {
        cr_assert(bz_timer_arm(&alarm->timer, when_ns));
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
        cr_assert(lt(u32, first, TIMERS));
        cr_assert(le(u64, model->when_ns[first], bz_loop_now_ns(loop)));
        cr_assert(eq(ptr, bz_driver_ready_at(loop, index), &model->alarms[first].timer.handle));
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
            alarm_init(&model.alarms[index], loop, NULL, "");
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
            cr_assert(eq(u64, bz_driver_next_deadline_ns(loop), deadline_ns), "seed %u",
                      (unsigned)seed);
        }
        model_advance(&model, loop, 1000);
        cr_assert(eq(u32, model_first(&model), TIMERS));
    }
    tst_end(loop);
}

/* --- edges ------------------------------------------------------------------------------------ */

Test(timer, fires_once_when_due_and_not_before) {
    struct bz_loop *loop = tst_begin();
    struct alarm alarm;
    alarm_init(&alarm, loop, NULL, "");
    cr_assert(bz_timer_arm(&alarm.timer, 10));
    tst_advance(loop, 9);
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 0));
    tst_advance(loop, 1);
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 1));
    tst_advance(loop, 100);
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 1));
    tst_end(loop);
}

/* A time that has passed is due in the next turn, behind what is ready. */
Test(timer, of_the_past_fires_in_the_next_turn) {
    struct bz_loop *loop = tst_begin();
    struct alarm alarm;
    alarm_init(&alarm, loop, NULL, "");
    tst_advance(loop, 50);
    cr_assert(bz_timer_arm(&alarm.timer, 10));
    cr_assert(eq(u32, bz_driver_ready_count(loop), 0));
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 1));
    tst_end(loop);
}

Test(timer, armed_for_never_is_not_armed) {
    struct bz_loop *loop = tst_begin();
    struct alarm alarm;
    alarm_init(&alarm, loop, NULL, "");
    cr_assert(bz_timer_arm(&alarm.timer, BZ_TIME_NEVER));
    cr_assert(eq(u64, bz_driver_next_deadline_ns(loop), BZ_TIME_NEVER));
    bz_driver_set_now(loop, BZ_TIME_NEVER);
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 0));
    bz_timer_disarm(&alarm.timer);
    tst_end(loop);
}

Test(timer, disarmed_in_the_heap_does_not_fire) {
    struct bz_loop *loop = tst_begin();
    struct alarm alarm;
    alarm_init(&alarm, loop, NULL, "");
    bz_timer_disarm(&alarm.timer); /* harmless: it was never armed */
    cr_assert(bz_timer_arm(&alarm.timer, 10));
    bz_timer_disarm(&alarm.timer);
    bz_timer_disarm(&alarm.timer);
    tst_advance(loop, 20);
    tst_turn(loop);
    cr_assert(eq(u32, alarm.fired, 0));
    tst_end(loop);
}

Test(timer, disarmed_in_the_queue_does_not_fire) {
    struct bz_loop *loop = tst_begin();
    struct tst_log log = {0};
    struct alarm alarms[3];
    const char *names[] = {"a", "b", "c"};
    for (int index = 0; index < 3; index++) {
        alarm_init(&alarms[index], loop, &log, names[index]);
        cr_assert(bz_timer_arm(&alarms[index].timer, 10));
    }
    tst_advance(loop, 10);
    cr_assert(eq(u32, bz_driver_queue_due_timers(loop), 3));
    bz_timer_disarm(&alarms[1].timer);
    cr_assert(eq(u32, bz_driver_ready_count(loop), 2));
    tst_turn(loop);
    tst_expect(&log, "a c");
    bz_timer_disarm(&alarms[0].timer); /* harmless: it has fired */
    tst_end(loop);
}

/* A timer can be armed again once it has fired or was disarmed, from its own firing as well. */
struct ticker {
    struct bz_timer timer;
    unsigned ticks;
};

static void ticker_fire(struct bz_timer *timer) {
    struct ticker *ticker = bz_container_of(timer, struct ticker, timer);
    if (++ticker->ticks < 5) {
        cr_assert(bz_timer_arm(timer, timer->when_ns + 10));
    }
}

Test(timer, may_arm_itself_again) {
    struct bz_loop *loop = tst_begin();
    struct ticker ticker = {.ticks = 0};
    bz_timer_init(&ticker.timer, loop, ticker_fire);
    cr_assert(bz_timer_arm(&ticker.timer, 10));
    tst_run(loop);
    cr_assert(eq(u32, ticker.ticks, 5));
    cr_assert(eq(u64, bz_loop_now_ns(loop), 50));
    tst_end(loop);
}

Test(timer, armed_twice_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    struct alarm alarm;
    alarm_init(&alarm, loop, NULL, "");
    cr_assert(bz_timer_arm(&alarm.timer, 10));
    bz_timer_arm(&alarm.timer, 11);
}

Test(timer, clock_that_goes_back_stops_the_process, .signal = SIGABRT) {
    struct bz_loop *loop = tst_begin();
    tst_advance(loop, 10);
    bz_driver_set_now(loop, 9);
}
