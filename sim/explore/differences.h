/* Where two blocks of memory differ, word by word. */
#ifndef BZ_SIM_EXPLORE_DIFFERENCES_H
#define BZ_SIM_EXPLORE_DIFFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include "sim/native/snapshot.h"

#define BZ_LINE_WORDS 8u
#define BZ_DIFFERENCES_WORDS 32u /* that are compared at a time */

/* The words in which two lines differ: two bits for each, of which one is set, or both. */
static inline uint32_t bz_line_differences_portably(const bz_any_word *line,
                                                    const bz_any_word *other) {
    uint32_t bits = 0;
    for (uint32_t index = 0; index < BZ_LINE_WORDS; index++) {
        bits |= (uint32_t)(line[index] != other[index]) << 2u * index;
    }
    return bits;
}

#ifdef __SSE2__
typedef int bz_four_halves __attribute__((vector_size(16), aligned(8), may_alias));
typedef short bz_eight_quarters __attribute__((vector_size(16)));
typedef char bz_sixteen_bytes __attribute__((vector_size(16)));

/* Compares halves of words: all bits of one are set if it is the same, then those of fewer bits. */
static inline uint32_t bz_line_differences(const bz_any_word *line, const bz_any_word *other) {
    const bz_four_halves *a = (const bz_four_halves *)(const void *)line;
    const bz_four_halves *b = (const bz_four_halves *)(const void *)other;
    bz_eight_quarters low = __builtin_ia32_packssdw128(a[0] == b[0], a[1] == b[1]);
    bz_eight_quarters high = __builtin_ia32_packssdw128(a[2] == b[2], a[3] == b[3]);
    bz_sixteen_bytes same = __builtin_ia32_packsswb128(low, high);
    return (uint32_t)__builtin_ia32_pmovmskb128(same) ^ 0xffffu;
}
#else
static inline uint32_t bz_line_differences(const bz_any_word *line, const bz_any_word *other) {
    return bz_line_differences_portably(line, other);
}
#endif

/* The same for up to BZ_DIFFERENCES_WORDS words. */
static inline uint64_t bz_differences(const bz_any_word *words, const bz_any_word *other,
                                      size_t count) {
    uint64_t bits = 0;
    size_t first = 0;
    for (; first + BZ_LINE_WORDS <= count; first += BZ_LINE_WORDS) {
        bits |= (uint64_t)bz_line_differences(words + first, other + first) << 2u * first;
    }
    for (; first < count; first++) {
        bits |= (uint64_t)(words[first] != other[first]) << 2u * first;
    }
    return bits;
}

/* Takes the first word out of these bits. */
static inline size_t bz_next_difference(uint64_t *bits) {
    size_t word = (size_t)__builtin_ctzll(*bits) / 2;
    *bits &= ~(UINT64_C(3) << 2u * word);
    return word;
}

#endif
