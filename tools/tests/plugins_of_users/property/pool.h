/* What the tests beside this file test: a semaphore, and a program that uses it. */
#ifndef POOL_H
#define POOL_H

#include "tools/property.h"

BZ_BEGIN_DECLS

/* At most two connections are open, whatever order the requests run in. */
extern const struct bz_check pool_keeps_its_limit;

/* The same with a release that forgets to wake anybody. */
extern const struct bz_check pool_that_forgets;

BZ_END_DECLS

#endif
