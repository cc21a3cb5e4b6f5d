/* Where two blocks of memory differ, word by word. */
#ifndef BZ_SIM_EXPLORE_FINGERPRINT_MEMORY_DIFFERENCES_H
#define BZ_SIM_EXPLORE_FINGERPRINT_MEMORY_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/snapshot.h"

#define BZ_DIFFERENCES_MAX 512u                 /* words that are compared at a time */
#define BZ_PLACES_MAX (BZ_DIFFERENCES_MAX + 4u) /* behind the last one, a few are overwritten */

/* Writes the indices of the words that differ, in order; returns how many there are. */
typedef size_t bz_differences_fn(const bz_any_word *words, const bz_any_word *other, size_t count,
                                 uint16_t places[BZ_PLACES_MAX]);

/* Compares lines as a whole first. */
static inline size_t bz_differences_portably(const bz_any_word *words, const bz_any_word *other,
                                             size_t count, uint16_t places[BZ_PLACES_MAX]) {
    const size_t line = 8;
    size_t found = 0;
    for (size_t first = 0; first < count; first += line) {
        size_t end = count - first < line ? count : first + line;
        uint64_t differs = 0;
        for (size_t index = first; index < end; index++) {
            differs |= words[index] ^ other[index];
        }
        for (size_t index = first; differs != 0 && index < end; index++) {
            places[found] = (uint16_t)index;
            found += words[index] != other[index];
        }
    }
    return found;
}

/* The same for functions that are compiled for AVX2, which are called if bz_has_avx2(). */
#ifdef __x86_64__
#define BZ_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define BZ_ROW_WORDS 4u
#define BZ_BLOCK_WORDS 32u

typedef long long bz_row __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long bz_words4 __attribute__((vector_size(32)));
typedef int bz_halves8 __attribute__((vector_size(32)));
typedef short bz_quarters16 __attribute__((vector_size(32)));
typedef char bz_bytes32 __attribute__((vector_size(32)));

/* Each of these has fewer bits for a word: all of them are set if the word is the same. */
static inline BZ_AVX2 bz_quarters16 bz_same_in_rows(bz_words4 same, bz_words4 next) {
    return __builtin_ia32_packssdw256((bz_halves8)same, (bz_halves8)next);
}

static inline BZ_AVX2 bz_bytes32 bz_same_in_half(const bz_words4 *same) {
    return __builtin_ia32_packsswb256(bz_same_in_rows(same[0], same[1]),
                                      bz_same_in_rows(same[2], same[3]));
}

/* A bit for each word of a block that differs. Vectors are packed in two lanes: the lower one has
 * the first two words of each row, the other one the rest. */
static inline BZ_AVX2 uint32_t bz_block_bits(const bz_words4 *same) {
    const bz_bytes32 in_order = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
                                 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};
    bz_bytes32 lanes = __builtin_ia32_packsswb256((bz_quarters16)bz_same_in_half(same),
                                                  (bz_quarters16)bz_same_in_half(same + 4));
    bz_words4 halves = __builtin_ia32_permdi256((bz_words4)lanes, 0xd8);
    return ~(uint32_t)__builtin_ia32_pmovmskb256(
        __builtin_ia32_pshufb256((bz_bytes32)halves, in_order));
}

static inline BZ_AVX2 uint32_t bz_block_differences(const bz_any_word *words,
                                                    const bz_any_word *other) {
    const bz_row *a = (const bz_row *)(const void *)words;
    const bz_row *b = (const bz_row *)(const void *)other;
    bz_words4 same[BZ_BLOCK_WORDS / BZ_ROW_WORDS];
    for (size_t row = 0; row < BZ_BLOCK_WORDS / BZ_ROW_WORDS; row++) {
        same[row] = a[row] == b[row];
    }
    return bz_block_bits(same);
}

/* Of the last block: what is behind the last word is not read. */
static inline BZ_AVX2 uint32_t bz_rest_differences(const bz_any_word *words,
                                                   const bz_any_word *other, size_t count) {
    bz_words4 same[BZ_BLOCK_WORDS / BZ_ROW_WORDS];
    bz_words4 left = (bz_words4){0} + (long long)count;
    for (size_t row = 0; row < BZ_BLOCK_WORDS / BZ_ROW_WORDS; row++) {
        bz_words4 mask = left > (bz_words4){0, 1, 2, 3};
        const void *a = words + row * BZ_ROW_WORDS;
        const void *b = other + row * BZ_ROW_WORDS;
        same[row] = __builtin_ia32_maskloadq256(a, mask) == __builtin_ia32_maskloadq256(b, mask);
        left -= BZ_ROW_WORDS;
    }
    return bz_block_bits(same);
}

/* Four at a time, the last of which may be none: how many there are is hard to predict. */
static inline BZ_AVX2 size_t bz_add_places(uint32_t bits, size_t first, size_t found,
                                           uint16_t places[BZ_PLACES_MAX]) {
    size_t end = found + (size_t)__builtin_popcount(bits);
    for (; bits != 0; found += 4) {
        for (size_t index = 0; index < 4; index++) {
            places[found + index] = (uint16_t)(first + __builtin_ia32_tzcnt_u32(bits));
            bits &= bits - 1;
        }
    }
    return end;
}

static inline BZ_AVX2 size_t bz_differences_avx2(const bz_any_word *words, const bz_any_word *other,
                                                 size_t count, uint16_t places[BZ_PLACES_MAX]) {
    size_t found = 0;
    size_t first = 0;
    for (; first + BZ_BLOCK_WORDS <= count; first += BZ_BLOCK_WORDS) {
        uint32_t bits = bz_block_differences(words + first, other + first);
        found = bz_add_places(bits, first, found, places);
    }
    if (first < count) {
        uint32_t bits = bz_rest_differences(words + first, other + first, count - first);
        found = bz_add_places(bits, first, found, places);
    }
    return found;
}

static inline bool bz_has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("popcnt");
}
#endif

#endif
