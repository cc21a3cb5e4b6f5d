/* The arena: size classes, limits, resets. */
#include "primitives/tests/support.h"

static bool is_zero(const char *block, size_t size_bytes) {
    for (size_t index = 0; index < size_bytes; index++) {
        if (block[index] != 0) {
            return false;
        }
    }
    return true;
}

/* Sizes around every border between classes. */
static size_t interesting_size(uint32_t index) {
    static const size_t borders[] = {1, 16, 32, 48, 1008, 1024, 2048, 4096, 65536, 131072, 262144};
    size_t border = borders[index % (sizeof borders / sizeof borders[0])];
    return border - 1 + index / (sizeof borders / sizeof borders[0]) % 3;
}

#define INTERESTING_SIZES 33u

/* A block that was given back is the next one of its class, and shows nothing of its past. */
Test(mem, reuses_freed_blocks_zeroed) {
    struct bz_mem *mem = bz_mem_new(0);
    for (uint32_t index = 0; index < INTERESTING_SIZES; index++) {
        size_t size_bytes = interesting_size(index);
        char *first = bz_mem_alloc(mem, size_bytes);
        char *second = bz_mem_alloc(mem, size_bytes);
        memset(first, 0xff, size_bytes);
        memset(second, 0xff, size_bytes);
        bz_mem_free(mem, first, size_bytes);
        bz_mem_free(mem, second, size_bytes);
        cr_assert_eq(bz_mem_alloc(mem, size_bytes), second);
        cr_assert_eq(bz_mem_alloc(mem, size_bytes), first);
        cr_assert(is_zero(first, size_bytes) && is_zero(second, size_bytes));
        bz_mem_free(mem, first, size_bytes);
        bz_mem_free(mem, second, size_bytes);
        cr_assert_eq(bz_mem_live_blocks(mem), 0);
    }
    bz_mem_destroy(mem);
}

/* Fills a block of `bytes`, makes it twice as large, and checks that it kept what was in it. */
static char *grow(struct bz_mem *mem, char *block, size_t bytes) {
    memset(block, 7, bytes);
    char *larger = bz_mem_grow(mem, block, bytes, 2 * bytes);
    cr_assert_not_null(larger);
    for (size_t index = 0; index < bytes; index++) {
        cr_assert_eq(larger[index], 7);
    }
    memset(larger, 8, 2 * bytes); /* all of it can be used */
    return larger;
}

Test(mem, the_last_block_grows_where_it_is) {
    struct bz_mem *mem = bz_mem_new(0);
    char *block = bz_mem_alloc(mem, 3000);
    cr_assert_eq(grow(mem, block, 3000), block);
    char *other = bz_mem_alloc(mem, 16);
    memset(other, 9, 16);
    char *moved = grow(mem, block, 6000); /* the other one is in the way */
    cr_assert_neq(moved, block);
    cr_assert_eq(grow(mem, moved, 12000), moved);
    cr_assert_eq(other[0], 9);
    cr_assert_eq(other[15], 9);
    cr_assert_eq(bz_mem_live_blocks(mem), 2);
    bz_mem_destroy(mem);
}

Test(mem, the_last_block_grows_up_to_the_limit) {
    struct bz_mem *mem = bz_mem_new(1u << 20u);
    char *block = bz_mem_alloc(mem, 1u << 18u);
    cr_assert_eq(grow(mem, block, 1u << 18u), block);
    cr_assert_null(bz_mem_grow(mem, block, 1u << 19u, 1u << 20u));
    cr_assert(bz_mem_is_exhausted(mem));
    cr_assert_eq(block[(1u << 19u) - 1], 8);
    bz_mem_destroy(mem);
}

/* Only the beginning is mapped at first. Blocks stay where they are while the arena grows, and
 * arenas that grow side by side do not meet. */
