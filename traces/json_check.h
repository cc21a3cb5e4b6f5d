/* The strict check of JSON text: grammar, encoding, limits. Only for json.c. */
#ifndef BZ_TRACES_JSON_CHECK_H
#define BZ_TRACES_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* True if the text is one JSON document within the limits of json.h, else false with a message as
 * bz_json_parse() writes it. O(length). */
bool bz_json_check(const char *text, size_t length, unsigned depth_max, const char *origin,
                   char *error, size_t error_bytes);

#endif
