/* The oracles: properties that every run is held against, one file each.
 *
 * An oracle is a monitor (sim/world/monitor.h). Black-box oracles judge by the book, that is, by
 * what the tasks were told; white-box oracles also ask the primitive for its level and its queue,
 * once after each step that concerned it. What a variant does not claim, or does not show, is not
 * judged. Sources: asyncio's history (gh-90155, gh-97545, bpo-32734 and others named in
 * scenarios/zoo), and G. van Rossum, "Reasoning about asyncio.Semaphore" (2022).
 */
#ifndef BZ_SIM_ORACLE_ORACLE_H
#define BZ_SIM_ORACLE_ORACLE_H

#include "sim/world/monitor.h"

extern const struct bz_monitor bz_oracle_assertion;
extern const struct bz_monitor bz_oracle_barrier_round;
extern const struct bz_monitor bz_oracle_bound;
extern const struct bz_monitor bz_oracle_cancel_count;
extern const struct bz_monitor bz_oracle_cancel_delivered;
extern const struct bz_monitor bz_oracle_deadlock;
extern const struct bz_monitor bz_oracle_fifo;
extern const struct bz_monitor bz_oracle_item_once;
extern const struct bz_monitor bz_oracle_item_order;
extern const struct bz_monitor bz_oracle_leak;
extern const struct bz_monitor bz_oracle_level_bound;
extern const struct bz_monitor bz_oracle_livelock;
extern const struct bz_monitor bz_oracle_locked_definition;
extern const struct bz_monitor bz_oracle_lost_notification;
extern const struct bz_monitor bz_oracle_lost_wakeup;
extern const struct bz_monitor bz_oracle_misuse;
extern const struct bz_monitor bz_oracle_mutual_exclusion;
extern const struct bz_monitor bz_oracle_nondeterminism;
extern const struct bz_monitor bz_oracle_notify_count;
extern const struct bz_monitor bz_oracle_ownership;
extern const struct bz_monitor bz_oracle_permit_conservation;
extern const struct bz_monitor bz_oracle_pool_entry;
extern const struct bz_monitor bz_oracle_queue_partition;
extern const struct bz_monitor bz_oracle_queue_size;
extern const struct bz_monitor bz_oracle_relock;
extern const struct bz_monitor bz_oracle_spec;
extern const struct bz_monitor bz_oracle_starvation;
extern const struct bz_monitor bz_oracle_work_conserving;

/* All of them, in the order in which they judge a step: what hurts a user comes first, what merely
 * shows that the books are wrong comes last. Ends with NULL. */
extern const struct bz_monitor *const bz_oracles[];

/* NULL if there is none of that name. */
const struct bz_monitor *bz_oracle_find(const char *name);

#endif