Test(mem, an_arena_is_mapped_by_need) {
    enum { BLOCKS = 48, ARENAS = 3 };
    const size_t block_bytes = (size_t)1 << 21;
    struct bz_mem *arenas[ARENAS];
    char *blocks[ARENAS][BLOCKS];
    if (SIZE_MAX == UINT32_MAX) {
        return;
    }
    for (int arena = 0; arena < ARENAS; arena++) {
        arenas[arena] = bz_mem_new(0);
        cr_assert_not_null(arenas[arena]);
    }
    for (int index = 0; index < BLOCKS; index++) {
        for (int arena = 0; arena < ARENAS; arena++) {
            char *block = bz_mem_alloc_raw(arenas[arena], block_bytes);
            cr_assert_not_null(block);
            block[0] = block[block_bytes - 1] = (char)(index + 50 * arena);
            blocks[arena][index] = block;
        }
    }
    for (int arena = 0; arena < ARENAS; arena++) {
        for (int index = 0; index < BLOCKS; index++) {
            const char *block = blocks[arena][index];
            cr_assert_eq(block[0], (char)(index + 50 * arena));
            cr_assert_eq(block[block_bytes - 1], (char)(index + 50 * arena));
        }
        cr_assert_not(bz_mem_is_exhausted(arenas[arena]));
        cr_assert_not(bz_mem_lacks_room(arenas[arena]));
        bz_mem_destroy(arenas[arena]);
    }
}

Test(mem, free_of_null_is_nothing) {
    struct bz_mem *mem = bz_mem_new(0);
    bz_mem_free(mem, NULL, 10);
    cr_assert_eq(bz_mem_live_blocks(mem), 0);
    bz_mem_destroy(mem);
    bz_mem_destroy(NULL);
}

/* After a reset the same requests give the same blocks, zeroed. */
Test(mem, reset_begins_anew) {
    struct bz_mem *mem = bz_mem_new(1 << 20);
    char *first[INTERESTING_SIZES];
    for (int round = 0; round < 5; round++) {
        for (uint32_t index = 0; index < INTERESTING_SIZES; index++) {
            size_t size_bytes = interesting_size(index) % 5000;
            char *block = bz_mem_alloc(mem, size_bytes);
            if (round == 0) {
                first[index] = block;
            }
            cr_assert_eq(block, first[index]);
            cr_assert(is_zero(block, size_bytes));
            memset(block, 0xee, size_bytes);
        }
        for (uint32_t index = 0; index < INTERESTING_SIZES; index += 2) {
            bz_mem_free(mem, first[index], interesting_size(index) % 5000);
        }
        bz_mem_reset(mem);
        cr_assert_eq(bz_mem_live_blocks(mem), 0);
    }
    bz_mem_destroy(mem);
}

/* The limit is a limit: nothing beyond it, a refusal changes nothing, and what is freed can be had
 * again. */
Test(mem, limit_is_kept) {
    size_t limit_bytes = 64 * 1024;
    struct bz_mem *mem = bz_mem_new(limit_bytes);
    char *blocks[5000];
    uint32_t count = 0;
    while ((blocks[count] = bz_mem_alloc(mem, 100)) != NULL) {
        memset(blocks[count], 0xaa, 100);
        count++;
    }
    cr_assert_geq(count, (uint32_t)(limit_bytes - 2048) / 112);
    cr_assert_leq(count, (uint32_t)limit_bytes / 112);
    cr_assert_eq(bz_mem_live_blocks(mem), count);
    cr_assert_null(bz_mem_alloc(mem, 100));
    cr_assert_null(bz_mem_alloc(mem, limit_bytes));
    cr_assert_eq(bz_mem_live_blocks(mem), count);
    bz_mem_free(mem, blocks[7], 100);
    cr_assert_eq(bz_mem_alloc(mem, 100), blocks[7]);
    bz_mem_destroy(mem);
}

