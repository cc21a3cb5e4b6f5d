/* The page of `buzzer merge`: one HTML file without a script, made of the documents that it prints
 * as JSON. It asks for nothing: its content security policy refuses every request. */
#ifndef BZ_TOOLS_MERGE_PAGE_H
#define BZ_TOOLS_MERGE_PAGE_H

#include "tools/wrap.h"
#include "traces/json.h"

/* The document of a merge, and what the page calls it. */
struct bz_merge_document {
    const char *name;
    struct bz_json *json;
};

/* Reads a document that an earlier merge has written. Returns NULL, or a text that says why it is
 * none, or is not of the same scenario, variant, strategy and order as `like`. */
const char *bz_merge_document_fault(const struct bz_json *json, const struct bz_json *like);

/* Adds the page of the last of `count` documents; those before it, the oldest first, are the trend.
 */
void bz_merge_page(const struct bz_merge_document *documents, size_t count, struct bz_text *page);

#endif
