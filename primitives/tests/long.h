/* Long tests: `tools/dev nightly tests` sets BUZZER_LONG_TESTS, and then each test does all
 * that it can. `tools/dev test` does the part that tells most. Scripts read the same variable. */
#ifndef BZ_TESTS_LONG_H
#define BZ_TESTS_LONG_H

#include <stdbool.h>
#include <stdlib.h>

static inline bool tst_is_long(void) {
    return getenv("BUZZER_LONG_TESTS") != NULL;
}

#define TST_LONG(part, all) (tst_is_long() ? (all) : (part))

#endif
