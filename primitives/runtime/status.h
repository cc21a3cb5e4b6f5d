/* The status that an operation returns. In C a cancelled await is a value, not an exception: the
 * caller cleans up and returns it. Numbers never change meaning; new ones are appended. */
#ifndef BZ_RUNTIME_STATUS_H
#define BZ_RUNTIME_STATUS_H

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

enum bz_status {
    BZ_OK = 0,
    BZ_CANCELLED = 1,     /* a cancel request was delivered here: clean up and return it */
    BZ_TIMED_OUT = 2,     /* a timeout scope expired; it replaces the scope's own cancellation */
    BZ_FAILED = 3,        /* user code failed (asyncio: an exception); the value says how */
    BZ_NOT_HELD = 4,      /* misuse: release of what is not held */
    BZ_INVALID_STATE = 5, /* misuse: the object's state does not allow this call */
    BZ_INVALID_ARGUMENT = 6,
    BZ_NO_MEMORY = 7, /* a memory or task limit of the loop was reached */
    BZ_BROKEN = 8,    /* the barrier was broken or reset during the wait */
    BZ_CLOSED = 9,    /* the queue or channel was closed */
    BZ_EMPTY = 10,    /* nothing to take, and the call must not block */
    BZ_FULL = 11,     /* no space, and the call must not block */
};
#define BZ_STATUS_COUNT 12

/* The stable name that traces use: "ok", "cancelled", ...; NULL for an unknown status. */
const char *bz_status_name(enum bz_status status);

/* A caller that drops a status loses a cancellation: the compiler warns. */
#define BZ_MUST_USE __attribute__((__warn_unused_result__))

BZ_END_DECLS

#endif
