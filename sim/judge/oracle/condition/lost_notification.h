/* lost-notification (zoo: NOLOST): fewer waiters were woken than a notification was for. There are
 * two ways:
 *
 * - notify(n), notify_all() or set() leaves waiters asleep that it should have woken.
 * - A waiter was notified, and cancelled before or after that, and left without waking one of
 *   those that the notification passed over, and that still wait (gh-112202). The program may do
 *   that itself (struct bz_debt). If its wait returns BZ_OK, it kept the notification, and
 *   `cancel-delivered` judges it.
 *
 * With BZ_CLAIM_WAIT_MORPHING nobody sees when a waiter is notified: one that is lost is found by
 * what sleeps at the end (`deadlock`) and by the model.
 *
 * A cancelled waiter that has not left may pass a notification on, so it counts as woken. Without
 * BZ_CLAIM_UNAIDED, nothing is lost while a task, a callback or a timer of the variant's own is
 * under way. Spurious wake-ups are not judged. */
#ifndef BZ_SIM_JUDGE_ORACLE_CONDITION_LOST_NOTIFICATION_H
#define BZ_SIM_JUDGE_ORACLE_CONDITION_LOST_NOTIFICATION_H
#include "sim/judge/oracle/oracle.h"

static inline bool lost_notification_suspects(const struct bz_judge *judge,
                                              const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (moment->kind == BZ_MOMENT_NOTIFIED && moment->status == BZ_OK) {
        uint32_t leaving = object->kind == BZ_OBJECT_CONDITION ? object->cancelled : 0;
        return moment->numbers[0] + leaving < moment->numbers[1];
    }
    return moment->kind == BZ_MOMENT_OWES && moment->numbers[0] > object->wakes &&
           bz_shadow_passed_over(&judge->shadow, object) > 0;
}

static inline void lost_notification_judges(struct bz_judge *judge,
                                            const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    bool is_seen = (object->claims & BZ_CLAIM_WAIT_MORPHING) == 0;
    if (!is_seen || object->never_stuck || bz_is_helped(judge, object)) {
        return; /* see lose_count() in judge.c */
    }
    const struct bz_task_label name = bz_task_label(judge, moment->task);
    bool is_late = moment->numbers[1] != 0;
    if (moment->kind == BZ_MOMENT_OWES) {
        bz_judge_violate(judge, "lost-notification", moment->task, moment->object,
                         "%s was %snotified by '%s', %sand left without passing it on; "
                         "%u task%s still wait%s",
                         name.text, is_late ? "cancelled, then " : "",
                         bz_judge_label(judge, moment->object).text,
                         is_late ? "" : "then cancelled, ", object->live, bz_plural(object->live),
                         object->live == 1 ? "s" : "");
    } else {
        bz_judge_violate(judge, "lost-notification", moment->task, moment->object,
                         "%s told '%s' to wake %" PRIu64 " task%s, but it woke %" PRIu64
                         "; %u still wait%s",
                         name.text, bz_judge_label(judge, moment->object).text, moment->numbers[1],
                         bz_plural(moment->numbers[1]), moment->numbers[0], object->live,
                         object->live == 1 ? "s" : "");
    }
}

#endif

ORACLE_AFTER_CANCEL("lost-notification", "woken",
                    "A waiter that was notified and is cancelled before it resumes has to pass the "
                    "notification on.")
ORACLE(lost_notification, "lost-notification",
       "a notification wakes too few waiters, or is lost with a cancelled one",
       "A notification has to wake as many live waiters as it names, and none of them may be "
       "lost.")
