/* A pool of coroutine stacks.
 *
 *   low address                                                    high address
 *   [ guard page | canary ...                     stack grows <-- | colour gap ]
 *                ^ base                                            ^ top        base + size_bytes
 *
 * Stacks are mapped in slabs, and unmapped when the pool is destroyed: taking and returning one is
 * a list operation. An access to the guard page raises SIGSEGV. Each guard page costs two of the
 * 65,530 mappings that Linux allows a process (vm.max_map_count), so only BZ_STACK_GUARDED_MAX
 * stacks of a process have one, whatever their pools. The others have a canary, checked when they
 * are returned: the lowest 64 bytes must still be zero. The colour gap staggers the tops of the
 * stacks.
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
#define BZ_STACK_GUARDED_MAX 16384u /* of a process */

struct bz_stack {
    char *base;
    size_t size_bytes;
    uint32_t colour_bytes;
    uint32_t guarded;
    void *fiber;               /* ThreadSanitizer's */
    const void *cleared_below; /* sim/native/image.h; NULL: unknown */
    struct bz_stack *next_free;
};

struct bz_stack_pool;

/* `stack_bytes` 0 means the default; it is raised to BZ_STACK_BYTES_MIN and rounded up to pages.
 * NULL without memory, or above BZ_STACK_BYTES_MAX. The caller destroys the pool. */
struct bz_stack_pool *bz_stack_pool_new(size_t stack_bytes);
void bz_stack_pool_destroy(struct bz_stack_pool *pool);

/* A stack, or NULL if the system has no more memory. */
struct bz_stack *bz_stack_take(struct bz_stack_pool *pool);
void bz_stack_return(struct bz_stack_pool *pool, struct bz_stack *stack);

/* Takes all stacks back, in O(1), to hand them out in the same order as a new pool. */
void bz_stack_pool_reset(struct bz_stack_pool *pool);

/* The same, and gives their memory back to the system. O(stacks). */
void bz_stack_pool_drop(struct bz_stack_pool *pool);

/* Stacks begin at other addresses, with the colour of those so many numbers behind them. None is in
 * use. O(stacks). */
void bz_stack_pool_turn(struct bz_stack_pool *pool, uint32_t turn);

static inline void *bz_stack_top(const struct bz_stack *stack) {
    return stack->base + stack->size_bytes - stack->colour_bytes;
}

#endif
