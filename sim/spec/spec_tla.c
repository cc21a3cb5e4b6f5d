/* The published specification of asyncio's semaphore, action by action, with its two faults: its
 * bound on the queue is wrong, and it wakes and resumes a waiter in one action, so that no cancel
 * can come between. spec_buzzer.c repairs both. */
#include "sim/spec/packed.h"

enum status {
    RELEASED = 0,
    WAITING = 1,
    ACQUIRED = 2,
    CANCELLED = 3,
};

static const char *const status_names[] = {"released", "waiting", "acquired", "cancelled"};

enum action {
    ACQUIRE = 0,
    RELEASE,
    ADD_WAITER,
    CANCEL_WAITER,
    ACQUIRE_NEXT,
    REMOVE_CANCELLED,
};

static const char *const action_names[] = {
    "Acquire", "Release", "AddWaiter", "CancelWaiter", "AcquireNext", "RemoveCancelled", NULL};

static const struct bz_spec_invariant invariants[] = {
    {"TypeInvariant", "level >= 0, level <= UpperBound, Len(queue) <= UpperBound"},
};

struct expansion {
    const struct bz_spec_constants *constants;
    struct bz_packed from;
    struct bz_spec_step *next;
};

/* Adds a transition: the client gets this status, and the level changes by `change`. */
static inline void step(struct expansion *expansion, enum action action, uint32_t client,
                        enum status status, int32_t change) {
    struct bz_packed to = expansion->from;
    to.level += change;
    bz_packed_set_status(&to, client, status);
    if (action == ADD_WAITER) {
        bz_packed_append(&to, client, expansion->constants->clients);
    } else if (action == ACQUIRE_NEXT || action == REMOVE_CANCELLED) {
        bz_packed_leave(&to, client); /* the head */
    }
    *expansion->next++ = (struct bz_spec_step){
        .state = bz_packed_store(&to), .action = (uint8_t)action, .client = (uint8_t)client};
}

static void step_client(struct expansion *expansion, uint32_t client) {
    const struct bz_packed *from = &expansion->from;
    switch (bz_packed_status(from, client)) {
    case RELEASED:
        if (from->length == 0 && from->level > 0) {
            step(expansion, ACQUIRE, client, ACQUIRED, -1);
        }
        if (from->level == 0) {
            step(expansion, ADD_WAITER, client, WAITING, 0);
        }
        break;
    case WAITING:
        step(expansion, CANCEL_WAITER, client, CANCELLED, 0);
        break;
    case ACQUIRED:
        step(expansion, RELEASE, client, RELEASED, +1);
        break;
    default:
        break;
    }
}

static uint32_t expand(const struct bz_spec_constants *constants, struct bz_spec_state state,
                       struct bz_spec_step *steps, uint32_t *broken) {
    struct expansion expansion = {
        .constants = constants, .from = bz_packed_load(state), .next = steps};
    const struct bz_packed *from = &expansion.from;
    for (uint32_t client = 0; client < constants->clients; client++) {
        step_client(&expansion, client);
    }
    uint32_t head = bz_packed_at(from, 0);
    if (from->length > 0 && from->level > 0 && bz_packed_status(from, head) == WAITING) {
        step(&expansion, ACQUIRE_NEXT, head, ACQUIRED, -1);
    }
    if (from->length > 0 && bz_packed_status(from, head) == CANCELLED) {
        step(&expansion, REMOVE_CANCELLED, head, RELEASED, 0);
    }
    *broken = from->level < 0 || from->level > (int32_t)constants->permits ||
              from->length > constants->permits;
    return (uint32_t)(expansion.next - steps);
}

const struct bz_spec bz_spec_tla = {
    .name = "tla",
    .summary = "the published specification of asyncio's semaphore, with its faults",
    .actions = action_names,
    .statuses = status_names,
    .invariants = invariants,
    .invariant_count = sizeof invariants / sizeof invariants[0],
    .expand = expand,
};
