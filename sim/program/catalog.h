/* The catalog of scenarios and variants. The program fills it; plug-ins add to both. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/contain/contain.h"
#include "sim/program/scenario.h"
#include "sim/variant/variant.h"

struct bz_catalog {
    const struct bz_scenario *const *scenarios; /* both end with NULL */
    const struct bz_variant *const *variants;
    bool (*is_foreign)(const void *part); /* a scenario or variant is not built in; NULL: none */
    struct bz_contain contain;            /* what runs of foreign ones may take */
    /* The lists, once something was added; allocated, to the end of the process. */
    const struct bz_scenario **own_scenarios;
    const struct bz_variant **own_variants;
    const char *(*why_missing)(const char *name); /* of a scenario that is not listed, as a message;
                                                     NULL: unknown, as is the result */
};

/* The command that calls the program, in messages: "buzzer". */
extern const char *bz_command;

/* NULL: there is none of that name. */
const struct bz_scenario *bz_catalog_scenario(const struct bz_catalog *catalog, const char *name);
const struct bz_variant *bz_catalog_variant(const struct bz_catalog *catalog, const char *name);

/* Appends to a list of the catalog. Without memory they call bz_lack_stop(). */
void bz_catalog_add_scenario(struct bz_catalog *catalog, const struct bz_scenario *scenario);
void bz_catalog_add_variant(struct bz_catalog *catalog, const struct bz_variant *variant);

/* The variant `buzzer`, or `buzzer/...`, that offers the primitive and is judged by the same model
 * if it has one: what the entry is without its fault. NULL: there is none. */
const struct bz_variant *bz_catalog_twin(const struct bz_catalog *catalog,
                                         const struct bz_variant *entry,
                                         enum bz_primitive primitive);

/* The candidate nearest to `word` by edit distance, or NULL if none is near: for "did you mean". */
const char *bz_nearest_name(const char *word, const char *const *candidates, size_t count);
