#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mremap() */
#endif

#include "primitives/runtime/room.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "primitives/runtime/internal.h"

#define ROOM_BYTES (UINT64_C(1) << 33)
#define ROOMS 1024u /* worlds that live at once take two each */
#define SHIFT_MASK ((ROOM_BYTES >> 2u) - 1)
#define TURN_PAGES 3u

/* Where no mapping can be: with few addresses, and where a sanitizer has plans for all addresses.
 */
#if SIZE_MAX > UINT32_MAX && defined(MAP_FIXED_NOREPLACE) && !BZ_SAN_ADDRESS && !BZ_SAN_THREAD
#define HAS_ROOMS 1
#else
#define HAS_ROOMS 0
#endif

/* Of this process; children inherit it with the mappings. */
static atomic_uchar is_taken[ROOMS];
static atomic_uintptr_t first; /* of all rooms; 0: not known */
static atomic_uint takes;

/* Where the system would put a mapping. 0: nowhere. */
static uintptr_t ask(void) {
    void *range = mmap(NULL, BZ_ROOM_FIRST_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return 0;
    }
    bz_mem_unmap(range, BZ_ROOM_FIRST_BYTES);
    return (uintptr_t)range;
}

/* An eighth of all addresses away from where the system begins, which goes down from there. */
static uintptr_t first_room(uintptr_t usual) {
    uintptr_t none = 0;
    uintptr_t wanted = (usual - usual / 8) / ROOM_BYTES * ROOM_BYTES;
    wanted = wanted > ROOMS * ROOM_BYTES * 2 ? wanted - ROOMS * ROOM_BYTES : 1;
    (void)atomic_compare_exchange_strong(&first, &none, wanted);
    return atomic_load(&first);
}

char *bz_room_take(size_t bytes) {
    uintptr_t usual = HAS_ROOMS && bytes < ROOM_BYTES - SHIFT_MASK ? ask() : 0;
    uintptr_t begin = usual == 0 ? 1 : first_room(usual);
    for (uint32_t room = 0; begin != 1 && room < ROOMS; room++) {
        unsigned char is_free = 0;
        if (atomic_compare_exchange_strong(&is_taken[room], &is_free, 1)) {
            /* Neighbours, and those that are in a room one after another, do not begin at
             * addresses whose low bits are the same; the system gives multiples of 2 MiB. */
            uintptr_t turn =
                (uintptr_t)atomic_fetch_add(&takes, TURN_PAGES) * (uintptr_t)sysconf(_SC_PAGESIZE);
            uintptr_t shift = (usual + room * BZ_MEM_SHORT_BYTES + turn) & SHIFT_MASK;
            return (char *)begin + room * ROOM_BYTES + shift;
        }
    }
    return NULL;
}

void bz_room_return(const void *address) {
    uintptr_t begin = atomic_load(&first);
    uintptr_t distance = (uintptr_t)address - begin;
    if (begin > 1 && (uintptr_t)address >= begin && distance / ROOM_BYTES < ROOMS) {
        atomic_store(&is_taken[distance / ROOM_BYTES], 0);
    }
}

bool bz_room_map(char *address, size_t bytes, int flags, int fd, size_t offset) {
#if HAS_ROOMS
    void *range = mmap(address, bytes, PROT_READ | PROT_WRITE,
                       flags | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, (off_t)offset);
    if (range != MAP_FAILED && range != address) { /* an old kernel takes the address for a hint */
        bz_mem_unmap(range, bytes);
    }
    return range == address;
#else
    (void)address, (void)bytes, (void)flags, (void)fd, (void)offset;
    return false;
#endif
}

bool bz_room_grow(void *address, size_t old_bytes, size_t new_bytes) {
    return HAS_ROOMS && mremap(address, old_bytes, new_bytes, 0) == address;
}

size_t bz_room_extent(char *address, size_t limit_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = BZ_ROOM_FIRST_BYTES < limit_bytes ? BZ_ROOM_FIRST_BYTES : limit_bytes;
    unsigned char is_there;
    while (bytes < limit_bytes) {
        size_t next = bytes < limit_bytes / 2 ? bytes * 2 : limit_bytes;
        if (mincore(address + (next - 1) / page_bytes * page_bytes, page_bytes, &is_there) != 0) {
            break;
        }
        bytes = next;
    }
    return bytes;
}
