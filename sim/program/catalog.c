#include "sim/program/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "traces/lack.h"
#include "traces/text.h"

const char *bz_command = "buzzer";

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

/* Appends an item to a list that ends with NULL. `own` is its copy of before; NULL: there is none.
 * Returns the copy. */
static void *append(void *own, const void *list, const void *item) {
    size_t count = 0;
    while (((const void *const *)list)[count] != NULL) {
        count++;
    }
    const void **grown = bz_lack_check(realloc(own, (count + 2) * sizeof(void *)), "the catalog");
    if (own == NULL) {
        memcpy(grown, list, count * sizeof(void *));
    }
    grown[count] = item;
    grown[count + 1] = NULL;
    return grown;
}

void bz_catalog_add_scenario(struct bz_catalog *catalog, const struct bz_scenario *scenario) {
    catalog->own_scenarios = append(catalog->own_scenarios, catalog->scenarios, scenario);
    catalog->scenarios = catalog->own_scenarios;
}

void bz_catalog_add_variant(struct bz_catalog *catalog, const struct bz_variant *variant) {
    catalog->own_variants = append(catalog->own_variants, catalog->variants, variant);
    catalog->variants = catalog->own_variants;
}

const struct bz_variant *bz_catalog_twin(const struct bz_catalog *catalog,
                                         const struct bz_variant *entry,
                                         enum bz_primitive primitive) {
    for (const struct bz_variant *const *next = catalog->variants; *next != NULL; next++) {
        bool is_shipped = strcmp((*next)->name, "buzzer") == 0 ||
                          strncmp((*next)->name, "buzzer/", strlen("buzzer/")) == 0;
        if (is_shipped && bz_variant_offers(*next, primitive) &&
            (primitive != BZ_PRIMITIVE_MODELLED ||
             (*next)->modelled->model == entry->modelled->model)) {
            return *next;
        }
    }
    return NULL;
}

const char *bz_nearest_name(const char *word, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t least = strnlen(word, 63) / 3 + 2; /* a more distant name does not help */
    for (size_t index = 0; index < count; index++) {
        size_t distance = bz_edit_distance(word, candidates[index]);
        if (distance < least) {
            least = distance;
            nearest = candidates[index];
        }
    }
    return nearest;
}
