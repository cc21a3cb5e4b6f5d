/* With Criterion. Its own main() would do as well: then BUZZER_REPLAY=TOKEN replays. */
#include <criterion/criterion.h>

#include "pool.h"

Test(pool, keeps_its_limit) {
    cr_assert(bz_property_check(&pool_keeps_its_limit) == 0);
}

Test(pool, that_forgets) {
    cr_assert(bz_property_check(&pool_that_forgets) == 0);
}

int main(int argc, char **argv) {
    bz_property_main(argc, argv, pool_properties);
    struct criterion_test_set *tests = criterion_initialize();
    int result = 0;
    if (criterion_handle_args(argc, argv, true)) {
        result = !criterion_run_all_tests(tests);
    }
    criterion_finalize(tests);
    return result;
}
