/* fifo (zoo: FIFO): a later arrival is granted before an earlier live waiter.
 *
 * Arrival is the call of acquire. The grant is what counts, not the resume: under the order `any`
 * tasks that were woken resume in any order. Three ways to be overtaken: a later arrival is granted
 * while an earlier one waits; an earlier one was woken, and a later one takes the permit that it
 * was woken for, so that none is left (barging, gh-90155); or, with BZ_CLAIM_NO_PASSING, a newcomer
 * is served at once while one that was woken has not resumed. Judges variants that claim strict
 * FIFO. */
#ifndef BZ_SIM_JUDGE_ORACLE_FIFO_H
#define BZ_SIM_JUDGE_ORACLE_FIFO_H

#include "sim/judge/oracle/oracle.h"

static inline bool fifo_suspects(const struct bz_judge *judge, const struct bz_moment *moment) {
    (void)judge;
    return moment->overtaking != NULL;
}

static inline void fifo_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    static const char *const fates[] = {
        [BZ_OVERTAKES_WAITING] = "still waits",
        [BZ_OVERTAKES_ROBBED] = "had been woken and now finds no permit",
        [BZ_OVERTAKES_WOKEN] = "had been woken and has not resumed",
    };
    const struct bz_overtaking *overtaking = moment->overtaking;
    char late[BZ_NAME_BYTES];
    char early[BZ_NAME_BYTES];
    if (!bz_claims(bz_judge_shadow_object(judge, moment->object), BZ_CLAIM_FIFO)) {
        return;
    }
    bz_judge_object(judge, "fifo", moment->task, moment->object,
                    "%s overtook %u earlier waiter(s) on '%s', first of all %s, which %s",
                    bz_judge_task_name(judge, moment->task, late, sizeof late), overtaking->count,
                    bz_judge_object_name(judge, moment->object),
                    bz_judge_task_name(judge, overtaking->first, early, sizeof early),
                    fates[overtaking->how]);
}

#endif

ORACLE(fifo, "fifo", "a later arrival is granted before an earlier live waiter")
