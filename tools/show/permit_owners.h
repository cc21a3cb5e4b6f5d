/* The owner of each permit, from which step to which. */
#ifndef BZ_TOOLS_SHOW_PERMIT_OWNERS_H
#define BZ_TOOLS_SHOW_PERMIT_OWNERS_H

#include "traces/trace.h"

struct bz_hold {
    uint32_t task;
    const char *object;
    uint64_t step; /* it begins with this step ... */
    uint64_t end;  /* ... and ends with this one, in which the permit is given back */
};

/* A task that is inside an operation when the trace ends. */
struct bz_pending {
    uint32_t task;
    const char *object;
};

struct bz_holds {
    struct bz_hold *holds; /* in the order in which they begin */
    size_t count;
    size_t capacity;
    struct bz_pending *pending; /* suspended inside an operation, by task */
    size_t pending_count;
};

/* Reads the events up to the step of the verdict. A waiter of a condition does not own the lock. */
void bz_holds_init(struct bz_holds *holds, const struct bz_trace *trace);
void bz_holds_fini(struct bz_holds *holds);

#endif
