/* ownership (zoo: ATOMIC, CONSERVE): acquire returned BZ_OK without taking a permit, or returned
 * another status and took one. White box: after a step in which an acquire returned, level plus
 * holders differ from the permits, and that return explains the difference. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_OWNERSHIP_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_OWNERSHIP_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_OF_STEP(ownership, bz_is_unbalanced)

static inline void ownership_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    bool is_too_many = object->view.level + object->holders > object->permits;
    if (object->look.view == NULL || object->return_step != judge->step ||
        object->return_task == 0 || (object->return_status == BZ_OK) != is_too_many) {
        return; /* no acquire returned, or it does not explain the difference */
    }
    bz_judge_violate(
        judge, "ownership", object->return_task, moment->object,
        "acquire of '%s' returned '%s' to %s, but %s: %" PRIu64 " free (its level) and %" PRIu64
        " held of %" PRIu64 " permit%s",
        bz_judge_label(judge, moment->object).text, bz_status_word(object->return_status),
        bz_task_label(judge, object->return_task).text,
        object->return_status == BZ_OK ? "took no permit" : "took a permit", object->view.level,
        object->holders, object->permits, bz_plural(object->permits));
}

#endif

ORACLE_AFTER_CANCEL(
    "ownership", "woken",
    "An acquire that is cancelled after the grant has two correct outcomes: it gives the "
    "permit back and reports the cancellation, or it keeps the permit and returns ok.")
ORACLE(ownership, "ownership", "acquire returns ok without a permit, or another status with one",
       "Acquire has to return ok if and only if the caller owns a permit from then on.")
