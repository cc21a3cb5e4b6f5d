/* The variants that come with Buzzer, but for those of the zoo. */
#pragma once

#include "sim/variant/variant.h"
#include "traces/text.h"

/* Some are primitives that ship without a table of operations, for the scenario `model` alone
 * (modelled.h). */
#define BZ_VARIANTS(VARIANT)                                                                       \
    VARIANT(buzzer)                                                                                \
    VARIANT(asyncio_311)                                                                           \
    VARIANT(asyncio_313)                                                                           \
    VARIANT(capacity_limiter)                                                                      \
    VARIANT(channel)                                                                               \
    VARIANT(deferred_queue)                                                                        \
    VARIANT(deferred_run)                                                                          \
    VARIANT(heapq_timers)                                                                          \
    VARIANT(keeps_result)                                                                          \
    VARIANT(notify)                                                                                \
    VARIANT(oneshot)                                                                               \
    VARIANT(rate_limiter)                                                                          \
    VARIANT(rwlock)                                                                                \
    VARIANT(rwlock_readers)                                                                        \
    VARIANT(select)                                                                                \
    VARIANT(wait_for)                                                                              \
    VARIANT(weighted_semaphore)                                                                    \
    VARIANT(twisted)
#define BZ_DECLARE_VARIANT(name) extern const struct bz_variant bz_variant_##name;
BZ_VARIANTS(BZ_DECLARE_VARIANT)

/* The timeouts of the runtime that ships, by the rules of the loop. */
extern const struct bz_scope_ops bz_timeout_scope_ops;

/* Twisted's DeferredSemaphore, whose fault the zoo shows alone: a release runs the callback of the
 * waiter that it grants. */
extern const struct bz_deferred_ops bz_twisted_deferred_ops;

/* Callbacks that fit on Python's stack when each releases inside the one before: a callback takes
 * five frames, so the limit of 1000 frames fails in the callback of the 200th waiter. */
#define BZ_TWISTED_NESTING_MAX 199u

/* asyncio.Condition(lock), in the variants asyncio-3.x alone: right after its init, a condition
 * takes the lock of another one. */
bool bz_asyncio_shares_locks(const struct bz_variant *variant);
void bz_asyncio_share_lock(void *instance, void *other);

/* Barrier.abort() and .reset() of asyncio-3.x, which may wait: for the lock of its condition. */
enum bz_status bz_asyncio_break_barrier(void *instance, bool is_reset);

/* For a comparison of asyncio-3.x with the real one: appends the fields of an instance, and the
 * state of every waiter: P pending, R woken (result), C cancelled. tools/python/lockstep/player.py
 * prints those of the real one in the same way. */
void bz_asyncio_print(struct bz_cut_text *text, enum bz_primitive primitive, void *instance);

/* The same for an instance of twisted, as deferreds.py next to the player prints it: tokens or
 * items, and how many Deferreds wait. */
void bz_twisted_print(struct bz_cut_text *text, enum bz_primitive primitive, void *instance);
