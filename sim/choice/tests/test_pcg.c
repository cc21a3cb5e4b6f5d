/* PCG32: a seed must mean the same run on every machine and in every version. */
#include "sim/choice/pcg.h"

#include <criterion/criterion.h>

#include "sim/choice/tests/pcg_reference.h"

#define LENGTH 1000u

/* The published output of the reference implementation's demo program: seed 42, stream 54. */
Test(pcg, gives_the_published_numbers) {
    static const uint32_t published[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                         0x83d2f293, 0xbfa4784b, 0xcbed606e};
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 42, 54);
    for (size_t index = 0; index < sizeof published / sizeof published[0]; index++) {
        cr_assert_eq(bz_pcg32_next(&pcg), published[index], "output %zu", index);
    }
}

static void compare(uint64_t seed, uint64_t stream) {
    uint32_t expected[LENGTH];
    struct bz_pcg32 pcg;
    pcg_reference(seed, stream, expected, LENGTH);
    bz_pcg32_seed(&pcg, seed, stream);
    for (size_t index = 0; index < LENGTH; index++) {
        cr_assert_eq(bz_pcg32_next(&pcg), expected[index], "seed 0x%llx, stream 0x%llx, output %zu",
                     (unsigned long long)seed, (unsigned long long)stream, index);
    }
}

Test(pcg, agrees_with_an_independent_implementation) {
    static const uint64_t corners[] = {
        0, 1, 3, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX >> 1, UINT64_MAX - 1, UINT64_MAX};
    size_t count = sizeof corners / sizeof corners[0];
    for (size_t seed = 0; seed < count; seed++) {
        for (size_t stream = 0; stream < count; stream++) {
            /* The top bit of a stream's number does not count: 2^63 streams. */
            compare(corners[seed], corners[stream] & (UINT64_MAX >> 1));
        }
    }
    for (uint64_t seed = 0; seed < 200; seed++) {
        compare(bz_seed_mix(seed), seed & 3);
    }
}

/* The number that makes the generator give `output` next, where it is the last but one factor: a
 * state whose rotation is 0 and whose xorshift is the output. */
static struct bz_pcg32 about_to_give(uint32_t output) {
    /* With rotation 0 the five top bits are 0. Below them, bits 58..27 of (state >> 18 ^ state) are
     * the output: solved from the top, 18 bits at a time. */
    uint64_t wanted = (uint64_t)output << 27u;
    uint64_t state = 0;
    for (unsigned bit = 59; bit-- > 27;) {
        uint64_t above = bit + 18 < 64 ? state >> (bit + 18) & 1u : 0;
        state |= ((wanted >> bit & 1u) ^ above) << bit;
    }
    return (struct bz_pcg32){.state = state, .increment = 1};
}

Test(pcg, helper_of_these_tests_works) {
    static const uint32_t outputs[] = {0, 1, 0x80000000, 0xffffffff, 0x12345678, 0xdeadbeef};
    for (size_t index = 0; index < sizeof outputs / sizeof outputs[0]; index++) {
        struct bz_pcg32 pcg = about_to_give(outputs[index]);
        cr_assert_eq(bz_pcg32_next(&pcg), outputs[index]);
    }
}

/* An output x of 32 bits means floor(x * bound / 2^32), unless the low half of the product is below
 * 2^32 mod bound, when it is drawn again. What is left is the same number of outputs for each
 * value: exactly floor(2^32 / bound). Checked at both ends of every value's range, so that a range
 * one too long or too short is seen. */
static void check_range_of(uint32_t bound, uint32_t value) {
    uint64_t share = (UINT64_C(1) << 32) / bound;
    uint32_t threshold = (uint32_t)((UINT64_C(1) << 32) % bound);
    /* The smallest x whose product lies at or above value * 2^32 + threshold. */
    uint64_t first = (((uint64_t)value << 32) + threshold + bound - 1) / bound;
    uint64_t last = first + share - 1;
    struct bz_pcg32 pcg = about_to_give((uint32_t)first);
    cr_assert_eq(bz_pcg32_below(&pcg, bound), value, "first of %u below %u", value, bound);
    pcg = about_to_give((uint32_t)last);
    cr_assert_eq(bz_pcg32_below(&pcg, bound), value, "last of %u below %u", value, bound);
    if (last == UINT32_MAX) {
        return;
    }
    /* The next output is rejected or belongs to the next value. */
    pcg = about_to_give((uint32_t)(last + 1));
    struct bz_pcg32 after = pcg;
    (void)bz_pcg32_next(&after);
    uint32_t got = bz_pcg32_below(&pcg, bound);
    bool was_drawn_again = pcg.state != after.state;
    cr_assert(was_drawn_again || got == value + 1, "one behind the last of %u below %u", value,
              bound);
}

