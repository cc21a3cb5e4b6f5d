#include "sim/run/catalog.h"

#include <string.h>

#include "sim/run/settings.h"

const struct bz_scenario *bz_catalog_scenario(const struct bz_catalog *catalog, const char *name) {
    for (const struct bz_scenario *const *next = catalog->scenarios; *next != NULL; next++) {
        if (strcmp((*next)->name, name) == 0) {
            return *next;
        }
    }
    return NULL;
}

const struct bz_variant *bz_catalog_variant(const struct bz_catalog *catalog, const char *name) {
    for (const struct bz_variant *const *next = catalog->variants; *next != NULL; next++) {
        if (strcmp((*next)->name, name) == 0) {
            return *next;
        }
    }
    return NULL;
}

#define WORD_MAX 63u

/* Levenshtein's distance with one row; words beyond WORD_MAX are cut. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[WORD_MAX + 1];
    size_t a_length = strnlen(a, WORD_MAX);
    size_t b_length = strnlen(b, WORD_MAX);
    for (size_t column = 0; column <= b_length; column++) {
        row[column] = column;
    }
    for (size_t line = 1; line <= a_length; line++) {
        size_t diagonal = row[0];
        row[0] = line;
        for (size_t column = 1; column <= b_length; column++) {
            size_t above = row[column];
            size_t best = diagonal + (a[line - 1] != b[column - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[column - 1] + 1 < best ? row[column - 1] + 1 : best;
            diagonal = above;
            row[column] = best;
        }
    }
    return row[b_length];
}

const char *bz_nearest_name(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t least = strnlen(word, WORD_MAX) / 3 + 2; /* farther than this is no help */
    for (size_t index = 0; index < count; index++) {
        size_t distance = edit_distance(word, candidates[index]);
        if (distance < least) {
            least = distance;
            nearest = candidates[index];
        }
    }
    return nearest;
}
