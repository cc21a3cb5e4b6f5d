/* Without a framework, and without bz_property_main(). */
#include "pool.h"

int main(void) {
    return bz_property_check(&pool_keeps_its_limit) != 0 ||
           bz_property_check(&pool_that_forgets) != 0;
}
