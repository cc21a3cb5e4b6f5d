/* Counting different values in fixed memory, and what is left to be seen. */
#include "sim/campaign/distinct.h"

#include "primitives/tests/support.h"
#include "sim/choice/pcg.h"

static struct bz_distinct *with(uint32_t capacity) {
    struct bz_distinct *distinct = calloc(1, sizeof *distinct);
    cr_assert_not_null(distinct);
    bz_distinct_init(distinct, capacity);
    return distinct;
}

/* Values 1, 2, 3, ... so often. */
static void add(struct bz_distinct *distinct, uint64_t first, uint64_t count, uint32_t times) {
    for (uint32_t time = 0; time < times; time++) {
        for (uint64_t value = first; value < first + count; value++) {
            bz_distinct_add(distinct, bz_seed_mix(value));
        }
    }
}

static void expect_near(uint64_t got, uint64_t expected, uint64_t percent) {
    uint64_t error = got > expected ? got - expected : expected - got;
    cr_assert_leq(100 * error, percent * expected, "%llu is not near %llu", (unsigned long long)got,
                  (unsigned long long)expected);
}

Test(distinct, is_exact_while_there_is_room) {
    struct bz_distinct *distinct = with(BZ_DISTINCT_KEPT);
    cr_assert_eq(bz_distinct_count(distinct), 0);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 1000000);
    add(distinct, 1, 3, 2);
    add(distinct, 10, 4, 1);
    cr_assert_eq(bz_distinct_count(distinct), 7);
    cr_assert_eq(bz_distinct_once(distinct), 4);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 400000); /* 4 of 10 */
    add(distinct, 10, 4, 1);
    cr_assert_eq(bz_distinct_once(distinct), 0);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 0);
    add(distinct, 100, BZ_DISTINCT_KEPT - 7, 1);
    cr_assert_eq(bz_distinct_count(distinct), BZ_DISTINCT_KEPT);
    cr_assert_eq(bz_distinct_once(distinct), BZ_DISTINCT_KEPT - 7);
    cr_assert(bz_distinct_is_exact(distinct));
    add(distinct, 100000, 1, 1);
    cr_assert_not(bz_distinct_is_exact(distinct));
    free(distinct);
}

Test(distinct, rounds_to_the_nearest_millionth) {
    struct bz_distinct *distinct = with(16);
    add(distinct, 1, 1, 2);
    add(distinct, 2, 1, 1);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 333333);
    add(distinct, 3, 1, 1);
    add(distinct, 1, 1, 2);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 333333);
    add(distinct, 4, 4, 1);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 600000);
    add(distinct, 8, 2, 1);
    cr_assert_eq(bz_distinct_new_ppm(distinct), 666667);
    free(distinct);
}

/* Values whose hashes agree in what finds their place, and in what decides who is kept. */
Test(distinct, tells_apart_what_collides) {
    struct bz_distinct *distinct = with(64);
    for (uint32_t time = 0; time < 2; time++) {
        for (uint64_t value = 0; value < 64; value++) {
            bz_distinct_add(distinct, value << 48u | UINT64_C(0xffff00000000));
        }
    }
    cr_assert_eq(bz_distinct_count(distinct), 64);
    cr_assert_eq(bz_distinct_once(distinct), 0);
    free(distinct);
}

/* Many more than fit: a third of them once, one of them half of the time. */
Test(distinct, estimates_what_does_not_fit) {
    static const uint32_t capacities[] = {1024, BZ_DISTINCT_KEPT};
    for (int index = 0; index < 2; index++) {
        struct bz_distinct *distinct = with(capacities[index]);
        add(distinct, 1, 100000, 2);
        add(distinct, 200001, 50000, 1);
        add(distinct, 1, 1, 250000);
        cr_assert_not(bz_distinct_is_exact(distinct));
        cr_assert_leq(distinct->count, capacities[index]);
        expect_near(bz_distinct_count(distinct), 150000, index == 0 ? 12 : 2);
        expect_near(bz_distinct_once(distinct), 50000, index == 0 ? 18 : 4);
        expect_near(bz_distinct_new_ppm(distinct), 100000, index == 0 ? 18 : 4);
        free(distinct);
    }
}

/* The mean over many tables is nearer than any of them: nothing pulls to one side. */
Test(distinct, estimates_without_bias) {
    uint64_t counts = 0;
    uint64_t ones = 0;
    for (uint64_t table = 0; table < 400; table++) {
        struct bz_distinct *distinct = with(64);
        add(distinct, table * 1000000, 700, 2);
        add(distinct, table * 1000000 + 500000, 300, 1);
        counts += bz_distinct_count(distinct);
        ones += bz_distinct_once(distinct);
        free(distinct);
    }
    expect_near(counts, UINT64_C(400) * 1000, 3);
    expect_near(ones, UINT64_C(400) * 300, 4);
}

Test(distinct, does_not_depend_on_the_order_of_values) {
    struct bz_distinct *one = with(100);
    struct bz_distinct *other = with(100);
    add(one, 1, 3000, 1);
    add(one, 1, 1500, 1);
    for (uint64_t value = 3000; value > 0; value--) {
        add(other, value, 1, value <= 1500 ? 2 : 1);
    }
    cr_assert_eq(bz_distinct_count(one), bz_distinct_count(other));
    cr_assert_eq(bz_distinct_once(one), bz_distinct_once(other));
    cr_assert_eq(one->skip_mask, other->skip_mask);
    free(other);
    free(one);
}

/* The smallest table there is, and a value that every sample holds. */
Test(distinct, keeps_at_least_one) {
    struct bz_distinct *distinct = with(1);
    bz_distinct_add(distinct, 0);
    bz_distinct_add(distinct, UINT64_C(1)
                                  << 40u); /* no bit that is skipped before this one helps */
    cr_assert_eq(distinct->count, 1);
    for (uint64_t bit = 0; bit < 64; bit++) {
        bz_distinct_add(distinct, UINT64_C(1) << bit);
    }
    cr_assert_eq(distinct->count, 1);
    cr_assert_eq(bz_distinct_count(distinct), 66, "no more than were seen");
    cr_assert_eq(bz_distinct_new_ppm(distinct), 1000000);
    free(distinct);
}

/* Whatever the parts have in common, and wherever they were cut. */
Test(distinct, joined_parts_are_one_whole) {
    for (uint32_t parts = 1; parts <= 64; parts *= 4) {
        struct bz_distinct *whole = with(256);
        struct bz_distinct *joined = with(256);
        for (uint32_t part = 0; part < parts; part++) {
            struct bz_distinct *own = with(256);
            for (uint64_t index = part * 6400 / parts; index < (part + 1) * 6400 / parts; index++) {
                uint64_t hash = bz_seed_mix(index % 3 == 0 ? index % 96 : index);
                bz_distinct_add(whole, hash);
                bz_distinct_add(own, hash);
            }
            bz_distinct_join(joined, own);
            free(own);
        }
        cr_assert_not(bz_distinct_is_exact(whole));
        cr_assert_eq(joined->total, whole->total, "%u parts", parts);
        cr_assert_eq(joined->skip_mask, whole->skip_mask, "%u parts", parts);
        cr_assert_eq(joined->count, whole->count, "%u parts", parts);
        cr_assert_eq(joined->once, whole->once, "%u parts", parts);
        cr_assert_eq(memcmp(joined->kept, whole->kept, whole->count * sizeof whole->kept[0]), 0);
        free(joined);
        free(whole);
    }
}
