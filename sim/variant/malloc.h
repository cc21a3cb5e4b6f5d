/* For C code that calls malloc(): its memory from the arena of the loop, where a variant's state
 * must be. The code stays unchanged. Compile it with
 *
 *     -include sim/variant/malloc.h
 *
 * or include this header in front of it. After it, malloc(), calloc(), realloc() and free() are
 * those of this header. In the adapter, each function that calls code which may allocate begins
 * with bz_malloc_from(loop): init and acquire, often release and cancel. A block knows its arena,
 * so free() needs nothing.
 *
 * Memory that a library allocates inside (strdup(), getline()) is not covered, and must not be
 * passed to free(). Nor is a member that is called like a function: `table->free(block)`.
 *
 * NULL is returned where the arena refuses memory. An operation then returns BZ_NO_MEMORY. */
#ifndef BZ_SIM_VARIANT_MALLOC_H
#define BZ_SIM_VARIANT_MALLOC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "primitives/runtime/check.h"
#include "primitives/runtime/loop.h"
#include "primitives/runtime/mem.h"

BZ_BEGIN_DECLS

/* Private: one for all files of a plug-in. Its former value does not matter. */
__attribute__((__weak__, __visibility__("hidden"))) struct bz_mem *bz_malloc_mem;

/* Blocks come from the arena of this loop, until the next call. */
static inline void bz_malloc_from(struct bz_loop *loop) {
    bz_malloc_mem = bz_loop_mem(loop);
}

/* Private: in front of each block, and a multiple of 16 bytes, as its alignment. */
union bz_malloc_head {
    struct {
        struct bz_mem *mem;
        size_t bytes;
    } of;
    char bytes[16];
};

/* Private. */
static inline void *bz_malloc(size_t bytes) {
    BZ_CONTRACT(bz_malloc_mem != NULL, "malloc() was called before bz_malloc_from()");
    size_t most = SIZE_MAX - sizeof(union bz_malloc_head);
    union bz_malloc_head *head = NULL;
    if (bytes <= most) {
        head = (union bz_malloc_head *)bz_mem_alloc(bz_malloc_mem, sizeof *head + bytes);
    }
    if (head == NULL) {
        return NULL;
    }
    head->of.mem = bz_malloc_mem;
    head->of.bytes = bytes;
    return head + 1;
}

/* Private. */
static inline void bz_malloc_free(void *block) {
    if (block != NULL) {
        union bz_malloc_head *head = (union bz_malloc_head *)block - 1;
        bz_mem_free(head->of.mem, head, sizeof *head + head->of.bytes);
    }
}

/* Private. bz_malloc() fills with zeros. */
static inline void *bz_malloc_array(size_t count, size_t bytes) {
    return bytes != 0 && count > SIZE_MAX / bytes ? NULL : bz_malloc(count * bytes);
}

/* Private. */
static inline void *bz_malloc_again(void *block, size_t bytes) {
    void *grown = bz_malloc(bytes);
    if (grown != NULL && block != NULL) {
        size_t old_bytes = ((union bz_malloc_head *)block - 1)->of.bytes;
        memcpy(grown, block, old_bytes < bytes ? old_bytes : bytes);
        bz_malloc_free(block);
    }
    return grown;
}

BZ_END_DECLS

#define malloc(bytes) bz_malloc(bytes)
#define calloc(count, bytes) bz_malloc_array(count, bytes)
#define realloc(block, bytes) bz_malloc_again(block, bytes)
#define free(block) bz_malloc_free(block)

#endif
