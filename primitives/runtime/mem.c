#include "primitives/runtime/mem.h"

#include <string.h>
#include <sys/mman.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/coro/san.h"

/* Classes 0..63 hold blocks of 16, 32, ..., 1024 bytes; above, one class per power of two. */
#define SMALL_CLASSES 64u
#define LARGE_CLASSES 40u
#define GRAIN_BYTES 16u
#define SMALL_MAX_BYTES (SMALL_CLASSES * GRAIN_BYTES)
#define HEADER_BYTES ((sizeof(struct bz_mem) + 63u) & ~(size_t)63u)

struct free_block {
    struct free_block *next;
};

struct bz_mem {
    char *base;
    size_t used_bytes;
    size_t used_bytes_max; /* over all resets: what lies above was never poisoned */
    size_t limit_bytes;
    uint64_t live_blocks;
    unsigned classes_used; /* highest class with a free block, plus one: bounds the reset */
    struct free_block *free_lists[SMALL_CLASSES + LARGE_CLASSES];
};

static unsigned class_of(size_t size_bytes, size_t *rounded_bytes) {
    if (size_bytes <= SMALL_MAX_BYTES) {
        unsigned index = size_bytes == 0 ? 0 : (unsigned)((size_bytes - 1) / GRAIN_BYTES);
        *rounded_bytes = (size_t)(index + 1) * GRAIN_BYTES;
        return index;
    }
    unsigned log2_ceil = 64u - (unsigned)__builtin_clzll((unsigned long long)(size_bytes - 1));
    *rounded_bytes = (size_t)1 << log2_ceil;
    return SMALL_CLASSES + (log2_ceil - 11u); /* 2048 is the first class above the small ones */
}

struct bz_mem *bz_mem_new(size_t limit_bytes) {
    if (limit_bytes == 0) {
        limit_bytes = BZ_MEM_LIMIT_BYTES_DEFAULT;
    }
    if (limit_bytes < HEADER_BYTES) {
        return NULL;
    }
    void *range = mmap(NULL, limit_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        return NULL;
    }
    struct bz_mem *mem = range; /* the header is the arena's first block */
    memset(mem, 0, sizeof *mem);
    mem->base = range;
    mem->limit_bytes = limit_bytes;
    mem->used_bytes = HEADER_BYTES;
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
        BZ_CHECK(munmap(mem->base, mem->limit_bytes) == 0);
    }
}

void *bz_mem_alloc_raw(struct bz_mem *mem, size_t size_bytes) {
    if (size_bytes > mem->limit_bytes) {
        return NULL;
    }
    size_t rounded_bytes;
    unsigned index = class_of(size_bytes, &rounded_bytes);
    void *block = mem->free_lists[index];
    if (block != NULL) {
        bz_san_unpoison(block, rounded_bytes);
        mem->free_lists[index] = mem->free_lists[index]->next;
    } else {
        if (rounded_bytes > mem->limit_bytes - mem->used_bytes) {
            return NULL;
        }
        block = mem->base + mem->used_bytes;
        bz_san_unpoison(block, rounded_bytes);
        mem->used_bytes += rounded_bytes;
    }
    mem->live_blocks++;
    return block;
}

void *bz_mem_alloc(struct bz_mem *mem, size_t size_bytes) {
    void *block = bz_mem_alloc_raw(mem, size_bytes);
    return block == NULL ? NULL : memset(block, 0, size_bytes);
}

void bz_mem_free(struct bz_mem *mem, void *block, size_t size_bytes) {
    if (block == NULL) {
        return;
    }
    size_t rounded_bytes;
    unsigned index = class_of(size_bytes, &rounded_bytes);
    BZ_CHECK((char *)block > mem->base && (char *)block < mem->base + mem->used_bytes);
    BZ_CHECK(mem->live_blocks > 0);
    struct free_block *freed = block;
    freed->next = mem->free_lists[index];
    mem->free_lists[index] = freed;
    mem->live_blocks--;
    if (index >= mem->classes_used) {
        mem->classes_used = index + 1;
    }
    bz_san_poison(block, rounded_bytes);
}

