/* The variants that come with Buzzer, but for those of the zoo. */
#ifndef BZ_SCENARIOS_VARIANTS_VARIANTS_H
#define BZ_SCENARIOS_VARIANTS_VARIANTS_H

#include "sim/variant/variant.h"

extern const struct bz_variant bz_variant_asyncio_311;
extern const struct bz_variant bz_variant_asyncio_313;
extern const struct bz_variant bz_variant_buzzer;
extern const struct bz_variant bz_variant_twisted;

#endif
