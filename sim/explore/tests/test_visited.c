/* The table of states, and their fingerprints. */
#include "sim/explore/visited.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/choice/pcg.h"
#include "sim/contain/contain.h"
#include "sim/explore/fingerprint/multiply_128.h"

#define MANY 20000u

static struct bz_fingerprint numbered(uint64_t number) {
    return bz_fingerprint_end(bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, &number, sizeof number), 0);
}

static bool is_same(struct bz_fingerprint a, struct bz_fingerprint b) {
    return a.high == b.high && a.low == b.low;
}

Test(visited, finds_what_was_added_and_nothing_else) {
    struct bz_visited visited;
    bool is_new;
    cr_assert(bz_visited_init(&visited, MANY, UINT64_MAX));
    for (uint64_t number = 0; number < MANY; number++) {
        cr_assert_null(bz_visited_find(&visited, numbered(number)));
        struct bz_visited_state *state = bz_visited_add(&visited, numbered(number), &is_new);
        cr_assert(state != NULL);
        cr_assert(is_new);
        cr_assert_eq(state->mark | state->schedules, 0);
        state->mark = number;
        state->schedules = ~number;
    }
    cr_assert_eq(bz_visited_count(&visited), MANY);
    for (uint64_t number = 0; number < MANY; number++) {
        struct bz_visited_state *state = bz_visited_add(&visited, numbered(number), &is_new);
        cr_assert_eq(is_new, false);
        cr_assert_eq(state, bz_visited_find(&visited, numbered(number)));
        cr_assert_eq(state->mark, number);
        cr_assert_eq(state->schedules, ~number);
    }
    bz_visited_clear(&visited);
    cr_assert_null(bz_visited_find(&visited, numbered(1)));
    cr_assert_eq(bz_visited_count(&visited), 0);
    bz_visited_fini(&visited);
}

/* Entries with the same place in the table are stored one after the other, wrapping at its end. */
Test(visited, keeps_apart_what_wants_the_same_place) {
    struct bz_visited visited;
    bool is_new;
    cr_assert(bz_visited_init(&visited, MANY, UINT64_MAX));
    for (uint64_t high = 0; high < 100; high++) {
        struct bz_fingerprint print = {.high = high, .low = UINT64_MAX};
        bz_visited_add(&visited, print, &is_new)->mark = high;
        cr_assert(is_new);
    }
    for (uint64_t high = 0; high < 100; high++) {
        struct bz_fingerprint print = {.high = high, .low = UINT64_MAX};
        cr_assert_eq(bz_visited_find(&visited, print)->mark, high);
    }
    bz_visited_fini(&visited);
}

/* A part that is full refuses. Nothing that was added is lost. */
Test(visited, refuses_what_does_not_fit) {
    struct bz_visited visited;
    bool is_new;
    uint64_t high = 0;
    cr_assert(bz_visited_init(&visited, 1000, UINT64_MAX));
    for (; high < MANY; high++) {
        if (bz_visited_add(&visited, (struct bz_fingerprint){high, 1}, &is_new) == NULL) {
            break;
        }
    }
    cr_assert_lt(high, MANY);
    cr_assert_eq(bz_visited_count(&visited), high);
    for (uint64_t added = 0; added < high; added++) {
        cr_assert(bz_visited_find(&visited, (struct bz_fingerprint){added, 1}) != NULL);
    }
    bz_visited_fini(&visited);
}

/* Each bit counts, and so does the length. */
Test(fingerprint, every_bit_and_the_length_count) {
    uint64_t words[13];
    struct bz_pcg32 stream;
    bz_pcg32_seed(&stream, 1, 1);
    for (size_t count = 0; count <= 13; count++) {
        for (size_t index = 0; index < count; index++) {
            words[index] = bz_pcg32_below64(&stream, UINT64_MAX);
        }
        struct bz_fingerprint whole =
            bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, count * sizeof words[0]);
        for (size_t bit = 0; bit < 64 * count; bit++) {
            words[bit / 64] ^= UINT64_C(1) << (bit % 64);
            struct bz_fingerprint other =
                bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, count * sizeof words[0]);
            words[bit / 64] ^= UINT64_C(1) << (bit % 64);
            cr_assert_neq(other.high, whole.high, "bit %zu of %zu words", bit, count);
            cr_assert_neq(other.low, whole.low, "bit %zu of %zu words", bit, count);
        }
        memset(words, 0, sizeof words);
        struct bz_fingerprint zeros =
            bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, count * sizeof words[0]);
        struct bz_fingerprint fewer =
            bz_fingerprint_of(BZ_FINGERPRINT_BEGIN, words, count / 2 * sizeof words[0]);
        cr_assert(count == 0 || is_same(zeros, fewer) == false, "%zu zeros", count);
    }
}

Test(fingerprint, the_end_counts_and_is_never_that_of_a_free_place) {
    struct bz_fingerprint none = {.high = 0, .low = UINT64_C(0)};
    cr_assert_neq(bz_fingerprint_end(none, 0).low, 0);
    cr_assert_eq(is_same(numbered(1), numbered(1)), true);
    struct bz_fingerprint print = BZ_FINGERPRINT_BEGIN;
    cr_assert_eq(is_same(bz_fingerprint_end(print, 1), bz_fingerprint_end(print, 2)), false);
}

Test(visited, products_are_the_same_without_a_type_of_128_bits) {
    struct bz_product all = bz_multiply_portably(UINT64_MAX, UINT64_MAX);
    cr_assert_eq(all.high, UINT64_MAX - 1);
    cr_assert_eq(all.low, 1);
    for (uint64_t number = 0; number < MANY; number++) {
        uint64_t a = bz_seed_mix(number) >> (number & 63u);
        uint64_t b = bz_seed_mix(~number) >> (number >> 6u & 63u);
        struct bz_product product = bz_multiply(a, b);
        struct bz_product portable = bz_multiply_portably(a, b);
        cr_assert_eq(product.high, portable.high);
        cr_assert_eq(product.low, portable.low);
    }
}
