#include "tools/show/show.h"

#include <string.h>

#define ROW(name, summary, is_for_files, refuses)                                                  \
    {#name, summary, bz_show_##name, is_for_files, refuses},
const struct bz_show_format bz_show_formats[] = {BZ_SHOW_FORMATS(ROW){NULL}};

/* --- escapes ------------------------------------------------------------------------------------
 */

static bool begins_line_separator(const char *text) {
    return strncmp(text, "\xe2\x80\xa8", 3) == 0 || strncmp(text, "\xe2\x80\xa9", 3) == 0;
}

void bz_text_put_json(struct bz_text *out, const char *text) {
    if (text == NULL) {
        bz_text_put(out, "null");
        return;
    }
    bz_text_put(out, "\"");
    for (; *text != '\0'; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f || strchr("\"\\<>&", *text) != NULL) {
            bz_text_add(out, "\\u%04x", byte);
        } else if (begins_line_separator(text)) {
            bz_text_add(out, "\\u20%02x", (unsigned char)text[2] - 0x80u);
            text += 2;
        } else {
            bz_text_put_bytes(out, text, 1);
        }
    }
    bz_text_put(out, "\"");
}

/* --- what formats share ----------------------------------------------------------------------- */

const char *bz_show_verdict(const struct bz_trace *trace) {
    static char text[BZ_TRACE_NAME_BYTES_MAX + 1];
    return bz_trace_verdict_text(&trace->verdict, text, sizeof text);
}

const struct bz_arrow *bz_show_arrow(const struct bz_story *story, uint32_t line, unsigned kinds) {
    size_t low = 0;
    size_t high = story->arrow_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (story->arrows[middle].to < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < story->arrow_count && story->arrows[low].to == line; low++) {
        if ((kinds & 1u << story->arrows[low].kind) != 0) {
            return &story->arrows[low];
        }
    }
    return NULL;
}
