/* The parameter `blocks` of the scenario taskgroup: drawn blocks of an arena of the runtime.
 *
 * Blocks are allocated, grown and freed, and each keeps its bytes. The arena is small, so it comes
 * to its limit. By mem.h it is known which block is refused, how much is in use, and which block
 * lies behind all others; sizes lie next to the borders of size classes. */
#include "primitives/runtime/mem.h"
#include "scenarios/scenario_support.h"

#include <string.h>

enum {
    GUARD_BYTES = 256,
    SLOTS = 12,
    ARENA_BYTES = 12 * 1024,
    HEADER_MOST_BYTES = 2048,
    SMALL_BYTES = 1024
};
enum { GRAIN_BYTES = 16, SMALL_CLASSES = SMALL_BYTES / GRAIN_BYTES, CLASSES = SMALL_CLASSES + 8 };
enum op { ALLOC, ALLOC_RAW, GROW, FREE, REFUSE, RESET, OPS };

/* Sizes are of these, one less, or one more. */
static const size_t borders[] = {1, 16, 32, 256, 1008, 1024, 2048, 4096, ARENA_BYTES, SIZE_MAX - 1};
enum { BORDERS = sizeof borders / sizeof borders[0] };

struct slot {
    unsigned char *block; /* NULL: none */
    size_t bytes;
    unsigned char fill;
};

struct arena {
    struct bz_world *world;
    struct bz_mem *mem;
    size_t first_bytes;
    size_t limit_bytes;
    size_t used_bytes;
    uint64_t live;
    uint32_t freed[CLASSES];
    struct slot slots[SLOTS];
    bool is_exhausted;
    bool refuses;      /* each allocation */
    bool says_refused; /* if it is asked */
    bool marks_freed;
    uint32_t steps;
};

#define GUARD_BYTE 0xa5 /* behind the arena */

static void expect(const struct arena *arena, bool is_right, const char *wrong) {
    bz_world_assert(arena->world, is_right, "the memory of a loop: %s", wrong);
}

