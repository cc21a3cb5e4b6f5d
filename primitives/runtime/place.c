#include "primitives/runtime/place.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "primitives/runtime/internal.h"

#define PAGE_BYTES_MAX ((size_t)65536)
#define SPAN_BYTES (UINT64_C(1) << 45u)

static char *next;

void bz_place_begin(void *address) {
    next = address;
}

void bz_place_end(void) {
    next = NULL;
}

static size_t rounded(size_t bytes) {
    return (bytes + PAGE_BYTES_MAX - 1) / PAGE_BYTES_MAX * PAGE_BYTES_MAX;
}

void *bz_place_next(size_t bytes) {
    char *address = next;
    if (next != NULL) {
        next += rounded(bytes) + PAGE_BYTES_MAX; /* a gap, against mappings that become one */
    }
    return address;
}

void *bz_place_new(size_t bytes, void *address) {
    address = address == NULL ? bz_place_next(bytes) : address;
    if (address == NULL) {
        return calloc(1, bytes);
    }
    void *block = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == address || block == MAP_FAILED) {
        return block == address ? block : NULL;
    }
    bz_mem_unmap(block, bytes); /* bz_place_free() knows them by their address */
    return calloc(1, bytes);
}

bool bz_place_has(const void *block) {
    uint64_t first = (uintptr_t)BZ_PLACE_FIRST; /* 0: none is placed */
    uint64_t distance = (uintptr_t)block - first;
    return first != 0 && distance < SPAN_BYTES;
}

void bz_place_free(void *block, size_t bytes) {
    if (bz_place_has(block)) {
        bz_mem_unmap(block, bytes);
    } else {
        free(block);
    }
}
