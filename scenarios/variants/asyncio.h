/* The objects of asyncio-3.11 and asyncio-3.13. Private to the files of that name. */
#ifndef BZ_SCENARIOS_VARIANTS_ASYNCIO_H
#define BZ_SCENARIOS_VARIANTS_ASYNCIO_H

#include "scenarios/variants/item_queue.h"
#include "scenarios/variants/variants.h"

struct lock {
    struct bz_deque queue;
    bool is_locked; /* by a task that has resumed */
};

struct semaphore {
    struct bz_deque queue;
    uint32_t value; /* permits that no task holds and no waiter was woken for */
    uint32_t bound;
    bool is_bounded;
};

struct condition {
    struct lock own;
    struct lock *lock; /* `own`, unless it shares another's */
    struct bz_deque queue;
};

enum barrier_state { FILLING = 0, DRAINING, RESETTING, BROKEN };

struct barrier {
    struct condition condition;              /* first: its `queued` is the barrier's too */
    enum bz_status (*wait)(void *condition); /* of this version */
    uint32_t parties;
    uint32_t count; /* tasks that fill, or have yet to leave */
    uint32_t state; /* enum barrier_state */
};

bool bz_asyncio_semaphore_locked(void *semaphore);

#endif
