/* BZ_CHECK aborts the process on a programming error, also in release builds.
 *
 * It guards internal invariants, and contracts of calls that have no status to return. Input from
 * outside never reaches it.
 */
#ifndef BZ_RUNTIME_CHECK_H
#define BZ_RUNTIME_CHECK_H

#include "primitives/runtime/cdecl.h"

BZ_BEGIN_DECLS

#define BZ_CHECK(condition)                                                                        \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            bz_check_failed(#condition, __FILE__, __LINE__);                                       \
        }                                                                                          \
    } while (0)

/* The same for a rule that an adapter of a plug-in has to keep: `text` says how it was broken. */
#define BZ_CONTRACT(condition, text)                                                               \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            bz_contract_broken(text);                                                              \
        }                                                                                          \
    } while (0)

/* Prints the condition and its place to stderr, and aborts. */
__attribute__((__noreturn__, __cold__)) void bz_check_failed(const char *condition,
                                                             const char *file, int line);

/* Prints the text to stderr, and aborts. */
__attribute__((__noreturn__, __cold__)) void bz_contract_broken(const char *text);

/* Receives what either prints, before the process ends; NULL: nothing does. */
extern void (*bz_check_listener)(const char *text);

BZ_END_DECLS

#endif
