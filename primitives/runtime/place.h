/* Where the memory of loops lies: anywhere, as the system likes, or from a given address on.
 *
 * A search that continues in another process (sim/explore/checkpoint.h) compares states, and there
 * are pointers in them. So all that its loops are made of lies at addresses that depend on nothing
 * but the order in which they are made:
 *
 *     bz_place_begin(address)
 *       ... loops are made ...
 *     bz_place_end()
 *
 * Addresses are asked for, not insisted on: where they are taken, the system chooses others. The
 * memory that such a loop takes later lies in the range that it has reserved then. Not thread-safe.
 */
#ifndef BZ_RUNTIME_PLACE_H
#define BZ_RUNTIME_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

/* Where a search begins, on a system with so many addresses; NULL: it has fewer. */
#if SIZE_MAX > UINT32_MAX
#define BZ_PLACE_FIRST ((void *)(uintptr_t)0x200000000000)
#else
#define BZ_PLACE_FIRST NULL
#endif

void bz_place_begin(void *address);
void bz_place_end(void);

/* The address for the next mapping of so many bytes, for mmap(); NULL: anywhere. */
void *bz_place_next(size_t bytes);

/* A zero-filled block: from calloc(), or a mapping at that address, or at `address` unless that is
 * NULL. NULL without memory. To be released with the same size. */
void *bz_place_new(size_t bytes, void *address);
void bz_place_free(void *block, size_t bytes);

/* True if the block is at such an address, and not from calloc(). */
bool bz_place_has(const void *block);

BZ_END_DECLS

#endif
