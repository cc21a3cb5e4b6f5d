/* The rules of a runtime, where runtimes differ: a table of data, as a variant has tables of
 * functions. Zeros are the rules of what ships. The others are those of CPython's asyncio, so that
 * a reference has the faults of its day. See scenarios/README.md for who has which. */
#ifndef BZ_RUNTIME_RULES_H
#define BZ_RUNTIME_RULES_H

#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

struct bz_loop;

/* Timers that are due at the same time. */
enum bz_rule_timers {
    BZ_TIMERS_BY_ARMING = 0, /* fire in the order in which they were armed */
    BZ_TIMERS_BY_HEAPQ = 1,  /* as the moves of a heap without a tie-break leave them; a timer that
                                was disarmed stays in the heap until it reaches its head */
};

/* bz_task_uncancel() that takes the last request back, before it was delivered. */
enum bz_rule_uncancel {
    BZ_UNCANCEL_CLEARS = 0, /* also clears the mark: nothing is delivered (asyncio 3.13) */
    BZ_UNCANCEL_COUNTS = 1, /* the next await delivers it all the same (asyncio 3.11, 3.12) */
};

/* bz_group_exit() */
enum bz_rule_group {
    BZ_GROUP_REARMS = 0, /* takes its own request back at the end; a request from outside that met
                            an error is delivered at the next await (asyncio 3.13) */
    BZ_GROUP_LOSES = 1,  /* takes its own request back before it waits for the children, so not if
                            it comes later; a request from outside that meets an error is lost
                            (asyncio 3.11, 3.12: gh-116720) */
};

/* The requests at the entry of a timeout that are not its own. */
enum bz_rule_timeout {
    BZ_TIMEOUT_LESS_UNDELIVERED = 0, /* without one that was not delivered yet */
    BZ_TIMEOUT_AT_ENTRY = 1,         /* all (asyncio: gh-134471) */
    BZ_TIMEOUT_FROM_ZERO = 2,        /* none are counted (asyncio before 3.11.3: gh-102780) */
};

/* The order in which a group cancels its children. */
enum bz_rule_children {
    BZ_CHILDREN_BY_AGE = 0,
    BZ_CHILDREN_BY_CHOICE = 1, /* any; the observer of the loop chooses (asyncio: a set, which is
                                  ordered by address) */
};

/* A cancel request of a task that was woken and has not resumed. */
enum bz_rule_woken {
    BZ_WOKEN_IS_CANCELLED = 0, /* its wait comes back cancelled: what the task was given, it has to
                                  give back (asyncio) */
    BZ_WOKEN_KEEPS_RESULT = 1, /* its wait comes back with its result; the next one is cancelled
                                  (Trio, Asio, TaskCompletionSource, libunifex) */
};

/* asyncio's wait_for() of a coroutine. Nothing in this folder has it: the rule is for programs. */
enum bz_rule_wait_for {
    BZ_WAIT_FOR_IN_PLACE = 0, /* runs it inside a timeout (asyncio since 3.12) */
    BZ_WAIT_FOR_BY_TASK = 1,  /* starts a task, and loses a cancel that comes when this is done
                                 (asyncio 3.11: gh-86296) */
};

struct bz_rules {
    uint8_t timers; /* enum bz_rule_timers, and so on */
    uint8_t uncancel;
    uint8_t group;
    uint8_t timeout;
    uint8_t children;
    uint8_t wait_for;
    uint8_t woken;
    uint8_t zeros[1];
};

/* Sets the rules, or those of what ships (NULL), of a loop in which nothing has happened yet; the
 * next reset drops them. The table must last as long. */
void bz_loop_set_rules(struct bz_loop *loop, const struct bz_rules *rules);

BZ_END_DECLS

#endif
