/* BZ_CHECK: a programmer's error stops the process, in release builds too.
 *
 * It is for broken promises inside Buzzer and for calls that break a contract and cannot answer
 * with a status. Input from outside never reaches it.
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

/* Says what was broken and where, on stderr, and aborts. */
__attribute__((noreturn, cold)) void bz_check_failed(const char *condition, const char *file,
                                                     int line);

BZ_END_DECLS

#endif
