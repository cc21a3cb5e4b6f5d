/* queue-size (zoo: CONSERVE): a queue's size is what was put less what was got, after every put and
 * get. White box; judges variants whose get takes its item when it returns. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_SIZE_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_SIZE_H

#include "sim/judge/oracle/oracle.h"

static inline bool queue_size_suspects(const struct bz_judge *judge,
                                       const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    (void)judge;
    return moment->kind == BZ_MOMENT_SIZED && bz_queue_is_exact(queue) && !queue->is_closed &&
           queue->size(queue->instance) != bz_queue_expected_size(queue);
}

static inline void queue_size_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_judged_queue *queue = moment->queue;
    bz_judge_object(judge, "queue-size", moment->task, moment->object,
                    "'%s' says that it has %" PRIu64 " item(s); %" PRIu64
                    " were put and not yet got",
                    bz_judge_object_name(judge, moment->object), queue->size(queue->instance),
                    bz_queue_expected_size(queue));
}

#endif

ORACLE(queue_size, "queue-size", "a queue's size is not what was put less what was got")
