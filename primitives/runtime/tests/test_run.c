/* bz_loop_run(), the driver that ships: on the system's clock, so nothing here expects a duration,
 * only an order and lower bounds. */
#include "primitives/tests/stage.h"

#define MS UINT64_C(1000000)

/* Words: "doze-8" sleeps 8 ms, "far" until half of the end of time; "loop" is bz_loop_run(). */
static enum bz_status word_doze(struct tst_call *call) {
    struct bz_loop *loop = call->stage->loop;
    uint64_t delay_ns = tst_number(call->rest) * MS;
    uint64_t began_ns = bz_loop_now_ns(loop);
    enum bz_status status = bz_sleep(loop, delay_ns);
    cr_assert_geq(bz_loop_now_ns(loop) - began_ns, delay_ns);
    return status;
}

TST_WORD(word_far, bz_sleep(call->stage->loop, BZ_TIME_NEVER / 2))
TST_WORD(word_loop, bz_loop_run(call->stage->loop))

static const struct tst_word words[] = {
    {"doze-", word_doze}, {"far", word_far}, {"loop", word_loop}, {NULL, NULL}};

static void play(const char *timeline) {
    struct tst_stage stage;
    tst_stage_begin(&stage, (struct tst_cast){.words = words});
    tst_play(&stage, timeline);
    tst_stage_end(&stage);
}

Test(run, timelines) {
    static const struct tst_row rows[] = {
        {"wakes_sleepers_in_order_of_time",
         "a: yield doze-20; b: yield doze-1; c: yield doze-0; d: yield doze-8; loop"
         " -> a.yield:ok b.yield:ok c.yield:ok d.yield:ok"
         " c.doze-0:ok b.doze-1:ok d.doze-8:ok a.doze-20:ok"},
        {"of_an_empty_loop_returns_at_once", "loop"},
        /* Nothing can ever run, and a task waits: that is said, not waited out. The loop can be
         * run again, once somebody has helped. */
        {"tells_of_a_deadlock",
         "a: await; loop:invalid-state done-a=no cancel-a loop -> a.await:cancelled;"
         "end-a=cancelled/1"},
        /* A far deadline does not keep a near one from coming. */
        {"takes_deadlines_beyond_any_clock",
         "a: far; b: doze-2 cancel-a; loop -> b.doze-2:ok a.far:cancelled; end-a=cancelled/1"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}

/* The clock goes on from where it stood, wherever that was. */
Test(run, continues_the_loops_clock) {
    struct tst_stage stage;
    uint64_t before_ns = UINT64_MAX / 2;
    tst_stage_begin(&stage, (struct tst_cast){.words = words});
    bz_driver_set_now(stage.loop, before_ns);
    tst_play(&stage, "a: doze-2; loop -> a.doze-2:ok");
    uint64_t between_ns = bz_loop_now_ns(stage.loop);
    cr_assert_geq(between_ns, before_ns + 2 * MS);
    cr_assert_leq(between_ns, before_ns + 3600 * 1000 * MS);
    tst_play(&stage, "b: doze-2; loop -> b.doze-2:ok");
    cr_assert_geq(bz_loop_now_ns(stage.loop), between_ns + 2 * MS);
    tst_stage_end(&stage);
}

struct watch {
    struct bz_loop *loop;
    uint64_t seen_ns;
};

static enum bz_status look(void *arg) {
    struct watch *watch = arg;
    watch->seen_ns = bz_loop_now_ns(watch->loop);
    return BZ_OK;
}

/* It stands still during a turn. */
Test(run, holds_the_clock_during_a_turn) {
    struct bz_loop *loop = tst_begin();
    struct watch first = {loop, 1};
    struct watch second = {loop, 2};
    tst_start(loop, look, &first);
    tst_start(loop, look, &second);
    tst_status(bz_loop_run(loop), BZ_OK);
    cr_assert_eq(first.seen_ns, second.seen_ns);
    tst_end(loop);
}

Test(run, from_one_of_its_tasks_stops_the_process, .signal = SIGABRT) {
    play("a: loop; loop");
}
