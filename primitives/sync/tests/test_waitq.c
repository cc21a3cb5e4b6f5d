/* The queue that the primitives are built on: order, counts, values, and the outcome of a wait. */
#include "primitives/sync/tests/stage_waiters.h"

/* Guests "a" to "e" wait when a timeline begins. Each logs its outcome: "a=ok/7" was woken with 7,
 * "a=cancelled" was not woken. "wake-7" wakes the oldest with 7. "wake-all-7" reports how many it
 * has woken, "queue" reports waiting/woken/cancelled. */
struct cast {
    struct tst_stage stage;
    struct bz_waitq queue;
};

static struct cast *cast_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct cast, stage);
}

static enum bz_status word_wait(struct tst_call *call) {
    struct bz_wait_outcome outcome = bz_waitq_wait(&cast_of(call)->queue);
    struct tst_log *log = &call->stage->log;
    const char *status = bz_status_name(outcome.status);
    if (outcome.was_woken) {
        tst_say(log, "%s=%s/%u", call->actor->name, status, (unsigned)outcome.value);
    } else {
        tst_say(log, "%s=%s", call->actor->name, status);
    }
    return BZ_OK;
}

static enum bz_status word_wake(struct tst_call *call) {
    bool is_woken = bz_waitq_wake_oldest(&cast_of(call)->queue, tst_number(call->rest));
    return is_woken ? BZ_OK : BZ_EMPTY;
}

static enum bz_status word_wake_all(struct tst_call *call) {
    uint32_t count = bz_waitq_wake_all(&cast_of(call)->queue, tst_number(call->rest));
    tst_report(call, "%u", count);
    return BZ_OK;
}

static void report(struct tst_call *call) {
    report_waiters(call, "queue", &cast_of(call)->queue);
}

static void check(struct tst_stage *stage) {
    const struct bz_waitq *queue = &bz_container_of(stage, struct cast, stage)->queue;
    check_waiters(queue);
    cr_assert_eq(bz_waitq_has_waiting(queue), queue->waiting_count > 0);
}

static void play(const char *timeline) {
    static const struct tst_word words[] = {{"wait", word_wait, true},
                                            {"wake-all-", word_wake_all},
                                            {"wake-", word_wake},
                                            {NULL, NULL}};
    struct cast cast;
    tst_stage_begin(&cast.stage, (struct tst_cast){words, report, check});
    bz_waitq_init(&cast.queue, cast.stage.loop);
    tst_play(&cast.stage, "a-e: wait; turn queue=5/0/0");
    tst_play(&cast.stage, timeline);
    tst_play(&cast.stage, "run queue=0/0/0");
    tst_stage_end(&cast.stage);
}

Test(waitq, timelines) {
    static const struct tst_row rows[] = {
        {"wakes_the_oldest_with_a_value",
         "wake-100 queue=4/1/0 wake-101 queue=3/2/0 wake-102 queue=2/3/0 wake-103 queue=1/4/0;"
         "wake-104 queue=0/5/0 wake-0:empty -> ;"
         "run -> a=ok/100 b=ok/101 c=ok/102 d=ok/103 e=ok/104"},
        /* The four states of a waiter, side by side: a was woken, b woken and cancelled, so that
         * what it was given must be handed on, c cancelled, d cancelled twice, e waits. */
        {"tells_the_four_states_apart",
         "wake-1 wake-2 cancel-b cancel-c cancel-d cancel-d queue=1/2/2;"
         "turn queue=1/0/0 -> a=ok/1 b=cancelled/2 c=cancelled d=cancelled;"
         "wake-5 => e=ok/5"},
        /* A wake-up goes to the oldest that lives, without a look at the dead. */
        {"passes_over_the_cancelled",
         "cancel-a cancel-b cancel-d wake-7 wake-8 wake-9:empty queue=0/2/3"
         " => a=cancelled b=cancelled d=cancelled c=ok/7 e=ok/8"},
        /* All that wait now, and no others: not who was woken before, nor the dead. */
        {"wakes_all_in_order", "wake-1 cancel-c wake-all-3=3 queue=0/4/1 wake-all-4=0"
                               " => a=ok/1 c=cancelled b=ok/3 d=ok/3 e=ok/3"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
