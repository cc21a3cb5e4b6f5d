/* The names, claims and views of variants: all that the judge knows of an implementation. */
#ifndef BZ_SIM_VARIANT_CLAIMS_H
#define BZ_SIM_VARIANT_CLAIMS_H

#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

/* The primitives that a variant may offer. */
enum bz_primitive {
    BZ_PRIMITIVE_SEMAPHORE = 0,
    BZ_PRIMITIVE_BOUNDED = 1, /* a semaphore that refuses a release too many */
    BZ_PRIMITIVE_LOCK = 2,
    BZ_PRIMITIVE_EVENT = 3,
    BZ_PRIMITIVE_CONDITION = 4,
    BZ_PRIMITIVE_BARRIER = 5,
    BZ_PRIMITIVE_QUEUE = 6,
    BZ_PRIMITIVE_POOL = 7,           /* of locks, by key */
    BZ_PRIMITIVE_DEFERRED = 8,       /* a semaphore whose acquire answers by a callback */
    BZ_PRIMITIVE_SCOPE = 9,          /* a timeout scope, built on cancel and uncancel */
    BZ_PRIMITIVE_MODELLED = 10,      /* one of its author's own, with the model that judges it */
    BZ_PRIMITIVE_RESOURCE_POOL = 11, /* resources such as connections, lent to one task each */
};
#define BZ_PRIMITIVE_COUNT 12
#define BZ_PERMIT_PRIMITIVES 3 /* the first three are acquired and released by tasks */

/* "semaphore", "bounded", "lock", "event", "condition", "barrier", "queue", "pool", "deferred",
 * "scope", "modelled", "resource-pool"; NULL for none. */
const char *bz_primitive_name(enum bz_primitive primitive);

/* The order in which a queue gives its items out. */
enum bz_queue_order {
    BZ_QUEUE_ORDER_FIFO = 0,
    BZ_QUEUE_ORDER_LIFO = 1,
    BZ_QUEUE_ORDER_PRIORITY = 2, /* the least first */
};

/* The maxsize of a queue that keeps no item: a put waits until a get takes its item, and a get
 * until a put brings one. A put that is cancelled may have delivered its item. As a setting it is
 * -1. */
#define BZ_QUEUE_RENDEZVOUS UINT32_MAX

/* The view of a permit primitive after any step: `view` fills in zeroed memory. Its
 * functions view and locked change nothing. A task holds a permit from the return of its acquire to
 * its release. An implementation that takes entries out of its queue when it wakes them has no
 * woken entries there. */
struct bz_permit_view {
    uint64_t level;     /* free permits, those promised to tasks inside acquire included */
    uint32_t queued;    /* entries, counted along the queue */
    uint32_t waiting;   /* entries whose future is pending */
    uint32_t woken;     /* entries whose future has a result */
    uint32_t cancelled; /* entries whose future was cancelled */
};

/* The claims of a variant. An oracle judges only what was claimed. Where no primitive is named, a
 * claim has an effect on locks, semaphores, queues and pools. Of an event, a condition and a
 * barrier, the order of wake-ups is judged, by BZ_CLAIM_FIFO and BZ_CLAIM_WAKE_IS_GRANT together;
 * FIFO alone means nothing there. Waivers and BZ_CLAIM_UNAIDED hold for every primitive. */

/* Grants in strict order of arrival, which is the call. With BZ_CLAIM_WAKE_IS_GRANT the wake-up is
 * the grant. Otherwise it is the return, and no later arrival has returned with what an earlier one
 * is then short of. */
#define BZ_CLAIM_FIFO 0x1u

/* Lock, semaphore: locked() is true exactly if an acquire would wait on a future, also in the
 * window. It is true at level 0, and false while something is free and no other task is inside
 * acquire. In between it depends on the implementation; with BZ_CLAIM_NO_PASSING it is true as long
 * as a task waits, or was woken and has not resumed. A yield or a sleep is no wait. */
#define BZ_CLAIM_LOCKED_EXACT 0x2u

