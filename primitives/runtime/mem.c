#include "primitives/runtime/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "primitives/runtime/internal.h"
#include "primitives/runtime/place.h"
#include "primitives/runtime/room.h"

static unsigned class_of(size_t size_bytes, size_t *rounded_bytes) {
    if (size_bytes <= (BZ_MEM_SMALL_CLASSES * BZ_MEM_GRAIN_BYTES)) {
        unsigned index = size_bytes == 0 ? 0 : (unsigned)((size_bytes - 1) / BZ_MEM_GRAIN_BYTES);
        *rounded_bytes = (size_t)(index + 1) * BZ_MEM_GRAIN_BYTES;
        return index;
    }
    unsigned log2_ceil = 64u - (unsigned)__builtin_clzll((unsigned long long)(size_bytes - 1));
    *rounded_bytes = (size_t)1 << log2_ceil;
    return BZ_MEM_SMALL_CLASSES + (log2_ceil - 11u); /* from 2^11 bytes on */
}

struct bz_mem *bz_mem_new(size_t limit_bytes) {
    limit_bytes = limit_bytes == 0 ? BZ_MEM_LIMIT_BYTES_DEFAULT : limit_bytes;
    if (limit_bytes < BZ_MEM_HEADER_BYTES || limit_bytes > SIZE_MAX / 2) {
        return NULL;
    }
    void *place = bz_place_next(limit_bytes);
    if (place == NULL && limit_bytes > BZ_ROOM_FIRST_BYTES) {
        char *room = bz_room_take(limit_bytes);
        if (room != NULL &&
            bz_room_map(room, BZ_ROOM_FIRST_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
            return bz_mem_new_in(room, BZ_ROOM_FIRST_BYTES, limit_bytes);
        }
        bz_room_return(room);
    }
    void *range = mmap(place, limit_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return range == MAP_FAILED ? NULL : bz_mem_new_in(range, limit_bytes, limit_bytes);
}

struct bz_mem *bz_mem_new_in(void *mapping, size_t mapped_bytes, size_t limit_bytes) {
    struct bz_mem *mem = mapping;
    if (mapped_bytes < BZ_MEM_HEADER_BYTES) {
        return NULL;
    }
    *mem = (struct bz_mem){.base = mapping,
                           .limit_bytes = limit_bytes,
                           .mapped_bytes = mapped_bytes,
                           .used_bytes = BZ_MEM_HEADER_BYTES};
    return mem;
}

static void note_used(struct bz_mem *mem) {
    if (mem->used_bytes > mem->used_bytes_max) {
        mem->used_bytes_max = mem->used_bytes;
    }
}

void bz_mem_destroy(struct bz_mem *mem) {
    if (mem != NULL) {
        note_used(mem);
        bz_san_unpoison(mem->base, mem->used_bytes_max);
        char *base = mem->base;
        bz_mem_unmap(base, mem->mapped_bytes);
        bz_room_return(base);
    }
}

void bz_mem_unmap(void *range, size_t bytes) {
    if (munmap(range, bytes) != 0) {
        BZ_CHECK(errno == ENOMEM);
        (void)madvise(range, bytes, MADV_DONTNEED);
    }
}

static __attribute__((noinline, cold)) void *refuse(struct bz_mem *mem) {
    mem->is_exhausted = true;
    if (mem->on_exhausted != NULL) {
        mem->on_exhausted();
    }
    return NULL;
}

/* Maps so much more that `bytes` fit behind what is in use. */
static __attribute__((noinline, cold)) bool extend(struct bz_mem *mem, size_t bytes) {
    if (bytes > mem->limit_bytes - mem->used_bytes) {
        return false;
    }
    size_t wanted = mem->mapped_bytes;
    while (wanted < mem->used_bytes + bytes) {
        wanted = wanted < mem->limit_bytes / 2 ? wanted * 2 : mem->limit_bytes;
    }
    mem->lacks_room = !bz_room_grow(mem->base, mem->mapped_bytes, wanted);
    mem->mapped_bytes = mem->lacks_room ? mem->mapped_bytes : wanted;
    return !mem->lacks_room;
}

static inline bool fits(struct bz_mem *mem, size_t bytes) {
    return __builtin_expect(bytes <= mem->mapped_bytes - mem->used_bytes, 1) || extend(mem, bytes);
}

/* The second word of a freed block, which has two at least, and the bytes behind it. */
#define FREED_WORD UINT64_C(0xf4eedb10cf4eedb1)
#define FREED_BYTE 0xdd

static void mark_freed(struct bz_mem_free_block *block, size_t bytes) {
    uint64_t *words = (uint64_t *)(void *)block;
    if (words[1] == FREED_WORD) {
        (void)fputs("buzzer: a block of a loop's memory is freed twice\n", stderr);
        abort();
    }
    memset(block + 1, FREED_BYTE, bytes - sizeof *block);
    words[1] = FREED_WORD;
}

void bz_mem_mark_freed(struct bz_mem *mem) {
    mem->marks_freed = true;
}

void bz_mem_let_refuse(struct bz_mem *mem, bool (*refuses)(void *context), void *context) {
    mem->refuses = refuses;
    mem->refuses_context = context;
}

static inline void *take(struct bz_mem *mem, size_t size_bytes, size_t *rounded_bytes) {
    if (size_bytes > mem->limit_bytes) {
        return refuse(mem);
    }
    if (__builtin_expect(mem->refuses != NULL, 0) && mem->refuses(mem->refuses_context)) {
        return NULL;
    }
    unsigned index = class_of(size_bytes, rounded_bytes);
    struct bz_mem_free_block *block = mem->free_lists[index];
    if (block != NULL) {
        bz_san_unpoison(block, *rounded_bytes);
        mem->free_lists[index] = block->next;
    } else {
        if (!fits(mem, *rounded_bytes)) {
            return refuse(mem);
        }
        block = (void *)(mem->base + mem->used_bytes);
        bz_san_unpoison(block, *rounded_bytes);
        mem->used_bytes += *rounded_bytes;
    }
    mem->live_blocks++;
    return block;
}

/* Marks go with the whole block. */
void *bz_mem_alloc_raw(struct bz_mem *mem, size_t size_bytes) {
    size_t rounded_bytes = 0;
    void *block = take(mem, size_bytes, &rounded_bytes);
    return block != NULL && mem->marks_freed ? memset(block, 0, rounded_bytes) : block;
}

void *bz_mem_alloc(struct bz_mem *mem, size_t size_bytes) {
    size_t rounded_bytes = 0;
    void *block = take(mem, size_bytes, &rounded_bytes);
    size_t bytes = mem->marks_freed ? rounded_bytes : size_bytes;
    return block == NULL ? NULL : memset(block, 0, bytes);
}

void bz_mem_free(struct bz_mem *mem, void *block, size_t size_bytes) {
    if (block == NULL) {
        return;
    }
    size_t rounded_bytes;
    unsigned index = class_of(size_bytes, &rounded_bytes);
    BZ_CHECK((char *)block > mem->base && (char *)block < mem->base + mem->used_bytes);
    BZ_CHECK(mem->live_blocks > 0);
    struct bz_mem_free_block *freed = block;
    if (mem->marks_freed) {
        mark_freed(freed, rounded_bytes);
    }
    freed->next = mem->free_lists[index];
    mem->free_lists[index] = freed;
    mem->live_blocks--;
    if (index >= mem->classes_used) {
        mem->classes_used = index + 1;
    }
    bz_san_poison(block, rounded_bytes);
}

/* The arena's last block grows where it is. */
static bool grow_last(struct bz_mem *mem, void *block, size_t old_bytes, size_t new_bytes) {
    size_t old_rounded;
    size_t new_rounded;
    (void)class_of(old_bytes, &old_rounded);
    if (block == NULL || (char *)block + old_rounded != mem->base + mem->used_bytes ||
        new_bytes > mem->limit_bytes) {
        return false;
    }
    (void)class_of(new_bytes, &new_rounded);
    if (new_rounded < old_rounded || !fits(mem, new_rounded - old_rounded)) {
        return false;
    }
    mem->used_bytes += new_rounded - old_rounded;
    bz_san_unpoison(block, new_rounded);
    if (mem->marks_freed) {
        memset((char *)block + old_rounded, 0, new_rounded - old_rounded);
    }
    return true;
}

void *bz_mem_grow(struct bz_mem *mem, void *block, size_t old_bytes, size_t new_bytes) {
    if (grow_last(mem, block, old_bytes, new_bytes)) {
        return block;
    }
    void *larger = bz_mem_alloc_raw(mem, new_bytes);
    if (larger != NULL && block != NULL) {
        memcpy(larger, block, old_bytes);
        bz_mem_free(mem, block, old_bytes);
    }
    return larger;
}

/* Its lists of free blocks may lead anywhere, so they are empty; any block may be freed. */
bool bz_mem_adopt_empty(struct bz_mem *mem, size_t bytes, size_t used_bytes) {
    size_t used_bytes_max = mem->used_bytes_max <= bytes ? mem->used_bytes_max : bytes;
    (void)bz_mem_new_in(mem, bz_room_extent((char *)mem, bytes), bytes); /* in this process */
    mem->used_bytes = 0;
    bool is_mapped = fits(mem, used_bytes);
    mem->used_bytes = is_mapped ? used_bytes : mem->mapped_bytes;
    mem->used_bytes_max = used_bytes_max;
    mem->live_blocks = UINT64_MAX / 2;
    bz_san_unpoison(mem->base, mem->used_bytes);
    return is_mapped;
}

bool bz_mem_adopt(struct bz_mem *mem, size_t bytes) {
    bool is_sound = mem->used_bytes >= BZ_MEM_HEADER_BYTES && mem->used_bytes <= bytes;
    /* blocks that are in use still are: they are in the lower half */
    return bz_mem_adopt_empty(mem, bytes, is_sound ? mem->used_bytes : bytes / 2);
}

void bz_mem_leave(struct bz_mem *mem, size_t bytes) {
    note_used(mem);
    bz_san_unpoison(mem, mem->used_bytes_max < bytes ? mem->used_bytes_max : bytes);
}

bool bz_mem_make_private(struct bz_mem *mem) {
    char *range = mem->base;
    size_t used_bytes = mem->used_bytes;
    void *copy = mmap(NULL, used_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return false;
    }
    memcpy(copy, range, used_bytes);
    bool is_mapped =
        mmap(range, mem->mapped_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == (void *)range;
    if (is_mapped) {
        memcpy(range, copy, used_bytes);
    }
    bz_mem_unmap(copy, used_bytes);
    return is_mapped;
}

void bz_mem_reset(struct bz_mem *mem) {
    note_used(mem);
    memset(mem->free_lists, 0, mem->classes_used * sizeof mem->free_lists[0]);
    bz_san_poison(mem->base + BZ_MEM_HEADER_BYTES, mem->used_bytes - BZ_MEM_HEADER_BYTES);
    mem->classes_used = 0;
    mem->used_bytes = BZ_MEM_HEADER_BYTES + mem->shift_bytes;
    mem->live_blocks = 0;
    mem->is_exhausted = false;
    mem->lacks_room = false;
    mem->refuses = NULL;
}

void bz_mem_shift(struct bz_mem *mem, size_t bytes) {
    BZ_CHECK(bytes % BZ_MEM_GRAIN_BYTES == 0 && bytes < mem->mapped_bytes / 2);
    if (mem->mapped_bytes < mem->limit_bytes) { /* in a room: there is more behind it */
        mem->limit_bytes += bytes - mem->shift_bytes;
    }
    mem->shift_bytes = bytes;
}

uint64_t bz_mem_live_blocks(const struct bz_mem *mem) {
    return mem->live_blocks;
}

size_t bz_mem_used_bytes(const struct bz_mem *mem) {
    return mem->used_bytes;
}

bool bz_mem_is_exhausted(const struct bz_mem *mem) {
    return mem->is_exhausted;
}

bool bz_mem_lacks_room(const struct bz_mem *mem) {
    return mem->lacks_room;
}
