/* Lack of a resource: what to say when memory, mappings, address space, threads or processes run
 * out, and how to stop where no status can be returned.
 *
 * It is never a verdict on the code under test. A run that lacks memory ends with
 * BZ_RUN_NO_RESOURCE (sim/judge/judge.h). Code that has no way to say so (the builders of traces
 * and of JSON, a scenario's set-up) calls bz_lack_stop().
 */
#ifndef BZ_TRACES_LACK_H
#define BZ_TRACES_LACK_H

#include <stdbool.h>
#include <stddef.h>

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_LACK_BYTES 256u

/* Writes one sentence, cut to fit: what ran out, for what purpose, and the remedy. `resource` is
 * "memory", "threads", "processes", or a limit of this program with its number. For NULL the
 * function finds out: memory, mappings, address space or data. Needs no memory. Returns `text`. */
const char *bz_lack_text(char *text, size_t text_bytes, const char *resource, const char *purpose);

/* Copies a sentence, cut to fit. */
void bz_lack_copy(char text[BZ_LACK_BYTES], const char *sentence);

/* True if a message says that something ran out. */
bool bz_lack_is_said(const char *message);

/* Ends the process. Calls the handler, which must not return, with the sentence of bz_lack_text().
 * Without one, the sentence goes to stderr, and the process aborts. */
__attribute__((__noreturn__, __cold__)) void bz_lack_stop(const char *resource,
                                                          const char *purpose);

/* Set once, before the first thread starts; again by a child process that reports otherwise. */
typedef void bz_lack_fn(const char *sentence);
extern bz_lack_fn *bz_lack_handler;

/* The block; stops if there is none. */
static inline void *bz_lack_check(void *block, const char *purpose) {
    if (__builtin_expect(block == NULL, 0)) {
        bz_lack_stop(NULL, purpose);
    }
    return block;
}

/* An array of zeros; an array with space for one more entry, whose capacity grows if it is full. */
void *bz_lack_new(size_t count, size_t entry_bytes, const char *purpose);
void *bz_lack_grow(void *array, size_t count, size_t *capacity, size_t entry_bytes,
                   const char *purpose);

BZ_END_DECLS

#endif
