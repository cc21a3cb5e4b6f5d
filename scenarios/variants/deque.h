/* A queue of waiters in the manner of asyncio's deque, and an event, for the references here and
 * for the zoo.
 *
 *     oldest                                  newest
 *     [ R ] <-> [ C ] <-> [ W ] <-> [ W ]
 *
 * Unlike in the queue of the primitives that ship (primitives/sync/waitq.h), an entry stays linked
 * after it was woken (R) or cancelled (C), until its task resumes and takes it out; W still waits.
 * Many faults come from a wrong use of such entries. The deque itself has no fault.
 *
 * A waiter usually lives on the stack of the task that waits; waiting allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "primitives/runtime/future.h"
#include "primitives/runtime/list.h"
#include "sim/variant/variant.h"

struct bz_deque {
    struct bz_loop *loop;
    struct bz_list entries;
};

struct bz_waiter {
    struct bz_future future;
    struct bz_list link;
};

void bz_deque_init(struct bz_deque *deque, struct bz_loop *loop);

/* Joins at the end and suspends the running task. Returns the status of the await. Then the waiter
 * is out of the deque; with _and_stay it is left where it is. */
enum bz_status bz_deque_wait(struct bz_deque *deque, struct bz_waiter *waiter) BZ_MUST_USE;
enum bz_status bz_deque_wait_and_stay(struct bz_deque *deque, struct bz_waiter *waiter) BZ_MUST_USE;

/* Takes it out, if it is still in. */
void bz_deque_remove(struct bz_waiter *waiter);

/* True if the waiter was woken, even if its task was cancelled afterwards. */
static inline bool bz_waiter_was_woken(const struct bz_waiter *waiter) {
    return waiter->future.state == BZ_FUTURE_RESULT;
}

/* The entry after this one, or the oldest one for NULL; NULL at the end. */
struct bz_waiter *bz_deque_next(const struct bz_deque *deque, const struct bz_waiter *waiter);

/* The oldest that is asleep, neither woken nor cancelled; NULL if there is none. */
struct bz_waiter *bz_deque_oldest_asleep(const struct bz_deque *deque);

/* Wakes the oldest that is asleep; false if there is none. */
bool bz_deque_wake_oldest(struct bz_deque *deque);

/* Takes the oldest entry out, in any state; NULL if there is none. */
struct bz_waiter *bz_deque_pop(struct bz_deque *deque);

/* Takes entries out until it has woken one; false if there is none to wake. */
bool bz_deque_pop_and_wake(struct bz_deque *deque);

/* Entries whose future is in this state, and all entries; O(entries). */
uint32_t bz_deque_count(const struct bz_deque *deque, enum bz_future_state state);
uint32_t bz_deque_length(const struct bz_deque *deque);

/* True if there is an entry that is not cancelled. */
bool bz_deque_has_live(const struct bz_deque *deque);

/* Fills in everything but the level. */
void bz_deque_view(const struct bz_deque *deque, struct bz_permit_view *view);

/* --- event ------------------------------------------------------------------------------------ */

struct bz_flag {
    struct bz_deque waiters;
    bool is_set;
};

enum bz_status bz_flag_init(void *instance, struct bz_loop *loop);
void bz_flag_set(void *instance);
void bz_flag_clear(void *instance);
bool bz_flag_is_set(void *instance);
enum bz_status bz_flag_wait(void *instance);
uint32_t bz_flag_queued(void *instance);

#define BZ_FLAG                                                                                    \
    .instance_bytes = sizeof(struct bz_flag), .init = bz_flag_init, .set = bz_flag_set,            \
    .clear = bz_flag_clear, .is_set = bz_flag_is_set, .wait = bz_flag_wait,                        \
    .queued = bz_flag_queued
