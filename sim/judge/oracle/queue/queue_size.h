/* queue-size (zoo: CONSERVE): after every put and get, a queue's size is the puts less the gets,
 * and that of a rendezvous, which keeps no item, is 0. White box; judges variants with
 * BZ_CLAIM_TAKES_AT_RETURN. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_QUEUE_SIZE_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_QUEUE_SIZE_H
#include "sim/judge/oracle/oracle.h"

static inline uint64_t queue_size_due(const struct bz_judged_queue *queue) {
    return queue->is_rendezvous ? 0 : bz_queue_expected_size(queue);
}

static inline bool queue_size_suspects(const struct bz_judge *judge,
                                       const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    (void)judge;
    return moment->kind == BZ_MOMENT_SIZED && queue->size != NULL &&
           bz_claims(bz_queue_items(queue), BZ_CLAIM_TAKES_AT_RETURN) && !queue->is_closed &&
           queue->size(queue->instance) - queue_size_due(queue) > bz_queue_slots(queue)->maybe;
}

static inline void queue_size_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    bz_judge_violate(judge, "queue-size", moment->task, moment->object,
                     "'%s' shows a size of %" PRIu64 ", but %s %" PRIu64,
                     bz_judge_label(judge, moment->object).text, queue->size(queue->instance),
                     queue->is_rendezvous ? "that of a rendezvous is" : "puts less gets are",
                     queue_size_due(queue));
}

#endif

ORACLE(queue_size, "queue-size", "a queue's size differs from its puts less its gets",
       "The size of a queue has to be its puts less its gets.")
