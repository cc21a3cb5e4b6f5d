/* The oracles of pools of locks: pool-entry, and mutual-exclusion and lost-wakeup key by key. */
#include "sim/tests/toys_queue.h"

PTOY(sound, 0, ptoy_entries);
PTOY(crowds, PTOY_CROWDS, ptoy_entries);
PTOY(keeps, PTOY_KEEPS, ptoy_entries);
PTOY(keeps_black_box, PTOY_KEEPS, NULL);

Test(pool_entry, fires_when_a_key_is_kept_that_nobody_uses) {
    pool_fails(&keeps, STAGE_SCRIPTS("take-3 give-3 take-4 give-4 sweep"), "a", "pool-entry", 1,
               "nobody uses any key of 'key', and it still keeps 2 lock(s)");
}

Test(pool_entry, is_silent_when_the_last_user_takes_the_entry_away) {
    pool_passes(&sound, STAGE_SCRIPTS("take-3 yield give-3", "~take-3", "take-3 give-3 sweep"),
                "a b c !b b a c");
}

Test(pool_entry, is_silent_about_what_is_not_shown) {
    pool_passes(&keeps_black_box, STAGE_SCRIPTS("take-3 give-3 sweep"), "a");
}

Test(mutual_exclusion, fires_when_two_hold_the_same_key) {
    pool_fails(&crowds, STAGE_SCRIPTS("take-3 yield give-3", "take-3 give-3"), "a b",
               "mutual-exclusion", 2,
               "b was let in as holder number 2 of 'key', which has 1 permit(s)");
}

Test(mutual_exclusion, is_silent_when_two_hold_different_keys) {
    pool_passes(&crowds, STAGE_SCRIPTS("take-3 yield give-3", "take-4 yield give-4"), "a b a b");
    pool_passes(&sound, STAGE_SCRIPTS("take-3 yield give-3", "take-3 give-3"), "a b a b");
}
