/* The oracles of pools of locks: pool-entry, and mutual-exclusion and lost-wakeup key by key. */
#include "sim/tests/toys.h"

TOY_OF(pool, never_pruned_unseen, BZ_CLAIM_REFUSES_MISUSE, bz_zoo_ops_pool_never_pruned,
       ops->entries = NULL)

static void pool_fails(const struct bz_variant *variant, const char *const *scripts,
                       const char *plan, const char *oracle, uint32_t step, const char *fragment) {
    struct stage stage;
    stage_begin_pool(&stage, variant);
    stage_fails(&stage, scripts, plan, oracle, step, fragment);
}

static void pool_passes(const struct bz_variant *variant, const char *const *scripts,
                        const char *plan) {
    struct stage stage;
    stage_begin_pool(&stage, variant);
    stage_passes(&stage, scripts, plan, NULL);
}

Test(pool_entry, fires_when_a_key_is_kept_that_nobody_uses) {
    pool_fails(&bz_variant_zoo_pool_never_pruned,
               STAGE_SCRIPTS("take-3 give-3 take-4 give-4 sweep"), "a", "pool-entry", 1,
               "no key of 'key' is in use, but 2 locks are left");
}

Test(pool_entry, is_silent_when_the_last_user_takes_the_entry_away) {
    pool_passes(&bz_variant_buzzer,
                STAGE_SCRIPTS("take-3 yield give-3", "~take-3", "take-3 give-3 sweep"),
                "a b c !b b a c");
}

Test(pool_entry, is_silent_about_what_is_not_shown) {
    pool_passes(&never_pruned_unseen, STAGE_SCRIPTS("take-3 give-3 sweep"), "a");
}

Test(mutual_exclusion, fires_when_two_hold_the_same_key) {
    pool_fails(&bz_variant_zoo_pool_prune_window,
               STAGE_SCRIPTS("take-3 yield give-3", "take-3 give-3", "take-3 yield give-3"),
               "a b a c b", "mutual-exclusion", 5,
               "b acquired 'key#4' as holder number 2, but it has only 1 permit");
    pool_fails(&bz_variant_zoo_pool_lru_held,
               STAGE_SCRIPTS("take-3 yield give-3", "take-4 take-5 give-4 give-5", "take-3 give-3"),
               "a b c", "mutual-exclusion", 3,
               "c acquired 'key#4' as holder number 2, but it has only 1 permit");
}

Test(mutual_exclusion, is_silent_when_two_hold_different_keys) {
    pool_passes(&bz_variant_zoo_pool_lru_held,
                STAGE_SCRIPTS("take-3 yield give-3", "take-4 yield give-4"), "a b a b");
    pool_passes(&bz_variant_buzzer, STAGE_SCRIPTS("take-3 yield give-3", "take-3 give-3"),
                "a b a b");
}
