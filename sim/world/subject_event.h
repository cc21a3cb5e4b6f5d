/* A subject that is an event (a flag that tasks wait for); see subject.h.
 *
 * Judged: every task that waits when the flag is set is woken by that (`lost-notification`), nobody
 * waits beside a set flag (`lost-wakeup`), and what every waiter must keep to. A variant has to
 * wake its waiters inside set, or let them poll; one that only wakes them later is judged too
 * early. */
#ifndef BZ_SIM_WORLD_SUBJECT_EVENT_H
#define BZ_SIM_WORLD_SUBJECT_EVENT_H

#include "sim/world/subject.h"

struct bz_event_subject {
    struct bz_world *world;
    const struct bz_event_ops *ops;
    void *instance;
    uint32_t object;
};

enum bz_status bz_event_subject_init(struct bz_event_subject *subject, struct bz_world *world,
                                     const char *name) BZ_MUST_USE;

/* From tasks only. */
static inline __attribute__((always_inline)) BZ_MUST_USE enum bz_status
bz_event_subject_wait(struct bz_event_subject *subject) {
    uint32_t step = bz_subject_calls(subject->world, subject->object, BZ_OP_WAIT);
    enum bz_status status = subject->ops->wait(subject->instance);
    bz_subject_returns(subject->world, subject->object, BZ_OP_WAIT, step, status);
    return status;
}

static inline bool bz_event_subject_is_set(struct bz_event_subject *subject) {
    return subject->ops->is_set(subject->instance);
}

void bz_event_subject_set(struct bz_event_subject *subject);
void bz_event_subject_clear(struct bz_event_subject *subject);

#endif