void bz_mem_reset(struct bz_mem *mem) {
    note_used(mem);
    memset(mem->free_lists, 0, mem->classes_used * sizeof mem->free_lists[0]);
    bz_san_poison(mem->base + HEADER_BYTES, mem->used_bytes - HEADER_BYTES);
    mem->classes_used = 0;
    mem->used_bytes = HEADER_BYTES;
    mem->live_blocks = 0;
}

uint64_t bz_mem_live_blocks(const struct bz_mem *mem) {
    return mem->live_blocks;
}

size_t bz_mem_image_bytes(const struct bz_mem *mem) {
    return mem->used_bytes;
}

void bz_mem_save(const struct bz_mem *mem, void *image) {
    BZ_CHECK(!BZ_SAN_ADDRESS);
    memcpy(image, mem->base, mem->used_bytes); /* the header is the arena's first block */
}

/* The lists of free blocks are most of the header, and nearly all of them empty, then and now. */
void bz_mem_restore(struct bz_mem *mem, const void *image, size_t image_bytes) {
    BZ_CHECK(!BZ_SAN_ADDRESS);
    const struct bz_mem *was = image;
    note_used(mem);
    memset(mem->free_lists, 0, mem->classes_used * sizeof mem->free_lists[0]);
    memcpy(mem->free_lists, was->free_lists, was->classes_used * sizeof mem->free_lists[0]);
    mem->used_bytes = was->used_bytes;
    mem->live_blocks = was->live_blocks;
    mem->classes_used = was->classes_used;
    memcpy(mem->base + HEADER_BYTES, (const char *)image + HEADER_BYTES,
           image_bytes - HEADER_BYTES);
}

/* --- in parts --------------------------------------------------------------------------------- */

struct record {
    size_t used_bytes;
    uint64_t live_blocks;
    size_t classes_used;
    struct free_block *free_lists[];
};

void *bz_mem_blocks(const struct bz_mem *mem, size_t *bytes) {
    *bytes = mem->used_bytes - HEADER_BYTES;
    return mem->base + HEADER_BYTES;
}

size_t bz_mem_record_bytes(const struct bz_mem *mem) {
    return sizeof(struct record) + mem->classes_used * sizeof mem->free_lists[0];
}

size_t bz_mem_save_record(const struct bz_mem *mem, void *memory) {
    struct record head = {.used_bytes = mem->used_bytes,
                          .live_blocks = mem->live_blocks,
                          .classes_used = mem->classes_used};
    memcpy(memory, &head, sizeof head);
    memcpy((char *)memory + sizeof head, mem->free_lists,
           head.classes_used * sizeof mem->free_lists[0]);
    return bz_mem_record_bytes(mem);
}

size_t bz_mem_restore_record(struct bz_mem *mem, const void *memory) {
    struct record head;
    memcpy(&head, memory, sizeof head);
    note_used(mem);
    memset(mem->free_lists, 0, mem->classes_used * sizeof mem->free_lists[0]);
    memcpy(mem->free_lists, (const char *)memory + sizeof head,
           head.classes_used * sizeof mem->free_lists[0]);
    mem->used_bytes = head.used_bytes;
    mem->live_blocks = head.live_blocks;
    mem->classes_used = (unsigned)head.classes_used;
    return bz_mem_record_bytes(mem);
}

static size_t class_bytes(unsigned index) {
    return index < SMALL_CLASSES ? (size_t)(index + 1) * GRAIN_BYTES
                                 : (size_t)1 << (index - SMALL_CLASSES + 11u);
}

void bz_mem_scrub(struct bz_mem *mem) {
    for (unsigned index = 0; index < mem->classes_used; index++) {
        for (struct free_block *block = mem->free_lists[index]; block != NULL;
             block = block->next) {
            memset(block + 1, 0, class_bytes(index) - sizeof *block);
        }
    }
}

void bz_mem_wipe(struct bz_mem *mem) {
    note_used(mem);
    memset(mem->base + mem->used_bytes, 0, mem->used_bytes_max - mem->used_bytes);
    mem->used_bytes_max = mem->used_bytes;
}
