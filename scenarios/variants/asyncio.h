/* The queue of the variants `asyncio-3.11` and `asyncio-3.13`; the rest of both is in asyncio.c. */
#ifndef BZ_SCENARIOS_VARIANTS_ASYNCIO_H
#define BZ_SCENARIOS_VARIANTS_ASYNCIO_H

#include "sim/variant/variant.h"

extern const struct bz_queue_ops bz_asyncio_queue_311;
extern const struct bz_queue_ops bz_asyncio_queue_313; /* with shutdown */

#endif
