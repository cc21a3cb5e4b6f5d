/* A monitor: somebody who looks at a world while it runs, and may object. Oracles are monitors.
 *
 * A monitor only looks. It must not change the world, except by bz_world_violate(): passing runs
 * have the same digest whatever is watched. Every function pointer may be NULL.
 *
 * Most of what an oracle judges is a rare fact: a waiter was overtaken, a sum does not add up. The
 * world establishes these facts with a handful of comparisons per step, inline, and calls the
 * oracles that asked for one only when it holds. The oracle decides whether it is a violation, by
 * what the variant claims, and says what was wrong.
 */
#ifndef BZ_SIM_WORLD_MONITOR_H
#define BZ_SIM_WORLD_MONITOR_H

#include <stdint.h>

struct bz_world;
struct bz_event;

/* Facts of an event, as soon as the book was updated; in the middle of a step. */
#define BZ_FACT_OVERTAKEN 0x001u /* book.grant passed over earlier arrivals */
#define BZ_FACT_CROWDED 0x002u   /* an acquire returned, and holders exceed permits */
#define BZ_FACT_SWALLOWED 0x008u /* a task resumed without the cancellation that was due */
#define BZ_FACT_UNINVITED 0x010u /* a task was cancelled in an operation, and nobody asked */
#define BZ_FACT_ODD_RETURN                                                                         \
    0x020u /* an operation says cancelled and was not, or was and says OK                          \
            */
/* Facts of an object, after a step that concerned it. */
#define BZ_FACT_OVER_RELEASED 0x080u /* a release was accepted, and nobody held a permit */
#define BZ_FACT_STUCK 0x100u         /* a permit is free, a task waits, no waiter is under way */
#define BZ_FACT_OVERPROMISED 0x200u  /* level below the number of woken waiters */
#define BZ_FACT_UNBALANCED 0x400u    /* level plus holders is not the permits */
#define BZ_FACT_UNPARTITIONED 0x800u /* W, R, C are not the queue, or not the tasks that wait */
#define BZ_FACT_LOCKED_WRONG 0x1000u /* locked() is not (W or R or level == 0) */

#define BZ_FACT_IDLE 0x2000u /* a woken waiter went on, and others sleep beside free permits */
/* What the subjects of the other primitives find, told with two numbers in book.detail. */
#define BZ_FACT_UNNOTIFIED 0x4000u /* fewer waiters were woken than a notification was for */
#define BZ_FACT_UNLOCKED 0x8000u   /* the wait of a condition returned, and the lock is not held */
#define BZ_FACT_BAD_ITEM 0x10000u  /* an item was lost, made up or delivered twice */
#define BZ_FACT_BAD_ORDER 0x20000u /* an item was delivered before an earlier one */
#define BZ_FACT_BAD_ROUND 0x40000u /* a barrier: an index twice in a round, or too few for it */
#define BZ_FACT_BAD_ENTRY 0x80000u /* a pool keeps other locks than those in use */
#define BZ_FACT_BAD_SIZE 0x100000u /* a queue's size is not what was put less what was got */
#define BZ_FACT_MISCOUNTED 0x200000u /* a condition has woken other than it was told to */
#define BZ_FACT_MISUSED 0x400000u    /* a call that was to be refused was not, or the reverse */
/* An action that the executable specification does not allow: book.refused says which. */
#define BZ_FACT_NO_TRANSITION 0x1000000u
#define BZ_FACT_BAD_COUNT 0x800000u /* a timeout scope and the requests do not add up */

/* No fact: somebody wants to see every event. It stays set, so that one test tells the nearly
 * always true "nothing to tell, nobody to tell it to". */
#define BZ_FACT_WATCHED 0x80000000u

struct bz_monitor {
    const char *name;
    const char *summary; /* "violated when ..." */
    /* Which facts it wants, and where it is told. `task` is the one that the event is about, 0 for
     * a fact of an object; `object` is a number in the book, 0 for none. */
    uint32_t facts;
    void (*on_fact)(struct bz_world *world, uint32_t fact, uint32_t task, uint32_t object);
    /* Which kinds of event it wants to see, all of them, as bits 1 << kind. Costs on every event.
     */
    uint32_t events;
    void (*on_event)(struct bz_world *world, const struct bz_event *event);
    /* At the end of a run that nobody stopped: nothing can run any more. */
    void (*on_end)(struct bz_world *world);
};

#define BZ_MONITORS_MAX 32u

#endif
