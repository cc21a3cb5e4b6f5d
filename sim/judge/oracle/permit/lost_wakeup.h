/* lost-wakeup (zoo: NOLOST): a permit is free, a live waiter is queued, and nothing will hand it
 * over. The same goes for an item, a slot, a set event and a full barrier. Found at the step that
 * loses the wake-up, not at the deadlock.
 *
 * Of an object that a model judges, the model says whether a waiter could continue.
 *
 * These may still hand it over: a waiter that was woken or cancelled and has not resumed, a waiter
 * that polls, a ready callback, and without BZ_CLAIM_UNAIDED a task or a timer of the variant's
 * own. At a rendezvous, the waiter of either side does. A timer that a waiter has on its stack does
 * not count: it wakes that waiter alone. Neither do waiters that have slept 1,024 times inside
 * their operation while nothing else happened; nor, for a model, timers of the variant's own that
 * have fired as often: see judge_polls(). */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_LOST_WAKEUP_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_LOST_WAKEUP_H
#include "sim/judge/oracle/oracle.h"

/* Enough live tasks wait at a barrier to open it. */
static inline uint64_t lost_wakeup_is_quorate(const struct bz_shadow_object *object) {
    return (object->quorum > 0) & (object->live >= object->quorum);
}

/* One that waits or polls could go on. A model may decide that by the time, so an object that one
 * judges never counts. */
static inline bool lost_wakeup_may_serve(const struct bz_shadow_object *object) {
    return !object->never_stuck && (bz_is_spare(object) | lost_wakeup_is_quorate(object)) != 0;
}

static inline uint64_t lost_wakeup_suspects(const struct bz_judge *judge,
                                            const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP ? bz_is_spare(object) | lost_wakeup_is_quorate(object) |
                                                (object->look.at_rest != NULL)
                                          : 0;
}

static inline bool lost_wakeup_has_mover(const struct bz_shadow_object *object) {
    return (object->woken | object->cancelled | object->polling) != 0;
}

static inline bool lost_wakeup_is_under_way(const struct bz_judge *judge,
                                            const struct bz_shadow_object *object) {
    return lost_wakeup_has_mover(object) ||
           (bz_is_rendezvous(object) &&
            lost_wakeup_has_mover(bz_judge_shadow_object(judge, object->partner))) ||
           (judge->config.callback_is_ready != NULL &&
            judge->config.callback_is_ready(judge->config.source)) ||
           bz_is_helped(judge, object);
}

static inline void lost_wakeup_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (object->waiting == 0 || object->never_stuck || lost_wakeup_is_under_way(judge, object)) {
        return;
    }
    if (object->look.at_rest != NULL) {
        object->look.at_rest(object->look.instance);
        return;
    }
    uint32_t waiter = bz_shadow_oldest_live(&judge->shadow, object);
    const struct bz_task_label name = bz_task_label(judge, waiter);
    if (object->kind == BZ_OBJECT_EVENT) {
        bz_judge_violate(
            judge, "lost-wakeup", waiter, moment->object,
            "'%s' is set, but %s waits (first of %u waiter%s), and nothing is under way to "
            "wake it",
            bz_judge_label(judge, moment->object).text, name.text, object->waiting,
            bz_plural(object->waiting));
    } else if (object->kind == BZ_OBJECT_BARRIER) {
        bz_judge_violate(
            judge, "lost-wakeup", waiter, moment->object,
            "%u tasks wait at '%s', which opens for %u, and nothing is under way to wake them",
            object->live, bz_judge_label(judge, moment->object).text, object->quorum);
    } else if (object->permits >= BZ_PERMITS_CLOSED &&
               object->primitive == BZ_PRIMITIVE_RESOURCE_POOL) {
        bz_judge_violate(
            judge, "lost-wakeup", waiter, moment->object,
            "'%s' is closed, but %s waits (first of %u waiter%s), and nothing is under "
            "way to wake it",
            bz_judge_label(judge, moment->object).text, name.text, object->waiting,
            bz_plural(object->waiting));
    } else {
        uint64_t free = object->permits - object->holders;
        bz_judge_violate(judge, "lost-wakeup", waiter, moment->object,
                         "%" PRIu64 " of %" PRIu64
                         " %s%s of '%s' %s free, but %s waits (first of %u "
                         "waiter%s), and nothing is under way to wake it",
                         free, object->permits, bz_goods(object), bz_plural(object->permits),
                         bz_judge_label(judge, moment->object).text, bz_is_or_are(free), name.text,
                         object->waiting, bz_plural(object->waiting));
    }
}

#endif

ORACLE_AFTER_CANCEL(
    "lost-wakeup", "woken",
    "A waiter that was woken and is cancelled before it resumes has to pass on what it was "
    "woken for: to the next live waiter, or back.")
ORACLE_AFTER_CANCEL(
    "lost-wakeup", "waiting",
    "A waiter that is cancelled while it waits has to leave the queue at once, and must not "
    "be woken or counted any more.")
ORACLE_AFTER_CANCEL(
    "lost-wakeup", "holding",
    "A holder that is cancelled has to release what it holds, and the release has to wake "
    "the next live waiter.")
ORACLE(lost_wakeup, "lost-wakeup", "a waiter could go on, and nothing will wake it",
       "While the object can serve a waiter, a wake-up of the first live waiter has to be "
       "under way: at this step, not at the next release.")
