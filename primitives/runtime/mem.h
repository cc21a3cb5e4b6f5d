/* The memory of one loop: an arena with size classes.
 *
 * One range of address space is reserved at creation and handed out from the bottom up; a freed
 * block goes to the list of its size class and is handed out again. bz_mem_reset() empties the
 * whole arena at once, so that a simulation can end in the middle of anything and leave nothing
 * behind. Allocation and release are O(1) and make no system call (the kernel backs a page when it
 * is first touched).
 *
 * Blocks are zero-filled and aligned to 16 bytes: nothing can depend on what lay there before.
 * Whoever allocates frees. bz_mem_live_blocks() counts what was not freed: leak checks read it.
 * Not thread-safe: a loop and its memory belong to one thread.
 */
#ifndef BZ_RUNTIME_MEM_H
#define BZ_RUNTIME_MEM_H

#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_MEM_LIMIT_BYTES_DEFAULT ((size_t)1 << 30)

struct bz_mem;

/* Reserves `limit_bytes` of address space (0: BZ_MEM_LIMIT_BYTES_DEFAULT). The arena's own records
 * take about 1 KiB of it. NULL if the system has none to give, or the limit is smaller than those
 * records. The caller destroys it. */
struct bz_mem *bz_mem_new(size_t limit_bytes);
void bz_mem_destroy(struct bz_mem *mem);

/* A zero-filled block of `size_bytes`, or NULL when the limit is hit. */
void *bz_mem_alloc(struct bz_mem *mem, size_t size_bytes);

/* The same without the zeros, for arrays whose elements are all written before they are read. */
void *bz_mem_alloc_raw(struct bz_mem *mem, size_t size_bytes);

/* Gives a block back; `size_bytes` is what it was allocated with. NULL is ignored. */
void bz_mem_free(struct bz_mem *mem, void *block, size_t size_bytes);

/* Forgets every block. Pointers into the arena are dangling from here on. */
void bz_mem_reset(struct bz_mem *mem);

uint64_t bz_mem_live_blocks(const struct bz_mem *mem);

BZ_END_DECLS

#endif
