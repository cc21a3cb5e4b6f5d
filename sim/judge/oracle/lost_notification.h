/* lost-notification (zoo: NOLOST): fewer waiters were woken than a notification was for. Two ways:
 * notify(n), notify_all() or set() leave somebody asleep that they were for; or a waiter that was
 * notified and then cancelled left while others still waited, and woke none of them (gh-112202):
 * one whose wait says OK kept the notification, and the cancellation is what was lost. A
 * notification that goes to a waiter on its way out may be passed on by that one, and is not
 * judged. Spurious wake-ups are no fault. */
#ifndef BZ_SIM_JUDGE_ORACLE_LOST_NOTIFICATION_H
#define BZ_SIM_JUDGE_ORACLE_LOST_NOTIFICATION_H

#include "sim/judge/oracle/oracle.h"

static inline bool lost_notification_suspects(const struct bz_judge *judge,
                                              const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (moment->kind == BZ_MOMENT_NOTIFIED && moment->status == BZ_OK) {
        uint32_t leaving = object->kind == BZ_OBJECT_CONDITION ? object->cancelled : 0;
        return moment->numbers[0] + leaving < moment->numbers[1];
    }
    return moment->kind == BZ_MOMENT_LEAVES && moment->status != BZ_OK && object->live > 0 &&
           judge->shadow.tasks[moment->task].owes_wake > object->wakes;
}

static inline void lost_notification_judges(struct bz_judge *judge,
                                            const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    char name[BZ_NAME_BYTES];
    bz_judge_task_name(judge, moment->task, name, sizeof name);
    if (moment->kind == BZ_MOMENT_LEAVES) {
        bz_judge_object(judge, "lost-notification", moment->task, moment->object,
                        "%s was notified by '%s', then cancelled, and left without passing it on; "
                        "%u still wait(s)",
                        name, object->name, object->live);
    } else {
        bz_judge_object(judge, "lost-notification", moment->task, moment->object,
                        "%s told '%s' to wake %" PRIu64 " waiter(s), and %" PRIu64
                        " were woken; %u still wait(s)",
                        name, object->name, moment->numbers[1], moment->numbers[0], object->live);
    }
}

#endif

ORACLE(lost_notification, "lost-notification",
       "a notification wakes fewer waiters than it is for, or goes with a cancelled one")
