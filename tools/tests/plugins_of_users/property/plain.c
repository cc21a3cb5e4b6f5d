/* Without a framework, and with the names of version 0.1. */
#include "pool.h"

int main(void) {
    const struct bz_property *forgets = &pool_that_forgets;
    return bz_check(&pool_keeps_its_limit) != 0 || bz_property_check(forgets) != 0;
}
