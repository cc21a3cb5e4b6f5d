/* The actions of the specification `buzzer`, and their guards. The search enumerates with these
 * functions, and the oracle `spec` judges running code by the same ones.
 *
 * W are the clients that wait, R those that were woken and have not resumed. `level` counts the
 * free permits, those promised to R included.
 *
 *     Acquire(c)        idle -> holding      level > 0, no W, no R       level - 1
 *     Enqueue(c)        idle -> waiting      W or R or level = 0         joins the line at its end
 *     Release(c)        holding -> idle                                  level + 1
 *     Wake(c)           waiting -> woken     level > |R|, head of line   leaves the line
 *     Resume(c)         woken -> holding                                 level - 1
 *     CancelWaiting(c)  waiting -> cancelled                             leaves the line
 *     CancelWoken(c)    woken -> doomed      still R: it has not given its permit back
 *     GiveBack(c)       doomed -> idle
 *     Remove(c)         cancelled -> idle
 *
 * The line holds the W alone, in order of arrival, as in primitives/sync/waitq.h.
 *
 * One step of the code is a sequence of actions: a release is Release and some Wakes; the resume of
 * a woken waiter is Resume or GiveBack, and some Wakes. A Wake need not come in the same step: it
 * may come when the waiter woken before it resumes.
 *
 * Each function returns the guards that fail, as bits; 0: the action may happen. The client's own
 * status (BZ_GUARD_STATUS) is the caller's to check.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum bz_spec_action {
    BZ_SPEC_ACQUIRE = 0,
    BZ_SPEC_ENQUEUE = 1,
    BZ_SPEC_RELEASE = 2,
    BZ_SPEC_WAKE = 3,
    BZ_SPEC_RESUME = 4,
    BZ_SPEC_CANCEL_WAITING = 5,
    BZ_SPEC_CANCEL_WOKEN = 6,
    BZ_SPEC_GIVE_BACK = 7,
    BZ_SPEC_REMOVE = 8,
};
#define BZ_SPEC_ACTION_COUNT 9u

#define BZ_GUARD_STATUS 0x01u       /* the client has the status that the action begins with */
#define BZ_GUARD_FREE 0x02u         /* level > 0 */
#define BZ_GUARD_NOBODY_WAITS 0x04u /* no W */
#define BZ_GUARD_NOBODY_WOKEN 0x08u /* no R */
#define BZ_GUARD_LOCKED 0x10u       /* W or R or level = 0 */
#define BZ_GUARD_SPARE 0x20u        /* level > |R| */
#define BZ_GUARD_OLDEST 0x40u       /* the client is the head of the line */

/* The input of the guards: the state before the action. */
struct bz_spec_counts {
    int64_t level;
    uint32_t waiting; /* |W| */
    uint32_t woken;   /* |R| */
};

static inline uint32_t bz_unmet_acquire(struct bz_spec_counts counts) {
    return (counts.level > 0 ? 0 : BZ_GUARD_FREE) |
           (counts.waiting == 0 ? 0 : BZ_GUARD_NOBODY_WAITS) |
           (counts.woken == 0 ? 0 : BZ_GUARD_NOBODY_WOKEN);
}

static inline uint32_t bz_unmet_enqueue(struct bz_spec_counts counts) {
    bool is_locked = (counts.waiting > 0) | (counts.woken > 0) | (counts.level == 0);
    return is_locked ? 0 : BZ_GUARD_LOCKED;
}

static inline uint32_t bz_unmet_wake(struct bz_spec_counts counts, bool is_oldest) {
    return (counts.level > (int64_t)counts.woken ? 0 : BZ_GUARD_SPARE) |
           (is_oldest ? 0 : BZ_GUARD_OLDEST);
}

/* "Acquire", ...; and one guard of an action as a formula: "level > 0". */
const char *bz_spec_action_name(enum bz_spec_action action);
const char *bz_spec_guard_text(enum bz_spec_action action, uint32_t guard);

/* All guards of an action, as bits. */
uint32_t bz_spec_guards_of(enum bz_spec_action action);
