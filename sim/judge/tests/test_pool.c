/* The oracles of pools of locks: pool-entry, and mutual-exclusion and lost-wakeup key by key. */
#include "sim/tests/toys.h"

TOY_OF(pool, never_pruned_unseen, BZ_CLAIM_REFUSES_MISUSE, bz_zoo_ops_pool_never_pruned,
       ops->entries = NULL)

Test(pool, timelines) {
    static const struct stage_row rows[] = {
        {"pool-entry/fires_when_a_key_is_kept_that_nobody_uses", &bz_variant_zoo_pool_never_pruned,
         "pool; a: take-3 give-3 take-4 give-4 sweep; a",
         "pool-entry 1: no key of 'key' is in use, but 2 locks are left"},
        {"pool-entry/is_silent_when_the_last_user_takes_the_entry_away", &bz_variant_buzzer,
         "pool; a: take-3 yield give-3; b: ~take-3; c: take-3 give-3 sweep; a b c !b b a c"},
        {"pool-entry/is_silent_about_what_is_not_shown", &never_pruned_unseen,
         "pool; a: take-3 give-3 sweep; a"},
        {"mutual-exclusion/fires_when_two_hold_the_same_key", &bz_variant_zoo_pool_prune_window,
         "pool; a: take-3 yield give-3; b: take-3 give-3; c: take-3 yield give-3; a b a c b",
         "mutual-exclusion 5: b acquired 'key#4' as holder number 2, but it has only 1 permit"},
        {"", &bz_variant_zoo_pool_lru_held,
         "pool; a: take-3 yield give-3; b: take-4 take-5 give-4 give-5; c: take-3 give-3; a b c",
         "mutual-exclusion 3: c acquired 'key#4' as holder number 2, but it has only 1 permit"},
        {"mutual-exclusion/is_silent_when_two_hold_different_keys", &bz_variant_zoo_pool_lru_held,
         "pool; a: take-3 yield give-3; b: take-4 yield give-4; a b a b"},
        {"", &bz_variant_buzzer, "pool; a: take-3 yield give-3; b: take-3 give-3; a b a b"},
        {NULL},
    };
    stage_rows(rows);
}