static size_t rounded(size_t bytes) {
    size_t size_bytes = SMALL_BYTES;
    if (bytes <= SMALL_BYTES) {
        return bytes == 0 ? GRAIN_BYTES : (bytes + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES;
    }
    while (size_bytes < bytes) {
        size_bytes *= 2;
    }
    return size_bytes;
}

static size_t class_of(size_t bytes) {
    size_t index = SMALL_CLASSES - 1;
    for (size_t size_bytes = SMALL_BYTES; size_bytes < bytes; size_bytes *= 2) {
        index++;
    }
    return bytes <= SMALL_BYTES ? rounded(bytes) / GRAIN_BYTES - 1 : index;
}

static bool is_all(const unsigned char *block, size_t from, size_t to, unsigned char byte) {
    for (size_t at = from; at < to; at++) {
        if (block[at] != byte) {
            return false;
        }
    }
    return true;
}

/* --- what has to come ------------------------------------------------------------------------- */

/* A block of its class that was freed is used again, and never new memory. */
static bool may_alloc(struct arena *arena, size_t bytes) {
    bool is_too_large = bytes > arena->limit_bytes;
    if (!is_too_large && arena->refuses) {
        return false;
    }
    if (!is_too_large && arena->freed[class_of(bytes)] > 0) {
        arena->freed[class_of(bytes)]--;
    } else if (is_too_large || rounded(bytes) > arena->limit_bytes - arena->used_bytes) {
        arena->is_exhausted = true;
        return false;
    } else {
        arena->used_bytes += rounded(bytes);
    }
    arena->live++;
    return true;
}

/* The last block grows where it is. */
static bool may_grow_last(struct arena *arena, const struct slot *slot, size_t bytes) {
    size_t old_bytes = rounded(slot->bytes);
    if (slot->block == NULL || bytes > arena->limit_bytes ||
        slot->block + old_bytes != (unsigned char *)arena->mem + arena->used_bytes ||
        rounded(bytes) - old_bytes > arena->limit_bytes - arena->used_bytes) {
        return false;
    }
    arena->used_bytes += rounded(bytes) - old_bytes;
    return true;
}

static void note_freed(struct arena *arena, size_t bytes) {
    arena->freed[class_of(bytes)]++;
    arena->live--;
}

/* --- acts ------------------------------------------------------------------------------------- */

static bool refuses(void *context) {
    return ((const struct arena *)context)->says_refused;
}

static uint32_t draw(const struct arena *arena, const char *label, uint32_t bound) {
    return (uint32_t)bz_world_draw(arena->world, label, bound);
}

static size_t draw_bytes(const struct arena *arena) {
    uint32_t border = draw(arena, "block-size", BORDERS);
    return borders[border] - 1 + draw(arena, "block-more", 3);
}

static void check_kept(const struct arena *arena, const struct slot *slot, const char *wrong) {
    expect(arena, is_all(slot->block, 0, slot->bytes, slot->fill), wrong);
}

/* The block is the slot's; its bytes from `kept` on are new. */
static void take(struct arena *arena, struct slot *slot, unsigned char *block, size_t bytes,
                 size_t kept, bool is_zeroed) {
    const unsigned char *first = (const unsigned char *)arena->mem + arena->first_bytes;
    const unsigned char *end = (const unsigned char *)arena->mem + arena->limit_bytes;
    bool is_inside = block >= first && block + rounded(bytes) <= end;
    expect(arena, is_inside, "a block lies outside of the arena");
    if (!is_inside) {
        return;
    }
    expect(arena, (uintptr_t)block % GRAIN_BYTES == 0, "a block is not aligned");
    expect(arena, is_all(block, 0, kept, slot->fill), "a block that grew lost its bytes");
    expect(arena, !is_zeroed || is_all(block, kept, bytes, 0), "a new block is not zeroed");
    slot->block = block;
    slot->bytes = bytes;
    slot->fill = (unsigned char)(1 + arena->steps % 255);
    memset(block, slot->fill, bytes);
}

static void alloc(struct arena *arena, struct slot *slot, bool is_raw) {
    size_t bytes = draw_bytes(arena);
    bool is_due = may_alloc(arena, bytes);
    unsigned char *block =
        is_raw ? bz_mem_alloc_raw(arena->mem, bytes) : bz_mem_alloc(arena->mem, bytes);
    expect(arena, (block != NULL) == is_due,
           is_due ? "a block was refused that fits" : "a block was not refused");
    if (block != NULL && is_due) {
        take(arena, slot, block, bytes, 0, !is_raw || arena->marks_freed);
    }
}

static void free_slot(struct arena *arena, struct slot *slot) {
    if (slot->block != NULL) {
        check_kept(arena, slot, "a block lost its bytes");
        note_freed(arena, slot->bytes);
    }
    bz_mem_free(arena->mem, slot->block, slot->bytes);
    slot->block = NULL;
    slot->bytes = 0;
}

static void grow(struct arena *arena, struct slot *slot) {
    size_t old_bytes = slot->bytes;
    size_t bytes = draw_bytes(arena);
    bytes = bytes < old_bytes ? old_bytes : bytes;
    bool stays = may_grow_last(arena, slot, bytes);
    bool is_due = stays || may_alloc(arena, bytes);
    unsigned char *block = bz_mem_grow(arena->mem, slot->block, old_bytes, bytes);
    expect(arena, (block != NULL) == is_due,
           is_due ? "a block could not grow that fits" : "a block was not refused");
    expect(arena, !stays || block == slot->block, "the last block moved");
    if (block == NULL || !is_due) {
        return;
    }
    if (!stays && slot->block != NULL) {
        note_freed(arena, old_bytes);
    }
    take(arena, slot, block, bytes, old_bytes, arena->marks_freed);
}

static void reset(struct arena *arena) {
    bz_mem_reset(arena->mem);
    memset(arena->freed, 0, sizeof arena->freed);
    memset(arena->slots, 0, sizeof arena->slots);
    arena->used_bytes = arena->first_bytes;
    arena->live = 0;
    arena->is_exhausted = false;
    arena->refuses = false;
    arena->says_refused = true; /* nobody asks any more */
}

static void act(struct arena *arena) {
    uint32_t drawn = draw(arena, "block-act", OPS + 3);
    enum op op = drawn < OPS ? (enum op)drawn : ALLOC; /* often */
    struct slot *slot = &arena->slots[op == RESET ? 0 : draw(arena, "block", SLOTS)];
    if (op == GROW) {
        grow(arena, slot);
    } else if (op == REFUSE) {
        arena->refuses = !arena->refuses;
        arena->says_refused = arena->refuses;
        bz_mem_let_refuse(arena->mem, refuses, arena);
    } else if (op == RESET) {
        reset(arena);
    } else if (op == FREE || slot->block != NULL) {
        free_slot(arena, slot);
    } else {
        alloc(arena, slot, op == ALLOC_RAW);
    }
}

static void check(const struct arena *arena) {
    const unsigned char *first = (const unsigned char *)arena->mem;
    expect(arena, is_all(first, arena->limit_bytes, arena->limit_bytes + GUARD_BYTES, GUARD_BYTE),
           "it wrote behind its limit");
    expect(arena, bz_mem_live_blocks(arena->mem) == arena->live, "it counts other live blocks");
    expect(arena, bz_mem_used_bytes(arena->mem) == arena->used_bytes, "other bytes are in use");
    expect(arena, bz_mem_is_exhausted(arena->mem) == arena->is_exhausted,
           arena->is_exhausted ? "it does not say that it is exhausted" : "it is not exhausted");
    expect(arena, !bz_mem_lacks_room(arena->mem), "the system does not lack memory");
}

void bz_play_blocks(struct bz_world *world, int64_t acts) {
    size_t bytes = HEADER_MOST_BYTES + ARENA_BYTES + GUARD_BYTES;
    struct arena *arena = bz_world_alloc(world, sizeof *arena);
    void *place = bz_world_alloc(world, bytes);
    arena->world = world;
    arena->mem = bz_mem_new_in(place, bytes, bytes);
    size_t first_bytes = arena->first_bytes = bz_mem_used_bytes(arena->mem);
    expect(arena,
           bz_mem_new_in(place, first_bytes, first_bytes) != NULL &&
               bz_mem_new_in(place, first_bytes - 1, first_bytes - 1) == NULL,
           "an arena needs room for its records");
    arena->limit_bytes = arena->first_bytes + ARENA_BYTES;
    arena->mem = bz_mem_new_in(place, arena->limit_bytes, arena->limit_bytes);
    memset((unsigned char *)place + arena->limit_bytes, GUARD_BYTE, GUARD_BYTES);
    arena->used_bytes = arena->first_bytes;
    arena->marks_freed = draw(arena, "block-marks", 2) == 1;
    if (arena->marks_freed) {
        bz_mem_mark_freed(arena->mem);
    }
    for (int64_t left = acts; left > 0; left--) {
        arena->steps++;
        act(arena);
        check(arena);
    }
    for (uint32_t index = 0; index < SLOTS; index++) {
        free_slot(arena, &arena->slots[index]);
    }
    check(arena);
    bz_mem_leave(arena->mem, bytes);
}
