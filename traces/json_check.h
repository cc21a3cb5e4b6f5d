/* The strict check of JSON text: grammar, encoding, limits. Only for json.c. */
#ifndef BZ_TRACES_JSON_CHECK_H
#define BZ_TRACES_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct bz_json_flaw {
    size_t offset; /* in the text */
    char what[160];
};

/* True if the text is one JSON document within the limits of json.h. O(length). */
bool bz_json_check(const char *text, size_t length, unsigned depth_max, struct bz_json_flaw *flaw);

#endif
