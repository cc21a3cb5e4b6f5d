/* queue-partition (van Rossum: W, R, C): every entry of the queue waits, holds a result, or is
 * cancelled. The waiting entries are exactly the tasks that wait in acquire, and those that yield
 * there and will wait. */
#ifndef BZ_SIM_JUDGE_ORACLE_PERMIT_QUEUE_PARTITION_H
#define BZ_SIM_JUDGE_ORACLE_PERMIT_QUEUE_PARTITION_H
#include "sim/judge/oracle/oracle.h"

BZ_ORACLE_OF_STEP(queue_partition, bz_is_unpartitioned)

static inline void queue_partition_judges(struct bz_judge *judge, const struct bz_moment *moment) {
    const struct bz_shadow_object *object = bz_judge_shadow_object(judge, moment->object);
    const struct bz_permit_view *view = &object->view;
    if (object->look.view == NULL || !bz_is_misqueued(object)) {
        return;
    }
    if (view->waiting + view->woken + view->cancelled != view->queued) {
        bz_judge_violate(
            judge, "queue-partition", 0, moment->object,
            "the queue of '%s' has %u entr%s, but shows %u that wait%s, %u with a result and "
            "%u cancelled",
            bz_judge_label(judge, moment->object).text, view->queued,
            view->queued == 1 ? "y" : "ies", view->waiting, view->waiting == 1 ? "s" : "",
            view->woken, view->cancelled);
    } else if (view->waiting < object->waiting ||
               view->waiting > object->waiting + object->polling) {
        bz_judge_violate(judge, "queue-partition", 0, moment->object,
                         "the queue of '%s' shows %u waiting entr%s, but %u task%s wait%s",
                         bz_judge_label(judge, moment->object).text, view->waiting,
                         view->waiting == 1 ? "y" : "ies", object->waiting,
                         bz_plural(object->waiting), object->waiting == 1 ? "s" : "");
    } else {
        bz_judge_violate(judge, "queue-partition", 0, moment->object,
                         "the queue of '%s' shows %u entr%s with a result, but %u task%s %s woken "
                         "and %s not resumed",
                         bz_judge_label(judge, moment->object).text, view->woken,
                         view->woken == 1 ? "y" : "ies", object->woken, bz_plural(object->woken),
                         object->woken == 1 ? "was" : "were", object->woken == 1 ? "has" : "have");
    }
}

#endif

ORACLE(queue_partition, "queue-partition", "W, R, C do not partition the waiter queue",
       "Every waiter in the queue is either waiting, or holds a result, or is cancelled; one "
       "that is done or gone must not stay there.")
