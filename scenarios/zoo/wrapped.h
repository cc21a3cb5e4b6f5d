/* A lock whose acquire is waited for in a second task, as wait_for() does it: the caller starts a
 * task that acquires, and waits for the end of that task. Between the moment in which the second
 * task has the lock and the moment in which the caller goes on, the lock is promised: nobody holds
 * it, and somebody has to be told. The faults of these entries are what the caller makes of it when
 * it is cancelled, or too late, in between; here is none.
 *
 *     caller         acquire ......................... goes on
 *     second task      starts ... waits ... has it, ends
 *
 * A group (primitives/runtime/group.h) waits for the second task, cancels it when the caller is
 * cancelled, and frees it. Second tasks queue in the order in which they first run, so that nothing
 * is claimed of the order of service. The queue is theirs, and they are in no operation that the
 * oracles know of: the view shows the level alone.
 */
#ifndef BZ_SCENARIOS_ZOO_WRAPPED_H
#define BZ_SCENARIOS_ZOO_WRAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "scenarios/zoo/waiters.h"

struct bz_zoo_wrapped {
    struct bz_zoo_handoff lock; /* first: locked() is that of a hand-off */
    uint32_t calls;             /* second tasks so far; they are numbered */
};

/* One call of acquire; on the stack of the caller. */
struct bz_zoo_call {
    struct bz_zoo_wrapped *lock;
    bool keeps_lock; /* set by the caller: cancelled in the window, the second task takes the lock
                        all the same, and answers with it */
    bool has_lock;   /* the second task ended with it */
    bool in_spite;   /* and had been cancelled */
};

/* Acquires in a second task and waits for its end. BZ_OK: `has_lock` is set. BZ_CANCELLED: it may
 * be set as well. With it the lock is promised to the caller, who answers for it: by keeping it
 * or by giving it back. */
enum bz_status bz_zoo_wrapped_wait(struct bz_zoo_call *call) BZ_MUST_USE;
void bz_zoo_wrapped_keep(struct bz_zoo_wrapped *lock);
void bz_zoo_wrapped_give_back(struct bz_zoo_wrapped *lock);

/* For struct bz_permit_ops, with bz_zoo_handoff_init and bz_zoo_handoff_locked. */
enum bz_status bz_zoo_wrapped_release(void *instance);
void bz_zoo_wrapped_view(void *instance, struct bz_permit_view *view);

#endif
