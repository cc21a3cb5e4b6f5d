/* Images: a loop continues from an image exactly as it continued before, with its memory and
 * stacks. Normalizing removes what differs only in the past. */
#include "sim/native/image.h"

#include "primitives/tests/support.h"

#define TASKS 3u
#define IMAGE_BYTES 262144u

/* In the loop's memory. */
struct ledger {
    struct bz_loop *loop;
    uint64_t sum[TASKS];
};

struct entry {
    struct ledger *ledger;
    uint32_t number;
};

/* Its state is on its stack, and in a block that it frees and allocates again. */
static enum bz_status counts(void *arg) {
    const struct entry *entry = arg;
    struct bz_mem *mem = bz_loop_mem(entry->ledger->loop);
    uint64_t local[4] = {entry->number, 1, 2, 3};
    enum bz_status status = BZ_OK;
    for (uint32_t round = 0; status == BZ_OK && round < 4; round++) {
        uint64_t *block = bz_mem_alloc(mem, 64 + 64 * round);
        block[1] = local[round] * 7;
        status = round == 2 ? bz_sleep(entry->ledger->loop, 5 + entry->number)
                            : bz_yield(entry->ledger->loop);
        local[(round + 1) % 4] += block[1];
        bz_mem_free(mem, block, 64 + 64 * round);
        entry->ledger->sum[entry->number] = 31 * entry->ledger->sum[entry->number] + local[round];
    }
    return status;
}

static struct ledger *begin(struct bz_loop **loop) {
    *loop = tst_begin();
    struct ledger *ledger = bz_mem_alloc(bz_loop_mem(*loop), sizeof *ledger);
    ledger->loop = *loop;
    for (uint32_t number = 0; number < TASKS; number++) {
        struct entry *entry = bz_mem_alloc(bz_loop_mem(*loop), sizeof *entry);
        *entry = (struct entry){.ledger = ledger, .number = number};
        (void)tst_spawn(*loop, counts, entry);
    }
    return ledger;
}

/* One step, or the clock moves on; false at the end. */
static bool step(struct bz_loop *loop, uint32_t pick) {
    if (bz_driver_ready_count(loop) == 0) {
        uint64_t deadline_ns = bz_driver_next_deadline_ns(loop);
        if (deadline_ns == BZ_TIME_NEVER) {
            return false;
        }
        bz_driver_set_now(loop, deadline_ns);
        bz_driver_queue_due_timers(loop);
    }
    bz_driver_step(loop, bz_driver_take(loop, pick % bz_driver_ready_count(loop)));
    return true;
}

/* Runs to the end, in an order by this seed; returns a number for the result. */
static uint64_t run_on(struct ledger *ledger, uint64_t seed) {
    struct tst_draw draw = tst_draw_seeded(seed);
    while (step(ledger->loop, tst_draw(&draw, 1000))) {
    }
    uint64_t sum = ledger->loop->now_ns + bz_mem_live_blocks(bz_loop_mem(ledger->loop)) +
                   ledger->loop->live_tasks;
    for (uint32_t number = 0; number < TASKS; number++) {
        sum = 1000003 * sum + ledger->sum[number];
    }
    return sum;
}

static char image[IMAGE_BYTES];
static char other_image[IMAGE_BYTES];

Test(image, a_loop_goes_on_from_it_as_it_did) {
    struct bz_image_layout layout;
    bool goes_on = true;
    uint32_t places = 0;
    if (!bz_image_is_supported()) {
        cr_skip_test("there are no images");
    }
    for (; goes_on; places++) {
        struct bz_loop *loop;
        struct ledger *ledger = begin(&loop);
        for (uint32_t index = 0; index < places && goes_on; index++) {
            goes_on = step(loop, index * 7);
        }
        if (places % 2 == 1) {
            bz_image_normalize(loop); /* does not change what follows */
        }
        cr_assert(le(sz, bz_image_bytes(loop), IMAGE_BYTES));
        cr_assert(eq(sz, bz_image_save(loop, image, &layout), bz_image_bytes(loop)));
        for (uint64_t seed = 0; seed < 5; seed++) {
            uint64_t came_of_it = run_on(ledger, seed);
            bz_image_restore(loop, image, &layout);
            cr_assert(eq(u64, run_on(ledger, seed), came_of_it), "place %u", places);
            bz_image_restore(loop, image, &layout);
        }
        bz_loop_destroy(loop);
    }
    cr_assert(lt(u32, 12, places));
}

/* Runs these steps. */
static void run_picks(struct bz_loop *loop, const uint32_t *picks, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        cr_assert(step(loop, picks[index]));
    }
    bz_image_normalize(loop);
}

static enum bz_status yields_once(void *arg) {
    return bz_yield(arg);
}

