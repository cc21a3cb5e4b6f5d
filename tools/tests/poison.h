/* The names that tests must not use. Included before each test, as tools/cmake/poison.h before what
 * ships.
 */
#ifndef BZ_TOOLS_TESTS_POISON_H
#define BZ_TOOLS_TESTS_POISON_H

#include <criterion/criterion.h>

#ifndef BZ_MAY_ALLOCATE /* a source of the program that a test compiles has it */
#define BZ_MAY_ALLOCATE
#endif
#ifndef BZ_MAY_DIFFER
#define BZ_MAY_DIFFER
#endif
#ifndef BZ_MAY_TELL_TIME
#define BZ_MAY_TELL_TIME
#endif
#include "tools/cmake/poison.h"

/* Of criterion/new/assert.h: it passes on equal values, and compiles slowly. */
#pragma GCC poison gt

#endif
