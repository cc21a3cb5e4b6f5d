/* One-shot and channel: values, closes from both sides, cancels. */
#include "primitives/sync/channel.h"
#include "primitives/sync/oneshot.h"
#include "primitives/sync/tests/stage_waiters.h"

/* Words: "send-7" "try-send-7" "receive" "try-receive" "close" "wait-closed"; of the channel also
 * "add" "drop" "close-now"; "receivers" "senders" report who waits. */
struct pipe {
    struct tst_stage stage;
    bool is_oneshot;
    struct bz_oneshot oneshot;
    struct bz_channel channel;
};

static struct pipe *pipe_of(struct tst_call *call) {
    return bz_container_of(call->stage, struct pipe, stage);
}

static enum bz_status word_send(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    uint64_t value = tst_number(call->rest);
    return pipe->is_oneshot ? bz_oneshot_send(&pipe->oneshot, value)
                            : bz_channel_send(&pipe->channel, value);
}

TST_WORD(word_try_send, bz_channel_try_send(&pipe_of(call)->channel, tst_number(call->rest)))

static enum bz_status report_value(struct tst_call *call, enum bz_status status, uint64_t value) {
    if (status == BZ_OK) {
        tst_report(call, "%u", (unsigned)value);
    }
    return status;
}

static enum bz_status word_receive(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    uint64_t value = 0;
    enum bz_status status = pipe->is_oneshot ? bz_oneshot_receive(&pipe->oneshot, &value)
                                             : bz_channel_receive(&pipe->channel, &value);
    return report_value(call, status, value);
}

static enum bz_status word_try_receive(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    uint64_t value = 0;
    enum bz_status status = pipe->is_oneshot ? bz_oneshot_try_receive(&pipe->oneshot, &value)
                                             : bz_channel_try_receive(&pipe->channel, &value);
    return report_value(call, status, value);
}

/* "close", "close-now" */
static enum bz_status word_close(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    if (pipe->is_oneshot) {
        bz_oneshot_close(&pipe->oneshot);
    } else {
        bz_channel_close(&pipe->channel, call->rest[0] != '\0');
    }
    return BZ_OK;
}

static enum bz_status word_wait_closed(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    return pipe->is_oneshot ? bz_oneshot_wait_closed(&pipe->oneshot)
                            : bz_channel_wait_closed(&pipe->channel);
}

TST_WORD(word_add, bz_channel_add_sender(&pipe_of(call)->channel))
TST_WORD(word_drop, bz_channel_drop_sender(&pipe_of(call)->channel))

static void pipe_report(struct tst_call *call) {
    struct pipe *pipe = pipe_of(call);
    report_waiters(call, "receivers",
                   pipe->is_oneshot ? &pipe->oneshot.receivers : &pipe->channel.queue.getters);
    report_waiters(call, "senders", &pipe->channel.queue.putters);
}

static void pipe_check(struct tst_stage *stage) {
    struct pipe *pipe = bz_container_of(stage, struct pipe, stage);
    const struct bz_oneshot *oneshot = &pipe->oneshot;
    if (!pipe->is_oneshot) {
        return;
    }
    check_waiters(&oneshot->receivers);
    cr_assert_eq(oneshot->closed.is_set, oneshot->state != BZ_ONESHOT_OPEN);
    if (oneshot->receivers.waiting_count > 0) {
        cr_assert_neq(oneshot->state, BZ_ONESHOT_CLOSED);
        cr_assert(oneshot->state == BZ_ONESHOT_OPEN || oneshot->receivers.woken_count == 1);
    }
}

static void play(uint32_t capacity, const char *timeline) {
    static const struct tst_word words[] = {{"send-", word_send},
                                            {"try-send-", word_try_send},
                                            {"receive", word_receive},
                                            {"try-receive", word_try_receive},
                                            {"close", word_close, .is_quiet = true},
                                            {"close-", word_close, .is_quiet = true},
                                            {"wait-closed", word_wait_closed},
                                            {"add", word_add, .is_quiet = true},
                                            {"drop", word_drop, .is_quiet = true},
                                            {NULL, NULL}};
    struct pipe pipe = {.is_oneshot = capacity == 0};
    tst_stage_begin(&pipe.stage, (struct tst_cast){words, pipe_report, pipe_check});
    bz_oneshot_init(&pipe.oneshot, pipe.stage.loop);
    tst_status(bz_channel_init(&pipe.channel, pipe.stage.loop, capacity),
               capacity == 0 ? BZ_INVALID_ARGUMENT : BZ_OK);
    tst_play(&pipe.stage, timeline);
    tst_play(&pipe.stage, "run receivers=0/0/0");
    if (capacity > 0) {
        bz_channel_fini(&pipe.channel);
    }
    tst_stage_end(&pipe.stage);
}

