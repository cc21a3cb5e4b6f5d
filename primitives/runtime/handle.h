/* A handle is one entry of the ready queue: something that runs once, in a step of its own.
 *
 * A handle has an identity that does not depend on its place in the queue: the task on whose
 * behalf it runs, its role, and the how-manieth of that role it is for that task. "Worker 2's
 * third step" stays worker 2's third step however the rest of the schedule is edited; recorded
 * schedules name handles so.
 */
#ifndef BZ_RUNTIME_HANDLE_H
#define BZ_RUNTIME_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

enum bz_role {
    BZ_ROLE_STEP = 0,     /* the next step of a task */
    BZ_ROLE_TIMER = 1,    /* a timer that has become due */
    BZ_ROLE_CALLBACK = 2, /* a future's callback, or a plain call_soon */
};
#define BZ_ROLE_COUNT 3

struct bz_handle {
    void (*run)(struct bz_handle *handle);
    uint32_t owner; /* task id; 0: the loop itself */
    uint32_t nth;   /* 1 is the first of its role for this owner */
    uint8_t role;
    bool is_ready; /* in the ready queue */
};

/* Counts the handles of one owner, by role. */
struct bz_actor {
    uint32_t id;
    uint32_t count[BZ_ROLE_COUNT];
};

static inline void bz_handle_init(struct bz_handle *handle, struct bz_actor *owner,
                                  enum bz_role role, void (*run)(struct bz_handle *)) {
    handle->run = run;
    handle->owner = owner->id;
    handle->nth = ++owner->count[role];
    handle->role = (uint8_t)role;
    handle->is_ready = false;
}

#endif
