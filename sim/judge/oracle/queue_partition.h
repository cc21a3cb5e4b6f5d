/* queue-partition (van Rossum: W, R, C): every entry of the queue waits, holds a result, or is
 * cancelled. The waiting entries are exactly the tasks that wait in acquire, and those that yield
 * there and will wait. */
#ifndef BZ_SIM_JUDGE_ORACLE_QUEUE_PARTITION_H
#define BZ_SIM_JUDGE_ORACLE_QUEUE_PARTITION_H

#include "sim/judge/oracle/oracle.h"

static inline uint64_t queue_partition_suspects(const struct bz_judge *judge,
                                                const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    return moment->kind == BZ_MOMENT_STEP ? bz_is_unpartitioned(object) : 0;
}

static inline void queue_partition_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    const struct bz_permit_view *view = &object->view;
    if (object->look.view == NULL || !bz_is_misqueued(object)) {
        return;
    }
    if (view->waiting + view->woken + view->cancelled != view->queued) {
        bz_judge_object(judge, "queue-partition", 0, moment->object,
                        "the queue of '%s' has %u entries, of which %u wait, %u hold a result and "
                        "%u are cancelled",
                        object->name, view->queued, view->waiting, view->woken, view->cancelled);
    } else if (view->waiting < object->waiting ||
               view->waiting > object->waiting + object->polling) {
        bz_judge_object(judge, "queue-partition", 0, moment->object,
                        "the queue of '%s' shows %u waiting entries, but %u tasks wait",
                        object->name, view->waiting, object->waiting);
    } else {
        bz_judge_object(judge, "queue-partition", 0, moment->object,
                        "the queue of '%s' shows %u entries with a result, but only %u tasks "
                        "were woken and have not resumed",
                        object->name, view->woken, object->woken);
    }
}

#endif

ORACLE(queue_partition, "queue-partition", "W, R, C do not partition the waiter queue")
