/* A variant: one implementation of some primitives, as const tables of functions, with what it
 * claims and, for a faulty one, where its fault comes from.
 *
 * A variant is written against primitives/runtime alone: futures, tasks, the loop. It cannot tell
 * whether it is being simulated. All of its memory comes from bz_loop_mem(), nothing of it is
 * global, and it never asks for time, addresses or random numbers.
 *
 * Order of calls: init once; then acquire, release, locked and view in any order, acquire from
 * tasks only; fini once, when nobody waits. A run that ends early calls no fini.
 */
#ifndef BZ_SIM_VARIANT_VARIANT_H
#define BZ_SIM_VARIANT_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/loop.h"
#include "primitives/runtime/status.h"

/* Changes when a table below changes; a plug-in built for another number is refused. */
#define BZ_VARIANT_VERSION 2u

/* The primitives that a variant may offer. */
enum bz_primitive {
    BZ_PRIMITIVE_SEMAPHORE = 0,
    BZ_PRIMITIVE_BOUNDED = 1, /* a semaphore that refuses a release too many */
    BZ_PRIMITIVE_LOCK = 2,
};
#define BZ_PRIMITIVE_COUNT 3

/* "semaphore", "bounded", "lock"; NULL for none. */
const char *bz_primitive_name(enum bz_primitive primitive);

/* What a permit primitive shows of itself, after any step, without changing. With W, R, C as in
 * sources: entries of its queue whose future is pending, holds a result, or was cancelled. An
 * implementation that takes entries out when it wakes them has no R in its queue. */
struct bz_permit_view {
    uint64_t level;   /* open tables: permits nobody holds, those promised to R included */
    uint32_t queued;  /* entries, counted along the queue */
    uint32_t waiting; /* W among them */
    uint32_t woken;   /* R among them */
    uint32_t cancelled;
};

/* Lock, semaphore, bounded semaphore. */
struct bz_permit_ops {
    size_t instance_bytes; /* zeroed memory of this size is what init receives */
    enum bz_status (*init)(void *instance, struct bz_loop *loop, uint32_t permits);
    void (*fini)(void *instance); /* NULL: nothing to do */
    enum bz_status (*acquire)(void *instance);
    enum bz_status (*release)(void *instance);
    bool (*locked)(void *instance);                            /* NULL: not offered */
    void (*view)(void *instance, struct bz_permit_view *view); /* NULL: black box */
};

/* What a variant claims; an oracle judges only what was claimed. */
#define BZ_CLAIM_FIFO 0x1u           /* grants in strict order of arrival */
#define BZ_CLAIM_LOCKED_EXACT 0x2u   /* locked() is right in the window, too */
#define BZ_CLAIM_REFUSES_MISUSE 0x4u /* lock, bounded: a release of what is not held is refused */
#define BZ_CLAIM_WAKE_IS_GRANT                                                                     \
    0x8u /* a woken waiter gets what it was woken for; else a wake-up is                           \
            a hint, and the woken one looks again */

/* A fault that shipped once, or a toy's. Every string is plain text. */
struct bz_fault {
    const char *family;   /* which kind of fault, see scenarios/zoo/README.md */
    const char *project;  /* who shipped it */
    const char *issue;    /* where it is documented */
    const char *versions; /* what was affected */
    const char *summary;  /* the fault in one line */
    const char *property; /* what it violates, in the field's words */
    const char *oracle;   /* which oracle must catch it */
    const char *scenario; /* which scenario shows it */
    const char *settings; /* settings of that scenario, "name=value,..."; NULL: its defaults */
    bool fifo_reachable;  /* a plain FIFO loop gets there: it can happen in production */
};

struct bz_variant {
    uint32_t version; /* BZ_VARIANT_VERSION */
    uint32_t claims;  /* BZ_CLAIM_... */
    const char *name;
    const char *summary;
    const struct bz_permit_ops *permits[BZ_PRIMITIVE_COUNT]; /* NULL: not offered */
    const struct bz_fault *fault;                            /* NULL: none is known */
};

#endif
