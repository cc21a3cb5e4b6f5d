/* With Check. */
#include <check.h>
#include <stdlib.h>

#include "pool.h"

START_TEST(keeps_its_limit) {
    ck_assert_int_eq(bz_check(&pool_keeps_its_limit), 0);
}
END_TEST

START_TEST(that_forgets) {
    ck_assert_int_eq(bz_check(&pool_that_forgets), 0);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("properties");
    tcase_add_test(tests, keeps_its_limit);
    tcase_add_test(tests, that_forgets);
    tcase_set_timeout(tests, 300);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
