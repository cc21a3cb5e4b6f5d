/* fifo (zoo: FIFO): a later arrival is granted before an earlier live waiter. Judges variants that
 * claim BZ_CLAIM_FIFO.
 *
 * A task arrives when it calls acquire. The grant counts, not the resume: under the order `any`
 * woken tasks resume in any order. A waiter is overtaken in three ways:
 *
 * - A later arrival is granted while the waiter still waits.
 * - The waiter was woken, and a later arrival takes the permit, so that none is left (barging,
 *   gh-90155).
 * - With BZ_CLAIM_NO_PASSING: the waiter was woken and has not resumed, and a newcomer is granted
 *   at once. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_FIFO_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_FIFO_H
#include "sim/judge/oracle/oracle.h"

static inline bool fifo_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    return moment->overtaking != NULL;
}

/* "was granted a permit of": an event, a condition or a barrier has none. */
static inline const char *fifo_grant(const struct bz_shadow_object *object, bool is_at_once) {
    return object->is_counted ? "was granted " : is_at_once ? "did not wait for" : "was woken by";
}

static inline void fifo_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    static const char *const fates[] = {
        [BZ_OVERTAKES_WAITING] = "still waits",
        [BZ_OVERTAKES_ROBBED] = "had been woken; none is left for it",
        [BZ_OVERTAKES_WOKEN] = "had been woken and has not resumed",
    };
    const struct bz_overtaking *overtaking = moment->overtaking;
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (!bz_claims(object, BZ_CLAIM_FIFO)) {
        return;
    }
    bz_judge_violate(
        judge, "fifo", moment->task, moment->object,
        "%s %s%s%s '%s' before %s, which %s; waiters overtaken: %u",
        bz_task_label(judge, moment->task).text, fifo_grant(object, moment->is_at_once),
        object->is_counted ? bz_a_good(object) : "", object->is_counted ? " of" : "",
        bz_judge_label(judge, moment->object).text, bz_task_label(judge, overtaking->first).text,
        fates[overtaking->how], overtaking->count);
}

#endif

ORACLE(fifo, "fifo", "a later arrival is granted before an earlier live waiter",
       "Waiters have to be served in the order of their arrival; a newcomer must not pass "
       "them.")
