#include "tools/show/show.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/show/schedule_script.h"
#include "traces/lack.h"

const struct bz_show_format bz_show_formats[] = {
    {"text", "lanes in columns, one line for each thing that happened", bz_show_text, false, NULL},
    {"mermaid", "a sequence diagram for Markdown", bz_show_mermaid, false, NULL},
    {"html", "a page to look at in a browser, in one file", bz_show_html, true, NULL},
    {"asyncio", "a Python program that makes the same schedule with asyncio", bz_show_asyncio,
     false, bz_script_refuses},
    {NULL},
};

const struct bz_show_format *bz_show_format(const char *name) {
    for (const struct bz_show_format *format = bz_show_formats; format->name != NULL; format++) {
        if (strcmp(format->name, name) == 0) {
            return format;
        }
    }
    return NULL;
}

/* --- paper ------------------------------------------------------------------------------------ */

void bz_paper_init(struct bz_paper *paper) {
    *paper = (struct bz_paper){.capacity = 4096};
    paper->text = bz_lack_check(malloc(paper->capacity), "a picture");
    paper->text[0] = '\0';
}

void bz_paper_fini(struct bz_paper *paper) {
    free(paper->text);
    *paper = (struct bz_paper){0};
}

static void make_room(struct bz_paper *paper, size_t length) {
    while (paper->capacity - paper->length <= length) {
        paper->capacity *= 2;
        paper->text = bz_lack_check(realloc(paper->text, paper->capacity), "a picture");
    }
}

void bz_paper_add(struct bz_paper *paper, const char *bytes, size_t length) {
    make_room(paper, length);
    memcpy(paper->text + paper->length, bytes, length);
    paper->length += length;
    paper->text[paper->length] = '\0';
}

void bz_paper_put(struct bz_paper *paper, const char *text) {
    bz_paper_add(paper, text, strlen(text));
}

void bz_paper_printf(struct bz_paper *paper, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    make_room(paper, (size_t)length);
    va_start(arguments, format);
    vsnprintf(paper->text + paper->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    paper->length += (size_t)length;
}

void bz_paper_escape(struct bz_paper *paper, const char *text, const char *special,
                     const char *before, const char *after) {
    while (*text != '\0') {
        size_t plain = strcspn(text, special);
        bz_paper_add(paper, text, plain);
        text += plain;
        if (*text != '\0') {
            bz_paper_printf(paper, "%s%u%s", before, (unsigned)(unsigned char)*text, after);
            text++;
        }
    }
}

static bool begins_line_separator(const char *text) {
    return strncmp(text, "\xe2\x80\xa8", 3) == 0 || strncmp(text, "\xe2\x80\xa9", 3) == 0;
}

void bz_paper_json(struct bz_paper *paper, const char *text) {
    if (text == NULL) {
        bz_paper_put(paper, "null");
        return;
    }
    bz_paper_put(paper, "\"");
    for (; *text != '\0'; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f || strchr("\"\\<>&", *text) != NULL) {
            bz_paper_printf(paper, "\\u%04x", byte);
        } else if (begins_line_separator(text)) {
            bz_paper_printf(paper, "\\u20%02x", (unsigned char)text[2] - 0x80u);
            text += 2;
        } else {
            bz_paper_add(paper, text, 1);
        }
    }
    bz_paper_put(paper, "\"");
}

/* --- what formats share ----------------------------------------------------------------------- */

const char *bz_show_task(const struct bz_trace *trace, uint32_t task) {
    return task == 0 || task > trace->task_count ? "loop" : trace->tasks[task - 1];
}

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