Test(mem, absurd_sizes_are_refused) {
    struct bz_mem *mem = bz_mem_new(1 << 20);
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2 + 1, (1u << 20) + 1,
                                   1u << 20};
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        cr_assert_null(bz_mem_alloc(mem, sizes[index]));
    }
    cr_assert_eq(bz_mem_live_blocks(mem), 0);
    bz_mem_destroy(mem);
}

/* A limit that has no room for the arena's own records is no arena, not one without a limit. */
Test(mem, tiny_limits) {
    for (size_t limit_bytes = 1; limit_bytes < 3000; limit_bytes++) {
        struct bz_mem *mem = bz_mem_new(limit_bytes);
        if (mem == NULL) {
            cr_assert_lt(limit_bytes, 2048);
            continue;
        }
        size_t taken_bytes = 0;
        while (bz_mem_alloc(mem, 16) != NULL) {
            taken_bytes += 16;
        }
        cr_assert_lt(taken_bytes, limit_bytes);
        bz_mem_destroy(mem);
    }
}

Test(mem, refuses_an_address_space_that_is_not_there) {
    cr_assert_null(bz_mem_new(SIZE_MAX / 2));
}

static bool every_third(void *context) {
    return ++*(uint32_t *)context % 3 == 0;
}

Test(mem, refuses_by_choice) {
    struct bz_mem *mem = bz_mem_new(0);
    uint32_t asked = 0;
    bz_mem_let_refuse(mem, every_third, &asked);
    for (uint32_t index = 1; index <= 6; index++) {
        void *block = index % 2 == 0 ? bz_mem_alloc(mem, 16) : bz_mem_alloc_raw(mem, 4096);
        cr_assert_eq(block == NULL, index % 3 == 0);
    }
    cr_assert_eq(bz_mem_live_blocks(mem), 4);
    cr_assert(!bz_mem_is_exhausted(mem));
    bz_mem_reset(mem);
    cr_assert_not_null(bz_mem_alloc(mem, 16));
    cr_assert_eq(asked, 6);
    bz_mem_destroy(mem);
}

Test(mem, foreign_block_stops_the_process, .signal = SIGABRT) {
    struct bz_mem *mem = bz_mem_new(0);
    static char foreign[64];
    bz_mem_alloc(mem, 64);
    bz_mem_free(mem, foreign, 64);
}

/* Random traffic against counts kept by hand; every block keeps its bytes. */
Test(mem, traffic) {
    struct bz_mem *mem = bz_mem_new(0);
    struct tst_draw draw = tst_draw_seeded(1);
    static struct {
        unsigned char *block;
        size_t size_bytes;
    } slots[200];
    uint64_t live = 0;
    for (int move = 0; move < 100000; move++) {
        uint32_t slot = tst_draw(&draw, 200);
        unsigned char mark = (unsigned char)(slot + 1);
        if (slots[slot].block == NULL) {
            slots[slot].size_bytes = tst_draw(&draw, 100) == 0
                                         ? interesting_size(tst_draw(&draw, INTERESTING_SIZES))
                                         : tst_draw(&draw, tst_draw(&draw, 8) == 0 ? 9000 : 1200);
            slots[slot].block = bz_mem_alloc(mem, slots[slot].size_bytes);
            cr_assert_not_null(slots[slot].block);
            cr_assert_eq((uintptr_t)slots[slot].block % 16, 0);
            cr_assert(is_zero((char *)slots[slot].block, slots[slot].size_bytes));
            memset(slots[slot].block, mark, slots[slot].size_bytes);
            live++;
        } else {
            for (size_t byte = 0; byte < slots[slot].size_bytes; byte++) {
                cr_assert(slots[slot].block[byte] == mark, "a block was overwritten");
            }
            bz_mem_free(mem, slots[slot].block, slots[slot].size_bytes);
            slots[slot].block = NULL;
            live--;
        }
        cr_assert_eq(bz_mem_live_blocks(mem), live);
    }
    bz_mem_destroy(mem);
}
