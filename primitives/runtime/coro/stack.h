/* A pool of coroutine stacks.
 *
 *   low address                                                    high address
 *   [ guard page | canary ...                     stack grows <-- | colour gap ]
 *                ^ base                                            ^ top        base + size_bytes
 *
 * Stacks are mapped in slabs and never unmapped before the pool is destroyed: taking and returning
 * one is a list operation. An access to the guard page kills the process with SIGSEGV. The kernel
 * limits the number of mappings of a process (vm.max_map_count, 65530 by default) and each guard
 * page costs two, so only the first BZ_STACK_GUARDED_MAX stacks have one; those beyond are checked
 * by a canary when they are returned: the lowest 64 bytes must be zero, as the kernel gave them (a
 * written canary would cost each stack a page of memory). "Colour": stacks start at staggered
 * offsets, because tops that are equal modulo 4 KiB would all fall into the same few sets of the
 * first-level cache.
 */
#ifndef BZ_RUNTIME_CORO_STACK_H
#define BZ_RUNTIME_CORO_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/coro/san.h"

#if BZ_SAN_ADDRESS
#define BZ_STACK_BYTES_DEFAULT ((size_t)256 * 1024)
#else
#define BZ_STACK_BYTES_DEFAULT ((size_t)64 * 1024)
#endif
#define BZ_STACK_BYTES_MIN ((size_t)16 * 1024)
#define BZ_STACK_BYTES_MAX ((size_t)1 << 30)
#define BZ_STACK_GUARDED_MAX 16384u

struct bz_stack {
    char *base;
    size_t size_bytes;
    uint32_t colour_bytes;
    uint32_t guarded;
    void *fiber; /* what ThreadSanitizer knows it by */
    struct bz_stack *next_free;
};

struct bz_stack_pool;

/* `stack_bytes` 0 means the default; it is raised to BZ_STACK_BYTES_MIN and rounded up to pages.
 * NULL without memory, or above BZ_STACK_BYTES_MAX. */
struct bz_stack_pool *bz_stack_pool_new(size_t stack_bytes);
void bz_stack_pool_destroy(struct bz_stack_pool *pool);

/* A stack, or NULL when the system gives no more memory. */
struct bz_stack *bz_stack_take(struct bz_stack_pool *pool);

/* Returns one stack. */
void bz_stack_return(struct bz_stack_pool *pool, struct bz_stack *stack);

/* Takes back every stack, whatever still lives on them. O(1); the next ones are handed out in the
 * same order as by a new pool. */
void bz_stack_pool_reset(struct bz_stack_pool *pool);

/* The most bytes that any stack of the pool has used since it was mapped: scans for the first
 * touched byte, so it is slow and made for tests and reports. */
size_t bz_stack_pool_high_water_bytes(const struct bz_stack_pool *pool);

static inline void *bz_stack_top(const struct bz_stack *stack) {
    return stack->base + stack->size_bytes - stack->colour_bytes;
}

#endif
