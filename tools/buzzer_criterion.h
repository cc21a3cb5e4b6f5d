/* A property as a test of Criterion, in one line:
 *
 *     #include "tools/buzzer_criterion.h"
 *
 *     static const struct bz_property keeps_permits = {.scenario = &pool, .variant = &mysem};
 *     static const struct bz_property *const properties[] = {&keeps_permits, NULL};
 *
 *     BZ_CRITERION_PROPERTY(pool, keeps_permits, &keeps_permits)
 *     BZ_CRITERION_MAIN(properties)
 *
 * The test fails if a violation is found, and also if nothing is proved: an option is wrong, a
 * required window was never hit, memory ran out. Its message says which; what `buzzer run` prints,
 * with the token and the command that replays it, stands above it. property.h has the rest.
 *
 * BZ_CRITERION_MAIN() may be left out: then Criterion has its own main(), and the environment
 * variable BUZZER_REPLAY takes the place of --buzzer-replay.
 */
#ifndef BZ_TOOLS_BUZZER_CRITERION_H
#define BZ_TOOLS_BUZZER_CRITERION_H

#include <criterion/criterion.h>

#include "tools/property.h"

BZ_BEGIN_DECLS

/* The result of bz_property_check(), in words. */
static inline const char *bz_criterion_reason(int status) {
    switch (status) {
    case 0:
        return "the property holds";
    case 1:
        return "the property does not hold";
    case 2:
        return "nothing was tested: an option, a token or a trace is wrong";
    case 3:
        return "the replay diverged: the code has changed since the run was recorded";
    case 4:
        return "nothing was proved: a required window was never hit, or a warning is strict";
    case 5:
        return "nothing was proved: the campaign was interrupted, or ran out of steps";
    default:
        return "nothing was proved: memory ran out, or Buzzer has a fault";
    }
}

/* Runs the property in the body of a test that is written by hand, for instance one with a
 * time-out: Test(pool, keeps_permits, .timeout = 300) { bz_criterion_check(&keeps_permits); } */
static inline void bz_criterion_check(const struct bz_property *property) {
    int status = bz_property_check(property);
    cr_assert(status == 0, "%s (exit status %d of 'buzzer run'); its output is above",
              bz_criterion_reason(status), status);
}

BZ_END_DECLS

/* The test SUITE::NAME of one property. */
#define BZ_CRITERION_PROPERTY(suite, name, property)                                               \
    Test(suite, name) {                                                                            \
        bz_criterion_check(property);                                                              \
    }

/* A main() that knows --buzzer-replay and --buzzer, and otherwise runs the tests as Criterion's own
 * does. `properties`: as for bz_property_main(). */
#define BZ_CRITERION_MAIN(properties)                                                              \
    int main(int argc, char **argv) {                                                              \
        bz_property_main(argc, argv, properties);                                                  \
        struct criterion_test_set *tests = criterion_initialize();                                 \
        int result = 0;                                                                            \
        if (criterion_handle_args(argc, argv, true)) {                                             \
            result = !criterion_run_all_tests(tests);                                              \
        }                                                                                          \
        criterion_finalize(tests);                                                                 \
        return result;                                                                             \
    }

#endif
