#include "primitives/runtime/coro/stack.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "primitives/runtime/internal.h"
#include "primitives/runtime/place.h"

#define SLAB_STACKS_FIRST 8u
#define SLAB_STACKS_MAX 1024u
#define COLOURS 16u
#define COLOUR_STEP_BYTES 192u
#define CANARY_BYTES 64u
#define WINDOW_BYTES ((size_t)(SIZE_MAX > UINT32_MAX ? SIZE_MAX >> 26u : 0)) /* 256 GiB */

/* Of all pools: guard pages are limited for each process. */
static atomic_uint guard_pages;

struct bz_stack_slab {
    struct bz_stack_slab *next;
    char *range;
    size_t range_bytes;
    uint32_t count;
    uint32_t guard_pages;
    struct bz_stack stacks[];
};

static size_t slab_bytes(uint32_t count) {
    return sizeof(struct bz_stack_slab) + count * sizeof(struct bz_stack);
}

struct bz_stack_pool *bz_stack_pool_new(size_t stack_bytes) {
    if (stack_bytes > BZ_STACK_BYTES_MAX) {
        return NULL;
    }
    struct bz_stack_pool *pool = bz_place_new(sizeof *pool, NULL);
    if (pool == NULL) {
        return NULL;
    }
    pool->window = bz_place_next(WINDOW_BYTES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    BZ_CHECK(page_bytes > 0);
    pool->page_bytes = (size_t)page_bytes;
    if (stack_bytes < BZ_STACK_BYTES_MIN) {
        stack_bytes = stack_bytes == 0 ? BZ_STACK_BYTES_DEFAULT : BZ_STACK_BYTES_MIN;
    }
    pool->stack_bytes = (stack_bytes + pool->page_bytes - 1) / pool->page_bytes * pool->page_bytes;
    return pool;
}

void bz_stack_pool_destroy(struct bz_stack_pool *pool) {
    if (pool == NULL) {
        return;
    }
    while (pool->slabs != NULL) {
        struct bz_stack_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        for (uint32_t index = 0; index < slab->count; index++) {
            bz_san_free_fiber(slab->stacks[index].fiber);
        }
        bz_san_unpoison(slab->range, slab->range_bytes);
        bz_mem_unmap(slab->range, slab->range_bytes);
        atomic_fetch_sub(&guard_pages, slab->guard_pages);
        bz_place_free(slab, slab_bytes(slab->count));
    }
    free(pool->by_number);
    bz_place_free(pool, sizeof *pool);
}

/* As many of a new slab's stacks as the process may still guard get a guard page; none if the
 * kernel refuses one, so that the process stays below the limit of mappings. */
static void guard(struct bz_stack_pool *pool, struct bz_stack_slab *slab) {
    uint32_t used = atomic_fetch_add(&guard_pages, slab->count);
    uint32_t left = used < BZ_STACK_GUARDED_MAX ? BZ_STACK_GUARDED_MAX - used : 0;
    uint32_t wanted = left < slab->count ? left : slab->count;
    uint32_t done = 0;
    while (done < wanted &&
           mprotect(slab->stacks[done].base - pool->page_bytes, pool->page_bytes, PROT_NONE) == 0) {
        slab->stacks[done++].guarded = true;
    }
    slab->guard_pages = done;
    if (done < wanted) {
        slab->guard_pages = 0;
        (void)mprotect(slab->range, slab->range_bytes, PROT_READ | PROT_WRITE);
        for (uint32_t index = 0; index < done; index++) {
            slab->stacks[index].guarded = false;
        }
    }
    atomic_fetch_sub(&guard_pages, slab->count - slab->guard_pages);
}

static void colour(const struct bz_stack_pool *pool, uint32_t number) {
    pool->by_number[number]->colour_bytes = (number + pool->turn) % COLOURS * COLOUR_STEP_BYTES;
}

static void stack_init(struct bz_stack_pool *pool, struct bz_stack_slab *slab, uint32_t index) {
    size_t pitch_bytes = pool->stack_bytes + pool->page_bytes;
    uint32_t number = pool->stacks_mapped + index;
    struct bz_stack *stack = &slab->stacks[index];
    stack->base = slab->range + index * pitch_bytes + pool->page_bytes;
    stack->size_bytes = pool->stack_bytes;
    pool->by_number[number] = stack;
    colour(pool, number);
}

/* The next address of the pool's window for so many bytes; NULL: anywhere. */
static char *take_window(struct bz_stack_pool *pool, size_t bytes) {
    char *address = pool->window;
    if (address != NULL) {
        size_t pages = (bytes + pool->page_bytes - 1) / pool->page_bytes;
        pool->window += pages * pool->page_bytes;
    }
    return address;
}

/* Maps one more slab, twice as large as the one before, up to a limit. */
static bool grow(struct bz_stack_pool *pool) {
    uint32_t count = pool->slabs == NULL ? SLAB_STACKS_FIRST : pool->slabs->count * 2;
    if (count > SLAB_STACKS_MAX) {
        count = SLAB_STACKS_MAX;
    }
    size_t range_bytes;
    if (__builtin_mul_overflow(count, pool->stack_bytes + pool->page_bytes, &range_bytes)) {
        return false; /* more than 32 bits of address space */
    }
    struct bz_stack **by_number =
        realloc(pool->by_number, (pool->stacks_mapped + count) * sizeof *by_number);
    if (by_number == NULL) {
        return false;
    }
    pool->by_number = by_number;
    struct bz_stack_slab *slab =
        bz_place_new(slab_bytes(count), take_window(pool, slab_bytes(count)));
    if (slab == NULL) {
        return false;
    }
    slab->range = mmap(take_window(pool, range_bytes), range_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab->range == MAP_FAILED) {
        bz_place_free(slab, slab_bytes(count));
        return false;
    }
    /* Most stacks touch one or two pages; a huge page would waste 2 MiB. A kernel without huge
     * pages refuses this. */
    (void)madvise(slab->range, range_bytes, MADV_NOHUGEPAGE);
    slab->range_bytes = range_bytes;
    slab->count = count;
    slab->next = pool->slabs;
    pool->slabs = slab;
    for (uint32_t index = 0; index < count; index++) {
        stack_init(pool, slab, index);
    }
    guard(pool, slab);
    pool->stacks_mapped += count;
    return true;
}

struct bz_stack *bz_stack_take(struct bz_stack_pool *pool) {
    struct bz_stack *stack = pool->free_stacks;
    if (stack != NULL) {
        pool->free_stacks = stack->next_free;
    } else {
        if (pool->fresh_taken == pool->stacks_mapped && !grow(pool)) {
            pool->is_exhausted = true;
            return NULL;
        }
        stack = pool->by_number[pool->fresh_taken++];
    }
    bz_san_unpoison(stack->base, stack->size_bytes); /* its last user may have been abandoned */
    return stack;
}

/* A scan from outside must ignore the marks that AddressSanitizer leaves on abandoned frames. */
__attribute__((no_sanitize("address"))) static bool has_canary(const struct bz_stack *stack) {
    for (size_t index = 0; index < CANARY_BYTES; index++) {
        if (stack->base[index] != 0) {
            return false;
        }
    }
    return true;
}

void bz_stack_return(struct bz_stack_pool *pool, struct bz_stack *stack) {
    BZ_CHECK(stack->guarded || has_canary(stack)); /* else a task used its whole stack */
    stack->next_free = pool->free_stacks;
    pool->free_stacks = stack;
}

void bz_stack_pool_reset(struct bz_stack_pool *pool) {
    pool->free_stacks = NULL;
    pool->fresh_taken = 0;
    pool->is_exhausted = false;
}

void bz_stack_pool_drop(struct bz_stack_pool *pool) {
    for (const struct bz_stack_slab *slab = pool->slabs; slab != NULL; slab = slab->next) {
        (void)madvise(slab->range, slab->range_bytes, MADV_DONTNEED);
    }
    bz_stack_pool_reset(pool);
}

void bz_stack_pool_turn(struct bz_stack_pool *pool, uint32_t turn) {
    pool->turn = turn;
    for (uint32_t number = 0; number < pool->stacks_mapped; number++) {
        colour(pool, number);
    }
}
