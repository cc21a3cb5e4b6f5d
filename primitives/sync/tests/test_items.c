/* The order in which items leave, against models, through every growth. */
#include "primitives/sync/items.h"
#include "primitives/tests/support.h"

#define ITEMS_MAX 600u

/* Equal priorities are told apart by their values. */
struct entry {
    uint64_t value;
    int64_t priority;
};

static struct bz_loop *loop;
static struct bz_items items;

static void items_begin(enum bz_queue_kind kind, uint32_t capacity) {
    struct bz_loop_config config = {.mem_limit_bytes = 64 * 1024};
    loop = tst_begin_with(&config);
    cr_assert(bz_items_init(&items, bz_loop_mem(loop), kind, capacity));
}

static void items_end(void) {
    bz_items_fini(&items);
    tst_end(loop);
}

struct model {
    enum bz_queue_kind kind;
    struct entry entries[ITEMS_MAX]; /* in the order in which they were put */
    uint32_t count;
};

static uint64_t model_pop(struct model *model) {
    uint32_t best = model->kind == BZ_QUEUE_LIFO ? model->count - 1 : 0;
    for (uint32_t index = 1; model->kind == BZ_QUEUE_PRIORITY && index < model->count; index++) {
        if (model->entries[index].priority < model->entries[best].priority) {
            best = index;
        }
    }
    uint64_t value = model->entries[best].value;
    model->count--;
    memmove(&model->entries[best], &model->entries[best + 1],
            (model->count - best) * sizeof model->entries[0]);
    return value;
}

static void play(enum bz_queue_kind kind, uint32_t capacity, uint64_t seed) {
    static struct model model;
    model = (struct model){.kind = kind};
    items_begin(kind, capacity);
    struct tst_draw draw = tst_draw_seeded(seed);
    uint32_t bound = capacity > 0 ? capacity : ITEMS_MAX;
    for (uint64_t step = 0; step < 4000; step++) {
        /* It fills and empties in waves, so that the ring turns and grows at any head. */
        bool fills = tst_draw(&draw, 8) < (step / 500 % 2 == 0 ? 5 : 3);
        if (fills && model.count < bound) {
            int64_t priority = (int64_t)tst_draw(&draw, 5) - 2;
            cr_assert(bz_items_reserve(&items));
            bz_items_push(&items, step, priority);
            model.entries[model.count++] = (struct entry){step, priority};
        } else if (!fills && model.count > 0) {
            cr_assert_eq(bz_items_pop(&items), model_pop(&model), "seed %u", (unsigned)seed);
        }
        cr_assert_eq(items.count, model.count);
    }
    while (model.count > 0) {
        cr_assert_eq(bz_items_pop(&items), model_pop(&model), "seed %u", (unsigned)seed);
    }
    if (capacity > 0) {
        cr_assert_eq(items.capacity, capacity, "a bounded one never grows");
    }
    items_end();
}

/* By priority, equals leave in the order of puts. */
Test(items, leave_in_the_order_of_their_kind) {
    static const uint32_t capacities[] = {0, 1, 2, 3, 7, 16, 33};
    for (int kind = 0; kind < 3; kind++) {
        for (uint64_t seed = 0; seed < 40; seed++) {
            play((enum bz_queue_kind)kind, capacities[seed % 7], seed);
        }
    }
}

Test(items, keep_the_ends_of_the_range_of_priorities) {
    items_begin(BZ_QUEUE_PRIORITY, 4);
    bz_items_push(&items, 1, INT64_MAX);
    bz_items_push(&items, 2, 0);
    bz_items_push(&items, 3, INT64_MIN);
    bz_items_push(&items, 4, INT64_MIN);
    static const uint64_t order[] = {3, 4, 2, 1};
    for (unsigned index = 0; index < 4; index++) {
        cr_assert_eq(bz_items_pop(&items), order[index]);
    }
    items_end();
}

Test(items, are_forgotten_and_the_room_is_kept) {
    for (int kind = 0; kind < 3; kind++) {
        items_begin((enum bz_queue_kind)kind, 3);
        bz_items_push(&items, 1, 0);
        bz_items_push(&items, 2, 0);
        (void)bz_items_pop(&items);
        bz_items_clear(&items);
        cr_assert_eq(items.count, 0);
        for (uint64_t value = 10; value < 13; value++) {
            bz_items_push(&items, value, (int64_t)value);
        }
        cr_assert_eq(bz_items_pop(&items), kind == BZ_QUEUE_LIFO ? 12 : 10);
        items_end();
    }
}

/* Every growth may be the one that fails: nothing is changed by it. */
Test(items, survive_a_growth_that_fails) {
    for (int kind = 0; kind < 3; kind++) {
        items_begin((enum bz_queue_kind)kind, 0);
        uint32_t count = 0;
        while (bz_items_reserve(&items)) {
            bz_items_push(&items, count, count);
            count++;
        }
        cr_assert_lt(100, count);
        cr_assert_eq(items.count, count);
        cr_assert_eq(items.capacity, count);
        cr_assert_not(bz_items_reserve(&items));
        for (uint32_t index = 0; index < count; index++) {
            uint64_t expected = kind == BZ_QUEUE_LIFO ? count - index - 1 : index;
            cr_assert_eq(bz_items_pop(&items), expected);
        }
        items_end();
    }
}

Test(items, too_many_for_the_arena_are_refused) {
    struct bz_loop_config config = {.mem_limit_bytes = 64 * 1024};
    loop = tst_begin_with(&config);
    cr_assert_not(bz_items_init(&items, bz_loop_mem(loop), BZ_QUEUE_FIFO, 64 * 1024));
    cr_assert_not(bz_items_init(&items, bz_loop_mem(loop), BZ_QUEUE_PRIORITY, UINT32_MAX));
    items_end(); /* of items that were never made: does nothing */
}

Test(items, push_without_room_stops_the_process, .signal = SIGABRT) {
    items_begin(BZ_QUEUE_FIFO, 1);
    bz_items_push(&items, 1, 0);
    bz_items_push(&items, 2, 0);
}

Test(items, pop_of_nothing_stops_the_process, .signal = SIGABRT) {
    items_begin(BZ_QUEUE_LIFO, 1);
    (void)bz_items_pop(&items);
}
