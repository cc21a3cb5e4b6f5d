/* A check as a test of Criterion, in one line:
 *
 *     #include "tools/buzzer_criterion.h"
 *
 *     static const struct bz_check keeps_permits = {.scenario = &pool, .variant = &mysem};
 *
 *     BZ_CRITERION_PROPERTY(pool, keeps_permits, &keeps_permits)
 *
 * The test fails if a violation is found, and also if nothing is proved: an option is wrong, a
 * required window was never hit, memory ran out. Its message says which; what `buzzer run` prints,
 * with the token and the command that replays it, stands above it. property.h has the rest.
 */
#ifndef BZ_TOOLS_BUZZER_CRITERION_H
#define BZ_TOOLS_BUZZER_CRITERION_H

#include <criterion/criterion.h>

#include "tools/property.h"

/* In the body of a test that is written by hand, for instance one with a time-out:
 *
 *     Test(pool, keeps_permits, .timeout = 300) { BZ_CRITERION_CHECK(&keeps_permits); } */
#define BZ_CRITERION_CHECK(check)                                                                  \
    do {                                                                                           \
        int bz_status = bz_check(check);                                                           \
        cr_assert(bz_status == 0, "%s (exit status %d of 'buzzer run'); its output is above",      \
                  bz_check_reason(bz_status), bz_status);                                          \
    } while (0)

/* The test SUITE::NAME of one check. */
#define BZ_CRITERION_PROPERTY(suite, name, check)                                                  \
    Test(suite, name) {                                                                            \
        BZ_CRITERION_CHECK(check);                                                                 \
    }

#endif