/* Lock, bounded semaphore: refuses a release of what is not held. Condition: refuses to wait or to
 * notify while no task holds the lock. Queue: refuses a task_done too many. */
#define BZ_CLAIM_REFUSES_MISUSE 0x4u

/* A woken waiter gets what it was woken for. Otherwise a wake-up is a hint, and the woken waiter
 * checks again. */
#define BZ_CLAIM_WAKE_IS_GRANT 0x8u

/* A task that resumes with a permit leaves no waiter asleep next to a free permit for which no
 * waiter was woken. */
#define BZ_CLAIM_WORK_CONSERVING 0x10u

/* Queue: a get takes its item when it returns, in the queue's order; size() counts it until then.
 * At a rendezvous, size() is 0. */
#define BZ_CLAIM_TAKES_AT_RETURN 0x20u

/* Condition: a notification wakes exactly as many as it is for. One that a cancelled waiter passes
 * on is passed on in the step in which that waiter learns of its cancellation. */
#define BZ_CLAIM_EXACT_NOTIFY 0x40u

/* With BZ_CLAIM_FIFO: while a woken waiter has not resumed, newcomers queue, even if something is
 * free. */
#define BZ_CLAIM_NO_PASSING 0x80u

/* Queue: a waiver, not a promise. Items come out in any order. */
#define BZ_CLAIM_UNORDERED_ITEMS 0x100u

/* A waiver, not a promise. An operation may end with BZ_FAILED, an exception of its own, also where
 * a cancel was delivered inside. */
#define BZ_CLAIM_MAY_FAIL 0x200u

/* A waiver, not a promise. An operation may cancel its own task at a deadline, and answer that as
 * it likes: a cancel that comes from a timer or a callback during the operation need not come out
 * of it. */
#define BZ_CLAIM_OWN_DEADLINES 0x400u

/* Queue: a waiver, not a promise. Items of equal priority come out in any order. */
#define BZ_CLAIM_UNORDERED_TIES 0x800u

/* Only calls of the object wake its waiters: the implementation has no task, callback or timer of
 * its own for that. Else a wake-up is not lost as long as any is under way, whosever it is. */
#define BZ_CLAIM_UNAIDED 0x1000u

/* Barrier: newcomers are held back while a round drains. An abort fails every wait that has not
 * returned. A reset fails those of the round that fills or drains, and spares those held back. */
#define BZ_CLAIM_BREAKS_ALL 0x2000u

/* Queue, pool, scope: an allocation in the arena of the loop may fail. Then an operation returns
 * BZ_NO_MEMORY and has no other effect, or does without. */
#define BZ_CLAIM_SURVIVES_NO_MEMORY 0x4000u

/* A waiver, not a promise. Later arrivals may overtake a waiter again and again, for as long as
 * they come: last in, first out, say, or a task that releases and takes again. */
#define BZ_CLAIM_UNFAIR 0x8000u

/* Event, queue: a demand, not a promise. At most one task at a time waits for the event, or is
 * inside get or try_get. With BZ_CLAIM_REFUSES_MISUSE, a call beside one that waits is refused. */
#define BZ_CLAIM_SINGLE_CONSUMER 0x10000u

/* Queue: the same for put and try_put. */
#define BZ_CLAIM_SINGLE_PRODUCER 0x20000u

/* Condition: a waiver, not a promise. Nobody sees when a waiter is notified: it sleeps on in the
 * line of the lock, and a release of the lock wakes it (wait morphing), or it yields and looks. */
#define BZ_CLAIM_WAIT_MORPHING 0x40000u

/* Queue with a bound: a waiver, not a promise. A put that is cancelled while it waits may have
 * delivered its item all the same, as at a rendezvous. */
#define BZ_CLAIM_MAY_DELIVER 0x80000u

/* All of the above; a plug-in with another bit is refused. */
#define BZ_CLAIMS_ALL 0xfffffu

BZ_END_DECLS

#endif
