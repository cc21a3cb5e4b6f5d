/* Room for mappings that grow where they are.
 *
 * A reservation counts against the limit of address space (ulimit -v), used or not. So an arena
 * maps only the beginning of its range, and more by need. The addresses behind are left free:
 * rooms lie where the system puts no mapping of its own, and no other room is in the way.
 * Thread-safe. */
#ifndef BZ_RUNTIME_ROOM_H
#define BZ_RUNTIME_ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

/* The first mapping of a range. It doubles by need. */
#define BZ_ROOM_FIRST_BYTES ((size_t)1 << 24)

/* An address with so many free bytes behind it; it differs from one call to the next as those of
 * mmap() do. NULL: there is none, and the caller maps the whole range, where the system likes. */
char *bz_room_take(size_t bytes);

/* After its mappings are gone. Other addresses, and NULL, are ignored. */
void bz_room_return(const void *address);

/* mmap() of memory to read and write, in a room; not where anything is mapped. False: it failed. */
bool bz_room_map(char *address, size_t bytes, int flags, int fd, size_t offset);

/* Lets the mapping of `old_bytes` at an address have `new_bytes`. False: it has not grown. */
bool bz_room_grow(void *address, size_t old_bytes, size_t new_bytes);

/* How much is mapped of a range that has grown up to `limit_bytes`, perhaps in another process. */
size_t bz_room_extent(char *address, size_t limit_bytes);

BZ_END_DECLS

#endif
