/* The objects of a run, as far as they follow from its trace.
 *
 * A trace of version 1 lists no objects. Their kinds, sizes and partners follow from the scenario
 * if it is one of Buzzer's, from the names that scenario `program` and the Python module give to
 * parts of an object, and from the events. Nothing is guessed from a name that a user chose: what
 * does not follow is left out, and `lacks` says what that is.
 */
#ifndef BZ_TOOLS_STORY_OBJECTS_H
#define BZ_TOOLS_STORY_OBJECTS_H

#include "traces/trace.h"

enum bz_object_kind {
    BZ_OBJECT_UNKNOWN = 0,
    BZ_OBJECT_LOCK = 1,
    BZ_OBJECT_SEMAPHORE = 2,
    BZ_OBJECT_BOUNDED = 3,
    BZ_OBJECT_EVENT = 4,
    BZ_OBJECT_CONDITION = 5,
    BZ_OBJECT_BARRIER = 6,
    BZ_OBJECT_QUEUE = 7,
};
#define BZ_OBJECT_KIND_COUNT 8u

struct bz_object {
    const char *name;
    enum bz_object_kind kind;
    uint32_t items;    /* of the slots of a queue: the object of its items; 0 */
    uint32_t slots;    /* of the items of a queue: the object of its slots; 0 */
    uint32_t lock;     /* of a condition; 0: not known */
    uint32_t number;   /* permits, parties, the size of a queue (0: no bound) */
    uint32_t order;    /* of a queue: 0 fifo, 1 lifo, 2 by priority */
    const char *lacks; /* what a program needs and the trace does not record; NULL: nothing */
};

#define BZ_OBJECTS_MAX 63u /* further objects are not listed: a trace may be hostile */

struct bz_objects {
    struct bz_object objects[BZ_OBJECTS_MAX + 1]; /* from 1 on, in the order of their first use */
    uint32_t count;
    bool is_cut; /* there are more */
};

/* O(events x objects). */
void bz_objects_init(struct bz_objects *objects, const struct bz_trace *trace);

/* The number of the object of that name; 0: there is none. */
uint32_t bz_objects_find(const struct bz_objects *objects, const char *name);

/* "lock", ... */
const char *bz_object_kind_name(enum bz_object_kind kind);

/* A run of a test in Python: asyncio itself ran. */
bool bz_is_of_python(const struct bz_trace *trace);

#endif
