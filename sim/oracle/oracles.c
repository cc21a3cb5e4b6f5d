#include <stddef.h>
#include <string.h>

#include "sim/oracle/oracle.h"

/* The scenario itself checks, with bz_world_assert(). */
const struct bz_monitor bz_oracle_assertion = {
    .name = "assertion",
    .summary = "the scenario's own check failed",
};

/* The campaign itself checks, by running a tape twice. */
const struct bz_monitor bz_oracle_nondeterminism = {
    .name = "nondeterminism",
    .summary = "the same tape gave two different runs",
};

const struct bz_monitor *const bz_oracles[] = {
    &bz_oracle_mutual_exclusion,
    &bz_oracle_relock,
    &bz_oracle_item_once,
    &bz_oracle_item_order,
    &bz_oracle_bound,
    &bz_oracle_barrier_round,
    &bz_oracle_lost_notification,
    &bz_oracle_fifo,
    &bz_oracle_ownership,
    &bz_oracle_cancel_delivered,
    &bz_oracle_cancel_count,
    &bz_oracle_misuse,
    &bz_oracle_lost_wakeup,
    &bz_oracle_starvation,
    &bz_oracle_work_conserving,
    &bz_oracle_notify_count,
    &bz_oracle_level_bound,
    &bz_oracle_permit_conservation,
    &bz_oracle_queue_size,
    &bz_oracle_queue_partition,
    &bz_oracle_locked_definition,
    &bz_oracle_deadlock,
    &bz_oracle_livelock,
    &bz_oracle_leak,
    &bz_oracle_pool_entry,
    &bz_oracle_spec,
    &bz_oracle_assertion,
    &bz_oracle_nondeterminism,
    NULL,
};

const struct bz_monitor *bz_oracle_find(const char *name) {
    for (const struct bz_monitor *const *oracle = bz_oracles; *oracle != NULL; oracle++) {
        if (strcmp((*oracle)->name, name) == 0) {
            return *oracle;
        }
    }
    return NULL;
}