Test(image, of_one_state_are_equal_after_different_pasts) {
    static char beginning[IMAGE_BYTES];
    struct bz_image_layout layouts[2];
    struct bz_image_layout layout;
    if (!bz_image_is_supported()) {
        cr_skip_test("there are no images");
    }
    struct bz_loop *loop = tst_begin();
    (void)tst_spawn(loop, yields_once, loop);
    (void)tst_spawn(loop, yields_once, loop);
    (void)bz_image_save(loop, beginning, &layout);
    run_picks(loop, (const uint32_t[]){0, 0, 0, 0}, 4); /* a b a b */
    (void)bz_image_save(loop, image, &layouts[0]);
    bz_image_restore(loop, beginning, &layout);
    run_picks(loop, (const uint32_t[]){1, 0, 0, 0}, 4); /* b a b a */
    (void)bz_image_save(loop, other_image, &layouts[1]);
    cr_assert(eq(sz, layouts[0].state_bytes, layouts[1].state_bytes));
    cr_assert(eq(int, memcmp(image, other_image, layouts[0].state_bytes), 0));
    bz_image_restore(loop, beginning, &layout);
    run_picks(loop, (const uint32_t[]){1, 0, 0}, 3); /* a is left: another state */
    (void)bz_image_save(loop, other_image, &layouts[1]);
    cr_assert(eq(int,
                 layouts[0].state_bytes == layouts[1].state_bytes &&
                     memcmp(image, other_image, layouts[0].state_bytes) == 0,
                 false));
    bz_loop_destroy(loop);
}

/* Blocks and stacks that were freed since are allocated at the same places. */
Test(image, memory_and_stacks_come_back) {
    struct bz_image_layout layout;
    struct bz_loop *loop;
    if (!bz_image_is_supported()) {
        cr_skip_test("there are no images");
    }
    struct ledger *ledger = begin(&loop);
    struct bz_mem *mem = bz_loop_mem(loop);
    cr_assert(step(loop, 0));
    char *kept = bz_mem_alloc(mem, 100);
    char *freed = bz_mem_alloc(mem, 200);
    memset(kept, 'k', 100);
    bz_mem_free(mem, freed, 200);
    uint64_t live = bz_mem_live_blocks(mem);
    (void)bz_image_save(loop, image, &layout);
    const struct bz_task *first = tst_spawn(loop, yields_once, loop);
    const struct bz_stack *stack = first->stack;
    bz_mem_free(mem, kept, 100);
    memset(bz_mem_alloc(mem, 200), 'x', 200);
    (void)run_on(ledger, 1);
    bz_image_restore(loop, image, &layout);
    cr_assert(eq(u64, bz_mem_live_blocks(mem), live));
    cr_assert(eq(chr, kept[99], 'k'));
    cr_assert(eq(ptr, bz_mem_alloc(mem, 200), freed));
    bz_image_restore(loop, image, &layout);
    const struct bz_task *second = tst_spawn(loop, yields_once, loop);
    cr_assert(eq(ptr, (void *)second, (void *)first));
    cr_assert(eq(ptr, (void *)second->stack, (void *)stack));
    bz_loop_destroy(loop);
}

/* What was freed and is read all the same differs from what was not freed, in every run the same.
 */
Test(image, tells_a_freed_block_from_one_of_zeros) {
    uint64_t prints[2];
    struct bz_loop *loop;
    (void)begin(&loop);
    struct bz_mem *mem = bz_loop_mem(loop);
    bz_mem_mark_freed(mem);
    uint64_t *block = bz_mem_alloc(mem, 48);
    bz_image_normalize(loop);
    cr_assert(bz_image_fingerprint(loop, &prints[0]));
    bz_mem_free(mem, block, 48);
    bz_image_normalize(loop);
    cr_assert(bz_image_fingerprint(loop, &prints[1]));
    cr_assert(ne(u64, prints[0], prints[1]));
    bz_san_unpoison(block, 48);
    for (size_t index = 1; index < 6; index++) {
        cr_assert(lt(u64, UINT64_C(1) << 63, block[index]));
    }
    bz_loop_destroy(loop);
}

/* No block shows what was in its place before. */
Test(image, blocks_are_clean_when_they_are_taken) {
    struct bz_loop *loop;
    (void)begin(&loop);
    struct bz_mem *mem = bz_loop_mem(loop);
    bz_mem_mark_freed(mem);
    for (int round = 0; round < 2; round++) {
        char *block = bz_mem_alloc_raw(mem, 100);
        for (size_t index = 0; index < 100; index++) {
            cr_assert(eq(chr, block[index], 0));
        }
        memset(block, 'x', 100);
        char *larger = bz_mem_grow(mem, block, 100, 3000);
        cr_assert(eq(chr, larger[99], 'x'));
        cr_assert(eq(chr, larger[2999], 0));
        memset(larger, 'y', 3000);
        bz_mem_free(mem, larger, 3000);
    }
    bz_loop_destroy(loop);
}

Test(image, a_block_is_freed_once, .signal = SIGABRT) {
    struct bz_loop *loop;
    (void)begin(&loop);
    struct bz_mem *mem = bz_loop_mem(loop);
    bz_mem_mark_freed(mem);
    void *block = bz_mem_alloc(mem, 48);
    bz_mem_free(mem, block, 48);
    bz_san_unpoison(block, 48);
    bz_mem_free(mem, block, 48);
}

/* Where the stack pointer is known, and no sanitizer records stacks. */
Test(image, says_where_it_works) {
#ifdef BZ_SWITCH_UCONTEXT
    bool is_native = false;
#else
    bool is_native = true;
#endif
    bool is_watched = BZ_SAN_ADDRESS || BZ_SAN_THREAD;
    cr_assert(eq(int, bz_image_is_supported(), is_native && !is_watched));
}
