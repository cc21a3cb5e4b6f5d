#include "tools/show/show.h"

#define ROW(name, summary, is_for_files) {#name, summary, bz_show_##name, is_for_files},
const struct bz_show_format bz_show_formats[] = {BZ_SHOW_FORMATS(ROW){NULL}};

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
