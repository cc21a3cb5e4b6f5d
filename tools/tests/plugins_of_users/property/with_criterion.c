/* With Criterion. */
#include "tools/buzzer_criterion.h"

#include "pool.h"

BZ_CRITERION_PROPERTY(pool, keeps_its_limit, &pool_keeps_its_limit)
BZ_CRITERION_PROPERTY(pool, that_forgets, &pool_that_forgets)
