/* What an implementation of a primitive is, claims and shows: all that the judge knows of it. */
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
    BZ_PRIMITIVE_POOL = 7,     /* of locks, by key */
    BZ_PRIMITIVE_DEFERRED = 8, /* a semaphore whose acquire answers by a callback */
    BZ_PRIMITIVE_SCOPE = 9,    /* a timeout scope, built on cancel and uncancel */
};
#define BZ_PRIMITIVE_COUNT 10
#define BZ_PERMIT_PRIMITIVES 3 /* the first three are acquired and released by tasks */

/* "semaphore", "bounded", "lock", "event", "condition", "barrier", "queue", "pool", "deferred",
 * "scope"; NULL for none. */
const char *bz_primitive_name(enum bz_primitive primitive);

/* The order in which a queue gives its items out. */
enum bz_queue_order {
    BZ_QUEUE_ORDER_FIFO = 0,
    BZ_QUEUE_ORDER_LIFO = 1,
    BZ_QUEUE_ORDER_PRIORITY = 2, /* the least first */
};

/* What a permit primitive shows of itself, after any step. view and locked look on: they change
 * nothing, and nothing happens in them. With W, R, C as in
 * sources: entries of its queue whose future is pending, holds a result, or was cancelled. An
 * implementation that takes entries out when it wakes them has no R in its queue. */
struct bz_permit_view {
    uint64_t level;   /* open tables: permits nobody holds, those promised to R included */
    uint32_t queued;  /* entries, counted along the queue */
    uint32_t waiting; /* W among them */
    uint32_t woken;   /* R among them */
    uint32_t cancelled;
};

/* What a variant claims; an oracle judges only what was claimed. */
#define BZ_CLAIM_FIFO 0x1u           /* grants in strict order of arrival */
#define BZ_CLAIM_LOCKED_EXACT 0x2u   /* locked() is right in the window, too */
#define BZ_CLAIM_REFUSES_MISUSE 0x4u /* lock, bounded: a release of what is not held is refused */
#define BZ_CLAIM_WAKE_IS_GRANT                                                                     \
    0x8u /* a woken waiter gets what it was woken for; else a wake-up is                           \
            a hint, and the woken one looks again */
#define BZ_CLAIM_WORK_CONSERVING                                                                   \
    0x10u /* who resumes with a permit leaves no waiter asleep beside                              \
             a permit that nobody was woken for */
#define BZ_CLAIM_TAKES_AT_RETURN                                                                   \
    0x20u /* queue: a get takes its item when it returns, in the                                   \
             queue's order; size() counts until then */

#define BZ_CLAIM_EXACT_NOTIFY                                                                      \
    0x40u /* condition: a notification wakes as many as it is for, and                             \
             no more; one that a cancelled waiter passes on is passed on                           \
             in the step in which it learns of its cancellation */

#define BZ_CLAIM_NO_PASSING                                                                        \
    0x80u /* with BZ_CLAIM_FIFO: while a woken waiter has not resumed,                             \
             newcomers queue, even beside something free */

BZ_END_DECLS

#endif
