/* mutual-exclusion (zoo: MUTEX): more tasks hold a permit than there are permits. Black box: it
 * counts acquires that returned BZ_OK less accepted releases. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_MUTUAL_EXCLUSION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_MUTUAL_EXCLUSION_H
#include "sim/judge/oracle/oracle.h"

static inline bool mutual_exclusion_suspects(const struct bz_judge *judge,
                                             const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_RETURN && object->holders > object->permits;
}

static inline void mutual_exclusion_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    if (moment->status != BZ_OK || object->kind != BZ_OBJECT_PERMITS) {
        return;
    }
    bz_judge_violate(
        judge, "mutual-exclusion", moment->task, moment->object,
        "%s acquired '%s' as holder number %" PRIu64 ", but it has only %" PRIu64 " permit%s",
        bz_task_label(judge, moment->task).text, bz_judge_label(judge, moment->object).text,
        object->holders, object->permits, bz_plural(object->permits));
}

#endif

ORACLE(mutual_exclusion, "mutual-exclusion", "more tasks hold a permit than there are permits",
       "There may never be more holders than permits. A permit that was handed over, or "
       "promised to a woken waiter, is not free.")
