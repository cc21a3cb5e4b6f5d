/* Notify: a notification is used once, kept once, and never lost. */
#include "primitives/sync/notify.h"
#include "primitives/sync/tests/stage_waiters.h"

/* Words: "wait" "one" "all"; "permit" "queue" report. */
struct notes {
    struct tst_stage stage;
    struct bz_notify notify;
};

static struct bz_notify *notify_of(struct tst_call *call) {
    return &bz_container_of(call->stage, struct notes, stage)->notify;
}

TST_WORD(word_wait, bz_notify_wait(notify_of(call)))
TST_DEED(word_one, bz_notify_one(notify_of(call)))
TST_DEED(word_all, bz_notify_waiters(notify_of(call)))

static void notes_report(struct tst_call *call) {
    tst_flag(call, "permit", notify_of(call)->has_permit);
    report_waiters(call, "queue", &notify_of(call)->queue);
}

static void notes_check(struct tst_stage *stage) {
    struct bz_notify *notify = &bz_container_of(stage, struct notes, stage)->notify;
    check_waiters(&notify->queue);
    cr_assert_not(notify->has_permit && notify->queue.waiting_count > 0);
}

static void play(const char *timeline) {
    static const struct tst_word words[] = {{"wait", word_wait},
                                            {"one", word_one, .is_quiet = true},
                                            {"all", word_all, .is_quiet = true},
                                            {NULL, NULL}};
    struct notes notes;
    tst_stage_begin(&notes.stage, (struct tst_cast){words, notes_report, notes_check});
    bz_notify_init(&notes.notify, notes.stage.loop);
    tst_play(&notes.stage, timeline);
    tst_play(&notes.stage, "run queue=0/0/0");
    tst_stage_end(&notes.stage);
}

Test(notify, timelines) {
    static const struct tst_row rows[] = {
        {"one_is_kept_for_who_comes_later",
         "one permit=yes; a: wait wait => a.wait:ok; permit=no queue=1/0/0 one => a.wait:ok"},
        {"no_more_than_one_is_kept",
         "one one one; a: wait wait => a.wait:ok; queue=1/0/0 one => a.wait:ok"},
        {"one_wakes_the_oldest_and_is_not_kept",
         "a-b: wait; turn one permit=no queue=1/1/0 => a.wait:ok; one => b.wait:ok"},
        /* A second notification while the only waiter is woken: kept. */
        {"one_in_the_window_is_kept",
         "a: wait; turn one one permit=yes queue=0/1/0; b: wait => a.wait:ok b.wait:ok"},
        {"all_wakes_those_who_wait_and_leaves_nothing",
         "a-c: wait; turn all permit=no queue=0/3/0; d: wait"
         " => a.wait:ok b.wait:ok c.wait:ok; queue=1/0/0 one => d.wait:ok"},
        {"all_without_waiters_does_nothing",
         "all permit=no; a: wait; turn queue=1/0/0 all => a.wait:ok"},

        /* --- cancels --- */
        {"cancelled_waiter_uses_nothing_up",
         "a-b: wait; turn cancel-a one queue=0/1/1 => a.wait:cancelled b.wait:ok"},
        {"woken_by_one_and_cancelled_passes_it_on",
         "a-b: wait; turn one cancel-a queue=1/1/0 => a.wait:cancelled b.wait:ok; permit=no"},
        {"woken_by_one_and_cancelled_alone_leaves_it",
         "a: wait; turn one cancel-a => a.wait:cancelled; permit=yes; b: wait => b.wait:ok"},
        {"woken_by_all_and_cancelled_passes_nothing_on",
         "a: wait; turn all; b: wait; cancel-a => a.wait:cancelled; permit=no queue=1/0/0 one"
         " => b.wait:ok"},
        /* Passed on from one to the next, along the whole queue. */
        {"is_passed_on_as_often_as_needed",
         "a-c: wait; turn one cancel-a turn cancel-b queue=1/1/0 turn cancel-c"
         " => a.wait:cancelled b.wait:cancelled c.wait:cancelled; permit=yes"},
        {NULL, NULL},
    };
    tst_play_rows(rows, play);
}
