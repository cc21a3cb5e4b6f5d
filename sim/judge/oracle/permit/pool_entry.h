/* pool-entry (zoo: HYGIENE, POOL-PRUNE-WINDOW): a pool keeps no lock when no key is in use.
 * `mutual-exclusion` judges two locks for one key. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_POOL_ENTRY_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_POOL_ENTRY_H
#include "sim/judge/oracle/oracle.h"

static inline bool pool_entry_suspects(const struct bz_judge *judge,
                                       const struct bz_moment *moment) {
    (void)judge;
    return moment->kind == BZ_MOMENT_POOL && moment->numbers[0] > 0;
}

static inline void pool_entry_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    bz_judge_violate(judge, "pool-entry", moment->task, moment->object,
                     "no key of '%s' is in use, but %" PRIu64 " lock%s left",
                     bz_judge_label(judge, moment->object).text, moment->numbers[0],
                     moment->numbers[0] == 1 ? " is" : "s are");
}

#endif

ORACLE(pool_entry, "pool-entry", "a pool keeps a lock for a key that is not in use",
       "The entry of a key has to live exactly as long as a task holds its lock or waits for "
       "it.")
