/* Pictures of a run: one function for each format, one file for each function.
 *
 * A picture is text that depends on the trace alone: the same trace gives the same bytes. Names and
 * messages of a trace are hostile; each format escapes them. Everything is read from the trace and
 * its story (tools/story/story.h), so a run of a program that is not here can be shown as well.
 *
 *     struct bz_text text = {0};
 *     bz_show_mermaid(&view, &text);
 *     ... text.bytes, text.length ...
 *     bz_text_fini(&text);
 *
 * Without memory, functions call bz_lack_stop() (traces/lack.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/report/text_output.h"
#include "tools/story/story.h"
#include "traces/trace.h"

/* --- escapes ------------------------------------------------------------------------------------
 */

/* A JSON string in quotes, NULL as null. It may stand inside a script element of HTML: `<`, `>`,
 * `&` and the line separators U+2028 and U+2029 are escaped as well. */
void bz_text_put_json(struct bz_text *out, const char *text);

/* --- the view --------------------------------------------------------------------------------- */

struct bz_view {
    const struct bz_trace *trace;
    const struct bz_story *story;
    const char *token; /* that repeats the run; NULL: not known */
};

/* --- the formats ------------------------------------------------------------------------------ */

typedef void bz_show_fn(const struct bz_view *view, struct bz_text *out);

/* True if the format cannot show this run; then `reason` is a clause that says why. */
typedef bool bz_show_refusal_fn(const struct bz_view *view, char *reason, size_t size_bytes);

bz_show_refusal_fn bz_asyncio_refuses; /* what no program can be made of */

/* FORMAT(name, summary, is_for_files, refuses): see below. The function is bz_show_NAME(). */
#define BZ_SHOW_FORMATS(FORMAT)                                                                    \
    FORMAT(text, "lanes of tasks", false, NULL)                                                    \
    FORMAT(mermaid, "a sequence diagram", false, NULL)                                             \
    FORMAT(html, "a page for the browser", true, NULL)                                             \
    FORMAT(asyncio, "a Python program", false, bz_asyncio_refuses)
#define BZ_DECLARE_FORMAT(name, summary, is_for_files, refuses) bz_show_fn bz_show_##name;
BZ_SHOW_FORMATS(BZ_DECLARE_FORMAT)

struct bz_show_format {
    const char *name;    /* NULL ends the table */
    const char *summary; /* for the help */
    bz_show_fn *show;
    bool is_for_files;           /* no use on a terminal */
    bz_show_refusal_fn *refuses; /* NULL: it shows every run */
};

extern const struct bz_show_format bz_show_formats[];

/* --- what formats share ----------------------------------------------------------------------- */

/* As bz_trace_verdict_text() says it. Valid until the next call. */
const char *bz_show_verdict(const struct bz_trace *trace);

/* The arrow of one of these kinds that ends at the line, or NULL. `kinds` is a sum of
 * 1u << kind. O(log arrows). */
const struct bz_arrow *bz_show_arrow(const struct bz_story *story, uint32_t line, unsigned kinds);