Test(pcg, bounded_draw_gives_every_value_the_same_number_of_outputs) {
    static const uint32_t bounds[] = {2,          3,          5,          7,
                                      10,         1000,       0x7fffffff, 0x80000000,
                                      0x80000001, 0xc0000000, 0xfffffffe, 0xffffffff};
    for (size_t index = 0; index < sizeof bounds / sizeof bounds[0]; index++) {
        uint32_t bound = bounds[index];
        uint32_t values[] = {0, 1, bound / 3, bound / 2, bound - 2, bound - 1};
        for (size_t which = 0; which < sizeof values / sizeof values[0]; which++) {
            check_range_of(bound, values[which]);
        }
    }
}

Test(pcg, bound_of_one_leaves_no_choice) {
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, 7, 0);
    for (int draw = 0; draw < 100; draw++) {
        cr_assert_eq(bz_pcg32_below(&pcg, 1), 0);
        cr_assert_eq(bz_pcg32_below64(&pcg, 1), 0);
    }
}

/* Pearson's sum over 64 cells, in integers: sum of (n - N/64)^2 * 64 / N. With 63 degrees of
 * freedom it exceeds 120 once in about 20000 seeds, and the seed is fixed. */
static void check_spread(uint64_t bound, uint64_t cell_size) {
    enum { CELLS = 64, DRAWS = CELLS * 1000 };
    int64_t counts[CELLS] = {0};
    struct bz_pcg32 pcg;
    bz_pcg32_seed(&pcg, bz_seed_mix(bound), 1);
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t value = bz_pcg32_below64(&pcg, bound);
        cr_assert_lt(value, bound);
        counts[value / cell_size]++;
    }
    int64_t sum = 0;
    for (int cell = 0; cell < CELLS; cell++) {
        int64_t off = counts[cell] - DRAWS / CELLS;
        sum += off * off;
    }
    cr_assert_lt(sum * CELLS / DRAWS, 120, "bound %llu", (unsigned long long)bound);
    cr_assert_lt(20, sum * CELLS / DRAWS, "too even: bound %llu", (unsigned long long)bound);
}

Test(pcg, wide_draws_are_spread_evenly_and_stay_below_their_bound) {
    check_spread(64, 1);
    check_spread(UINT64_C(1) << 32, UINT64_C(1) << 26);
    check_spread((UINT64_C(1) << 32) + 64, (UINT64_C(1) << 26) + 1);
    check_spread(UINT64_C(3) << 40, UINT64_C(3) << 34);
    check_spread(UINT64_C(1) << 63, UINT64_C(1) << 57);
    check_spread(UINT64_MAX, (UINT64_C(1) << 58));
}

/* Both functions draw the same for small bounds, so a bound may grow past 32 bits. */
Test(pcg, both_widths_agree_on_small_bounds) {
    struct bz_pcg32 narrow;
    struct bz_pcg32 wide;
    bz_pcg32_seed(&narrow, 3, 9);
    wide = narrow;
    for (uint32_t bound = 1; bound < 3000; bound++) {
        cr_assert_eq(bz_pcg32_below64(&wide, bound), bz_pcg32_below(&narrow, bound));
    }
    cr_assert_eq(wide.state, narrow.state);
}

/* splitmix64 from state 0: the numbers that its reference implementation prints. */
Test(pcg, seeds_are_mixed_as_splitmix64_does) {
    cr_assert_eq(bz_seed_mix(0), UINT64_C(0xe220a8397b1dcdaf));
    cr_assert_eq(bz_seed_mix(UINT64_C(0x9e3779b97f4a7c15)), UINT64_C(0x6e789e6aa1b965f4));
    cr_assert_eq(bz_seed_mix(UINT64_C(0x3c6ef372fe94f82a)), UINT64_C(0x06c45d188009454f));
}
