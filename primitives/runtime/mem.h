/* The memory of one loop: an arena with size classes.
 *
 * The arena has one range of address space and hands it out from the bottom up. A freed block
 * goes to the list of its size class, to be used again. bz_mem_reset() frees everything at once.
 * Allocation and release are O(1) and make no system call. Blocks are aligned to 16 bytes.
 *
 * The caller frees each block that it allocates; bz_mem_live_blocks() counts live blocks. Not
 * thread-safe: a loop and its memory belong to one thread.
 */
#ifndef BZ_RUNTIME_MEM_H
#define BZ_RUNTIME_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

/* Less than a power of two, so that neighbours do not begin at addresses whose low bits are the
 * same (sim/performance.md). A process of 32 bits has room for a few. */
#define BZ_MEM_SHORT_BYTES ((size_t)5 << 16)
#if SIZE_MAX > UINT32_MAX
#define BZ_MEM_LIMIT_BYTES_DEFAULT (((size_t)1 << 30) - BZ_MEM_SHORT_BYTES)
#define BZ_MEM_LIMIT_TEXT "1 GiB"
#else
#define BZ_MEM_LIMIT_BYTES_DEFAULT (((size_t)1 << 26) - BZ_MEM_SHORT_BYTES)
#define BZ_MEM_LIMIT_TEXT "64 MiB"
#endif

struct bz_mem;

/* For up to `limit_bytes` (0: the default); the arena's own records take about 1 KiB.
 * Where it can, it maps more by need only (room.h). NULL if the system has no memory, the
 * limit is smaller than the records, or larger than half the address space. The caller destroys the
 * arena. */
struct bz_mem *bz_mem_new(size_t limit_bytes);
void bz_mem_destroy(struct bz_mem *mem);

/* The same in a mapping of the caller's, for instance a shared one, whose first `mapped_bytes` are
 * mapped. bz_mem_leave(), and not bz_mem_destroy(), comes before the caller unmaps it. NULL if it
 * is smaller than the records. */
struct bz_mem *bz_mem_new_in(void *mapping, size_t mapped_bytes, size_t limit_bytes);

/* A zero-filled block of `size_bytes`; NULL at the limit. */
void *bz_mem_alloc(struct bz_mem *mem, size_t size_bytes);

/* The same without the zeros, for blocks that are written before they are read. */
void *bz_mem_alloc_raw(struct bz_mem *mem, size_t size_bytes);

/* Frees a block; `size_bytes` is the size it was allocated with. NULL is ignored. */
void bz_mem_free(struct bz_mem *mem, void *block, size_t size_bytes);

/* A block of `new_bytes` that begins with the content of `block`, which is freed (NULL: none); the
 * last block of the arena grows where it is. NULL at the limit: `block` is still there.
 * O(old_bytes). */
void *bz_mem_grow(struct bz_mem *mem, void *block, size_t old_bytes, size_t new_bytes);

/* For an arena in a shared mapping of `bytes`, after another process has used it, and perhaps
 * written over its records: it can be used again, but its free memory is lost, and half of the
 * arena may be. A sanitizer of this process does not know which blocks are live. False: the system
 * has no room here for what the other process has used. */
bool bz_mem_adopt(struct bz_mem *mem, size_t bytes);

/* The same, if no block is in use beyond `used_bytes`, where bz_mem_used_bytes() was before. */
bool bz_mem_adopt_empty(struct bz_mem *mem, size_t bytes, size_t used_bytes);

/* The mapping of `bytes` is the caller's again, whatever was written there. */
void bz_mem_leave(struct bz_mem *mem, size_t bytes);

/* In a child process: gives it a copy of its own, at the same addresses, of an arena in a shared
 * mapping. False without memory: it is still shared. */
bool bz_mem_make_private(struct bz_mem *mem);

/* From now on a freed block says so: a read of it finds the same bytes in every run, which are
 * no pointer and no small number; and a block that is freed twice aborts the process. No block
 * shows what was in its place before, so allocating and freeing are O(size_bytes). */
void bz_mem_mark_freed(struct bz_mem *mem);

/* For tests of code that allocates: until the next reset an allocation fails, as at the limit, if
 * `refuses` says so; bz_mem_is_exhausted() does not count that. It must not allocate here. NULL:
 * none does. */
void bz_mem_let_refuse(struct bz_mem *mem, bool (*refuses)(void *context), void *context);

/* Frees every block. */
void bz_mem_reset(struct bz_mem *mem);

/* After each further reset, the first block lies so many bytes (a multiple of BZ_MEM_GRAIN_BYTES)
 * behind the arena's records: all blocks have other addresses than without. Where the arena can
 * grow, the limit is so much higher. */
void bz_mem_shift(struct bz_mem *mem, size_t bytes);

uint64_t bz_mem_live_blocks(const struct bz_mem *mem);

/* From the arena's first byte on, its own records included. */
size_t bz_mem_used_bytes(const struct bz_mem *mem);

/* True if an allocation was refused since the last reset; and if that was before the limit,
 * because the system has no more. */
bool bz_mem_is_exhausted(const struct bz_mem *mem);
bool bz_mem_lacks_room(const struct bz_mem *mem);

/* munmap(). At the kernel's limit of mappings, it cannot take a piece out of a larger one: then the
 * memory is given back, and the addresses stay in use. */
void bz_mem_unmap(void *range, size_t bytes);

BZ_END_DECLS

#endif