static void once(const char *timeline) {
    play(0, timeline);
}

/* --- one-shot --------------------------------------------------------------------------------- */

Test(oneshot, timelines) {
    static const struct tst_row rows[] = {
        {"sends_one_value_once",
         "try-receive:empty send-7 send-8:closed try-receive=7 try-receive:closed send-9:closed"},
        {"receiver_waits", "a: receive; turn receivers=1/0/0 send-7 => a.receive=7"},
        {"the_oldest_receives_and_the_others_learn_that_nothing_comes",
         "a-c: receive; turn send-7 receivers=2/1/0 => a.receive=7 b.receive:closed"
         " c.receive:closed"},
        {"nobody_takes_a_promised_value",
         "a: receive; turn send-7 try-receive:empty; b: receive => a.receive=7 b.receive:closed"},
        {"close_before_a_send",
         "a-b: receive; turn close receivers=0/2/0 send-7:closed try-receive:closed"
         " => a.receive:closed b.receive:closed"},
        {"close_after_a_send_keeps_the_value", "send-7 close try-receive=7; receive:closed"},
        {"sender_learns_that_the_receiver_closed",
         "a: wait-closed wait-closed; turn close => a.wait-closed:ok a.wait-closed:ok"},
        {"sender_learns_that_the_receiver_closed",
         "a: wait-closed; turn send-7 => a.wait-closed:ok; try-receive=7"},
        {"cancelled_receive_takes_nothing",
         "a-b: receive; turn cancel-a send-7 => a.receive:cancelled b.receive=7"},
        /* The window: the value stays where it is. */
        {"woken_and_cancelled_leaves_the_value",
         "a: receive; turn send-7 cancel-a => a.receive:cancelled; try-receive=7"},
        {"woken_and_cancelled_leaves_the_value",
         "a-b: receive; turn send-7 cancel-a => a.receive:cancelled b.receive=7"},
        {"woken_by_a_close_and_cancelled",
         "a-b: receive; turn close cancel-a => a.receive:cancelled b.receive:closed"},
        {NULL, NULL},
    };
    tst_play_rows(rows, once);
}

/* --- channel ---------------------------------------------------------------------------------- */

Test(channel, timelines) {
    static const struct tst_sized_row rows[] = {
        {"keeps_the_order_of_values", 2,
         "send-1 send-2 try-send-3:full receive=1 send-3 receive=2 receive=3 try-receive:empty"},
        {"senders_wait_in_order", 1,
         "send-1; a: send-2; b: send-3; turn senders=2/0/0 try-receive=1 try-receive:empty turn"
         " -> a.send-2:ok; receive=2 turn -> b.send-3:ok; receive=3"},
        {"ends_when_the_last_sender_is_dropped", 2,
         "add send-1 drop; a: receive receive; turn -> a.receive=1; drop drop:invalid-state"
         " add:closed => a.receive:closed"},
        {"values_that_are_left_are_received_after_the_last_sender", 2,
         "send-1 send-2 drop receive=1 receive=2 receive:closed try-receive:closed"},
        {"receiver_closes_it", 1,
         "send-1; a: send-2; b: wait-closed; turn close send-3:closed try-send-3:closed"
         " => a.send-2:closed b.wait-closed:ok; receive=1 receive:closed"},
        {"receiver_drops_what_is_in_it", 2, "send-1 send-2 close-now receive:closed"},
        {"last_sender_wakes_who_waits_for_the_close", 1,
         "a: wait-closed; turn drop => a.wait-closed:ok"},
        {"cancelled_send_has_sent_nothing", 1,
         "send-1; a: send-2; b: send-3; turn cancel-a turn -> a.send-2:cancelled; receive=1"
         " => b.send-3:ok; receive=3"},
        {"cancelled_send_has_sent_nothing", 1,
         "send-1; a: send-2; b: send-3; turn receive=1 cancel-a"
         " => a.send-2:cancelled b.send-3:ok; receive=3"},
        {"cancelled_receive_has_taken_nothing", 1,
         "a-b: receive; turn send-1 cancel-a => a.receive:cancelled b.receive=1"},
        {NULL, 0, NULL},
    };
    tst_play_sized_rows(rows, play);
}
