/* Where two blocks of memory differ, word by word. */
#ifndef BZ_SIM_EXPLORE_DIFFERENCES_H
#define BZ_SIM_EXPLORE_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/native/snapshot.h"

#define BZ_LINE_WORDS 8u
#define BZ_DIFFERENCES_MAX 256u /* words that are compared at a time */

/* Compilers have two of them in a register, on every processor with a native switch. */
typedef uint64_t __attribute__((vector_size(16), aligned(8), may_alias)) bz_two_words;

static inline bool bz_line_differs(const bz_any_word *line, const bz_any_word *other) {
    const bz_two_words *a = (const bz_two_words *)(const void *)line;
    const bz_two_words *b = (const bz_two_words *)(const void *)other;
    bz_two_words all = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
    return (all[0] | all[1]) != 0;
}

/* Writes the indices of the words in which `count` words differ, and returns how many there are.
 * `found` has BZ_DIFFERENCES_MAX + 1 places. Without branches, because nobody can predict which
 * words these are. */
static inline size_t bz_find_differences(const bz_any_word *words, const bz_any_word *before,
                                         size_t count, uint32_t *found) {
    uint32_t lines[BZ_DIFFERENCES_MAX / BZ_LINE_WORDS + 1];
    size_t line_count = 0;
    size_t found_count = 0;
    size_t first = 0;
    for (; first + BZ_LINE_WORDS <= count; first += BZ_LINE_WORDS) {
        lines[line_count] = (uint32_t)first;
        line_count += bz_line_differs(words + first, before + first);
    }
    for (size_t line = 0; line < line_count; line++) {
        for (uint32_t index = lines[line]; index < lines[line] + BZ_LINE_WORDS; index++) {
            found[found_count] = index;
            found_count += words[index] != before[index];
        }
    }
    for (; first < count; first++) {
        found[found_count] = (uint32_t)first;
        found_count += words[first] != before[first];
    }
    return found_count;
}

#endif
