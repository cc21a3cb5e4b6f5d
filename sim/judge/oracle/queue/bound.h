/* bound (zoo: BOUND): a queue never holds more items than its maxsize. Of a pool of resources
 * judge/resources.c says the same: with those being made no more than its limit. The count comes
 * from what put and get returned, so this is a black-box oracle. A variant may have handed items to
 * woken getters that have not resumed; these items do not count. If such a getter leaves without
 * its item, the item counts again. At a rendezvous, a put returns only for a get that has not left
 * without an item. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_BOUND_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_BOUND_H
#include "sim/judge/oracle/oracle.h"

/* The queue's slots, whichever of its two objects the moment is about. */
static inline uint32_t bound_slots(const struct bz_moment *moment) {
    return moment->queue != NULL ? moment->queue->slots : moment->object;
}

static inline bool bound_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *slots = bz_judge_shadow_object(judge, bound_slots(moment));
    return (moment->kind == BZ_MOMENT_RETURN || moment->kind == BZ_MOMENT_NO_EFFECT) &&
           slots->holders > slots->permits;
}

static inline bool bound_is_exceeded(const struct bz_judge *judge,
                                     const struct bz_shadow_object *slots,
                                     const struct bz_moment *moment) {
    bool is_return = moment->kind == BZ_MOMENT_RETURN;
    if (slots->kind != BZ_OBJECT_SLOTS ||
        (is_return ? moment->status != BZ_OK : moment->queue->is_closed)) {
        return false;
    }
    const struct bz_shadow_object *items = slots - 1; /* the two come in a pair */
    bool is_meeting = bz_is_rendezvous(slots);
    bool is_exact = bz_claims(slots, BZ_CLAIM_TAKES_AT_RETURN) && !is_meeting;
    uint32_t in_hand = is_exact || is_meeting ? 0 : items->woken;
    in_hand += is_exact || judge->shadow.inside == 0 ? 0 : items->polling;
    return slots->holders > slots->permits + slots->maybe + in_hand;
}

static inline void bound_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *slots = bz_judge_shadow_object(judge, bound_slots(moment));
    bool is_put = slots->return_task == moment->task && slots->return_step == judge->step;
    if (!bound_is_exceeded(judge, slots, moment)) {
        return;
    }
    if (bz_is_rendezvous(slots)) {
        bz_judge_violate(judge, "bound", moment->task, bound_slots(moment),
                         "'%s' keeps no item, but after the %s of %s a put has returned whose item "
                         "no get takes",
                         bz_judge_label(judge, bound_slots(moment)).text, is_put ? "put" : "get",
                         bz_task_label(judge, moment->task).text);
        return;
    }
    bz_judge_violate(
        judge, "bound", moment->task, bound_slots(moment),
        "'%s' has room for %" PRIu64 " item%s, but after the %s of %s there are %" PRIu64,
        bz_judge_label(judge, bound_slots(moment)).text, slots->permits, bz_plural(slots->permits),
        is_put ? "put" : "get", bz_task_label(judge, moment->task).text, slots->holders);
}

#endif

ORACLE(bound, "bound", "a queue holds more items than its maxsize, or a pool too many resources",
       "A queue may never hold more items than its maxsize, and a pool no more resources than its "
       "limit, with those that are being made.")
