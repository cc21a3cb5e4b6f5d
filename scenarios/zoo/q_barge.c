/* q-barge: what a woken task was woken for can be taken by a newcomer, and the loser queues again
 * at the end.
 *
 * (1) The queue is full, P waits in put. (2) A get takes an item and wakes P. (3) A newcomer puts
 * before P has resumed. (4) P finds the queue full and waits again, behind all others. The same
 * happens to getters. Open to this day, by choice: the queue does not promise to be fair. This
 * entry claims what that queue does not, so that the oracle of strict order speaks.
 *
 * The cure: what somebody was woken for is promised to it, and a newcomer waits behind. */
#include "scenarios/scenarios.h"
#include "scenarios/zoo/items.h"

static const struct bz_queue_ops queue_ops = {
    .instance_bytes = sizeof(struct bz_zoo_items),
    .init = bz_zoo_items_init,
    .put = bz_zoo_items_put,
    .get = bz_zoo_items_get,
    .try_put = bz_zoo_items_try_put,
    .try_get = bz_zoo_items_try_get,
    .task_done = bz_zoo_items_task_done,
    .join = bz_zoo_items_join,
    .size = bz_zoo_items_size,
    .queued = bz_zoo_items_queued,
};

static const struct bz_fault fault = {
    .family = "grant not reserved",
    .project = "CPython asyncio",
    .issue = "gh-83055 (open)",
    .versions = "3.5.1 to 3.15.0rc1",
    .summary = "a newcomer takes the slot or item that another task was woken for",
    .property = "first come, first served",
    .oracle = "fifo",
    .scenario = "queue",
    .fifo_reachable = true,
};

const struct bz_variant bz_variant_zoo_q_barge = {
    .version = BZ_VARIANT_VERSION,
    .claims = BZ_CLAIM_TAKES_AT_RETURN | BZ_CLAIM_FIFO,
    .name = "zoo/q-barge",
    .summary = "queue in which newcomers overtake woken tasks",
    .queue = &queue_ops,
    .fault = &fault,
};
